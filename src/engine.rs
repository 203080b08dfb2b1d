//! The engine: inputs in, records out, and the one place that names the stations in their order.

mod declaration;
mod options;
mod orders;

use std::cell::Cell;

pub(crate) use declaration::Declaration;
pub use options::Options;

use crate::decode::log::Reading;
use crate::dispatch::{Dispatch, Way};
use crate::error::{Code, Error};
use crate::feed::{Feed, Retention, Trim, Trimmer};
use crate::reader::{Along, End, Reader, Relations};
use crate::record::{Input, Out, Record};
use crate::script;
use crate::stream::Streams;

/// How long to wait before reading a log again that somebody's open transaction hides.
const UNSETTLED_MS: u64 = 50;

/// A change-stream engine over one log.
///
/// It holds no socket, clock or randomness: the host tells it what happened and when, and after every input
/// drains what it has to say, of which the last is always when it wants to be asked again.
#[derive(Debug)]
pub struct Engine {
    options: Options,
    /// What the log said last; nothing before the first reading.
    feed: Option<Feed>,
    relations: Relations,
    dispatch: Dispatch,
    streams: Streams,
    /// Goes along the log's end, for those at the tip.
    live: Reader,
    /// Goes along what is behind the tip, for those who stand there.
    catch_up: Reader,
    /// The reading under way: its number, its way, and the entry after which it began.
    reading: Option<(u32, Way, u64)>,
    /// The way of the last reading, so that neither way keeps the other waiting.
    last_way: Way,
    trimmer: Trimmer,
    trim: Option<Trim>,
    trimming: Option<u32>,
    /// The number of the last reading or saving asked for.
    asked: u32,
    /// Whether somebody may have committed since the last reading along the end began.
    woken: bool,
    failures: u32,
    retry_ms: u64,
    in_flight: Cell<u64>,
}

impl Engine {
    /// An engine that has read nothing yet.
    pub fn new(options: Options) -> Self {
        let retention = Retention {
            entries: options.retain_entries,
            age_ms: options.retain_ms,
        };
        Self {
            options,
            feed: None,
            relations: Relations::default(),
            dispatch: Dispatch::default(),
            streams: Streams::default(),
            live: Reader::default(),
            catch_up: Reader::default(),
            reading: None,
            last_way: Way::Live,
            trimmer: Trimmer::new(retention),
            trim: None,
            trimming: None,
            asked: 0,
            woken: true,
            failures: 0,
            retry_ms: 0,
            in_flight: Cell::new(0),
        }
    }

    /// Takes one input, and says all that follows from it.
    pub fn handle(&mut self, input: Input, id: u32, payload: &[u8], now: u64, out: &mut Out) {
        match input {
            Input::Subscribe => self.subscribe(id, payload, now, out),
            Input::Unsubscribe => {
                self.dispatch
                    .unsubscribe(id, payload.first() == Some(&1), now, out);
            }
            Input::Rows => self.take_reading(id, payload, now, out),
            Input::Failed => {
                let reason = String::from_utf8_lossy(payload).into_owned();
                self.fail(id, &Error::new(Code::LogUnreadable, reason), now, out);
            }
            Input::Saved => {
                if self.trimming == Some(id) {
                    self.trimming = None;
                    self.woken = true;
                }
            }
            Input::Wake => self.woken = true,
            Input::Tick => {}
            Input::Ack => {
                for (subscription, seq) in acks(payload) {
                    self.dispatch.ack(subscription, seq, now);
                }
            }
            Input::Sql => script::answer(id, payload, out),
            Input::Open => self.streams.open(id, payload, out),
            Input::Close => self.streams.close(out),
            Input::Request => self.streams.request(id, payload, now, out),
            Input::Read => self.streams.read(id, payload, out),
            Input::Full => self.streams.fill(id, now),
            Input::Ready => self.streams.drain(id),
            Input::Gone => self.streams.remove(id),
            Input::Statistics => self.streams.tell_statistics(id, out),
        }
        let turn = u8::from(matches!(input, Input::Rows));
        self.dispatch.serve_from_rings(now, out);
        let closing_ms = self.dispatch.settle(now, out);
        self.order_trim(out);
        let stream_ms = self.streams.settle(now, out);
        let reading_ms = self.order_reading(turn, now, out);
        let until = [closing_ms, stream_ms, reading_ms]
            .into_iter()
            .flatten()
            .min()
            .unwrap_or(u64::MAX);
        out.record(Record::Wait, 0, until, &[], |_| ());
    }

    /// Where the last entry of the commit in hand is noted.
    pub const fn in_flight(&self) -> &Cell<u64> {
        &self.in_flight
    }

    fn subscribe(&mut self, id: u32, payload: &[u8], now: u64, out: &mut Out) {
        match Declaration::parse(payload) {
            Ok(declaration) => self.dispatch.subscribe(id, declaration, now),
            Err(error) => {
                out.record(Record::Closed, id, 0, &[], |payload| error.write(payload));
            }
        }
    }

    fn take_reading(&mut self, id: u32, payload: &[u8], now: u64, out: &mut Out) {
        let Some((_, way, after)) = self.reading.take_if(|(asked, ..)| *asked == id) else {
            return;
        };
        self.in_flight.set(0);
        let taken = Reading::parse(payload).and_then(|reading| {
            if !reading.settled {
                self.want_marks();
                self.retry_ms = now + UNSETTLED_MS;
                return Ok(());
            }
            self.take_settled(reading, (way, after), now, out)
        });
        self.in_flight.set(0);
        match taken {
            Ok(()) => self.failures = 0,
            Err(error) => self.fault(&error, now, out),
        }
    }

    fn take_settled(
        &mut self,
        mut reading: Reading<'_>,
        (way, after): (Way, u64),
        now: u64,
        out: &mut Out,
    ) -> Result<(), Error> {
        let feed = reading.feed.clone();
        self.dispatch.note_reading(now);
        // A log only grows: one that ends before its own end is another one too.
        let replaced = self
            .feed
            .replace(feed.clone())
            .is_some_and(|known| known.epoch != feed.epoch || known.head > feed.head);
        if replaced {
            self.relations = Relations::default();
            self.dispatch.replace_log(&feed, out);
            self.streams.replace_log(&feed);
            self.live = Reader::at(feed.head);
            self.catch_up = Reader::at(feed.head);
            self.want_marks();
            return Ok(());
        }
        self.streams.note_feed(&feed);
        for relation in reading.relations.drain(..) {
            self.relations.push(relation)?;
        }
        if self.trim.is_none() && self.trimming.is_none() {
            self.trim = self.trimmer.order(&feed, now);
        }
        let read = self.live.after().max(self.dispatch.tip());
        if read < feed.before_oldest() || way == Way::CatchUp {
            self.dispatch.skip_trimmed(&feed, read, out);
        }
        self.streams.skip_trimmed(&feed);
        match way {
            Way::Live => self.go_live(&reading, &feed, now, out)?,
            Way::CatchUp => self.go_catch_up(&reading, &feed, now, out)?,
            Way::Streams => {}
        }
        let end = End {
            seq: feed.head,
            is_within: false,
        };
        let along = along(&self.options, &self.in_flight, &self.relations, end);
        self.streams.take(
            after.max(feed.before_oldest()),
            &reading.rows,
            feed.head,
            &along,
            out,
        );
        if way == Way::Live {
            self.streams.answer_marks(&feed, &self.relations, now, out);
        }
        Ok(())
    }

    fn go_live(
        &mut self,
        reading: &Reading<'_>,
        feed: &Feed,
        now: u64,
        out: &mut Out,
    ) -> Result<(), Error> {
        if !self.dispatch.follows() {
            self.live = Reader::at(feed.head);
            self.dispatch.move_tip(feed.head);
        } else if self.live.after() < feed.before_oldest() {
            self.live = Reader::at(feed.before_oldest());
        }
        let from = reading
            .rows
            .partition_point(|row| row.seq <= self.live.after());
        let rows = reading.rows.get(from..).unwrap_or_default();
        let (dispatch, relations) = (&mut self.dispatch, &self.relations);
        let end = End {
            seq: feed.head,
            is_within: false,
        };
        let along = along(&self.options, &self.in_flight, relations, end);
        self.live.read(rows, &along, |group| {
            dispatch.offer(group, Way::Live, feed, now, out);
        })?;
        dispatch.reach(self.live.given());
        if rows.is_empty() && self.live.after() < feed.head {
            return Err(missing(self.live.after()));
        }
        dispatch.answer_marks(feed, relations, out);
        Ok(())
    }

    fn go_catch_up(
        &mut self,
        reading: &Reading<'_>,
        feed: &Feed,
        now: u64,
        out: &mut Out,
    ) -> Result<(), Error> {
        let tip = self.dispatch.tip();
        if self.catch_up.after() < feed.before_oldest() {
            self.catch_up = Reader::at(feed.before_oldest());
        }
        let from = reading
            .rows
            .partition_point(|row| row.seq <= self.catch_up.after());
        let to = reading.rows.partition_point(|row| row.seq <= tip);
        let rows = reading.rows.get(from..to).unwrap_or_default();
        let (dispatch, relations) = (&mut self.dispatch, &self.relations);
        let end = End {
            seq: tip,
            is_within: self.live.is_within(),
        };
        let along = along(&self.options, &self.in_flight, relations, end);
        self.catch_up.read(rows, &along, |group| {
            dispatch.offer(group, Way::CatchUp, feed, now, out);
        })?;
        dispatch.reach(tip);
        if rows.is_empty() && self.catch_up.after() < tip {
            return Err(missing(self.catch_up.after()));
        }
        Ok(())
    }
}

/// The log holds later entries than this one, but a reading after it brought none.
fn missing(after: u64) -> Error {
    Error::new(
        Code::LogCorrupt,
        format!("no entry follows {after}, which is not the last"),
    )
}

fn along<'a>(
    options: &'a Options,
    in_flight: &'a Cell<u64>,
    relations: &'a Relations,
    end: End,
) -> Along<'a> {
    let (max_bytes, unfit) = (options.max_commit_bytes, options.quarantine.as_slice());
    Along {
        end,
        max_bytes,
        relations,
        unfit,
        in_flight,
    }
}

/// The pairs of subscription and seq in an acknowledgement.
fn acks(payload: &[u8]) -> impl Iterator<Item = (u32, u64)> {
    payload.chunks_exact(12).filter_map(|pair| {
        let (id, seq) = pair.split_first_chunk::<4>()?;
        Some((
            u32::from_le_bytes(*id),
            u64::from_le_bytes(*seq.first_chunk::<8>()?),
        ))
    })
}

//! What the engine asks its host for: readings of the log, each way in its turn, and trimming.

use super::Engine;
use crate::dispatch::Way;
use crate::error::Error;
use crate::reader::Reader;
use crate::record::{Out, Record};
use crate::subscription::Mark;

/// How long to wait after a first failed reading, and at most after many.
const RETRY_MS: (u64, u64) = (100, 10_000);

impl Engine {
    /// Asks for the reading that is wanted most, or tells when to look again.
    pub(super) fn order_reading(&mut self, turn: u8, now: u64, out: &mut Out) -> Option<u64> {
        let head = self.feed.as_ref().map_or(u64::MAX, |feed| feed.head);
        let follows = self.dispatch.follows();
        let someone_follows = follows || self.streams.follows();
        let live = self.dispatch.has_marks()
            || self.streams.has_marks()
            || (self.woken && (someone_follows || self.trimmer.is_due(now)))
            || (follows && self.live.after() < head);
        let after = [
            (Way::Live, live.then(|| self.live_after(follows))),
            (Way::CatchUp, self.dispatch.behind()),
            (Way::Streams, self.streams.behind(head)),
        ];
        // Each way has its turn: none keeps another waiting.
        let next = after.iter().position(|(way, _)| *way == self.last_way)? + 1;
        let mut turns = after.iter().cycle().skip(next).take(after.len());
        let (way, after) = turns.find_map(|(way, after)| Some((*way, (*after)?)))?;
        if self.reading.is_some() {
            return None;
        }
        if now < self.retry_ms {
            return Some(self.retry_ms);
        }
        self.asked += 1;
        self.last_way = way;
        let after = match way {
            Way::Live => {
                self.woken = false;
                self.dispatch.mark(Mark::Asked);
                self.streams.mark(Mark::Asked);
                after
            }
            Way::CatchUp => {
                if self.catch_up.given() != after {
                    self.catch_up = Reader::at(after);
                }
                self.catch_up.after()
            }
            Way::Streams => after,
        };
        self.reading = Some((self.asked, way, after));
        let bounds = [
            self.relations.last(),
            self.options.max_read_rows,
            self.options.max_read_bytes,
        ];
        out.flagged(Record::ReadLog, turn, self.asked, after, &[], |payload| {
            for bound in bounds {
                payload.extend_from_slice(&bound.to_le_bytes());
            }
        });
        None
    }

    /// After which entry a reading along the end begins: where nobody follows commits, those who follow rows say.
    fn live_after(&self, follows: bool) -> u64 {
        if !follows && self.streams.follows() {
            self.streams.at()
        } else {
            self.live.after()
        }
    }

    pub(super) fn order_trim(&mut self, out: &mut Out) {
        if self.trimming.is_some() {
            return;
        }
        let Some(trim) = self.trim.take() else { return };
        self.asked += 1;
        self.trimming = Some(self.asked);
        out.record(Record::Trim, self.asked, 0, &[], |payload| {
            payload.extend_from_slice(&trim.to.to_le_bytes());
            payload.extend_from_slice(&trim.before_ms.to_le_bytes());
            payload.extend_from_slice(&trim.limit.to_le_bytes());
        });
    }

    /// A reading or saving came to nothing: it is tried again, later each time.
    pub(super) fn fail(&mut self, id: u32, error: &Error, now: u64, out: &mut Out) {
        if self.trimming == Some(id) {
            self.trimming = None;
        } else if self.reading.take_if(|(asked, ..)| *asked == id).is_none() {
            return;
        }
        self.fault(error, now, out);
    }

    pub(super) fn fault(&mut self, error: &Error, now: u64, out: &mut Out) {
        let (first, most) = RETRY_MS;
        self.retry_ms = now + most.min(first << self.failures.min(10));
        if self.failures == 0 {
            out.record(Record::Fault, 0, 0, &[], |payload| error.write(payload));
        }
        self.failures += 1;
        self.want_marks();
    }

    /// Whoever waits to know where the log ends waits for another reading.
    pub(super) fn want_marks(&mut self) {
        self.dispatch.mark(Mark::Wanted);
        self.streams.mark(Mark::Wanted);
        self.woken = true;
    }
}

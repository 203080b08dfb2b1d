//! Streams that are given the same bytes.

use super::frames::{Framed, Framer, Stamp};
use super::lag::{Lag, Lagging, Sink};
use crate::commit::Entry;
use crate::cursor::Cursor;
use crate::ring::{Ring, Slot};

/// A delivery class: one subscription of the catalog, and the operations wanted of it.
#[derive(Debug)]
pub(super) struct Class {
    /// The subscription, by its index in the catalog.
    pub(super) subscription: usize,
    /// What makes its frames.
    pub(super) framer: Framer,
    /// Those who have everything, and room for more.
    pub(super) current: Vec<u32>,
    /// The others.
    pub(super) lagging: Lagging,
    /// The last frames, kept while somebody lags.
    pub(super) ring: Ring,
    /// How many frames there were.
    pub(super) n_frames: u64,
    /// The place after the last entry offered.
    pub(super) tip: Cursor,
    /// Frames that were made and not yet given to those who are current.
    pub(super) fresh: Framed,
    /// When the last entry was logged that was framed.
    pub(super) time_ms: u64,
}

impl Class {
    pub(super) fn new(subscription: usize, framer: Framer, tip: Cursor, time_ms: u64) -> Self {
        Self {
            subscription,
            framer,
            current: Vec::new(),
            lagging: Lagging::default(),
            ring: Ring::new(tip.number()),
            n_frames: 0,
            tip,
            fresh: Framed::default(),
            time_ms,
        }
    }

    /// Whether nobody is in it.
    pub(super) fn is_empty(&self) -> bool {
        self.current.is_empty() && self.lagging.is_empty()
    }

    /// How many there are whose lag is counted in frames.
    pub(super) fn n_counted(&self) -> u64 {
        let counted = self
            .lagging
            .iter()
            .filter(|(_, lag)| lag.n_before.is_some());
        (self.current.len() + counted.count()) as u64
    }

    /// How many frames its readers matched and were not given yet.
    pub(super) fn n_pending(&self) -> u64 {
        let before = self.lagging.iter().filter_map(|(_, lag)| lag.n_before);
        before.map(|before| self.n_frames - before).sum()
    }

    /// Takes an entry in, or what is told of one that is none: its frames are for those who are current at
    /// once, and for the others in the ring. Gives their number.
    pub(super) fn push(&mut self, stamp: Stamp, entry: Result<&Entry<'_>, (Cursor, &str)>) -> u64 {
        let n_before = self.fresh.ends.len();
        let mut start = self.fresh.bytes.len();
        self.time_ms = stamp.time_ms;
        match entry {
            Ok(entry) => self.framer.write(entry, stamp, &mut self.fresh),
            Err((cursor, reason)) => {
                let id = stamp.id(cursor);
                self.framer.write_gap(id, reason, None, &mut self.fresh);
            }
        }
        let made = self.fresh.ends.get(n_before..).unwrap_or_default();
        let n_made = made.len() as u64;
        self.n_frames += n_made;
        if !self.lagging.is_empty() {
            for (cursor, end) in made {
                let frame = self.fresh.bytes.get(start..*end).unwrap_or_default();
                self.ring.push(Slot {
                    before: cursor.number() - 1,
                    seq: cursor.number(),
                    payload: frame.into(),
                });
                start = *end;
            }
        }
        if self.current.is_empty() {
            self.fresh.clear();
        }
        n_made
    }

    /// Puts one who lags into the class. The ring begins with the first of them.
    pub(super) fn lag(&mut self, id: u32, lag: Lag) {
        if self.lagging.is_empty() {
            self.ring.empty(self.tip.number());
        }
        self.lagging.insert(id, lag);
    }

    /// Notes that somebody has everything, and room for more.
    pub(super) fn make_current(&mut self, id: u32) {
        // In order, so that finding one among many is quick.
        if let Err(place) = self.current.binary_search(&id) {
            self.current.insert(place, id);
        }
    }

    /// Notes that a sink is full.
    pub(super) fn fill(&mut self, id: u32, sink: Sink) {
        if let Ok(place) = self.current.binary_search(&id) {
            self.current.remove(place);
            let lag = Lag {
                after: self.tip,
                time_ms: self.time_ms,
                n_before: Some(self.n_frames),
                sink,
                owed: None,
            };
            self.lag(id, lag);
        } else if let Some(lag) = self.lagging.get_mut(id)
            && lag.sink == Sink::Ready
        {
            lag.sink = sink;
        }
    }

    /// Takes somebody out, and tells how many frames it matched and was not given.
    pub(super) fn leave(&mut self, id: u32) -> u64 {
        if let Ok(place) = self.current.binary_search(&id) {
            self.current.remove(place);
        }
        let left = self.lagging.remove(id).and_then(|lag| lag.n_before);
        left.map_or(0, |before| self.n_frames - before)
    }

    /// The place from which the log should be read for those who lag, have room, and lack what the ring does
    /// not hold.
    pub(super) fn lacking(&self) -> Option<Cursor> {
        self.lagging
            .iter()
            .map(|(_, lag)| lag)
            .filter(|lag| lag.sink == Sink::Ready && !self.holds(lag.after) && lag.after < self.tip)
            .map(|lag| lag.after)
            .min()
    }

    /// Whether the ring holds every frame after a place.
    pub(super) fn holds(&self, after: Cursor) -> bool {
        self.ring.from() <= after.number()
    }

    /// Lets those who have stalled lose what the ring does not hold, and tells how much that was.
    pub(super) fn drop_stalled(&mut self) -> u64 {
        let n_held = self.n_frames - self.ring.len() as u64;
        let mut dropped = 0;
        for lag in self
            .lagging
            .values_mut()
            .filter(|lag| lag.sink == Sink::Stalled)
        {
            let Some(lost) = lag.n_before.and_then(|before| n_held.checked_sub(before)) else {
                continue;
            };
            if lost > 0 {
                lag.owe("dropped", Some(lost));
                lag.after = Cursor::from_number(self.ring.from());
                lag.n_before = Some(n_held);
                dropped += lost;
            }
        }
        dropped
    }
}

//! Frames handed to sinks: to those who are current at once, to those who lag when they have room.

use super::class::Class;
use super::frames::Stamp;
use super::lag::Sink;
use super::{Counts, Streams};
use crate::cursor::Cursor;
use crate::record::{Out, Record};

/// That a record of frames ends within an entry.
const WITHIN: u8 = 1;
/// That a record of frames says nothing of a place.
const NO_PLACE: u8 = 2;

impl Streams {
    /// Gives everybody who has room what was made or kept for them.
    pub(super) fn serve(&mut self, out: &mut Out) {
        let tag = self.tag;
        for index in 0..self.classes.len() {
            let Some(class) = self.class_mut(index) else {
                continue;
            };
            let mut counts = Counts::default();
            if let Some(reached) = class.fresh.reached() {
                give(&class.current, Some(reached), &class.fresh.bytes, out);
                counts.delivered += (class.fresh.ends.len() * class.current.len()) as u64;
                class.fresh.clear();
            }
            if !class.lagging.is_empty() {
                counts.dropped += class.drop_stalled();
                serve_lagging(class, tag, &mut counts, out);
            }
            let subscription = class.subscription;
            self.count(subscription, counts);
        }
    }
}

/// Gives those who lag and have room what the ring holds for them; with nothing left, they are current.
fn serve_lagging(class: &mut Class, tag: u32, counts: &mut Counts, out: &mut Out) {
    let ready = class
        .lagging
        .iter()
        .filter(|(_, lag)| lag.sink == Sink::Ready);
    for id in ready.map(|(id, _)| *id).collect::<Vec<_>>() {
        let Some(mut lag) = class.lagging.get(id).copied() else {
            continue;
        };
        let mut bytes = Vec::new();
        if let Some(owed) = lag.owed.take() {
            let stamp = Stamp {
                tag,
                time_ms: lag.time_ms,
            };
            bytes = class
                .framer
                .gap(stamp.id(lag.after), owed.reason, owed.dropped);
        }
        let mut has_all = false;
        if let Some(slots) = class.ring.after(lag.after.number()) {
            let mut n_given = 0;
            for slot in slots {
                bytes.extend_from_slice(&slot.payload);
                lag.after = Cursor::from_number(slot.seq);
                n_given += 1;
            }
            counts.delivered += n_given;
            if lag.n_before.is_none() {
                counts.matched += n_given;
            }
            has_all = lag.after <= class.tip;
        }
        if !bytes.is_empty() {
            give(&[id], Some(lag.after), &bytes, out);
        }
        if has_all {
            class.lagging.remove(id);
            class.make_current(id);
        } else {
            class.lagging.insert(id, lag);
        }
    }
}

/// Gives frames to streams, which then stand at a place, if one is told.
pub(super) fn give(ids: &[u32], reached: Option<Cursor>, bytes: &[u8], out: &mut Out) {
    if ids.is_empty() {
        return;
    }
    let (flags, seq) = match reached {
        Some(cursor) if cursor.is_within() => (WITHIN, cursor.number() / 2),
        Some(cursor) => (0, cursor.number() / 2),
        None => (NO_PLACE, 0),
    };
    out.flagged(Record::Frames, flags, 0, seq, ids, |payload| {
        payload.extend_from_slice(bytes);
    });
}

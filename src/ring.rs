//! The last commits of one delivery class, kept for those of its subscriptions that are not at the tip.
//!
//! ```text
//!         from                      newest
//!  log  ───┼──●────────●──●──────────●────▶      ● a commit this class is given
//!                 ▲                  ▲
//!                 behind: served     at the tip
//!                 from the ring
//! ```
//!
//! The ring holds every commit of its class after `from`. A subscription that stands before `from` reads
//! the log instead, so a full ring loses nothing: it only moves `from`.

use std::collections::VecDeque;
use std::rc::Rc;

/// How many commits a ring holds.
pub const SLOTS: usize = 64;
/// How many bytes a ring holds, whatever the number of commits.
pub const BYTES: usize = 1 << 20;

/// The ring of one class.
#[derive(Debug, Default)]
pub struct Ring {
    slots: VecDeque<Slot>,
    bytes: usize,
    from: u64,
}

/// One commit, encoded.
#[derive(Clone, Debug)]
pub struct Slot {
    /// The entry before the commit's first.
    pub before: u64,
    /// The commit's number.
    pub seq: u64,
    /// What sinks are given.
    pub payload: Rc<[u8]>,
}

impl Ring {
    /// A ring without commits, complete after `from`.
    pub const fn new(from: u64) -> Self {
        Self {
            slots: VecDeque::new(),
            bytes: 0,
            from,
        }
    }

    /// Holds a commit; the oldest ones give way.
    pub fn push(&mut self, slot: Slot) {
        self.bytes += slot.payload.len();
        self.slots.push_back(slot);
        while self.slots.len() > SLOTS || self.bytes > BYTES {
            let Some(oldest) = self.slots.pop_front() else {
                break;
            };
            self.bytes -= oldest.payload.len();
            self.from = oldest.seq;
        }
    }

    /// Forgets everything up to `seq`, since nobody stands before it.
    pub fn empty(&mut self, seq: u64) {
        self.slots.clear();
        self.bytes = 0;
        self.from = seq;
    }

    /// After what it is complete.
    pub const fn from(&self) -> u64 {
        self.from
    }

    /// How many slots are taken.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Whether none is.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// The commits after `seq`, or none where the ring no longer reaches back so far, or where `seq` is
    /// within a commit, of which the ring has no rest.
    pub fn after(&self, seq: u64) -> Option<impl Iterator<Item = &Slot>> {
        let skip = self.slots.partition_point(|slot| slot.seq <= seq);
        let is_within = self.slots.get(skip).is_some_and(|slot| slot.before < seq);
        (seq >= self.from && !is_within).then(|| self.slots.iter().skip(skip))
    }
}

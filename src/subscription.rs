//! One live reader's standing request, as the engine knows it.
//!
//! ```text
//!             first reading             no room              room, from ring or log
//!  Starting ───────────────▶ At tip ──────────────▶ Behind ─────────────────────────▶ At tip
//!                              │                      │
//!                              └─ unsubscribed ───────┴─▶ closing: given all up to a mark, then gone
//! ```

use std::collections::VecDeque;

use crate::feed::Since;

/// How many commits a subscription may hold that its sink has not taken.
pub const WINDOW: usize = 64;
/// How many bytes of them.
pub const WINDOW_BYTES: usize = 8 << 20;
/// How long an unsubscribed reader may take over one commit before it is let go.
pub const PATIENCE_MS: u64 = 1_000;

/// A subscription.
#[derive(Debug)]
pub struct Subscription {
    /// The delivery class it belongs to.
    pub class: usize,
    /// Where it stands in the log.
    pub place: Place,
    /// Whether it had begun before, under another engine.
    pub resumes: bool,
    /// Whether it is on its way out.
    pub closing: Option<Closing>,
    given: VecDeque<(u64, usize)>,
    given_bytes: usize,
    /// Since when its sink is waited for: it took something then, or was given something while it held
    /// nothing, or was asked to end.
    moved_ms: u64,
}

/// Where a subscription stands in the log.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Place {
    /// Nowhere yet: the log must be read to know. The mark says whether that reading is under way.
    Starting(Since, Mark),
    /// At the end of what the engine has read: it is given what comes.
    Tip,
    /// After this entry.
    At(u64),
}

/// Whether a reading that will answer has been asked for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Mark {
    /// No reading since the question was put.
    Wanted,
    /// A reading is under way that began after the question.
    Asked,
}

/// What an unsubscribed reader still waits for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Closing {
    /// To know how far the log reached when it left.
    Marking(Mark),
    /// To be given everything up to this entry.
    Until(u64),
}

impl Subscription {
    /// A subscription that has not begun.
    pub const fn new(class: usize, since: Since, resumes: bool, now: u64) -> Self {
        Self {
            class,
            place: Place::Starting(since, Mark::Wanted),
            resumes,
            closing: None,
            given: VecDeque::new(),
            given_bytes: 0,
            moved_ms: now,
        }
    }

    /// Whether it can be given another commit. One commit always fits into an empty window.
    pub fn has_room(&self) -> bool {
        self.given.len() < WINDOW && self.given_bytes < WINDOW_BYTES
    }

    /// Whether so much was taken that going back to the log is worth a reading.
    pub fn wants_more(&self) -> bool {
        self.given.len() <= WINDOW / 2 && self.has_room()
    }

    /// Whether more than one commit is given and not taken: its sink has not begun with the second.
    pub fn waits_behind_another(&self) -> bool {
        self.given.len() > 1
    }

    /// Whether everything given was taken.
    pub fn is_idle(&self) -> bool {
        self.given.is_empty()
    }

    /// Whether it waits for a reading to tell where the log ends.
    pub const fn is_marking(&self) -> bool {
        matches!(self.place, Place::Starting(..))
            || matches!(self.closing, Some(Closing::Marking(_)))
    }

    /// Whether everything given up to `seq` was taken.
    pub fn took(&self, seq: u64) -> bool {
        self.given.front().is_none_or(|(first, _)| *first > seq)
    }

    /// Notes that a commit was handed to the sink.
    pub fn give(&mut self, seq: u64, bytes: usize, now: u64) {
        if self.given.is_empty() {
            self.moved_ms = now;
        }
        self.given.push_back((seq, bytes));
        self.given_bytes += bytes;
    }

    /// Notes that the sink took everything up to `seq`.
    pub fn ack(&mut self, seq: u64, now: u64) {
        while let Some(&(_, bytes)) = self.given.front().filter(|(first, _)| *first <= seq) {
            self.given.pop_front();
            self.given_bytes -= bytes;
            self.moved_ms = now;
        }
    }

    /// Notes that the reader was asked to end: from here on its sink is waited for, but not for ever.
    pub const fn leave(&mut self, now: u64) {
        self.closing = Some(Closing::Marking(Mark::Wanted));
        self.moved_ms = now;
    }

    /// When patience with an unsubscribed reader ends.
    pub const fn patience_ends_ms(&self) -> u64 {
        self.moved_ms.saturating_add(PATIENCE_MS)
    }
}

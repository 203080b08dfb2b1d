//! Entity streams: who listens to which entity, and which frames they are given.
//!
//! ```text
//!            the read          a reading of the log           its sink is full
//!  Reading ────────▶ Starting ─────────────────▶ Current ◀───────────────────────▶ Lagging
//!     │                 │            │                        it has everything       ▲
//!     └─ refused        └─ too late  └── stands behind, as told by Last-Event-ID ─────┘
//! ```
//!
//! Who is current is given each frame when it is made, and costs nothing but a place in a list. Who lags is
//! given what it lacks when its sink has room again: from its class's ring, or, where the ring no longer
//! reaches back so far, from the log. Only a reader whose sink has been full for [`PATIENCE_MS`] loses what
//! its ring does not hold, for itself alone, and is told so by a gap.

mod boot;
mod class;
mod frames;
mod gaps;
mod give;
mod lag;
mod life;
mod serve;
mod start;
mod statistics;

use std::collections::{BTreeMap, BTreeSet};

use crate::catalog::Catalog;
use crate::cursor::Cursor;
use crate::http::{Opening, Refusal, Request};
use crate::subscription::Mark;
use boot::Boot;
use class::Class;

/// How long a sink may be full before its reader loses what the ring does not hold.
pub const PATIENCE_MS: u64 = 250;
/// How long a stream may wait for the log to be read, before it is refused.
pub const START_MS: u64 = 10_000;

/// All entity streams of an engine.
#[derive(Debug, Default)]
pub struct Streams {
    /// What is declared; nothing before it was opened, and after it was closed.
    catalog: Option<Catalog>,
    tenant: String,
    /// A catalog that is to be checked against the relations, by the next reading.
    boot: Option<Boot>,
    members: BTreeMap<u32, Member>,
    classes: Vec<Option<Class>>,
    /// For each relation version, the classes that concern it; made when first needed.
    by_relation: BTreeMap<u32, Vec<usize>>,
    /// The last entry that was offered to every class.
    at: u64,
    /// Those who wait for a reading to tell them where the log ends.
    marking: BTreeSet<u32>,
    timers: BTreeSet<(u64, Timer, u32)>,
    /// What stands for the log's epoch in ids.
    tag: u32,
    /// What was counted, for each subscription of the catalog.
    counts: Vec<Counts>,
    published: u64,
}

/// One stream, or one that is to become one.
#[derive(Debug)]
struct Member {
    request: Request,
    /// The stream it is to have, or why it is to have none: told after its read.
    opening: Result<Opening, Refusal>,
    phase: Phase,
    /// Whether its sink is full, where that was before it was in a class.
    is_full: bool,
    /// When it ends, and when it is next sent something: its timers.
    end_ms: u64,
    ping_ms: u64,
}

/// How far a stream has come.
#[derive(Clone, Copy, Debug)]
enum Phase {
    /// Its read as the caller is under way.
    Reading,
    /// The log must be read to know where it begins.
    Starting(Mark),
    /// It is in a class.
    In(usize),
}

/// What is to be done at a time.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Timer {
    /// It has lived its life, or waited too long to begin it.
    End,
    /// It is to be sent something.
    Ping,
    /// Its sink has been full for half of the time that is too long.
    Stall,
}

/// What was counted. Each event that a stream matched is in one of the others, or still pending.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    matched: u64,
    delivered: u64,
    dropped: u64,
}

impl Streams {
    /// Whether somebody listens.
    pub fn follows(&self) -> bool {
        self.classes.iter().any(Option::is_some)
    }

    /// The last entry that was offered to every class.
    pub const fn at(&self) -> u64 {
        self.at
    }

    /// Whether somebody waits for a reading to tell where the log ends.
    pub fn has_marks(&self) -> bool {
        self.boot.is_some() || !self.marking.is_empty()
    }

    /// Notes that a reading begins, or that it came to nothing.
    pub fn mark(&mut self, mark: Mark) {
        if let Some(boot) = &mut self.boot {
            boot.mark = mark;
        }
        for id in &self.marking {
            if let Some(Phase::Starting(at)) = self.members.get_mut(id).map(|it| &mut it.phase) {
                *at = mark;
            }
        }
    }

    /// After which entry the log should be read, for those who lack something that no ring holds.
    pub fn behind(&self, head: u64) -> Option<u64> {
        let lacking = self.classes.iter().flatten().filter_map(Class::lacking);
        let seq = lacking.map(Cursor::seq).min();
        let all = (self.follows() && self.at < head).then_some(self.at);
        seq.into_iter().chain(all).min()
    }

    fn class(&self, index: usize) -> Option<&Class> {
        self.classes.get(index)?.as_ref()
    }

    fn class_mut(&mut self, index: usize) -> Option<&mut Class> {
        self.classes.get_mut(index)?.as_mut()
    }
}

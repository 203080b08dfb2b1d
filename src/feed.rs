//! The numbered log as its readers know it: how far it reaches, where a reader starts, what is trimmed.

use crate::error::{Code, Error};

/// What the log said of itself when it was last read.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Feed {
    /// The log's identity: another one numbers other entries.
    pub epoch: String,
    /// The oldest number retained; one past `head` where nothing is.
    pub oldest: u64,
    /// The newest number.
    pub head: u64,
    /// When the newest entry was logged: milliseconds since 1970.
    pub time_ms: u64,
}

/// Where a subscription begins.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Since {
    /// After the newest entry.
    Now,
    /// Before the oldest one retained.
    Start,
    /// After the entry of this number.
    Seq(u64),
}

/// Where a reader goes on, and whether it missed something.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Start {
    /// After this number, with nothing missed.
    At(u64),
    /// After this number, since what it asked for is no longer there.
    Gap(u64),
}

impl Feed {
    /// Where a reader that asks for `since` goes on.
    pub fn start(&self, since: Since) -> Result<Start, Error> {
        match since {
            Since::Now => Ok(Start::At(self.head)),
            Since::Start => Ok(Start::At(self.before_oldest())),
            Since::Seq(seq) if seq > self.head => Err(Error::new(
                Code::BadSince,
                format!(
                    "since is {seq}, but this log has only reached {}",
                    self.head
                ),
            )),
            Since::Seq(seq) if seq < self.before_oldest() => Ok(Start::Gap(self.before_oldest())),
            Since::Seq(seq) => Ok(Start::At(seq)),
        }
    }

    /// The position from which the oldest entry is the next.
    pub const fn before_oldest(&self) -> u64 {
        self.oldest.saturating_sub(1)
    }

    /// How many entries the log holds.
    pub const fn retained(&self) -> u64 {
        self.head.saturating_sub(self.before_oldest())
    }
}

/// How much of the log is kept.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Retention {
    /// At most about this many entries.
    pub entries: u64,
    /// None older than this.
    pub age_ms: u64,
}

/// An order to trim: entries up to `to`, and those from before `before_ms`, at most `limit` at once.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Trim {
    /// Entries with this number or a lower one go.
    pub to: u64,
    /// Entries logged before this time go.
    pub before_ms: u64,
    /// No more than so many in one go, so that the writer is not kept waiting.
    pub limit: u32,
}

/// How long the log may grow past its age before somebody looks.
const LOOK_EVERY_MS: u64 = 60_000;
/// How many entries one order removes.
const TRIM_LIMIT: u32 = 1_000;

/// When to trim, and how far.
#[derive(Debug)]
pub struct Trimmer {
    retention: Retention,
    looked_ms: Option<u64>,
    /// The oldest number when the last order was given, and how far that went: an order that moved it may
    /// need a successor, and one that should have and did not is not repeated until it is time to look.
    ordered: Option<(u64, u64)>,
}

impl Trimmer {
    /// A trimmer that keeps to this retention.
    pub const fn new(retention: Retention) -> Self {
        Self {
            retention,
            looked_ms: None,
            ordered: None,
        }
    }

    /// Whether it is time to look at the log for the sake of trimming alone.
    pub fn is_due(&self, now: u64) -> bool {
        self.looked_ms
            .is_none_or(|looked| now >= looked.saturating_add(LOOK_EVERY_MS))
    }

    /// The order that is due now that the log was read, if one is.
    ///
    /// A count is kept with a tenth to spare, so that a steady writer is not followed entry by entry.
    pub fn order(&mut self, feed: &Feed, now: u64) -> Option<Trim> {
        let moved = self.ordered.is_some_and(|(oldest, _)| oldest < feed.oldest);
        let stuck = self
            .ordered
            .is_some_and(|(oldest, to)| oldest == feed.oldest && oldest <= to);
        let due = self.is_due(now);
        let spare = self.retention.entries / 10;
        let full = feed.retained() > self.retention.entries.saturating_add(spare) && !stuck;
        if feed.retained() == 0 || !(moved || due || full) {
            if due {
                self.looked_ms = Some(now);
            }
            return None;
        }
        self.looked_ms = Some(now);
        let to = feed.head.saturating_sub(self.retention.entries);
        self.ordered = Some((feed.oldest, to));
        Some(Trim {
            to,
            before_ms: now.saturating_sub(self.retention.age_ms),
            limit: TRIM_LIMIT,
        })
    }
}

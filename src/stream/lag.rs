//! A reader that does not have everything yet.

use crate::cursor::Cursor;

/// Where a reader stands that lags behind its class.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lag {
    /// The place it was told of everything before.
    pub(super) after: Cursor,
    /// When that was logged which it was told last.
    pub(super) time_ms: u64,
    /// How many frames of its class lie before that place, where that is known: since it became current.
    pub(super) n_before: Option<u64>,
    /// Whether its sink has room.
    pub(super) sink: Sink,
    /// What it must be told before anything else.
    pub(super) owed: Option<Owed>,
}

/// A gap that a reader has not been told of.
#[derive(Clone, Copy, Debug)]
pub(super) struct Owed {
    /// Why there is one.
    pub(super) reason: &'static str,
    /// How many frames it lost, where that is known.
    pub(super) dropped: Option<u64>,
}

/// What is known of a sink.
///
/// ```text
///  Ready ──▶ Full ─── half of PATIENCE_MS ──▶ Waited ─── the other half ──▶ Stalled
///    ▲────────┴────────────────────────────────┴───────────────────────────────┘ it has room again
/// ```
///
/// Two timers have to pass, so that a host that was busy for long has a turn in which to say that a sink
/// has room, before its reader loses anything.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Sink {
    Ready,
    /// Until a time.
    Full(u64),
    /// Until a time.
    Waited(u64),
    Stalled,
}

impl Sink {
    /// A sink that is full from now on.
    pub(super) const fn full(now: u64) -> Self {
        Self::Full(now + super::PATIENCE_MS / 2)
    }

    /// The time that it waits for.
    pub(super) const fn due_ms(self) -> Option<u64> {
        match self {
            Self::Full(due) | Self::Waited(due) => Some(due),
            Self::Ready | Self::Stalled => None,
        }
    }

    /// What it is once that time has come.
    pub(super) const fn next(self, now: u64) -> Self {
        match self {
            Self::Full(_) => Self::Waited(now + super::PATIENCE_MS / 2),
            Self::Waited(_) | Self::Stalled => Self::Stalled,
            Self::Ready => Self::Ready,
        }
    }
}

impl Lag {
    /// Notes a loss. The first reason is told; numbers add up as long as all are known.
    pub(super) fn owe(&mut self, reason: &'static str, dropped: Option<u64>) {
        self.owed = Some(match self.owed {
            None => Owed { reason, dropped },
            Some(owed) => Owed {
                dropped: owed.dropped.zip(dropped).map(|(a, b)| a + b),
                ..owed
            },
        });
    }
}

/// Those of a class who lag, by their numbers.
#[derive(Debug, Default)]
pub(super) struct Lagging(Vec<(u32, Lag)>);

impl Lagging {
    pub(super) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) const fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn get_mut(&mut self, id: u32) -> Option<&mut Lag> {
        let place = self.find(id).ok()?;
        self.0.get_mut(place).map(|(_, lag)| lag)
    }

    pub(super) fn get(&self, id: u32) -> Option<&Lag> {
        self.0.get(self.find(id).ok()?).map(|(_, lag)| lag)
    }

    pub(super) fn insert(&mut self, id: u32, lag: Lag) {
        match self.find(id) {
            Ok(place) => {
                if let Some(slot) = self.0.get_mut(place) {
                    slot.1 = lag;
                }
            }
            Err(place) => self.0.insert(place, (id, lag)),
        }
    }

    pub(super) fn remove(&mut self, id: u32) -> Option<Lag> {
        let place = self.find(id).ok()?;
        Some(self.0.remove(place).1)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &(u32, Lag)> {
        self.0.iter()
    }

    pub(super) fn values_mut(&mut self) -> impl Iterator<Item = &mut Lag> {
        self.0.iter_mut().map(|(_, lag)| lag)
    }

    fn find(&self, id: u32) -> Result<usize, usize> {
        self.0.binary_search_by_key(&id, |(id, _)| *id)
    }
}

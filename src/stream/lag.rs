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
    /// Since when its sink has been full; nothing where it has room.
    pub(super) full_ms: Option<u64>,
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

impl Lag {
    /// Whether its sink has been full for so long that it is not waited for.
    pub(super) fn is_stalled(&self, now: u64) -> bool {
        self.full_ms
            .is_some_and(|full| now >= full.saturating_add(super::PATIENCE_MS))
    }

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

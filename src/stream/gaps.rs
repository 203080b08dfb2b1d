//! How streams come to miss something that is nobody's fault: the log is another one, or was trimmed.

use super::frames::Stamp;
use super::lag::{Lag, Sink};
use super::{Counts, Streams};
use crate::cursor::{Cursor, EventId};
use crate::feed::Feed;

impl Streams {
    /// Begins anew on another log, at its end: everybody is told.
    pub fn replace_log(&mut self, feed: &Feed) {
        self.by_relation.clear();
        self.tag = EventId::tag(&feed.epoch);
        self.at = feed.head;
        let mut lost = Vec::new();
        for class in self.classes.iter_mut().flatten() {
            lost.push((class.subscription, class.n_pending()));
            class.tip = Cursor::after(feed.head);
            class.ring.empty(class.tip.number());
            let current = std::mem::take(&mut class.current);
            let there = current.into_iter().map(|id| (id, Sink::Ready));
            let lagging = std::mem::take(&mut class.lagging);
            let there = there.chain(lagging.iter().map(|(id, lag)| (*id, lag.sink)));
            for (id, sink) in there.collect::<Vec<_>>() {
                let mut lag = Lag {
                    after: class.tip,
                    time_ms: feed.time_ms,
                    n_before: Some(class.n_frames),
                    sink,
                    owed: None,
                };
                lag.owe("other_log", None);
                class.lagging.insert(id, lag);
            }
        }
        for (subscription, dropped) in lost {
            self.count(
                subscription,
                Counts {
                    dropped,
                    ..Counts::default()
                },
            );
        }
    }

    /// Tells those who stand before the oldest entry that they missed something, and moves them there.
    pub fn skip_trimmed(&mut self, feed: &Feed) {
        let oldest = Cursor::after(feed.before_oldest());
        let tag = self.tag;
        let is_behind = self.follows() && self.at < feed.before_oldest();
        if is_behind {
            self.at = feed.before_oldest();
        }
        let mut counted = Vec::new();
        for class in self.classes.iter_mut().flatten() {
            let mut counts = Counts::default();
            if is_behind {
                class.tip = oldest;
                counts.matched += class.n_counted();
                let stamp = Stamp {
                    tag,
                    time_ms: class.time_ms,
                };
                class.push(stamp, Err((oldest, "trimmed")));
            }
            let (from, n_held) = (
                Cursor::from_number(class.ring.from()),
                class.n_frames - class.ring.len() as u64,
            );
            for lag in class.lagging.values_mut() {
                if lag.after >= from || lag.after.seq() >= feed.before_oldest() {
                    continue;
                }
                let lost = lag.n_before.map(|before| n_held - before);
                counts.dropped += lost.unwrap_or(0);
                lag.owe("trimmed", lost);
                lag.after = if lost.is_some() { from } else { oldest };
                lag.n_before = lost.map(|_| n_held);
            }
            counted.push((class.subscription, counts));
        }
        for (subscription, counts) in counted {
            self.count(subscription, counts);
        }
    }
}

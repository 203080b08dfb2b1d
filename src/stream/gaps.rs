//! How streams come to miss something that is nobody's fault: the log is another one, was trimmed, or has a
//! hole.

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
        self.skip(0, feed.before_oldest(), "trimmed");
    }

    /// Moves those who stand from one entry on to another, since what lies between cannot be had, and tells
    /// them why.
    pub(super) fn skip(&mut self, from: u64, to: u64, reason: &'static str) {
        let place = Cursor::after(to);
        let tag = self.tag;
        let is_behind = self.follows() && (from..to).contains(&self.at);
        if is_behind {
            self.at = to;
        }
        let mut counted = Vec::new();
        for class in self.classes.iter_mut().flatten() {
            let mut counts = Counts::default();
            if is_behind {
                class.tip = place;
                let n_frames = class.n_frames;
                let stamp = Stamp {
                    tag,
                    time_ms: class.time_ms,
                };
                counts.matched += class.current.len() as u64;
                class.push(stamp, Err((place, reason)));
                class.ring.empty(place.number());
                // Who lags is told so too, each by a gap of its own.
                for lag in class.lagging.values_mut().filter(|it| it.after < place) {
                    counts.dropped += lag.n_before.map_or(0, |before| n_frames - before);
                    lag.owe(reason, None);
                    lag.after = place;
                    lag.n_before = Some(class.n_frames);
                }
            }
            let held_from = Cursor::from_number(class.ring.from());
            let n_held = class.n_frames - class.ring.len() as u64;
            for lag in class.lagging.values_mut() {
                if lag.after >= held_from || !(from..to).contains(&lag.after.seq()) {
                    continue;
                }
                let lost = lag.n_before.map(|before| n_held.saturating_sub(before));
                counts.dropped += lost.unwrap_or(0);
                lag.owe(reason, lost);
                lag.after = if lost.is_some() { held_from } else { place };
                lag.n_before = lost.map(|_| n_held);
            }
            counted.push((class.subscription, counts));
        }
        for (subscription, counts) in counted {
            self.count(subscription, counts);
        }
    }
}

//! Where subscriptions stand in the log, and how they get from one place to another.

use super::{Dispatch, Way};
use crate::encode::json::Object;
use crate::error::{Code, Error};
use crate::feed::Feed;
use crate::record::{Out, Record};
use crate::subscription::{Closing, Place, Subscription};

impl Dispatch {
    /// Whether somebody follows the log's end.
    pub fn follows(&self) -> bool {
        self.n_tip > 0 || self.elsewhere.iter().any(|id| self.place(*id) > self.tip)
    }

    /// Gives the place of a subscription that has one; those at the tip stand there.
    pub(super) fn place(&self, id: u32) -> u64 {
        match self.subscriptions.get(&id).map(|it| it.place) {
            Some(Place::At(seq)) => seq,
            Some(Place::Tip) | None => self.tip,
            Some(Place::Starting(..)) => 0,
        }
    }

    /// Puts a subscription at a place in the log.
    pub(super) fn put(&mut self, id: u32, seq: u64) {
        let Some(subscription) = self.subscriptions.get_mut(&id) else {
            return;
        };
        let Some(class) = self.routes.class_mut(subscription.class) else {
            return;
        };
        let at_tip = seq == self.tip;
        match (subscription.place, at_tip) {
            (Place::Tip, true) => {}
            (Place::Tip, false) => {
                class.tip.retain(|member| *member != id);
                class.elsewhere += 1;
                self.n_tip -= 1;
                self.elsewhere.insert(id);
            }
            (Place::At(_) | Place::Starting(..), true) => {
                class.tip.push(id);
                self.n_tip += 1;
                if self.elsewhere.remove(&id) {
                    class.elsewhere -= 1;
                }
            }
            (Place::At(_) | Place::Starting(..), false) => {
                if self.elsewhere.insert(id) {
                    class.elsewhere += 1;
                }
            }
        }
        subscription.place = if at_tip { Place::Tip } else { Place::At(seq) };
    }

    /// Moves the tip without offering what lies between, to where nobody misses it or after a gap.
    pub fn move_tip(&mut self, seq: u64) {
        self.tip = seq;
        for class in self.routes.classes_mut() {
            class.ring.empty(seq);
        }
        self.rejoin();
    }

    /// Moves the tip to the end of what was offered.
    pub fn reach(&mut self, seq: u64) {
        self.tip = seq;
        self.rejoin();
    }

    /// The tip.
    pub const fn tip(&self) -> u64 {
        self.tip
    }

    /// Brings to the tip those who stand there.
    fn rejoin(&mut self) {
        let tip = self.tip;
        let there: Vec<u32> = self
            .elsewhere
            .iter()
            .copied()
            .filter(|id| self.place(*id) == tip)
            .collect();
        for id in there {
            self.put(id, tip);
        }
    }

    /// Passes over a stretch that concerns nobody.
    pub(super) fn pass(&mut self, (before, last): (u64, u64), way: Way) {
        if way == Way::Live {
            if !self.elsewhere.is_empty() {
                self.reach(before);
            }
            self.tip = last;
            return;
        }
        for id in &self.elsewhere {
            let Some(subscription) = self.subscriptions.get_mut(id) else {
                continue;
            };
            if matches!(subscription.place, Place::At(seq) if (before..last).contains(&seq)) {
                subscription.place = Place::At(last);
            }
        }
    }

    /// Passes over a stretch that cannot be had, and tells those whom it concerns; where it is not known
    /// whom, everybody.
    pub(super) fn pass_over(
        &mut self,
        (before, last): (u64, u64),
        concerned: Option<&[usize]>,
        way: Way,
        error: &Error,
        feed: &Feed,
        out: &mut Out,
    ) {
        let stands_there = |it: &Subscription| match it.place {
            Place::Tip => way == Way::Live,
            Place::At(seq) => way == Way::CatchUp && (before..last).contains(&seq),
            Place::Starting(..) => false,
        };
        let is_told = |it: &Subscription| {
            concerned.is_none_or(|concerned| concerned.binary_search(&it.class).is_ok())
        };
        let there = self.subscriptions.iter().filter(|(_, it)| stands_there(it));
        let told: Vec<u32> = there
            .filter(|(_, it)| is_told(it))
            .map(|(id, _)| *id)
            .collect();
        if !told.is_empty() {
            gap(&told, last, error.code, feed, out);
        }
        if way == Way::Live {
            self.move_tip(last);
        } else {
            self.pass((before, last), way);
        }
    }

    /// Tells those who stand before the oldest entry that they missed something, and moves them there.
    ///
    /// Those at the tip missed nothing as long as the log was `read` that far, complete commit or not.
    pub fn skip_trimmed(&mut self, feed: &Feed, read: u64, out: &mut Out) {
        let oldest = feed.before_oldest();
        let is_late = |it: &Subscription| match it.place {
            Place::Tip => read < oldest,
            Place::At(seq) => seq < oldest,
            Place::Starting(..) => false,
        };
        let late: Vec<u32> = self
            .subscriptions
            .iter()
            .filter(|(_, it)| is_late(it))
            .map(|(id, _)| *id)
            .collect();
        if read < oldest {
            self.move_tip(oldest);
        }
        for id in &late {
            self.put(*id, oldest);
        }
        if !late.is_empty() {
            gap(&late, oldest, Code::Trimmed, feed, out);
        }
    }

    /// Begins anew on another log: everybody is told, and stands at its end.
    pub fn replace_log(&mut self, feed: &Feed, out: &mut Out) {
        self.announced.clear();
        self.routes.forget_relations();
        self.move_tip(feed.head);
        let begun: Vec<u32> = self
            .subscriptions
            .iter()
            .filter(|(_, it)| !matches!(it.place, Place::Starting(..)))
            .map(|(id, _)| *id)
            .collect();
        for id in &begun {
            self.put(*id, feed.head);
            let closing = self
                .subscriptions
                .get_mut(id)
                .and_then(|it| it.closing.as_mut());
            if let Some(Closing::Until(seq)) = closing {
                *seq = feed.head;
            }
        }
        if !begun.is_empty() {
            gap(&begun, feed.head, Code::OtherLog, feed, out);
        }
    }
}

/// Tells subscriptions that they missed entries up to this one.
pub(super) fn gap(ids: &[u32], seq: u64, reason: Code, feed: &Feed, out: &mut Out) {
    out.record(Record::Gap, 0, seq, ids, |payload| {
        Object::new(payload)
            .text("reason", reason.as_str())
            .number("oldest", feed.oldest)
            .number("head", feed.head)
            .end();
    });
}

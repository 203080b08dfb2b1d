//! Who is given which commit: subscriptions, their places in the log, and the classes they share.

mod lifetime;
mod places;

use std::collections::{BTreeMap, BTreeSet};

use crate::commit::{Commit, Entry};
use crate::encode;
use crate::feed::Feed;
use crate::reader::Group;
use crate::record::{Out, Record};
use crate::ring::Slot;
use crate::route::Routes;
use crate::subscription::{Place, Subscription};

/// Which way along the log a commit was met.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Way {
    /// At its end, by those at the tip.
    Live,
    /// Before the tip, by those who are behind.
    CatchUp,
    /// Where entity streams are behind, which are given rows and not commits.
    Streams,
}

/// All subscriptions of an engine.
///
/// The tip is the last commit that was offered to everybody who stood there. Those at the tip have no place
/// of their own, so that a commit costs nothing to those whom it does not concern.
#[derive(Debug, Default)]
pub struct Dispatch {
    subscriptions: BTreeMap<u32, Subscription>,
    routes: Routes,
    tip: u64,
    n_tip: usize,
    /// Those who stand elsewhere, before the tip or, having begun at a newer head, beyond it.
    elsewhere: BTreeSet<u32>,
    /// Those who wait for a reading to tell them where the log ends.
    marking: BTreeSet<u32>,
    /// Those on their way out.
    closing: BTreeSet<u32>,
    /// Relation versions the host knows.
    announced: BTreeSet<u32>,
    /// When a reading last came back.
    read_ms: u64,
}

impl Dispatch {
    /// Notes what sinks took.
    pub fn ack(&mut self, id: u32, seq: u64, now: u64) {
        if let Some(subscription) = self.subscriptions.get_mut(&id) {
            subscription.ack(seq, now);
        }
    }

    /// Offers what stands next in the log to those who stand right before it. Rows are looked at only where
    /// somebody asks for their relation.
    pub fn offer(&mut self, group: &Group<'_>, way: Way, feed: &Feed, now: u64, out: &mut Out) {
        let stretch = (group.before(), group.last());
        let Some(relations) = group.relations() else {
            return self.pass_over(stretch, None, way, &group.unknown_relation(), feed, out);
        };
        let concerned = self.routes.of_any(&relations);
        if concerned.is_empty() {
            return self.pass(stretch, way);
        }
        match group.commit() {
            Err(error) => self.pass_over(stretch, Some(&concerned), way, &error, feed, out),
            Ok(commit) => {
                #[cfg(feature = "fault")]
                for entry in &commit.entries {
                    crate::fault::at_entry(Some(entry));
                }
                match way {
                    Way::Live => self.offer_at_tip(&commit, stretch.0, &concerned, now, out),
                    Way::CatchUp => self.offer_behind(&commit, stretch.0, &concerned, now, out),
                    Way::Streams => {}
                }
            }
        }
    }

    /// Offers a commit to those at the tip, which moves behind it.
    fn offer_at_tip(
        &mut self,
        commit: &Commit<'_>,
        before: u64,
        concerned: &[usize],
        now: u64,
        out: &mut Out,
    ) {
        if !self.elsewhere.is_empty() {
            self.reach(before);
        }
        for &index in concerned {
            let Some(class) = self.routes.class_mut(index) else {
                continue;
            };
            let members = std::mem::take(&mut class.tip);
            let (given, full): (Vec<u32>, Vec<u32>) = members.into_iter().partition(|id| {
                self.subscriptions
                    .get(id)
                    .is_some_and(Subscription::has_room)
            });
            for id in full {
                let Some(subscription) = self.subscriptions.get_mut(&id) else {
                    continue;
                };
                subscription.place = Place::At(before);
                class.elsewhere += 1;
                self.n_tip -= 1;
                self.elsewhere.insert(id);
            }
            if given.is_empty() && class.elsewhere == 0 {
                // Whoever joins later is not served from a ring that this commit never entered.
                class.ring.empty(commit.seq());
                continue;
            }
            let payload = self.encode(index, commit, out);
            self.give(&given, index, commit.seq(), &payload, now, out);
            let Some(class) = self.routes.class_mut(index) else {
                continue;
            };
            class.tip = given;
            if class.elsewhere > 0 {
                class.ring.push(Slot {
                    before,
                    seq: commit.seq(),
                    payload: payload.into(),
                });
            } else {
                class.ring.empty(commit.seq());
            }
        }
        self.tip = commit.seq();
    }

    /// Offers a commit from before the tip to those who stand right before it. Whoever stands within it,
    /// having been given a part, is given the rest alone, by a reading from there.
    fn offer_behind(
        &mut self,
        commit: &Commit<'_>,
        before: u64,
        concerned: &[usize],
        now: u64,
        out: &mut Out,
    ) {
        let seq = commit.seq();
        let mut takers: BTreeMap<usize, Vec<u32>> = BTreeMap::new();
        for id in &self.elsewhere {
            let Some(subscription) = self.subscriptions.get_mut(id) else {
                continue;
            };
            let Place::At(at) = subscription.place else {
                continue;
            };
            let takes = concerned.binary_search(&subscription.class).is_ok();
            if at < before || at >= seq || (takes && (at > before || !subscription.has_room())) {
                continue;
            }
            subscription.place = Place::At(seq);
            if takes {
                takers.entry(subscription.class).or_default().push(*id);
            }
        }
        for (index, ids) in takers {
            let payload = self.encode(index, commit, out);
            self.give(&ids, index, seq, &payload, now, out);
        }
    }

    /// Serves those a little behind from their class's ring.
    pub fn serve_from_rings(&mut self, now: u64, out: &mut Out) {
        for id in self.elsewhere.iter().copied().collect::<Vec<_>>() {
            let Some(subscription) = self.subscriptions.get(&id) else {
                continue;
            };
            let Place::At(place) = subscription.place else {
                continue;
            };
            if place >= self.tip || !subscription.wants_more() {
                continue;
            }
            let index = subscription.class;
            let ring = self
                .routes
                .class(index)
                .and_then(|class| class.ring.after(place));
            let Some(slots) = ring.map(|slots| slots.cloned().collect::<Vec<_>>()) else {
                continue;
            };
            let mut reached = place;
            let mut slots = slots.into_iter().peekable();
            while self
                .subscriptions
                .get(&id)
                .is_some_and(Subscription::has_room)
            {
                let Some(slot) = slots.next() else { break };
                self.give(&[id], index, slot.seq, &slot.payload, now, out);
                reached = slot.seq;
            }
            self.put(
                id,
                if slots.peek().is_none() {
                    self.tip
                } else {
                    reached
                },
            );
        }
    }

    /// From where the log should be read for those behind the tip, if anybody there has room.
    pub fn behind(&self) -> Option<u64> {
        let ready = self.elsewhere.iter().filter(|id| {
            self.subscriptions
                .get(id)
                .is_some_and(Subscription::wants_more)
        });
        ready
            .map(|id| self.place(*id))
            .min()
            .filter(|seq| *seq < self.tip)
    }

    /// A commit as a class is given it. Relations the host does not know yet go before it.
    fn encode(&mut self, class: usize, commit: &Commit<'_>, out: &mut Out) -> Vec<u8> {
        let mut entries: Vec<&Entry<'_>> = Vec::with_capacity(commit.entries.len());
        for entry in &commit.entries {
            if self
                .routes
                .of(entry.relation)
                .binary_search(&class)
                .is_err()
            {
                continue;
            }
            if self.announced.insert(entry.relation.id) {
                out.record(Record::Relation, entry.relation.id, 0, &[], |payload| {
                    encode::relation::encode(entry.relation, payload);
                });
            }
            entries.push(entry);
        }
        let mut payload = Vec::new();
        encode::commit::encode(commit, entries.iter().copied(), &mut payload);
        payload
    }

    fn give(
        &mut self,
        ids: &[u32],
        class: usize,
        seq: u64,
        payload: &[u8],
        now: u64,
        out: &mut Out,
    ) {
        if ids.is_empty() {
            return;
        }
        let class = u32::try_from(class).unwrap_or(u32::MAX);
        out.record(Record::Commit, class, seq, ids, |bytes| {
            bytes.extend_from_slice(payload);
        });
        for id in ids {
            if let Some(subscription) = self.subscriptions.get_mut(id) {
                subscription.give(seq, payload.len(), now);
            }
        }
    }
}

//! How subscriptions begin and end.

use std::rc::Rc;

use super::Dispatch;
use super::places::gap;
use crate::engine::Declaration;
use crate::error::{Code, Error};
use crate::feed::{Feed, Since, Start};
use crate::reader::Relations;
use crate::record::{Out, Record};
use crate::row::Relation;
use crate::subscription::{Closing, Mark, PATIENCE_MS, Place, Subscription};

impl Dispatch {
    /// Takes a subscription in. It begins with the next reading.
    pub(crate) fn subscribe(&mut self, id: u32, declaration: Declaration, now: u64) {
        let Declaration {
            selector,
            since,
            resumes,
        } = declaration;
        let class = self.routes.join(selector, self.tip);
        self.subscriptions
            .insert(id, Subscription::new(class, since, resumes, now));
        self.marking.insert(id);
    }

    /// Lets a subscription go: at once where its own callback asks, else when it was given everything that
    /// had been committed by now.
    pub fn unsubscribe(&mut self, id: u32, from_callback: bool, now: u64, out: &mut Out) {
        let Some(subscription) = self.subscriptions.get_mut(&id) else {
            return;
        };
        if from_callback || matches!(subscription.place, Place::Starting(Since::Now, _)) {
            self.close(id, None, out);
        } else if subscription.closing.is_none() {
            subscription.leave(now);
            self.read_ms = self.read_ms.max(now);
            self.marking.insert(id);
            self.closing.insert(id);
        }
    }

    /// Whether somebody waits for a reading to tell where the log ends.
    pub fn has_marks(&self) -> bool {
        !self.marking.is_empty()
    }

    /// Notes that a reading begins, or that it came to nothing.
    pub fn mark(&mut self, mark: Mark) {
        for id in &self.marking {
            let Some(subscription) = self.subscriptions.get_mut(id) else {
                continue;
            };
            if let Place::Starting(_, at) = &mut subscription.place {
                *at = mark;
            }
            if let Some(Closing::Marking(at)) = &mut subscription.closing {
                *at = mark;
            }
        }
    }

    /// Notes that a reading came back.
    pub fn note_reading(&mut self, now: u64) {
        self.read_ms = now;
    }

    /// Answers those who waited to know where the log ends.
    pub fn answer_marks(&mut self, feed: &Feed, relations: &Relations, out: &mut Out) {
        for id in std::mem::take(&mut self.marking) {
            let place = self.subscriptions.get(&id).map(|it| it.place);
            if let Some(Place::Starting(since, Mark::Asked)) = place {
                self.start(id, since, feed, relations, out);
            }
            // Whoever was refused is gone.
            let Some(subscription) = self.subscriptions.get_mut(&id) else {
                continue;
            };
            if subscription.closing == Some(Closing::Marking(Mark::Asked)) {
                subscription.closing = Some(Closing::Until(feed.head));
            }
            if subscription.is_marking() {
                self.marking.insert(id);
            }
        }
    }

    fn start(&mut self, id: u32, since: Since, feed: &Feed, relations: &Relations, out: &mut Out) {
        let begun = self
            .require_relations(id, relations)
            .and_then(|()| feed.start(since));
        let seq = match begun {
            Err(error) => return self.close(id, Some(&error), out),
            Ok(Start::Gap(seq)) => {
                out.record(Record::Started, id, seq, &[], |_| ());
                gap(&[id], seq, Code::Trimmed, feed, out);
                return self.put(id, seq);
            }
            Ok(Start::At(seq)) => seq,
        };
        out.record(Record::Started, id, seq, &[], |_| ());
        self.put(id, seq);
    }

    /// Refuses a selector that names a relation which is not there.
    fn require_relations(&self, id: u32, relations: &Relations) -> Result<(), Error> {
        let asking = self.subscriptions.get(&id).filter(|it| !it.resumes);
        let class = asking.and_then(|it| self.routes.class(it.class));
        for (namespace, name) in class.into_iter().flat_map(|class| class.selector.named()) {
            let is_it = |it: &Rc<Relation>| it.namespace == namespace && it.name == name;
            if !relations.current().any(is_it) {
                return Err(not_found(namespace, name, relations));
            }
        }
        Ok(())
    }

    /// Closes those who were given all they were to be given, or took too long over it. Tells when to look
    /// again.
    pub fn settle(&mut self, now: u64, out: &mut Out) -> Option<u64> {
        let mut next = None;
        for id in self.closing.iter().copied().collect::<Vec<_>>() {
            let Some(subscription) = self.subscriptions.get(&id) else {
                continue;
            };
            let (given, done) = match subscription.closing {
                Some(Closing::Until(seq)) => {
                    let given = self.place(id) >= seq;
                    (given, given && subscription.took(seq))
                }
                Some(Closing::Marking(_)) | None => (false, false),
            };
            let patient_until = if subscription.is_idle() {
                self.read_ms.saturating_add(PATIENCE_MS)
            } else {
                subscription.patience_ends_ms()
            };
            if done || now >= patient_until {
                // The one commit that its sink is at work on is not lost; what waits behind it is.
                let error = (!given || subscription.waits_behind_another()).then(unfinished);
                self.close(id, error.as_ref(), out);
            } else {
                next = Some(next.map_or(patient_until, |next: u64| next.min(patient_until)));
            }
        }
        next
    }

    fn close(&mut self, id: u32, error: Option<&Error>, out: &mut Out) {
        let Some(subscription) = self.subscriptions.remove(&id) else {
            return;
        };
        match subscription.place {
            Place::Tip => self.n_tip -= 1,
            Place::At(_) => {
                self.elsewhere.remove(&id);
                if let Some(class) = self.routes.class_mut(subscription.class) {
                    class.elsewhere -= 1;
                }
            }
            Place::Starting(..) => {}
        }
        self.marking.remove(&id);
        self.closing.remove(&id);
        self.routes.leave(subscription.class, id);
        out.record(Record::Closed, id, 0, &[], |payload| {
            if let Some(error) = error {
                error.write(payload);
            }
        });
    }
}

fn unfinished() -> Error {
    Error::new(
        Code::Unfinished,
        "the subscription was ended before its callback had taken every commit: the callback was still at work, \
         or the log could not be read in time",
    )
}

/// The refusal of a relation that is not there, with the nearest one that is.
fn not_found(namespace: &str, name: &str, relations: &Relations) -> Error {
    let nearest = relations
        .current()
        .map(|it| (strsim::damerau_levenshtein(&it.name, name), it))
        .filter(|(distance, it)| *distance <= it.name.len().max(name.len()) / 2)
        .min_by_key(|(distance, it)| (*distance, it.namespace != namespace));
    let hint = nearest.map_or_else(
        || "a pattern such as '*' also matches tables created later".to_owned(),
        |(_, it)| format!("did you mean {}.{}?", it.namespace, it.name),
    );
    let message = format!("there is no table {namespace}.{name}; {hint}");
    Error::new(Code::RelationNotFound, message)
}

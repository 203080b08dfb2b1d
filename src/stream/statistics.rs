//! What was counted.

use super::{Phase, Streams};
use crate::encode::json::{self, Object};
use crate::record::{Out, Record};

/// What was counted of one subscription of the catalog, or of all.
#[derive(Clone, Copy, Default)]
struct Counted {
    active: u64,
    matched: u64,
    delivered: u64,
    dropped: u64,
    pending: u64,
}

impl Counted {
    fn write(&self, told: &mut Object<'_>) {
        told.number("matched", self.matched)
            .number("delivered", self.delivered)
            .number("dropped", self.dropped)
            .number("filtered", 0)
            .number("withheld", 0)
            .number("failed", 0)
            .number("pending", self.pending);
    }
}

impl Streams {
    /// Tells what was counted, for each subscription and in all; null where nothing is open.
    ///
    /// Each event that a stream matched is delivered, dropped, withheld, failed, or still pending. Filtered
    /// ones were never matched.
    pub fn tell_statistics(&self, id: u32, out: &mut Out) {
        out.record(Record::Statistics, id, 0, &[], |payload| {
            match &self.catalog {
                None => payload.extend_from_slice(b"null"),
                Some(catalog) => {
                    let counted: Vec<Counted> = (0..catalog.subscriptions.len())
                        .map(|index| self.counted(index))
                        .collect();
                    let mut all = Counted::default();
                    let mut topics = Vec::new();
                    for (one, declared) in counted.iter().zip(&catalog.subscriptions) {
                        all.matched += one.matched;
                        all.delivered += one.delivered;
                        all.dropped += one.dropped;
                        all.pending += one.pending;
                        if one.active > 0 && !topics.contains(&declared.publication) {
                            topics.push(declared.publication);
                        }
                    }
                    let is_active = |phase: &Phase| matches!(phase, Phase::In(_));
                    let active = self.members.values().filter(|it| is_active(&it.phase));
                    let mut told = Object::new(payload);
                    told.number("activeSubscriptions", active.count() as u64)
                        .number("activeTopics", topics.len() as u64)
                        .number("published", self.published);
                    all.write(&mut told);
                    let each: Vec<_> = counted.iter().zip(&catalog.subscriptions).collect();
                    json::list(&each, told.key("subscriptions"), |(one, declared), out| {
                        let entity = catalog.entities.get(declared.entity);
                        let mut told = Object::new(out);
                        told.text("entity", entity.map_or("", |it| &it.name))
                            .text("subscription", &declared.name)
                            .number("active", one.active);
                        one.write(&mut told);
                        told.end();
                    });
                    told.end();
                }
            }
        });
    }

    fn counted(&self, subscription: usize) -> Counted {
        let counts = self.counts.get(subscription).copied().unwrap_or_default();
        let mut counted = Counted {
            active: 0,
            matched: counts.matched,
            delivered: counts.delivered,
            dropped: counts.dropped,
            pending: 0,
        };
        for class in self.classes.iter().flatten() {
            if class.subscription == subscription {
                counted.pending += class.n_pending();
                counted.active += (class.current.len() + class.lagging.len()) as u64;
            }
        }
        counted
    }
}

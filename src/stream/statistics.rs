//! What was counted.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{Phase, Streams};
use crate::record::{Out, Record};

impl Streams {
    /// Tells what was counted, for each subscription and in all.
    ///
    /// Each event that a stream matched is delivered, dropped, withheld, failed, or still pending. Filtered
    /// ones were never matched.
    pub fn tell_statistics(&self, id: u32, out: &mut Out) {
        let Some(catalog) = &self.catalog else {
            return out.record(Record::Statistics, id, 0, &[], |payload| {
                payload.extend_from_slice(b"null");
            });
        };
        let mut topics = BTreeSet::new();
        let mut total = [0_u64; 4];
        let mut subscriptions = Vec::new();
        for (index, declared) in catalog.subscriptions.iter().enumerate() {
            let classes = self
                .classes
                .iter()
                .flatten()
                .filter(|it| it.subscription == index);
            let pending: u64 = classes.clone().map(super::class::Class::n_pending).sum();
            let active: usize = classes.map(|it| it.current.len() + it.lagging.len()).sum();
            let counts = self.counts.get(index).copied().unwrap_or_default();
            let entity = catalog
                .entities
                .get(declared.entity)
                .map_or("", |it| &it.name);
            if active > 0 {
                topics.extend(
                    catalog
                        .publications
                        .get(declared.publication)
                        .map(|it| &it.topic),
                );
            }
            let numbers = [counts.matched, counts.delivered, counts.dropped, pending];
            for (total, number) in total.iter_mut().zip(numbers) {
                *total += number;
            }
            subscriptions.push(with_counters(
                json!({ "entity": entity, "subscription": declared.name, "active": active }),
                numbers,
            ));
        }
        let is_active = |phase: &Phase| matches!(phase, Phase::In(_));
        let active = self
            .members
            .values()
            .filter(|it| is_active(&it.phase))
            .count();
        let mut told = with_counters(
            json!({
                "activeSubscriptions": active,
                "activeTopics": topics.len(),
                "published": self.published,
            }),
            total,
        );
        if let Some(told) = told.as_object_mut() {
            told.insert("subscriptions".to_owned(), subscriptions.into());
        }
        out.record(Record::Statistics, id, 0, &[], |payload| {
            payload.extend_from_slice(told.to_string().as_bytes());
        });
    }
}

fn with_counters(mut told: Value, [matched, delivered, dropped, pending]: [u64; 4]) -> Value {
    if let Some(told) = told.as_object_mut() {
        let counters = [
            ("matched", matched),
            ("delivered", delivered),
            ("dropped", dropped),
            ("filtered", 0),
            ("withheld", 0),
            ("failed", 0),
            ("pending", pending),
        ];
        told.extend(counters.map(|(name, number)| (name.to_owned(), number.into())));
    }
    told
}

//! Opening and closing the door.

use serde_json::Value;

use super::{Counts, Streams};
use crate::catalog::{Catalog, Refusal};
use crate::cursor::EventId;
use crate::encode::json::{self, Object};
use crate::error::{Code, Error};
use crate::feed::Feed;
use crate::reader::Relations;
use crate::record::{Out, Record};
use crate::subscription::Mark;

/// A catalog that waits to be checked.
#[derive(Debug)]
pub(super) struct Boot {
    id: u32,
    pub(super) mark: Mark,
    catalog: Catalog,
    tenant: String,
    /// The relations, by namespace and name, whose rows the database shows to some and not to others.
    guarded: Vec<(String, String)>,
}

impl Streams {
    /// Takes a schema, which is refused at once, or checked by the next reading: JSON `{ schema, tenant,
    /// namespace, guarded, resumes }`. One that resumes was checked, under an engine that stopped.
    pub fn open(&mut self, id: u32, payload: &[u8], out: &mut Out) {
        let declared: Value = serde_json::from_slice(payload).unwrap_or_default();
        let text = |key: &str| {
            declared
                .get(key)
                .and_then(Value::as_str)
                .unwrap_or_default()
        };
        let schema = declared.get("schema").unwrap_or(&Value::Null);
        let tenant = text("tenant").to_owned();
        let pair = |pair: &Value| {
            let [namespace, name] = pair.as_array()?.as_slice() else {
                return None;
            };
            Some((namespace.as_str()?.to_owned(), name.as_str()?.to_owned()))
        };
        let guarded = declared.get("guarded").and_then(Value::as_array);
        match Catalog::parse(schema, text("namespace")) {
            Err(refusals) => answer(id, &refusals, out),
            Ok(catalog) if declared.get("resumes").is_some_and(|it| *it == true) => {
                self.adopt(catalog, tenant);
            }
            Ok(catalog) => {
                self.boot = Some(Boot {
                    id,
                    mark: Mark::Wanted,
                    catalog,
                    tenant,
                    guarded: guarded.into_iter().flatten().filter_map(pair).collect(),
                });
            }
        }
    }

    /// Checks the schema that waits against the relations there are.
    pub(super) fn answer_boot(&mut self, relations: &Relations, out: &mut Out) {
        let Some(boot) = self.boot.take_if(|boot| boot.mark == Mark::Asked) else {
            return;
        };
        let refusals = boot.catalog.check(relations, &boot.guarded);
        if refusals.is_empty() {
            self.adopt(boot.catalog, boot.tenant);
        }
        answer(boot.id, &refusals, out);
    }

    fn adopt(&mut self, catalog: Catalog, tenant: String) {
        self.counts = vec![Counts::default(); catalog.subscriptions.len()];
        self.catalog = Some(catalog);
        self.tenant = tenant;
    }

    /// Ends every stream, and refuses those to come.
    pub fn close(&mut self, out: &mut Out) {
        for id in self.members.keys().copied().collect::<Vec<_>>() {
            self.end(id, &closed(), out);
        }
        self.catalog = None;
        if let Some(boot) = self.boot.take() {
            let refusal = Refusal {
                code: Code::Closed,
                path: String::new(),
                message: "it was closed before it was open".to_owned(),
            };
            answer(boot.id, &[refusal], out);
        }
    }

    /// Notes what the log said of itself.
    pub fn note_feed(&mut self, feed: &Feed) {
        self.tag = EventId::tag(&feed.epoch);
        if !self.follows() {
            self.at = feed.head;
        }
    }
}

fn answer(id: u32, refusals: &[Refusal], out: &mut Out) {
    out.record(Record::Opened, id, 0, &[], |payload| {
        json::list(refusals, payload, |refusal, out| {
            Object::new(out)
                .text("code", refusal.code.as_str())
                .text("path", &refusal.path)
                .text("message", &refusal.message)
                .end();
        });
    });
}

/// The refusal of whoever asks while nothing is open.
pub(super) fn closed() -> Error {
    Error::new(
        Code::Closed,
        "the streams are closed; connect again when they are open",
    )
}

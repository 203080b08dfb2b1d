//! Opening and closing the door.

use serde::Deserialize;
use serde_json::{Value, json};

use super::{Counts, Streams};
use crate::catalog::{Catalog, Refusal};
use crate::cursor::EventId;
use crate::error::{Code, Error};
use crate::feed::Feed;
use crate::reader::Relations;
use crate::record::{Out, Record};
use crate::subscription::Mark;

/// What the door is opened with.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Declared {
    schema: Value,
    tenant: String,
    /// Where relations are that name no namespace.
    namespace: String,
    /// The relations, by namespace and name, whose rows the database shows to some and not to others.
    guarded: Vec<(String, String)>,
    /// Whether it was open before, under an engine that stopped.
    #[serde(default)]
    resumes: bool,
}

/// A catalog that waits to be checked.
#[derive(Debug)]
pub(super) struct Boot {
    id: u32,
    pub(super) mark: Mark,
    catalog: Catalog,
    declared: Declared,
}

impl Streams {
    /// Takes a schema, which is refused at once, or checked by the next reading.
    pub fn open(&mut self, id: u32, payload: &[u8], out: &mut Out) {
        let declared: Declared = match serde_json::from_slice(payload) {
            Ok(declared) => declared,
            Err(error) => {
                let refusal = Refusal {
                    code: Code::BadOptions,
                    path: String::new(),
                    message: error.to_string(),
                };
                return answer(id, &[refusal], out);
            }
        };
        match Catalog::parse(&declared.schema, &declared.namespace) {
            Err(refusals) => answer(id, &refusals, out),
            Ok(catalog) if declared.resumes => self.adopt(catalog, declared.tenant),
            Ok(catalog) => {
                let mark = Mark::Wanted;
                self.boot = Some(Boot {
                    id,
                    mark,
                    catalog,
                    declared,
                });
            }
        }
    }

    /// Checks the schema that waits against the relations there are.
    pub(super) fn answer_boot(&mut self, relations: &Relations, out: &mut Out) {
        let Some(boot) = self.boot.take_if(|boot| boot.mark == Mark::Asked) else {
            return;
        };
        let refusals = boot.catalog.check(relations, &boot.declared.guarded);
        if refusals.is_empty() {
            self.adopt(boot.catalog, boot.declared.tenant);
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
            self.end(id, out);
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
    let told: Vec<Value> = refusals
        .iter()
        .map(|it| json!({ "code": it.code.as_str(), "path": it.path, "message": it.message }))
        .collect();
    out.record(Record::Opened, id, 0, &[], |payload| {
        payload.extend_from_slice(Value::from(told).to_string().as_bytes());
    });
}

/// The refusal of whoever asks while nothing is open.
pub(super) fn closed() -> Error {
    Error::new(
        Code::Closed,
        "the streams are closed; connect again when they are open",
    )
}

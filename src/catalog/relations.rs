//! A catalog against the relations that the database has.

use super::node::nearest;
use super::{Catalog, Refusal};
use crate::error::Code;
use crate::reader::Relations;

impl Catalog {
    /// What is wrong with the relations that entities stand for. `guarded` are those, by namespace and name,
    /// whose rows the database shows to some and not to others.
    pub fn check(&self, relations: &Relations, guarded: &[(String, String)]) -> Vec<Refusal> {
        let mut refusals = Vec::new();
        for (index, entity) in self.entities.iter().enumerate() {
            let mut refuse = |code, key: &str, message| {
                let path = format!("entities[{index}].{key}");
                refusals.push(Refusal {
                    code,
                    path,
                    message,
                });
            };
            let (namespace, name) = (&entity.namespace, &entity.relation);
            let is_it = |of: (&str, &str)| of == (namespace, name);
            let found = relations
                .current()
                .find(|it| is_it((&it.namespace, &it.name)));
            let Some(relation) = found else {
                let names = relations.current().map(|it| it.name.as_str());
                let hint = match nearest(name, names) {
                    Some(near) => format!("did you mean '{near}'?"),
                    None => {
                        "create it before the stream is opened, or name another one in 'relation'"
                            .to_owned()
                    }
                };
                refuse(
                    Code::RelationNotFound,
                    "relation",
                    format!("there is no table {namespace}.{name}; {hint}"),
                );
                continue;
            };
            if relation.key_columns.is_empty() {
                refuse(
                    Code::NoKey,
                    "relation",
                    format!(
                        "{namespace}.{name} has no primary key, by which an event names the row that changed"
                    ),
                );
            }
            let is_heard = self.subscriptions.iter().any(|it| {
                if it.entity == index {
                    return true;
                }
                let publication = self.publications.get(it.publication);
                publication.is_some_and(|publication| publication.entity == index)
            });
            if is_heard && guarded.iter().any(|(ns, it)| is_it((ns, it))) {
                refuse(
                    Code::RowRules,
                    "subscriptions",
                    format!(
                        "row level security is enabled on {namespace}.{name}, and a subscription without \
                         'rls: true' would tell everybody of every row"
                    ),
                );
            }
        }
        refusals
    }
}

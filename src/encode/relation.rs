//! A relation, as the entries of a commit show it.

use super::json::Object;
use crate::row::Relation;

/// Writes `{ namespace, name, keyColumns }`.
pub fn encode(relation: &Relation, out: &mut Vec<u8>) {
    let keys: Vec<&str> = relation.key_columns.iter().map(String::as_str).collect();
    Object::new(out)
        .text("namespace", &relation.namespace)
        .text("name", &relation.name)
        .texts("keyColumns", &keys)
        .end();
}

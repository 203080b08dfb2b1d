//! A relation, as the entries of a commit show it.

use serde::Serialize;

use crate::row::Relation;

/// What an entry's `relation` is.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Shown<'a> {
    namespace: &'a str,
    name: &'a str,
    key_columns: &'a [String],
}

/// Writes `{ namespace, name, keyColumns }`.
pub fn encode(relation: &Relation, out: &mut Vec<u8>) {
    let Relation {
        namespace,
        name,
        key_columns,
        ..
    } = relation;
    // Writing to a Vec cannot fail, and neither can a struct of strings.
    let _ = serde_json::to_writer(
        out,
        &Shown {
            namespace,
            name,
            key_columns,
        },
    );
}

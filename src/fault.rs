//! Stops the engine as a fault in it would, where its input says so: for tests of what survives that.

use crate::commit::Entry;

/// Stops at an entry of a relation named `stops_the_engine`.
pub(crate) fn at_entry(entry: Option<&Entry<'_>>) {
    let asks = entry.is_some_and(|entry| entry.relation.name == "stops_the_engine");
    assert!(!asks, "asked to stop by an entry");
}

/// Stops at a script that holds the words `stop the engine`.
pub(crate) fn at_script(sql: &str) {
    assert!(
        !sql.contains("stop the engine"),
        "asked to stop by a script"
    );
}

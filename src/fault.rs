//! Stops the engine as a fault in it would, where its input says so: for tests of what survives that.

use crate::commit::Commit;

/// Stops at a commit that touches a relation named `stops_the_engine`.
pub(crate) fn at_commit(commit: &Commit<'_>) {
    let asks = commit
        .entries
        .iter()
        .any(|entry| entry.relation.name == "stops_the_engine");
    assert!(!asks, "asked to stop by a commit");
}

/// Stops at a script that holds the words `stop the engine`.
pub(crate) fn at_script(sql: &str) {
    assert!(
        !sql.contains("stop the engine"),
        "asked to stop by a script"
    );
}

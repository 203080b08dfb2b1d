//! What is sent for a script, and what is refused.

use millstream::engine::{Engine, Options};
use millstream::record::{Input, Out};
use serde_json::{Value, json};
#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::wasm_bindgen_test as test;

/// What the engine answers for a script.
fn answer(sql: &str, within: bool) -> Value {
    let mut out = Out::default();
    let payload = [&[u8::from(within)], sql.as_bytes()].concat();
    Engine::new(Options::default()).handle(Input::Sql, 1, &payload, 0, &mut out);
    // The first record's payload stands behind its header, and ends where the header says.
    let length = out.bytes().get(16..20).and_then(|it| it.try_into().ok());
    let length = usize::try_from(length.map_or(0, u32::from_le_bytes)).unwrap_or(0);
    let payload = out.bytes().get(32..32 + length).unwrap_or_default();
    serde_json::from_slice(payload).unwrap_or_default()
}

fn check(sql: &str, opens: bool, steps: &[&str]) {
    assert_eq!(
        answer(sql, false),
        json!({ "opens": opens, "steps": steps }),
        "{sql}"
    );
}

#[test]
fn a_script_is_sent_as_it_stands() {
    for sql in [
        "",
        "select 1",
        " a; b ; -- x\n c;",
        "savepoint s; release s",
    ] {
        check(sql, false, &[sql]);
    }
}

#[test]
fn what_no_transaction_may_hold_is_sent_by_itself() {
    check(
        "create table t (a int); select 1; vacuum t; vacuum; truncate t;",
        false,
        &[
            "create table t (a int); select 1",
            "vacuum t",
            "vacuum",
            "truncate t",
        ],
    );
}

#[test]
fn a_script_that_begins_a_transaction_itself_is_kept_together() {
    for sql in [
        "begin; select 1; commit",
        "begin",
        "start transaction; vacuum",
        "commit and chain",
    ] {
        check(sql, true, &[sql]);
    }
}

#[test]
fn control_of_the_transaction_is_refused_within_a_body_and_savepoints_are_not() {
    for sql in [
        "commit",
        "select 1; ROLLBACK",
        "begin",
        "prepare transaction 'x'",
    ] {
        let answered = answer(sql, true);
        let code = answered.get("code").and_then(Value::as_str);
        assert_eq!(code, Some("transaction_control"), "{sql}");
    }
    let sql = "savepoint s; select 'commit'; rollback to s";
    assert_eq!(answer(sql, true), json!({ "opens": false, "steps": [sql] }));
}

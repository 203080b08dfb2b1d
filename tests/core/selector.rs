//! Which relations a selector asks for, and what is none.
#![expect(clippy::unwrap_used, reason = "a test may stop at once")]

use millstream::error::Code;
use millstream::selector::Selector;
use serde_json::{Value, json};
#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::wasm_bindgen_test as test;

/// Which of the four relations of the world below a selector matches, in their order.
#[track_caller]
fn check(selector: &Value, expected: [bool; 4]) {
    const RELATIONS: [(&str, &str); 4] = [
        ("public", "users"),
        ("public", "posts"),
        ("private", "users"),
        ("private", "posts"),
    ];
    let parsed = Selector::parse(selector).unwrap();
    let matches = RELATIONS.map(|(namespace, name)| parsed.matches(namespace, name));
    assert_eq!(matches, expected, "{selector}");
}

#[track_caller]
fn check_refused(selector: &Value, naming: &str) {
    let error = Selector::parse(selector).unwrap_err();
    assert_eq!(error.code, Code::BadSelector, "{selector}");
    assert!(
        error.message.contains(naming),
        "{selector}: {}",
        error.message
    );
}

#[track_caller]
fn check_same(one: &Value, other: &Value) {
    let [one, other] = [one, other].map(|it| Selector::parse(it).unwrap());
    assert_eq!(one.canonical(), other.canonical());
}

#[track_caller]
fn check_named(selector: &Value, expected: &[(&str, &str)]) {
    let parsed = Selector::parse(selector).unwrap();
    assert_eq!(parsed.named().collect::<Vec<_>>(), expected, "{selector}");
}

const T: bool = true;
const F: bool = false;

#[test]
fn each_form_asks_for_what_it_says() {
    check(&json!("*"), [T, T, T, T]);
    check(&json!({ "public": ["users"] }), [T, F, F, F]);
    check(&json!({ "public": ["posts"] }), [F, T, F, F]);
    check(&json!({ "public": ["*"] }), [T, T, F, F]);
    check(&json!({ "private": ["users"] }), [F, F, T, F]);
    check(&json!({ "*": ["users"] }), [T, F, T, F]);
    check(
        &json!({ "public": "users", "private": "posts" }),
        [T, F, F, T],
    );
    check(&json!([{ "namespace": "public" }]), [T, T, F, F]);
    check(
        &json!([{ "namespace": "public", "name": ["users", "posts"] }]),
        [T, T, F, F],
    );
    check(
        &json!([{ "namespace": "public", "name": "users" }, { "namespace": "private" }]),
        [T, F, T, T],
    );
}

#[test]
fn a_percent_means_what_it_means_to_like() {
    check(&json!({ "%ublic": "*" }), [T, T, F, F]);
    check(&json!({ "publi%": "*" }), [T, T, F, F]);
    check(&json!({ "%": "%" }), [T, T, T, T]);
    check(&json!({ "p%c": "u%s" }), [T, F, F, F]);
    check(&json!({ "%i%": "%s%r%" }), [T, F, T, F]);
    check(&json!({ "public": "%users%" }), [T, F, F, F]);
    check(&json!({ "public": "%user" }), [F, F, F, F]);
    check(&json!({ "public": "sers%" }), [F, F, F, F]);
    check(&json!({ "public": "%_s" }), [T, T, F, F]);
    check(&json!({ "public": "%__o%" }), [F, F, F, F]);
    check(&json!({ "public": "_o%" }), [F, T, F, F]);
}

#[test]
fn an_underscore_without_a_percent_stands_for_itself() {
    let selector = Selector::parse(&json!({ "public": "user_id" })).unwrap();
    assert!(selector.matches("public", "user_id"));
    assert!(!selector.matches("public", "userxid"));
    check(&json!({ "public": "_sers" }), [F, F, F, F]);
}

#[test]
fn a_pattern_goes_back_as_often_as_it_must() {
    let matches = |pattern: &str, name: &str| {
        Selector::parse(&json!({ "public": pattern }))
            .unwrap()
            .matches("public", name)
    };
    assert!(matches("%aab", "aaaaab"));
    assert!(matches("%a%b%c", "xaxbxbxc"));
    assert!(!matches("%a%b%c", "xcxbxa"));
    assert!(matches("%é_", "caféx"));
    assert!(matches("é%", "é"));
    assert!(!matches("%_", ""));
    let slow = format!("{}b", "%a".repeat(200));
    assert!(!matches(&slow, &"a".repeat(2_000)));
}

#[test]
fn an_exclusion_wins_over_whatever_else_matches() {
    check(&json!({ "public": ["!users"] }), [F, T, F, F]);
    check(&json!({ "public": ["*", "!users"] }), [F, T, F, F]);
    check(&json!({ "public": ["!users", "users"] }), [F, F, F, F]);
    check(&json!({ "public": ["users", "!%s"] }), [F, F, F, F]);
    check(&json!({ "public": ["!p%", "!u%"] }), [F, F, F, F]);
    check(&json!({ "!private": "*" }), [T, T, F, F]);
    check(&json!({ "!%ate": ["users"] }), [T, F, F, F]);
    check(&json!({ "*": "*", "!public": "*" }), [F, F, T, T]);
    check(&json!({ "*": ["!users"] }), [F, T, F, T]);
}

#[test]
fn an_exclusion_beside_included_namespaces_adds_none() {
    check(&json!({ "private": "*", "!private": "*" }), [F, F, F, F]);
    check(&json!({ "private": "users", "!other": "*" }), [F, F, T, F]);
}

#[test]
fn what_is_no_selector_is_refused() {
    for selector in [
        json!(null),
        json!({}),
        json!(42),
        json!([]),
        json!(true),
        json!(""),
        json!("users"),
        json!("**"),
    ] {
        check_refused(&selector, "a selector is '*'");
    }
}

#[test]
fn a_refusal_names_what_is_wrong() {
    check_refused(&json!([{ "namespace": "b" }, { "a": "b" }]), "index 1");
    check_refused(&json!(["users"]), "index 0");
    check_refused(&json!([{ "namespace": "b" }, null]), "index 1");
    check_refused(&json!([{ "namespace": 7 }]), "index 0");
    check_refused(&json!([{ "namespace": "b", "name": 7 }]), "index 0");
    check_refused(&json!([{ "namespace": "b", "name": [] }]), "index 0");
    check_refused(&json!([{ "namespace": "b", "name": null }]), "index 0");
    check_refused(&json!([{ "namespace": "b", "names": "c" }]), "index 0");
    check_refused(&json!({ "public": 7 }), "'public'");
    check_refused(&json!({ "public": [] }), "'public'");
    check_refused(&json!({ "public": ["users", 7] }), "7 at 'public'");
    check_refused(&json!({ "public": { "users": true } }), "'public'");
    check_refused(&json!({ "public": "" }), "empty name");
    check_refused(&json!({ "public": ["users", "!"] }), "empty name");
    check_refused(&json!({ "": "users" }), "empty name");
    check_refused(&json!([{ "namespace": "" }]), "empty name");
}

#[test]
fn forms_that_ask_for_the_same_are_the_same() {
    check_same(&json!("*"), &json!({ "*": ["*"] }));
    check_same(&json!("*"), &json!([{ "namespace": "*" }]));
    check_same(&json!({ "a": "b" }), &json!({ "a": ["b"] }));
    check_same(&json!([{ "namespace": "b" }]), &json!({ "b": ["*"] }));
    check_same(
        &json!([{ "namespace": "public", "name": "users" }]),
        &json!({ "public": ["users"] }),
    );
    check_same(
        &json!({ "a": ["c", "b", "c"] }),
        &json!({ "a": ["b", "c"] }),
    );
    check_same(
        &json!([{ "namespace": "a", "name": "c" }, { "namespace": "b" }, { "namespace": "a", "name": "b" }]),
        &json!({ "b": "*", "a": ["b", "c"] }),
    );
}

#[test]
fn selectors_that_ask_for_different_things_are_different() {
    let selectors = [
        json!({ "a": "b" }),
        json!({ "a": "b\";\"c" }),
        json!({ "a": ["b", "c"] }),
        json!({ "a": "b, c" }),
        json!({ "a": "b", "c": "d" }),
        json!({ "a\"": "b" }),
        json!({ "a": "!b" }),
    ];
    let mut texts: Vec<String> = selectors
        .iter()
        .map(|it| Selector::parse(it).unwrap().canonical())
        .collect();
    texts.sort();
    texts.dedup();
    assert_eq!(texts.len(), selectors.len(), "{texts:?}");
}

#[test]
fn only_plain_names_must_exist() {
    check_named(&json!("*"), &[]);
    check_named(
        &json!({ "public": ["users", "p%", "!x", "*"] }),
        &[("public", "users")],
    );
    check_named(&json!({ "pub%": "users", "!a": "b", "*": "c" }), &[]);
    check_named(
        &json!({ "b": "x_y", "a": ["z", "y"] }),
        &[("a", "y"), ("a", "z"), ("b", "x_y")],
    );
}

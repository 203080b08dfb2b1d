//! Expr agrees with its reference implementation, case by case.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::wildcard_enum_match_arm,
    reason = "a test may stop at once"
)]

use millstream::expr::{Environment, Limits, Program, Root, Schema, Shape, Type, Value, json};
#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::wasm_bindgen_test as test;

/// 2026-11-29, well after every date in the cases.
const NOW_MS: u64 = 1_796_000_000_000;

fn parse(text: &str) -> Value {
    json::parse(text, true, &mut Limits::default())
        .unwrap()
        .unwrap()
}

fn field(value: &Value, name: &str) -> Option<Value> {
    let Value::Map(map) = value else {
        panic!("{value:?} is no map")
    };
    map.find(name).cloned()
}

/// Evaluates in the environment of the cases, in which a name that is unknown is nil.
fn evaluate(source: &str, environment: &Value) -> Result<Value, String> {
    let Value::Map(map) = environment else {
        panic!("{environment:?} is no map")
    };
    let mut schema = Schema::open();
    let mut roots = Vec::new();
    for (name, value) in &map.pairs {
        let Value::Text(name) = name else { continue };
        schema = schema.with(name, Shape::Value(Type::ANY));
        roots.push(Root::Value(value));
    }
    let environment = Environment {
        roots: &roots,
        now_ms: NOW_MS,
    };
    let program =
        Program::compile(source, &schema).map_err(|fault| fault.into_error(source).to_string())?;
    let value = program.evaluate(&environment, &mut Limits::default());
    value.map_err(|fault| fault.into_error(source).to_string())
}

/// Whether two values are equal, as the language has it.
fn are_equal(left: &Value, right: &Value) -> bool {
    let schema = Schema::open()
        .with("left", Shape::Value(Type::ANY))
        .with("right", Shape::Value(Type::ANY));
    let program = Program::compile("left == right", &schema).unwrap();
    let environment = Environment {
        roots: &[Root::Value(left), Root::Value(right)],
        now_ms: NOW_MS,
    };
    program.holds(&environment, &mut Limits::default()).unwrap()
}

/// How the reference's writer of JSON names what it could not write.
fn is_as_named(value: &Value, text: &str) -> bool {
    match value {
        Value::Float(number) => text.ends_with(match number {
            number if number.is_nan() => "NaN",
            number if *number == f64::INFINITY => "+Inf",
            _ => "-Inf",
        }),
        Value::Map(_) => text.contains("unsupported type: map[interface {}]"),
        _ => false,
    }
}

/// Checks a file of cases, of which each has a value, a text or an error.
fn check(file: &str) -> usize {
    let file = parse(file);
    let environment = field(&file, "env").unwrap();
    let Some(Value::Array(cases)) = field(&file, "cases") else {
        panic!("there are no cases")
    };
    let mut wrong = Vec::new();
    for case in &cases.items {
        let Some(Value::Text(source)) = field(case, "expr") else {
            panic!("{case:?} has no source")
        };
        let made = evaluate(&source, &environment);
        let is_right = match (&made, field(case, "value"), field(case, "text")) {
            // JSON has a span of time as its nanoseconds.
            (Ok(Value::Duration(nanos)), Some(Value::Int(expected)), _) => *nanos == expected,
            (Ok(value), Some(expected), _) => are_equal(value, &expected),
            (Ok(value), None, Some(Value::Text(text))) => is_as_named(value, &text),
            (Err(_), None, None) => field(case, "error").is_some(),
            _ => false,
        };
        if !is_right {
            wrong.push(format!("{source}\n  gave {made:?}\n  of {case:?}"));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} are wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    cases.items.len()
}

#[test]
fn all_cases_of_the_reference_hold() {
    assert_eq!(check(include_str!("../vectors/expr/cases.json")), 400);
}

#[test]
fn what_the_definition_says_holds() {
    assert!(check(include_str!("../vectors/expr/definition.json")) >= 200);
}

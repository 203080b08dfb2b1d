//! When values are equal, and which comes first.

use std::cmp::Ordering;

use super::decimal;
use super::fault::Fault;
use super::text;
use super::time::Time;
use super::value::{Limits, Value};

/// Integers from here on have no float of their own.
const EXACT_FLOATS: f64 = 9_007_199_254_740_992.0;

/// Which comes first, or nothing where the two have no order.
pub(super) fn order(left: &Value, right: &Value) -> Option<Ordering> {
    match (left, right) {
        (Value::Text(left), Value::Text(right)) => Some(left.cmp(right)),
        (Value::Int(left), Value::Int(right)) | (Value::Duration(left), Value::Duration(right)) => {
            Some(left.cmp(right))
        }
        (Value::Time(left), Value::Time(right)) => Some(left.cmp(right)),
        (Value::Time(left), Value::Text(right)) => Some(left.cmp(&Time::of_database(right)?)),
        (Value::Text(left), Value::Time(right)) => Some(Time::of_database(left)?.cmp(right)),
        (Value::Float(left), Value::Float(right)) => left.partial_cmp(right),
        (Value::Int(left), Value::Float(right)) => int_with_float(*left, *right),
        (Value::Float(left), Value::Int(right)) => {
            int_with_float(*right, *left).map(Ordering::reverse)
        }
        _ => decimal::cmp(&text::of_number(left)?, &text::of_number(right)?),
    }
}

/// An integer with a float, exactly; a large float is the number that it is printed as.
#[expect(
    clippy::cast_precision_loss,
    reason = "where it would lose anything, texts are compared"
)]
fn int_with_float(int: i64, float: f64) -> Option<Ordering> {
    if int.unsigned_abs() < 1 << 53 || float.abs() < EXACT_FLOATS || float.is_nan() {
        return (int as f64).partial_cmp(&float);
    }
    let float = Value::Float(float);
    decimal::cmp(&int.to_string(), &text::of_number(&float)?)
}

/// How many steps comparing two values takes, but for those within them.
pub(super) fn cost(left: &Value, right: &Value) -> usize {
    let size = |value: &Value| match value {
        Value::Text(text) | Value::Decimal(text) => text.len() / 16,
        _ => 0,
    };
    size(left).min(size(right))
}

/// Whether values are equal. Those of different kinds never are, but for the kinds of number.
pub(super) fn equal(left: &Value, right: &Value, limits: &mut Limits) -> Result<bool, Fault> {
    limits.step(1 + cost(left, right))?;
    Ok(match (left, right) {
        (Value::Nil, Value::Nil) => true,
        (Value::Bool(left), Value::Bool(right)) => left == right,
        (Value::Text(left), Value::Text(right)) => left == right,
        (Value::Array(left), Value::Array(right)) => {
            if left.items.len() != right.items.len() {
                return Ok(false);
            }
            for (left, right) in left.items.iter().zip(&right.items) {
                if !equal(left, right, limits)? {
                    return Ok(false);
                }
            }
            true
        }
        (Value::Map(left), Value::Map(right)) => {
            if left.pairs.len() != right.pairs.len() {
                return Ok(false);
            }
            for ((key, left), (other, right)) in left.pairs.iter().zip(&right.pairs) {
                limits.step(cost(key, other))?;
                if keys(key, other).is_ne() || !equal(left, right, limits)? {
                    return Ok(false);
                }
            }
            true
        }
        _ => order(left, right) == Some(Ordering::Equal),
    })
}

/// A total order of what may be a key of a map: what is no text comes first.
pub(super) fn keys(left: &Value, right: &Value) -> Ordering {
    let class = |value: &Value| match value {
        Value::Nil => 0,
        Value::Bool(_) => 1,
        Value::Int(_) | Value::Float(_) | Value::Decimal(_) => 2,
        Value::Duration(_) => 3,
        Value::Time(_) => 4,
        Value::Array(_) | Value::Map(_) => 5,
        Value::Text(_) => 6,
    };
    class(left)
        .cmp(&class(right))
        .then_with(|| total(left, right))
}

/// A total order of values of one kind.
pub(super) fn total(left: &Value, right: &Value) -> Ordering {
    match (left, right) {
        (Value::Bool(left), Value::Bool(right)) => left.cmp(right),
        _ => order(left, right).unwrap_or_else(|| is_nan(left).cmp(&is_nan(right))),
    }
}

/// Whether this is the float that has no order.
fn is_nan(value: &Value) -> bool {
    matches!(value, Value::Float(number) if number.is_nan())
}

/// Whether an order exists among all these values: they are of one kind.
pub(super) fn are_sortable(values: &[Value]) -> bool {
    let kind = |value: &Value| match value {
        Value::Int(_) | Value::Float(_) | Value::Decimal(_) => Some("number"),
        Value::Text(_) | Value::Time(_) | Value::Duration(_) => Some(value.type_name()),
        Value::Nil | Value::Bool(_) | Value::Array(_) | Value::Map(_) => None,
    };
    let Some(first) = values.first() else {
        return true;
    };
    kind(first).is_some() && values.iter().all(|value| kind(value) == kind(first))
}

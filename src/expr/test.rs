//! A column compared with a constant, on the cell's own text: what most conditions are made of.

use std::cmp::Ordering;

use super::cell;
use super::decimal;
use super::node::Binary;
use super::sort::find;
use super::text as texts;
use super::time::Time;
use super::value::Value;
use crate::row::{Cell, Kind, Scalar};

/// Whether cells of this kind can be compared with a constant as they are.
pub(super) fn is_ready(kind: Kind, operator: Binary, constant: &Value) -> bool {
    let Kind::Scalar(scalar) = kind else {
        return false;
    };
    match operator {
        Binary::Equal | Binary::NotEqual => is_readable(scalar, constant),
        Binary::Less | Binary::LessOrEqual | Binary::Greater | Binary::GreaterOrEqual => {
            !matches!(constant, Value::Nil | Value::Bool(_)) && is_readable(scalar, constant)
        }
        Binary::Contains | Binary::StartsWith | Binary::EndsWith => {
            matches!(scalar, Scalar::Bytes | Scalar::Text) && constant.as_text().is_some()
        }
        Binary::In => match constant {
            Value::Array(array) => array.items.iter().all(|item| is_readable(scalar, item)),
            _ => false,
        },
        _ => false,
    }
}

const fn is_readable(scalar: Scalar, constant: &Value) -> bool {
    match constant {
        Value::Nil => true,
        Value::Bool(_) => matches!(scalar, Scalar::Bool),
        Value::Int(_) => matches!(scalar, Scalar::Int | Scalar::Decimal | Scalar::Float),
        Value::Float(_) => matches!(scalar, Scalar::Decimal | Scalar::Float),
        Value::Text(_) => matches!(scalar, Scalar::Bytes | Scalar::Text),
        Value::Time(_) => matches!(scalar, Scalar::Time),
        _ => false,
    }
}

/// The constant in the form that cells of this kind are compared with; of a literal, its text may say more.
pub(super) fn ready(kind: Kind, constant: &Value, exact: Option<&str>) -> Value {
    if kind == Kind::Scalar(Scalar::Decimal)
        && !matches!(constant, Value::Int(_))
        && let Some(text) = texts::of_number(constant)
    {
        return Value::Decimal(exact.unwrap_or(&text).into());
    }
    constant.clone()
}

/// Whether the comparison holds, or nothing where the cell has no order.
pub(super) fn holds(
    kind: Kind,
    cell: Cell<'_>,
    operator: Binary,
    constant: &Value,
) -> Option<bool> {
    let Some(text) = cell::text(cell) else {
        return match (operator, constant) {
            (Binary::Equal, _) => Some(constant.is_nil()),
            (Binary::NotEqual, _) => Some(!constant.is_nil()),
            (Binary::In, Value::Array(array)) => Some(array.items.iter().any(Value::is_nil)),
            (Binary::Contains | Binary::StartsWith | Binary::EndsWith, _) => Some(false),
            _ => None,
        };
    };
    let Kind::Scalar(scalar) = kind else {
        return None;
    };
    let with = |constant: &Value| order(scalar, &text, constant);
    Some(match (operator, constant) {
        (Binary::Equal, Value::Text(constant)) => constant.as_ref() == text,
        (Binary::NotEqual, Value::Text(constant)) => constant.as_ref() != text,
        (Binary::Equal, _) => with(constant) == Some(Ordering::Equal),
        (Binary::NotEqual, _) => with(constant) != Some(Ordering::Equal),
        (Binary::In, Value::Array(array)) => array
            .items
            .iter()
            .any(|item| with(item) == Some(Ordering::Equal)),
        (Binary::Contains, Value::Text(constant)) => find(&text, constant).is_some(),
        (Binary::StartsWith, Value::Text(constant)) => text.starts_with(constant.as_ref()),
        (Binary::EndsWith, Value::Text(constant)) => text.ends_with(constant.as_ref()),
        (Binary::Less, _) => with(constant)?.is_lt(),
        (Binary::LessOrEqual, _) => with(constant)?.is_le(),
        (Binary::Greater, _) => with(constant)?.is_gt(),
        (Binary::GreaterOrEqual, _) => with(constant)?.is_ge(),
        _ => return None,
    })
}

/// How a cell's text stands to a constant.
#[expect(
    clippy::cast_precision_loss,
    reason = "the database compares such a column as floats too"
)]
fn order(scalar: Scalar, text: &str, constant: &Value) -> Option<Ordering> {
    match (constant, scalar) {
        (Value::Bool(constant), _) => Some((text == "t").cmp(constant)),
        (Value::Text(constant), _) => Some(text.cmp(constant)),
        (Value::Int(constant), Scalar::Int) => Some(text.parse::<i64>().ok()?.cmp(constant)),
        (Value::Int(constant), Scalar::Float) => float(text, *constant as f64),
        (Value::Float(constant), Scalar::Float) => float(text, *constant),
        (Value::Int(constant), Scalar::Decimal) => {
            decimal::with_int(text, *constant).or_else(|| decimal::cmp(text, &constant.to_string()))
        }
        (Value::Decimal(constant), _) => decimal::cmp(text, constant),
        (Value::Time(constant), _) => Some(Time::of_database(text)?.cmp(constant)),
        (Value::Int(_) | Value::Float(_), _) => decimal::cmp(text, &texts::of_number(constant)?),
        _ => None,
    }
}

/// A float with one that is a number. NaN is greater than all, as in the database.
fn float(text: &str, constant: f64) -> Option<Ordering> {
    let number = text.parse::<f64>().ok()?;
    Some(number.partial_cmp(&constant).unwrap_or(Ordering::Greater))
}

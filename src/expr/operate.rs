//! The operators on values.

use std::cmp::Ordering;
use std::rc::Rc;

use super::compare;
use super::decimal::Decimal;
use super::fault::Fault;
use super::node::Binary;
use super::number;
use super::pattern::Pattern;
use super::sort::find;
use super::text;
use super::value::{Limits, Value};

type Made = Result<Value, Fault>;

/// How many steps compiling a regular expression takes, beside those for its length.
const COMPILING: usize = 4096;

/// That something cannot be done with a value of this type.
pub(super) fn unfit(what: &str, found: &Value) -> Fault {
    Fault::failed([what, " cannot take ", found.type_name()].concat())
}

fn unfit_pair(operator: Binary, left: &Value, right: &Value) -> Fault {
    let message = [
        operator.as_str(),
        " cannot take ",
        left.type_name(),
        " and ",
        right.type_name(),
    ];
    Fault::failed(message.concat())
}

pub(super) fn binary(operator: Binary, left: &Value, right: &Value, limits: &mut Limits) -> Made {
    limits.step(compare::cost(left, right))?;
    let ordered = |wanted: fn(Ordering) -> bool| {
        if is_comparable(left) && is_comparable(right) {
            let order = compare::order(left, right);
            if order.is_some()
                || text::of_number(left).is_some() && text::of_number(right).is_some()
            {
                return Ok(Value::Bool(order.is_some_and(wanted)));
            }
        }
        Err(unfit_pair(operator, left, right))
    };
    match operator {
        Binary::Equal => Ok(Value::Bool(compare::equal(left, right, limits)?)),
        Binary::NotEqual => Ok(Value::Bool(!compare::equal(left, right, limits)?)),
        Binary::Less => ordered(Ordering::is_lt),
        Binary::LessOrEqual => ordered(Ordering::is_le),
        Binary::Greater => ordered(Ordering::is_gt),
        Binary::GreaterOrEqual => ordered(Ordering::is_ge),
        Binary::In => is_in(left, right, limits),
        Binary::Contains | Binary::EndsWith | Binary::Matches | Binary::StartsWith => {
            strings(operator, left, right, limits)
        }
        Binary::Range => range(int(left)?, int(right)?, limits),
        Binary::Add => match (left, right) {
            (Value::Text(left), Value::Text(right)) => {
                limits.text(&[left.as_ref(), right].concat())
            }
            (Value::Time(time), Value::Duration(nanos))
            | (Value::Duration(nanos), Value::Time(time)) => number::later(*time, *nanos),
            _ => arithmetic(operator, left, right, limits),
        },
        Binary::Subtract => match (left, right) {
            (Value::Time(left), Value::Time(right)) => Ok(Value::Duration(left.since(*right))),
            (Value::Time(time), Value::Duration(nanos)) => {
                number::later(*time, nanos.wrapping_neg())
            }
            _ => arithmetic(operator, left, right, limits),
        },
        Binary::Divide | Binary::Modulo | Binary::Multiply | Binary::Power => {
            arithmetic(operator, left, right, limits)
        }
    }
}

const fn is_comparable(value: &Value) -> bool {
    !matches!(
        value,
        Value::Nil | Value::Bool(_) | Value::Array(_) | Value::Map(_)
    )
}

fn is_in(needle: &Value, hay: &Value, limits: &mut Limits) -> Made {
    let found = match hay {
        Value::Nil => false,
        Value::Array(array) => {
            for item in &array.items {
                if compare::equal(item, needle, limits)? {
                    return Ok(Value::Bool(true));
                }
            }
            false
        }
        Value::Map(map) => map
            .pairs
            .binary_search_by(|(key, _)| compare::keys(key, needle))
            .is_ok(),
        _ => return Err(unfit("in", hay)),
    };
    Ok(Value::Bool(found))
}

fn strings(operator: Binary, left: &Value, right: &Value, limits: &mut Limits) -> Made {
    let (text, part) = match (left, right) {
        (Value::Nil, _) | (_, Value::Nil) => return Ok(Value::Bool(false)),
        (Value::Text(left), Value::Text(right)) => (left, right.as_ref()),
        _ => return Err(unfit_pair(operator, left, right)),
    };
    limits.scan(text.len() + part.len())?;
    Ok(Value::Bool(match operator {
        Binary::Contains => find(text, part).is_some(),
        Binary::EndsWith => text.ends_with(part),
        Binary::StartsWith => text.starts_with(part),
        _ => {
            // A pattern that is only known now is compiled now, which costs far more than its length.
            limits.step(part.len().saturating_mul(64).saturating_add(COMPILING))?;
            Pattern::new(part)
                .map_err(Fault::failed)?
                .matches(text, limits)?
        }
    }))
}

fn range(from: i64, to: i64, limits: &mut Limits) -> Made {
    let size = usize::try_from(i128::from(to) - i128::from(from) + 1).unwrap_or(if to < from {
        0
    } else {
        usize::MAX
    });
    limits.step(size)?;
    limits.take(size.saturating_mul(size_of::<Value>()))?;
    limits.array((from..=to).map(Value::Int).collect())
}

/// Arithmetic on numbers and spans of time.
fn arithmetic(operator: Binary, left: &Value, right: &Value, limits: &mut Limits) -> Made {
    match (left, right) {
        (Value::Int(left), Value::Int(right)) => number::ints(operator, *left, *right),
        (Value::Duration(left), Value::Duration(right)) => match operator {
            Binary::Add => Ok(Value::Duration(left.wrapping_add(*right))),
            Binary::Subtract => Ok(Value::Duration(left.wrapping_sub(*right))),
            _ => Err(Fault::failed("durations can only be added and subtracted")),
        },
        (Value::Duration(span), factor @ (Value::Int(_) | Value::Float(_)))
        | (factor @ (Value::Int(_) | Value::Float(_)), Value::Duration(span))
            if operator == Binary::Multiply =>
        {
            number::scaled(*span, factor)
        }
        (Value::Decimal(_), _) | (_, Value::Decimal(_)) => {
            let (Some(first), Some(second)) = (text::of_number(left), text::of_number(right))
            else {
                return Err(unfit_pair(operator, left, right));
            };
            let exact = match (Decimal::read(&first), Decimal::read(&second)) {
                (Some(first), Some(second)) => decimals(operator, first, second, limits),
                _ => None,
            };
            exact.unwrap_or_else(|| floats(operator, left, right))
        }
        _ => floats(operator, left, right),
    }
}

/// Exact arithmetic, or nothing where it can only be done with floats.
fn decimals(
    operator: Binary,
    left: Decimal<'_>,
    right: Decimal<'_>,
    limits: &mut Limits,
) -> Option<Made> {
    let cost = left.size() + right.size() + left.size() * right.size() / 16;
    if let Err(fault) = limits.step(cost) {
        return Some(Err(fault));
    }
    let text = match operator {
        Binary::Add => left.add(right)?,
        Binary::Subtract => left.add(right.negated())?,
        Binary::Multiply => left.multiply(right)?,
        _ => return None,
    };
    Some(
        limits
            .take(text.len())
            .map(|()| Value::Decimal(text.into())),
    )
}

fn floats(operator: Binary, left: &Value, right: &Value) -> Made {
    let (Value::Float(first), Value::Float(second)) = (
        float(left).unwrap_or(Value::Nil),
        float(right).unwrap_or(Value::Nil),
    ) else {
        return Err(unfit_pair(operator, left, right));
    };
    if operator == Binary::Modulo {
        return Err(unfit_pair(operator, left, right));
    }
    Ok(Value::Float(number::floats(operator, first, second)))
}

/// A number as an integer, where it is one of a kind that has integers.
pub(super) fn int(value: &Value) -> Result<i64, Fault> {
    match value {
        Value::Int(number) => Ok(*number),
        Value::Float(number) => Ok(number::truncated(*number)),
        _ => Err(unfit("an integer's place", value)),
    }
}

/// A number as a float.
#[expect(clippy::cast_precision_loss, reason = "the language asks for it")]
pub(super) fn float(value: &Value) -> Made {
    match value {
        Value::Int(number) => Ok(Value::Float(*number as f64)),
        Value::Float(_) => Ok(value.clone()),
        Value::Decimal(text) => {
            let float = text.parse().map_err(|_| unfit("a number's place", value))?;
            Ok(Value::Float(float))
        }
        _ => Err(unfit("a number's place", value)),
    }
}

pub(super) fn negate(value: &Value) -> Made {
    Ok(match value {
        Value::Int(number) => Value::Int(number.wrapping_neg()),
        Value::Float(number) => Value::Float(-number),
        Value::Duration(nanos) => Value::Duration(nanos.wrapping_neg()),
        Value::Decimal(text) => Value::Decimal(match text.strip_prefix('-') {
            Some(rest) => rest.into(),
            None if text.as_ref() == "NaN" => Rc::clone(text),
            None => ["-", text].concat().into(),
        }),
        _ => return Err(unfit("-", value)),
    })
}

pub(super) fn member(of: &Value, key: &Value) -> Made {
    match (of, key) {
        (Value::Map(map), key) => {
            let place = map
                .pairs
                .binary_search_by(|(known, _)| compare::keys(known, key));
            // Strings come last among keys, so that the first tells whether there are others.
            let has_others = map
                .pairs
                .first()
                .is_some_and(|(first, _)| first.as_text().is_none());
            if !has_others && key.as_text().is_none() && !key.is_nil() {
                return Err(unfit("a map", key));
            }
            let found = place.ok().and_then(|place| map.pairs.get(place));
            Ok(found.map_or(Value::Nil, |(_, value)| value.clone()))
        }
        (Value::Array(array), _) => {
            let place = place(int(key)?, array.items.len())?;
            Ok(array.items.get(place).cloned().unwrap_or(Value::Nil))
        }
        (Value::Text(text), _) => {
            let place = place(int(key)?, text.len())?;
            let byte = text.as_bytes().get(place).copied().unwrap_or_default();
            Ok(Value::Int(i64::from(byte)))
        }
        _ => Err(unfit("a member", of)),
    }
}

/// An index from the front, or from the end where it is negative.
fn place(index: i64, length: usize) -> Result<usize, Fault> {
    let size = i64::try_from(length).unwrap_or(i64::MAX);
    let index = if index < 0 { index + size } else { index };
    let place = usize::try_from(index).ok().filter(|place| *place < length);
    place.ok_or_else(|| Fault::failed("this index is out of range"))
}

pub(super) fn slice(of: &Value, from: Option<i64>, to: Option<i64>, limits: &mut Limits) -> Made {
    let length = match of {
        Value::Array(array) => array.items.len(),
        Value::Text(text) => text.len(),
        _ => return Err(unfit("a slice", of)),
    };
    let size = i64::try_from(length).unwrap_or(i64::MAX);
    let bound = |index: i64| {
        let index = if index < 0 {
            index.saturating_add(size)
        } else {
            index
        };
        usize::try_from(index.clamp(0, size)).unwrap_or_default()
    };
    let (from, to) = (bound(from.unwrap_or(0)), bound(to.unwrap_or(size)));
    let range = from.min(to)..to;
    match of {
        Value::Array(array) => limits.array(array.items.get(range).unwrap_or_default().to_vec()),
        Value::Text(text) => {
            let bytes = text.as_bytes().get(range).unwrap_or_default();
            limits.text(&String::from_utf8_lossy(bytes))
        }
        _ => Err(unfit("a slice", of)),
    }
}

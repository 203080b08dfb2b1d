//! Arithmetic: integers that wrap, floats, and spans of time.

use super::fault::Fault;
use super::node::Binary;
use super::operate;
use super::time::Time;
use super::value::Value;

type Made = Result<Value, Fault>;

#[expect(
    clippy::cast_precision_loss,
    reason = "quotients and powers are floats"
)]
pub(super) fn ints(operator: Binary, left: i64, right: i64) -> Made {
    Ok(Value::Int(match operator {
        Binary::Add => left.wrapping_add(right),
        Binary::Subtract => left.wrapping_sub(right),
        Binary::Multiply => left.wrapping_mul(right),
        Binary::Modulo if right == 0 => return Err(Fault::failed("% cannot divide by zero")),
        Binary::Modulo => left.wrapping_rem(right),
        _ => return Ok(Value::Float(floats(operator, left as f64, right as f64))),
    }))
}

pub(super) fn floats(operator: Binary, left: f64, right: f64) -> f64 {
    match operator {
        Binary::Add => left + right,
        Binary::Subtract => left - right,
        Binary::Multiply => left * right,
        Binary::Divide => left / right,
        _ => left.powf(right),
    }
}

/// A float without its fraction; the nearest integer there is, where it is out of range.
#[expect(clippy::cast_possible_truncation, reason = "a float cast saturates")]
pub(super) const fn truncated(number: f64) -> i64 {
    number as i64
}

pub(super) fn later(time: Time, nanos: i64) -> Made {
    let later = time.plus(nanos);
    later
        .map(Value::Time)
        .ok_or_else(|| Fault::failed("this date is out of range"))
}

/// A span of time, a number of times.
#[expect(clippy::cast_precision_loss, reason = "a float is a factor here")]
pub(super) fn scaled(span: i64, factor: &Value) -> Made {
    Ok(Value::Duration(match factor {
        Value::Int(factor) => span.wrapping_mul(*factor),
        Value::Float(factor) => truncated(span as f64 * factor),
        _ => return Err(operate::unfit("*", factor)),
    }))
}

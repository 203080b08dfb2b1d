//! The functions on numbers.

use std::cmp::Ordering;

use super::{Arguments, Made};
use crate::expr::compare;
use crate::expr::fault::Fault;
use crate::expr::function::Function;
use crate::expr::operate::{self, unfit};
use crate::expr::sort::sorted;
use crate::expr::value::{Limits, Value};

pub(super) fn numeric(function: Function, value: &Value) -> Made {
    match (function, value) {
        (Function::Int, Value::Text(text)) => {
            let int = text.parse().map(Value::Int);
            int.map_err(|_| Fault::failed("this text is no integer"))
        }
        (Function::Int, Value::Decimal(text)) => {
            let whole = text.split('.').next().unwrap_or(text);
            let int = whole.parse().map(Value::Int);
            int.map_err(|_| Fault::failed("this number is no integer of 64 bits"))
        }
        (Function::Int, Value::Duration(nanos)) => Ok(Value::Int(*nanos)),
        (Function::Int, _) => Ok(Value::Int(operate::int(value)?)),
        (Function::Float, Value::Text(text)) => {
            let float = text.parse().map(Value::Float);
            float.map_err(|_| Fault::failed("this text is no number"))
        }
        (Function::Abs, Value::Int(number)) => Ok(Value::Int(number.wrapping_abs())),
        (Function::Abs, Value::Decimal(text)) if text.starts_with('-') => operate::negate(value),
        (Function::Abs, Value::Decimal(_)) => Ok(value.clone()),
        _ => match operate::float(value)? {
            Value::Float(number) => Ok(Value::Float(match function {
                Function::Abs => number.abs(),
                Function::Ceil => number.ceil(),
                Function::Floor => number.floor(),
                Function::Round => number.round(),
                _ => number,
            })),
            other => Ok(other),
        },
    }
}

pub(super) fn bits(function: Function, arguments: &Arguments<'_>) -> Made {
    let left = arguments.int(0)?;
    if function == Function::BitNot {
        return Ok(Value::Int(!left));
    }
    let right = arguments.int(1)?;
    let is_shift = matches!(
        function,
        Function::BitShl | Function::BitShr | Function::BitUshr
    );
    if is_shift && right < 0 {
        return Err(Fault::failed("a shift cannot be negative"));
    }
    let by = u32::try_from(right).unwrap_or(u32::MAX);
    Ok(Value::Int(match function {
        Function::BitAnd => left & right,
        Function::BitNand => left & !right,
        Function::BitOr => left | right,
        Function::BitXor => left ^ right,
        Function::BitShl => left.checked_shl(by).unwrap_or(0),
        Function::BitShr => left.checked_shr(by).unwrap_or(left >> 63),
        _ => left
            .cast_unsigned()
            .checked_shr(by)
            .unwrap_or(0)
            .cast_signed(),
    }))
}

/// The greatest or least of numbers, and of those within arrays.
pub(super) fn extreme(
    function: Function,
    values: &[Value],
    limits: &mut Limits,
    depth: u16,
) -> Result<Option<Value>, Fault> {
    let mut best: Option<Value> = None;
    for value in values {
        limits.step(1)?;
        let found = match value {
            Value::Array(array) => extreme(function, &array.items, limits, depth + 1)?,
            Value::Int(_) | Value::Float(_) | Value::Decimal(_) => Some(value.clone()),
            _ if values.len() == 1 && depth == 0 => Some(value.clone()),
            other => return Err(unfit("this function", other)),
        };
        let wanted = if function == Function::Max {
            Ordering::Greater
        } else {
            Ordering::Less
        };
        let Some(found) = found else { continue };
        let is_better = match &best {
            Some(best) => compare::order(&found, best) == Some(wanted),
            None => true,
        };
        if is_better {
            best = Some(found);
        }
    }
    Ok(best.or_else(|| (depth == 0).then_some(Value::Nil)))
}

/// All numbers of values and of arrays among them, as floats.
fn numbers(values: &[Value], all: &mut Vec<f64>, limits: &mut Limits) -> Result<(), Fault> {
    for value in values {
        limits.step(1)?;
        limits.take(size_of::<f64>())?;
        match value {
            Value::Array(array) => numbers(&array.items, all, limits)?,
            _ => match operate::float(value)? {
                Value::Float(number) => all.push(number),
                other => return Err(unfit("this function", &other)),
            },
        }
    }
    Ok(())
}

#[expect(clippy::cast_precision_loss, reason = "a mean is a float")]
pub(super) fn middle(function: Function, values: &[Value], limits: &mut Limits) -> Made {
    let mut all = Vec::new();
    numbers(values, &mut all, limits)?;
    if function == Function::Mean {
        let sum: f64 = all.iter().sum();
        return Ok(Value::Float(if all.is_empty() {
            0.0
        } else {
            sum / all.len() as f64
        }));
    }
    let all: Vec<Value> = all.into_iter().map(Value::Float).collect();
    let value = |index: usize| all.get(index).unwrap_or(&Value::Nil);
    let order = sorted(all.len(), &value, &compare::total, limits)?;
    let half = all.len() / 2;
    let at = |index: usize| match order.get(index).map(|index| value(*index)) {
        Some(Value::Float(number)) => *number,
        _ => 0.0,
    };
    Ok(Value::Float(if all.len() % 2 == 1 {
        at(half)
    } else {
        f64::midpoint(at(half.saturating_sub(1)), at(half))
    }))
}

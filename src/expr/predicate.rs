//! The functions that evaluate an expression on each item of an array.

use super::compare;
use super::eval::{Evaluator, Made, Scope};
use super::fault::Fault;
use super::function::Function;
use super::node::{Binary, Id};
use super::operate;
use super::sort::sorted;
use super::value::Value;

/// What such a function makes, or nothing where the function is none of these.
pub(super) fn call(
    evaluator: &mut Evaluator<'_>,
    function: Function,
    arguments: &[Id],
) -> Option<Made> {
    let (first, predicate) = (*arguments.first()?, arguments.get(1).copied());
    let takes_none = matches!(function, Function::Count | Function::Sum) && predicate.is_none();
    let is_one = matches!(
        function,
        Function::All
            | Function::Any
            | Function::None
            | Function::One
            | Function::Count
            | Function::Filter
            | Function::Map
            | Function::Find
            | Function::FindIndex
            | Function::FindLast
            | Function::FindLastIndex
            | Function::GroupBy
            | Function::Reduce
            | Function::SortBy
            | Function::Sum
    );
    if !is_one {
        return None;
    }
    Some(evaluator.value(first).and_then(|over| {
        let Value::Array(array) = &over else {
            return Err(operate::unfit("this function", &over).into());
        };
        let third = match arguments.get(2) {
            Some(third) => Some(evaluator.value(*third)?),
            None => None,
        };
        let predicate = predicate.filter(|_| !takes_none);
        evaluator.scopes.push(Scope {
            item: Value::Nil,
            index: 0,
            accumulator: Value::Nil,
        });
        let made = each(evaluator, function, &array.items, predicate, third);
        evaluator.scopes.pop();
        made
    }))
}

/// The value of the predicate on an item; without a predicate, the item.
fn on(evaluator: &mut Evaluator<'_>, predicate: Option<Id>, index: usize, item: &Value) -> Made {
    evaluator.limits.step(1)?;
    let Some(predicate) = predicate else {
        return Ok(item.clone());
    };
    if let Some(scope) = evaluator.scopes.last_mut() {
        scope.item = item.clone();
        scope.index = i64::try_from(index).unwrap_or(i64::MAX);
    }
    evaluator.value(predicate)
}

fn each(
    evaluator: &mut Evaluator<'_>,
    function: Function,
    items: &[Value],
    predicate: Option<Id>,
    third: Option<Value>,
) -> Made {
    match function {
        Function::Map | Function::Filter | Function::GroupBy | Function::SortBy => {
            collect(evaluator, function, items, predicate, third.as_ref())
        }
        Function::Reduce => reduce(evaluator, items, predicate, third),
        Function::Sum => {
            let mut sum = Value::Int(0);
            for (index, item) in items.iter().enumerate() {
                let term = on(evaluator, predicate, index, item)?;
                sum = operate::binary(Binary::Add, &sum, &term, evaluator.limits)?;
            }
            Ok(sum)
        }
        _ => search(evaluator, function, items, predicate),
    }
}

/// The functions that count or look for the items on which the predicate holds.
fn search(
    evaluator: &mut Evaluator<'_>,
    function: Function,
    items: &[Value],
    predicate: Option<Id>,
) -> Made {
    let is_from_end = matches!(function, Function::FindLast | Function::FindLastIndex);
    let mut n_found = 0;
    for step in 0..items.len() {
        let index = if is_from_end {
            items.len() - 1 - step
        } else {
            step
        };
        let item = items.get(index).unwrap_or(&Value::Nil);
        let truth = match on(evaluator, predicate, index, item)? {
            Value::Bool(truth) => truth,
            found => return Err(operate::unfit("a predicate", &found).into()),
        };
        match function {
            Function::All if !truth => return Ok(Value::Bool(false)),
            Function::None if truth => return Ok(Value::Bool(false)),
            Function::Any if truth => return Ok(Value::Bool(true)),
            Function::Find | Function::FindLast if truth => return Ok(item.clone()),
            Function::FindIndex | Function::FindLastIndex if truth => {
                return Ok(Value::Int(i64::try_from(index).unwrap_or(i64::MAX)));
            }
            _ => n_found += i64::from(truth),
        }
    }
    Ok(match function {
        Function::All | Function::None => Value::Bool(true),
        Function::Any => Value::Bool(false),
        Function::One => Value::Bool(n_found == 1),
        Function::Count => Value::Int(n_found),
        Function::FindIndex | Function::FindLastIndex => Value::Int(-1),
        _ => Value::Nil,
    })
}

fn reduce(
    evaluator: &mut Evaluator<'_>,
    items: &[Value],
    predicate: Option<Id>,
    initial: Option<Value>,
) -> Made {
    let from = usize::from(initial.is_none());
    let first = initial.or_else(|| items.first().cloned());
    let mut accumulator = first.ok_or_else(|| Fault::failed("there is nothing to reduce"))?;
    for (index, item) in items.iter().enumerate().skip(from) {
        if let Some(scope) = evaluator.scopes.last_mut() {
            scope.accumulator = accumulator;
        }
        accumulator = on(evaluator, predicate, index, item)?;
    }
    Ok(accumulator)
}

/// The functions that make something of the predicate's values.
fn collect(
    evaluator: &mut Evaluator<'_>,
    function: Function,
    items: &[Value],
    predicate: Option<Id>,
    order: Option<&Value>,
) -> Made {
    let mut keyed = Vec::new();
    for (index, item) in items.iter().enumerate() {
        evaluator.limits.take(2 * size_of::<Value>())?;
        keyed.push((on(evaluator, predicate, index, item)?, item.clone()));
    }
    let made = match function {
        Function::Filter => {
            if let Some((other, _)) = keyed.iter().find(|(key, _)| !matches!(key, Value::Bool(_))) {
                return Err(operate::unfit("a predicate", other).into());
            }
            let holds = |(key, item)| matches!(key, Value::Bool(true)).then_some(item);
            keyed.into_iter().filter_map(holds).collect()
        }
        Function::SortBy => {
            let keys: Vec<Value> = keyed.iter().map(|(key, _)| key.clone()).collect();
            check_sortable(&keys)?;
            let is_reversed = is_descending(order)?;
            let key = |index: usize| keys.get(index).unwrap_or(&Value::Nil);
            let compare = |left: &Value, right: &Value| {
                let order = compare::total(left, right);
                if is_reversed { order.reverse() } else { order }
            };
            let order = sorted(keys.len(), &key, &compare, evaluator.limits)?;
            let item = |index| items.get(index).cloned();
            order.into_iter().filter_map(item).collect()
        }
        Function::GroupBy => return group(evaluator, &keyed),
        _ => keyed.into_iter().map(|(key, _)| key).collect(),
    };
    Ok(evaluator.limits.array(made)?)
}

fn group(evaluator: &mut Evaluator<'_>, keyed: &[(Value, Value)]) -> Made {
    check_keys(keyed.iter().map(|(key, _)| key))?;
    let key = |index: usize| keyed.get(index).map_or(&Value::Nil, |(key, _)| key);
    let order = sorted(keyed.len(), &key, &compare::keys, evaluator.limits)?;
    let mut groups: Vec<(&Value, Vec<Value>)> = Vec::new();
    for (key, item) in order.into_iter().filter_map(|index| keyed.get(index)) {
        match groups.last_mut() {
            Some((last, items)) if compare::keys(last, key).is_eq() => items.push(item.clone()),
            _ => groups.push((key, vec![item.clone()])),
        }
    }
    let mut pairs = Vec::new();
    for (key, items) in groups {
        pairs.push((key.clone(), evaluator.limits.array(items)?));
    }
    Ok(evaluator.limits.map(&pairs)?)
}

/// Refuses keys that have no order among all others.
pub(super) fn check_keys<'v>(mut keys: impl Iterator<Item = &'v Value>) -> Result<(), Fault> {
    match keys.find(|key| matches!(key, Value::Array(_) | Value::Map(_))) {
        Some(key) => Err(operate::unfit("the key of a map", key)),
        None => Ok(()),
    }
}

pub(super) fn check_sortable(values: &[Value]) -> Result<(), Fault> {
    if compare::are_sortable(values) {
        return Ok(());
    }
    Err(Fault::failed(
        "only numbers, strings, dates or durations can be sorted",
    ))
}

/// Whether an order is the one from the greatest.
pub(super) fn is_descending(order: Option<&Value>) -> Result<bool, Fault> {
    match order.and_then(Value::as_text).map(AsRef::as_ref) {
        Some("desc") => Ok(true),
        Some("asc") => Ok(false),
        None if order.is_none() => Ok(false),
        _ => Err(Fault::failed("expected the order asc or desc")),
    }
}

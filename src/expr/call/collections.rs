//! The functions on arrays and maps.

use super::{Arguments, Made};
use crate::expr::compare;
use crate::expr::fault::Fault;
use crate::expr::function::Function;
use crate::expr::operate::{self, unfit};
use crate::expr::predicate::{check_keys, check_sortable, is_descending};
use crate::expr::sort::sorted;
use crate::expr::value::{Limits, Value};

pub(super) fn collection(
    function: Function,
    arguments: &Arguments<'_>,
    limits: &mut Limits,
) -> Made {
    let mut made = Vec::new();
    match function {
        Function::First | Function::Last => {
            let key = if function == Function::First { 0 } else { -1 };
            return Ok(operate::member(arguments.value(0), &Value::Int(key)).unwrap_or(Value::Nil));
        }
        Function::Join => return join(arguments, limits),
        Function::Keys => made.extend(arguments.map()?.pairs.iter().map(|(key, _)| key.clone())),
        Function::Values => made.extend(
            arguments
                .map()?
                .pairs
                .iter()
                .map(|(_, value)| value.clone()),
        ),
        Function::ToPairs => {
            for (key, value) in &arguments.map()?.pairs {
                made.push(limits.array(vec![key.clone(), value.clone()])?);
            }
        }
        Function::FromPairs => {
            let mut pairs = Vec::new();
            for pair in &arguments.array(0)?.items {
                match pair {
                    Value::Array(pair) if pair.items.len() == 2 => {
                        pairs.extend(pair.items.first().cloned().zip(pair.items.last().cloned()));
                    }
                    other => return Err(unfit("fromPairs", other)),
                }
            }
            check_keys(pairs.iter().map(|(key, _)| key))?;
            return limits.map(&pairs);
        }
        Function::Concat => {
            for index in 0..arguments.0.len() {
                let items = &arguments.array(index)?.items;
                limits.take(size_of_val(items.as_slice()))?;
                made.extend(items.iter().cloned());
            }
        }
        Function::Flatten => flatten(&arguments.array(0)?.items, &mut made, limits)?,
        Function::Reverse => made.extend(arguments.array(0)?.items.iter().rev().cloned()),
        Function::Take => {
            let items = &arguments.array(0)?.items;
            let count = usize::try_from(arguments.int(1)?);
            let count = count.map_err(|_| Fault::failed("take cannot take a negative number"))?;
            made.extend(items.iter().take(count).cloned());
        }
        Function::Uniq => {
            for item in &arguments.array(0)?.items {
                let mut is_known = false;
                for known in &made {
                    is_known = is_known || compare::equal(known, item, limits)?;
                }
                if !is_known {
                    made.push(item.clone());
                }
            }
        }
        _ => {
            made.extend(arguments.array(0)?.items.iter().cloned());
            check_sortable(&made)?;
            let item = |index: usize| made.get(index).unwrap_or(&Value::Nil);
            let order = sorted(made.len(), &item, &compare::total, limits)?;
            made = order
                .into_iter()
                .filter_map(|index| made.get(index).cloned())
                .collect();
            if is_descending(arguments.0.get(1))? {
                made.reverse();
            }
        }
    }
    limits.array(made)
}

fn flatten(items: &[Value], made: &mut Vec<Value>, limits: &mut Limits) -> Result<(), Fault> {
    for item in items {
        limits.step(1)?;
        limits.take(size_of::<Value>())?;
        match item {
            Value::Array(array) => flatten(&array.items, made, limits)?,
            _ => made.push(item.clone()),
        }
    }
    Ok(())
}

fn join(arguments: &Arguments<'_>, limits: &mut Limits) -> Made {
    let glue = arguments.text_or(1, "")?;
    let mut out = String::new();
    for (index, item) in arguments.array(0)?.items.iter().enumerate() {
        let text = item.as_text().ok_or_else(|| unfit("join", item))?;
        limits.take(text.len() + glue.len())?;
        out.push_str(if index > 0 { glue } else { "" });
        out.push_str(text);
    }
    limits.text(&out)
}

//! The functions on strings.

use super::{Arguments, Made};
use crate::expr::case::{lower, upper};
use crate::expr::fault::Fault;
use crate::expr::function::Function;
use crate::expr::sort::find;
use crate::expr::value::{Limits, Value};

pub(super) fn string(function: Function, arguments: &Arguments<'_>, limits: &mut Limits) -> Made {
    let text = arguments.text(0)?.as_ref();
    let index = |found: Option<usize>| {
        Ok(Value::Int(
            found
                .and_then(|found| i64::try_from(found).ok())
                .unwrap_or(-1),
        ))
    };
    match function {
        Function::HasPrefix => {
            return Ok(Value::Bool(text.starts_with(arguments.text(1)?.as_ref())));
        }
        Function::HasSuffix => return Ok(Value::Bool(text.ends_with(arguments.text(1)?.as_ref()))),
        Function::IndexOf => return index(find(text, arguments.text(1)?)),
        Function::LastIndexOf => return index(text.rfind(arguments.text(1)?.as_ref())),
        Function::Split | Function::SplitAfter => return split(function, arguments, limits),
        Function::Repeat => {
            let times = usize::try_from(arguments.int(1)?);
            let times = times.map_err(|_| Fault::failed("repeat cannot take a negative number"))?;
            limits.take(text.len().saturating_mul(times))?;
            return limits.text(&text.repeat(times));
        }
        Function::Replace => return replace(arguments, limits),
        _ => {}
    }
    let part = |default| arguments.text_or(1, default);
    let made = match function {
        Function::Lower => lower(text).into(),
        Function::Upper => upper(text).into(),
        Function::Trim if arguments.0.len() > 1 => {
            let letters = part("")?;
            limits.step((text.len() / 16).saturating_mul(letters.len()))?;
            text.trim_matches(|letter| letters.contains(letter)).into()
        }
        Function::TrimPrefix => text.strip_prefix(part(" ")?).unwrap_or(text).into(),
        Function::TrimSuffix => text.strip_suffix(part(" ")?).unwrap_or(text).into(),
        _ => std::borrow::Cow::from(text.trim()),
    };
    limits.text(&made)
}

fn split(function: Function, arguments: &Arguments<'_>, limits: &mut Limits) -> Made {
    let (text, part) = (arguments.text(0)?.as_ref(), arguments.text(1)?.as_ref());
    let most = arguments.times(2)?;
    let mut made = Vec::new();
    let mut rest = text;
    // An empty part divides all letters.
    while made.len().saturating_add(1) < most {
        let (end, length) = if part.is_empty() {
            let letter = rest.chars().next().map_or(0, char::len_utf8);
            if letter == rest.len() {
                break;
            }
            (letter, 0)
        } else {
            match find(rest, part) {
                Some(end) => (end, part.len()),
                None => break,
            }
        };
        let kept = if function == Function::SplitAfter {
            end + length
        } else {
            end
        };
        made.push(limits.text(rest.get(..kept).unwrap_or_default())?);
        limits.take(size_of::<Value>())?;
        rest = rest.get(end + length..).unwrap_or_default();
    }
    if most > 0 && !(part.is_empty() && rest.is_empty()) {
        made.push(limits.text(rest)?);
    }
    limits.array(made)
}

fn replace(arguments: &Arguments<'_>, limits: &mut Limits) -> Made {
    let (text, old, new) = (arguments.text(0)?, arguments.text(1)?, arguments.text(2)?);
    let most = arguments.times(3)?;
    let mut out = String::new();
    let mut rest = text.as_ref();
    for _ in 0..most {
        let Some(end) = find(rest, old) else { break };
        // An empty text stands before each letter, and after the last.
        let letter = if old.is_empty() {
            rest.chars().next().map_or(0, char::len_utf8)
        } else {
            0
        };
        let (before, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
        limits.take(before.len() + new.len() + letter + 1)?;
        out.push_str(before);
        out.push_str(new);
        out.push_str(after.get(..letter).unwrap_or_default());
        rest = after.get(old.len() + letter..).unwrap_or_default();
        if old.is_empty() && letter == 0 {
            break;
        }
    }
    out.push_str(rest);
    limits.text(&out)
}

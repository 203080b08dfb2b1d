//! The functions on values.

use std::cmp::Ordering;
use std::rc::Rc;

use super::compare;
use super::fault::Fault;
use super::function::Function;
use super::json;
use super::layout;
use super::operate::{self, unfit};
use super::predicate::{check_keys, check_sortable, is_descending};
use super::sort::{find, sorted};
use super::text;
use super::time::{self, Time};
use super::value::{Array, Limits, Map, Value};

type Made = Result<Value, Fault>;

/// The layouts that `date` knows by itself.
const LAYOUTS: [&str; 7] = [
    "2006-01-02",
    "15:04:05",
    "2006-01-02 15:04:05",
    "2006-01-02T15:04:05Z07:00",
    "02 Jan 06 15:04 MST",
    "Monday, 02-Jan-06 15:04:05 MST",
    "Mon, 02 Jan 2006 15:04:05 MST",
];

/// The arguments of a call, read by what is expected of each.
struct Arguments<'v>(&'v [Value]);

impl<'v> Arguments<'v> {
    fn value(&self, index: usize) -> &'v Value {
        self.0.get(index).unwrap_or(&Value::Nil)
    }

    fn text(&self, index: usize) -> Result<&'v Rc<str>, Fault> {
        let value = self.value(index);
        value.as_text().ok_or_else(|| unfit("this function", value))
    }

    /// One that may be left out.
    fn text_or(&self, index: usize, default: &'v str) -> Result<&'v str, Fault> {
        if self.0.len() > index {
            Ok(self.text(index)?)
        } else {
            Ok(default)
        }
    }

    fn array(&self, index: usize) -> Result<&'v Rc<Array>, Fault> {
        match self.value(index) {
            Value::Array(array) => Ok(array),
            other => Err(unfit("this function", other)),
        }
    }

    fn map(&self) -> Result<&'v Map, Fault> {
        match self.value(0) {
            Value::Map(map) => Ok(map),
            other => Err(unfit("this function", other)),
        }
    }

    fn int(&self, index: usize) -> Result<i64, Fault> {
        operate::int(self.value(index))
    }

    /// How many times at most; a negative number, or none, means any number of times.
    fn times(&self, index: usize) -> Result<usize, Fault> {
        if self.0.len() <= index {
            return Ok(usize::MAX);
        }
        Ok(usize::try_from(self.int(index)?).unwrap_or(usize::MAX))
    }
}

pub(super) fn call(
    function: Function,
    arguments: &[Value],
    now_ms: u64,
    limits: &mut Limits,
) -> Made {
    for argument in arguments {
        match argument {
            Value::Text(text) => limits.scan(text.len())?,
            Value::Array(array) => limits.step(array.items.len())?,
            Value::Map(map) => limits.step(map.pairs.len())?,
            _ => {}
        }
    }
    let arguments = Arguments(arguments);
    match function {
        Function::Now => Ok(Value::Time(Time::from_ms(now_ms))),
        Function::Date => date(&arguments, limits),
        Function::Get => {
            Ok(operate::member(arguments.value(0), arguments.value(1)).unwrap_or(Value::Nil))
        }
        Function::Type => limits.text(arguments.value(0).type_name()),
        Function::Int
        | Function::Float
        | Function::Abs
        | Function::Ceil
        | Function::Floor
        | Function::Round => numeric(function, arguments.value(0)),
        Function::Len
        | Function::String
        | Function::ToJson
        | Function::FromJson
        | Function::ToBase64
        | Function::FromBase64
        | Function::Duration => convert(function, &arguments, limits),
        Function::BitAnd
        | Function::BitNand
        | Function::BitNot
        | Function::BitOr
        | Function::BitShl
        | Function::BitShr
        | Function::BitUshr
        | Function::BitXor => bits(function, &arguments),
        Function::Max | Function::Min => extreme(function, arguments.0, limits, 0)?
            .ok_or_else(|| Fault::failed("there is nothing to compare")),
        Function::Mean | Function::Median => middle(function, arguments.0, limits),
        Function::Concat
        | Function::First
        | Function::Flatten
        | Function::FromPairs
        | Function::Join
        | Function::Keys
        | Function::Last
        | Function::Reverse
        | Function::Sort
        | Function::Take
        | Function::ToPairs
        | Function::Uniq
        | Function::Values => collection(function, &arguments, limits),
        _ => string(function, &arguments, limits),
    }
}

fn date(arguments: &Arguments<'_>, limits: &mut Limits) -> Made {
    let text = match arguments.value(0) {
        time @ Value::Time(_) => return Ok(time.clone()),
        _ => arguments.text(0)?,
    };
    let made = |layout: &str| {
        let (civil, offset) = layout::parse(layout, text)?;
        Time::of_civil(&civil, offset)
    };
    if arguments.0.len() > 2 && !matches!(arguments.text(2)?.as_ref(), "UTC" | "GMT" | "") {
        return Err(Fault::failed("of time zones only UTC is known here"));
    }
    let time = if arguments.0.len() > 1 {
        let layout = arguments.text(1)?;
        limits.step(layout.len())?;
        made(layout)
    } else {
        LAYOUTS
            .iter()
            .find_map(|layout| made(layout))
            .or_else(|| Time::of_database(text))
    };
    time.map(Value::Time)
        .ok_or_else(|| Fault::failed("this text is no date"))
}

fn numeric(function: Function, value: &Value) -> Made {
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

fn convert(function: Function, arguments: &Arguments<'_>, limits: &mut Limits) -> Made {
    let value = arguments.value(0);
    let mut out = String::new();
    match function {
        Function::Len => {
            let length = match value {
                Value::Text(text) => text.chars().count(),
                Value::Array(array) => array.items.len(),
                Value::Map(map) => map.pairs.len(),
                other => return Err(unfit("len", other)),
            };
            return Ok(Value::Int(i64::try_from(length).unwrap_or(i64::MAX)));
        }
        Function::String => text::print(value, &mut out, limits)?,
        Function::ToJson => text::json(value, Some(0), &mut out, limits)?,
        Function::FromJson => {
            let made = json::parse(arguments.text(0)?, false, limits)?;
            return made.ok_or_else(|| Fault::failed("this text is no JSON"));
        }
        Function::ToBase64 => base64(arguments.text(0)?, &mut out),
        Function::FromBase64 => {
            let bytes = unbase64(arguments.text(0)?);
            let bytes = bytes.ok_or_else(|| Fault::failed("this text is no base64"))?;
            out = String::from_utf8_lossy(&bytes).into_owned();
        }
        _ => {
            let nanos = time::parse_duration(arguments.text(0)?);
            return nanos
                .map(Value::Duration)
                .ok_or_else(|| Fault::failed("this text is no duration: expected one like 1h30m"));
        }
    }
    limits.text(&out)
}

fn bits(function: Function, arguments: &Arguments<'_>) -> Made {
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
fn extreme(
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
fn middle(function: Function, values: &[Value], limits: &mut Limits) -> Made {
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

fn collection(function: Function, arguments: &Arguments<'_>, limits: &mut Limits) -> Made {
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

fn string(function: Function, arguments: &Arguments<'_>, limits: &mut Limits) -> Made {
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
        Function::Lower => text.to_lowercase().into(),
        Function::Upper => text.to_uppercase().into(),
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

const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

fn base64(text: &str, out: &mut String) {
    for bytes in text.as_bytes().chunks(3) {
        let byte = |index: usize| u32::from(bytes.get(index).copied().unwrap_or_default());
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for (index, shift) in [18, 12, 6, 0].into_iter().enumerate() {
            let place = (bits >> shift & 63) as usize;
            let digit = BASE64.get(place).filter(|_| index <= bytes.len());
            out.push(char::from(digit.copied().unwrap_or(b'=')));
        }
    }
}

fn unbase64(text: &str) -> Option<Vec<u8>> {
    let text: String = text
        .chars()
        .filter(|letter| !matches!(letter, '\r' | '\n'))
        .collect();
    let digits = text.trim_end_matches('=');
    if !text.len().is_multiple_of(4) || text.len() - digits.len() > 2 {
        return None;
    }
    let (mut bits, mut n_bits) = (0_u32, 0);
    let mut out = Vec::new();
    for digit in digits.bytes() {
        let place = BASE64.iter().position(|known| *known == digit)?;
        bits = bits << 6 | u32::try_from(place).ok()?;
        n_bits += 6;
        if n_bits >= 8 {
            n_bits -= 8;
            out.push(u8::try_from(bits >> n_bits & 255).ok()?);
        }
    }
    Some(out)
}

//! The functions on values.

mod base64;
mod collections;
mod numbers;
mod strings;

use std::rc::Rc;

use super::fault::Fault;
use super::function::Function;
use super::json;
use super::layout;
use super::operate::{self, unfit};
use super::text;
use super::time::{self, Time};
use super::value::{Array, Limits, Map, Value};
use base64::{base64, unbase64};
use collections::collection;
use numbers::{bits, extreme, middle, numeric};
use strings::string;

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

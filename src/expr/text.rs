//! Values as text: as `string` prints them, and as `toJSON` does.

use std::borrow::Cow;

use super::fault::Fault;
use super::time::duration_text;
use super::value::{Limits, Value};

/// The text of a number: its digits, and perhaps an exponent.
pub(super) fn of_number(value: &Value) -> Option<Cow<'_, str>> {
    Some(match value {
        Value::Int(number) => number.to_string().into(),
        Value::Float(number) if number.is_nan() => "NaN".into(),
        Value::Float(number) if number.is_infinite() => Cow::from(if *number > 0.0 {
            "Infinity"
        } else {
            "-Infinity"
        }),
        Value::Float(number) => zmij::Buffer::new().format_finite(*number).to_owned().into(),
        Value::Decimal(text) => text.as_ref().into(),
        _ => return None,
    })
}

/// The shortest text of a float, with an exponent below and from these powers of ten.
fn float(number: f64, below: i32, from: i32, out: &mut String) {
    if !number.is_finite() {
        out.push_str(match number {
            number if number.is_nan() => "NaN",
            number if number > 0.0 => "+Inf",
            _ => "-Inf",
        });
        return;
    }
    let mut buffer = zmij::Buffer::new();
    let text = buffer.format_finite(number);
    let (mantissa, exponent) = text.split_once('e').unwrap_or((text, "0"));
    let (sign, mantissa) = mantissa
        .strip_prefix('-')
        .map_or(("", mantissa), |rest| ("-", rest));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all = [whole, fraction].concat();
    let n_zeros = all.len() - all.trim_start_matches('0').len();
    let digits = all.trim_matches('0');
    let shift = |length: usize| i32::try_from(length).unwrap_or_default();
    let power =
        exponent.parse::<i32>().unwrap_or_default() + shift(whole.len()) - 1 - shift(n_zeros);
    out.push_str(sign);
    if digits.is_empty() {
        out.push('0');
    } else if power < below || power >= from {
        let (first, rest) = digits.split_at(1);
        out.push_str(first);
        if !rest.is_empty() {
            out.push('.');
            out.push_str(rest);
        }
        out.push_str(if power < 0 { "e-" } else { "e+" });
        let size = power.unsigned_abs().to_string();
        out.push_str(if size.len() < 2 { "0" } else { "" });
        out.push_str(&size);
    } else {
        let size = power.unsigned_abs() as usize;
        if power < 0 {
            out.push_str("0.");
            out.push_str(&"0".repeat(size - 1));
            out.push_str(digits);
        } else if digits.len() <= size + 1 {
            out.push_str(digits);
            out.push_str(&"0".repeat(size + 1 - digits.len()));
        } else {
            let (whole, fraction) = digits.split_at(size + 1);
            out.push_str(whole);
            out.push('.');
            out.push_str(fraction);
        }
    }
}

/// Writes a value as `string` prints it.
pub(super) fn print(value: &Value, out: &mut String, limits: &mut Limits) -> Result<(), Fault> {
    let start = out.len();
    match value {
        Value::Nil => out.push_str("<nil>"),
        Value::Bool(truth) => out.push_str(if *truth { "true" } else { "false" }),
        Value::Int(number) => out.push_str(&number.to_string()),
        Value::Float(number) => float(*number, -4, 21, out),
        Value::Decimal(text) | Value::Text(text) => out.push_str(text),
        Value::Time(time) => out.push_str(&time.format("2006-01-02 15:04:05.999999999 -0700 MST")),
        Value::Duration(nanos) => out.push_str(&duration_text(*nanos)),
        Value::Array(array) => {
            out.push('[');
            for (index, item) in array.items.iter().enumerate() {
                out.push_str(if index > 0 { " " } else { "" });
                print(item, out, limits)?;
            }
            out.push(']');
        }
        Value::Map(map) => {
            out.push_str("map[");
            for (index, (key, item)) in map.pairs.iter().enumerate() {
                out.push_str(if index > 0 { " " } else { "" });
                print(key, out, limits)?;
                out.push(':');
                print(item, out, limits)?;
            }
            out.push(']');
        }
    }
    limits.step(1)?;
    limits.take(out.len() - start)
}

/// Writes a value as JSON, on lines that are indented by so many steps, or on one line.
pub(super) fn json(
    value: &Value,
    indent: Option<usize>,
    out: &mut String,
    limits: &mut Limits,
) -> Result<(), Fault> {
    let start = out.len();
    match value {
        Value::Nil => out.push_str("null"),
        Value::Bool(_) | Value::Int(_) => print(value, out, limits)?,
        Value::Duration(nanos) => out.push_str(&nanos.to_string()),
        Value::Float(number) if number.is_finite() => {
            let from = out.len();
            float(*number, -6, 21, out);
            // JSON's writer in Go leaves out the zero of a small negative exponent.
            if let Some(at) = out.get(from..).and_then(|text| text.find("e-0")) {
                out.remove(from + at + 2);
            }
        }
        Value::Float(_) => return Err(Fault::failed("JSON has no number for this")),
        Value::Decimal(text) => match text.as_ref() {
            "NaN" | "Infinity" | "-Infinity" => {
                return Err(Fault::failed("JSON has no number for this"));
            }
            text => out.push_str(text),
        },
        Value::Text(text) => string(text, out),
        Value::Time(time) => string(&time.format("2006-01-02T15:04:05.999999999Z07:00"), out),
        Value::Array(array) => {
            let inner = indent.map(|depth| depth + 1);
            for (index, item) in array.items.iter().enumerate() {
                out.push_str(if index > 0 { "," } else { "[" });
                line(inner, out);
                limits.take(2 * inner.unwrap_or_default())?;
                json(item, inner, out, limits)?;
            }
            close(array.items.is_empty(), "[]", indent, out);
        }
        Value::Map(map) => {
            let inner = indent.map(|depth| depth + 1);
            for (index, (key, item)) in map.pairs.iter().enumerate() {
                out.push_str(if index > 0 { "," } else { "{" });
                line(inner, out);
                limits.take(2 * inner.unwrap_or_default())?;
                let Value::Text(key) = key else {
                    return Err(Fault::failed(
                        "JSON's keys are strings, and one here is not",
                    ));
                };
                string(key, out);
                out.push_str(if indent.is_some() { ": " } else { ":" });
                json(item, inner, out, limits)?;
            }
            close(map.pairs.is_empty(), "{}", indent, out);
        }
    }
    limits.step(1)?;
    limits.take(out.len() - start)
}

fn close(is_empty: bool, brackets: &str, indent: Option<usize>, out: &mut String) {
    let (open, close) = brackets.split_at(1);
    if is_empty {
        out.push_str(open);
    } else {
        line(indent, out);
    }
    out.push_str(close);
}

fn line(indent: Option<usize>, out: &mut String) {
    if let Some(depth) = indent {
        out.push('\n');
        out.push_str(&"  ".repeat(depth));
    }
}

/// Writes a JSON string, as Go does: fit for HTML too.
pub(super) fn string(text: &str, out: &mut String) {
    out.push('"');
    for letter in text.chars() {
        match letter {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\0'..='\u{1f}' | '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                out.push_str("\\u");
                for shift in [12, 8, 4, 0] {
                    let digit = (u32::from(letter) >> shift) & 15;
                    out.push(char::from_digit(digit, 16).unwrap_or('0'));
                }
            }
            _ => out.push(letter),
        }
    }
    out.push('"');
}

//! A cell's text as a value, by the kind of its column. Text that is not what its kind promises is a string.

use std::borrow::Cow;

use super::fault::Fault;
use super::json;
use super::time::Time;
use super::value::{Limits, Value};
use crate::row::{Cell, Kind, Scalar};

/// How many dimensions an array may have; PostgreSQL's own limit, `MAXDIM`.
const MAX_DIMENSIONS: usize = 6;

/// A cell's text, if it has a value.
pub(super) fn text(cell: Cell<'_>) -> Option<Cow<'_, str>> {
    match cell {
        Cell::Null | Cell::Unsent => None,
        Cell::Plain(text) => Some(text.into()),
        Cell::Doubled(text) => {
            let mut letters = text.chars();
            let mut plain = String::with_capacity(text.len());
            while let Some(letter) = letters.next() {
                let stands_twice = matches!(letter, '"' | '\\');
                let letter = if stands_twice {
                    letters.next()
                } else {
                    Some(letter)
                };
                plain.extend(letter);
            }
            Some(plain.into())
        }
    }
}

pub(super) fn value(kind: Kind, cell: Cell<'_>, limits: &mut Limits) -> Result<Value, Fault> {
    let Some(text) = text(cell) else {
        return Ok(Value::Nil);
    };
    of_text(kind, &text, limits)
}

pub(super) fn of_text(kind: Kind, text: &str, limits: &mut Limits) -> Result<Value, Fault> {
    limits.scan(text.len())?;
    match kind {
        Kind::Scalar(scalar) => self::scalar(scalar, text, limits),
        Kind::Array(scalar) => {
            // Bounds other than from 1 stand before the braces.
            let braces = text.find('{').and_then(|at| text.get(at..)).unwrap_or(text);
            let mut items = Items {
                rest: braces,
                scalar,
            };
            match items.array(MAX_DIMENSIONS, limits)? {
                Some(array) if items.rest.is_empty() => Ok(array),
                Some(_) | None => limits.text(text),
            }
        }
    }
}

fn scalar(scalar: Scalar, text: &str, limits: &mut Limits) -> Result<Value, Fault> {
    let value = match scalar {
        Scalar::Bool => match text {
            "t" => Some(Value::Bool(true)),
            "f" => Some(Value::Bool(false)),
            _ => None,
        },
        Scalar::Bytes | Scalar::Text => None,
        Scalar::Decimal => {
            limits.take(text.len())?;
            Some(Value::Decimal(text.into()))
        }
        // What is no number is ordered as the database orders it, which decimals are.
        Scalar::Float => match text.parse::<f64>() {
            Ok(number) if number.is_finite() => Some(Value::Float(number)),
            Ok(_) => Some(Value::Decimal(text.into())),
            Err(_) => None,
        },
        Scalar::Int => text.parse().ok().map(Value::Int),
        Scalar::Json => json::parse(text, true, limits)?,
        Scalar::Time => Time::of_database(text).map(Value::Time),
    };
    value.map_or_else(|| limits.text(text), Ok)
}

/// Reads the text form of an array.
struct Items<'a> {
    rest: &'a str,
    scalar: Scalar,
}

impl Items<'_> {
    /// The array that begins here, or nothing where none does.
    fn array(&mut self, dimensions: usize, limits: &mut Limits) -> Result<Option<Value>, Fault> {
        let Some(rest) = self.rest.strip_prefix('{').filter(|_| dimensions > 0) else {
            return Ok(None);
        };
        self.rest = rest;
        let mut items = Vec::new();
        if let Some(rest) = self.rest.strip_prefix('}') {
            self.rest = rest;
            return limits.array(items).map(Some);
        }
        loop {
            limits.step(1)?;
            let item = if self.rest.starts_with('{') {
                self.array(dimensions - 1, limits)?
            } else {
                self.item(limits)?
            };
            let Some(item) = item else { return Ok(None) };
            items.push(item);
            let after = self.rest.bytes().next();
            self.rest = self.rest.get(1..).unwrap_or_default();
            match after {
                Some(b',') => {}
                Some(b'}') => return limits.array(items).map(Some),
                _ => return Ok(None),
            }
        }
    }

    fn item(&mut self, limits: &mut Limits) -> Result<Option<Value>, Fault> {
        let Some(quoted) = self.rest.strip_prefix('"') else {
            let end = self.rest.find([',', '}']).unwrap_or(self.rest.len());
            let (text, rest) = self.rest.split_at_checked(end).unwrap_or_default();
            self.rest = rest;
            if text == "NULL" {
                return Ok(Some(Value::Nil));
            }
            return scalar(self.scalar, text, limits).map(Some);
        };
        let mut text = String::new();
        let mut letters = quoted.char_indices();
        while let Some((at, letter)) = letters.next() {
            match letter {
                '"' => {
                    self.rest = quoted.get(at + 1..).unwrap_or_default();
                    return scalar(self.scalar, &text, limits).map(Some);
                }
                '\\' => text.extend(letters.next().map(|(_, letter)| letter)),
                _ => text.push(letter),
            }
        }
        Ok(None)
    }
}

//! A cell's text as a JSON value, by the kind of its column.
//!
//! A text that is not what its column's kind promises is written as a string: it is the database's own,
//! and a reader is better served by it than by a guess.

use std::mem;

use super::document;
use super::json;
use super::number::{Fit, Number};
use super::patch::{Exotic, Output, Place, Step};
use crate::row::{Cell, Kind, Scalar};

/// Postgres's own limit, `MAXDIM`.
const MAX_DIMENSIONS: usize = 6;

/// Writes cells.
pub(super) struct Values<'o> {
    pub(super) output: Output<'o>,
    /// Where a text is written out whose quotes stand doubled.
    scratch: String,
}

/// Text that is not an array's.
struct Malformed;

impl<'o> Values<'o> {
    pub(super) fn new(json: &'o mut Vec<u8>) -> Self {
        Self {
            output: Output {
                json,
                patches: Vec::new(),
            },
            scratch: String::new(),
        }
    }

    /// Writes a cell. One that was not sent is the caller's to leave out; it has no value.
    pub(super) fn cell(&mut self, kind: Kind, cell: Cell<'_>, place: Place<'_>) {
        match cell {
            Cell::Null | Cell::Unsent => self.output.json.extend_from_slice(b"null"),
            Cell::Plain(text) => self.value(kind, text, place),
            Cell::Doubled(text) if kind == Kind::Scalar(Scalar::Text) => {
                self.output.json.push(b'"');
                for piece in Pieces::of(text) {
                    json::characters(piece, self.output.json);
                }
                self.output.json.push(b'"');
            }
            Cell::Doubled(text) => {
                let mut scratch = mem::take(&mut self.scratch);
                scratch.clear();
                scratch.extend(Pieces::of(text));
                self.value(kind, &scratch, place);
                self.scratch = scratch;
            }
        }
    }

    fn value(&mut self, kind: Kind, text: &str, place: Place<'_>) {
        match kind {
            Kind::Scalar(scalar) => self.scalar(scalar, text, place, &[]),
            Kind::Array(scalar) => {
                let written = (self.output.json.len(), self.output.patches.len());
                if self.array(scalar, text, place).is_err() {
                    self.output.json.truncate(written.0);
                    self.output.patches.truncate(written.1);
                    json::string(text, self.output.json);
                }
            }
        }
    }

    fn scalar(&mut self, scalar: Scalar, text: &str, place: Place<'_>, steps: &[Step<'_>]) {
        let output = &mut self.output;
        let exact = match scalar {
            Scalar::Bool => match text {
                "t" => Some("true"),
                "f" => Some("false"),
                _ => None,
            },
            Scalar::Bytes => {
                let digits = text.strip_prefix("\\x");
                if let Some(digits) = digits.filter(|digits| are_bytes(digits)) {
                    return output.exotic(place, steps, Exotic::Bytes, digits);
                }
                None
            }
            Scalar::Float => Number::new(text)
                .filter(Number::is_finite)
                .map(|number| number.text),
            Scalar::Int => match Number::new(text).map(|number| number.fit()) {
                Some(Fit::Exact) => Some(text),
                Some(Fit::Integer) => return output.exotic(place, steps, Exotic::BigInt, text),
                Some(Fit::Inexact) | None => None,
            },
            Scalar::Json => return document::write(text, place, steps, output),
            Scalar::Text => None,
        };
        match exact {
            Some(exact) => output.json.extend_from_slice(exact.as_bytes()),
            None => json::string(text, output.json),
        }
    }

    /// Writes an array from Postgres's text of it: `{1,NULL,"a, b"}`.
    ///
    /// One with bounds of its own, `[0:1]={…}`, is malformed here: in a JavaScript array they would be lost.
    fn array(&mut self, scalar: Scalar, text: &str, place: Place<'_>) -> Result<(), Malformed> {
        let mut scratch = String::new();
        // One index for each array that is open.
        let mut steps = Vec::new();
        let mut rest = text;
        loop {
            if let Some(inner) = rest.strip_prefix('{') {
                if steps.len() == MAX_DIMENSIONS {
                    return Err(Malformed);
                }
                steps.push(Step::Index(0));
                self.output.json.push(b'[');
                rest = inner;
                if !inner.starts_with('}') {
                    continue;
                }
            } else if steps.is_empty() {
                return Err(Malformed);
            } else {
                let (element, after) = Element::leading(rest).ok_or(Malformed)?;
                match element {
                    Element::Null => self.output.json.extend_from_slice(b"null"),
                    Element::Plain(text) => self.scalar(scalar, text, place, &steps),
                    Element::Escaped(text) => {
                        scratch.clear();
                        scratch.extend(Pieces::of(text));
                        self.scalar(scalar, &scratch, place, &steps);
                    }
                }
                rest = after;
            }

            while let Some(after) = rest.strip_prefix('}') {
                self.output.json.push(b']');
                rest = after;
                steps.pop();
                if steps.is_empty() {
                    return if rest.is_empty() {
                        Ok(())
                    } else {
                        Err(Malformed)
                    };
                }
            }
            rest = rest.strip_prefix(',').ok_or(Malformed)?;
            self.output.json.push(b',');
            if let Some(Step::Index(index)) = steps.last_mut() {
                *index += 1;
            }
        }
    }
}

/// Whether digits are those of whole bytes.
fn are_bytes(digits: &str) -> bool {
    digits.len().is_multiple_of(2) && digits.bytes().all(|digit| digit.is_ascii_hexdigit())
}

/// An element in an array's text.
enum Element<'a> {
    Null,
    Plain(&'a str),
    /// Text in which a backslash stands before each `"` and `\`.
    Escaped(&'a str),
}

impl<'a> Element<'a> {
    /// The element that the text begins with, and what comes after it.
    fn leading(text: &'a str) -> Option<(Self, &'a str)> {
        let Some(quoted) = text.strip_prefix('"') else {
            let end = text.find([',', '}', '{', '"', '\\'])?;
            let (element, after) = text.split_at_checked(end)?;
            return match element {
                "" => None,
                "NULL" => Some((Self::Null, after)),
                _ => Some((Self::Plain(element), after)),
            };
        };
        let mut end = 0;
        let mut is_escaped = false;
        loop {
            end += json::plain(quoted.as_bytes().get(end..)?);
            match quoted.as_bytes().get(end)? {
                b'"' => break,
                b'\\' => {
                    is_escaped = true;
                    end += 2;
                }
                _ => end += 1,
            }
        }
        let (element, after) = quoted.split_at_checked(end)?;
        let element = if is_escaped {
            Self::Escaped(element)
        } else {
            Self::Plain(element)
        };
        Some((element, after.get(1..)?))
    }
}

/// Text in pieces, without the quotes and backslashes that only stand there for others.
///
/// It reads both forms that Postgres has of it: a backslash before any character means that
/// character, and two quotes are one.
struct Pieces<'a> {
    rest: &'a str,
    /// Where to look on: past a character that a backslash stood before.
    from: usize,
}

impl<'a> Pieces<'a> {
    const fn of(text: &'a str) -> Self {
        Self {
            rest: text,
            from: 0,
        }
    }
}

impl<'a> Iterator for Pieces<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        if self.rest.is_empty() {
            return None;
        }
        let bytes = self.rest.as_bytes();
        let mut end = self.from;
        loop {
            end += json::plain(bytes.get(end..).unwrap_or_default());
            let (piece, rest) = match bytes.get(end) {
                Some(b'\\') => {
                    self.from = 1;
                    (self.rest.get(..end)?, self.rest.get(end + 1..)?)
                }
                Some(b'"') => {
                    self.from = 0;
                    let rest = self.rest.get(end + 1..)?;
                    (
                        self.rest.get(..=end)?,
                        rest.strip_prefix('"').unwrap_or(rest),
                    )
                }
                Some(_) => {
                    end += 1;
                    continue;
                }
                None => (self.rest, ""),
            };
            self.rest = rest;
            return Some(piece);
        }
    }
}

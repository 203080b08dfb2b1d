//! A cell's text as a JSON value, by the kind of its column.
//!
//! A text that is not what its column's kind promises is written as a string: it is the database's own,
//! and a reader is better served by it than by a guess.

use std::mem;

use super::document;
use super::json;
use super::number::{Fit, Number};
use super::patch::{Exotic, Exotics, Output, Place, Step};
use crate::row::scan;
use crate::row::{Cell, Kind, Scalar};

/// PostgreSQL's own limit, `MAXDIM`.
const MAX_DIMENSIONS: usize = 6;

/// Writes cells.
pub(super) struct Values<'o> {
    pub(super) output: Output<'o>,
    /// Where a text is written out whose quotes stand doubled.
    scratch: Vec<u8>,
}

/// Text that is not an array's.
struct Malformed;

impl<'o> Values<'o> {
    /// Values for callbacks: JSON, and patches for what it cannot hold.
    pub(super) const fn new(json: &'o mut Vec<u8>) -> Self {
        Self::with(json, Exotics::Patched)
    }

    /// Values for readers that get nothing but JSON.
    pub(super) const fn inline(json: &'o mut Vec<u8>) -> Self {
        Self::with(json, Exotics::Inline)
    }

    const fn with(json: &'o mut Vec<u8>, exotics: Exotics) -> Self {
        Self {
            output: Output {
                json,
                exotics,
                patches: Vec::new(),
            },
            scratch: Vec::new(),
        }
    }

    /// Writes a cell. One that was not sent is the caller's to leave out; it has no value.
    pub(super) fn cell(&mut self, kind: Kind, cell: Cell<'_>, place: Place<'_>) {
        match cell {
            Cell::Null | Cell::Unsent => json::raw(b"null", self.output.json),
            Cell::Plain(text) => self.value(kind, text.as_bytes(), place),
            Cell::Doubled(text) => {
                let mut scratch = mem::take(&mut self.scratch);
                unescape(text.as_bytes(), &mut scratch);
                self.value(kind, &scratch, place);
                self.scratch = scratch;
            }
        }
    }

    fn value(&mut self, kind: Kind, text: &[u8], place: Place<'_>) {
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

    fn scalar(&mut self, scalar: Scalar, text: &[u8], place: Place<'_>, steps: &[Step<'_>]) {
        let output = &mut self.output;
        let exact: Option<&[u8]> = match scalar {
            Scalar::Bool => match text {
                b"t" => Some(b"true"),
                b"f" => Some(b"false"),
                _ => None,
            },
            Scalar::Bytes => {
                let digits = text.strip_prefix(b"\\x");
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
            Scalar::Decimal | Scalar::Text | Scalar::Time => None,
        };
        match exact {
            Some(exact) => json::raw(exact, output.json),
            None => json::string(text, output.json),
        }
    }

    /// Writes an array from PostgreSQL's text of it: `{1,NULL,"a, b"}`.
    ///
    /// One with bounds of its own, `[0:1]={…}`, is malformed here: in a JavaScript array they would be lost.
    fn array(&mut self, scalar: Scalar, text: &[u8], place: Place<'_>) -> Result<(), Malformed> {
        let mut scratch = Vec::new();
        // One index for each array that is open.
        let mut steps = Vec::new();
        let mut rest = text;
        loop {
            if let Some(inner) = rest.strip_prefix(b"{") {
                if steps.len() == MAX_DIMENSIONS {
                    return Err(Malformed);
                }
                steps.push(Step::Index(0));
                self.output.json.push(b'[');
                rest = inner;
                if !inner.starts_with(b"}") {
                    continue;
                }
            } else if steps.is_empty() {
                return Err(Malformed);
            } else {
                let (element, after) = Element::leading(rest).ok_or(Malformed)?;
                match element {
                    Element::Null => json::raw(b"null", self.output.json),
                    Element::Plain(text) => self.scalar(scalar, text, place, &steps),
                    Element::Escaped(text) => {
                        unescape(text, &mut scratch);
                        self.scalar(scalar, &scratch, place, &steps);
                    }
                }
                rest = after;
            }

            while let Some(after) = rest.strip_prefix(b"}") {
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
            rest = rest.strip_prefix(b",").ok_or(Malformed)?;
            self.output.json.push(b',');
            if let Some(Step::Index(index)) = steps.last_mut() {
                *index += 1;
            }
        }
    }
}

/// Whether digits are those of whole bytes.
fn are_bytes(digits: &[u8]) -> bool {
    digits.len().is_multiple_of(2) && digits.iter().all(u8::is_ascii_hexdigit)
}

/// An element in an array's text.
enum Element<'a> {
    Null,
    Plain(&'a [u8]),
    /// Text in which a backslash stands before each `"` and `\`.
    Escaped(&'a [u8]),
}

impl<'a> Element<'a> {
    /// The element that the text begins with, and what comes after it.
    fn leading(text: &'a [u8]) -> Option<(Self, &'a [u8])> {
        let Some(quoted) = text.strip_prefix(b"\"") else {
            let end = text.iter().position(|byte| b",}{\"\\".contains(byte))?;
            let (element, after) = text.split_at_checked(end)?;
            return match element {
                b"" => None,
                b"NULL" => Some((Self::Null, after)),
                _ => Some((Self::Plain(element), after)),
            };
        };
        let mut end = 0;
        let mut is_escaped = false;
        loop {
            end += scan::plain(quoted.get(end..)?);
            match quoted.get(end)? {
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

/// Writes text out without what stands there for others' sake only.
///
/// It reads both of PostgreSQL's ways: a backslash before any character means that character, and two
/// quotes are one.
fn unescape(text: &[u8], out: &mut Vec<u8>) {
    out.clear();
    let mut rest = text;
    loop {
        let (plain, special) = rest
            .split_at_checked(scan::plain(rest))
            .unwrap_or((rest, &[]));
        json::raw(plain, out);
        rest = match special {
            [b'\\', byte, after @ ..] | [byte @ b'"', b'"', after @ ..] | [byte, after @ ..] => {
                out.push(*byte);
                after
            }
            [] => return,
        };
    }
}

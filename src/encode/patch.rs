//! What JSON cannot hold: a placeholder in its place, and a patch that says what belongs there; or, for
//! readers that get nothing but JSON, the nearest string.

use super::json;

/// How what JSON cannot hold is written.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Exotics {
    /// As a placeholder and a patch.
    Patched,
    /// As a string in its place.
    Inline,
}

/// JSON as it is written, with the patches it needs.
pub(super) struct Output<'o> {
    pub(super) json: &'o mut Vec<u8>,
    pub(super) exotics: Exotics,
    /// Each with a comma before it.
    pub(super) patches: Vec<u8>,
}

/// The cell that is written: where a patch's path begins.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place<'a> {
    /// The entry's index among those written.
    pub(super) entry: usize,
    /// `new` or `old`.
    pub(super) image: &'static str,
    /// The column's name.
    pub(super) column: &'a [u8],
}

/// A further step of the path, into an array or a document.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step<'a> {
    /// To an array's element.
    Index(usize),
    /// To an object's member, by its name as JSON writes it, quotes and all.
    Key(&'a [u8]),
}

/// What the host makes of a patch's text.
#[derive(Clone, Copy, Debug)]
pub(super) enum Exotic {
    /// A `BigInt`, from decimal digits; inline, a string of them.
    BigInt,
    /// A `Uint8Array`, from hexadecimal digits; inline, Base 64.
    Bytes,
}

impl Output<'_> {
    /// Writes a value that JSON cannot hold.
    pub(super) fn exotic(
        &mut self,
        place: Place<'_>,
        steps: &[Step<'_>],
        exotic: Exotic,
        text: &[u8],
    ) {
        if self.exotics == Exotics::Inline {
            return match exotic {
                Exotic::BigInt => json::string(text, self.json),
                Exotic::Bytes => json::base64(text, self.json),
            };
        }
        let (placeholder, kind) = match exotic {
            Exotic::BigInt => ("0", ",\"n\",\""),
            Exotic::Bytes => ("null", ",\"b\",\""),
        };
        self.json.extend_from_slice(placeholder.as_bytes());

        let patches = &mut self.patches;
        patches.extend_from_slice(b",[");
        json::integer(place.entry as u64, patches);
        patches.push(b',');
        json::string(place.image.as_bytes(), patches);
        patches.push(b',');
        json::string(place.column, patches);
        for step in steps {
            patches.push(b',');
            match step {
                Step::Index(index) => json::integer(*index as u64, patches),
                Step::Key(key) => patches.extend_from_slice(key),
            }
        }
        // Digits need no escape.
        patches.extend_from_slice(kind.as_bytes());
        patches.extend_from_slice(text);
        patches.extend_from_slice(b"\"]");
    }
}

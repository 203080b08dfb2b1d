//! Regular expressions, with what matching one takes.

use regex_lite::{Regex, RegexBuilder};

use super::fault::Fault;
use super::value::Limits;

/// How large a regular expression may become, in bytes.
const MAX_REGEX: usize = 64 << 10;
/// How large those are whose matching takes the fewest steps.
const SMALL_REGEX: usize = 1 << 10;
/// How many bytes of it make a step for each byte of text.
const BYTES_PER_STEP: usize = 256;

/// A regular expression.
#[derive(Clone, Debug)]
pub(super) struct Pattern {
    regex: Regex,
    /// How many steps each byte of a text takes: every state may be gone through.
    weight: usize,
}

impl Pattern {
    /// The regular expression of a pattern, if it is one and not too large.
    pub(super) fn new(pattern: &str) -> Result<Self, String> {
        let mut size = SMALL_REGEX;
        loop {
            // Its size is only known by whether it fits.
            match RegexBuilder::new(pattern).size_limit(size).build() {
                Ok(regex) => {
                    let weight = size / BYTES_PER_STEP;
                    return Ok(Self { regex, weight });
                }
                Err(_) if size < MAX_REGEX => size *= 4,
                Err(error) => {
                    let message = ["this regular expression is refused: ", &error.to_string()];
                    return Err(message.concat());
                }
            }
        }
    }

    pub(super) fn as_str(&self) -> &str {
        self.regex.as_str()
    }

    pub(super) fn matches(&self, text: &str, limits: &mut Limits) -> Result<bool, Fault> {
        limits.step(text.len().saturating_mul(self.weight))?;
        Ok(self.regex.is_match(text))
    }
}

//! Upper and lower case, one letter for one, as the language has it: a table a tenth as large as the library's.

mod lower;
mod upper;

use lower::LOWER;
use upper::UPPER;

/// The first of some letters, how far the last is from it, every which of them is meant, and how far its other
/// case is from each.
type Run = (u32, u16, u8, i32);

pub(super) fn upper(text: &str) -> String {
    let ascii = |letter: char| letter.to_ascii_uppercase();
    text.chars()
        .map(|letter| other(letter, UPPER, ascii))
        .collect()
}

pub(super) fn lower(text: &str) -> String {
    let ascii = |letter: char| letter.to_ascii_lowercase();
    text.chars()
        .map(|letter| other(letter, LOWER, ascii))
        .collect()
}

fn other(letter: char, runs: &[Run], ascii: fn(char) -> char) -> char {
    if letter.is_ascii() {
        return ascii(letter);
    }
    let code = u32::from(letter);
    let after = runs.partition_point(|(first, ..)| *first <= code);
    // Runs of every other letter may lie within each other, so that the one before may be meant.
    let near = runs.get(after.saturating_sub(2)..after).unwrap_or_default();
    let run = near.iter().rev().find(|(first, length, step, _)| {
        let far = code - first;
        far <= u32::from(*length) && far.is_multiple_of(u32::from(*step))
    });
    let other = run.and_then(|(.., delta)| code.checked_add_signed(*delta));
    other.and_then(char::from_u32).unwrap_or(letter)
}

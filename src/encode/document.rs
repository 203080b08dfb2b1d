//! A JSON document of the database's, as a value in ours.
//!
//! It goes in as the text it is, but for the numbers that JavaScript would read as others: an integer
//! becomes a `BigInt`, anything else a string of its digits. Nothing recurses, whatever the nesting.

use super::json;
use super::number::Fit;
use super::patch::{Exotic, Exotics, Output, Place, Step};
use super::reader::{Container, Malformed, Reader, Token};

/// Patches that would take more room than their document justifies.
struct Crowded;

/// How integers are written that JavaScript's numbers do not hold.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Integers {
    Patched,
    Quoted,
}

/// Writes a document; as a string, if it is not one.
pub(super) fn write(text: &[u8], place: Place<'_>, steps: &[Step<'_>], output: &mut Output<'_>) {
    match is_exact(text) {
        Ok(true) => json::raw(text, output.json),
        Ok(false) if output.exotics == Exotics::Inline => {
            // Without patches nothing crowds.
            let _: Result<(), Crowded> = rewrite(text, place, steps, Integers::Quoted, output);
        }
        Ok(false) => {
            let written = (output.json.len(), output.patches.len());
            if rewrite(text, place, steps, Integers::Patched, output).is_err() {
                output.json.truncate(written.0);
                output.patches.truncate(written.1);
                let _: Result<(), Crowded> = rewrite(text, place, steps, Integers::Quoted, output);
            }
        }
        Err(Malformed) => json::string(text, output.json),
    }
}

/// Whether JavaScript reads every number of the document as it is.
fn is_exact(text: &[u8]) -> Result<bool, Malformed> {
    let mut is_exact = true;
    let mut reader = Reader::new(text);
    while let Some(token) = reader.next()? {
        is_exact &= !matches!(token, Token::Number(Fit::Integer | Fit::Inexact));
    }
    Ok(is_exact)
}

/// Writes a document that holds numbers which JavaScript would read as others.
fn rewrite(
    text: &[u8],
    place: Place<'_>,
    steps: &[Step<'_>],
    integers: Integers,
    output: &mut Output<'_>,
) -> Result<(), Crowded> {
    // A path is as long as the nesting is deep, so many deep numbers would cost the square of the text.
    let crowded = output.patches.len() + 4096 + 16 * text.len();
    let mut shadowed = shadowed(text).into_iter();
    // The path's length at the outermost key that a later one replaces.
    let mut in_shadow = None;
    let mut path = steps.to_vec();
    let mut copied = 0;
    let mut reader = Reader::new(text);
    while let Ok(Some(token)) = reader.next() {
        match token {
            Token::Open(Container::Array) => path.push(Step::Index(0)),
            Token::Open(Container::Object) => path.push(Step::Key(b"")),
            Token::Close => {
                path.pop();
            }
            Token::Comma => {
                if let Some(Step::Index(index)) = path.last_mut() {
                    *index += 1;
                }
            }
            Token::Key => {
                let is_shadowed = shadowed.next() == Some(true);
                if in_shadow.is_none_or(|outermost| outermost >= path.len()) {
                    in_shadow = is_shadowed.then_some(path.len());
                }
                if let Some(step) = path.last_mut() {
                    *step = Step::Key(reader.text());
                }
            }
            Token::Number(Fit::Exact) | Token::Other => {}
            Token::Number(fit) => {
                let before = text.get(copied..reader.start()).unwrap_or_default();
                json::raw(before, output.json);
                copied = reader.end();
                let is_patched = integers == Integers::Patched && in_shadow.is_none();
                if fit == Fit::Integer && is_patched {
                    output.exotic(place, &path, Exotic::BigInt, reader.text());
                    if output.patches.len() > crowded {
                        return Err(Crowded);
                    }
                } else {
                    json::string(reader.text(), output.json);
                }
            }
        }
    }
    json::raw(text.get(copied..).unwrap_or_default(), output.json);
    Ok(())
}

/// For each key of a document, in order, whether a later one of the same name replaces it.
///
/// `json` keeps such keys and `JSON.parse` takes the last, which a patch meant for an earlier one would spoil.
fn shadowed(text: &[u8]) -> Vec<bool> {
    let mut keys = Vec::new();
    let mut n_opened = 0;
    let mut open = Vec::new();
    let mut reader = Reader::new(text);
    while let Ok(Some(token)) = reader.next() {
        match token {
            Token::Open(_) => {
                n_opened += 1;
                open.push(n_opened);
            }
            Token::Close => {
                open.pop();
            }
            Token::Key => keys.push((open.last().copied(), name(reader.text()), keys.len())),
            Token::Comma | Token::Number(_) | Token::Other => {}
        }
    }
    let mut shadowed = vec![false; keys.len()];
    keys.sort_unstable();
    for pair in keys.windows(2) {
        if let [(object, name, key), (next_object, next_name, _)] = pair
            && (object, name) == (next_object, next_name)
            && let Some(shadowed) = shadowed.get_mut(*key)
        {
            *shadowed = true;
        }
    }
    shadowed
}

/// A key's name as JavaScript has it: in UTF-16, where half a pair is a name too.
fn name(key: &[u8]) -> Vec<u16> {
    let mut name = Vec::with_capacity(key.len());
    let mut rest = str::from_utf8(key).unwrap_or_default().chars();
    while let Some(character) = rest.next() {
        if character != '\\' {
            name.extend_from_slice(character.encode_utf16(&mut [0; 2]));
            continue;
        }
        let unit = match rest.next() {
            Some('b') => 0x8,
            Some('t') => 0x9,
            Some('n') => 0xa,
            Some('f') => 0xc,
            Some('r') => 0xd,
            Some('u') => {
                let (digits, after) = rest.as_str().split_at_checked(4).unwrap_or_default();
                rest = after.chars();
                u16::from_str_radix(digits, 16).unwrap_or_default()
            }
            Some(literal) => u16::try_from(literal).unwrap_or_default(),
            None => break,
        };
        name.push(unit);
    }
    name
}

//! A JSON document of the database's, as a value in ours.
//!
//! It goes in as the text it is, but for the numbers that JavaScript would read as others: an integer
//! becomes a `BigInt`, anything else a string of its digits. Nothing recurses, whatever the nesting.

use super::json;
use super::number::{Fit, Number};
use super::patch::{Exotic, Output, Place, Step};

/// Text that is not a document.
struct Malformed;

/// Patches that would take more room than their document justifies.
struct Crowded;

/// How integers are written that JavaScript's numbers do not hold.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Integers {
    Patched,
    Quoted,
}

/// Writes a document; as a string, if it is not one.
pub(super) fn write(text: &str, place: Place<'_>, steps: &[Step<'_>], output: &mut Output<'_>) {
    match is_exact(text) {
        Ok(true) => output.json.extend_from_slice(text.as_bytes()),
        Ok(false) => {
            let written = (output.json.len(), output.patches.len());
            if rewrite(text, place, steps, Integers::Patched, output).is_err() {
                output.json.truncate(written.0);
                output.patches.truncate(written.1);
                // Without patches nothing crowds.
                let _: Result<(), Crowded> = rewrite(text, place, steps, Integers::Quoted, output);
            }
        }
        Err(Malformed) => json::string(text, output.json),
    }
}

/// Whether JavaScript reads every number of the document as it is.
fn is_exact(text: &str) -> Result<bool, Malformed> {
    let mut is_exact = true;
    for token in Reader::new(text) {
        if let Token::Number(number) = token? {
            is_exact &= number.fit() == Fit::Exact;
        }
    }
    Ok(is_exact)
}

/// Writes a document that holds numbers which JavaScript would read as others.
fn rewrite(
    text: &str,
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
    while let Some(Ok(token)) = reader.next() {
        match token {
            Token::Open(Container::Array) => path.push(Step::Index(0)),
            Token::Open(Container::Object) => path.push(Step::Key("")),
            Token::Close => {
                path.pop();
            }
            Token::Comma => {
                if let Some(Step::Index(index)) = path.last_mut() {
                    *index += 1;
                }
            }
            Token::Key(key) => {
                let is_shadowed = shadowed.next() == Some(true);
                if in_shadow.is_none_or(|outermost| outermost >= path.len()) {
                    in_shadow = is_shadowed.then_some(path.len());
                }
                if let Some(step) = path.last_mut() {
                    *step = Step::Key(key);
                }
            }
            Token::Number(number) => {
                let fit = number.fit();
                if fit == Fit::Exact {
                    continue;
                }
                let start = reader.at - number.text.len();
                let before = text.get(copied..start).unwrap_or_default();
                output.json.extend_from_slice(before.as_bytes());
                copied = reader.at;
                let is_patched = integers == Integers::Patched && in_shadow.is_none();
                if fit == Fit::Integer && is_patched {
                    output.exotic(place, &path, Exotic::BigInt, number.text);
                    if output.patches.len() > crowded {
                        return Err(Crowded);
                    }
                } else {
                    json::string(number.text, output.json);
                }
            }
            Token::Other => {}
        }
    }
    let rest = text.get(copied..).unwrap_or_default();
    output.json.extend_from_slice(rest.as_bytes());
    Ok(())
}

/// For each key of a document, in order, whether a later one of the same name replaces it.
///
/// `json` keeps such keys and `JSON.parse` takes the last, which a patch meant for an earlier one would spoil.
fn shadowed(text: &str) -> Vec<bool> {
    let mut keys = Vec::new();
    let mut n_opened = 0;
    let mut open = Vec::new();
    for token in Reader::new(text).map_while(Result::ok) {
        match token {
            Token::Open(_) => {
                n_opened += 1;
                open.push(n_opened);
            }
            Token::Close => {
                open.pop();
            }
            Token::Key(key) => keys.push((open.last().copied(), name(key), keys.len())),
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
fn name(key: &str) -> Vec<u16> {
    let mut name = Vec::with_capacity(key.len());
    let mut rest = key.chars();
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

#[derive(Clone, Copy, Eq, PartialEq)]
enum Container {
    Array,
    Object,
}

/// A piece of a document. Colons and white space are passed over.
enum Token<'a> {
    Open(Container),
    Close,
    Comma,
    /// An object's key, quotes and all.
    Key(&'a str),
    Number(Number<'a>),
    /// A string or a word.
    Other,
}

/// What may come next in a document.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Expected {
    Value,
    ValueOrClose,
    Key,
    KeyOrClose,
    CommaOrClose,
    End,
}

/// Reads a document, one token at a time; one that is malformed ends in an error.
struct Reader<'a> {
    text: &'a str,
    at: usize,
    open: Vec<Container>,
    expected: Expected,
}

impl<'a> Reader<'a> {
    const fn new(text: &'a str) -> Self {
        Self {
            text,
            at: 0,
            open: Vec::new(),
            expected: Expected::Value,
        }
    }

    /// Reads the next token, if the text has one there.
    fn token(&mut self) -> Option<Token<'a>> {
        let expects_value = matches!(self.expected, Expected::Value | Expected::ValueOrClose);
        let expects_key = matches!(self.expected, Expected::Key | Expected::KeyOrClose);
        let byte = *self.text.as_bytes().get(self.at)?;
        match byte {
            b'"' if expects_value => {
                self.string()?;
                self.close_value();
                Some(Token::Other)
            }
            b'"' if expects_key => {
                let key = self.string()?;
                self.skip_space();
                self.skip(":")?;
                self.expected = Expected::Value;
                Some(Token::Key(key))
            }
            b'-' | b'0'..=b'9' if expects_value => {
                let number = Number::leading(self.text.get(self.at..)?)?;
                self.at += number.text.len();
                self.close_value();
                Some(Token::Number(number))
            }
            b',' if self.expected == Expected::CommaOrClose => {
                self.at += 1;
                self.expected = match self.open.last()? {
                    Container::Array => Expected::Value,
                    Container::Object => Expected::Key,
                };
                Some(Token::Comma)
            }
            b'{' if expects_value => Some(self.open(Container::Object, Expected::KeyOrClose)),
            b'[' if expects_value => Some(self.open(Container::Array, Expected::ValueOrClose)),
            b'}' if !expects_value && self.expected != Expected::Key => {
                self.close(Container::Object)
            }
            b']' if !expects_key && self.expected != Expected::Value => {
                self.close(Container::Array)
            }
            b't' if expects_value => self.word("true"),
            b'f' if expects_value => self.word("false"),
            b'n' if expects_value => self.word("null"),
            _ => None,
        }
    }

    fn open(&mut self, container: Container, expected: Expected) -> Token<'a> {
        self.at += 1;
        self.open.push(container);
        self.expected = expected;
        Token::Open(container)
    }

    fn close(&mut self, container: Container) -> Option<Token<'a>> {
        self.at += 1;
        (self.open.pop()? == container).then(|| self.close_value())?;
        Some(Token::Close)
    }

    /// Goes on after a value.
    fn close_value(&mut self) {
        self.expected = if self.open.is_empty() {
            Expected::End
        } else {
            Expected::CommaOrClose
        };
    }

    fn word(&mut self, word: &str) -> Option<Token<'a>> {
        self.skip(word)?;
        self.close_value();
        Some(Token::Other)
    }

    /// Reads a string, and gives it with its quotes.
    fn string(&mut self) -> Option<&'a str> {
        let start = self.at;
        let bytes = self.text.as_bytes();
        let mut end = start + 1;
        loop {
            end += json::plain(bytes.get(end..)?);
            match bytes.get(end)? {
                b'"' => break,
                b'\\' => end += escape(bytes.get(end + 1..)?)?,
                _ => return None,
            }
        }
        self.at = end + 1;
        self.text.get(start..self.at)
    }

    fn skip(&mut self, word: &str) -> Option<()> {
        self.text.get(self.at..)?.strip_prefix(word)?;
        self.at += word.len();
        Some(())
    }

    fn skip_space(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.text.as_bytes().get(self.at) {
            self.at += 1;
        }
    }
}

impl<'a> Iterator for Reader<'a> {
    type Item = Result<Token<'a>, Malformed>;

    fn next(&mut self) -> Option<Self::Item> {
        self.skip_space();
        if self.expected == Expected::End && self.at == self.text.len() {
            return None;
        }
        Some(self.token().ok_or(Malformed))
    }
}

/// The length of an escape, by what comes after its backslash.
fn escape(text: &[u8]) -> Option<usize> {
    match text.first()? {
        b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => Some(2),
        b'u' => text
            .get(1..5)?
            .iter()
            .all(u8::is_ascii_hexdigit)
            .then_some(6),
        _ => None,
    }
}

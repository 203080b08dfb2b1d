//! Source to tokens.

use std::rc::Rc;

use super::fault::{Fault, Position};

/// A piece of source.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) at: Position,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    End,
    /// A float; with its text, where a float cannot hold all of its digits.
    Float(f64, Option<Rc<str>>),
    Int(i64),
    Name(Rc<str>),
    /// An operator, a bracket, or a word that is an operator.
    Sign(&'static str),
    Text(Rc<str>),
}

/// What stands for itself, the longer before what it begins with.
const SIGNS: [&str; 35] = [
    "..", "?.", "??", "||", "::", "**", "&&", "==", "!=", "<=", ">=", "(", ")", "[", "]", "{", "}",
    ",", ";", "%", "+", "-", "^", "!", "*", "<", ">", "=", "&", "|", ":", "?", ".", "#", "/",
];
const WORDS: [&str; 11] = [
    "not",
    "in",
    "or",
    "and",
    "matches",
    "contains",
    "startsWith",
    "endsWith",
    "let",
    "if",
    "else",
];

/// How many letters of a number a float always holds.
const EXACT_DIGITS: usize = 16;

pub(super) struct Lexer<'s> {
    source: &'s str,
    at: usize,
}

impl<'s> Lexer<'s> {
    pub(super) const fn new(source: &'s str) -> Self {
        Self { source, at: 0 }
    }

    fn rest(&self) -> &'s str {
        self.source.get(self.at..).unwrap_or_default()
    }

    fn fault(&self, message: &str) -> Fault {
        Fault::bad(self.at, message)
    }

    pub(super) fn next(&mut self) -> Result<Token, Fault> {
        self.skip()?;
        let at = self.at;
        let rest = self.rest();
        let mut chars = rest.chars();
        let (first, second) = (chars.next(), chars.next());
        let kind = match (first, second) {
            (None, _) => Kind::End,
            (Some(quote @ ('"' | '\'')), _) => self.text(quote)?,
            (Some('`'), _) => {
                let raw = rest.get(1..).unwrap_or_default();
                let end = raw
                    .find('`')
                    .ok_or_else(|| self.fault("this string is not closed: expected `"))?;
                self.at += end + 2;
                Kind::Text(raw.get(..end).unwrap_or_default().into())
            }
            (Some('0'..='9'), _) | (Some('.'), Some('0'..='9')) => self.number()?,
            (Some(letter), _) if is_name(letter) => {
                let end = rest.find(|letter| !is_name(letter));
                let word = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
                self.at += word.len();
                match WORDS.iter().find(|known| **known == word) {
                    Some(known) => Kind::Sign(known),
                    None => Kind::Name(word.into()),
                }
            }
            (Some(_), _) => {
                let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(**sign)) else {
                    return Err(self.fault("this character means nothing here"));
                };
                self.at += sign.len();
                Kind::Sign(sign)
            }
        };
        Ok(Token { kind, at })
    }

    /// Passes over white space and comments.
    fn skip(&mut self) -> Result<(), Fault> {
        loop {
            let rest = self.rest();
            let trimmed = rest.trim_start();
            self.at += rest.len() - trimmed.len();
            let length = if trimmed.starts_with("//") {
                trimmed.find('\n').unwrap_or(trimmed.len())
            } else if let Some(comment) = trimmed.strip_prefix("/*") {
                let end = comment.find("*/");
                end.ok_or_else(|| self.fault("this comment is not closed: expected */"))? + 4
            } else {
                return Ok(());
            };
            self.at += length;
        }
    }

    fn number(&mut self) -> Result<Kind, Fault> {
        let rest = self.rest();
        let (digits, radix) = match rest.get(..2) {
            Some("0x" | "0X") => ("0123456789abcdefABCDEF_", 16),
            Some("0o" | "0O") => ("01234567_", 8),
            Some("0b" | "0B") => ("01_", 2),
            _ => ("0123456789_", 10),
        };
        let run = |from: usize| {
            let tail = rest.get(from..).unwrap_or_default();
            from + tail
                .find(|letter| !digits.contains(letter))
                .unwrap_or(tail.len())
        };
        let mut end = run(if radix == 10 { 0 } else { 2 });
        if radix == 10 {
            let tail = rest.get(end..).unwrap_or_default();
            if tail.starts_with('.') && !tail.starts_with("..") {
                end = run(end + 1);
            }
            let tail = rest.get(end..).unwrap_or_default();
            if tail.starts_with(['e', 'E']) {
                let sign = usize::from(matches!(tail.as_bytes().get(1), Some(b'+' | b'-')));
                end = run(end + 1 + sign);
            }
        }
        let follows = rest.get(end..).and_then(|tail| tail.chars().next());
        let text: String = rest.get(..end).unwrap_or_default().replace('_', "");
        let kind = if radix != 10 {
            let digits = text.get(2..).unwrap_or_default();
            i64::from_str_radix(digits, radix).ok().map(Kind::Int)
        } else if text.contains(['.', 'e', 'E']) {
            let float = text.parse().ok().filter(|float: &f64| float.is_finite());
            let exact = (text.len() > EXACT_DIGITS).then(|| text.as_str().into());
            float.map(|float| Kind::Float(float, exact))
        } else {
            text.parse().ok().map(Kind::Int)
        };
        match kind {
            Some(kind) if !follows.is_some_and(is_name) => {
                self.at += end;
                Ok(kind)
            }
            Some(_) | None => {
                Err(self
                    .fault("this number cannot be read: expected an integer of 64 bits or a float"))
            }
        }
    }

    fn text(&mut self, quote: char) -> Result<Kind, Fault> {
        let mut out = String::new();
        let opened = self.at;
        self.at += 1;
        loop {
            let rest = self.rest();
            let plain = rest.find([quote, '\\', '\n']);
            let stops = |end: &usize| rest.as_bytes().get(*end) != Some(&b'\n');
            let Some(plain) = plain.filter(stops) else {
                return Err(Fault::bad(
                    opened,
                    "this string is not closed on its line: expected its quote",
                ));
            };
            out.push_str(rest.get(..plain).unwrap_or_default());
            self.at += plain;
            if self.rest().starts_with(quote) {
                self.at += 1;
                return Ok(Kind::Text(out.into()));
            }
            let (letter, length) = escaped(self.rest()).ok_or_else(|| {
                self.fault("this escape is unknown: expected one like \\n or \\u00e9")
            })?;
            out.push(letter);
            self.at += length;
        }
    }
}

/// The character that an escape stands for, and how long the escape is.
fn escaped(text: &str) -> Option<(char, usize)> {
    let kind = *text.as_bytes().get(1)?;
    let code = |from: usize, to: usize, radix: u32| {
        let digits = text.get(from..to)?;
        let number = u32::from_str_radix(digits, radix).ok()?;
        let digits_only = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        char::from_u32(number).filter(|_| digits_only)
    };
    let simple = match kind {
        b'a' => '\x07',
        b'b' => '\x08',
        b'f' => '\x0c',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        b'v' => '\x0b',
        b'\\' | b'\'' | b'"' | b'`' | b'?' => char::from(kind),
        b'x' | b'X' => return Some((code(2, 4, 16)?, 4)),
        b'u' if text.as_bytes().get(2) == Some(&b'{') => {
            let end = text.find('}')?;
            return Some((code(3, end, 16)?, end + 1));
        }
        b'u' => return Some((code(2, 6, 16)?, 6)),
        b'U' => return Some((code(2, 10, 16)?, 10)),
        b'0'..=b'3' => return Some((code(1, 4, 8)?, 4)),
        _ => return None,
    };
    Some((simple, 2))
}

fn is_name(letter: char) -> bool {
    letter == '_' || letter == '$' || letter.is_alphanumeric()
}

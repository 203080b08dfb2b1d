//! Where the words, quotes and comments of SQL begin and end.
//!
//! Every branch here exists because a semicolon, a quote or a keyword can hide in the construct.
//! Nothing is refused: what is malformed still becomes tokens, and the database states the error.
//! Every token begins and ends beside an ASCII byte or an end of the text, hence on a `char` boundary.

use super::Dialect;

/// A stretch of text that no statement boundary can cut.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token<'a> {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) shape: Shape,
    /// In upper case, delimiters included, so that a quoted name never equals a keyword.
    pub(super) upper: &'a str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Mark,
    Quoted,
    Value,
    Word,
}

/// The tokens of a text; white space and comments fall between them.
pub(super) struct Tokens<'a> {
    bytes: &'a [u8],
    upper: &'a str,
    at: usize,
    dialect: Dialect,
}

impl<'a> Tokens<'a> {
    /// `upper` is `text` in ASCII upper case, so that both share their offsets.
    pub(super) fn new(text: &'a str, upper: &'a str, dialect: Dialect) -> Self {
        Self {
            bytes: text.as_bytes(),
            upper,
            at: 0,
            dialect,
        }
    }

    /// The first place at or after `at` that is neither white space nor comment.
    fn blank(&self, mut at: usize) -> usize {
        while let Some(end) = self
            .space(at)
            .or_else(|| self.line_comment(at))
            .or_else(|| self.block_comment(at))
        {
            at = end;
        }
        at
    }

    fn space(&self, at: usize) -> Option<usize> {
        match self.byte(at)? {
            // SQLite refuses a vertical tab, unless other white space leads.
            b'\x0B' if self.dialect == Dialect::Sqlite => None,
            b' ' | b'\t'..=b'\r' => Some(self.run(at, is_space)),
            // A byte order mark: SQLite skips it, Postgres reads it as part of a name.
            0xEF if self.dialect == Dialect::Sqlite => {
                self.starts(at, "\u{feff}".as_bytes()).then_some(at + 3)
            }
            _ => None,
        }
    }

    fn line_comment(&self, at: usize) -> Option<usize> {
        self.starts(at, b"--").then(|| {
            self.run(at, |byte| match self.dialect {
                Dialect::Postgres => !matches!(byte, b'\n' | b'\r'),
                Dialect::Sqlite => byte != b'\n',
            })
        })
    }

    /// The end of the block comment at `at`.
    ///
    /// Postgres refuses a comment that never ends, so there it is no comment but a token:
    /// dropped as blank, the error would be lost.
    fn block_comment(&self, at: usize) -> Option<usize> {
        if !self.starts(at, b"/*") {
            return None;
        }
        let inside = at + 2;
        match self.dialect {
            Dialect::Postgres => self.nested_comment(inside),
            // SQLite reads a `/*` that ends the text as two operators.
            Dialect::Sqlite => self.byte(inside).map(|_| self.past(inside, b"*/")),
        }
    }

    fn nested_comment(&self, mut at: usize) -> Option<usize> {
        let mut depth = 1_usize;
        while depth > 0 {
            match (self.byte(at)?, self.byte(at + 1)) {
                (b'/', Some(b'*')) => {
                    depth += 1;
                    at += 2;
                }
                (b'*', Some(b'/')) => {
                    depth -= 1;
                    at += 2;
                }
                _ => at += 1,
            }
        }
        Some(at)
    }

    /// Past the closing quote; a doubled one stands for itself.
    fn quoted(&self, from: usize, quote: u8) -> usize {
        let mut at = self.past(from, &[quote]);
        while self.byte(at) == Some(quote) {
            at = self.past(at + 1, &[quote]);
        }
        at
    }

    /// Past the end of an `E''` string, in which a backslash hides a quote.
    fn escaped(&self, from: usize) -> usize {
        let mut at = from;
        while let Some(byte) = self.byte(at) {
            match byte {
                b'\\' => at += 2,
                b'\'' => match self.continued(at + 1) {
                    Some(more) => at = more,
                    None => return at + 1,
                },
                _ => at += 1,
            }
        }
        self.bytes.len()
    }

    /// Where an `E''` string goes on after a quote: the quote was doubled, or only white space
    /// with a line end in it stands before the next one, whose backslashes count as well.
    fn continued(&self, at: usize) -> Option<usize> {
        let mut end = at;
        while let Some(more) = self.space(end).or_else(|| self.line_comment(end)) {
            end = more;
        }
        let gap = self.bytes.get(at..end)?;
        let joins = gap.is_empty() || gap.contains(&b'\n') || gap.contains(&b'\r');
        (joins && self.byte(end) == Some(b'\'')).then_some(end + 1)
    }

    /// A dollar-quoted string, a parameter, or a stray dollar sign.
    fn dollar(&self, start: usize) -> (Shape, usize) {
        let tag = start + 1;
        let tag_end = match self.byte(tag) {
            Some(byte) if begins_word(byte) => self.run(tag, |b| b != b'$' && continues_word(b)),
            _ => tag,
        };
        match self.bytes.get(start..=tag_end) {
            Some(fence @ [.., b'$']) => (Shape::Quoted, self.past(tag_end + 1, fence)),
            _ => (Shape::Value, self.run(tag, |b| b.is_ascii_digit())),
        }
    }

    /// A parameter of SQLite, which may end in brackets as Tcl's do: `$name::part(any;thing)`.
    fn variable(&self, start: usize) -> usize {
        let mut at = start + 1;
        let mut named = false;
        while let Some(byte) = self.byte(at) {
            match byte {
                b'(' if named => {
                    let end = self.run(at, |b| b != b')' && !is_space(b));
                    return end + usize::from(self.byte(end) == Some(b')'));
                }
                b':' if self.byte(at + 1) == Some(b':') => at += 2,
                _ if continues_word(byte) => {
                    named = true;
                    at += 1;
                }
                _ => break,
            }
        }
        at
    }

    /// A word, or the string that the word `E` introduces.
    fn word(&self, start: usize) -> (Shape, usize) {
        let end = self.run(start, continues_word);
        let prefix = self.bytes.get(start..end);
        let escapes = self.dialect == Dialect::Postgres
            && matches!(prefix, Some(b"E" | b"e"))
            && self.byte(end) == Some(b'\'');
        if escapes {
            (Shape::Quoted, self.escaped(end + 1))
        } else {
            (Shape::Word, end)
        }
    }

    fn byte(&self, at: usize) -> Option<u8> {
        self.bytes.get(at).copied()
    }

    fn rest(&self, at: usize) -> &'a [u8] {
        self.bytes.get(at..).unwrap_or_default()
    }

    fn starts(&self, at: usize, with: &[u8]) -> bool {
        self.rest(at).starts_with(with)
    }

    /// The end of the run of bytes from `at` that satisfy `within`.
    fn run(&self, at: usize, within: impl Fn(u8) -> bool) -> usize {
        at + self.rest(at).iter().take_while(|&&b| within(b)).count()
    }

    /// Past the first `needle` at or after `from`, or the end of the text.
    fn past(&self, from: usize, needle: &[u8]) -> usize {
        self.rest(from)
            .windows(needle.len())
            .position(|window| window == needle)
            .map_or(self.bytes.len(), |found| from + found + needle.len())
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Self::Item> {
        use Dialect::{Postgres, Sqlite};

        let start = self.blank(self.at);
        let (shape, end) = match (self.dialect, self.byte(start)?) {
            (_, quote @ (b'\'' | b'"')) | (Sqlite, quote @ b'`') => {
                (Shape::Quoted, self.quoted(start + 1, quote))
            }
            (Sqlite, b'[') => (Shape::Quoted, self.past(start + 1, b"]")),
            (Sqlite, b'$' | b'@' | b':' | b'#') => (Shape::Value, self.variable(start)),
            (Postgres, b'$') => self.dollar(start),
            // The comment that `blank` left standing, since it never ends.
            (Postgres, b'/') if self.starts(start, b"/*") => (Shape::Quoted, self.bytes.len()),
            // `1$$` is a number before a dollar quote, so a dollar sign ends a number.
            (_, b'0'..=b'9') => {
                let in_number = |b| b == b'.' || (b != b'$' && continues_word(b));
                (Shape::Value, self.run(start, in_number))
            }
            (_, byte) if begins_word(byte) => self.word(start),
            _ => (Shape::Mark, start + 1),
        };
        self.at = end;
        Some(Token {
            start,
            end,
            shape,
            upper: self.upper.get(start..end).unwrap_or_default(),
        })
    }
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

fn begins_word(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || !byte.is_ascii()
}

fn continues_word(byte: u8) -> bool {
    begins_word(byte) || byte.is_ascii_digit() || byte == b'$'
}

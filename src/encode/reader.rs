//! The tokens of a JSON document, without recursion.

use super::number::{Fit, Number};
use crate::row::scan;

/// Text that is not a document.
#[derive(Debug)]
pub(super) struct Malformed;

/// A piece of a document. Colons and white space are passed over.
#[derive(Clone, Copy, Debug)]
pub(super) enum Token {
    Open(Container),
    Close,
    Comma,
    Key,
    Number(Fit),
    /// A string or a word.
    Other,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Container {
    Array,
    Object,
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

/// Reads a document.
pub(super) struct Reader<'a> {
    document: &'a [u8],
    start: usize,
    end: usize,
    /// Where to read on.
    at: usize,
    open: Vec<Container>,
    expected: Expected,
}

impl<'a> Reader<'a> {
    pub(super) const fn new(document: &'a [u8]) -> Self {
        let open = Vec::new();
        Self {
            document,
            start: 0,
            end: 0,
            at: 0,
            open,
            expected: Expected::Value,
        }
    }

    /// Reads on to the next token; there is none at the document's end.
    pub(super) fn next(&mut self) -> Result<Option<Token>, Malformed> {
        self.skip_space();
        self.start = self.at;
        match self.document.get(self.at) {
            Some(&byte) => self.token(byte).map(Some).ok_or(Malformed),
            None if self.expected == Expected::End => Ok(None),
            None => Err(Malformed),
        }
    }

    /// The token's text; a key's with its quotes.
    pub(super) fn text(&self) -> &'a [u8] {
        self.document.get(self.start..self.end).unwrap_or_default()
    }

    /// Where the token begins.
    pub(super) const fn start(&self) -> usize {
        self.start
    }

    /// Where the token ends.
    pub(super) const fn end(&self) -> usize {
        self.end
    }

    fn token(&mut self, first: u8) -> Option<Token> {
        use Expected::{CommaOrClose, Key, KeyOrClose, Value, ValueOrClose};
        match (first, self.expected) {
            (b'"', Value | ValueOrClose) => {
                self.string()?;
                Some(self.value(Token::Other))
            }
            (b'"', Key | KeyOrClose) => {
                self.string()?;
                self.skip_space();
                (self.document.get(self.at) == Some(&b':')).then_some(())?;
                self.at += 1;
                self.expected = Value;
                Some(Token::Key)
            }
            (b'-' | b'0'..=b'9', Value | ValueOrClose) => {
                let number = Number::leading(self.document.get(self.at..)?)?;
                self.take(number.text.len());
                Some(self.value(Token::Number(number.fit())))
            }
            (b',', CommaOrClose) => {
                self.take(1);
                self.expected = match self.open.last()? {
                    Container::Array => Value,
                    Container::Object => Key,
                };
                Some(Token::Comma)
            }
            (b'{', Value | ValueOrClose) => Some(self.open(Container::Object, KeyOrClose)),
            (b'[', Value | ValueOrClose) => Some(self.open(Container::Array, ValueOrClose)),
            (b'}', KeyOrClose | CommaOrClose) => self.close(Container::Object),
            (b']', ValueOrClose | CommaOrClose) => self.close(Container::Array),
            (b't', Value | ValueOrClose) => self.word(b"true"),
            (b'f', Value | ValueOrClose) => self.word(b"false"),
            (b'n', Value | ValueOrClose) => self.word(b"null"),
            _ => None,
        }
    }

    fn open(&mut self, container: Container, expected: Expected) -> Token {
        self.take(1);
        self.open.push(container);
        self.expected = expected;
        Token::Open(container)
    }

    fn close(&mut self, container: Container) -> Option<Token> {
        self.take(1);
        let opened = self.open.pop()?;
        (opened == container).then(|| self.value(Token::Close))
    }

    fn word(&mut self, word: &[u8]) -> Option<Token> {
        self.document.get(self.at..)?.strip_prefix(word)?;
        self.take(word.len());
        Some(self.value(Token::Other))
    }

    /// Goes on after a value.
    fn value(&mut self, token: Token) -> Token {
        self.expected = if self.open.is_empty() {
            Expected::End
        } else {
            Expected::CommaOrClose
        };
        token
    }

    /// Takes a string.
    fn string(&mut self) -> Option<()> {
        let mut end = self.at + 1;
        loop {
            end += scan::plain(self.document.get(end..)?);
            match self.document.get(end)? {
                b'"' => break,
                b'\\' => end += escape(self.document.get(end + 1..)?)?,
                _ => return None,
            }
        }
        self.take(end + 1 - self.at);
        Some(())
    }

    const fn take(&mut self, length: usize) {
        self.at += length;
        self.end = self.at;
    }

    fn skip_space(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.document.get(self.at) {
            self.at += 1;
        }
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

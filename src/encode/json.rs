//! JSON's own text: strings, and integers of ours.

use crate::row::scan;

/// An object, written key by key.
#[derive(Debug)]
pub(crate) struct Object<'o> {
    out: &'o mut Vec<u8>,
    is_empty: bool,
}

impl<'o> Object<'o> {
    /// Begins an object.
    pub(crate) fn new(out: &'o mut Vec<u8>) -> Self {
        out.push(b'{');
        Self {
            out,
            is_empty: true,
        }
    }

    /// Writes a key; its value is the caller's to write.
    pub(crate) fn key(&mut self, key: &str) -> &mut Vec<u8> {
        if !self.is_empty {
            self.out.push(b',');
        }
        self.is_empty = false;
        string(key.as_bytes(), self.out);
        self.out.push(b':');
        self.out
    }

    /// Writes a text.
    pub(crate) fn text(&mut self, key: &str, text: &str) -> &mut Self {
        string(text.as_bytes(), self.key(key));
        self
    }

    /// Writes a number.
    pub(crate) fn number(&mut self, key: &str, number: u64) -> &mut Self {
        integer(number, self.key(key));
        self
    }

    /// Writes a list of texts.
    pub(crate) fn texts(&mut self, key: &str, texts: &[&str]) -> &mut Self {
        list(texts, self.key(key), |text, out| {
            string(text.as_bytes(), out);
        });
        self
    }

    /// Ends it.
    pub(crate) fn end(&mut self) {
        self.out.push(b'}');
    }
}

/// Writes a list.
pub(crate) fn list<T>(items: &[T], out: &mut Vec<u8>, write: impl Fn(&T, &mut Vec<u8>)) {
    out.push(b'[');
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        write(item, out);
    }
    out.push(b']');
}

/// Writes a string.
pub(crate) fn string(text: &[u8], out: &mut Vec<u8>) {
    out.push(b'"');
    characters(text, out);
    out.push(b'"');
}

/// Writes what stands between a string's quotes.
pub(super) fn characters(text: &[u8], out: &mut Vec<u8>) {
    let mut rest = text;
    loop {
        let (plain, special) = rest
            .split_at_checked(scan::plain(rest))
            .unwrap_or((rest, &[]));
        raw(plain, out);
        let Some((&byte, after)) = special.split_first() else {
            return;
        };
        escape(byte, out);
        rest = after;
    }
}

fn escape(byte: u8, out: &mut Vec<u8>) {
    let short = match byte {
        b'"' | b'\\' => byte,
        b'\n' => b'n',
        b'\r' => b'r',
        b'\t' => b't',
        _ => {
            let [high, low] = [byte >> 4, byte & 0xf].map(|nibble| match nibble {
                0..10 => b'0' + nibble,
                _ => b'a' + nibble - 10,
            });
            out.extend_from_slice(&[b'\\', b'u', b'0', b'0', high, low]);
            return;
        }
    };
    out.extend_from_slice(&[b'\\', short]);
}

/// Writes text that is JSON already.
pub(super) fn raw(text: &[u8], out: &mut Vec<u8>) {
    // Most is so short that a call to copy it would cost more than the copy.
    if text.len() > 8 {
        return out.extend_from_slice(text);
    }
    for &byte in text {
        out.push(byte);
    }
}

/// Writes an integer.
pub(crate) fn integer(value: u64, out: &mut Vec<u8>) {
    // The longest has twenty digits.
    let mut digits = [0; 20];
    let mut start = digits.len();
    let mut rest = value;
    for digit in digits.iter_mut().rev() {
        *digit = b'0' + (rest % 10) as u8;
        start -= 1;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    raw(digits.get(start..).unwrap_or_default(), out);
}

/// Writes bytes given by their hexadecimal digits, as a string of Base 64 (RFC 4648).
pub(super) fn base64(digits: &[u8], out: &mut Vec<u8>) {
    const CHARACTERS: &[u8; 64] =
        b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let nibble = |digit: &u8| char::from(*digit).to_digit(16).unwrap_or(0);
    out.push(b'"');
    for six in digits.chunks(6) {
        let bits = six.iter().fold(0, |bits, digit| bits << 4 | nibble(digit));
        let bits = bits << (4 * (6 - six.len()));
        let written = six.len() / 2 + 1;
        for index in 0..4 {
            let character = CHARACTERS.get((bits >> (18 - 6 * index) & 63) as usize);
            out.push(*character.filter(|_| index < written).unwrap_or(&b'='));
        }
    }
    out.push(b'"');
}

/// Escapes, in JSON written from `start` on, the characters beyond ASCII that some readers take for the end of
/// a line, and the mark that some take off a text's beginning: U+0085, U+2028, U+2029, U+FEFF. Outside of
/// strings JSON has none of them.
pub(super) fn escape_unicode_breaks(out: &mut Vec<u8>, start: usize) {
    let written = out.get(start..).unwrap_or_default();
    if written.is_ascii() {
        return;
    }
    let text = String::from_utf8_lossy(written).into_owned();
    out.truncate(start);
    for character in text.chars() {
        let escaped: &[u8] = match character {
            '\u{85}' => b"\\u0085",
            '\u{2028}' => b"\\u2028",
            '\u{2029}' => b"\\u2029",
            '\u{feff}' => b"\\ufeff",
            _ => {
                out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                continue;
            }
        };
        out.extend_from_slice(escaped);
    }
}

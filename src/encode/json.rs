//! JSON's own text: strings, and integers of ours.

use crate::row::scan;

/// Writes a string.
pub(super) fn string(text: &[u8], out: &mut Vec<u8>) {
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
pub(super) fn integer(value: u64, out: &mut Vec<u8>) {
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

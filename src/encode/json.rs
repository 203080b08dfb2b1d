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

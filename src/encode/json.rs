//! JSON's own text: strings, and integers of ours.

/// Writes a string.
pub(super) fn string(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    characters(text, out);
    out.push(b'"');
}

/// Writes what stands between a string's quotes.
pub(super) fn characters(text: &str, out: &mut Vec<u8>) {
    let mut rest = text.as_bytes();
    loop {
        let (plain, special) = rest.split_at_checked(plain(rest)).unwrap_or((rest, &[]));
        out.extend_from_slice(plain);
        let Some((&byte, after)) = special.split_first() else {
            return;
        };
        escape(byte, out);
        rest = after;
    }
}

/// How many bytes come before the first that must be escaped in a string.
pub(super) fn plain(text: &[u8]) -> usize {
    let mut plain = 0;
    let mut rest = text;
    while let Some((&chunk, after)) = rest.split_first_chunk() {
        let special = specials(u64::from_le_bytes(chunk));
        if special != 0 {
            return plain + special.trailing_zeros() as usize / 8;
        }
        plain += chunk.len();
        rest = after;
    }
    let special = |&byte: &u8| byte < b' ' || byte == b'"' || byte == b'\\';
    plain + rest.iter().position(special).unwrap_or(rest.len())
}

/// Marks the high bit of each of eight bytes that must be escaped.
///
/// The lowest mark is right; a borrow may set false ones above it.
const fn specials(bytes: u64) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGHS: u64 = ONES << 7;
    const QUOTES: u64 = ONES * b'"' as u64;
    const BACKSLASHES: u64 = ONES * b'\\' as u64;
    const SPACES: u64 = ONES * b' ' as u64;
    let control = bytes.wrapping_sub(SPACES) & !bytes;
    let quote = (bytes ^ QUOTES).wrapping_sub(ONES) & !(bytes ^ QUOTES);
    let backslash = (bytes ^ BACKSLASHES).wrapping_sub(ONES) & !(bytes ^ BACKSLASHES);
    (control | quote | backslash) & HIGHS
}

fn escape(byte: u8, out: &mut Vec<u8>) {
    let short = match byte {
        b'"' | b'\\' => byte,
        b'\n' => b'n',
        b'\r' => b'r',
        b'\t' => b't',
        _ => {
            let digit = |nibble: u8| {
                if nibble < 10 {
                    b'0' + nibble
                } else {
                    b'a' - 10 + nibble
                }
            };
            out.extend_from_slice(b"\\u00");
            out.extend_from_slice(&[digit(byte >> 4), digit(byte & 0xf)]);
            return;
        }
    };
    out.extend_from_slice(&[b'\\', short]);
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
    out.extend_from_slice(digits.get(start..).unwrap_or_default());
}

//! Where the next byte of a kind stands in text, looked for eight at a time.

/// How many bytes come before the first `"`, `\` or control character.
///
/// These are what a JSON string must escape, and the first two what a record doubles.
pub(crate) fn plain(text: &[u8]) -> usize {
    before(
        text,
        |word| below(word, b' ') | equal(word, b'"') | equal(word, b'\\'),
        |byte| byte < b' ' || byte == b'"' || byte == b'\\',
    )
}

/// How many bytes come before the first `,` or `)`, which end a bare field of a record.
pub(crate) fn bare(text: &[u8]) -> usize {
    before(
        text,
        |word| equal(word, b',') | equal(word, b')'),
        |byte| byte == b',' || byte == b')',
    )
}

/// How many bytes come before the first line break.
pub(crate) fn breaks(text: &[u8]) -> usize {
    before(
        text,
        |word| equal(word, b'\n') | equal(word, b'\r'),
        |byte| byte == b'\n' || byte == b'\r',
    )
}

/// How many bytes come before the first of a kind, which is given for a word and for a byte.
#[inline]
fn before(text: &[u8], marks: impl Fn(u64) -> u64, is_marked: impl Fn(u8) -> bool) -> usize {
    let (words, rest) = text.as_chunks();
    for (index, &word) in words.iter().enumerate() {
        let marks = marks(u64::from_le_bytes(word)) & (ONES << 7);
        if marks != 0 {
            return index * word.len() + marks.trailing_zeros() as usize / 8;
        }
    }
    let end = rest.iter().position(|&byte| is_marked(byte));
    text.len() - rest.len() + end.unwrap_or(rest.len())
}

const ONES: u64 = 0x0101_0101_0101_0101;

/// Sets the highest bit of each byte below a limit of at most 128, and clears that of each other byte
/// up to the first of these; beyond it bits may be set that should not be.
const fn below(word: u64, limit: u8) -> u64 {
    // Such a byte borrows from its highest bit, which was clear.
    word.wrapping_sub(ONES * limit as u64) & !word
}

/// The same for each byte that is this one.
const fn equal(word: u64, byte: u8) -> u64 {
    below(word ^ (ONES * byte as u64), 1)
}

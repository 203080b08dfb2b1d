//! Base64, as RFC 4648 has it.

const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

pub(super) fn base64(text: &str, out: &mut String) {
    for bytes in text.as_bytes().chunks(3) {
        let byte = |index: usize| u32::from(bytes.get(index).copied().unwrap_or_default());
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for (index, shift) in [18, 12, 6, 0].into_iter().enumerate() {
            let place = (bits >> shift & 63) as usize;
            let digit = BASE64.get(place).filter(|_| index <= bytes.len());
            out.push(char::from(digit.copied().unwrap_or(b'=')));
        }
    }
}

pub(super) fn unbase64(text: &str) -> Option<Vec<u8>> {
    let text: String = text
        .chars()
        .filter(|letter| !matches!(letter, '\r' | '\n'))
        .collect();
    let digits = text.trim_end_matches('=');
    if !text.len().is_multiple_of(4) || text.len() - digits.len() > 2 {
        return None;
    }
    let (mut bits, mut n_bits) = (0_u32, 0);
    let mut out = Vec::new();
    for digit in digits.bytes() {
        let place = BASE64.iter().position(|known| *known == digit)?;
        bits = bits << 6 | u32::try_from(place).ok()?;
        n_bits += 6;
        if n_bits >= 8 {
            n_bits -= 8;
            out.push(u8::try_from(bits >> n_bits & 255).ok()?);
        }
    }
    Some(out)
}

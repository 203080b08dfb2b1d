//! A path's segments.

/// The segments of a path, their escapes undone. One that is not UTF-8 keeps its escapes, and so is no name.
pub(super) fn segments(path: &str) -> Vec<String> {
    let path = path.strip_prefix('/').unwrap_or(path);
    path.split('/')
        .map(|segment| unescape(segment).unwrap_or_else(|| segment.to_owned()))
        .collect()
}

fn unescape(segment: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(segment.len());
    let mut parts = segment.split('%');
    bytes.extend_from_slice(parts.next()?.as_bytes());
    for part in parts {
        let (digits, rest) = part.split_at_checked(2)?;
        // A sign is a digit to nobody but from_str_radix.
        if !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return None;
        }
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        bytes.extend_from_slice(rest.as_bytes());
    }
    String::from_utf8(bytes).ok()
}

//! Server-sent events: the only place where their lines are written.
//!
//! The format is the HTML standard's, "Server-sent events". A line break within a value begins another
//! line of the same field, so that no value can begin a field of its own, nor end an event.

use crate::cursor::EventId;
use crate::row::scan;

/// How soon a browser is to connect again, in milliseconds: the line that opens a stream.
pub fn retry(milliseconds: &str, out: &mut Vec<u8>) {
    line(b"retry: ", milliseconds.as_bytes(), out);
}

/// A block of nothing but a comment.
pub fn comment(text: &[u8], out: &mut Vec<u8>) {
    line(b": ", text, out);
    out.push(b'\n');
}

/// A block that moves a reader's place, and is no event.
pub fn place(id: EventId, out: &mut Vec<u8>) {
    id_line(id, out);
    out.push(b'\n');
}

/// An event with its data, which `write` appends.
pub fn event(id: EventId, kind: &[u8], out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    id_line(id, out);
    line(b"event: ", kind, out);
    let start = out.len();
    out.extend_from_slice(DATA);
    write(out);
    let data = out.get(start + DATA.len()..).unwrap_or_default();
    if scan::breaks(data) == data.len() {
        out.extend_from_slice(b"\n\n");
        return;
    }
    let data = data.to_vec();
    out.truncate(start);
    line(DATA, &data, out);
    out.push(b'\n');
}

const DATA: &[u8] = b"data: ";

fn id_line(id: EventId, out: &mut Vec<u8>) {
    out.extend_from_slice(b"id: ");
    id.write(out);
    out.push(b'\n');
}

fn line(field: &[u8], value: &[u8], out: &mut Vec<u8>) {
    let mut rest = value;
    loop {
        out.extend_from_slice(field);
        let (text, breaks) = rest
            .split_at_checked(scan::breaks(rest))
            .unwrap_or((rest, &[]));
        out.extend_from_slice(text);
        out.push(b'\n');
        rest = match breaks {
            [b'\r', b'\n', after @ ..] | [_, after @ ..] => after,
            [] => return,
        };
    }
}

//! A commit for callbacks: JSON text, and patches for what JSON cannot hold.
//!
//! The host parses the text once, sets each patch's value where its path says, and replaces each
//! relation's number by an object of its own that many entries share.

use super::json;
use super::patch::Place;
use super::value::Values;
use crate::commit::{Change, Commit, Entry, Part};
use crate::row::{Cell, Row};

/// Writes `[commit, patches]`: the commit with the entries chosen from it.
///
/// A patch is `[entry, "new" or "old", column, …, kind, text]`. The first is an index into the commit's
/// entries as written; what stands after the column leads into an array or a document, by index or key.
/// Kind `"n"` is a `BigInt` of decimal digits, `"b"` a `Uint8Array` of hexadecimal ones.
pub fn encode<'e, 'a: 'e>(
    commit: &Commit<'_>,
    entries: impl IntoIterator<Item = &'e Entry<'a>>,
    out: &mut Vec<u8>,
) {
    out.extend_from_slice(b"[{\"txId\":");
    json::integer(commit.tx, out);
    out.extend_from_slice(b",\"commitTime\":");
    json::integer(commit.time_ms, out);
    out.extend_from_slice(b",\"seq\":");
    json::integer(commit.seq(), out);
    let (part, end): (_, &[u8]) = match commit.part {
        Part::Whole => (None, b"}"),
        Part::More(part) => (Some(part), b",\"partial\":true}"),
        Part::Last(part) => (Some(part), b"}"),
    };

    out.extend_from_slice(b",\"entries\":[");
    let mut values = Values::new(out);
    for (index, entry) in entries.into_iter().enumerate() {
        if index > 0 {
            values.output.json.push(b',');
        }
        write_entry(index, entry, &mut values);
    }
    let patches = values.output.patches;
    out.push(b']');
    if let Some(part) = part {
        out.extend_from_slice(b",\"part\":");
        json::integer(part.into(), out);
    }
    out.extend_from_slice(end);

    out.extend_from_slice(b",[");
    // Each patch has a comma before it.
    out.extend_from_slice(patches.get(1..).unwrap_or_default());
    out.extend_from_slice(b"]]");
}

fn write_entry(index: usize, entry: &Entry<'_>, values: &mut Values<'_>) {
    let (old, new) = match &entry.change {
        Change::Insert(new) => (None, Some(new)),
        Change::Update(old, new) => (Some(old), Some(new)),
        Change::Delete(old) => (Some(old), None),
        Change::Truncate => (None, None),
    };
    let json = &mut *values.output.json;
    json.extend_from_slice(b"{\"op\":\"");
    json.extend_from_slice(entry.change.op().as_bytes());
    json.extend_from_slice(b"\",\"relation\":");
    json::integer(entry.relation.id.into(), json);

    let old_is_whole = old.is_none_or(|old| write_image(index, "old", old, values));
    let new_is_whole = new.is_none_or(|new| write_image(index, "new", new, values));
    // What an update did not send is what its new image lacks.
    let lacking = if new.is_some() {
        new.filter(|_| !new_is_whole)
    } else {
        old.filter(|_| !old_is_whole)
    };
    if let Some(row) = lacking {
        write_unchanged(row, values.output.json);
    }
    values.output.json.push(b'}');
}

/// Writes an image of a row, and says whether every column was sent.
fn write_image(entry: usize, image: &'static str, row: &Row<'_>, values: &mut Values<'_>) -> bool {
    let json = &mut *values.output.json;
    json.push(b',');
    json::string(image.as_bytes(), json);
    json.extend_from_slice(b":{");
    let start = json.len();
    let mut is_whole = true;
    for (column, cell) in row.cells() {
        if cell == Cell::Unsent {
            is_whole = false;
            continue;
        }
        let json = &mut *values.output.json;
        if json.len() > start {
            json.push(b',');
        }
        let name = column.name.as_bytes();
        json::string(name, json);
        json.push(b':');
        values.cell(
            column.kind,
            cell,
            Place {
                entry,
                image,
                column: name,
            },
        );
    }
    values.output.json.push(b'}');
    is_whole
}

/// Names the columns that the source did not send.
fn write_unchanged(row: &Row<'_>, json: &mut Vec<u8>) {
    json.extend_from_slice(b",\"unchanged\":[");
    let start = json.len();
    for (column, _) in row.cells().filter(|(_, cell)| *cell == Cell::Unsent) {
        if json.len() > start {
            json.push(b',');
        }
        json::string(column.name.as_bytes(), json);
    }
    json.push(b']');
}

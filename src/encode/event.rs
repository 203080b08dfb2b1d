//! What the outside is told about an entry: one JSON object on one line.

use super::json;
use super::patch::Place;
use super::time;
use super::value::Values;
use crate::cursor::EventId;
use crate::row::{Cell, Row};

/// What an event says besides its id, row and time: the same for all events of one kind.
#[derive(Debug)]
pub struct Template {
    /// From the type on, to where the subject stands.
    before: Vec<u8>,
    /// From the tenant on.
    after: Vec<u8>,
}

impl Template {
    /// The template for an operation on an entity: `entity.create`, say.
    pub fn new(kind: &str, entity: &str, operation: &str, tenant: &str) -> Self {
        let mut before = b"\",".to_vec();
        for (key, value) in [("type", kind), ("entity", entity), ("operation", operation)] {
            json::string(key.as_bytes(), &mut before);
            before.push(b':');
            json::string(value.as_bytes(), &mut before);
            before.push(b',');
        }
        before.extend_from_slice(b"\"subject\":");
        let mut after = b"\",\"tenant\":".to_vec();
        json::string(tenant.as_bytes(), &mut after);
        after.push(b'}');
        json::escape_unicode_breaks(&mut before, 0);
        json::escape_unicode_breaks(&mut after, 0);
        Self { before, after }
    }

    /// Writes the event of one row.
    pub fn write(&self, id: EventId, row: &Row<'_>, out: &mut Vec<u8>) {
        out.extend_from_slice(b"{\"id\":\"");
        id.write(out);
        out.extend_from_slice(&self.before);
        let start = out.len();
        subject(row, out);
        json::escape_unicode_breaks(out, start);
        out.extend_from_slice(b",\"time\":\"");
        time::write(id.time_ms, out);
        out.extend_from_slice(&self.after);
    }
}

/// Word to a reader that something is missing, so that it reads again.
#[derive(Clone, Copy, Debug)]
pub struct Gap<'a> {
    /// The entity.
    pub entity: &'a str,
    /// Why.
    pub reason: &'a str,
    /// How many events it lost, where that is known.
    pub dropped: Option<u64>,
    /// Whose it is.
    pub tenant: &'a str,
}

impl Gap<'_> {
    /// Writes it. Its id is the place where its reader goes on.
    pub fn write(&self, id: EventId, out: &mut Vec<u8>) {
        let start = out.len();
        out.extend_from_slice(b"{\"id\":\"");
        id.write(out);
        out.extend_from_slice(b"\",\"type\":\"gap\",\"entity\":");
        json::string(self.entity.as_bytes(), out);
        out.extend_from_slice(b",\"reason\":");
        json::string(self.reason.as_bytes(), out);
        if let Some(dropped) = self.dropped {
            out.extend_from_slice(b",\"dropped\":");
            json::integer(dropped, out);
        }
        out.extend_from_slice(b",\"tenant\":");
        json::string(self.tenant.as_bytes(), out);
        out.push(b'}');
        json::escape_unicode_breaks(out, start);
    }
}

/// Writes the row's primary key as a string: the value's JSON text, or that of an array where the key has
/// several columns.
fn subject(row: &Row<'_>, out: &mut Vec<u8>) {
    let keys = &row.relation.key_columns;
    let start = out.len();
    if let [key] = keys.as_slice() {
        value(row, key, out);
        if out.get(start) == Some(&b'"') {
            return;
        }
    } else {
        json::list(keys, out, |key, out| value(row, key, out));
    }
    let text = out.split_off(start);
    json::string(&text, out);
}

/// Writes the value of one of a row's columns.
fn value(row: &Row<'_>, name: &str, out: &mut Vec<u8>) {
    let sent = |cell: Cell<'_>| cell != Cell::Unsent;
    let mut cells = row.cells();
    match cells.find(|(column, cell)| column.name == name && sent(*cell)) {
        None => json::raw(b"null", out),
        Some((column, cell)) => {
            let place = Place {
                entry: 0,
                image: "new",
                column: name.as_bytes(),
            };
            Values::inline(out).cell(column.kind, cell, place);
        }
    }
}

/// Whether two rows have the same primary key.
pub fn same_key(a: &Row<'_>, b: &Row<'_>) -> bool {
    let is_key = |name: &String| a.relation.key_columns.contains(name);
    a.cells()
        .zip(b.cells())
        .filter(|((column, _), _)| is_key(&column.name))
        .all(|((_, a), (_, b))| a == b)
}

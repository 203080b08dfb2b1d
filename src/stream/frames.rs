//! The frames of a class: what its readers are told of an entry.

use crate::catalog::{Operation, Operations};
use crate::commit::{Change, Entry};
use crate::cursor::{Cursor, EventId};
use crate::encode::event::{Gap, Template, same_key};
use crate::encode::sse;
use crate::error::Code;
use crate::row::Row;

/// Makes the frames of one entity, of some of its operations.
#[derive(Debug)]
pub(super) struct Framer {
    pub(super) operations: Operations,
    templates: [(Vec<u8>, Template); 3],
    /// What every gap frame says besides its reason.
    entity: String,
    tenant: String,
}

/// The log that frames are made from, as ids name it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stamp {
    pub(super) tag: u32,
    pub(super) time_ms: u64,
}

/// Frames as they are written.
#[derive(Debug, Default)]
pub(super) struct Framed {
    /// The frames, one after the other.
    pub(super) bytes: Vec<u8>,
    /// The place after each, and where it ends.
    pub(super) ends: Vec<(Cursor, usize)>,
}

impl Framed {
    fn end(&mut self, cursor: Cursor) {
        self.ends.push((cursor, self.bytes.len()));
    }

    /// The place after the last one.
    pub(super) fn reached(&self) -> Option<Cursor> {
        self.ends.last().map(|(cursor, _)| *cursor)
    }

    /// Forgets them, and returns memory that only an unusual burst needed.
    pub(super) fn clear(&mut self) {
        const KEEP: usize = 1 << 16;
        self.bytes.clear();
        self.bytes.shrink_to(KEEP);
        self.ends.clear();
    }
}

impl Stamp {
    pub(super) const fn id(self, cursor: Cursor) -> EventId {
        EventId {
            time_ms: self.time_ms,
            tag: self.tag,
            cursor,
        }
    }
}

impl Framer {
    pub(super) fn new(entity: &str, operations: Operations, tenant: &str) -> Self {
        let templates = Operation::ALL.map(|operation| {
            let word = operation.as_str();
            let kind = format!("entity.{word}");
            let template = Template::new(&kind, entity, word, tenant);
            (kind.into_bytes(), template)
        });
        Self {
            operations,
            templates,
            entity: entity.to_owned(),
            tenant: tenant.to_owned(),
        }
    }

    /// Writes the frames of an entry, and notes for each the place after it and where it ends.
    pub(super) fn write(&self, entry: &Entry<'_>, stamp: Stamp, framed: &mut Framed) {
        let after = Cursor::after(entry.seq);
        if entry.relation.key_columns.is_empty() {
            return self.write_gap(stamp.id(after), Code::NoKey.as_str(), None, framed);
        }
        match &entry.change {
            Change::Insert(new) => self.event(Operation::Create, new, stamp.id(after), framed),
            Change::Update(old, new) if same_key(old, new) => {
                self.event(Operation::Update, new, stamp.id(after), framed);
            }
            Change::Update(old, new) => {
                let within = Cursor::within(entry.seq);
                self.event(Operation::Delete, old, stamp.id(within), framed);
                self.event(Operation::Create, new, stamp.id(after), framed);
            }
            Change::Delete(old) => self.event(Operation::Delete, old, stamp.id(after), framed),
            Change::Truncate => self.write_gap(stamp.id(after), "truncated", None, framed),
        }
    }

    fn event(&self, operation: Operation, row: &Row<'_>, id: EventId, framed: &mut Framed) {
        let Some((kind, template)) = self.templates.get(operation as usize) else {
            return;
        };
        if self.operations.contains(operation) {
            sse::event(id, kind, &mut framed.bytes, |out| {
                template.write(id, row, out);
            });
            framed.end(id.cursor);
        }
    }

    /// Writes the frame that says that something is missing before a place, and why.
    pub(super) fn write_gap(
        &self,
        id: EventId,
        reason: &str,
        dropped: Option<u64>,
        framed: &mut Framed,
    ) {
        let gap = self.gap(id, reason, dropped);
        framed.bytes.extend_from_slice(&gap);
        framed.end(id.cursor);
    }

    /// The frame that says that something is missing before this place, and why.
    pub(super) fn gap(&self, id: EventId, reason: &str, dropped: Option<u64>) -> Vec<u8> {
        let mut frame = Vec::new();
        let gap = Gap {
            entity: &self.entity,
            reason,
            dropped,
            tenant: &self.tenant,
        };
        sse::event(id, b"gap", &mut frame, |out| gap.write(id, out));
        frame
    }
}

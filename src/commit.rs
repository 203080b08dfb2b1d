//! What a source says happened: one transaction's entries, in the order the rows changed.

use std::rc::Rc;

use crate::row::{Relation, Row};

/// One transaction, or one part of a large one.
#[derive(Debug)]
pub struct Commit<'a> {
    /// The database's own id of the transaction.
    pub tx: u64,
    /// When it was committed, as the database reports it: milliseconds since 1970.
    pub time_ms: u64,
    /// Its entries, never none.
    pub entries: Vec<Entry<'a>>,
    /// Where this stands in a commit too large for one object.
    pub part: Part,
}

impl Commit<'_> {
    /// The number of the last entry, which is the commit's own.
    pub fn seq(&self) -> u64 {
        self.entries.last().map_or(0, |entry| entry.seq)
    }
}

/// Which part of a commit an object holds.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Part {
    /// All of it.
    Whole,
    /// The part of this number, from 1, with more to come.
    More(u32),
    /// The last part, of this number.
    Last(u32),
}

/// One row change.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    /// Its number in the log.
    pub seq: u64,
    /// The relation as it was defined then.
    pub relation: &'a Rc<Relation>,
    /// What happened to the row.
    pub change: Change<'a>,
}

/// What happened to a row, with the images the source has of it.
#[derive(Clone, Copy, Debug)]
pub enum Change<'a> {
    /// The row is there now.
    Insert(Row<'a>),
    /// The row changed from the old image to the new.
    Update(Row<'a>, Row<'a>),
    /// The row is gone; this is what it was.
    Delete(Row<'a>),
    /// All rows of the relation are gone.
    Truncate,
}

impl Change<'_> {
    /// The word for it.
    pub const fn op(&self) -> &'static str {
        match self {
            Self::Insert(_) => "insert",
            Self::Update(..) => "update",
            Self::Delete(_) => "delete",
            Self::Truncate => "truncate",
        }
    }
}

//! From log rows to commits: a reader goes along the log and gives each commit when its last row is there.

use std::cell::Cell;
use std::rc::Rc;

use crate::commit::{Change, Commit, Entry, Part};
use crate::decode::log::LogRow;
use crate::error::{Code, Error};
use crate::row::{Relation, Row};

/// A place in the log, and the rows read of a commit that is not complete yet.
#[derive(Debug, Default)]
pub struct Reader {
    /// The last entry read.
    after: u64,
    /// The bodies of the rows of the commit begun, each behind its length.
    begun: Vec<u8>,
    begun_tx: u64,
    /// How many parts of the commit begun were given already.
    parts: u32,
}

/// What stands next in the log: the rows of one transaction, or of a part of one.
#[derive(Debug)]
pub struct Group<'a> {
    rows: &'a [LogRow<'a>],
    part: Part,
    along: &'a Along<'a>,
}

/// Where a reader's way ends.
#[derive(Clone, Copy, Debug)]
pub struct End {
    /// The last entry.
    pub seq: u64,
    /// Whether it is within a commit, of which others will be given the rest.
    pub is_within: bool,
}

/// What a reader needs to know on its way.
#[derive(Debug)]
pub struct Along<'a> {
    /// Where the log ends, as far as this reader goes.
    pub end: End,
    /// How much of a commit is kept before a part of it is given.
    pub max_bytes: usize,
    /// The relations that rows name.
    pub relations: &'a Relations,
    /// Entries that may not be touched.
    pub unfit: &'a [u64],
    /// Where the last entry of the commit in hand is noted, for whoever finds the engine stopped.
    pub in_flight: &'a Cell<u64>,
}

/// The relation versions of a log, by number.
#[derive(Debug, Default)]
pub struct Relations {
    by_id: Vec<Rc<Relation>>,
}

impl Relations {
    /// The version of this number.
    pub fn find(&self, id: u32) -> Option<&Rc<Relation>> {
        self.by_id.get(usize::try_from(id).ok()?.checked_sub(1)?)
    }

    /// The number of the newest version known.
    pub fn last(&self) -> u32 {
        u32::try_from(self.by_id.len()).unwrap_or(u32::MAX)
    }

    /// Takes the next version. Numbers are dense, so what does not follow the last is refused.
    pub fn push(&mut self, relation: Relation) -> Result<&Rc<Relation>, Error> {
        if relation.id != self.last() + 1 {
            let message = format!("relation version {} follows {}", relation.id, self.last());
            return Err(Error::new(Code::LogCorrupt, message));
        }
        self.by_id.push(Rc::new(relation));
        self.by_id
            .last()
            .ok_or_else(|| Error::new(Code::LogCorrupt, "no relation"))
    }

    /// The newest version of each table that is not dropped.
    pub fn current(&self) -> impl Iterator<Item = &Rc<Relation>> {
        let mut seen = std::collections::BTreeSet::new();
        self.by_id
            .iter()
            .rev()
            .filter(move |relation| seen.insert(relation.table) && !relation.dropped)
    }
}

impl Reader {
    /// A reader that goes on after this entry.
    pub fn at(after: u64) -> Self {
        Self {
            after,
            ..Self::default()
        }
    }

    /// The last entry read.
    pub const fn after(&self) -> u64 {
        self.after
    }

    /// The last entry of the last commit given: where those stand who were given all.
    pub fn given(&self) -> u64 {
        let first = Bodies(&self.begun)
            .next()
            .and_then(|body| LogRow::parse(body).ok());
        first.map_or(self.after, |row| row.seq.saturating_sub(1))
    }

    /// Whether the last thing given was a part that others follow.
    pub const fn is_within(&self) -> bool {
        self.parts > 0
    }

    /// Goes on along `rows`, which follow what was read, and gives each complete commit to `each`.
    ///
    /// A commit is complete when a row of another transaction follows, or the log ends. One that grows past
    /// `max_bytes` is given in parts.
    pub fn read(
        &mut self,
        rows: &[LogRow<'_>],
        along: &Along<'_>,
        mut each: impl FnMut(&Group<'_>),
    ) -> Result<(), Error> {
        for group in rows.chunk_by(|a, b| a.tx == b.tx) {
            let (Some(first), Some(last)) = (group.first(), group.last()) else {
                continue;
            };
            if first.seq != self.after + 1 || !group.is_sorted_by(|a, b| a.seq + 1 == b.seq) {
                let message = format!("entry {} follows {}", first.seq, self.after);
                return Err(Error::new(Code::LogCorrupt, message));
            }
            let more = self.begun_tx == first.tx;
            if !self.begun.is_empty() && (!more || self.begun.len() >= along.max_bytes) {
                self.give_begun(more, along, &mut each)?;
            }
            if !more {
                self.parts = 0;
            }
            self.after = last.seq;
            let at_end = last.seq >= along.end.seq;
            let goes_on = at_end && along.end.is_within;
            let ended = at_end || rows.last().is_some_and(|row| row.tx != last.tx);
            if ended && !goes_on && self.begun.is_empty() && self.parts == 0 {
                along.give(group, Part::Whole, &mut each);
                continue;
            }
            self.begin(group);
            if ended {
                self.give_begun(goes_on, along, &mut each)?;
            }
        }
        Ok(())
    }

    fn begin(&mut self, group: &[LogRow<'_>]) {
        for row in group {
            self.begun_tx = row.tx;
            let length = u32::try_from(row.body.len()).unwrap_or(u32::MAX);
            self.begun.extend_from_slice(&length.to_le_bytes());
            self.begun.extend_from_slice(row.body);
        }
    }

    /// Gives the rows kept so far; with `more`, as a part that others follow.
    fn give_begun(
        &mut self,
        more: bool,
        along: &Along<'_>,
        each: &mut impl FnMut(&Group<'_>),
    ) -> Result<(), Error> {
        let bytes = std::mem::take(&mut self.begun);
        let rows = Bodies(&bytes)
            .map(LogRow::parse)
            .collect::<Result<Vec<_>, _>>()?;
        let part = match (more, self.parts) {
            (true, parts) => Part::More(parts + 1),
            (false, 0) => Part::Whole,
            (false, parts) => Part::Last(parts + 1),
        };
        self.parts = if more { self.parts + 1 } else { 0 };
        along.give(&rows, part, each);
        Ok(())
    }
}

impl<'a> Along<'a> {
    /// A row as the entry it is, or why it is none.
    pub fn entry(&self, row: &LogRow<'a>) -> Result<Entry<'a>, Error> {
        if self.unfit.contains(&row.seq) {
            let message = format!("entry {} stopped the engine twice", row.seq);
            return Err(Error::new(Code::Poison, message));
        }
        let corrupt =
            |what: &str| Error::new(Code::LogCorrupt, format!("entry {}: {what}", row.seq));
        let relation = self
            .relations
            .find(row.relation)
            .ok_or_else(|| corrupt("its relation is not in the log"))?;
        let image = |record: Option<&'a [u8]>| {
            let record = record.and_then(|record| std::str::from_utf8(record).ok());
            let row = record.map(|record| Row { relation, record });
            row.filter(Row::is_whole)
                .ok_or_else(|| corrupt("its row is not of its relation"))
        };
        let change = match row.op {
            b'i' => Change::Insert(image(row.new)?),
            b'u' => Change::Update(image(row.old)?, image(row.new)?),
            b'd' => Change::Delete(image(row.old)?),
            b't' => Change::Truncate,
            _ => return Err(corrupt("it is of no known kind")),
        };
        Ok(Entry {
            seq: row.seq,
            relation,
            change,
        })
    }

    fn give(&self, rows: &[LogRow<'_>], part: Part, each: &mut impl FnMut(&Group<'_>)) {
        let group = Group {
            rows,
            part,
            along: self,
        };
        self.in_flight.set(group.last());
        each(&group);
    }
}

impl<'a> Group<'a> {
    /// The entry before the first.
    pub fn before(&self) -> u64 {
        self.rows.first().map_or(0, |row| row.seq.saturating_sub(1))
    }

    /// The last entry.
    pub fn last(&self) -> u64 {
        self.rows.last().map_or(0, |row| row.seq)
    }

    /// The relation versions named, each once; nothing where one of them is not in the log.
    pub fn relations(&self) -> Option<Vec<&'a Rc<Relation>>> {
        let mut ids: Vec<u32> = Vec::new();
        for row in self.rows {
            if ids.last() != Some(&row.relation) {
                ids.push(row.relation);
            }
        }
        if ids.len() > 1 {
            ids.sort_unstable();
            ids.dedup();
        }
        ids.into_iter()
            .map(|id| self.along.relations.find(id))
            .collect()
    }

    /// What is wrong where a relation is not in the log.
    pub fn unknown_relation(&self) -> Error {
        let message = format!(
            "entry {} or one before it is of no known relation",
            self.last()
        );
        Error::new(Code::LogCorrupt, message)
    }

    /// The rows as a commit, or why they are none.
    pub fn commit(&self) -> Result<Commit<'a>, Error> {
        let entries = self
            .rows
            .iter()
            .map(|row| self.along.entry(row))
            .collect::<Result<_, _>>()?;
        let last = self
            .rows
            .last()
            .ok_or_else(|| Error::new(Code::LogCorrupt, "a commit without rows"))?;
        Ok(Commit {
            tx: last.tx,
            time_ms: last.time_ms,
            entries,
            part: self.part,
        })
    }
}

/// The bodies kept in one buffer, each behind its length.
struct Bodies<'a>(&'a [u8]);

impl<'a> Iterator for Bodies<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let (length, rest) = self.0.split_first_chunk::<4>()?;
        let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
        let (body, rest) = rest.split_at_checked(length)?;
        self.0 = rest;
        Some(body)
    }
}

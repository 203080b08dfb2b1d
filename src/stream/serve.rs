//! The log's entries on their way to those who listen.

use super::class::Class;
use super::frames::{Framed, Stamp};
use super::give::give;
use super::lag::Sink;
use super::{Counts, Streams};
use crate::commit::Entry;
use crate::cursor::Cursor;
use crate::decode::log::LogRow;
use crate::error::{Code, Error};
use crate::reader::Along;
use crate::record::Out;
use crate::row::Relation;

impl Streams {
    /// Takes the rows of a reading that began after an entry: what follows the last entry offered is offered to
    /// every class, and what lies before it is given to those who lack it.
    pub fn take(
        &mut self,
        after: u64,
        rows: &[LogRow<'_>],
        head: u64,
        along: &Along<'_>,
        out: &mut Out,
    ) {
        if !self.follows() {
            return;
        }
        // A log is dense: what should follow and does not is lost, and nobody is to wait for it.
        let first = rows.first().map_or(head, |row| row.seq.saturating_sub(1));
        if after < first {
            self.skip(after, first, Code::LogCorrupt.as_str());
        }
        let mut pairs = rows.windows(2);
        let hole = pairs.position(|pair| matches!(pair, [a, b] if a.seq + 1 != b.seq));
        let rows = rows
            .get(..hole.map_or(rows.len(), |at| at + 1))
            .unwrap_or_default();
        let (Some(first), Some(last)) = (rows.first(), rows.last()) else {
            return self.serve(out);
        };
        if first.seq <= self.at + 1 {
            let from = rows.partition_point(|row| row.seq <= self.at);
            self.advance(rows.get(from..).unwrap_or_default(), along);
        }
        // Whoever is current is given all of this reading before anybody is given something older.
        self.serve(out);
        let to = rows.partition_point(|row| row.seq <= self.at);
        let read = (first.seq - 1, last.seq.min(self.at));
        self.give_lacking(rows.get(..to).unwrap_or_default(), read, along, out);
    }

    /// Offers rows to every class.
    fn advance(&mut self, rows: &[LogRow<'_>], along: &Along<'_>) {
        let all: Vec<usize> = (0..self.classes.len()).collect();
        let n_readers: Vec<u64> = self
            .classes
            .iter()
            .map(|class| class.as_ref().map_or(0, Class::n_counted))
            .collect();
        let mut published: Vec<(usize, u64)> = Vec::new();
        for row in rows {
            self.at = row.seq;
            let concerned = match along.relations.find(row.relation) {
                Some(relation) => self.of(relation).to_vec(),
                None => all.clone(),
            };
            published.clear();
            for index in concerned {
                let Some((subscription, n_frames)) = self.offer(index, row, along) else {
                    continue;
                };
                let readers = n_readers.get(index).copied().unwrap_or(0);
                let matched = readers * n_frames;
                self.count(
                    subscription,
                    Counts {
                        matched,
                        ..Counts::default()
                    },
                );
                let publication = self.publication(subscription);
                match published.iter_mut().find(|(it, _)| *it == publication) {
                    Some((_, most)) => *most = n_frames.max(*most),
                    None => published.push((publication, n_frames)),
                }
            }
            self.published += published.iter().map(|(_, n_frames)| n_frames).sum::<u64>();
        }
        let tip = Cursor::after(self.at);
        for class in self.classes.iter_mut().flatten() {
            class.tip = tip;
        }
    }

    /// Offers a row to a class, and tells whose it is and how many frames came of it.
    fn offer(&mut self, index: usize, row: &LogRow<'_>, along: &Along<'_>) -> Option<(usize, u64)> {
        let stamp = self.stamp(row);
        let class = self.class_mut(index)?;
        let entry = read(row, along);
        let entry = entry
            .as_ref()
            .map_err(|error| (Cursor::after(row.seq), error.code.as_str()));
        Some((class.subscription, class.push(stamp, entry)))
    }

    const fn stamp(&self, row: &LogRow<'_>) -> Stamp {
        Stamp {
            tag: self.tag,
            time_ms: row.time_ms,
        }
    }

    /// Gives rows to those who lack them: who stand where the reading began or later, and have room.
    fn give_lacking(
        &mut self,
        rows: &[LogRow<'_>],
        (before, last): (u64, u64),
        along: &Along<'_>,
        out: &mut Out,
    ) {
        let mut framed = Framed::default();
        for index in 0..self.classes.len() {
            let Some(class) = self.class(index) else {
                continue;
            };
            let mut groups: Vec<Group> = Vec::new();
            for (id, lag) in class.lagging.iter() {
                let stands_there = (before..last).contains(&lag.after.seq());
                if stands_there && lag.sink == Sink::Ready && !class.holds(lag.after) {
                    Group::add(&mut groups, lag.after, *id);
                }
            }
            if groups.is_empty() {
                continue;
            }
            for row in rows {
                let concerns = match along.relations.find(row.relation) {
                    Some(relation) => self.of(relation).binary_search(&index).is_ok(),
                    None => true,
                };
                if !concerns {
                    continue;
                }
                let stamp = self.stamp(row);
                let Some(class) = self.class_mut(index) else {
                    break;
                };
                framed.clear();
                match read(row, along) {
                    Ok(entry) => class.framer.write(&entry, stamp, &mut framed),
                    Err(error) => {
                        let id = stamp.id(Cursor::after(row.seq));
                        let reason = error.code.as_str();
                        class.framer.write_gap(id, reason, None, &mut framed);
                    }
                }
                let mut start = 0;
                for (cursor, end) in &framed.ends {
                    let frame = framed.bytes.get(start..*end).unwrap_or_default();
                    for group in groups.iter_mut().filter(|it| it.after < *cursor) {
                        group.bytes.extend_from_slice(frame);
                        group.n_frames += 1;
                        group.time_ms = row.time_ms;
                    }
                    start = *end;
                }
            }
            self.hand_over(index, groups, Cursor::after(last), out);
        }
    }

    fn hand_over(&mut self, index: usize, groups: Vec<Group>, reached: Cursor, out: &mut Out) {
        let Some(class) = self.class_mut(index) else {
            return;
        };
        let mut counts = Counts::default();
        for group in groups {
            for id in &group.ids {
                let Some(lag) = class.lagging.get_mut(*id) else {
                    continue;
                };
                lag.after = lag.after.max(reached);
                lag.time_ms = lag.time_ms.max(group.time_ms);
                counts.delivered += group.n_frames;
                match &mut lag.n_before {
                    Some(before) => *before += group.n_frames,
                    None => counts.matched += group.n_frames,
                }
            }
            if group.n_frames > 0 {
                give(&group.ids, Some(reached), &group.bytes, out);
            }
        }
        let subscription = class.subscription;
        self.count(subscription, counts);
    }

    /// The classes that concern a relation.
    fn of(&mut self, relation: &Relation) -> &[usize] {
        let Self {
            classes,
            by_relation,
            catalog,
            ..
        } = self;
        by_relation.entry(relation.id).or_insert_with(|| {
            let concerns = |class: &Class| {
                let source = catalog
                    .as_ref()
                    .and_then(|it| it.source(class.subscription));
                source.is_some_and(|(_, entity)| {
                    entity.relation == relation.name && entity.namespace == relation.namespace
                })
            };
            let all = classes.iter().enumerate();
            all.filter(|(_, class)| class.as_ref().is_some_and(concerns))
                .map(|(index, _)| index)
                .collect()
        })
    }

    fn publication(&self, subscription: usize) -> usize {
        let catalog = self.catalog.as_ref();
        let subscription = catalog.and_then(|it| it.subscriptions.get(subscription));
        subscription.map_or(0, |it| it.publication)
    }

    pub(super) fn count(&mut self, subscription: usize, more: Counts) {
        if let Some(counts) = self.counts.get_mut(subscription) {
            counts.matched += more.matched;
            counts.delivered += more.delivered;
            counts.dropped += more.dropped;
        }
    }
}

/// A row as the entry it is, noted as the one in hand.
fn read<'a>(row: &LogRow<'a>, along: &Along<'a>) -> Result<Entry<'a>, Error> {
    along.in_flight.set(row.seq);
    let entry = along.entry(row);
    #[cfg(feature = "fault")]
    crate::fault::at_entry(entry.as_ref().ok());
    entry
}

/// Those who stand at one place, and what they are given from there on.
struct Group {
    after: Cursor,
    ids: Vec<u32>,
    bytes: Vec<u8>,
    n_frames: u64,
    time_ms: u64,
}

impl Group {
    /// Adds somebody to those who stand at a place.
    fn add(groups: &mut Vec<Self>, after: Cursor, id: u32) {
        match groups.binary_search_by_key(&after, |group| group.after) {
            Ok(place) => {
                if let Some(group) = groups.get_mut(place) {
                    group.ids.push(id);
                }
            }
            Err(place) => {
                let group = Self {
                    after,
                    ids: vec![id],
                    bytes: Vec::new(),
                    n_frames: 0,
                    time_ms: 0,
                };
                groups.insert(place, group);
            }
        }
    }
}

//! Which of many programs may hold for a row, without asking each.

use std::collections::BTreeMap;

use super::cell;
use super::eval::{Environment, Root};
use super::node::{Binary, Node, Slot};
use super::value::Value;
use super::{Id, Program};
use crate::row::{Cell, Kind, Scalar};

/// Programs by the equality that each demands.
///
/// A program that demands a column to be equal to a constant is found by the cell's text, however many
/// others there are; one that demands none is always found. What is found may hold, and is to be evaluated.
#[derive(Debug, Default)]
pub struct Index {
    groups: Vec<Group>,
    others: Vec<u32>,
}

/// The programs that compare one column.
#[derive(Debug)]
struct Group {
    root: usize,
    column: usize,
    by_hash: BTreeMap<u64, Vec<u32>>,
}

impl Group {
    const fn place(&self) -> (usize, usize) {
        (self.root, self.column)
    }
}

impl Index {
    /// Adds a program under a number of the caller's. All programs here must be of one schema.
    pub fn insert(&mut self, id: u32, program: &Program) {
        match program.demand() {
            Some((slot, text)) => {
                let at = self
                    .groups
                    .partition_point(|group| group.place() < slot.place());
                if self
                    .groups
                    .get(at)
                    .is_none_or(|group| group.place() != slot.place())
                {
                    let (root, column) = slot.place();
                    let by_hash = BTreeMap::new();
                    self.groups.insert(
                        at,
                        Group {
                            root,
                            column,
                            by_hash,
                        },
                    );
                }
                if let Some(group) = self.groups.get_mut(at) {
                    group.by_hash.entry(hash(&text)).or_default().push(id);
                }
            }
            None => self.others.push(id),
        }
    }

    /// Takes a program out again.
    pub fn remove(&mut self, id: u32, program: &Program) {
        match program.demand() {
            Some((slot, text)) => {
                let (hash, place) = (hash(&text), slot.place());
                let group = self.groups.iter_mut().find(|group| group.place() == place);
                let Some(group) = group else { return };
                if let Some(ids) = group.by_hash.get_mut(&hash) {
                    ids.retain(|known| *known != id);
                    if ids.is_empty() {
                        group.by_hash.remove(&hash);
                    }
                }
            }
            None => self.others.retain(|known| *known != id),
        }
    }

    /// Gives each program that may hold.
    pub fn find(&self, environment: &Environment<'_>, each: &mut dyn FnMut(u32)) {
        for group in &self.groups {
            let Some(Root::Row(cells)) = environment.roots.get(group.root) else {
                // What is no row has no text to look for.
                group
                    .by_hash
                    .values()
                    .flatten()
                    .copied()
                    .for_each(&mut *each);
                continue;
            };
            let cell = cells.get(group.column).copied().unwrap_or(Cell::Unsent);
            let Some(text) = cell::text(cell) else {
                continue;
            };
            let found = group.by_hash.get(&hash(&text));
            found.into_iter().flatten().copied().for_each(&mut *each);
        }
        self.others.iter().copied().for_each(each);
    }
}

/// FNV-1a, eight bytes at a time. What collides is told apart by evaluation.
fn hash(text: &str) -> u64 {
    const PRIME: u64 = 0x0100_0000_01b3;
    let (words, rest) = text.as_bytes().as_chunks::<8>();
    let mix = |hash: u64, word: u64| {
        let mixed = (hash ^ word).wrapping_mul(PRIME);
        mixed ^ (mixed >> 29)
    };
    let hash = words.iter().fold(0xcbf2_9ce4_8422_2325, |hash, word| {
        mix(hash, u64::from_le_bytes(*word))
    });
    rest.iter()
        .fold(hash, |hash, byte| mix(hash, u64::from(*byte)))
}

impl Program {
    /// The column that must have this text for the program to hold, if it demands one.
    fn demand(&self) -> Option<(Slot, String)> {
        let all = match self.nodes.get(self.whole)? {
            Node::And(all) => all.as_slice(),
            _ => &[self.whole] as &[Id],
        };
        let mut root = None;
        for id in all {
            let Node::Test(slot, operator, constant) = self.nodes.get(*id)? else {
                return None;
            };
            // What comes before must be unable to fail, since a failure is another answer than no.
            if *root.get_or_insert(slot.root) != slot.root {
                return None;
            }
            match operator {
                Binary::Equal => return Some((*slot, only_text(*slot, constant)?)),
                Binary::NotEqual
                | Binary::In
                | Binary::Contains
                | Binary::StartsWith
                | Binary::EndsWith => {}
                _ => return None,
            }
        }
        None
    }
}

/// The text of all cells that are equal to a constant, where there is one text alone.
fn only_text(slot: Slot, constant: &Value) -> Option<String> {
    match (slot.kind, constant) {
        (Kind::Scalar(Scalar::Text), Value::Text(text)) => Some(text.to_string()),
        (Kind::Scalar(Scalar::Int), Value::Int(number)) => Some(number.to_string()),
        (Kind::Scalar(Scalar::Bool), Value::Bool(truth)) => {
            Some((if *truth { "t" } else { "f" }).to_owned())
        }
        _ => None,
    }
}

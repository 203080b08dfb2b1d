//! The compiled form: nodes in one array, children before their parents, so that dropping it is no recursion.

use std::rc::Rc;

use super::function::Function;
use super::pattern::Pattern;
use super::value::Value;
use crate::row::Kind;

/// A node's index.
pub(super) type Id = usize;

/// The operators between two values.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Binary {
    Add,
    Contains,
    Divide,
    EndsWith,
    Equal,
    Greater,
    GreaterOrEqual,
    In,
    Less,
    LessOrEqual,
    Matches,
    Modulo,
    Multiply,
    NotEqual,
    Power,
    Range,
    StartsWith,
    Subtract,
}

impl Binary {
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Add => "+",
            Self::Contains => "contains",
            Self::Divide => "/",
            Self::EndsWith => "endsWith",
            Self::Equal => "==",
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
            Self::In => "in",
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Matches => "matches",
            Self::Modulo => "%",
            Self::Multiply => "*",
            Self::NotEqual => "!=",
            Self::Power => "**",
            Self::Range => "..",
            Self::StartsWith => "startsWith",
            Self::Subtract => "-",
        }
    }

    /// The operator that says the same with its sides exchanged, of a comparison.
    pub(super) const fn flipped(self) -> Option<Self> {
        Some(match self {
            Self::Equal | Self::NotEqual => self,
            Self::Greater => Self::Less,
            Self::GreaterOrEqual => Self::LessOrEqual,
            Self::Less => Self::Greater,
            Self::LessOrEqual => Self::GreaterOrEqual,
            _ => return None,
        })
    }
}

/// A cell's place: the root, and the column of its relation.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Slot {
    pub(super) root: usize,
    pub(super) column: usize,
    pub(super) kind: Kind,
    /// Whether a root that is nil makes the whole chain nil.
    pub(super) is_optional: bool,
}

impl Slot {
    pub(super) const fn place(self) -> (usize, usize) {
        (self.root, self.column)
    }
}

#[derive(Clone, Debug)]
pub(super) enum Node {
    Accumulator,
    And(Vec<Id>),
    Array(Vec<Id>),
    Binary(Binary, Id, Id),
    Call(Function, Vec<Id>),
    /// The end of what an optional step makes nil.
    Chain(Id),
    Coalesce(Id, Id),
    Column(Slot),
    Constant(Value),
    /// All roots as a map.
    Environment,
    If(Id, Id, Id),
    Index,
    Item,
    Let(usize, Id, Id),
    Map(Vec<(Id, Id)>),
    Matches(Id, Pattern),
    Member {
        of: Id,
        key: Id,
        is_optional: bool,
    },
    Method(Id, Rc<str>, Vec<Id>),
    Negate(Id),
    Not(Id),
    Or(Vec<Id>),
    Root(usize),
    Sequence(Vec<Id>),
    Slice(Id, Option<Id>, Option<Id>),
    /// A column compared with a constant, on the cell's text.
    Test(Slot, Binary, Value),
    Variable(usize),
}

impl Node {
    /// Goes through the nodes that it stands on.
    pub(super) fn children(&self, each: &mut dyn FnMut(Id)) {
        match self {
            Self::Accumulator
            | Self::Column(_)
            | Self::Constant(_)
            | Self::Environment
            | Self::Index
            | Self::Item
            | Self::Root(_)
            | Self::Test(..)
            | Self::Variable(_) => {}
            Self::And(all)
            | Self::Array(all)
            | Self::Call(_, all)
            | Self::Or(all)
            | Self::Sequence(all) => all.iter().copied().for_each(each),
            Self::Binary(_, left, right)
            | Self::Coalesce(left, right)
            | Self::Let(_, left, right)
            | Self::Member {
                of: left,
                key: right,
                ..
            } => [*left, *right].into_iter().for_each(each),
            Self::Chain(of) | Self::Matches(of, _) | Self::Negate(of) | Self::Not(of) => each(*of),
            Self::If(condition, then, other) => {
                [*condition, *then, *other].into_iter().for_each(each);
            }
            Self::Map(pairs) => pairs
                .iter()
                .flat_map(|(key, value)| [*key, *value])
                .for_each(each),
            Self::Method(of, _, all) => [*of].iter().chain(all).copied().for_each(each),
            Self::Slice(of, from, to) => {
                [Some(*of), *from, *to].into_iter().flatten().for_each(each);
            }
        }
    }
}

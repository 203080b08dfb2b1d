//! What an expression may name, and of which types it is.

use std::rc::Rc;

use crate::row::{Kind, Relation, Scalar};

/// The type of an expression, as far as it is known before evaluation.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Type {
    pub(super) base: Base,
    /// Of an array, what it holds.
    pub(super) item: Base,
}

/// A type without what it holds.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Base {
    /// Not known before evaluation.
    Any,
    Nil,
    Bool,
    Int,
    Float,
    Text,
    Time,
    Duration,
    Array,
    Map,
}

impl Type {
    /// A value that may be anything, nil too.
    pub const ANY: Self = Self::of(Base::Any);
    /// A string.
    pub const TEXT: Self = Self::of(Base::Text);
    /// A map of anything.
    pub const MAP: Self = Self::of(Base::Map);

    pub(super) const fn of(base: Base) -> Self {
        Self {
            base,
            item: Base::Any,
        }
    }

    pub(super) const fn array(item: Base) -> Self {
        Self {
            base: Base::Array,
            item,
        }
    }

    /// What a column's cells are. A cell may also be nil.
    pub(super) const fn of_kind(kind: Kind) -> Self {
        match kind {
            Kind::Scalar(scalar) => Self::of(Base::of_scalar(scalar)),
            Kind::Array(_) => Self::array(Base::Any),
        }
    }
}

impl Base {
    const fn of_scalar(scalar: Scalar) -> Self {
        match scalar {
            Scalar::Bool => Self::Bool,
            Scalar::Bytes | Scalar::Text => Self::Text,
            Scalar::Decimal | Scalar::Float => Self::Float,
            Scalar::Int => Self::Int,
            Scalar::Json => Self::Any,
            Scalar::Time => Self::Time,
        }
    }

    pub(super) const fn is_number(self) -> bool {
        matches!(self, Self::Int | Self::Float)
    }

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Any => "anything",
            Self::Nil => "nil",
            Self::Bool => "a boolean",
            Self::Int => "an integer",
            Self::Float => "a number",
            Self::Text => "a string",
            Self::Time => "a date",
            Self::Duration => "a duration",
            Self::Array => "an array",
            Self::Map => "a map",
        }
    }
}

/// What a name at the root of an expression stands for.
#[derive(Clone, Debug)]
pub enum Shape {
    /// A row of a relation, or nil where there is none.
    Row(Rc<Relation>),
    /// A value.
    Value(Type),
}

/// The names that an expression may use.
#[derive(Clone, Debug, Default)]
pub struct Schema {
    pub(super) roots: Vec<(Rc<str>, Shape)>,
    pub(super) bare: Option<usize>,
    pub(super) is_open: bool,
}

impl Schema {
    /// The names of a condition on a relation's entries.
    ///
    /// `payload` is the row as it is now, or as it was last; `new` and `old` are its images, and bare names the
    /// columns of `new`; `op` is what happened, `operation` the same in the words of the wire; then `claims`.
    pub fn of_entries(relation: &Rc<Relation>) -> Self {
        let row = || Shape::Row(Rc::clone(relation));
        let text = || Shape::Value(Type::TEXT);
        Self::default()
            .with("payload", row())
            .with("new", row())
            .with("old", row())
            .with("op", text())
            .with("operation", text())
            .with("claims", Shape::Value(Type::ANY))
            .with_bare("new")
    }

    /// Where every other name is nil, rather than a fault.
    pub fn open() -> Self {
        Self {
            is_open: true,
            ..Self::default()
        }
    }

    /// With one more name. Environments hold what the names stand for in the same order.
    #[must_use]
    pub fn with(mut self, name: &str, shape: Shape) -> Self {
        self.roots.push((name.into(), shape));
        self
    }

    /// With the columns of this root, a row, as names of their own, where no root has them.
    #[must_use]
    pub fn with_bare(mut self, name: &str) -> Self {
        self.bare = self
            .roots
            .iter()
            .position(|(root, _)| root.as_ref() == name);
        self
    }

    /// The root of this name.
    pub(super) fn root(&self, name: &str) -> Option<usize> {
        self.roots
            .iter()
            .position(|(root, _)| root.as_ref() == name)
    }

    /// The relation that a root is a row of.
    pub(super) fn relation(&self, root: usize) -> Option<&Rc<Relation>> {
        match &self.roots.get(root)?.1 {
            Shape::Row(relation) => Some(relation),
            Shape::Value(_) => None,
        }
    }

    /// The column of a root, and its type.
    pub(super) fn column(&self, root: usize, name: &str) -> Option<(usize, Kind)> {
        let columns = &self.relation(root)?.columns;
        let index = columns.iter().position(|column| column.name == name)?;
        Some((index, columns.get(index)?.kind))
    }
}

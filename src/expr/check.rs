//! Building nodes: names are looked up, types are checked, and what can be made ready before evaluation is.

mod calls;
mod names;
mod operators;
mod types;

use std::rc::Rc;

pub(super) use names::unknown;

use super::fault::{Fault, Position};
use super::node::{Id, Node};
use super::schema::{Base, Schema, Type};
use super::value::Value;
use types::constant_type;

/// How many nodes an expression may have.
pub const MAX_NODES: usize = 10_000;
/// How deep its nodes may stand within each other: a long sum is as deep as it is long.
pub const MAX_DEPTH: u16 = 128;
/// How many regular expressions an expression may have ready, since each may be large.
pub const MAX_PATTERNS: usize = 32;

type Checked<T> = Result<T, Fault>;

/// Nodes being made.
#[derive(Debug)]
pub(super) struct Build<'s> {
    pub(super) schema: &'s Schema,
    pub(super) nodes: Vec<Node>,
    pub(super) at: Vec<Position>,
    types: Vec<Type>,
    /// The texts of literals that a float cannot hold, for comparing them with decimals.
    pub(super) exact: Vec<(Id, Rc<str>)>,
    depths: Vec<u16>,
    /// The variables in force, the innermost last, with the node of each one's value.
    variables: Vec<(Rc<str>, Id)>,
    pub(super) n_variables: usize,
    /// For each predicate around: what its items are, and whether it has an accumulator.
    scopes: Vec<(Type, bool)>,
    n_patterns: usize,
}

impl<'s> Build<'s> {
    pub(super) const fn new(schema: &'s Schema) -> Self {
        Self {
            schema,
            nodes: Vec::new(),
            at: Vec::new(),
            types: Vec::new(),
            exact: Vec::new(),
            depths: Vec::new(),
            variables: Vec::new(),
            n_variables: 0,
            scopes: Vec::new(),
            n_patterns: 0,
        }
    }

    pub(super) fn type_of(&self, id: Id) -> Type {
        self.types.get(id).copied().unwrap_or(Type::ANY)
    }

    fn base(&self, id: Id) -> Base {
        self.type_of(id).base
    }

    fn node(&self, id: Id) -> Option<&Node> {
        self.nodes.get(id)
    }

    pub(super) fn constant(&self, id: Id) -> Option<&Value> {
        match self.node(id)? {
            Node::Constant(value) => Some(value),
            _ => None,
        }
    }

    /// Adds a node whose type follows from its own form.
    pub(super) fn push(&mut self, node: Node, at: Position) -> Checked<Id> {
        let typed = self.infer(&node, at)?;
        self.add(node, typed, at)
    }

    fn add(&mut self, node: Node, typed: Type, at: Position) -> Checked<Id> {
        let mut depth = 0;
        node.children(&mut |child| depth = depth.max(self.depths.get(child).copied().unwrap_or(0)));
        if depth >= MAX_DEPTH || self.nodes.len() >= MAX_NODES {
            return Err(Fault::bad(at, "this expression is too large or too deep"));
        }
        self.nodes.push(node);
        self.types.push(typed);
        self.depths.push(depth + 1);
        self.at.push(at);
        Ok(self.nodes.len() - 1)
    }

    fn infer(&self, node: &Node, at: Position) -> Checked<Type> {
        Ok(match node {
            Node::Constant(value) => constant_type(value),
            Node::Not(operand) => {
                self.wants(*operand, Base::Bool, at)?;
                Type::of(Base::Bool)
            }
            Node::If(condition, then, other) => {
                self.wants(*condition, Base::Bool, at)?;
                self.either(*then, *other)
            }
            Node::Coalesce(left, right) => self.either(*left, *right),
            Node::Chain(of) | Node::Let(_, _, of) => self.type_of(*of),
            Node::Sequence(all) => all.last().map_or(Type::ANY, |last| self.type_of(*last)),
            Node::Slice(of, from, to) => {
                if !matches!(self.base(*of), Base::Any | Base::Array | Base::Text) {
                    return Err(self.mismatch(*of, "a string or an array", at));
                }
                for bound in [from, to].into_iter().flatten() {
                    self.wants(*bound, Base::Int, at)?;
                }
                self.type_of(*of)
            }
            Node::Map(pairs) => {
                for (key, _) in pairs {
                    self.wants(*key, Base::Text, at)?;
                }
                Type::MAP
            }
            _ => Type::ANY,
        })
    }

    /// The type of what is one or the other.
    fn either(&self, left: Id, right: Id) -> Type {
        let (left, right) = (self.type_of(left), self.type_of(right));
        match (left.base, right.base) {
            (Base::Nil, _) => right,
            (_, Base::Nil) => left,
            _ if left == right => left,
            _ => Type::ANY,
        }
    }

    fn mismatch(&self, id: Id, expected: &str, at: Position) -> Fault {
        let message = ["expected ", expected, " and found ", self.base(id).name()];
        Fault::bad(at, message.concat())
    }

    fn wants(&self, id: Id, wanted: Base, at: Position) -> Checked<()> {
        let base = self.base(id);
        let fits = base == Base::Any
            || wanted == Base::Any
            || base == wanted
            || wanted == Base::Float && base == Base::Int;
        if fits {
            Ok(())
        } else {
            Err(self.mismatch(id, wanted.name(), at))
        }
    }
}

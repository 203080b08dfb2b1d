//! Names: what each stands for, and the nearest to one that stands for nothing.

use std::rc::Rc;

use super::{Build, Checked};
use crate::expr::fault::{Fault, Position};
use crate::expr::function::{FUNCTIONS, Function};
use crate::expr::node::{Id, Node, Slot};
use crate::expr::schema::{Base, Shape, Type};
use crate::expr::value::Value;

/// How long a name may be for another to be looked for that is like it.
const MAX_LIKENESS: usize = 64;

/// What is unknown, and the known name that is most like it.
pub(in crate::expr) fn unknown<'n>(
    what: &str,
    name: &str,
    known: impl Iterator<Item = &'n str>,
    at: Position,
) -> Fault {
    let lower = name.to_ascii_lowercase();
    let alike = |known: &str| strsim::damerau_levenshtein(&known.to_ascii_lowercase(), &lower);
    let near = known
        .filter(|known| known.len().max(name.len()) <= MAX_LIKENESS)
        .map(|known| (alike(known), known))
        .min_by_key(|(distance, _)| *distance)
        .filter(|(distance, _)| *distance <= 3);
    let hint = near.map_or_else(String::new, |(_, near)| {
        [": did you mean ", near, "?"].concat()
    });
    Fault::bad(at, ["there is no ", what, " ", name, &hint].concat())
}

impl Build<'_> {
    pub(in crate::expr) fn declare(
        &mut self,
        name: Rc<str>,
        value: Id,
        at: Position,
    ) -> Checked<usize> {
        let is_variable = self.variables.iter().any(|(known, _)| *known == name);
        let is_function = FUNCTIONS
            .iter()
            .any(|(_, known, ..)| *known == name.as_ref());
        if is_variable || is_function || self.schema.root(&name).is_some() {
            return Err(Fault::bad(
                at,
                ["the name ", &name, " is taken already"].concat(),
            ));
        }
        self.variables.push((name, value));
        self.n_variables = self.n_variables.max(self.variables.len());
        Ok(self.variables.len() - 1)
    }

    pub(in crate::expr) fn forget(&mut self) {
        self.variables.pop();
    }

    /// Goes into a predicate over the items of a value.
    pub(in crate::expr) fn enter(&mut self, over: Option<Id>, function: Function) {
        let of = over.map_or(Type::ANY, |over| self.type_of(over));
        self.scopes
            .push((Type::of(of.item), function == Function::Reduce));
    }

    pub(in crate::expr) fn leave(&mut self) {
        self.scopes.pop();
    }

    pub(in crate::expr) fn pointer(&mut self, name: Option<&str>, at: Position) -> Checked<Id> {
        let Some((item, accumulates)) = self.scopes.last().copied() else {
            return Err(Fault::bad(
                at,
                "expected a value: # and . stand for an item within a predicate",
            ));
        };
        match name {
            None => self.add(Node::Item, item, at),
            Some("index") => self.add(Node::Index, Type::of(Base::Int), at),
            Some("acc") if accumulates => self.add(Node::Accumulator, Type::ANY, at),
            Some(name) => Err(unknown("pointer", name, ["index", "acc"].into_iter(), at)),
        }
    }

    pub(in crate::expr) fn named(&mut self, name: &str, at: Position) -> Checked<Id> {
        if let Some(slot) = self
            .variables
            .iter()
            .rposition(|(known, _)| known.as_ref() == name)
        {
            let value = self.variables.get(slot).map_or(0, |(_, value)| *value);
            return self.add(Node::Variable(slot), self.type_of(value), at);
        }
        if name == "$env" {
            return self.add(Node::Environment, Type::MAP, at);
        }
        if let Some(root) = self.schema.root(name) {
            return self.root(root, at);
        }
        if let Some(root) = self.schema.bare
            && let Some((column, kind)) = self.schema.column(root, name)
        {
            let slot = Slot {
                root,
                column,
                kind,
                is_optional: false,
            };
            return self.add(Node::Column(slot), Type::of_kind(kind), at);
        }
        if self.schema.is_open {
            return self.add(Node::Constant(Value::Nil), Type::ANY, at);
        }
        let bare = self.schema.bare.and_then(|root| self.schema.relation(root));
        let columns = bare.into_iter().flat_map(|relation| &relation.columns);
        let roots = self.schema.roots.iter().map(|(root, _)| root.as_ref());
        let known = roots.chain(columns.map(|column| column.name.as_str()));
        Err(unknown("name", name, known, at))
    }

    fn root(&mut self, root: usize, at: Position) -> Checked<Id> {
        let typed = match self.schema.roots.get(root) {
            Some((_, Shape::Value(typed))) => *typed,
            Some((_, Shape::Row(_))) => Type::MAP,
            None => Type::ANY,
        };
        self.add(Node::Root(root), typed, at)
    }

    pub(in crate::expr) fn member(
        &mut self,
        of: Id,
        key: Id,
        is_optional: bool,
        at: Position,
    ) -> Checked<Id> {
        let name = self.constant(key).and_then(Value::as_text).cloned();
        match (self.node(of), name) {
            (Some(Node::Root(root)), Some(name)) if self.schema.relation(*root).is_some() => {
                let root = *root;
                if let Some((column, kind)) = self.schema.column(root, &name) {
                    let slot = Slot {
                        root,
                        column,
                        kind,
                        is_optional,
                    };
                    return self.add(Node::Column(slot), Type::of_kind(kind), at);
                }
                let relation = self.schema.relation(root).into_iter();
                let columns = relation.flat_map(|relation| &relation.columns);
                return Err(unknown(
                    "column",
                    &name,
                    columns.map(|column| column.name.as_str()),
                    at,
                ));
            }
            (Some(Node::Environment), Some(name)) => {
                return match self.schema.root(&name) {
                    Some(root) => self.root(root, at),
                    None if is_optional || self.schema.is_open => {
                        self.add(Node::Constant(Value::Nil), Type::ANY, at)
                    }
                    None => self.named(&name, at),
                };
            }
            _ => {}
        }
        let typed = match self.base(of) {
            Base::Any => Type::ANY,
            Base::Map => {
                self.wants(key, Base::Text, at)
                    .or_else(|fault| self.may_be_grouped(of, fault))?;
                Type::ANY
            }
            Base::Array => {
                self.wants(key, Base::Int, at)?;
                Type::of(self.type_of(of).item)
            }
            Base::Text => {
                self.wants(key, Base::Int, at)?;
                Type::of(Base::Int)
            }
            _ => return Err(self.mismatch(of, "something that has members", at)),
        };
        self.add(
            Node::Member {
                of,
                key,
                is_optional,
            },
            typed,
            at,
        )
    }

    /// Only maps that functions make may have keys that are no strings.
    fn may_be_grouped(&self, of: Id, fault: Fault) -> Checked<()> {
        match self.node(of) {
            Some(Node::Call(..) | Node::Variable(_)) => Ok(()),
            _ => Err(fault),
        }
    }
}

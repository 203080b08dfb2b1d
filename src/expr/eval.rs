//! The evaluator: one walk over the nodes, counted.

mod cells;

use std::rc::Rc;

use super::call;
use super::compare;
use super::fault::Fault;
use super::function::Function;
use super::method;
use super::node::{Binary, Id, Node};
use super::operate;
use super::value::{Limits, Value};
use super::{Program, predicate};
use crate::row::Cell;

/// What an expression is evaluated on.
#[derive(Clone, Copy, Debug)]
pub struct Environment<'a> {
    /// What the roots of the schema stand for, in its order. One that is left out is nil.
    pub roots: &'a [Root<'a>],
    /// What `now` gives, in milliseconds since 1970.
    pub now_ms: u64,
}

/// What a root stands for.
#[derive(Clone, Copy, Debug)]
pub enum Root<'a> {
    /// Nothing, as the old row of an insert.
    Nil,
    /// A row's cells, in the order of its relation's columns.
    Row(&'a [Cell<'a>]),
    /// A value. Where the schema has a row, a map of its columns.
    Value(&'a Value),
}

impl<'a> Root<'a> {
    /// What the names of [`super::Schema::of_entries`] stand for, given the images of a row.
    pub const fn of_entry(
        new: Self,
        old: Self,
        op: Self,
        operation: Self,
        claims: &'a Value,
    ) -> [Self; 6] {
        let payload = if matches!(new, Self::Nil | Self::Value(Value::Nil)) {
            old
        } else {
            new
        };
        [payload, new, old, op, operation, Self::Value(claims)]
    }
}

/// Why a node has no value.
pub(super) enum Stop {
    Fault(Fault),
    /// What stands before `?.` is nil.
    Nil,
}

impl From<Fault> for Stop {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

pub(super) type Made<T = Value> = Result<T, Stop>;

/// What a predicate goes through.
#[derive(Debug)]
pub(super) struct Scope {
    pub(super) item: Value,
    pub(super) index: i64,
    pub(super) accumulator: Value,
}

pub(super) struct Evaluator<'a> {
    program: &'a Program,
    environment: &'a Environment<'a>,
    pub(super) limits: &'a mut Limits,
    variables: Vec<Value>,
    pub(super) scopes: Vec<Scope>,
}

impl<'a> Evaluator<'a> {
    pub(super) fn new(
        program: &'a Program,
        environment: &'a Environment<'a>,
        limits: &'a mut Limits,
    ) -> Self {
        Self {
            program,
            environment,
            limits,
            variables: Vec::new(),
            scopes: Vec::new(),
        }
    }

    /// Whether the whole holds. Conditions made of tests make no value on the way.
    pub(super) fn holds(&mut self) -> Result<bool, Fault> {
        match self.truth(self.program.whole) {
            Ok(truth) => Ok(truth),
            Err(Stop::Nil) => Ok(false),
            Err(Stop::Fault(fault)) => Err(fault),
        }
    }

    fn truth(&mut self, id: Id) -> Made<bool> {
        let program = self.program;
        match program.nodes.get(id) {
            Some(Node::Test(..)) => self.operand(id, ""),
            Some(Node::And(all)) => {
                let (last, all) = all.split_last().ok_or(Stop::Nil)?;
                for id in all {
                    if !self.operand(*id, "and")? {
                        return Ok(false);
                    }
                }
                self.truth(*last)
            }
            _ => Ok(self.value(id)?.is_truthy()),
        }
    }

    /// A boolean that a condition goes through.
    #[inline]
    fn operand(&mut self, id: Id, of: &str) -> Made<bool> {
        let program = self.program;
        if let Some(Node::Test(slot, operator, constant)) = program.nodes.get(id) {
            self.limits.step(1)?;
            return self
                .test(*slot, *operator, constant)
                .map_err(|stop| self.placed(stop, id));
        }
        match self.value(id)? {
            Value::Bool(truth) => Ok(truth),
            found => Err(self.placed(operate::unfit(of, &found).into(), id)),
        }
    }

    /// A failure that has no position yet is given the node's.
    #[cold]
    fn placed(&self, stop: Stop, id: Id) -> Stop {
        match stop {
            Stop::Fault(fault) => {
                let at = self.program.at.get(id).copied();
                Stop::Fault(fault.at(at.unwrap_or_default()))
            }
            Stop::Nil => Stop::Nil,
        }
    }

    pub(super) fn whole(&mut self) -> Result<Value, Fault> {
        match self.value(self.program.whole) {
            Ok(value) => {
                go_through(&value, self.limits)?;
                Ok(value)
            }
            Err(Stop::Nil) => Ok(Value::Nil),
            Err(Stop::Fault(fault)) => Err(fault),
        }
    }

    /// The value of a node.
    pub(super) fn value(&mut self, id: Id) -> Made {
        self.limits.step(1)?;
        let program = self.program;
        let node = program.nodes.get(id);
        let node = node.ok_or_else(|| Fault::failed("this has no meaning"))?;
        self.node(node).map_err(|stop| self.placed(stop, id))
    }

    fn node(&mut self, node: &'a Node) -> Made {
        Ok(match node {
            Node::Constant(value) => value.clone(),
            Node::Test(slot, operator, constant) => {
                return self.test(*slot, *operator, constant).map(Value::Bool);
            }
            Node::And(all) => return self.logical(all, false),
            Node::Or(all) => return self.logical(all, true),
            Node::Not(of) => match self.value(*of)? {
                Value::Bool(truth) => Value::Bool(!truth),
                found => return Err(operate::unfit("not", &found).into()),
            },
            Node::Column(slot) => return self.column(*slot),
            Node::Root(root) => return self.root(*root),
            Node::Binary(operator, left, right) => return self.binary(*operator, *left, *right),
            Node::If(condition, then, other) => match self.value(*condition)? {
                Value::Bool(true) => return self.value(*then),
                Value::Bool(false) => return self.value(*other),
                found => return Err(operate::unfit("a condition", &found).into()),
            },
            Node::Coalesce(left, right) => match self.value(*left)? {
                Value::Nil => return self.value(*right),
                found => found,
            },
            Node::Chain(of) => match self.value(*of) {
                Err(Stop::Nil) => Value::Nil,
                made => return made,
            },
            Node::Variable(slot) => self.variables.get(*slot).cloned().unwrap_or(Value::Nil),
            Node::Item | Node::Index | Node::Accumulator => self.pointer(node),
            Node::Let(..) | Node::Sequence(_) => return self.statements(node),
            Node::Member { .. } | Node::Slice(..) => return self.part(node),
            Node::Array(_) | Node::Map(_) | Node::Environment => return self.literal(node),
            Node::Matches(of, pattern) => match self.value(*of)? {
                Value::Nil => Value::Bool(false),
                Value::Text(text) => Value::Bool(pattern.matches(&text, self.limits)?),
                found => return Err(operate::unfit("matches", &found).into()),
            },
            Node::Negate(of) => {
                let value = self.value(*of)?;
                operate::negate(&value)?
            }
            Node::Call(function, arguments) => return self.call(*function, arguments),
            Node::Method(of, name, arguments) => {
                let of = self.value(*of)?;
                let arguments = self.values(arguments)?;
                method::call(&of, name, &arguments, self.limits)?
            }
        })
    }

    pub(super) fn values(&mut self, all: &[Id]) -> Made<Vec<Value>> {
        all.iter().map(|id| self.value(*id)).collect()
    }

    fn call(&mut self, function: Function, arguments: &'a [Id]) -> Made {
        if let Some(made) = predicate::call(self, function, arguments) {
            return made;
        }
        let arguments = self.values(arguments)?;
        Ok(call::call(
            function,
            &arguments,
            self.environment.now_ms,
            self.limits,
        )?)
    }

    /// Goes through a condition until one operand decides.
    fn logical(&mut self, all: &[Id], deciding: bool) -> Made {
        let Some((last, all)) = all.split_last() else {
            return Ok(Value::Nil);
        };
        for id in all {
            if self.operand(*id, if deciding { "or" } else { "and" })? == deciding {
                return Ok(Value::Bool(deciding));
            }
        }
        self.value(*last)
    }

    fn binary(&mut self, operator: Binary, left: Id, right: Id) -> Made {
        let needle = self.value(left)?;
        // Whether a number lies in a range needs no array of the range.
        if operator == Binary::In
            && let Some(Node::Binary(Binary::Range, from, to)) = self.program.nodes.get(right)
        {
            let (from, to) = (self.value(*from)?, self.value(*to)?);
            let (from, to) = (operate::int(&from)?, operate::int(&to)?);
            let is_whole = match &needle {
                Value::Int(_) => true,
                Value::Float(number) => number.fract() == 0.0,
                _ => false,
            };
            let within = compare::order(&needle, &Value::Int(from))
                .is_some_and(std::cmp::Ordering::is_ge)
                && compare::order(&needle, &Value::Int(to)).is_some_and(std::cmp::Ordering::is_le);
            return Ok(Value::Bool(is_whole && within));
        }
        let right = self.value(right)?;
        if operator == Binary::In {
            self.lookup(&needle)?;
        }
        Ok(operate::binary(operator, &needle, &right, self.limits)?)
    }

    /// Counts what finding a key takes: a map is divided in two again and again.
    fn lookup(&mut self, key: &Value) -> Result<(), Fault> {
        self.limits.step(key.as_text().map_or(0, |text| text.len()))
    }

    fn pointer(&self, node: &Node) -> Value {
        let Some(scope) = self.scopes.last() else {
            return Value::Nil;
        };
        match node {
            Node::Index => Value::Int(scope.index),
            Node::Accumulator => scope.accumulator.clone(),
            _ => scope.item.clone(),
        }
    }

    fn statements(&mut self, node: &Node) -> Made {
        match node {
            Node::Let(slot, value, body) => {
                let value = self.value(*value)?;
                if self.variables.len() <= *slot {
                    self.variables.resize(self.program.n_variables, Value::Nil);
                }
                if let Some(variable) = self.variables.get_mut(*slot) {
                    *variable = value;
                }
                self.value(*body)
            }
            Node::Sequence(all) => {
                let mut last = Value::Nil;
                for id in all {
                    last = self.value(*id)?;
                }
                Ok(last)
            }
            _ => Ok(Value::Nil),
        }
    }

    fn part(&mut self, node: &Node) -> Made {
        match node {
            Node::Member {
                of,
                key,
                is_optional,
            } => {
                let of = self.value(*of)?;
                if of.is_nil() && *is_optional {
                    return Err(Stop::Nil);
                }
                let key = self.value(*key)?;
                self.lookup(&key)?;
                Ok(operate::member(&of, &key)?)
            }
            Node::Slice(of, from, to) => {
                let of = self.value(*of)?;
                let mut bound = |id: &Option<Id>| match id {
                    Some(id) => Ok(Some(operate::int(&self.value(*id)?)?)),
                    None => Ok::<_, Stop>(None),
                };
                let (from, to) = (bound(from)?, bound(to)?);
                Ok(operate::slice(&of, from, to, self.limits)?)
            }
            _ => Ok(Value::Nil),
        }
    }

    fn literal(&mut self, node: &Node) -> Made {
        match node {
            Node::Array(all) => {
                let items = self.values(all)?;
                Ok(self.limits.array(items)?)
            }
            Node::Map(all) => {
                let mut pairs = Vec::new();
                for (key, value) in all {
                    let key = self.value(*key)?;
                    if key.as_text().is_none() {
                        return Err(operate::unfit("the key of a map", &key).into());
                    }
                    pairs.push((key, self.value(*value)?));
                }
                Ok(self.limits.map(&pairs)?)
            }
            _ => {
                let mut pairs = Vec::new();
                for root in 0..self.program.schema.roots.len() {
                    let name = self
                        .program
                        .schema
                        .roots
                        .get(root)
                        .map(|(name, _)| Rc::clone(name));
                    pairs.push((Value::Text(name.unwrap_or_default()), self.root(root)?));
                }
                Ok(self.limits.map(&pairs)?)
            }
        }
    }
}

/// Counts all that is within a value. Values share their parts, so that one of few may be one of billions to
/// whoever writes it out.
fn go_through(value: &Value, limits: &mut Limits) -> Result<(), Fault> {
    match value {
        Value::Array(array) => {
            limits.step(array.items.len())?;
            array
                .items
                .iter()
                .try_for_each(|item| go_through(item, limits))
        }
        Value::Map(map) => {
            limits.step(map.pairs.len())?;
            let mut values = map.pairs.iter().map(|(_, value)| value);
            values.try_for_each(|value| go_through(value, limits))
        }
        _ => Ok(()),
    }
}

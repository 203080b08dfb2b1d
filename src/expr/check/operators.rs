//! Operators: what they may stand between, and what of them is made ready before evaluation.

use super::types::operation;
use super::{Build, Checked, MAX_PATTERNS};
use crate::expr::fault::{Fault, Position};
use crate::expr::node::{Binary, Id, Node};
use crate::expr::pattern::Pattern;
use crate::expr::schema::{Base, Type};
use crate::expr::test;
use crate::expr::time::Time;
use crate::expr::value::{Limits, Value};

impl Build<'_> {
    fn exact_text(&self, id: Id) -> Option<&str> {
        let found = self.exact.iter().find(|(known, _)| *known == id);
        found.map(|(_, text)| text.as_ref())
    }

    pub(in crate::expr) fn sign(
        &mut self,
        is_minus: bool,
        operand: Id,
        at: Position,
    ) -> Checked<Id> {
        if self.base(operand) != Base::Duration {
            self.wants(operand, Base::Float, at)?;
        }
        match self.constant(operand) {
            Some(Value::Int(number)) if is_minus => {
                let number = Value::Int(number.wrapping_neg());
                self.push(Node::Constant(number), at)
            }
            Some(Value::Float(number)) if is_minus => {
                let number = Value::Float(-number);
                let exact = self
                    .exact_text(operand)
                    .map(|text| ["-", text].concat().into());
                let negated = self.push(Node::Constant(number), at)?;
                self.exact.extend(exact.map(|text| (negated, text)));
                Ok(negated)
            }
            _ if is_minus => self.add(Node::Negate(operand), self.type_of(operand), at),
            _ => Ok(operand),
        }
    }

    pub(in crate::expr) fn array(&mut self, items: Vec<Id>, at: Position) -> Checked<Id> {
        let mut bases = items.iter().map(|item| self.base(*item));
        let first = bases.next().unwrap_or(Base::Any);
        let item = if bases.all(|base| base == first) {
            first
        } else {
            Base::Any
        };
        let constants: Option<Vec<Value>> = items
            .iter()
            .map(|item| self.constant(*item).cloned())
            .collect();
        let typed = Type::array(if item == Base::Nil { Base::Any } else { item });
        let node = match constants {
            Some(values) => Node::Constant(Limits::default().array(values)?),
            None => Node::Array(items),
        };
        self.add(node, typed, at)
    }

    /// `and` or `or`. A side that is a literal decides, or is left out.
    pub(in crate::expr) fn logical(
        &mut self,
        is_and: bool,
        left: Id,
        right: Id,
        at: Position,
    ) -> Checked<Id> {
        let (left_base, right_base) = (self.base(left), self.base(right));
        for (id, base) in [(left, left_base), (right, right_base)] {
            if !matches!(base, Base::Any | Base::Bool) {
                return Err(self.mismatch(id, Base::Bool.name(), at));
            }
        }
        for (literal, other) in [(left, right), (right, left)] {
            if let Some(Value::Bool(truth)) = self.constant(literal) {
                return Ok(if *truth == is_and { other } else { literal });
            }
        }
        // Long conditions stay flat; those on the right were in parentheses, which changes nothing.
        let mut all = self.operands(is_and, left);
        all.append(&mut self.operands(is_and, right));
        let node = if is_and {
            Node::And(all)
        } else {
            Node::Or(all)
        };
        self.add(node, Type::of(Base::Bool), at)
    }

    /// What a condition of this kind stands on, which it is taken apart for; of any other node, itself.
    fn operands(&mut self, is_and: bool, id: Id) -> Vec<Id> {
        match self.nodes.get_mut(id) {
            Some(Node::And(all)) if is_and => std::mem::take(all),
            Some(Node::Or(all)) if !is_and => std::mem::take(all),
            _ => vec![id],
        }
    }

    pub(in crate::expr) fn binary(
        &mut self,
        operator: Binary,
        left: Id,
        right: Id,
        at: Position,
    ) -> Checked<Id> {
        let (first, second) = (self.type_of(left), self.type_of(right));
        let Some(typed) = operation(operator, first, second) else {
            let message = [
                operator.as_str(),
                " cannot take ",
                first.base.name(),
                " and ",
                second.base.name(),
            ];
            return Err(Fault::bad(at, message.concat()));
        };
        self.dates(operator, left, right)?;
        if operator == Binary::Matches
            && let Some(Value::Text(pattern)) = self.constant(right)
        {
            if self.n_patterns == MAX_PATTERNS {
                return Err(Fault::bad(
                    at,
                    "there are too many regular expressions here",
                ));
            }
            let pattern = Pattern::new(pattern).map_err(|message| Fault::bad(at, message))?;
            self.n_patterns += 1;
            return self.add(Node::Matches(left, pattern), typed, at);
        }
        let sides = [
            (left, right, Some(operator)),
            (right, left, operator.flipped()),
        ];
        for (column, constant, operator) in sides {
            let (Some(Node::Column(slot)), Some(operator)) = (self.node(column), operator) else {
                continue;
            };
            let Some(value) = self.constant(constant) else {
                continue;
            };
            if test::is_ready(slot.kind, operator, value) {
                let value = test::ready(slot.kind, value, self.exact_text(constant));
                let test = Node::Test(*slot, operator, value);
                return self.add(test, typed, at);
            }
        }
        self.add(Node::Binary(operator, left, right), typed, at)
    }

    /// Literals that are compared with dates become dates, or are refused.
    fn dates(&mut self, operator: Binary, left: Id, right: Id) -> Checked<()> {
        if operator.flipped().is_none() {
            return Ok(());
        }
        for (date, literal) in [(left, right), (right, left)] {
            if self.base(date) != Base::Time {
                continue;
            }
            let Some(Value::Text(text)) = self.constant(literal) else {
                continue;
            };
            let Some(time) = Time::of_database(text) else {
                let at = self.at.get(literal).copied().unwrap_or_default();
                return Err(Fault::bad(
                    at,
                    "expected a date like 2026-01-31, perhaps with a time",
                ));
            };
            if let Some(node) = self.nodes.get_mut(literal) {
                *node = Node::Constant(Value::Time(time));
            }
        }
        Ok(())
    }
}

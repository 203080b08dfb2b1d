//! Rows: their cells, compared as they stand or made values.

use std::rc::Rc;

use super::{Evaluator, Made, Root, Stop};
use crate::expr::cell;
use crate::expr::fault::Fault;
use crate::expr::node::{Binary, Slot};
use crate::expr::operate;
use crate::expr::test;
use crate::expr::text;
use crate::expr::value::Value;
use crate::row::{Cell, Kind, Scalar};

impl Evaluator<'_> {
    pub(super) fn test(&mut self, slot: Slot, operator: Binary, constant: &Value) -> Made<bool> {
        if let Some(Root::Row(cells)) = self.environment.roots.get(slot.root) {
            let cell = cells.get(slot.column).copied().unwrap_or(Cell::Unsent);
            if let Cell::Plain(text) | Cell::Doubled(text) = cell {
                let times = match constant {
                    Value::Array(array) => array.items.len(),
                    _ => 1,
                };
                self.limits
                    .step((text.len() / 16 + 1).saturating_mul(times))?;
            }
            return test::holds(slot.kind, cell, operator, constant)
                .ok_or_else(|| Fault::failed("this cell cannot be compared so").into());
        }
        let value = self.column(slot)?;
        match operate::binary(operator, &value, constant, self.limits)? {
            Value::Bool(truth) => Ok(truth),
            found => Err(operate::unfit(operator.as_str(), &found).into()),
        }
    }

    pub(super) fn column(&mut self, slot: Slot) -> Made {
        let kind = slot.kind;
        match self.environment.roots.get(slot.root) {
            Some(Root::Row(cells)) => {
                let cell = cells.get(slot.column).copied().unwrap_or(Cell::Unsent);
                Ok(cell::value(kind, cell, self.limits)?)
            }
            Some(Root::Value(Value::Map(map))) => {
                let relation = self.program.schema.relation(slot.root);
                let column = relation.and_then(|relation| relation.columns.get(slot.column));
                let found = column.and_then(|column| map.find(&column.name));
                Ok(match found {
                    Some(value) => self.as_column(kind, value)?,
                    None => Value::Nil,
                })
            }
            _ if slot.is_optional => Err(Stop::Nil),
            _ => Err(Fault::failed("there is no row here: expected ?. instead of .").into()),
        }
    }

    /// A value that JSON brought, as its column has it.
    fn as_column(&mut self, kind: Kind, value: &Value) -> Result<Value, Fault> {
        Ok(match (kind, value) {
            (Kind::Scalar(Scalar::Json), _) => value.clone(),
            (Kind::Scalar(Scalar::Decimal), Value::Int(_) | Value::Float(_)) => {
                Value::Decimal(text::of_number(value).unwrap_or_default().as_ref().into())
            }
            (Kind::Scalar(Scalar::Float), Value::Int(_)) => operate::float(value)?,
            (_, Value::Text(text)) => cell::of_text(kind, text, self.limits)?,
            (Kind::Array(scalar), Value::Array(array)) => {
                let inner = |item: &Value| match item {
                    Value::Array(_) => kind,
                    _ => Kind::Scalar(scalar),
                };
                let items = array
                    .items
                    .iter()
                    .map(|item| self.as_column(inner(item), item));
                let items: Result<Vec<Value>, Fault> = items.collect();
                self.limits.array(items?)?
            }
            _ => value.clone(),
        })
    }

    pub(super) fn root(&mut self, root: usize) -> Made {
        let found = self
            .environment
            .roots
            .get(root)
            .copied()
            .unwrap_or(Root::Nil);
        let Some(relation) = self.program.schema.relation(root) else {
            return Ok(match found {
                Root::Value(value) => value.clone(),
                Root::Nil | Root::Row(_) => Value::Nil,
            });
        };
        if matches!(found, Root::Nil | Root::Value(Value::Nil)) {
            return Ok(Value::Nil);
        }
        let relation = Rc::clone(relation);
        let mut pairs = Vec::new();
        for (column, named) in relation.columns.iter().enumerate() {
            let slot = Slot {
                root,
                column,
                kind: named.kind,
                is_optional: false,
            };
            pairs.push((self.limits.text(&named.name)?, self.column(slot)?));
        }
        Ok(self.limits.map(&pairs)?)
    }
}

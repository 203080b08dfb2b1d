//! What expressions make, and the bounds on making it.

use std::rc::Rc;

use super::compare::keys;
use super::fault::Fault;
use super::sort::sorted;
use super::time::Time;

/// How deep arrays and maps may be within each other.
pub const MAX_VALUE_DEPTH: u16 = 64;

/// A value.
#[derive(Debug)]
pub enum Value {
    /// `nil`.
    Nil,
    /// `true` or `false`.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A binary floating-point number.
    Float(f64),
    /// An exact decimal number, as the database's text; also what a float column holds that is no number.
    Decimal(Rc<str>),
    /// A string.
    Text(Rc<str>),
    /// A point in time.
    Time(Time),
    /// A span of time, in nanoseconds.
    Duration(i64),
    /// Values in order.
    Array(Rc<Array>),
    /// Values by key.
    Map(Rc<Map>),
}

/// The items of an array.
#[derive(Debug)]
pub struct Array {
    /// The items.
    pub items: Vec<Value>,
    depth: u16,
}

/// The pairs of a map, ordered by key.
#[derive(Debug)]
pub struct Map {
    /// The pairs of key and value.
    pub pairs: Vec<(Value, Value)>,
    depth: u16,
}

impl Clone for Value {
    // Written out, so that it is one function rather than a part of many.
    #[inline(never)]
    fn clone(&self) -> Self {
        match self {
            Self::Nil => Self::Nil,
            Self::Bool(truth) => Self::Bool(*truth),
            Self::Int(number) => Self::Int(*number),
            Self::Float(number) => Self::Float(*number),
            Self::Decimal(text) => Self::Decimal(Rc::clone(text)),
            Self::Text(text) => Self::Text(Rc::clone(text)),
            Self::Time(time) => Self::Time(*time),
            Self::Duration(nanos) => Self::Duration(*nanos),
            Self::Array(array) => Self::Array(Rc::clone(array)),
            Self::Map(map) => Self::Map(Rc::clone(map)),
        }
    }
}

impl Value {
    /// Whether it counts as true where a condition is asked for: false, nil, 0 and the empty string do not.
    pub fn is_truthy(&self) -> bool {
        match self {
            Self::Nil => false,
            Self::Bool(truth) => *truth,
            Self::Int(number) | Self::Duration(number) => *number != 0,
            Self::Float(number) => *number != 0.0,
            Self::Decimal(text) => {
                super::decimal::cmp(text, "0") != Some(std::cmp::Ordering::Equal)
            }
            Self::Text(text) => !text.is_empty(),
            Self::Time(_) | Self::Array(_) | Self::Map(_) => true,
        }
    }

    /// The name that `type` gives.
    pub const fn type_name(&self) -> &'static str {
        match self {
            Self::Nil => "nil",
            Self::Bool(_) => "bool",
            Self::Int(_) => "int",
            Self::Float(_) | Self::Decimal(_) => "float",
            Self::Text(_) => "string",
            Self::Time(_) => "time.Time",
            Self::Duration(_) => "time.Duration",
            Self::Array(_) => "array",
            Self::Map(_) => "map",
        }
    }

    pub(super) const fn is_nil(&self) -> bool {
        matches!(self, Self::Nil)
    }

    fn depth(&self) -> u16 {
        match self {
            Self::Array(array) => array.depth,
            Self::Map(map) => map.depth,
            _ => 0,
        }
    }

    /// Its place in a map, of which keys that are no string are equal to themselves alone.
    pub(super) fn as_text(&self) -> Option<&Rc<str>> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }
}

impl Map {
    /// The value under a string.
    pub fn find(&self, name: &str) -> Option<&Value> {
        let place = self.pairs.binary_search_by(|(key, _)| match key {
            Value::Text(key) => key.as_ref().cmp(name),
            // Strings come after all other keys.
            _ => std::cmp::Ordering::Less,
        });
        Some(&self.pairs.get(place.ok()?)?.1)
    }
}

/// What one evaluation may still use.
///
/// Evaluating more than one expression with the same limits bounds them together.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Steps: one for each operation, and one for each element or few bytes gone through.
    pub steps: usize,
    /// Bytes that may be allocated; what is freed again counts too.
    pub memory: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            steps: 1_000_000,
            memory: 4 << 20,
        }
    }
}

/// Bytes of text that are gone through in one step.
const BYTES_PER_STEP: usize = 16;

impl Limits {
    pub(super) fn step(&mut self, n_steps: usize) -> Result<(), Fault> {
        let left = self.steps.checked_sub(n_steps);
        self.steps = left.unwrap_or_default();
        left.map(|_| ())
            .ok_or_else(|| Fault::failed("this takes too many steps"))
    }

    pub(super) fn scan(&mut self, n_bytes: usize) -> Result<(), Fault> {
        self.step(n_bytes / BYTES_PER_STEP)
    }

    pub(super) fn take(&mut self, n_bytes: usize) -> Result<(), Fault> {
        let left = self.memory.checked_sub(n_bytes);
        self.memory = left.unwrap_or_default();
        left.map(|_| ())
            .ok_or_else(|| Fault::failed("this takes too much memory"))
    }

    pub(super) fn text(&mut self, text: &str) -> Result<Value, Fault> {
        self.take(text.len())?;
        Ok(Value::Text(text.into()))
    }

    pub(super) fn array(&mut self, items: Vec<Value>) -> Result<Value, Fault> {
        self.take(items.len() * size_of::<Value>())?;
        let depth = deeper(&mut items.iter())?;
        Ok(Value::Array(Rc::new(Array { items, depth })))
    }

    /// A map; of pairs with one key, the last stays.
    pub(super) fn map(&mut self, pairs: &[(Value, Value)]) -> Result<Value, Fault> {
        self.take(pairs.len() * 2 * size_of::<Value>())?;
        self.step(pairs.len())?;
        let depth = deeper(&mut pairs.iter().flat_map(|(key, value)| [key, value]))?;
        let key = |index: usize| pairs.get(index).map_or(&Value::Nil, |(key, _)| key);
        let order = sorted(pairs.len(), &key, &keys, self)?;
        let mut kept: Vec<(Value, Value)> = Vec::with_capacity(pairs.len());
        for (key, value) in order.into_iter().filter_map(|index| pairs.get(index)) {
            match kept.last_mut() {
                Some((last, kept)) if keys(last, key).is_eq() => *kept = value.clone(),
                _ => kept.push((key.clone(), value.clone())),
            }
        }
        let pairs = kept;
        Ok(Value::Map(Rc::new(Map { pairs, depth })))
    }
}

/// The depth of what holds these.
fn deeper(values: &mut dyn Iterator<Item = &Value>) -> Result<u16, Fault> {
    let depth = values.map(Value::depth).max().unwrap_or_default() + 1;
    if depth > MAX_VALUE_DEPTH {
        return Err(Fault::failed(
            "arrays and maps are too deep within each other",
        ));
    }
    Ok(depth)
}

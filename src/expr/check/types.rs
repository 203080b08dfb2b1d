//! Types: of constants, and of what operators make of others.

use crate::expr::node::Binary;
use crate::expr::schema::{Base, Type};
use crate::expr::value::Value;

pub(super) fn constant_type(value: &Value) -> Type {
    Type::of(match value {
        Value::Nil => Base::Nil,
        Value::Bool(_) => Base::Bool,
        Value::Int(_) => Base::Int,
        Value::Float(_) | Value::Decimal(_) => Base::Float,
        Value::Text(_) => Base::Text,
        Value::Time(_) => Base::Time,
        Value::Duration(_) => Base::Duration,
        Value::Array(_) => Base::Array,
        Value::Map(_) => Base::Map,
    })
}

/// Whether values of these types can be equal.
fn are_comparable(left: Type, right: Type) -> bool {
    use Base::{Any, Nil, Text, Time};
    matches!(left.base, Any | Nil)
        || matches!(right.base, Any | Nil)
        || left.base == right.base
        || left.base.is_number() && right.base.is_number()
        || matches!((left.base, right.base), (Time, Text) | (Text, Time))
}

/// What an operator gives for these types, or nothing where it cannot take them.
pub(super) fn operation(operator: Binary, left: Type, right: Type) -> Option<Type> {
    use Base::{Any, Array, Bool, Duration, Float, Int, Map, Nil, Text, Time};
    let (first, second) = (left.base, right.base);
    // Where one side is not known, the other must be one that the operator takes.
    let may_be = |allowed: &[Base]| match (first, second) {
        (Any, Any) => true,
        (Any, known) | (known, Any) => allowed.contains(&known),
        _ => false,
    };
    let numbers = first.is_number() && second.is_number();
    let ints = first == Int && second == Int;
    let base = match operator {
        Binary::Equal | Binary::NotEqual => are_comparable(left, right).then_some(Bool),
        Binary::Less | Binary::LessOrEqual | Binary::Greater | Binary::GreaterOrEqual => {
            let same = first == second && matches!(first, Text | Time | Duration);
            let dated = matches!((first, second), (Time, Text) | (Text, Time));
            (numbers || same || dated || may_be(&[Int, Float, Text, Time, Duration]))
                .then_some(Bool)
        }
        Binary::Add => match (first, second) {
            _ if ints => Some(Int),
            _ if numbers => Some(Float),
            (Text, Text) => Some(Text),
            (Time, Duration) | (Duration, Time) => Some(Time),
            (Duration, Duration) => Some(Duration),
            _ => may_be(&[Int, Float, Text, Time, Duration]).then_some(Any),
        },
        Binary::Subtract => match (first, second) {
            _ if ints => Some(Int),
            _ if numbers => Some(Float),
            (Time, Time) | (Duration, Duration) => Some(Duration),
            (Time, Duration) => Some(Time),
            _ => may_be(&[Int, Float, Time, Duration]).then_some(Any),
        },
        Binary::Multiply => match (first, second) {
            _ if ints => Some(Int),
            _ if numbers => Some(Float),
            (Duration, known) | (known, Duration) if known.is_number() => Some(Duration),
            _ => may_be(&[Int, Float, Duration]).then_some(Any),
        },
        Binary::Divide | Binary::Power => (numbers || may_be(&[Int, Float])).then_some(Float),
        Binary::Modulo => (ints || may_be(&[Int])).then_some(Int),
        Binary::In => match second {
            Map => matches!(first, Any | Text | Nil).then_some(Bool),
            Array => are_comparable(left, Type::of(right.item)).then_some(Bool),
            Text => (first == Any).then_some(Bool),
            Any => Some(Bool),
            Nil | Bool | Int | Float | Time | Duration => None,
        },
        Binary::Contains | Binary::EndsWith | Binary::Matches | Binary::StartsWith => {
            (first == Text && second == Text || may_be(&[Text])).then_some(Bool)
        }
        Binary::Range => {
            return (ints || may_be(&[Int])).then_some(Type::array(Int));
        }
    };
    base.map(Type::of)
}

//! Building nodes: names are looked up, types are checked, and what can be made ready before evaluation is.

use std::rc::Rc;

use super::fault::{Fault, Position};
use super::function::{FUNCTIONS, Function, letter, type_of};
use super::node::{Binary, Id, Node, Slot};
use super::pattern::Pattern;
use super::schema::{Base, Schema, Shape, Type};
use super::test;
use super::time::Time;
use super::value::{Limits, Value};

/// How many nodes an expression may have.
pub const MAX_NODES: usize = 10_000;
/// How deep its nodes may stand within each other: a long sum is as deep as it is long.
pub const MAX_DEPTH: u16 = 128;
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
}

/// What is unknown, and the known name that is most like it.
pub(super) fn unknown<'n>(
    what: &str,
    name: &str,
    known: impl Iterator<Item = &'n str>,
    at: Position,
) -> Fault {
    let alike =
        |known: &str| strsim::damerau_levenshtein(&known.to_lowercase(), &name.to_lowercase());
    let nearest = known
        .min_by_key(|known| alike(known))
        .filter(|known| alike(known) <= 3);
    let hint = nearest.map_or_else(String::new, |near| [": did you mean ", near, "?"].concat());
    Fault::bad(at, ["there is no ", what, " ", name, &hint].concat())
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

    pub(super) fn declare(&mut self, name: Rc<str>, value: Id, at: Position) -> Checked<usize> {
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

    pub(super) fn forget(&mut self) {
        self.variables.pop();
    }

    /// Goes into a predicate over the items of a value.
    pub(super) fn enter(&mut self, over: Option<Id>, function: Function) {
        let of = over.map_or(Type::ANY, |over| self.type_of(over));
        self.scopes
            .push((Type::of(of.item), function == Function::Reduce));
    }

    pub(super) fn leave(&mut self) {
        self.scopes.pop();
    }

    pub(super) fn pointer(&mut self, name: Option<&str>, at: Position) -> Checked<Id> {
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

    pub(super) fn named(&mut self, name: &str, at: Position) -> Checked<Id> {
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

    pub(super) fn member(
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

    fn exact_text(&self, id: Id) -> Option<&str> {
        let found = self.exact.iter().find(|(known, _)| *known == id);
        found.map(|(_, text)| text.as_ref())
    }

    pub(super) fn sign(&mut self, is_minus: bool, operand: Id, at: Position) -> Checked<Id> {
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

    pub(super) fn array(&mut self, items: Vec<Id>, at: Position) -> Checked<Id> {
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
    pub(super) fn logical(
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

    pub(super) fn binary(
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
            let pattern = Pattern::new(pattern).map_err(|message| Fault::bad(at, message))?;
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

    pub(super) fn arity(
        name: &str,
        (least, most): (usize, usize),
        found: usize,
        at: Position,
    ) -> Checked<()> {
        if (least..=most).contains(&found) {
            return Ok(());
        }
        let bound = if found < least {
            ("at least ", least)
        } else {
            ("at most ", most)
        };
        let message = [
            name,
            " takes ",
            bound.0,
            &bound.1.to_string(),
            " arguments, and is given ",
            &found.to_string(),
        ];
        Err(Fault::bad(at, message.concat()))
    }

    pub(super) fn call(
        &mut self,
        (function, name, takes, gives): (Function, &str, &str, char),
        arguments: Vec<Id>,
        at: Position,
    ) -> Checked<Id> {
        for (index, argument) in arguments.iter().enumerate() {
            let at = self.at.get(*argument).copied().unwrap_or(at);
            match letter(takes, index) {
                'p' if "all any none one filter find findIndex findLast findLastIndex count"
                    .contains(name) =>
                {
                    self.wants(*argument, Base::Bool, at)?;
                }
                'p' => {}
                letter => self.wants(*argument, type_of(letter).base, at)?,
            }
        }
        let first = arguments
            .first()
            .map_or(Type::ANY, |first| self.type_of(*first));
        let typed = match gives {
            '1' => first,
            'e' => Type::of(first.item),
            letter => type_of(letter),
        };
        if function == Function::Len
            && !matches!(first.base, Base::Any | Base::Array | Base::Map | Base::Text)
        {
            return Err(Fault::bad(at, "len takes a string, an array or a map"));
        }
        if matches!(function, Function::Int | Function::Float)
            && !matches!(
                first.base,
                Base::Any | Base::Int | Base::Float | Base::Text | Base::Duration
            )
        {
            return Err(Fault::bad(
                at,
                [name, " takes a number or a string"].concat(),
            ));
        }
        if function == Function::Date && !matches!(first.base, Base::Any | Base::Time | Base::Text)
        {
            return Err(Fault::bad(at, "date takes a string"));
        }
        self.add(Node::Call(function, arguments), typed, at)
    }

    pub(super) fn method(
        &mut self,
        of: Id,
        name: Rc<str>,
        takes: &str,
        arguments: Vec<Id>,
        gives: char,
        at: Position,
    ) -> Checked<Id> {
        if !matches!(self.base(of), Base::Any | Base::Time | Base::Duration) {
            return Err(self.mismatch(of, "a date or a duration", at));
        }
        for (index, argument) in arguments.iter().enumerate() {
            self.wants(*argument, type_of(letter(takes, index)).base, at)?;
        }
        self.add(Node::Method(of, name, arguments), type_of(gives), at)
    }
}

fn constant_type(value: &Value) -> Type {
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
fn operation(operator: Binary, left: Type, right: Type) -> Option<Type> {
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

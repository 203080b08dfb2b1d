//! Values, and what follows them: members, items, slices and calls.

use std::rc::Rc;

use super::{NOT, Parser, SIGN};
use crate::expr::check::{Build, unknown};
use crate::expr::fault::{Fault, Position};
use crate::expr::function::{FUNCTIONS, Function, METHODS, arity, letter};
use crate::expr::lexer::Kind;
use crate::expr::node::{Id, Node};
use crate::expr::value::Value;

impl Parser<'_> {
    pub(super) fn primary(&mut self) -> Result<Id, Fault> {
        let at = self.token.at;
        let found = match self.token.kind.clone() {
            Kind::Sign("not" | "!") => {
                self.advance()?;
                let operand = self.expression(NOT)?;
                self.build.push(Node::Not(operand), at)?
            }
            Kind::Sign(sign @ ("-" | "+")) => {
                self.advance()?;
                let operand = self.expression(SIGN)?;
                self.build.sign(sign == "-", operand, at)?
            }
            Kind::Sign("(") => {
                self.advance()?;
                let inner = self.sequence()?;
                self.expect(")")?;
                inner
            }
            Kind::Sign("#") => {
                self.advance()?;
                let name = match &self.token.kind {
                    Kind::Name(_) => Some(self.name()?.0),
                    _ => None,
                };
                self.build.pointer(name.as_deref(), at)?
            }
            Kind::Sign(".") => self.build.pointer(None, at)?,
            Kind::Sign("::") => {
                self.advance()?;
                let (name, at) = self.name()?;
                self.call(&name, at, Vec::new())?
            }
            Kind::Sign("[") => self.array()?,
            Kind::Sign("{") => self.map()?,
            Kind::Float(number, exact) => {
                let constant = self.constant(Value::Float(number))?;
                self.build.exact.extend(exact.map(|text| (constant, text)));
                return Ok(constant);
            }
            Kind::Int(number) => return self.constant(Value::Int(number)),
            Kind::Text(text) => self.constant(Value::Text(text))?,
            Kind::Name(name) => {
                self.advance()?;
                let constant = match name.as_ref() {
                    "true" => Value::Bool(true),
                    "false" => Value::Bool(false),
                    "nil" => Value::Nil,
                    name => {
                        let found = if self.is("(") {
                            self.call(name, at, Vec::new())?
                        } else {
                            self.build.named(name, at)?
                        };
                        return self.postfix(found);
                    }
                };
                return self.build.push(Node::Constant(constant), at);
            }
            Kind::End | Kind::Sign(_) => return Err(self.unexpected("a value")),
        };
        self.postfix(found)
    }

    fn constant(&mut self, value: Value) -> Result<Id, Fault> {
        let at = self.advance()?.at;
        self.build.push(Node::Constant(value), at)
    }

    fn array(&mut self) -> Result<Id, Fault> {
        let at = self.advance()?.at;
        let mut items = Vec::new();
        while !self.is("]") {
            items.push(self.expression(0)?);
            if !self.is("]") {
                self.expect(",")?;
            }
        }
        self.advance()?;
        self.build.array(items, at)
    }

    fn map(&mut self) -> Result<Id, Fault> {
        let at = self.advance()?.at;
        let mut pairs = Vec::new();
        while !self.is("}") {
            let key_at = self.token.at;
            let key = match self.token.kind.clone() {
                Kind::Name(text) | Kind::Text(text) => {
                    self.advance()?;
                    self.build.push(Node::Constant(Value::Text(text)), key_at)?
                }
                Kind::Int(number) => {
                    let text = number.to_string().into();
                    self.advance()?;
                    self.build.push(Node::Constant(Value::Text(text)), key_at)?
                }
                Kind::Sign("(") => self.expression(0)?,
                Kind::End | Kind::Float(..) | Kind::Sign(_) => {
                    return Err(
                        self.unexpected("a key: a name, a string or something in parentheses")
                    );
                }
            };
            self.expect(":")?;
            pairs.push((key, self.expression(0)?));
            if !self.is("}") {
                self.expect(",")?;
            }
        }
        self.advance()?;
        self.build.push(Node::Map(pairs), at)
    }

    pub(super) fn call(
        &mut self,
        name: &str,
        at: Position,
        mut arguments: Vec<Id>,
    ) -> Result<Id, Fault> {
        let Some((function, _, takes, gives)) =
            FUNCTIONS.iter().find(|(_, known, ..)| *known == name)
        else {
            let known = FUNCTIONS.iter().map(|(_, known, ..)| *known);
            return Err(unknown("function", name, known, at));
        };
        self.expect("(")?;
        let piped = arguments.len();
        while !self.is(")") {
            let index = arguments.len();
            if index > piped {
                self.expect(",")?;
                if self.is(")") {
                    break;
                }
            }
            let argument = if letter(takes, index) == 'p' && index < 2 {
                self.predicate(arguments.first().copied(), *function)?
            } else {
                self.expression(0)?
            };
            arguments.push(argument);
        }
        self.advance()?;
        Build::arity(name, arity(takes), arguments.len(), at)?;
        self.build
            .call((*function, name, takes, *gives), arguments, at)
    }

    /// An expression on each item of what is gone through.
    fn predicate(&mut self, over: Option<Id>, function: Function) -> Result<Id, Fault> {
        self.build.enter(over, function);
        let predicate = if self.is("{") {
            self.block()?
        } else {
            self.expression(0)?
        };
        self.build.leave();
        Ok(predicate)
    }

    /// What follows a value: its members, items, slices and methods.
    fn postfix(&mut self, mut value: Id) -> Result<Id, Fault> {
        let mut is_chain = false;
        loop {
            let at = self.token.at;
            let is_optional = self.is("?.");
            if !is_optional && !self.is(".") && !self.is("[") {
                break;
            }
            if is_optional || self.is(".") {
                self.advance()?;
            }
            if self.is("[") {
                // What follows in brackets is no part of the chain before it.
                if is_chain && !is_optional {
                    value = self.build.push(Node::Chain(value), at)?;
                    is_chain = false;
                }
                value = self.brackets(value, is_optional, at)?;
                is_chain |= is_optional;
                continue;
            }
            let name: Rc<str> = match &self.token.kind {
                Kind::Name(name) => Rc::clone(name),
                Kind::Sign(word) if word.starts_with(|letter: char| letter.is_alphabetic()) => {
                    (*word).into()
                }
                _ => return Err(self.unexpected("a name")),
            };
            let at = self.advance()?.at;
            is_chain |= is_optional;
            if self.is("(") {
                value = self.method(value, name, at)?;
                continue;
            }
            let key = self.build.push(Node::Constant(Value::Text(name)), at)?;
            value = self.build.member(value, key, is_optional, at)?;
        }
        if is_chain {
            self.build.push(Node::Chain(value), 0)
        } else {
            Ok(value)
        }
    }

    fn brackets(&mut self, value: Id, is_optional: bool, at: Position) -> Result<Id, Fault> {
        self.advance()?;
        let from = if self.is(":") {
            None
        } else {
            Some(self.expression(0)?)
        };
        if !self.take(":")? {
            self.expect("]")?;
            let Some(key) = from else {
                return Err(self.unexpected("an index"));
            };
            return self.build.member(value, key, is_optional, at);
        }
        let to = if self.is("]") {
            None
        } else {
            Some(self.expression(0)?)
        };
        self.expect("]")?;
        self.build.push(Node::Slice(value, from, to), at)
    }

    fn method(&mut self, value: Id, name: Rc<str>, at: Position) -> Result<Id, Fault> {
        let known = METHODS.iter().find(|(known, ..)| *known == name.as_ref());
        let Some((_, takes, gives)) = known else {
            let known = METHODS.iter().map(|(known, ..)| *known);
            return Err(unknown("method", &name, known, at));
        };
        self.advance()?;
        let mut arguments = Vec::new();
        while !self.is(")") {
            arguments.push(self.expression(0)?);
            if !self.is(")") {
                self.expect(",")?;
            }
        }
        self.advance()?;
        Build::arity(&name, arity(takes), arguments.len(), at)?;
        self.build.method(value, name, takes, arguments, *gives, at)
    }
}

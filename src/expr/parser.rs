//! Tokens to nodes: a parser by precedence that checks each node as it is made.

mod values;

use std::rc::Rc;

use super::check::Build;
use super::fault::{Fault, Position};
use super::lexer::{Kind, Lexer, Token};
use super::node::{Binary, Id, Node};
use super::schema::Schema;

/// How deep expressions may be within each other.
pub const MAX_NESTING: usize = 64;

/// How tightly each operator binds, as the language defines it.
const BINARY: [(&str, u16, Option<Binary>); 24] = [
    ("|", 0, None),
    ("or", 10, None),
    ("||", 10, None),
    ("and", 15, None),
    ("&&", 15, None),
    ("==", 20, Some(Binary::Equal)),
    ("!=", 20, Some(Binary::NotEqual)),
    ("<", 20, Some(Binary::Less)),
    (">", 20, Some(Binary::Greater)),
    (">=", 20, Some(Binary::GreaterOrEqual)),
    ("<=", 20, Some(Binary::LessOrEqual)),
    ("in", 20, Some(Binary::In)),
    ("matches", 20, Some(Binary::Matches)),
    ("contains", 20, Some(Binary::Contains)),
    ("startsWith", 20, Some(Binary::StartsWith)),
    ("endsWith", 20, Some(Binary::EndsWith)),
    ("..", 25, Some(Binary::Range)),
    ("+", 30, Some(Binary::Add)),
    ("-", 30, Some(Binary::Subtract)),
    ("*", 60, Some(Binary::Multiply)),
    ("/", 60, Some(Binary::Divide)),
    ("%", 60, Some(Binary::Modulo)),
    ("^", 100, Some(Binary::Power)),
    ("??", 500, None),
];
const NOT: u16 = 50;
const SIGN: u16 = 90;

pub(super) struct Parser<'s> {
    lexer: Lexer<'s>,
    token: Token,
    nesting: usize,
    build: Build<'s>,
}

impl<'s> Parser<'s> {
    /// The nodes of a source, and which of them is the whole.
    pub(super) fn parse(source: &'s str, schema: &'s Schema) -> Result<(Build<'s>, Id), Fault> {
        let mut lexer = Lexer::new(source);
        let token = lexer.next()?;
        let mut parser = Self {
            lexer,
            token,
            nesting: 0,
            build: Build::new(schema),
        };
        let whole = parser.sequence()?;
        if parser.token.kind != Kind::End {
            return Err(parser.unexpected("an operator or the end"));
        }
        Ok((parser.build, whole))
    }

    fn unexpected(&self, expected: &str) -> Fault {
        let found = match &self.token.kind {
            Kind::End => "the end",
            Kind::Float(..) | Kind::Int(_) => "a number",
            Kind::Name(name) => name,
            Kind::Sign(sign) => sign,
            Kind::Text(_) => "a string",
        };
        let message = ["expected ", expected, " and found ", found];
        Fault::bad(self.token.at, message.concat())
    }

    fn advance(&mut self) -> Result<Token, Fault> {
        let next = self.lexer.next()?;
        Ok(std::mem::replace(&mut self.token, next))
    }

    fn is(&self, sign: &str) -> bool {
        matches!(self.token.kind, Kind::Sign(found) if found == sign)
    }

    /// Takes a sign, if it is the next.
    fn take(&mut self, sign: &str) -> Result<bool, Fault> {
        let is_next = self.is(sign);
        if is_next {
            self.advance()?;
        }
        Ok(is_next)
    }

    fn expect(&mut self, sign: &str) -> Result<(), Fault> {
        if self.take(sign)? {
            return Ok(());
        }
        Err(self.unexpected(sign))
    }

    fn name(&mut self) -> Result<(Rc<str>, Position), Fault> {
        let Kind::Name(name) = &self.token.kind else {
            return Err(self.unexpected("a name"));
        };
        let name = Rc::clone(name);
        Ok((name, self.advance()?.at))
    }

    /// Expressions after one another, of which the last is the value.
    fn sequence(&mut self) -> Result<Id, Fault> {
        let at = self.token.at;
        let first = self.expression(0)?;
        let mut all = vec![first];
        while self.take(";")? {
            if self.token.kind == Kind::End {
                break;
            }
            all.push(self.expression(0)?);
        }
        if all.len() == 1 {
            return Ok(first);
        }
        self.build.push(Node::Sequence(all), at)
    }

    fn expression(&mut self, precedence: u16) -> Result<Id, Fault> {
        self.nesting += 1;
        if self.nesting > MAX_NESTING {
            return Err(Fault::bad(
                self.token.at,
                "too many expressions are within each other here",
            ));
        }
        let expression = if precedence == 0 && self.is("let") {
            self.variable()
        } else if precedence == 0 && self.is("if") {
            self.branches()
        } else {
            self.operations(precedence)
        };
        self.nesting -= 1;
        expression
    }

    fn variable(&mut self) -> Result<Id, Fault> {
        let at = self.advance()?.at;
        let (name, name_at) = self.name()?;
        self.expect("=")?;
        let value = self.expression(0)?;
        self.expect(";")?;
        let slot = self.build.declare(name, value, name_at)?;
        let body = self.sequence()?;
        self.build.forget();
        self.build.push(Node::Let(slot, value, body), at)
    }

    fn branches(&mut self) -> Result<Id, Fault> {
        let at = self.advance()?.at;
        let condition = self.expression(0)?;
        let then = self.block()?;
        self.expect("else")?;
        let other = if self.is("if") {
            self.expression(0)?
        } else {
            self.block()?
        };
        self.build.push(Node::If(condition, then, other), at)
    }

    fn block(&mut self) -> Result<Id, Fault> {
        self.expect("{")?;
        let body = self.sequence()?;
        self.expect("}")?;
        Ok(body)
    }

    fn operations(&mut self, precedence: u16) -> Result<Id, Fault> {
        let mut left = self.primary()?;
        let mut is_coalescing = false;
        while let Kind::Sign(sign) = self.token.kind {
            let at = self.token.at;
            let is_negated = sign == "not";
            if is_negated {
                // `not in` binds as `in` does.
                if precedence > 20 {
                    break;
                }
                self.advance()?;
            }
            let Kind::Sign(sign) = self.token.kind else {
                return Err(self.unexpected("an operator that can be negated"));
            };
            let sign = if sign == "**" { "^" } else { sign };
            let Some((_, binds, operator)) = BINARY.iter().find(|(known, ..)| *known == sign)
            else {
                break;
            };
            if *binds < precedence {
                break;
            }
            let can_be_negated =
                *binds == 20 && sign.starts_with(|letter: char| letter.is_alphabetic());
            if is_negated && !can_be_negated {
                return Err(self.unexpected("in, matches, contains, startsWith or endsWith"));
            }
            self.advance()?;
            if sign == "|" {
                let (name, at) = self.name()?;
                left = self.call(&name, at, vec![left])?;
                continue;
            }
            if is_coalescing && sign != "??" {
                let message = [sign, " and ?? cannot be mixed: expected parentheses"];
                return Err(Fault::bad(at, message.concat()));
            }
            is_coalescing = sign == "??";
            left = match operator {
                Some(operator) if *binds == 20 && sign.starts_with(['<', '>']) => {
                    self.comparison(left, *operator, at)?
                }
                Some(operator) => {
                    // Powers are taken from the right.
                    let right = self.expression(if *binds == 100 { 100 } else { binds + 1 })?;
                    self.build.binary(*operator, left, right, at)?
                }
                None => {
                    let right = self.expression(binds + 1)?;
                    match sign {
                        "??" => self.build.push(Node::Coalesce(left, right), at)?,
                        "&&" | "and" => self.build.logical(true, left, right, at)?,
                        _ => self.build.logical(false, left, right, at)?,
                    }
                }
            };
            if is_negated {
                left = self.build.push(Node::Not(left), at)?;
            }
        }
        if precedence == 0 {
            self.conditional(left)
        } else {
            Ok(left)
        }
    }

    /// Comparisons one after the other: `1 < x < 9` is `1 < x && x < 9`.
    fn comparison(&mut self, left: Id, operator: Binary, at: Position) -> Result<Id, Fault> {
        let mut right = self.expression(21)?;
        let mut all = self.build.binary(operator, left, right, at)?;
        loop {
            let at = self.token.at;
            let operator = match self.token.kind {
                Kind::Sign("<") => Binary::Less,
                Kind::Sign(">") => Binary::Greater,
                Kind::Sign("<=") => Binary::LessOrEqual,
                Kind::Sign(">=") => Binary::GreaterOrEqual,
                _ => return Ok(all),
            };
            self.advance()?;
            let next = self.expression(21)?;
            let compared = self.build.binary(operator, right, next, at)?;
            all = self.build.logical(true, all, compared, at)?;
            right = next;
        }
    }

    fn conditional(&mut self, condition: Id) -> Result<Id, Fault> {
        let mut whole = condition;
        while self.is("?") {
            let at = self.advance()?.at;
            let then = if self.is(":") {
                whole
            } else {
                self.expression(0)?
            };
            self.expect(":")?;
            let other = self.expression(0)?;
            whole = self.build.push(Node::If(whole, then, other), at)?;
        }
        Ok(whole)
    }
}

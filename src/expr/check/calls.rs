//! Calls of functions and methods: how many arguments, and of which types.

use std::rc::Rc;

use super::{Build, Checked};
use crate::expr::fault::{Fault, Position};
use crate::expr::function::{Function, letter, type_of};
use crate::expr::node::{Id, Node};
use crate::expr::schema::{Base, Type};

impl Build<'_> {
    pub(in crate::expr) fn arity(
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

    pub(in crate::expr) fn call(
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

    pub(in crate::expr) fn method(
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

//! What is wrong with an expression, and where.

use crate::error::{Code, Error};

/// A place in the source, in bytes from its beginning.
pub type Position = usize;

/// Why an expression was refused, or why it has no value.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Fault(Box<Inner>);

/// Apart, since every step of an evaluation hands on either a value or a fault.
#[derive(Clone, Debug, Eq, PartialEq)]
struct Inner {
    code: Code,
    message: String,
    position: Option<Position>,
}

impl Fault {
    #[inline(never)]
    pub(super) fn bad(position: Position, message: impl Into<String>) -> Self {
        Self(Box::new(Inner {
            code: Code::BadExpression,
            message: message.into(),
            position: Some(position),
        }))
    }

    #[inline(never)]
    pub(super) fn failed(message: impl Into<String>) -> Self {
        Self(Box::new(Inner {
            code: Code::ExpressionFailed,
            message: message.into(),
            position: None,
        }))
    }

    /// The same at this position, if it has none yet.
    pub(super) fn at(mut self, position: Position) -> Self {
        self.0.position.get_or_insert(position);
        self
    }

    /// `bad_expression` where it was refused, `expression_failed` where its evaluation failed.
    pub fn code(&self) -> Code {
        self.0.code
    }

    /// What is wrong, and what was expected.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Where in the source.
    pub fn position(&self) -> Position {
        self.0.position.unwrap_or_default()
    }

    /// The same as an error whose message also names the line and column.
    pub fn into_error(self, source: &str) -> Error {
        let before = source.get(..self.position()).unwrap_or(source);
        let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
        let last = before.rsplit('\n').next().unwrap_or(before);
        let column = last.chars().count() + 1;
        let message = [
            "line ",
            &line.to_string(),
            ", column ",
            &column.to_string(),
            ": ",
            &self.0.message,
        ];
        Error::new(self.0.code, message.concat())
    }
}

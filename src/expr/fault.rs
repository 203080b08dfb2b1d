//! What is wrong with an expression, and where.

use crate::error::{Code, Error};

/// A place in the source, in bytes from its beginning.
pub type Position = usize;

/// Why an expression was refused, or why it has no value.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Fault {
    /// `bad_expression` where it was refused, `expression_failed` where its evaluation failed.
    pub code: Code,
    /// What is wrong, and what was expected.
    pub message: String,
    /// Where in the source.
    pub position: Position,
}

impl Fault {
    pub(super) fn bad(position: Position, message: impl Into<String>) -> Self {
        Self {
            code: Code::BadExpression,
            message: message.into(),
            position,
        }
    }

    pub(super) fn failed(message: impl Into<String>) -> Self {
        Self {
            code: Code::ExpressionFailed,
            message: message.into(),
            position: 0,
        }
    }

    /// The same as an error whose message also names the line and column.
    pub fn into_error(self, source: &str) -> Error {
        let before = source.get(..self.position).unwrap_or(source);
        let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
        let last = before.rsplit('\n').next().unwrap_or(before);
        let column = last.chars().count() + 1;
        let message = [
            "line ",
            &line.to_string(),
            ", column ",
            &column.to_string(),
            ": ",
            &self.message,
        ];
        Error::new(self.code, message.concat())
    }
}

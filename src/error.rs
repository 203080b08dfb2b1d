//! One error, one stable code.

use std::fmt;

/// What went wrong, for a program: a stable word, part of the public interface.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Code {
    /// An expression that is not one, or cannot be evaluated on what its schema declares.
    BadExpression,
    /// Options that are not what the documentation says.
    BadOptions,
    /// A selector that is none of its forms.
    BadSelector,
    /// A position that is no position of this log.
    BadSince,
    /// An expression that has no value for what it was evaluated on.
    ExpressionFailed,
    /// The log's bytes are not what a log holds.
    LogCorrupt,
    /// The log could not be read.
    LogUnreadable,
    /// The log is another one than it was.
    OtherLog,
    /// An entry that the engine cannot take; it was passed over.
    Poison,
    /// No relation of that name.
    RelationNotFound,
    /// The entries asked for are no longer in the log.
    Trimmed,
    /// A statement that would end a transaction it does not own.
    TransactionControl,
    /// A subscription that ended before it was given everything.
    Unfinished,
}

impl Code {
    /// The word itself.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::BadExpression => "bad_expression",
            Self::BadOptions => "bad_options",
            Self::BadSelector => "bad_selector",
            Self::BadSince => "bad_since",
            Self::ExpressionFailed => "expression_failed",
            Self::LogCorrupt => "log_corrupt",
            Self::LogUnreadable => "log_unreadable",
            Self::OtherLog => "other_log",
            Self::Poison => "poison",
            Self::RelationNotFound => "relation_not_found",
            Self::Trimmed => "trimmed",
            Self::TransactionControl => "transaction_control",
            Self::Unfinished => "unfinished",
        }
    }
}

/// A refusal: a code for programs, and a message that says what to do for people.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Error {
    /// What went wrong, for a program.
    pub code: Code,
    /// What went wrong and what would have been right, for a person.
    pub message: String,
}

impl Error {
    /// An error of this code, with this message.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
        }
    }

    /// Writes it as JSON: `{ code, message }`.
    pub fn write(&self, out: &mut Vec<u8>) {
        let json = serde_json::json!({ "code": self.code.as_str(), "message": self.message });
        out.extend_from_slice(json.to_string().as_bytes());
    }
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {}", self.code.as_str(), self.message)
    }
}

impl std::error::Error for Error {}

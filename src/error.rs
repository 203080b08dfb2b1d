//! One error, one stable code.

use std::fmt;

use crate::encode::json::Object;

/// What went wrong, for a program: a stable word, part of the public interface.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Code {
    /// An expression that is not one, or cannot be evaluated on what its schema declares.
    BadExpression,
    /// A heartbeat that is no duration, or out of range.
    BadHeartbeat,
    /// A lifetime that is no duration, or out of range.
    BadLifetime,
    /// Operations that a subscription does not declare.
    BadOps,
    /// Options that are not what the documentation says.
    BadOptions,
    /// A schema with at least one refusal.
    BadSchema,
    /// A selector that is none of its forms.
    BadSelector,
    /// A position that is no position of this log.
    BadSince,
    /// A value that its key does not take.
    BadValue,
    /// What was asked is closed.
    Closed,
    /// A name or a topic that is taken.
    DuplicateName,
    /// No entity of that name.
    EntityNotFound,
    /// An expression that has no value for what it was evaluated on.
    ExpressionFailed,
    /// The caller may not read the entity.
    Forbidden,
    /// The log's bytes are not what a log holds.
    LogCorrupt,
    /// The log could not be read.
    LogUnreadable,
    /// A method that the route does not take.
    MethodNotAllowed,
    /// A key that must be given.
    MissingKey,
    /// A relation without a primary key, whose rows no event could name.
    NoKey,
    /// An entity that declares no subscriptions.
    NoSubscriptionDeclared,
    /// No such route.
    NotFound,
    /// The log is another one than it was.
    OtherLog,
    /// An entry that the engine cannot take; it was passed over.
    Poison,
    /// No relation of that name.
    RelationNotFound,
    /// A relation whose rows are guarded, offered without that guard.
    RowRules,
    /// Several subscriptions, and none was named.
    SubscriptionAmbiguous,
    /// No subscription of that name.
    SubscriptionNotFound,
    /// A topic that nothing publishes to.
    TopicNotPublished,
    /// A statement that would end a transaction it does not own.
    TransactionControl,
    /// The entries asked for are no longer in the log.
    Trimmed,
    /// Nobody knows who is asking.
    Unauthenticated,
    /// A subscription that ended before it was given everything.
    Unfinished,
    /// A key that does not exist.
    UnknownKey,
    /// A key that is not supported.
    UnsupportedKey,
}

impl Code {
    /// The word itself.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::BadExpression => "bad_expression",
            Self::BadHeartbeat => "bad_heartbeat",
            Self::BadLifetime => "bad_lifetime",
            Self::BadOps => "bad_ops",
            Self::BadOptions => "bad_options",
            Self::BadSchema => "bad_schema",
            Self::BadSelector => "bad_selector",
            Self::BadSince => "bad_since",
            Self::BadValue => "bad_value",
            Self::Closed => "closed",
            Self::DuplicateName => "duplicate_name",
            Self::EntityNotFound => "entity_not_found",
            Self::ExpressionFailed => "expression_failed",
            Self::Forbidden => "forbidden",
            Self::LogCorrupt => "log_corrupt",
            Self::LogUnreadable => "log_unreadable",
            Self::MethodNotAllowed => "method_not_allowed",
            Self::MissingKey => "missing_key",
            Self::NoKey => "no_key",
            Self::NoSubscriptionDeclared => "no_subscription_declared",
            Self::NotFound => "not_found",
            Self::OtherLog => "other_log",
            Self::Poison => "poison",
            Self::RelationNotFound => "relation_not_found",
            Self::RowRules => "row_rules",
            Self::SubscriptionAmbiguous => "subscription_ambiguous",
            Self::SubscriptionNotFound => "subscription_not_found",
            Self::TopicNotPublished => "topic_not_published",
            Self::TransactionControl => "transaction_control",
            Self::Trimmed => "trimmed",
            Self::Unauthenticated => "unauthenticated",
            Self::Unfinished => "unfinished",
            Self::UnknownKey => "unknown_key",
            Self::UnsupportedKey => "unsupported_key",
        }
    }

    /// The HTTP status that says the same.
    pub const fn status(self) -> u16 {
        match self {
            Self::BadExpression
            | Self::BadHeartbeat
            | Self::BadLifetime
            | Self::BadOps
            | Self::BadOptions
            | Self::BadSchema
            | Self::BadSelector
            | Self::BadSince
            | Self::BadValue
            | Self::DuplicateName
            | Self::MissingKey
            | Self::NoKey
            | Self::RowRules
            | Self::SubscriptionAmbiguous
            | Self::TopicNotPublished
            | Self::TransactionControl
            | Self::UnknownKey
            | Self::UnsupportedKey => 400,
            Self::Unauthenticated => 401,
            Self::Forbidden => 403,
            Self::EntityNotFound
            | Self::NoSubscriptionDeclared
            | Self::NotFound
            | Self::RelationNotFound
            | Self::SubscriptionNotFound => 404,
            Self::MethodNotAllowed => 405,
            Self::OtherLog | Self::Trimmed => 410,
            Self::ExpressionFailed | Self::LogCorrupt | Self::Poison => 500,
            Self::Closed | Self::LogUnreadable | Self::Unfinished => 503,
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
        Object::new(out)
            .text("code", self.code.as_str())
            .text("message", &self.message)
            .end();
    }
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {}", self.code.as_str(), self.message)
    }
}

impl std::error::Error for Error {}

//! Expr, the language of conditions, filters and rules: compiled once, evaluated on raw cells, never to panic or hang.
//!
//! ```text
//! source ─▶ lexer ─▶ parser ─▶ check ─▶ nodes ─▶ eval
//!                               ▲                 ▲
//!                             schema         environment, limits
//! ```
//!
//! The language is that of [expr-lang](https://expr-lang.org/docs/language-definition). What a name stands for
//! is the [`Schema`]'s to say, and what it holds the [`Environment`]'s: rows as cells, which most comparisons
//! read as they stand, and values. The time is an argument. Every bound has a name: [`MAX_SOURCE`],
//! [`MAX_NESTING`], [`MAX_NODES`], [`MAX_DEPTH`], [`MAX_PATTERNS`], [`MAX_VALUE_DEPTH`] and the [`Limits`] of an evaluation.
#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "an operation names the kinds of value that it takes, and refuses all others alike"
)]

mod call;
mod canonical;
mod case;
mod cell;
mod check;
mod compare;
mod decimal;
mod eval;
mod fault;
mod function;
mod index;
pub mod json;
mod layout;
mod lexer;
mod method;
mod node;
mod number;
mod operate;
mod parser;
mod pattern;
mod predicate;
mod schema;
mod sort;
mod test;
mod text;
mod time;
mod value;

pub use check::{MAX_DEPTH, MAX_NODES, MAX_PATTERNS};
pub use eval::{Environment, Root};
pub use fault::{Fault, Position};
pub use index::Index;
pub use parser::MAX_NESTING;
pub use schema::{Schema, Shape, Type};
pub use time::Time;
pub use value::{Array, Limits, MAX_VALUE_DEPTH, Map, Value};

use eval::Evaluator;
use node::{Id, Node};
use parser::Parser;

/// How long a source may be, in bytes.
pub const MAX_SOURCE: usize = 64 << 10;

/// A compiled expression.
#[derive(Clone, Debug)]
pub struct Program {
    schema: Schema,
    nodes: Vec<Node>,
    at: Vec<Position>,
    whole: Id,
    n_variables: usize,
    canonical: String,
}

impl Program {
    /// Compiles a source for environments of this schema, or says what is wrong with it and where.
    pub fn compile(source: &str, schema: &Schema) -> Result<Self, Fault> {
        if source.len() > MAX_SOURCE {
            return Err(Fault::bad(MAX_SOURCE, "this expression is too long"));
        }
        let (build, whole) = Parser::parse(source, schema)?;
        let canonical = canonical::write(&build, whole).unwrap_or_else(|| source.to_owned());
        Ok(Self {
            schema: schema.clone(),
            nodes: build.nodes,
            at: build.at,
            whole,
            n_variables: build.n_variables,
            canonical,
        })
    }

    /// Its value.
    pub fn evaluate(
        &self,
        environment: &Environment<'_>,
        limits: &mut Limits,
    ) -> Result<Value, Fault> {
        Evaluator::new(self, environment, limits).whole()
    }

    /// Whether it holds, as a condition: false, nil, 0 and the empty string do not.
    pub fn holds(&self, environment: &Environment<'_>, limits: &mut Limits) -> Result<bool, Fault> {
        Evaluator::new(self, environment, limits).holds()
    }

    /// The same text for all sources that mean the same but for how they are written.
    pub fn canonical(&self) -> &str {
        &self.canonical
    }
}

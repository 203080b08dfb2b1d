//! What readers are given: one encoder a format, from the database's bytes straight to the reader's.

pub mod commit;
mod document;
pub mod event;
pub(crate) mod json;
mod number;
mod patch;
mod reader;
pub mod relation;
pub mod sse;
mod time;
mod value;

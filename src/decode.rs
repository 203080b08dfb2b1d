//! From a source's bytes to entries.

pub mod log;

//! The promises of the core, one file each.

mod decode_log;
mod engine;
mod feed;
mod host;
mod reader;
mod ring;
mod selector;
mod sim;
mod sql;

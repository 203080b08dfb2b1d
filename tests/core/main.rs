//! The promises of the core, one file each.

mod client;
mod decode_log;
mod encode;
mod engine;
mod expr;
mod expr_vectors;
mod feed;
mod host;
mod random;
mod reader;
mod ring;
mod row;
mod script;
mod selector;
mod sim;
mod sql;
mod stream_sim;
mod streams;

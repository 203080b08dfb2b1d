//! Millstream: a database's own commit stream, handed to everyone who needs it.
//!
//! This crate is the core. It decides everything (who is given what, in which order, what is refused) and
//! touches nothing: it reads no clock, no randomness, no socket. Bytes and the time go in through
//! [`engine::Engine::handle`], records come out, and a host does what they say.
//!
//! A commit passes these stations:
//!
//! ```text
//! capture ─▶ log ─▶ decode ─▶ reader ─▶ route ─▶ ring ─▶ encode ─▶ sink
//! └── the host's ──┘ └────────────── this crate ─────────────────┘ └ the host's
//! ```
//!
//! To read the code, begin with [`row`] and [`commit`], then go along the line; [`dispatch`] holds the
//! subscriptions that commits are offered to, and [`engine`] names all stations in one match.
//!
//! What holds everywhere:
//!
//! - A row stays the database's own text until it is encoded for its readers.
//! - Every queue has a named bound; what does not fit is read from the log again.
//! - Live delivery and catching up are one path: reading the log after a position.
//! - Nothing panics. Bad input is refused with a [`error::Code`]; what cannot be had is said aloud as a gap.

pub mod catalog;
pub mod commit;
pub mod cursor;
pub mod decode;
pub mod dispatch;
pub mod encode;
pub mod engine;
pub mod error;
pub mod expr;
#[cfg(feature = "fault")]
mod fault;
pub mod feed;
pub mod http;
pub mod reader;
pub mod record;
pub mod ring;
pub mod route;
pub mod row;
pub mod script;
pub mod selector;
pub mod sql;
pub mod stream;
pub mod subscription;
#[cfg(target_arch = "wasm32")]
pub mod wasm;

//! What an engine is opened with, and what of it is refused.

use serde::Deserialize;

use crate::error::{Code, Error};

/// What an engine is opened with.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Options {
    /// Rows of one reading, so that the database is soon free for its user again.
    pub max_read_rows: u32,
    /// Bytes of one reading, though never less than one row.
    pub max_read_bytes: u32,
    /// The size from which a commit is given in parts.
    pub max_commit_bytes: usize,
    /// How many entries the log keeps.
    pub retain_entries: u64,
    /// How long the log keeps an entry.
    pub retain_ms: u64,
    /// Entries that stopped an engine twice, and are not to be touched again.
    pub quarantine: Vec<u64>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            max_read_rows: 256,
            max_read_bytes: 1 << 20,
            max_commit_bytes: 8 << 20,
            retain_entries: 100_000,
            retain_ms: 24 * 60 * 60 * 1_000,
            quarantine: Vec::new(),
        }
    }
}

impl Options {
    /// Refuses options under which no reading would bring anything, or no entry be kept.
    pub fn check(&self) -> Result<(), Error> {
        if self.max_read_rows > 0 && self.max_read_bytes > 0 && self.retain_entries > 0 {
            return Ok(());
        }
        let message = "maxReadRows, maxReadBytes and retainEntries must be above 0";
        Err(Error::new(Code::BadOptions, message))
    }
}

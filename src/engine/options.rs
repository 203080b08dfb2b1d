//! What an engine is opened with, and what of it is refused.

use serde_json::Value;

use crate::error::{Code, Error};

/// What an engine is opened with.
#[derive(Clone, Debug)]
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
    /// Reads options from JSON; what is left out has its default. Refuses those under which no reading would
    /// bring anything, or no entry be kept.
    pub fn parse(json: &str) -> Result<Self, Error> {
        let bad = |message: String| Error::new(Code::BadOptions, message);
        let value: Value = serde_json::from_str(json).map_err(|error| bad(error.to_string()))?;
        let mut options = Self::default();
        for (name, value) in value.as_object().into_iter().flatten() {
            if name == "quarantine" {
                let seqs = value.as_array().into_iter().flatten();
                options.quarantine = seqs.filter_map(Value::as_u64).collect();
                continue;
            }
            let number = value.as_u64().filter(|number| *number > 0);
            let number = number.ok_or_else(|| {
                bad(format!(
                    "{name} is {value}; it must be a whole number above 0"
                ))
            })?;
            let small = u32::try_from(number).unwrap_or(u32::MAX);
            match name.as_str() {
                "maxReadRows" => options.max_read_rows = small,
                "maxReadBytes" => options.max_read_bytes = small,
                "maxCommitBytes" => options.max_commit_bytes = small as usize,
                "retainEntries" => options.retain_entries = number,
                "retainMs" => options.retain_ms = number,
                _ => return Err(bad(format!("there is no option '{name}'"))),
            }
        }
        Ok(options)
    }
}

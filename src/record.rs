//! What crosses the boundary: kinds of input, kinds of record, and a record's layout.
//!
//! A record is a header of 32 bytes, little-endian, then the subscriptions it concerns, then its payload:
//!
//! ```text
//! 0 kind u8 | 1 flags u8 | 2 unused u16 | 4 id u32 | 8 seq u64 | 16 payload length u32
//! 20 number of subscriptions u32 | 24 unused u64 | 32 subscriptions, u32 each | payload
//! ```
//!
//! Zeros follow up to a multiple of four bytes, so that the subscriptions can be read where they stand.

/// What the host tells the engine.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[repr(u8)]
pub enum Input {
    /// A subscription of this id: JSON `{ selector, since, resumes }`.
    Subscribe = 1,
    /// The subscription of this id ends. A payload of one byte, 1, says that its own callback asked.
    Unsubscribe = 2,
    /// The answer to the reading of this id: bytes as [`crate::decode::log`] reads them.
    Rows = 3,
    /// The reading or saving of this id failed: the reason as text.
    Failed = 4,
    /// The saving of this id is done.
    Saved = 5,
    /// Somebody may have committed.
    Wake = 6,
    /// The time asked for by `Wait` has come.
    Tick = 7,
    /// Sinks took commits: pairs of subscription (u32) and seq (u64).
    Ack = 8,
    /// A script to be split: one byte, 1 where it would run inside a transaction body, then its text.
    Sql = 9,
    /// Entity streams are opened: JSON `{ schema, tenant, namespace, guarded, resumes }`.
    Open = 10,
    /// Entity streams are closed.
    Close = 11,
    /// A request of this id: JSON as [`crate::http::Request`] reads it.
    Request = 12,
    /// The read of this id was done: JSON `{ guarded }`, `{ denied }` or `{ failed }`.
    Read = 13,
    /// The sink of this stream is full.
    Full = 14,
    /// The sink of this stream has room again.
    Ready = 15,
    /// The client of this stream is gone.
    Gone = 16,
    /// What was counted is to be told.
    Statistics = 17,
}

impl Input {
    /// The kind with this number.
    pub const fn from_number(number: u8) -> Option<Self> {
        Some(match number {
            1 => Self::Subscribe,
            2 => Self::Unsubscribe,
            3 => Self::Rows,
            4 => Self::Failed,
            5 => Self::Saved,
            6 => Self::Wake,
            7 => Self::Tick,
            8 => Self::Ack,
            9 => Self::Sql,
            10 => Self::Open,
            11 => Self::Close,
            12 => Self::Request,
            13 => Self::Read,
            14 => Self::Full,
            15 => Self::Ready,
            16 => Self::Gone,
            17 => Self::Statistics,
            _ => return None,
        })
    }
}

/// What the engine tells the host.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[repr(u8)]
pub enum Record {
    /// Read the log after `seq`: u32 relation version after which to read, u32 rows, u32 bytes at most. With
    /// flag 1, after a turn in which sinks may say that they are full, or have room.
    ReadLog = 1,
    /// Trim the log: u64 to, u64 before (ms), u32 limit.
    Trim = 2,
    /// A relation version of this id, as JSON: what an entry's `relation` number stands for.
    Relation = 3,
    /// A commit for these subscriptions: `[commit, patches]` as [`crate::encode::commit`] writes them.
    Commit = 4,
    /// These subscriptions missed entries up to `seq`: JSON `{ reason, oldest, head }`.
    Gap = 5,
    /// The subscription of this id has begun, after `seq`.
    Started = 6,
    /// The subscription or stream of this id has ended: nothing, or JSON `{ code, message }`.
    Closed = 7,
    /// Something is wrong that concerns everybody: JSON `{ code, message }`.
    Fault = 8,
    /// The script of this id: JSON `{ opens, steps }` or, with flag 1, `{ code, message }`.
    Script = 9,
    /// Nothing more until an input, or until `seq` (ms) where it is not the largest number. Always last.
    Wait = 10,
    /// The schema of this id: JSON, a list of what is wrong with it, `{ code, path, message }`. With nothing
    /// wrong, entity streams are open.
    Opened = 11,
    /// Read a row as the caller of this request: JSON `{ namespace, name }`.
    Read = 12,
    /// Answer this request: JSON `{ status, headers, body }`; with flag 1, a stream takes the body's place.
    Respond = 13,
    /// Frames for these streams. They then stand after entry `seq`; with flag 1, within it; with flag 2,
    /// where they stood.
    Frames = 14,
    /// What was counted, as JSON; null where nothing is open.
    Statistics = 15,
}

const HEADER: usize = 32;

/// The records of one drain.
#[derive(Debug, Default)]
pub struct Out {
    bytes: Vec<u8>,
}

impl Out {
    /// The records so far.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Forgets all records, and returns memory that only an unusual drain needed.
    pub fn clear(&mut self) {
        const KEEP: usize = 1 << 20;
        self.bytes.clear();
        self.bytes.shrink_to(KEEP);
    }

    /// A record whose payload `write` appends.
    pub fn record(
        &mut self,
        kind: Record,
        id: u32,
        seq: u64,
        subscriptions: &[u32],
        write: impl FnOnce(&mut Vec<u8>),
    ) {
        self.flagged(kind, 0, id, seq, subscriptions, write);
    }

    /// A record with flags.
    pub fn flagged(
        &mut self,
        kind: Record,
        flags: u8,
        id: u32,
        seq: u64,
        subscriptions: &[u32],
        write: impl FnOnce(&mut Vec<u8>),
    ) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(&[kind as u8, flags, 0, 0]);
        self.bytes.extend_from_slice(&id.to_le_bytes());
        self.bytes.extend_from_slice(&seq.to_le_bytes());
        self.bytes.extend_from_slice(&[0; 4]);
        self.bytes
            .extend_from_slice(&length(subscriptions.len()).to_le_bytes());
        self.bytes.extend_from_slice(&[0; 8]);
        // Many at once, since there may be ten thousand.
        for some in subscriptions.chunks(64) {
            let mut packed = [0; 256];
            for (slot, id) in packed.as_chunks_mut().0.iter_mut().zip(some) {
                *slot = id.to_le_bytes();
            }
            let packed = packed.get(..4 * some.len()).unwrap_or_default();
            self.bytes.extend_from_slice(packed);
        }
        let payload = start + HEADER + 4 * subscriptions.len();
        write(&mut self.bytes);
        let written = length(self.bytes.len().saturating_sub(payload));
        if let Some(slot) = self.bytes.get_mut(start + 16..start + 20) {
            slot.copy_from_slice(&written.to_le_bytes());
        }
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
    }
}

/// A length in a header. Memory ends at 4 GiB where this runs, so none is larger.
fn length(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

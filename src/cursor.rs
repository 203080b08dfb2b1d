//! Where a reader of events stands, and the ids that tell it: between two events of the log.
//!
//! An event's id is a ULID: 48 bits of the log's time, 26 that stand for its epoch, and 54 of the cursor
//! right after the event. It is computed, never stored: the same for every reader, growing along the log,
//! and a reader that shows it again goes on where it was. Its text is Crockford's Base 32, as the ULID
//! specification has it.

/// The place after an event: twice the entry's number, and one more where the entry has no further event.
#[derive(Clone, Copy, Debug, Default, Eq, Ord, PartialEq, PartialOrd)]
pub struct Cursor(u64);

impl Cursor {
    const BITS: u32 = 54;

    /// The place after all events of an entry.
    pub const fn after(seq: u64) -> Self {
        Self(seq * 2 + 1)
    }

    /// The place within an entry, after the first of its two events.
    pub const fn within(seq: u64) -> Self {
        Self(seq * 2)
    }

    /// The last entry whose events all lie before this place: after which to read on.
    pub const fn seq(self) -> u64 {
        self.0.div_ceil(2).saturating_sub(1)
    }

    /// Whether an entry's first event lies before this place and its second one after it.
    pub const fn is_within(self) -> bool {
        self.0 > 0 && self.0.is_multiple_of(2)
    }

    /// As a number that grows along the log.
    pub const fn number(self) -> u64 {
        self.0
    }

    /// The cursor of this number.
    pub const fn from_number(number: u64) -> Self {
        Self(number)
    }
}

/// An event's id.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct EventId {
    /// When the entry was logged: milliseconds since 1970.
    pub time_ms: u64,
    /// What stands for the log's epoch.
    pub tag: u32,
    /// The place after the event.
    pub cursor: Cursor,
}

/// The digits of Crockford's Base 32.
const DIGITS: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
/// How many digits an id has.
const LENGTH: usize = 26;

impl EventId {
    const TAG_BITS: u32 = 26;

    /// Writes the 26 digits.
    pub fn write(self, out: &mut Vec<u8>) {
        let mut rest = self.bits();
        let mut digits = [0; LENGTH];
        for twelve in digits.rchunks_mut(12) {
            // Sixty bits at a time, since a machine has no use for more at once.
            let mut bits = (rest & ((1 << 60) - 1)) as u64;
            rest >>= 60;
            for digit in twelve.iter_mut().rev() {
                *digit = DIGITS.get((bits & 31) as usize).copied().unwrap_or(b'0');
                bits >>= 5;
            }
        }
        out.extend_from_slice(&digits);
    }

    /// Reads an id, in either case; nothing where it is none.
    pub fn parse(text: &str) -> Option<Self> {
        if text.len() != LENGTH {
            return None;
        }
        let mut bits: u128 = 0;
        for (index, character) in text.bytes().enumerate() {
            let upper = character.to_ascii_uppercase();
            let digit = DIGITS.iter().position(|digit| *digit == upper)?;
            if index == 0 && digit > 7 {
                return None;
            }
            bits = bits << 5 | digit as u128;
        }
        let field = |shift: u32, width: u32| bits >> shift & ((1 << width) - 1);
        let tag = field(Cursor::BITS, Self::TAG_BITS);
        Some(Self {
            time_ms: u64::try_from(field(Cursor::BITS + Self::TAG_BITS, 48)).ok()?,
            tag: u32::try_from(tag).ok()?,
            cursor: Cursor(u64::try_from(field(0, Cursor::BITS)).ok()?),
        })
    }

    fn bits(self) -> u128 {
        u128::from(self.time_ms) << (Cursor::BITS + Self::TAG_BITS)
            | u128::from(self.tag) << Cursor::BITS
            | u128::from(self.cursor.0)
    }

    /// What stands for an epoch in an id: FNV-1a, folded.
    pub fn tag(epoch: &str) -> u32 {
        let hash = epoch.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        let folded = (hash ^ hash >> Self::TAG_BITS) % (1 << Self::TAG_BITS);
        u32::try_from(folded).unwrap_or(0)
    }
}

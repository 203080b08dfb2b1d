//! Exact decimal numbers as the text that the database writes: compared, added and multiplied digit by digit.

use std::cmp::Ordering;

/// The most digits that arithmetic takes on; PostgreSQL itself keeps at most 16,383 after the point.
const MAX_DIGITS: usize = 20_000;

/// The value of a number's text.
#[derive(Clone, Copy, Debug)]
pub(super) enum Decimal<'a> {
    /// As `NaN`, which PostgreSQL holds to be equal to itself and greater than all else.
    NaN,
    /// One of the infinities: whether it is the negative one.
    Infinite(bool),
    Finite {
        negative: bool,
        /// From the first significant digit to the last, perhaps with a point between; empty for zero.
        digits: &'a [u8],
        /// The power of ten of the first digit.
        power: i64,
    },
}

impl<'a> Decimal<'a> {
    pub(super) fn read(text: &'a str) -> Option<Self> {
        let (negative, rest) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        match rest {
            "NaN" => return Some(Self::NaN),
            "Infinity" => return Some(Self::Infinite(negative)),
            _ => {}
        }
        let (mantissa, exponent) = match rest.find(['e', 'E']) {
            Some(at) => (rest.get(..at)?, rest.get(at + 1..)?.parse::<i32>().ok()?),
            None => (rest, 0),
        };
        let bytes = mantissa.as_bytes();
        let (mut point, mut first, mut last) = (bytes.len(), None, 0);
        let mut n_digits = 0;
        for (index, byte) in bytes.iter().enumerate() {
            match byte {
                b'0' => n_digits += 1,
                b'1'..=b'9' => {
                    n_digits += 1;
                    first = first.or(Some(index));
                    last = index;
                }
                b'.' if point == bytes.len() => point = index,
                _ => return None,
            }
        }
        if n_digits == 0 {
            return None;
        }
        let Some(first) = first else {
            return Some(Self::Finite {
                negative: false,
                digits: &[],
                power: 0,
            });
        };
        let (first_place, point) = (i64::try_from(first).ok()?, i64::try_from(point).ok()?);
        // A place after the point counts the point.
        let power = point - first_place - i64::from(first_place < point);
        Some(Self::Finite {
            negative,
            digits: bytes.get(first..=last)?,
            power: power + i64::from(exponent),
        })
    }

    pub(super) fn cmp(self, other: Self) -> Ordering {
        match (self.rank(), other.rank()) {
            (mine, others) if mine != others => mine.cmp(&others),
            (-1, _) => other.cmp_size(self),
            _ => self.cmp_size(other),
        }
    }

    /// Which of the five: an infinity, a sign, NaN.
    const fn rank(self) -> i8 {
        match self {
            Self::Infinite(true) => -2,
            Self::Finite { digits: [], .. } => 0,
            Self::Finite { negative: true, .. } => -1,
            Self::Finite { .. } => 1,
            Self::Infinite(false) => 2,
            Self::NaN => 3,
        }
    }

    fn cmp_size(self, other: Self) -> Ordering {
        let (
            Self::Finite { digits, power, .. },
            Self::Finite {
                digits: others,
                power: other,
                ..
            },
        ) = (self, other)
        else {
            return Ordering::Equal;
        };
        let power = power.cmp(&other);
        power.then_with(|| significant(digits).cmp(significant(others)))
    }

    /// Its digits, the least first, down to a power of ten.
    fn spread(self, lowest: i64) -> Option<(bool, Vec<u8>)> {
        let Self::Finite {
            negative,
            digits,
            power,
        } = self
        else {
            return None;
        };
        if usize::try_from(-lowest).ok()? > MAX_DIGITS {
            return None;
        }
        if digits.is_empty() {
            return Some((false, Vec::new()));
        }
        let length = usize::try_from(power - lowest + 1).ok()?;
        if length > MAX_DIGITS {
            return None;
        }
        let mut spread: Vec<u8> = significant(digits).map(|digit| digit - b'0').collect();
        spread.resize(length, 0);
        spread.reverse();
        Some((negative, spread))
    }

    /// The power of ten of the last digit, at most that of one.
    fn lowest(self) -> i64 {
        match self {
            Self::Finite { digits, power, .. } => {
                let n_digits = i64::try_from(significant(digits).count()).unwrap_or(i64::MAX);
                power.saturating_sub(n_digits.saturating_sub(1)).min(0)
            }
            Self::NaN | Self::Infinite(_) => 0,
        }
    }

    /// The sum, or nothing where one of them is no finite number or is too long.
    pub(super) fn add(self, other: Self) -> Option<String> {
        let lowest = self.lowest().min(other.lowest());
        let (negative, left) = self.spread(lowest)?;
        let (other_negative, right) = other.spread(lowest)?;
        if negative == other_negative {
            return Some(write(negative, &sum(&left, &right), lowest));
        }
        Some(if self.cmp_size_to_zero(other) == Ordering::Less {
            write(other_negative, &difference(&right, &left), lowest)
        } else {
            write(negative, &difference(&left, &right), lowest)
        })
    }

    /// Compares sizes, of which either may be zero.
    fn cmp_size_to_zero(self, other: Self) -> Ordering {
        match (self.rank(), other.rank()) {
            (0, 0) => Ordering::Equal,
            (0, _) => Ordering::Less,
            (_, 0) => Ordering::Greater,
            _ => self.cmp_size(other),
        }
    }

    /// The same on the other side of zero.
    pub(super) const fn negated(self) -> Self {
        match self {
            Self::NaN => Self::NaN,
            Self::Infinite(negative) => Self::Infinite(!negative),
            Self::Finite {
                negative,
                digits,
                power,
            } => Self::Finite {
                negative: !negative,
                digits,
                power,
            },
        }
    }

    /// The product, or nothing as with a sum.
    pub(super) fn multiply(self, other: Self) -> Option<String> {
        let (lowest, others) = (self.lowest(), other.lowest());
        let (negative, left) = self.spread(lowest)?;
        let (other_negative, right) = other.spread(others)?;
        let mut digits = vec![0_u32; left.len() + right.len() + 1];
        for (index, digit) in left.iter().enumerate() {
            for (place, factor) in digits.iter_mut().skip(index).zip(&right) {
                *place += u32::from(*digit) * u32::from(*factor);
            }
        }
        let mut carry = 0;
        let carried = digits.iter().map(|digit| {
            let whole = digit + carry;
            carry = whole / 10;
            u8::try_from(whole % 10).unwrap_or_default()
        });
        let digits: Vec<u8> = carried.collect();
        Some(write(negative != other_negative, &digits, lowest + others))
    }

    /// How many digits arithmetic would go through.
    pub(super) fn size(self) -> usize {
        match self {
            Self::Finite { digits, .. } => digits.len(),
            Self::NaN | Self::Infinite(_) => 1,
        }
    }
}

fn significant(digits: &[u8]) -> impl Iterator<Item = u8> {
    digits.iter().copied().filter(|byte| *byte != b'.')
}

fn sum(left: &[u8], right: &[u8]) -> Vec<u8> {
    let mut carry = 0;
    let length = left.len().max(right.len()) + 1;
    let digit = |digits: &[u8], index| digits.get(index).copied().unwrap_or_default();
    (0..length)
        .map(|index| {
            let whole = digit(left, index) + digit(right, index) + carry;
            carry = whole / 10;
            whole % 10
        })
        .collect()
}

/// The greater less the smaller.
fn difference(greater: &[u8], smaller: &[u8]) -> Vec<u8> {
    let mut borrow = 0;
    greater
        .iter()
        .enumerate()
        .map(|(index, digit)| {
            let taken = smaller.get(index).copied().unwrap_or_default() + borrow;
            borrow = u8::from(*digit < taken);
            digit + borrow * 10 - taken
        })
        .collect()
}

/// The text of digits, of which the first has a power of ten that is at most that of one.
fn write(negative: bool, digits: &[u8], lowest: i64) -> String {
    let n_fraction = usize::try_from(-lowest).unwrap_or_default();
    let is_zero = digits.iter().all(|digit| *digit == 0);
    let mut text = String::from(if negative && !is_zero { "-" } else { "" });
    let n_whole = digits.iter().rposition(|digit| *digit != 0);
    let n_places = n_whole.map_or(0, |last| last + 1).max(n_fraction + 1);
    for index in (0..n_places).rev() {
        let digit = digits.get(index).copied().unwrap_or_default();
        text.push(char::from(b'0' + digit));
        if index == n_fraction && n_fraction > 0 {
            text.push('.');
        }
    }
    text
}

/// Whether two texts of numbers, or of what is none, have one value.
pub(super) fn cmp(left: &str, right: &str) -> Option<Ordering> {
    Some(Decimal::read(left)?.cmp(Decimal::read(right)?))
}

/// How the text of a decimal stands to an integer, where the text is so short and plain that one look tells.
pub(super) fn with_int(text: &str, int: i64) -> Option<Ordering> {
    /// So many digits always fit an integer.
    const PLAIN_DIGITS: usize = 18;
    let (negative, digits) = match text.as_bytes() {
        [b'-', digits @ ..] => (true, digits),
        digits => (false, digits),
    };
    let (mut whole, mut length) = (0_i64, 0);
    for byte in digits {
        if !byte.is_ascii_digit() {
            break;
        }
        whole = whole.wrapping_mul(10).wrapping_add(i64::from(byte - b'0'));
        length += 1;
    }
    let fraction = match digits.get(length..)? {
        [] => false,
        [b'.', fraction @ ..] => fraction.iter().any(|byte| *byte != b'0'),
        _ => return None,
    };
    if length == 0 || length > PLAIN_DIGITS {
        return None;
    }
    let order = if negative { -whole } else { whole }.cmp(&int);
    let beyond = if negative {
        Ordering::Less
    } else {
        Ordering::Greater
    };
    Some(if fraction { order.then(beyond) } else { order })
}

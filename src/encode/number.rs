//! Numbers as text, and what JavaScript makes of them.

/// The text of a number, in JSON's grammar.
#[derive(Clone, Copy, Debug)]
pub(super) struct Number<'a> {
    pub(super) text: &'a str,
    has_fraction: bool,
    has_exponent: bool,
}

/// What is left of a number's value once JavaScript has read it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Fit {
    /// All of it.
    Exact,
    /// Not all, but it is an integer, so a `BigInt` can hold it.
    Integer,
    /// Not all.
    Inexact,
}

impl<'a> Number<'a> {
    /// The number that the text is, if it is one.
    pub(super) fn new(text: &'a str) -> Option<Self> {
        Self::leading(text).filter(|number| number.text.len() == text.len())
    }

    /// The number that the text begins with, if it does.
    pub(super) fn leading(text: &'a str) -> Option<Self> {
        let bytes = text.as_bytes();
        let start = usize::from(bytes.first() == Some(&b'-'));
        let mut end = start + digits(bytes, start);
        // A leading zero stands alone.
        if end == start || bytes.get(start) == Some(&b'0') && end > start + 1 {
            return None;
        }
        let has_fraction = bytes.get(end) == Some(&b'.');
        if has_fraction {
            let length = digits(bytes, end + 1);
            if length == 0 {
                return None;
            }
            end += 1 + length;
        }
        let has_exponent = matches!(bytes.get(end), Some(b'e' | b'E'));
        if has_exponent {
            let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
            let length = digits(bytes, end + 1 + sign);
            if length == 0 {
                return None;
            }
            end += 1 + sign + length;
        }
        Some(Self {
            text: text.get(..end)?,
            has_fraction,
            has_exponent,
        })
    }

    /// What JavaScript leaves of it.
    pub(super) fn fit(&self) -> Fit {
        // Fifteen digits always survive, where no exponent takes them out of range.
        if self.text.len() <= 15 && !self.has_exponent {
            return Fit::Exact;
        }
        if self.has_fraction || self.has_exponent {
            return if self.survives() {
                Fit::Exact
            } else {
                Fit::Inexact
            };
        }
        if self.is_safe() {
            Fit::Exact
        } else {
            Fit::Integer
        }
    }

    /// Whether JavaScript reads it as something else than an infinity.
    pub(super) fn is_finite(&self) -> bool {
        let is_short = self.text.len() < 300 && !self.has_exponent;
        is_short || self.text.parse::<f64>().is_ok_and(f64::is_finite)
    }

    /// Whether an integer is among those that JavaScript calls safe.
    fn is_safe(&self) -> bool {
        const MAX_SAFE_INTEGER: &str = "9007199254740991";
        let digits = self.text.trim_start_matches('-');
        digits.len() < MAX_SAFE_INTEGER.len()
            || digits.len() == MAX_SAFE_INTEGER.len() && digits <= MAX_SAFE_INTEGER
    }

    /// Whether a double, printed again, has this value.
    fn survives(&self) -> bool {
        let Some((digits, exponent)) = scientific(self.text) else {
            return true;
        };
        // No double needs more than seventeen digits.
        if digits.clone().nth(17).is_some() {
            return false;
        }
        let Ok(double) = self.text.parse::<f64>() else {
            return false;
        };
        let printed = format!("{double:e}");
        scientific(&printed).is_some_and(|(printed, printed_exponent)| {
            exponent == printed_exponent && digits.eq(printed)
        })
    }
}

/// How many digits stand there.
fn digits(bytes: &[u8], start: usize) -> usize {
    let rest = bytes.get(start..).unwrap_or_default();
    let end = rest.iter().position(|byte| !byte.is_ascii_digit());
    end.unwrap_or(rest.len())
}

/// A number's significant digits, and the power of ten of the first; nothing for zero.
fn scientific(number: &str) -> Option<(impl Iterator<Item = u8> + Clone, i64)> {
    let (mantissa, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
    let mantissa = mantissa.trim_start_matches('-');
    let point = mantissa.find('.').unwrap_or(mantissa.len());
    let first = mantissa.find(|digit| matches!(digit, '1'..='9'))?;
    let significant = mantissa.get(first..)?.trim_end_matches(['0', '.']);

    // One past the range of exponents is past that of doubles too.
    let exponent = exponent.parse().unwrap_or(i64::MAX);
    let power = if first < point {
        i64::try_from(point - first - 1)
    } else {
        i64::try_from(first - point).map(|places| -places)
    };
    let digits = significant.bytes().filter(|&byte| byte != b'.');
    Some((digits, power.unwrap_or(0).saturating_add(exponent)))
}

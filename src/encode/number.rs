//! Numbers as text, and what JavaScript makes of them.

/// The text of a number, in JSON's grammar.
#[derive(Clone, Copy, Debug)]
pub(super) struct Number<'a> {
    pub(super) text: &'a [u8],
    /// Where the digits end that stand before a point.
    whole: usize,
    /// Where those end that stand before an exponent.
    mantissa: usize,
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
    pub(super) fn new(text: &'a [u8]) -> Option<Self> {
        Self::leading(text).filter(|number| number.text.len() == text.len())
    }

    /// The number that the text begins with, if it does.
    pub(super) fn leading(text: &'a [u8]) -> Option<Self> {
        let sign = usize::from(text.first() == Some(&b'-'));
        let whole = digits(text, sign)?;
        // A leading zero stands alone.
        if text.get(sign) == Some(&b'0') && whole > sign + 1 {
            return None;
        }
        let mantissa = match text.get(whole) {
            Some(b'.') => digits(text, whole + 1)?,
            _ => whole,
        };
        let end = match text.get(mantissa) {
            Some(b'e' | b'E') => {
                let sign = usize::from(matches!(text.get(mantissa + 1), Some(b'+' | b'-')));
                digits(text, mantissa + 1 + sign)?
            }
            _ => mantissa,
        };
        let text = text.get(..end)?;
        Some(Self {
            text,
            whole,
            mantissa,
        })
    }

    /// What JavaScript leaves of it.
    pub(super) fn fit(&self) -> Fit {
        let is_integer = self.text.len() == self.whole;
        let has_exponent = self.text.len() > self.mantissa;
        // Fifteen digits always survive, where no exponent takes them out of range.
        if self.text.len() <= 15 && !has_exponent {
            Fit::Exact
        } else if is_integer && !self.is_safe() {
            Fit::Integer
        } else if is_integer || self.survives() {
            Fit::Exact
        } else {
            Fit::Inexact
        }
    }

    /// Whether JavaScript reads it as something else than an infinity.
    pub(super) fn is_finite(&self) -> bool {
        let has_exponent = self.text.len() > self.mantissa;
        // The greatest double has 309 digits before its point.
        self.whole < 300 && !has_exponent || self.double().is_some_and(f64::is_finite)
    }

    /// Whether an integer is among those that JavaScript calls safe.
    fn is_safe(&self) -> bool {
        const MAX_SAFE_INTEGER: &[u8] = b"9007199254740991";
        let digits = self.text.strip_prefix(b"-").unwrap_or(self.text);
        digits.len() < MAX_SAFE_INTEGER.len()
            || digits.len() == MAX_SAFE_INTEGER.len() && digits <= MAX_SAFE_INTEGER
    }

    /// Whether a double, printed again, has this value.
    fn survives(&self) -> bool {
        let Some(double) = self.double() else {
            return false;
        };
        let mut buffer = zmij::Buffer::new();
        let printed = buffer.format(double).as_bytes();
        if printed == self.text {
            return true;
        }
        // An infinity is printed as no number.
        let Some(printed) = Number::new(printed) else {
            return false;
        };
        match (self.scientific(), printed.scientific()) {
            (Some((digits, power)), Some((printed_digits, printed_power))) => {
                power == printed_power && digits.eq(printed_digits)
            }
            (None, None) => true,
            _ => false,
        }
    }

    fn double(&self) -> Option<f64> {
        str::from_utf8(self.text).ok()?.parse().ok()
    }

    /// Its significant digits, and the power of ten of the first; nothing for zero.
    fn scientific(&self) -> Option<(impl Iterator<Item = u8> + Clone + use<'a>, i64)> {
        let mantissa = self.text.get(..self.mantissa)?;
        let is_significant = |byte: &u8| matches!(byte, b'1'..=b'9');
        let first = mantissa.iter().position(is_significant)?;
        let last = mantissa.iter().rposition(is_significant)?;
        let digits = mantissa.get(first..=last)?.iter().copied();

        let exponent = match self.text.get(self.mantissa + 1..) {
            // One past the range of integers is past that of doubles too.
            Some(exponent) => str::from_utf8(exponent).ok()?.parse().unwrap_or(i64::MAX),
            None => 0,
        };
        // A place after the point counts the point.
        let power = if first < self.whole {
            i64::try_from(self.whole - first - 1)
        } else {
            i64::try_from(first - self.whole).map(|places| -places)
        };
        Some((
            digits.filter(|&byte| byte != b'.'),
            power.ok()?.saturating_add(exponent),
        ))
    }
}

/// Where the digits end that begin there, if one does.
fn digits(text: &[u8], start: usize) -> Option<usize> {
    let digits = text.get(start..)?;
    let end = digits.iter().position(|byte| !byte.is_ascii_digit());
    let length = end.unwrap_or(digits.len());
    (length > 0).then_some(start + length)
}

//! Points in time and spans of it: the calendar, Go's layouts, and what PostgreSQL writes.

use super::layout;

/// Nanoseconds in a second.
const NANOS: i64 = 1_000_000_000;
const DAY: i64 = 86_400;
/// The years that a point in time may lie in; PostgreSQL's end in 294276.
pub(super) const YEARS: std::ops::RangeInclusive<i64> = -300_000..=300_000;

/// A point in time, or one of the infinities, which come before and after all others.
#[derive(Clone, Copy, Debug)]
pub struct Time {
    /// Since 1970.
    pub seconds: i64,
    /// Within the second.
    pub nanos: u32,
    /// Where its clock stands, in seconds east of UTC. It does not matter to comparing.
    pub offset: i32,
}

impl PartialEq for Time {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Time {}

impl PartialOrd for Time {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Time {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.seconds, self.nanos).cmp(&(other.seconds, other.nanos))
    }
}

/// A date and the time of its day, as a clock shows them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Civil {
    pub(super) year: i64,
    pub(super) month: i64,
    pub(super) day: i64,
    pub(super) hour: i64,
    pub(super) minute: i64,
    pub(super) second: i64,
    pub(super) nanos: u32,
}

impl Time {
    const INFINITY: Self = Self {
        seconds: i64::MAX,
        nanos: 0,
        offset: 0,
    };
    const MINUS_INFINITY: Self = Self {
        seconds: i64::MIN,
        ..Self::INFINITY
    };

    /// The time of this many milliseconds since 1970.
    pub fn from_ms(ms: u64) -> Self {
        Self {
            seconds: i64::try_from(ms / 1000).unwrap_or(i64::MAX),
            nanos: u32::try_from(ms % 1000).unwrap_or_default() * 1_000_000,
            offset: 0,
        }
    }

    /// What PostgreSQL's text of a date or timestamp means, if it is one. Without a zone it is UTC's.
    pub fn of_database(text: &str) -> Option<Self> {
        match text {
            "infinity" => return Some(Self::INFINITY),
            "-infinity" => return Some(Self::MINUS_INFINITY),
            _ => {}
        }
        let (text, is_bc) = text
            .strip_suffix(" BC")
            .map_or((text, false), |text| (text, true));
        let (date, time) = text.split_once([' ', 'T']).unwrap_or((text, "00:00:00"));
        let mut parts = date.split('-');
        let mut part = |n_digits| {
            let part = parts.next().filter(|part| part.len() >= n_digits)?;
            part.bytes()
                .all(|byte| byte.is_ascii_digit())
                .then_some(part)?;
            part.parse::<i64>().ok()
        };
        let (year, month, day) = (part(4)?, part(2)?, part(2)?);
        if parts.next().is_some() {
            return None;
        }
        let zone = time.find(['+', '-', 'Z']).unwrap_or(time.len());
        let (clock, zone) = time.split_at_checked(zone)?;
        let (clock, _) = layout::parse("15:04:05", clock)?;
        let (_, offset) = match zone {
            "" | "Z" => (Civil::default(), 0),
            zone if zone.len() == 3 => layout::parse("-07", zone)?,
            zone if zone.len() == 6 => layout::parse("-07:00", zone)?,
            zone => layout::parse("-07:00:00", zone)?,
        };
        let year = if is_bc { 1 - year } else { year };
        Self::of_civil(
            &Civil {
                year,
                month,
                day,
                ..clock
            },
            offset,
        )
    }

    /// The time that a clock at an offset shows, where it is a date.
    pub(super) fn of_civil(civil: &Civil, offset: i32) -> Option<Self> {
        let Civil {
            year, month, day, ..
        } = *civil;
        if !YEARS.contains(&year) || day < 1 || day > days_in(year, month)? {
            return None;
        }
        // PostgreSQL knows an hour 24 too, and second 60; both are those of the next.
        let clock = civil.hour * 3600 + civil.minute * 60 + civil.second;
        Some(Self {
            seconds: days_before(year, month, day) * DAY + clock - i64::from(offset),
            nanos: civil.nanos,
            offset,
        })
    }

    /// What its clock shows; nothing for an infinity.
    pub(super) fn civil(self) -> Option<Civil> {
        let local = self.seconds.checked_add(i64::from(self.offset))?;
        if matches!(self.seconds, i64::MIN | i64::MAX) {
            return None;
        }
        let (year, month, day) = date_of(local.div_euclid(DAY));
        let clock = local.rem_euclid(DAY);
        Some(Civil {
            year,
            month,
            day,
            hour: clock / 3600,
            minute: clock / 60 % 60,
            second: clock % 60,
            nanos: self.nanos,
        })
    }

    /// Days since 1970 of its date.
    pub(super) const fn days(self) -> i64 {
        self.seconds
            .saturating_add(self.offset as i64)
            .div_euclid(DAY)
    }

    /// The time that is this many nanoseconds later, if it can be one.
    pub(super) fn plus(self, nanos: i64) -> Option<Self> {
        let sum = i64::from(self.nanos) + nanos.rem_euclid(NANOS);
        let seconds = self
            .seconds
            .checked_add(nanos.div_euclid(NANOS) + sum / NANOS)?;
        let later = Self {
            seconds,
            nanos: u32::try_from(sum % NANOS).ok()?,
            ..self
        };
        YEARS.contains(&date_of(later.days()).0).then_some(later)
    }

    /// How many nanoseconds lie between another time and this; the most there can be, where it is more.
    pub(super) fn since(self, other: Self) -> i64 {
        let seconds = i128::from(self.seconds) - i128::from(other.seconds);
        let nanos = seconds * i128::from(NANOS) + i128::from(self.nanos) - i128::from(other.nanos);
        i64::try_from(nanos).unwrap_or(if nanos > 0 { i64::MAX } else { i64::MIN })
    }

    /// Its text in a layout of Go.
    pub fn format(&self, layout: &str) -> String {
        match self.civil() {
            Some(civil) => layout::format(layout, &civil, *self),
            None if self.seconds > 0 => "infinity".into(),
            None => "-infinity".into(),
        }
    }
}

/// Days from 1970 to a date of the Gregorian calendar, by eras of 400 years that begin in March.
pub(super) const fn days_before(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// The date that is so many days after 1970 began.
const fn date_of(days: i64) -> (i64, i64, i64) {
    let days = days.saturating_add(719_468);
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year + era * 400;
    (if month <= 2 { year + 1 } else { year }, month, day)
}

fn days_in(year: i64, month: i64) -> Option<i64> {
    Some(match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    })
}

/// What spans are measured in, the longest first, with nanoseconds in each.
const UNITS: [(&str, i64); 8] = [
    ("h", 3600 * NANOS),
    ("ms", 1_000_000),
    ("m", 60 * NANOS),
    ("ns", 1),
    ("us", 1000),
    ("µs", 1000),
    ("μs", 1000),
    ("s", NANOS),
];

/// The nanoseconds of a span like `1h30m`, `-1.5h` or `0`.
pub(super) fn parse_duration(text: &str) -> Option<i64> {
    let (negative, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if rest == "0" {
        return Some(0);
    }
    let mut nanos: i128 = 0;
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let end = rest.find(|letter: char| !letter.is_ascii_digit() && letter != '.')?;
        let (number, tail) = rest.split_at_checked(end)?;
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        if whole.is_empty() && fraction.is_empty() || whole.len() > 18 || fraction.contains('.') {
            return None;
        }
        let unit = UNITS.iter().find(|(name, _)| tail.starts_with(name))?;
        let part = |digits: &str| digits.parse::<i128>().unwrap_or_default();
        let fraction = fraction.get(..fraction.len().min(18))?;
        let scale = 10_i128.pow(u32::try_from(fraction.len()).ok()?);
        nanos += part(whole) * i128::from(unit.1) + part(fraction) * i128::from(unit.1) / scale;
        rest = tail.get(unit.0.len()..)?;
    }
    i64::try_from(if negative { -nanos } else { nanos }).ok()
}

/// A span as Go prints it: `1h30m0s`, `1.5s`, `300ms`.
pub(super) fn duration_text(nanos: i64) -> String {
    let size = nanos.unsigned_abs();
    let sign = if nanos < 0 { "-" } else { "" };
    let with_fraction = |whole: u64, fraction: u64, n_digits: usize| {
        let digits = (10_u64.pow(9) + fraction).to_string();
        let digits = digits
            .get(10 - n_digits..)
            .unwrap_or_default()
            .trim_end_matches('0');
        let point = if digits.is_empty() { "" } else { "." };
        [&whole.to_string(), point, digits].concat()
    };
    let text = match size {
        0 => "0s".to_owned(),
        1..1_000 => [&size.to_string(), "ns"].concat(),
        1_000..1_000_000 => [&with_fraction(size / 1000, size % 1000, 3), "µs"].concat(),
        1_000_000..1_000_000_000 => {
            [&with_fraction(size / 1_000_000, size % 1_000_000, 6), "ms"].concat()
        }
        _ => {
            let seconds = size / 1_000_000_000;
            let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
            let mut text = String::new();
            if hours > 0 {
                text.push_str(&[&hours.to_string(), "h"].concat());
            }
            if seconds >= 60 {
                text.push_str(&[&minutes.to_string(), "m"].concat());
            }
            [
                &text,
                &with_fraction(seconds % 60, size % 1_000_000_000, 9),
                "s",
            ]
            .concat()
        }
    };
    [sign, &text].concat()
}

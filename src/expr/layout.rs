//! Go's layouts: a date written out, `2006-01-02 15:04:05`, tells how others are written.

use super::time::{Civil, Time, days_before};

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const WEEKDAYS: [&str; 7] = [
    "Sunday",
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
];
/// What stands for a part of the date, the longer before what it begins with.
const PARTS: [&str; 33] = [
    "January",
    "Jan",
    "Monday",
    "Mon",
    "MST",
    "2006",
    "-07:00:00",
    "-07:00",
    "-0700",
    "-07",
    "Z07:00:00",
    "Z07:00",
    "Z0700",
    "Z07",
    "002",
    "01",
    "02",
    "03",
    "04",
    "05",
    "06",
    "15",
    "PM",
    "pm",
    "_2",
    "1",
    "2",
    "3",
    "4",
    "5",
    ".0",
    ".9",
    ",0",
];

/// The text before the next part of a layout, the part, and the rest.
fn next(layout: &str) -> Option<(&str, &str, &str)> {
    let bytes = layout.as_bytes();
    for (at, _) in layout.char_indices() {
        let rest = layout.get(at..)?;
        let Some(part) = PARTS.iter().find(|part| rest.starts_with(**part)) else {
            continue;
        };
        let mut length = part.len();
        if part.starts_with(['.', ',']) {
            let zero = part.as_bytes().last();
            length = 1 + rest
                .bytes()
                .skip(1)
                .take_while(|byte| Some(byte) == zero)
                .count();
            // Digits that follow make it no fraction of a second.
            if bytes.get(at + length).is_some_and(u8::is_ascii_digit) {
                continue;
            }
        }
        return Some((layout.get(..at)?, rest.get(..length)?, rest.get(length..)?));
    }
    None
}

pub(super) fn format(mut layout: &str, civil: &Civil, time: Time) -> String {
    let mut out = String::new();
    let days = time.days();
    while let Some((before, part, rest)) = next(layout) {
        out.push_str(before);
        layout = rest;
        let hour = (civil.hour + 11) % 12 + 1;
        match part {
            "2006" => number(civil.year, 4, '0', &mut out),
            "06" => number(civil.year.rem_euclid(100), 2, '0', &mut out),
            "January" => out.push_str(name(&MONTHS, civil.month - 1)),
            "Jan" => out.push_str(short(name(&MONTHS, civil.month - 1))),
            "Monday" => out.push_str(name(&WEEKDAYS, weekday(days))),
            "Mon" => out.push_str(short(name(&WEEKDAYS, weekday(days)))),
            "01" => number(civil.month, 2, '0', &mut out),
            "1" => number(civil.month, 1, '0', &mut out),
            "02" => number(civil.day, 2, '0', &mut out),
            "_2" => number(civil.day, 2, ' ', &mut out),
            "2" => number(civil.day, 1, '0', &mut out),
            "002" => number(days - days_before(civil.year, 1, 1) + 1, 3, '0', &mut out),
            "15" => number(civil.hour, 2, '0', &mut out),
            "03" => number(hour, 2, '0', &mut out),
            "3" => number(hour, 1, '0', &mut out),
            "04" => number(civil.minute, 2, '0', &mut out),
            "4" => number(civil.minute, 1, '0', &mut out),
            "05" => number(civil.second, 2, '0', &mut out),
            "5" => number(civil.second, 1, '0', &mut out),
            "PM" => out.push_str(if civil.hour < 12 { "AM" } else { "PM" }),
            "pm" => out.push_str(if civil.hour < 12 { "am" } else { "pm" }),
            "MST" if time.offset == 0 => out.push_str("UTC"),
            "MST" => zone("-07", time.offset, &mut out),
            _ if part.starts_with(['.', ',']) => fraction(part, civil.nanos, &mut out),
            _ => zone(part, time.offset, &mut out),
        }
    }
    out.push_str(layout);
    out
}

fn number(number: i64, width: usize, fill: char, out: &mut String) {
    let digits = number.unsigned_abs().to_string();
    out.push_str(if number < 0 { "-" } else { "" });
    for _ in digits.len()..width {
        out.push(fill);
    }
    out.push_str(&digits);
}

fn fraction(part: &str, nanos: u32, out: &mut String) {
    let digits = (1_000_000_000 + u64::from(nanos)).to_string();
    let digits = digits.get(1..part.len().min(10)).unwrap_or_default();
    let digits = if part.ends_with('9') {
        digits.trim_end_matches('0')
    } else {
        digits
    };
    if !digits.is_empty() {
        out.push_str(part.get(..1).unwrap_or_default());
        out.push_str(digits);
    }
}

fn zone(part: &str, offset: i32, out: &mut String) {
    if part.starts_with('Z') && offset == 0 {
        return out.push('Z');
    }
    let size = i64::from(offset.unsigned_abs());
    out.push(if offset < 0 { '-' } else { '+' });
    number(size / 3600, 2, '0', out);
    let colon = if part.contains(':') { ":" } else { "" };
    if part.len() > 3 {
        out.push_str(colon);
        number(size / 60 % 60, 2, '0', out);
    }
    if part.len() > 6 {
        out.push_str(colon);
        number(size % 60, 2, '0', out);
    }
}

const fn weekday(days: i64) -> i64 {
    (days + 4).rem_euclid(7)
}

fn name(names: &[&'static str], index: i64) -> &'static str {
    let index = usize::try_from(index).unwrap_or_default();
    names.get(index).copied().unwrap_or_default()
}

fn short(name: &str) -> &str {
    name.get(..3).unwrap_or(name)
}

/// What a text in a layout shows, and where its clock stands, in seconds east of UTC.
pub(super) fn parse(mut layout: &str, mut text: &str) -> Option<(Civil, i32)> {
    let mut civil = Civil {
        month: 1,
        day: 1,
        ..Civil::default()
    };
    let (mut offset, mut is_pm, mut of_year) = (0, None, None);
    while let Some((before, part, rest)) = next(layout) {
        text = text.strip_prefix(before)?;
        layout = rest;
        match part {
            "2006" => civil.year = take(&mut text, 4, 4)?,
            "06" => {
                let year = take(&mut text, 2, 2)?;
                civil.year = year + if year >= 69 { 1900 } else { 2000 };
            }
            "January" => civil.month = take_name(&mut text, &MONTHS, 9)? + 1,
            "Jan" => civil.month = take_name(&mut text, &MONTHS, 3)? + 1,
            "Monday" => _ = take_name(&mut text, &WEEKDAYS, 9)?,
            "Mon" => _ = take_name(&mut text, &WEEKDAYS, 3)?,
            "01" => civil.month = take(&mut text, 2, 2)?,
            "1" => civil.month = take(&mut text, 1, 2)?,
            "02" => civil.day = take(&mut text, 2, 2)?,
            "_2" | "2" => {
                text = text.trim_start_matches(' ');
                civil.day = take(&mut text, 1, 2)?;
            }
            "002" => of_year = Some(take(&mut text, 3, 3)?),
            "15" => civil.hour = take(&mut text, 1, 2).filter(|hour| *hour < 24)?,
            "03" | "3" => civil.hour = take(&mut text, 1, 2).filter(|hour| *hour <= 12)?,
            "04" | "4" => civil.minute = take(&mut text, 1, 2).filter(|minute| *minute < 60)?,
            "05" | "5" => {
                civil.second = take(&mut text, 1, 2).filter(|second| *second < 60)?;
                // A fraction may follow also where the layout has none.
                if !rest.starts_with(['.', ',']) && text.starts_with(['.', ',']) {
                    civil.nanos = take_fraction(&mut text)?;
                }
            }
            "PM" | "pm" => {
                let half = text.get(..2)?;
                is_pm = Some(half.eq_ignore_ascii_case("PM"));
                if is_pm == Some(false) && !half.eq_ignore_ascii_case("AM") {
                    return None;
                }
                text = text.get(2..)?;
            }
            "MST" => {
                let length = text.bytes().take_while(u8::is_ascii_uppercase).count();
                text = text.get(length..).filter(|_| (3..=5).contains(&length))?;
            }
            _ if part.starts_with(['.', ',']) => {
                if part.ends_with('0') || text.starts_with(['.', ',']) {
                    civil.nanos = take_fraction(&mut text)?;
                }
            }
            _ => offset = take_zone(part, &mut text)?,
        }
    }
    if is_pm.is_some() {
        civil.hour = civil.hour % 12 + if is_pm == Some(true) { 12 } else { 0 };
    }
    if let Some(day) = of_year {
        let date = Time {
            seconds: (days_before(civil.year, 1, 1) + day - 1) * 86_400,
            nanos: 0,
            offset: 0,
        };
        let date = date.civil()?;
        (civil.month, civil.day) = (date.month, date.day);
    }
    (text == layout).then_some((civil, offset))
}

/// Takes a number of so many digits, at least and at most.
fn take(text: &mut &str, least: usize, most: usize) -> Option<i64> {
    let length = text
        .bytes()
        .take(most)
        .take_while(u8::is_ascii_digit)
        .count();
    let (digits, rest) = text.split_at_checked(length.max(least))?;
    *text = rest;
    digits.parse().ok()
}

/// Takes a name, or its first letters, and gives its index.
fn take_name(text: &mut &str, names: &[&str], most: usize) -> Option<i64> {
    let index = names.iter().position(|name| {
        let name = name.get(..most.min(name.len())).unwrap_or(name);
        text.get(..name.len())
            .is_some_and(|text| text.eq_ignore_ascii_case(name))
    })?;
    *text = text.get(names.get(index)?.len().min(most)..)?;
    i64::try_from(index).ok()
}

fn take_fraction(text: &mut &str) -> Option<u32> {
    let digits = text.get(1..)?;
    let length = digits.bytes().take_while(u8::is_ascii_digit).count();
    let kept = digits
        .get(..length.min(9))
        .filter(|kept| !kept.is_empty())?;
    *text = digits.get(length..)?;
    let scale = 10_u32.pow(9 - u32::try_from(kept.len()).ok()?);
    Some(kept.parse::<u32>().ok()? * scale)
}

fn take_zone(part: &str, text: &mut &str) -> Option<i32> {
    if part.starts_with('Z')
        && let Some(rest) = text.strip_prefix('Z')
    {
        *text = rest;
        return Some(0);
    }
    let sign = match text.bytes().next()? {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    *text = text.get(1..)?;
    let (mut seconds, mut scale) = (0, 3600);
    let n_parts = match part.len() {
        3 => 1,
        5 | 6 => 2,
        _ => 3,
    };
    for index in 0..n_parts {
        if index > 0 && part.contains(':') {
            *text = text.strip_prefix(':')?;
        }
        seconds += take(text, 2, 2)? * scale;
        scale /= 60;
    }
    i32::try_from(seconds * sign)
        .ok()
        .filter(|offset| offset.abs() <= 86_400)
}

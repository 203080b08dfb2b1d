//! A time as RFC 3339 has it, in whole seconds of UTC.

/// Writes a time given in milliseconds since 1970: `2026-09-17T02:25:12Z`.
///
/// From days to a date: Howard Hinnant, "chrono-compatible low-level date algorithms", `civil_from_days`.
pub(super) fn write(time_ms: u64, out: &mut Vec<u8>) {
    let seconds = time_ms / 1_000;
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    // Years begin in March, so that a leap day is a year's last; eras of 400 years begin in the year 0.
    let day = days + 719_468;
    let (era, day) = (day / 146_097, day % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 {
        (month + 3, 0)
    } else {
        (month - 9, 1)
    };
    let year = era * 400 + year + next;

    let century = year / 100;
    let two = |number: u64, out: &mut Vec<u8>| {
        out.extend_from_slice(&[b'0' + (number / 10 % 10) as u8, b'0' + (number % 10) as u8]);
    };
    two(century, out);
    two(year % 100, out);
    out.push(b'-');
    two(month, out);
    out.push(b'-');
    two(day, out);
    out.push(b'T');
    two(second / 3_600, out);
    out.push(b':');
    two(second / 60 % 60, out);
    out.push(b':');
    two(second % 60, out);
    out.push(b'Z');
}

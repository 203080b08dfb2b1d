//! Durations as Go writes them: `25s`, `1h30m`, `30m0s`.

const UNITS: [(&str, u64); 4] = [("ms", 1), ("h", 3_600_000), ("m", 60_000), ("s", 1_000)];

/// The milliseconds of a duration; nothing where it is none, or beyond all measure.
pub(super) fn parse(text: &str) -> Option<u64> {
    let mut rest = text;
    let mut total: u64 = 0;
    while !rest.is_empty() {
        let end = rest.find(|character: char| !character.is_ascii_digit())?;
        let (digits, after) = rest.split_at_checked(end)?;
        let number: u64 = digits.parse().ok()?;
        let (unit, factor) = UNITS
            .into_iter()
            .find(|(unit, _)| after.starts_with(unit))?;
        total = total.checked_add(number.checked_mul(factor)?)?;
        rest = after.strip_prefix(unit)?;
    }
    (!text.is_empty()).then_some(total)
}

/// The text of a duration.
pub(super) fn text(milliseconds: u64) -> String {
    let (seconds, thousandths) = (milliseconds / 1_000, milliseconds % 1_000);
    let (hours, minutes, seconds) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
    let fraction = match thousandths {
        0 => String::new(),
        _ => format!(".{thousandths:03}")
            .trim_end_matches('0')
            .to_owned(),
    };
    match (hours, minutes) {
        (0, 0) => format!("{seconds}{fraction}s"),
        (0, _) => format!("{minutes}m{seconds}{fraction}s"),
        _ => format!("{hours}h{minutes}m{seconds}{fraction}s"),
    }
}

//! The methods of dates and durations.

use super::fault::Fault;
use super::number;
use super::operate::{self, unfit};
use super::time::{Civil, Time, days_before, duration_text};
use super::value::{Limits, Value};

type Made = Result<Value, Fault>;

pub(super) fn call(of: &Value, name: &str, arguments: &[Value], limits: &mut Limits) -> Made {
    let argument = arguments.first().unwrap_or(&Value::Nil);
    match of {
        Value::Duration(nanos) => duration(*nanos, name, limits),
        Value::Time(time) => match (name, argument) {
            ("Format", Value::Text(layout)) => {
                limits.step(layout.len())?;
                limits.text(&time.format(layout))
            }
            ("Add", Value::Duration(nanos)) => number::later(*time, *nanos),
            ("Sub", Value::Time(other)) => Ok(Value::Duration(time.since(*other))),
            ("After", Value::Time(other)) => Ok(Value::Bool(time > other)),
            ("Before", Value::Time(other)) => Ok(Value::Bool(time < other)),
            ("Equal", Value::Time(other)) => Ok(Value::Bool(time == other)),
            ("AddDate", _) => moved(*time, arguments),
            _ => part(*time, name, limits),
        },
        _ => Err(unfit("a method", of)),
    }
}

#[expect(clippy::cast_precision_loss, reason = "the language asks for floats")]
fn duration(nanos: i64, name: &str, limits: &mut Limits) -> Made {
    let float = |unit: f64| Value::Float(nanos as f64 / unit);
    Ok(match name {
        "Abs" => Value::Duration(nanos.saturating_abs()),
        "Hours" => float(3.6e12),
        "Minutes" => float(6e10),
        "Seconds" => float(1e9),
        "Milliseconds" => Value::Int(nanos / 1_000_000),
        "Microseconds" => Value::Int(nanos / 1_000),
        "Nanoseconds" => Value::Int(nanos),
        "String" => return limits.text(&duration_text(nanos)),
        _ => return Err(no_method(name)),
    })
}

fn no_method(name: &str) -> Fault {
    Fault::failed(["this value has no method ", name].concat())
}

/// A date that is so many years, months and days later.
fn moved(time: Time, arguments: &[Value]) -> Made {
    let by = |index: usize| operate::int(arguments.get(index).unwrap_or(&Value::Nil));
    let (years, months, days) = (by(0)?, by(1)?, by(2)?);
    let far = || Fault::failed("this date is out of range");
    let bounded = |number: i64| (number.abs() < 200_000_000).then_some(number);
    let civil = time.civil().ok_or_else(far)?;
    let months = bounded(months).ok_or_else(far)? + civil.month - 1;
    let year = civil.year + bounded(years).ok_or_else(far)? + months.div_euclid(12);
    let month = months.rem_euclid(12) + 1;
    let first = Time::of_civil(
        &Civil {
            year,
            month,
            day: 1,
            ..civil
        },
        time.offset,
    )
    .ok_or_else(far)?;
    let days = bounded(days).ok_or_else(far)? + civil.day - 1;
    let seconds = first.seconds.checked_add(days * 86_400).ok_or_else(far)?;
    let moved = Time {
        seconds,
        nanos: time.nanos,
        ..first
    };
    // Going nowhere from there checks that it is in range.
    number::later(moved, 0)
}

fn part(time: Time, name: &str, limits: &mut Limits) -> Made {
    let nanos = i64::from(time.nanos);
    let unix = |scale: i64| {
        time.seconds
            .wrapping_mul(scale)
            .wrapping_add(nanos / (1_000_000_000 / scale))
    };
    let civil = || {
        time.civil()
            .ok_or_else(|| Fault::failed("an infinite date has no parts"))
    };
    Ok(Value::Int(match name {
        "Year" => civil()?.year,
        "Month" => civil()?.month,
        "Day" => civil()?.day,
        "Hour" => civil()?.hour,
        "Minute" => civil()?.minute,
        "Second" => civil()?.second,
        "Nanosecond" => nanos,
        "YearDay" => time.days() - days_before(civil()?.year, 1, 1) + 1,
        "Weekday" => (time.days().rem_euclid(7) + 4) % 7,
        "Unix" => time.seconds,
        "UnixMilli" => unix(1_000),
        "UnixMicro" => unix(1_000_000),
        "UnixNano" => unix(1_000_000_000),
        "UTC" => return Ok(Value::Time(Time { offset: 0, ..time })),
        "IsZero" => return Ok(Value::Bool(time.seconds == days_before(1, 1, 1) * 86_400)),
        "String" => return limits.text(&time.format("2006-01-02 15:04:05.999999999 -0700 MST")),
        _ => return Err(no_method(name)),
    }))
}

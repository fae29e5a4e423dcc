//! Functions of times. A time is the text that columns of samples have: RFC 3339, UTC, nine digits of a second.

use super::scalar::{Define, argument_integer, argument_real, argument_text, refused};
use oasis_wire::time::{format_digits, parse_date};
use rusqlite::{
    Result,
    functions::Context,
    types::{Value, ValueRef},
};

const NANOS_PER_SECOND: i128 = 1_000_000_000;
const NANOS_PER_DAY: i128 = 86_400 * NANOS_PER_SECOND;
/// Days from Monday to the first day of 1970, a Thursday.
const DAYS_SINCE_MONDAY: i128 = 3;
/// Most months of an interval.
const MAX_MONTHS: i64 = 12 * 10_000;

/// Defines the functions.
pub fn define(define: &Define<'_>, now: u64) -> Result<()> {
    let shown = format_digits(now, 9);
    for name in
        ["now", "clock_timestamp", "statement_timestamp", "transaction_timestamp", "pg_postmaster_start_time"]
    {
        define.constant(name, &[0], shown.clone())?;
    }
    define.constant("current_day", &[0], shown[..10].to_owned())?;
    define.function("pg_time", &[1], |context| Ok(time(context, 0)?.map_or(Value::Null, show)))?;
    define.function("pg_date", &[1], |context| {
        Ok(time(context, 0)?.map_or(Value::Null, |time| match show(time) {
            Value::Text(text) => Value::Text(text[..10].to_owned()),
            other => other,
        }))
    })?;
    define.function("to_timestamp", &[1], |context| {
        let Some(seconds) = argument_real(context, 0) else { return Ok(Value::Null) };
        Ok(show(of_seconds(seconds)))
    })?;
    define.function("date_part", &[2], |context| {
        let Some((field, time)) = argument_text(context, 0).zip(time(context, 1)?) else {
            return Ok(Value::Null);
        };
        part(&field, time)
    })?;
    define.function("date_trunc", &[2, 3], |context| {
        let Some((field, time)) = argument_text(context, 0).zip(time(context, 1)?) else {
            return Ok(Value::Null);
        };
        truncated(&field, time)
    })?;
    define.function("date_bin", &[2, 3], bin)?;
    define.function("time_bucket", &[2, 3], bin)?;
    define.function("pg_add_interval", &[3], |context| {
        let Some(time) = time(context, 0)? else { return Ok(Value::Null) };
        let (Some(sign), Some(text)) = (argument_text(context, 1), argument_text(context, 2)) else {
            return Ok(Value::Null);
        };
        let Interval { months, nanos } = interval(&text)?;
        let sign = if sign == "-" { -1 } else { 1 };
        Ok(show(add_months(time, months * sign)? + nanos * i128::from(sign)))
    })
}

/// An argument as a time: its text, or seconds since 1970 as a number.
fn time(context: &Context<'_>, at: usize) -> Result<Option<i128>> {
    match context.get_raw(at) {
        ValueRef::Null => Ok(None),
        ValueRef::Integer(seconds) => Ok(Some(i128::from(seconds) * NANOS_PER_SECOND)),
        ValueRef::Real(seconds) => Ok(Some(of_seconds(seconds))),
        ValueRef::Text(_) | ValueRef::Blob(_) => {
            let text = argument_text(context, at).unwrap_or_default();
            let parsed = parse_date(text.trim()).or_else(|| parse_date(text.trim().strip_suffix("+00")?));
            let shown: String = text.chars().take(60).collect();
            parsed
                .map(Some)
                .ok_or_else(|| refused(format!("invalid time {shown:?}: write '2026-05-04 12:00'")))
        }
    }
}

/// Nanoseconds of seconds. Whole seconds and the fraction apart: together they exceed the digits of a real.
fn of_seconds(seconds: f64) -> i128 {
    let fraction = (seconds - seconds.floor()) * 1e9;
    seconds.floor() as i128 * NANOS_PER_SECOND + fraction.round() as i128
}

/// A time as the columns of samples show it; one before 1970 as 1970.
fn show(time: i128) -> Value {
    let time = u64::try_from(time.max(0)).unwrap_or(u64::MAX);
    Value::Text(format_digits(time, 9))
}

/// Year, month and day.
fn civil(time: i128) -> (i64, i64, i64) {
    let days = time.div_euclid(NANOS_PER_DAY) as i64;
    // Days since 0000-03-01; an era has 400 years.
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day)
}

/// Nanoseconds since 1970 of a day.
fn of_civil(year: i64, month: i64, day: i64) -> i128 {
    let year = year - i64::from(month <= 2);
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * (if month > 2 { month - 3 } else { month + 9 }) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    i128::from(era * 146_097 + day_of_era - 719_468) * NANOS_PER_DAY
}

fn days_of_month(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

fn add_months(time: i128, months: i64) -> Result<i128> {
    if months == 0 {
        return Ok(time);
    }
    if months.abs() > MAX_MONTHS {
        return Err(refused("interval out of range"));
    }
    let (year, month, day) = civil(time);
    let total = year * 12 + month - 1 + months;
    let (year, month) = (total.div_euclid(12), total.rem_euclid(12) + 1);
    Ok(of_civil(year, month, day.min(days_of_month(year, month))) + time.rem_euclid(NANOS_PER_DAY))
}

fn part(field: &str, time: i128) -> Result<Value> {
    let (year, month, day) = civil(time);
    let within = time.rem_euclid(NANOS_PER_DAY);
    let seconds = within.rem_euclid(60 * NANOS_PER_SECOND) as f64 / 1e9;
    let days = time.div_euclid(NANOS_PER_DAY);
    let weekday = (days + DAYS_SINCE_MONDAY).rem_euclid(7) as i64;
    let whole = |number: i64| Ok(Value::Integer(number));
    match field.to_ascii_lowercase().as_str() {
        // The nearest real of whole and fractional seconds.
        "epoch" => Ok(Value::Real(time as f64 / 1e9)),
        "year" => whole(year),
        "quarter" => whole((month - 1) / 3 + 1),
        "month" => whole(month),
        "day" => whole(day),
        "hour" => whole((within / (3_600 * NANOS_PER_SECOND)) as i64),
        "minute" => whole((within / (60 * NANOS_PER_SECOND) % 60) as i64),
        "second" => Ok(Value::Real(seconds)),
        "milliseconds" => Ok(Value::Real(seconds * 1e3)),
        "microseconds" => Ok(Value::Real(seconds * 1e6)),
        "dow" => whole((weekday + 1) % 7),
        "isodow" => whole(weekday + 1),
        "doy" => whole(((time - of_civil(year, 1, 1)) / NANOS_PER_DAY) as i64 + 1),
        other => {
            Err(refused(format!("unit {:?} is not supported", other.chars().take(40).collect::<String>())))
        }
    }
}

fn truncated(field: &str, time: i128) -> Result<Value> {
    let (year, month, _) = civil(time);
    let down = |step: i128| time.div_euclid(step) * step;
    Ok(show(match field.to_ascii_lowercase().as_str() {
        "microseconds" => down(1_000),
        "milliseconds" => down(1_000_000),
        "second" => down(NANOS_PER_SECOND),
        "minute" => down(60 * NANOS_PER_SECOND),
        "hour" => down(3_600 * NANOS_PER_SECOND),
        "day" => down(NANOS_PER_DAY),
        "week" => {
            let days = time.div_euclid(NANOS_PER_DAY);
            (days - (days + DAYS_SINCE_MONDAY).rem_euclid(7)) * NANOS_PER_DAY
        }
        "month" => of_civil(year, month, 1),
        "quarter" => of_civil(year, (month - 1) / 3 * 3 + 1, 1),
        "year" => of_civil(year, 1, 1),
        "decade" => of_civil(year.div_euclid(10) * 10, 1, 1),
        "century" => of_civil((year - 1).div_euclid(100) * 100 + 1, 1, 1),
        other => {
            return Err(refused(format!(
                "unit {:?} is not supported",
                other.chars().take(40).collect::<String>()
            )));
        }
    }))
}

/// `date_bin(interval, time[, origin])` and `time_bucket`
fn bin(context: &Context<'_>) -> Result<Value> {
    let Some(text) = argument_text(context, 0) else { return Ok(Value::Null) };
    let step = match argument_integer(context, 0) {
        Some(seconds) => i128::from(seconds) * NANOS_PER_SECOND,
        None => match interval(&text)? {
            Interval { months: 0, nanos } => nanos,
            _ => return Err(refused("the interval of a bin has no months: use date_trunc")),
        },
    };
    if step <= 0 {
        return Err(refused("the interval of a bin must be above 0"));
    }
    let Some(at) = time(context, 1)? else { return Ok(Value::Null) };
    let origin = if context.len() > 2 { time(context, 2)?.unwrap_or_default() } else { 0 };
    Ok(show((at - origin).div_euclid(step) * step + origin))
}

/// An interval: months are as long as the calendar says.
#[derive(Debug, PartialEq, Eq)]
struct Interval {
    months: i64,
    nanos: i128,
}

/// Parses `1 day 02:00:00`, `5 minutes`, `300.000s`, `1.5 h`.
fn interval(text: &str) -> Result<Interval> {
    let bad = || {
        refused(format!(
            "invalid interval {:?}: write '5 minutes'",
            text.chars().take(60).collect::<String>()
        ))
    };
    let mut found = Interval { months: 0, nanos: 0 };
    let text = text.trim().trim_start_matches('@').trim();
    let mut left = text;
    if left.is_empty() {
        return Err(bad());
    }
    while !left.is_empty() {
        let number_end = left.find(|letter: char| !(letter.is_ascii_digit() || "+-.:".contains(letter)));
        let (number, rest) = left.split_at(number_end.unwrap_or(left.len()));
        let rest = rest.trim_start();
        if number.contains(':') {
            found.nanos += clock(number).ok_or_else(bad)?;
            left = rest;
            continue;
        }
        let unit_end = rest.find(|letter: char| !letter.is_alphabetic()).unwrap_or(rest.len());
        let (unit, rest) = rest.split_at(unit_end);
        let number: f64 = number.parse().ok().filter(|number: &f64| number.abs() < 1e12).ok_or_else(bad)?;
        let of = |nanos: i128| (number * nanos as f64).round() as i128;
        match unit.to_ascii_lowercase().as_str() {
            "us" | "microsecond" | "microseconds" => found.nanos += of(1_000),
            "ms" | "msec" | "millisecond" | "milliseconds" => found.nanos += of(1_000_000),
            "" | "s" | "sec" | "secs" | "second" | "seconds" => found.nanos += of(NANOS_PER_SECOND),
            "m" | "min" | "mins" | "minute" | "minutes" => found.nanos += of(60 * NANOS_PER_SECOND),
            "h" | "hr" | "hrs" | "hour" | "hours" => found.nanos += of(3_600 * NANOS_PER_SECOND),
            "d" | "day" | "days" => found.nanos += of(NANOS_PER_DAY),
            "w" | "week" | "weeks" => found.nanos += of(7 * NANOS_PER_DAY),
            "mon" | "mons" | "month" | "months" => found.months += number as i64,
            "y" | "year" | "years" => found.months = found.months.saturating_add((number * 12.0) as i64),
            _ => return Err(bad()),
        }
        left = rest.trim_start_matches([' ', ',']);
    }
    Ok(found)
}

/// `[-]HH:MM[:SS[.fraction]]`
fn clock(text: &str) -> Option<i128> {
    let (sign, text) = match text.strip_prefix('-') {
        Some(text) => (-1, text),
        None => (1, text.trim_start_matches('+')),
    };
    let parts =
        text.split(':').map(|part| part.parse::<f64>().ok().filter(|part| *part >= 0.0 && *part < 1e9));
    let parts = parts.collect::<Option<Vec<f64>>>()?;
    let seconds = match parts[..] {
        [hours, minutes] => hours * 3_600.0 + minutes * 60.0,
        [hours, minutes, seconds] => hours * 3_600.0 + minutes * 60.0 + seconds,
        _ => return None,
    };
    Some((seconds * 1e9).round() as i128 * sign)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rusqlite::Connection;

    fn value(sql: &str) -> String {
        let connection = Connection::open_in_memory().unwrap();
        super::define(&Define(&connection), 1_777_896_000_000_000_000).unwrap();
        let value = connection.query_row(&format!("SELECT {sql}"), [], |row| row.get::<_, Value>(0));
        match value {
            Ok(Value::Text(text)) => text,
            Ok(Value::Integer(number)) => number.to_string(),
            Ok(Value::Real(number)) => number.to_string(),
            Ok(other) => format!("{other:?}"),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn times_are_truncated_and_binned() {
        for (sql, wanted) in [
            ("now()", "2026-05-04T12:00:00.000000000Z"),
            ("date_trunc('hour', '2026-05-04 12:34:56.5')", "2026-05-04T12:00:00.000000000Z"),
            ("date_trunc('week', '2026-05-07')", "2026-05-04T00:00:00.000000000Z"),
            ("date_trunc('quarter', '2026-05-07')", "2026-04-01T00:00:00.000000000Z"),
            ("date_bin('15 minutes', '2026-05-04 12:34:56')", "2026-05-04T12:30:00.000000000Z"),
            ("time_bucket('300.000s', '2026-05-04 12:34:56')", "2026-05-04T12:30:00.000000000Z"),
            ("date_bin('7 days', '2026-05-04', '2026-05-01')", "2026-05-01T00:00:00.000000000Z"),
            ("pg_add_interval(now(), '-', '1 day 01:30:00')", "2026-05-03T10:30:00.000000000Z"),
            ("pg_add_interval('2024-02-29', '+', '1 year')", "2025-02-28T00:00:00.000000000Z"),
            ("pg_add_interval('2026-01-31', '+', '1 mon')", "2026-02-28T00:00:00.000000000Z"),
            ("date_part('epoch', now())", "1777896000"),
            ("date_part('doy', now())", "124"),
            ("date_part('isodow', now())", "1"),
            ("to_timestamp(1777896000.25)", "2026-05-04T12:00:00.250000000Z"),
            ("pg_time('2026-05-04 12:00:00+00')", "2026-05-04T12:00:00.000000000Z"),
            ("pg_date(now())", "2026-05-04"),
            ("date_trunc('hour', NULL)", "Null"),
        ] {
            assert_eq!(value(sql), wanted, "{sql}");
        }
        for sql in [
            "date_trunc('era', now())",
            "pg_time('then')",
            "date_bin('0 s', now())",
            "pg_add_interval(now(), '+', '1 parsec')",
        ] {
            assert!(
                value(sql).contains("unit") || value(sql).contains("invalid") || value(sql).contains("above"),
                "{sql}"
            );
        }
    }

    proptest! {
        #[test]
        fn a_day_is_that_of_its_date(days in -1_000_000_i64..1_000_000) {
            let (year, month, day) = civil(i128::from(days) * NANOS_PER_DAY);
            prop_assert_eq!(of_civil(year, month, day), i128::from(days) * NANOS_PER_DAY);
        }

        #[test]
        fn no_interval_makes_it_panic(text in "[-+0-9.: a-z]{0,20}") {
            if let Ok(Interval { months, .. }) = interval(&text) {
                let _ = add_months(0, months);
            }
        }
    }
}

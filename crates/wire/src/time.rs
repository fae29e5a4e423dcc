//! Times as text, the same in the command line, the HTTP API, WebSocket and SQL (feature `time`).
//!
//! ```
//! use oasis_wire::{quantity::Nanos, time};
//!
//! let now = Nanos(1_763_683_200_000_000_000);
//! let time = time::parse("-15m", now)?;
//! assert_eq!(time::format(time), "2025-11-20T23:45:00Z");
//! # Ok::<(), time::TimeError>(())
//! ```

use crate::quantity::Nanos;
use alloc::{borrow::ToOwned, format, string::String};
use jiff::{Timestamp, civil::DateTime, tz::TimeZone};

/// Every form of a time that [`parse`] accepts, for help and errors.
pub const FORMS: &str = "nanoseconds since 1970, a date (2026-05-04) or a date and time (2026-05-04T12:00:00Z), UTC unless it names a zone, how long ago (-500ms, -90s, -15m, -2h, -7d, -4w), or now";

/// Units in which a number of today is a time between 2001 and 2100, and the nanoseconds of each.
const UNITS: [(&str, u64); 3] =
    [("seconds", 1_000_000_000), ("milliseconds", 1_000_000), ("microseconds", 1_000)];
/// 2001-09-09 to 2100-01-01, seconds since 1970. As nanoseconds each of [`UNITS`] is a short while in 1970.
const NOWADAYS: core::ops::Range<u64> = 1_000_000_000..4_102_444_800;

/// Why a text is not a time.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TimeError {
    /// The text has none of the [`FORMS`].
    #[error("write {FORMS}")]
    Unknown,
    /// A number that is a plausible time only in another unit than nanoseconds.
    #[error(
        "that looks like {unit} since 1970, {time}: write nanoseconds, which are {nanoseconds}, or that date and time, or {text}ns if it is nanoseconds"
    )]
    Unit {
        /// The number as it was written.
        text: String,
        /// The likely unit.
        unit: &'static str,
        /// The time in that unit.
        time: Timestamp,
        /// The same time in nanoseconds since 1970.
        nanoseconds: u64,
    },
    /// A zone whose `+` was decoded as a space.
    #[error("a + in a URL is read as a space: write %2B, as in 2026-05-04T12:00:00%2B02:00, or use UTC (…Z)")]
    LostPlus,
}

/// Parses a time in any of the [`FORMS`] and returns nanoseconds since 1970.
///
/// # Errors
/// If the text has none of the forms; the error names the fix.
pub fn parse(text: &str, now: Nanos) -> Result<u64, TimeError> {
    if text == "now" {
        return Ok(now.0);
    }
    if let Some(ago) = text.strip_prefix('-') {
        return duration(ago).map(|ago| now.0.saturating_sub(ago)).ok_or(TimeError::Unknown);
    }
    if let Some(nanoseconds) = text.strip_suffix("ns") {
        return nanoseconds.parse().map_err(|_| TimeError::Unknown);
    }
    if let Ok(nanoseconds) = text.parse() {
        return other_unit(text, nanoseconds).map_or(Ok(nanoseconds), Err);
    }
    if let Some(time) = parse_date(text) {
        return u64::try_from(time).map_err(|_| TimeError::Unknown);
    }
    Err(fraction(text).or_else(|| lost_plus(text)).unwrap_or(TimeError::Unknown))
}

/// Parses a date, a date and time, or one with a zone, and returns nanoseconds since 1970, negative before that. UTC if it names no zone.
pub fn parse_date(text: &str) -> Option<i128> {
    let text = text.trim();
    if let Ok(time) = text.parse::<Timestamp>() {
        return Some(time.as_nanosecond());
    }
    let civil: DateTime = text.parse().ok()?;
    Some(civil.to_zoned(TimeZone::UTC).ok()?.timestamp().as_nanosecond())
}

/// The likely unit of a number that is not plausible as nanoseconds: as nanoseconds it would be a time in 1970.
fn other_unit(text: &str, number: u64) -> Option<TimeError> {
    let is_nowadays = |nanoseconds: u64| NOWADAYS.contains(&(nanoseconds / 1_000_000_000));
    UNITS.into_iter().find_map(|(unit, nanoseconds)| {
        let nanoseconds = number.checked_mul(nanoseconds).filter(|&time| is_nowadays(time))?;
        let time = Timestamp::from_nanosecond(nanoseconds.into()).ok()?;
        Some(TimeError::Unit { text: text.to_owned(), unit, time, nanoseconds })
    })
}

/// Seconds with a fraction, as Python's `time.time()` returns them.
fn fraction(text: &str) -> Option<TimeError> {
    let (whole, rest) = text.split_once('.')?;
    let is_number = !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit());
    other_unit(whole, whole.parse().ok().filter(|_| is_number)?)
}

fn lost_plus(text: &str) -> Option<TimeError> {
    let (time, zone) = text.rsplit_once(' ')?;
    format!("{time}+{zone}").parse::<Timestamp>().ok().map(|_| TimeError::LostPlus)
}

/// Parses a number and a unit (`500ms`, `90s`, `15m`, `2h`, `7d`, `4w`) and returns nanoseconds.
pub fn duration(text: &str) -> Option<u64> {
    let number = text.trim_end_matches(|character: char| character.is_ascii_alphabetic());
    let unit: u64 = match &text[number.len()..] {
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "m" => 60 * 1_000_000_000,
        "h" => 3_600 * 1_000_000_000,
        "d" => 86_400 * 1_000_000_000,
        "w" => 7 * 86_400 * 1_000_000_000,
        _ => return None,
    };
    let is_number = number.bytes().all(|byte| byte.is_ascii_digit());
    number.parse::<u64>().ok().filter(|_| is_number)?.checked_mul(unit)
}

/// Formats nanoseconds since 1970 as RFC 3339, UTC, with as many digits as the time needs.
pub fn format(nanoseconds: u64) -> String {
    timestamp(nanoseconds).map(|time| format!("{time}")).unwrap_or_default()
}

/// Formats nanoseconds since 1970 as RFC 3339, UTC, with exactly this many digits of a second; it does not round up.
pub fn format_digits(nanoseconds: u64, digits: usize) -> String {
    timestamp(nanoseconds).map(|time| format!("{time:.digits$}")).unwrap_or_default()
}

/// Always `Some`: 64 bits of nanoseconds end in 2554, and a timestamp can be as late as 9999.
fn timestamp(nanoseconds: u64) -> Option<Timestamp> {
    Timestamp::from_nanosecond(nanoseconds.into()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    const NANOS_PER_SECOND: u64 = 1_000_000_000;

    #[test]
    fn a_time_is_a_number_a_date_or_so_long_ago() {
        let now = Nanos(100_000 * NANOS_PER_SECOND);
        for (text, time) in [
            ("0", 0),
            ("12345678901", 12_345_678_901),
            ("1763683200000000001", 1_763_683_200_000_000_001),
            ("1763683200ns", 1_763_683_200),
            ("now", 100_000 * NANOS_PER_SECOND),
            ("-500ms", 99_999 * NANOS_PER_SECOND + NANOS_PER_SECOND / 2),
            ("-90s", 99_910 * NANOS_PER_SECOND),
            ("-15m", 99_100 * NANOS_PER_SECOND),
            ("-2h", 92_800 * NANOS_PER_SECOND),
            ("-1d", 13_600 * NANOS_PER_SECOND),
            ("-7d", 0),
            ("-1w", 0),
            ("1970-01-02T00:00:00Z", 86_400 * NANOS_PER_SECOND),
            ("1970-01-01T01:00:00.5+01:00", NANOS_PER_SECOND / 2),
            ("1970-01-02", 86_400 * NANOS_PER_SECOND),
            ("1970-01-02 00:00", 86_400 * NANOS_PER_SECOND),
            ("1970-01-02T00:00:01", 86_401 * NANOS_PER_SECOND),
        ] {
            assert_eq!(parse(text, now), Ok(time), "{text}");
        }
        for text in [
            "",
            "-",
            "-1",
            "-1y",
            "-s",
            "-1.5s",
            "--1s",
            "-+1s",
            "then",
            "1.5",
            "ns",
            "1.5ns",
            "90s",
            "1969-01-01T00:00:00Z",
            "1970-13-01",
            "-99999999999999d",
        ] {
            assert_eq!(parse(text, now), Err(TimeError::Unknown), "{text}");
        }
    }

    #[test]
    fn a_number_in_another_unit_is_not_parsed_as_1970() {
        for (text, unit) in [
            ("1763683200", "seconds"),
            ("1763683200.25", "seconds"),
            ("1763683200000", "milliseconds"),
            ("1763683200000000", "microseconds"),
        ] {
            let refused = parse(text, Nanos(0)).unwrap_err().to_string();
            for words in [&format!("like {unit} since"), "2025-11-21T00:00:00Z", "1763683200000000000"] {
                assert!(refused.contains(words), "{text}: {refused}");
            }
        }
    }

    #[test]
    fn a_plus_that_a_url_turned_into_a_space_is_reported() {
        for text in ["2026-05-04T12:00:00 02:00", "2026-05-04 12:00:00 0200"] {
            assert_eq!(parse(text, Nanos(0)), Err(TimeError::LostPlus), "{text}");
        }
    }

    #[test]
    fn dates_are_parsed_in_common_forms() {
        let noon = 1_777_896_000_000_000_000;
        for text in [
            "2026-05-04T12:00:00Z",
            "2026-05-04T14:00:00+02:00",
            "2026-05-04 12:00:00",
            "2026-05-04T12:00",
            " 2026-05-04T12:00:00.000000000Z",
        ] {
            assert_eq!(parse_date(text), Some(noon), "{text}");
        }
        assert_eq!(parse_date("2026-05-04"), Some(noon - 43_200_000_000_000));
        for text in ["", "noon", "1777896000", "2026-13-01"] {
            assert_eq!(parse_date(text), None, "{text}");
        }
    }

    #[test]
    fn a_formatted_time_has_the_requested_digits() {
        let time = 1_763_683_200_012_999_999;
        let all = [0, 3, 9].map(|digits| format_digits(time, digits));
        assert_eq!(
            all,
            ["2025-11-21T00:00:00Z", "2025-11-21T00:00:00.012Z", "2025-11-21T00:00:00.012999999Z"]
        );
        assert_eq!(format_digits(0, 3), "1970-01-01T00:00:00.000Z");
        assert_eq!(format_digits(u64::MAX, 0), "2554-07-21T23:34:33Z");
        assert_eq!(parse_date(&format_digits(u64::MAX, 9)), Some(u64::MAX.into()));
    }
}

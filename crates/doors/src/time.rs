//! Times in requests: nanoseconds since 1970, a date, a date and time, so long ago, or now.

use jiff::Timestamp;
use oasis_query::parse_time;
use oasis_wire::quantity::Nanos;

/// What a number of so many seconds, or thousandths or millionths of one, is a time from 2001 to 2100 of.
const UNITS: [(&str, u64); 3] =
    [("seconds", 1_000_000_000), ("milliseconds", 1_000_000), ("microseconds", 1_000)];
/// 2001-09-09 to 2100-01-01, seconds since 1970. As nanoseconds each of [`UNITS`] is a short while in 1970.
const NOWADAYS: std::ops::Range<u64> = 1_000_000_000..4_102_444_800;

/// Why a text is no time.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotATime {
    /// It is written in another way.
    #[error(
        "write nanoseconds since 1970, a date (2026-05-04) or a date and time (2026-05-04T12:00:00Z), UTC unless it names a zone, how long ago (-500ms, -90s, -15m, -2h, -7d, -4w), or now"
    )]
    Unknown,
    /// A number that means another time in another unit.
    #[error(
        "that looks like {unit} since 1970, {time}: write nanoseconds, which are {nanoseconds}, or that date and time, or {text}ns if it is nanoseconds"
    )]
    Unit {
        /// What was written.
        text: String,
        /// The unit that it may be in.
        unit: &'static str,
        /// What time it is then.
        time: Timestamp,
        /// The same in nanoseconds since 1970.
        nanoseconds: u64,
    },
    /// A zone without its sign.
    #[error("a + in a URL is read as a space: write %2B, as in 2026-05-04T12:00:00%2B02:00, or use UTC (…Z)")]
    LostPlus,
}

/// Nanoseconds since 1970.
///
/// # Errors
/// What is wrong with it, and what to write.
pub fn parse(text: &str, now: Nanos) -> Result<u64, NotATime> {
    if text == "now" {
        return Ok(now.0);
    }
    if let Some(ago) = text.strip_prefix('-') {
        return duration(ago).map(|ago| now.0.saturating_sub(ago)).ok_or(NotATime::Unknown);
    }
    if let Some(nanoseconds) = text.strip_suffix("ns") {
        return nanoseconds.parse().map_err(|_| NotATime::Unknown);
    }
    if let Ok(nanoseconds) = text.parse() {
        return other_unit(text, nanoseconds).map_or(Ok(nanoseconds), Err);
    }
    if let Some(time) = parse_time(text) {
        return u64::try_from(time).map_err(|_| NotATime::Unknown);
    }
    Err(fraction(text).or_else(|| lost_plus(text)).unwrap_or(NotATime::Unknown))
}

/// The unit that a number is in, if it is not nanoseconds: they would be a short while in 1970, and nobody would notice.
fn other_unit(text: &str, number: u64) -> Option<NotATime> {
    let is_nowadays = |nanoseconds: u64| NOWADAYS.contains(&(nanoseconds / 1_000_000_000));
    UNITS.into_iter().find_map(|(unit, nanoseconds)| {
        let nanoseconds = number.checked_mul(nanoseconds).filter(|&time| is_nowadays(time))?;
        let time = Timestamp::from_nanosecond(nanoseconds.into()).ok()?;
        Some(NotATime::Unit { text: text.to_owned(), unit, time, nanoseconds })
    })
}

/// Seconds as Python's `time.time()` has them.
fn fraction(text: &str) -> Option<NotATime> {
    let (whole, rest) = text.split_once('.')?;
    let is_number = !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit());
    other_unit(whole, whole.parse().ok().filter(|_| is_number)?)
}

fn lost_plus(text: &str) -> Option<NotATime> {
    let (time, zone) = text.rsplit_once(' ')?;
    format!("{time}+{zone}").parse::<Timestamp>().ok().map(|_| NotATime::LostPlus)
}

fn duration(text: &str) -> Option<u64> {
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

/// The same as people read it: RFC 3339, UTC.
pub fn date_and_time(nanoseconds: u64) -> String {
    let time = Timestamp::from_nanosecond(nanoseconds.into());
    time.map_or_else(|_| nanoseconds.to_string(), |time| time.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    #[test]
    fn a_time_is_a_number_a_date_or_so_long_ago() {
        let now = Nanos(100_000 * SECOND);
        for (text, time) in [
            ("0", 0),
            ("12345678901", 12_345_678_901),
            ("1763683200000000001", 1_763_683_200_000_000_001),
            ("1763683200ns", 1_763_683_200),
            ("now", 100_000 * SECOND),
            ("-500ms", 99_999 * SECOND + SECOND / 2),
            ("-90s", 99_910 * SECOND),
            ("-15m", 99_100 * SECOND),
            ("-2h", 92_800 * SECOND),
            ("-1d", 13_600 * SECOND),
            ("-7d", 0),
            ("-1w", 0),
            ("1970-01-02T00:00:00Z", 86_400 * SECOND),
            ("1970-01-01T01:00:00.5+01:00", SECOND / 2),
            ("1970-01-02", 86_400 * SECOND),
            ("1970-01-02 00:00", 86_400 * SECOND),
            ("1970-01-02T00:00:01", 86_401 * SECOND),
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
            assert_eq!(parse(text, now), Err(NotATime::Unknown), "{text}");
        }
    }

    #[test]
    fn a_number_in_another_unit_is_not_taken_for_1970() {
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
    fn a_plus_that_a_url_has_lost_is_named() {
        for text in ["2026-05-04T12:00:00 02:00", "2026-05-04 12:00:00 0200"] {
            assert_eq!(parse(text, Nanos(0)), Err(NotATime::LostPlus), "{text}");
        }
    }
}

//! Times in requests: nanoseconds since 1970, RFC 3339, or so long ago.

use jiff::Timestamp;
use oasis_wire::quantity::Nanos;

/// What a time may look like, for those who wrote something else.
pub const ALLOWED: &str = "write nanoseconds since 1970, a date and time (2026-05-04T12:00:00Z), or how long ago (-90s, -15m, -2h, -7d)";

/// Nanoseconds since 1970.
pub fn parse(text: &str, now: Nanos) -> Option<u64> {
    if let Some(ago) = text.strip_prefix('-') {
        return Some(now.0.saturating_sub(duration(ago)?));
    }
    if let Ok(nanoseconds) = text.parse() {
        return Some(nanoseconds);
    }
    let time: Timestamp = text.parse().ok()?;
    u64::try_from(time.as_nanosecond()).ok()
}

fn duration(text: &str) -> Option<u64> {
    let unit = match text.chars().last()? {
        's' => 1,
        'm' => 60,
        'h' => 3_600,
        'd' => 86_400,
        _ => return None,
    };
    let number = &text[..text.len() - 1];
    let is_number = number.bytes().all(|byte| byte.is_ascii_digit());
    let seconds = number.parse::<u64>().ok().filter(|_| is_number)?.checked_mul(unit)?;
    seconds.checked_mul(1_000_000_000)
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
            ("-90s", 99_910 * SECOND),
            ("-15m", 99_100 * SECOND),
            ("-2h", 92_800 * SECOND),
            ("-1d", 13_600 * SECOND),
            ("-7d", 0),
            ("1970-01-02T00:00:00Z", 86_400 * SECOND),
            ("1970-01-01T01:00:00.5+01:00", SECOND / 2),
        ] {
            assert_eq!(parse(text, now), Some(time), "{text}");
        }
        for text in
            ["", "-", "-1", "-1w", "--1s", "-+1s", "then", "1.5", "1969-01-01T00:00:00Z", "-99999999999999d"]
        {
            assert_eq!(parse(text, now), None, "{text}");
        }
    }
}

//! Times as people read them.

use jiff::Timestamp;

/// RFC 3339, UTC, with so many digits of a second, which is not rounded up. Times in 64 bits of nanoseconds end in 2554.
pub fn date_and_time(nanoseconds: u64, digits: usize) -> String {
    let time = Timestamp::from_nanosecond(nanoseconds.into());
    time.map(|time| format!("{time:.digits$}")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_has_the_digits_that_are_asked_for() {
        let time = 1_763_683_200_012_999_999;
        let all = [0, 3, 9].map(|digits| date_and_time(time, digits));
        assert_eq!(
            all,
            ["2025-11-21T00:00:00Z", "2025-11-21T00:00:00.012Z", "2025-11-21T00:00:00.012999999Z"]
        );
        assert_eq!(date_and_time(0, 3), "1970-01-01T00:00:00.000Z");
        assert_eq!(date_and_time(u64::MAX, 0), "2554-07-21T23:34:33Z");
    }
}

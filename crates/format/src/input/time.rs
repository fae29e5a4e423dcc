//! Times in texts: numbers of a unit, dates in the usual forms, and patterns of `strptime`. All are exact to the nanosecond.

use super::number::leading_digits;
use jiff::{fmt::strtime::BrokenDownTime, tz::TimeZone};

/// The unit of a time that is a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeUnit {
    /// `s`
    Seconds,
    /// `ms`
    Milliseconds,
    /// `us`
    Microseconds,
    /// `ns`
    Nanoseconds,
}

/// The form of times in a text.
#[derive(Debug, Clone, PartialEq)]
pub enum TimeForm {
    /// A number since 1970, or since the start of the recording.
    Number { unit: TimeUnit, has_comma: bool },
    /// Days since 1899-12-30, as spreadsheets count them.
    SerialDays { has_comma: bool },
    /// Date and time; UTC if they name no zone.
    Date(DateOrder),
    /// A pattern of `strptime`.
    Pattern(String),
}

/// The order of the parts of a date.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DateOrder {
    YearMonthDay,
    DayMonthYear,
    MonthDayYear,
}

/// Why a text is no time.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TimeRefused {
    /// Another form.
    #[error("the time is not {0}")]
    Form(String),
    /// Before 1970, nanoseconds since then.
    #[error("the time is before 1970-01-01, and an archive has times from then on")]
    Early(i128),
    /// Beyond the times of an archive.
    #[error("the time is after 2554, beyond the times of an archive")]
    Late,
}

const NANOS_PER_SECOND: i128 = 1_000_000_000;
const SECONDS_PER_DAY: i64 = 86_400;
const NANOS_PER_DAY: i128 = 86_400 * NANOS_PER_SECOND;
/// Days from 1899-12-30 to 1970-01-01.
const SERIAL_DAYS_TO_1970: i128 = 25_569;
/// Digits of a fraction that are read: its product with the nanoseconds of a day has less than 128 bits.
const MAX_FRACTION_DIGITS: usize = 18;
const POWERS_OF_TEN: [u64; 10] =
    [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000];
/// Names of a column of times, in the order of preference, in lower case.
pub(crate) const TIME_NAMES: [&str; 22] = [
    "time_ns",
    "timestamp_ns",
    "timestamp_us",
    "timestamp_ms",
    "timestamp",
    "time_us",
    "time_ms",
    "time_s",
    "time",
    "_time",
    "datetime",
    "date_time",
    "date",
    "utc",
    "ts",
    "log_time",
    "unix_time",
    "elapsed",
    "seconds",
    "t",
    "zeit",
    "zeitstempel",
];

impl TimeUnit {
    /// Nanoseconds of the unit.
    pub fn nanoseconds(self) -> i128 {
        match self {
            Self::Seconds => NANOS_PER_SECOND,
            Self::Milliseconds => 1_000_000,
            Self::Microseconds => 1_000,
            Self::Nanoseconds => 1,
        }
    }

    /// Returns the unit with this symbol.
    pub fn of(symbol: &str) -> Option<Self> {
        match symbol {
            "s" | "sec" | "seconds" | "second" => Some(Self::Seconds),
            "ms" | "msec" | "millis" | "milliseconds" => Some(Self::Milliseconds),
            "us" | "usec" | "micros" | "microseconds" | "\u{b5}s" | "\u{3bc}s" => Some(Self::Microseconds),
            "ns" | "nsec" | "nanos" | "nanoseconds" => Some(Self::Nanoseconds),
            _ => None,
        }
    }

    /// Returns the UCUM symbol of a longer unit, in which times are not read.
    pub fn longer(symbol: &str) -> Option<&'static str> {
        match symbol {
            "min" | "mins" | "minute" | "minutes" => Some("min"),
            "h" | "hr" | "hrs" | "hour" | "hours" => Some("h"),
            "d" | "day" | "days" => Some("d"),
            "wk" | "week" | "weeks" => Some("wk"),
            _ => None,
        }
    }

    /// The unit in which a number is a time between 2001 and 2100; seconds if there is none.
    pub fn of_magnitude(number: f64) -> Self {
        let is_nowadays = |unit: f64| (1e9..4.2e9).contains(&(number.abs() / unit));
        match () {
            () if is_nowadays(1e9) => Self::Nanoseconds,
            () if is_nowadays(1e6) => Self::Microseconds,
            () if is_nowadays(1e3) => Self::Milliseconds,
            () => Self::Seconds,
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Seconds => "a number of seconds",
            Self::Milliseconds => "a number of milliseconds",
            Self::Microseconds => "a number of microseconds",
            Self::Nanoseconds => "a number of nanoseconds",
        }
    }
}

impl TimeForm {
    /// Returns the form that a user names: a unit, `iso`, or a pattern with `%`.
    pub fn named(name: &str, has_comma: bool) -> Option<Self> {
        match name {
            "iso" => Some(Self::Date(DateOrder::YearMonthDay)),
            "excel" => Some(Self::SerialDays { has_comma }),
            pattern if pattern.contains('%') => Some(Self::Pattern(pattern.to_owned())),
            unit => TimeUnit::of(unit).map(|unit| Self::Number { unit, has_comma }),
        }
    }

    /// Returns the form of these texts, of which none is empty; `None` if they are no dates.
    pub fn of_dates(texts: &[&str]) -> Option<Self> {
        let orders = [DateOrder::YearMonthDay, DateOrder::DayMonthYear, DateOrder::MonthDayYear];
        // A dot stands between the parts of a date where the day comes first.
        let fits = |order: &DateOrder| {
            let is_dotted = |text: &&str| text.get(2..3) == Some(".") || text.get(1..2) == Some(".");
            let is_possible = *order != DateOrder::MonthDayYear || !texts.iter().any(is_dotted);
            is_possible && texts.iter().all(|text| date(text, *order).is_some())
        };
        let mut fitting = orders.into_iter().filter(fits);
        let first = fitting.next()?;
        // 01/02/2024 can be both.
        fitting.next().is_none().then_some(Self::Date(first))
    }

    /// Whether a text is a date of any order.
    pub fn is_date(text: &str) -> bool {
        let orders = [DateOrder::YearMonthDay, DateOrder::DayMonthYear, DateOrder::MonthDayYear];
        orders.into_iter().any(|order| date(text, order).is_some())
    }

    /// Whether a text is a date without a time of the day.
    pub fn is_day(text: &str) -> bool {
        !text.contains([':', 'T', 't', ' ', '_']) && Self::is_date(text)
    }

    /// Whether a text is a time of the day without a date.
    pub fn is_time_of_day(text: &str) -> bool {
        text.contains(':') && date(&format!("2000-01-01 {text}"), DateOrder::YearMonthDay).is_some()
    }

    /// Whether these texts are dates of two orders.
    pub fn is_ambiguous(texts: &[&str]) -> bool {
        let fits = |order| !texts.is_empty() && texts.iter().all(|text| date(text, order).is_some());
        fits(DateOrder::DayMonthYear) && fits(DateOrder::MonthDayYear) && Self::of_dates(texts).is_none()
    }

    /// Parses a time, in nanoseconds since 1970.
    pub fn parse(&self, text: &str) -> Result<i128, TimeRefused> {
        let text = text.trim();
        match self {
            Self::Number { unit, has_comma } => {
                let time = decimal(text, *has_comma, unit.nanoseconds());
                time.ok_or_else(|| TimeRefused::Form(unit.name().into()))
            }
            Self::SerialDays { has_comma } => {
                let time = decimal(text, *has_comma, NANOS_PER_DAY);
                let time = time.map(|time| time - SERIAL_DAYS_TO_1970 * NANOS_PER_DAY);
                time.ok_or_else(|| TimeRefused::Form("a number of days".into()))
            }
            Self::Date(order) => {
                date(text, *order).ok_or_else(|| TimeRefused::Form("a date and time".into()))
            }
            Self::Pattern(pattern) => {
                by_pattern(pattern, text).ok_or_else(|| TimeRefused::Form(format!("of the form {pattern}")))
            }
        }
    }

    /// Parses a day and a time of the day, in nanoseconds since 1970.
    pub fn parse_day(&self, day: &str, clock: &str) -> Result<i128, TimeRefused> {
        let (day, clock) = (day.trim(), clock.trim());
        match self {
            _ if clock.is_empty() => {
                Err(TimeRefused::Form("complete: the time of the day is missing".into()))
            }
            Self::SerialDays { .. } => {
                let clock = Self::Date(DateOrder::YearMonthDay).parse(&format!("1970-01-01 {clock}"))?;
                Ok(self.parse(day)? + clock)
            }
            _ => self.parse(&format!("{day} {clock}")),
        }
    }

    /// Whether a text is a number of whole days.
    pub fn is_whole_day(&self, text: &str) -> bool {
        matches!(self, Self::SerialDays { .. })
            && self.parse(text).is_ok_and(|time| time % NANOS_PER_DAY == 0)
    }

    /// A description for people.
    pub fn describe(&self) -> String {
        match self {
            Self::Number { unit, .. } => unit.name().into(),
            Self::SerialDays { .. } => "days since 1899-12-30, as in spreadsheets".into(),
            Self::Date(DateOrder::YearMonthDay) => "dates, the year first".into(),
            Self::Date(DateOrder::DayMonthYear) => "dates, the day first".into(),
            Self::Date(DateOrder::MonthDayYear) => "dates, the month first".into(),
            Self::Pattern(pattern) => format!("the pattern {pattern}"),
        }
    }
}

/// Parses a time without a known form: a number since 1970 in the unit that its magnitude shows, or a date and time, the year first.
///
/// # Errors
/// If it is neither, or beyond the times of an archive.
pub fn parse_time(text: &str) -> Result<u64, TimeRefused> {
    let form = match text.trim().parse() {
        Ok(number) => TimeForm::Number { unit: TimeUnit::of_magnitude(number), has_comma: false },
        Err(_) => TimeForm::Date(DateOrder::YearMonthDay),
    };
    form.parse(text).and_then(checked)
}

/// The unit that the end of a name states: `time_ms`.
pub(crate) fn time_unit_of_name(name: &str) -> Option<TimeUnit> {
    TimeUnit::of(&suffix_of_name(name)?)
}

/// The longer unit that the end of a name states: `time_h`, `time [minutes]`.
pub(crate) fn longer_unit_of_name(name: &str) -> Option<&'static str> {
    TimeUnit::longer(suffix_of_name(name)?.trim_matches(['[', ']', '(', ')']))
}

fn suffix_of_name(name: &str) -> Option<String> {
    let suffix = name.rsplit(['_', ' ', '.']).next().filter(|suffix| *suffix != name)?;
    Some(suffix.to_ascii_lowercase())
}

/// Returns a time as an archive has it.
pub fn checked(time: i128) -> Result<u64, TimeRefused> {
    if time < 0 { Err(TimeRefused::Early(time)) } else { u64::try_from(time).map_err(|_| TimeRefused::Late) }
}

/// Parses a decimal number, exactly. `scale` is the number of nanoseconds of its unit.
fn decimal(text: &str, has_comma: bool, scale: i128) -> Option<i128> {
    let (is_negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    // A point beside decimal commas is a thousands separator: `1.000` is not one second.
    if has_comma && digits.contains('.') {
        return None;
    }
    let (whole, fraction) = digits.split_once(if has_comma { ',' } else { '.' }).unwrap_or((digits, ""));
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.len() + fraction.len() == 0 {
        return None;
    }
    let time = if is_number(whole) && is_number(fraction) && whole.len() <= 20 {
        let whole = match leading_digits(whole.as_bytes(), 0).0 {
            short if whole.len() < 20 => i128::from(short),
            _ => whole.parse().ok()?,
        };
        whole * scale + parts(fraction, scale)
    } else {
        let real: f64 = digits.parse().ok()?;
        let time = real * scale as f64;
        (time.is_finite() && time < 1e20).then_some(time.round() as i128)?
    };
    Some(if is_negative { -time } else { time })
}

/// The nanoseconds of digits after a point, rounded to the nearest.
fn parts(fraction: &str, scale: i128) -> i128 {
    // No digit is finer than a nanosecond.
    if let Some(power) = POWERS_OF_TEN.get(fraction.len()).filter(|power| i128::from(**power) <= scale) {
        let digits = leading_digits(fraction.as_bytes(), 0).0;
        return i128::from(digits * (scale as u64 / power));
    }
    exact_parts(fraction, scale)
}

fn exact_parts(fraction: &str, scale: i128) -> i128 {
    let (mut sum, mut place) = (0_i128, scale * 10);
    for digit in fraction.bytes().take(MAX_FRACTION_DIGITS) {
        // One more digit than the scale has, to round.
        sum = sum * 10 + i128::from(digit - b'0');
        place *= 10;
    }
    let of = place / (scale * 10);
    (sum * scale + of / 2) / of
}

fn by_pattern(pattern: &str, text: &str) -> Option<i128> {
    let mut parts = BrokenDownTime::parse(pattern, text).ok()?;
    if let Ok(time) = parts.to_timestamp() {
        return Some(time.as_nanosecond());
    }
    if parts.hour().is_none() {
        parts.set_hour(Some(0)).ok()?;
    }
    Some(parts.to_datetime().ok()?.to_zoned(TimeZone::UTC).ok()?.timestamp().as_nanosecond())
}

/// Parses `2024-01-31T12:00:00.5Z`, `20240131T120000`, `31.01.2024 12:00` and alike.
fn date(text: &str, order: DateOrder) -> Option<i128> {
    let mut text = text.trim().as_bytes();
    let (year, month, day) = civil_date(&mut text, order)?;
    let mut time = 0;
    if let Some((b'T' | b't' | b' ' | b'_', rest)) = text.split_first().map(|(first, rest)| (*first, rest)) {
        text = rest;
        while let Some((b' ', rest)) = text.split_first() {
            text = rest;
        }
        time = half_day(&mut text)?;
    }
    let offset = zone(text.trim_ascii())?;
    let midnight = i128::from(days_since_1970(year, month, day)? * SECONDS_PER_DAY) * NANOS_PER_SECOND;
    Some(midnight + time - offset)
}

/// The days since 1970-01-01 of a date in the Gregorian calendar, if there is such a date.
fn days_since_1970(year: u32, month: u32, day: u32) -> Option<i64> {
    let is_leap_year = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let days = match month {
        2 => 28 + u32::from(is_leap_year),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    // The last day for which the library of calendars has no time in each zone.
    if !(1..=days).contains(&day) || (year, month, day) == (9_999, 12, 31) {
        return None;
    }
    // Years from March on, of which the leap day is the last one. The calendar repeats after 400 years, 146,097 days.
    let (year, month) = if month > 2 { (year + 400, month - 3) } else { (year + 399, month + 9) };
    let day_of_year = (153 * month + 2) / 5 + day - 1;
    Some(i64::from(year * 365 + year / 4 - year / 100 + year / 400 + day_of_year) - 719_468 - 146_097)
}

fn civil_date(text: &mut &[u8], order: DateOrder) -> Option<(u32, u32, u32)> {
    let first = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (a, b, c);
    if first == 8 && order == DateOrder::YearMonthDay {
        (a, b, c) = (number(text, 4..=4)?, number(text, 2..=2)?, number(text, 2..=2)?);
    } else {
        let (year, part) = (4..=4, 1..=2);
        let widths = match order {
            DateOrder::YearMonthDay => [year, part.clone(), part],
            DateOrder::DayMonthYear | DateOrder::MonthDayYear => [part.clone(), part, year],
        };
        let [one, two, three] = widths;
        a = number(text, one)?;
        let separator = *text.first()?;
        if !matches!(separator, b'-' | b'/' | b'.') {
            return None;
        }
        *text = &text[1..];
        b = number(text, two)?;
        *text = text.strip_prefix(&[separator])?;
        c = number(text, three)?;
    }
    Some(match order {
        DateOrder::YearMonthDay => (a, b, c),
        DateOrder::DayMonthYear => (c, b, a),
        DateOrder::MonthDayYear => (c, a, b),
    })
}

/// Parses a time of the day, which may have `AM` or `PM` after a space.
fn half_day(text: &mut &[u8]) -> Option<i128> {
    const HOUR: i128 = 3_600 * NANOS_PER_SECOND;
    let time = time_of_day(text)?;
    // Windows and browsers write a narrow space that does not break.
    let rest = text.trim_ascii_start();
    let rest =
        rest.strip_prefix("\u{202f}".as_bytes()).or(rest.strip_prefix("\u{a0}".as_bytes())).unwrap_or(rest);
    let Some((half, rest)) = rest.split_first_chunk::<2>() else { return Some(time) };
    let start = match half.to_ascii_uppercase().as_slice() {
        b"AM" => 0,
        b"PM" => 12 * HOUR,
        _ => return Some(time),
    };
    *text = rest;
    // 12 AM is midnight.
    (HOUR..13 * HOUR).contains(&time).then_some(start + time % (12 * HOUR))
}

/// Parses hours, minutes, seconds and their fraction, in nanoseconds.
fn time_of_day(text: &mut &[u8]) -> Option<i128> {
    let hours = number(text, 1..=2)?;
    let has_colons = text.first() == Some(&b':');
    let next = |text: &mut &[u8]| -> Option<u32> {
        if has_colons {
            *text = text.strip_prefix(b":")?;
        }
        number(text, 2..=2)
    };
    let is_next = |text: &[u8]| match text.first() {
        Some(b':') => has_colons,
        Some(byte) => !has_colons && byte.is_ascii_digit(),
        None => false,
    };
    let minutes = next(text)?;
    // A leap second is the second before it, as in POSIX.
    let seconds = if is_next(text) { next(text)? } else { 0 };
    if hours > 23 || minutes > 59 || seconds > 60 {
        return None;
    }
    let mut time = i128::from(hours * 3_600 + minutes * 60 + seconds.min(59)) * NANOS_PER_SECOND;
    let has_colon_mark =
        |rest: &[u8]| has_colons && rest.iter().take_while(|byte| byte.is_ascii_digit()).count() == 3;
    // Some programs write a colon before milliseconds: `12:00:00:123`.
    let has_mark = match text.split_first() {
        Some((b'.' | b',', _)) => true,
        Some((b':', rest)) => has_colon_mark(rest),
        _ => false,
    };
    if let Some((_, rest)) = text.split_first().filter(|_| has_mark) {
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let (fraction, rest) = rest.split_at(digits);
        time +=
            parts(str::from_utf8(fraction).ok().filter(|fraction| !fraction.is_empty())?, NANOS_PER_SECOND);
        *text = rest;
    }
    Some(time)
}

/// Parses a zone, in nanoseconds east of UTC; UTC without one.
fn zone(text: &[u8]) -> Option<i128> {
    let (sign, rest) = match text {
        b"" | b"Z" | b"z" | b"UTC" | b"GMT" => return Some(0),
        [b'+', rest @ ..] => (1, rest),
        [b'-', rest @ ..] => (-1, rest),
        _ => return None,
    };
    let mut rest = rest;
    let hours = number(&mut rest, 2..=2)?;
    let minutes = match rest.strip_prefix(b":").unwrap_or(rest) {
        [] => 0,
        digits => number(&mut { digits }, 2..=2).filter(|_| digits.len() == 2)?,
    };
    (hours < 24 && minutes < 60).then(|| sign * i128::from(hours * 3_600 + minutes * 60) * NANOS_PER_SECOND)
}

/// Takes a number of `width` digits from the beginning of a text.
fn number(text: &mut &[u8], width: std::ops::RangeInclusive<usize>) -> Option<u32> {
    let digits = text.iter().take(*width.end()).take_while(|byte| byte.is_ascii_digit()).count();
    if !width.contains(&digits) {
        return None;
    }
    let (number, rest) = text.split_at(digits);
    *text = rest;
    str::from_utf8(number).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::DateTime;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn short_fractions_are_exact(fraction in "[0-9]{0,14}", scale in 0..4_u32) {
            let scale = 1_000_i128.pow(scale);
            prop_assert_eq!(parts(&fraction, scale), exact_parts(&fraction, scale));
            let days = NANOS_PER_DAY;
            prop_assert_eq!(parts(&fraction, days), exact_parts(&fraction, days));
        }

        #[test]
        fn dates_are_those_of_the_library(year in 0..=9_999_u32, month in 0..14_u32, day in 0..33_u32) {
            let midnight = DateTime::new(year as i16, month as i8, day as i8, 0, 0, 0, 0).ok();
            let midnight = midnight.and_then(|of| of.to_zoned(TimeZone::UTC).ok());
            let expected = midnight.map(|of| of.timestamp().as_second() / SECONDS_PER_DAY);
            prop_assert_eq!(days_since_1970(year, month, day), expected);
        }
    }

    const T: i128 = 1_700_000_000_000_000_000;

    #[test]
    fn dates_have_their_usual_forms() {
        let form = |texts: &[&str]| TimeForm::of_dates(texts);
        let iso = Some(TimeForm::Date(DateOrder::YearMonthDay));
        for text in [
            "2023-11-14T22:13:20Z",
            "2023-11-14 22:13:20",
            "2023/11/14 22:13:20 UTC",
            "20231114T221320",
            "2023-11-14T23:13:20+01:00",
            "2023-11-14 17:13:20,000-0500",
            "14.11.2023 22:13:20",
            "11/14/2023 22:13:20",
        ] {
            let form = form(&[text]).unwrap_or_else(|| panic!("{text}"));
            assert_eq!(form.parse(text), Ok(T), "{text}");
        }
        assert_eq!(form(&["2023-11-14"]), iso);
        assert_eq!(form(&["20111104T014428.936763"]), iso);
        assert_eq!(
            iso.clone().map(|form| form.parse("20111104T014428.936763")),
            Some(Ok(1_320_371_068_936_763_000))
        );
        assert_eq!(
            form(&["01/02/2024 00:00", "01/13/2024 00:00"]),
            Some(TimeForm::Date(DateOrder::MonthDayYear))
        );
        assert_eq!(form(&["01/02/2024 00:00"]), None);
        assert!(TimeForm::is_ambiguous(&["01/02/2024 00:00"]));
        for text in
            ["", "12", "2023-13-01", "2023-11-14T25:00:00", "2023-11-14x", "2023-11-14T12:00:00.Z", "12:00"]
        {
            assert_eq!(form(&[text]), None, "{text}");
        }
    }

    #[test]
    fn half_days_have_twelve_hours() {
        let parse = |text: &str| TimeForm::Date(DateOrder::MonthDayYear).parse(text);
        assert_eq!(parse("11/14/2023 10:13:20 PM"), Ok(T));
        assert_eq!(parse("11/14/2023 10:13:20.5pm"), Ok(T + 500_000_000));
        assert_eq!(parse("11/14/2023 12:00 AM"), parse("11/14/2023"));
        assert_eq!(parse("11/14/2023 12:00 PM"), parse("11/14/2023 12:00"));
        assert!(parse("11/14/2023 13:00 PM").is_err() && parse("11/14/2023 0:30 AM").is_err());
        assert!(parse("11/14/2023 10:00 XM").is_err());
    }

    #[test]
    fn milliseconds_may_follow_a_colon() {
        let parse = |text: &str| TimeForm::Date(DateOrder::YearMonthDay).parse(text);
        assert_eq!(parse("2023-11-14 22:13:20:123"), Ok(T + 123_000_000));
        assert_eq!(parse("2023-11-14 23:13:20:123+01:00"), Ok(T + 123_000_000));
        for text in ["22:13:20:12", "22:13:20:1234", "22:13:20:", "221320:123", "24:00:00"] {
            assert!(parse(&format!("2023-11-14 {text}")).is_err(), "{text}");
        }
    }

    #[test]
    fn numbers_are_exact() {
        let seconds = TimeForm::Number { unit: TimeUnit::Seconds, has_comma: false };
        assert_eq!(seconds.parse("1700000000.123456789"), Ok(T + 123_456_789));
        assert_eq!(seconds.parse("-0.5"), Ok(-500_000_000));
        assert_eq!(seconds.parse("1.7e9"), Ok(T));
        assert_eq!(seconds.parse(".25"), Ok(250_000_000));
        assert!(seconds.parse("x").is_err() && seconds.parse("").is_err() && seconds.parse(".").is_err());
        let micros = TimeForm::Number { unit: TimeUnit::Microseconds, has_comma: true };
        assert_eq!(micros.parse("1,0015"), Ok(1_002));
        assert!(micros.parse("1.000").is_err() && micros.parse("1.000,5").is_err());
        assert_eq!(TimeUnit::of_magnitude(1.7e18), TimeUnit::Nanoseconds);
        assert_eq!(TimeUnit::of_magnitude(1.7e12), TimeUnit::Milliseconds);
        assert_eq!(TimeUnit::of_magnitude(12.5), TimeUnit::Seconds);
    }

    #[test]
    fn days_of_spreadsheets_are_exact() {
        let form = TimeForm::named("excel", false).unwrap();
        assert_eq!(form.parse("45352.5"), Ok(1_709_294_400_000_000_000));
        assert_eq!(form.parse("45352.541667"), Ok(1_709_298_000_028_800_000));
        assert_eq!(form.parse("45352.5416666666"), Ok(1_709_297_999_999_994_240));
        assert_eq!(form.parse("45352.0000000000099999999999"), Ok(1_709_251_200_000_000_864));
        assert_eq!(form.parse("45352.00000000000099999"), Ok(1_709_251_200_000_000_086));
        assert!(form.parse("x").is_err());
    }

    #[test]
    fn days_of_spreadsheets_have_a_time_of_the_day_beside_them() {
        let form = TimeForm::named("excel", false).unwrap();
        assert_eq!(form.parse_day("45352", " 12:00:00.5"), Ok(1_709_294_400_500_000_000));
        assert!(form.parse_day("45352", "").is_err());
        let date = TimeForm::Date(DateOrder::DayMonthYear);
        assert!(date.parse_day("31.01.2024", " ").is_err() && date.parse_day("31.01.2024", "??").is_err());
        assert!(form.parse_day("45352", "noon").is_err());
        assert!(form.is_whole_day("45352") && !form.is_whole_day("45352.5") && !form.is_whole_day("x"));
    }

    #[test]
    fn patterns_are_those_of_strptime() {
        let form = TimeForm::named("%d.%m.%Y %H:%M:%S%.f", false).unwrap();
        assert_eq!(form.parse("14.11.2023 22:13:20.5"), Ok(T + 500_000_000));
        assert!(form.parse("2023-11-14").is_err());
        let day = TimeForm::named("%d/%m/%Y", false).unwrap();
        assert_eq!(day.parse("14/11/2023"), Ok(1_699_920_000_000_000_000));
    }

    #[test]
    fn times_beyond_those_of_an_archive_are_refused() {
        assert_eq!(checked(-1), Err(TimeRefused::Early(-1)));
        assert_eq!(checked(1 << 64), Err(TimeRefused::Late));
        assert_eq!(checked(T), Ok(1_700_000_000_000_000_000));
    }
}

//! Paths and parameters of the three versions of InfluxDB's HTTP API.

use oasis_format::input::TimeUnit;
use std::borrow::Cow;

/// A version of the API.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    V1,
    V2,
    V3,
}

impl Version {
    /// Returns the version of a path that points are written to.
    pub fn of_write(path: &str) -> Option<Self> {
        match path {
            "/write" => Some(Self::V1),
            "/api/v2/write" => Some(Self::V2),
            "/api/v3/write_lp" => Some(Self::V3),
            _ => None,
        }
    }
}

/// The unit of the times of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Precision {
    Unit(TimeUnit),
    /// Minutes, of version 1.
    Minutes,
    /// Hours, of version 1.
    Hours,
    /// By the magnitude of each time, of version 3.
    Auto,
}

impl Precision {
    /// Returns the precision of a query such as `db=a&precision=ms`.
    ///
    /// # Errors
    /// The value, if it is unknown.
    pub fn of_query(query: &str, version: Version) -> Result<Self, String> {
        let Some(value) = parameter(query, "precision") else {
            let default = Self::Unit(TimeUnit::Nanoseconds);
            return Ok(if version == Version::V3 { Self::Auto } else { default });
        };
        Ok(match &*value {
            "n" | "ns" | "nanosecond" => Self::Unit(TimeUnit::Nanoseconds),
            "u" | "us" | "µ" | "µs" | "microsecond" => Self::Unit(TimeUnit::Microseconds),
            "ms" | "millisecond" => Self::Unit(TimeUnit::Milliseconds),
            "s" | "second" => Self::Unit(TimeUnit::Seconds),
            "m" if version == Version::V1 => Self::Minutes,
            "h" if version == Version::V1 => Self::Hours,
            "auto" if version == Version::V3 => Self::Auto,
            other => return Err(other.chars().take(40).collect()),
        })
    }

    /// Returns a time in nanoseconds.
    pub fn nanoseconds(self, time: i64) -> i128 {
        let unit = match self {
            Self::Unit(unit) => unit.nanoseconds(),
            Self::Minutes => 60 * TimeUnit::Seconds.nanoseconds(),
            Self::Hours => 3_600 * TimeUnit::Seconds.nanoseconds(),
            // The limits of InfluxDB 3: each is the year 2128 in the smaller unit's successor.
            Self::Auto => match time.unsigned_abs() {
                0..5_000_000_000 => TimeUnit::Seconds.nanoseconds(),
                5_000_000_000..5_000_000_000_000 => TimeUnit::Milliseconds.nanoseconds(),
                5_000_000_000_000..5_000_000_000_000_000 => TimeUnit::Microseconds.nanoseconds(),
                _ => TimeUnit::Nanoseconds.nanoseconds(),
            },
        };
        i128::from(time) * unit
    }
}

/// Returns the first parameter of this name, decoded.
pub fn parameter<'q>(query: &'q str, name: &str) -> Option<Cow<'q, str>> {
    let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    pairs.into_iter().find(|(key, _)| *key == name).map(|(_, value)| decoded(value))
}

/// Decodes `%20` and `+` (RFC 3986 2.1, and the forms of HTML).
fn decoded(value: &str) -> Cow<'_, str> {
    if !value.contains(['%', '+']) {
        return Cow::Borrowed(value);
    }
    let mut bytes = Vec::with_capacity(value.len());
    let mut rest = value.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let code = after.get(..2).and_then(|hex| str::from_utf8(hex).ok());
        let byte = code.filter(|_| *first == b'%').and_then(|hex| u8::from_str_radix(hex, 16).ok());
        rest = if byte.is_some() { after.get(2..).unwrap_or_default() } else { after };
        bytes.push(byte.unwrap_or(if *first == b'+' { b' ' } else { *first }));
    }
    Cow::Owned(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_version_has_its_precisions() {
        let of = |query, version| Precision::of_query(query, version).map(|of| of.nanoseconds(7));
        assert_eq!(of("db=a", Version::V1), Ok(7));
        assert_eq!(of("precision=ms&db=a", Version::V1), Ok(7_000_000));
        assert_eq!(of("precision=h", Version::V1), Ok(7 * 3_600_000_000_000));
        assert_eq!(of("precision=%C2%B5", Version::V2), Ok(7_000));
        assert_eq!(of("precision=h", Version::V2), Err("h".into()));
        assert_eq!(of("", Version::V3), Ok(7_000_000_000));
        let newest = |time| Precision::Auto.nanoseconds(time);
        for (time, unit) in [(1, 1_000_000_000), (1_000, 1_000_000), (1_000_000, 1_000), (1_000_000_000, 1)] {
            assert_eq!(newest(1_700_000_000 * time), 1_700_000_000 * i128::from(time) * unit);
        }
    }

    #[test]
    fn parameters_are_decoded() {
        assert_eq!(
            parameter("q=CREATE+DATABASE%20%22a%22&db=", "q").as_deref(),
            Some("CREATE DATABASE \"a\"")
        );
        assert_eq!(parameter("q=%zz%", "q").as_deref(), Some("%zz%"));
        assert_eq!(parameter("a=1", "q"), None);
    }
}

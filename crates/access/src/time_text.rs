//! Times in the file of accounts: RFC 3339, UTC.

use oasis_wire::{quantity::Nanos, time};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use std::fmt;

/// A time of the wall clock that is written as text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Time(pub Nanos);

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&time::format_digits(self.0.0, 0))
    }
}

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        let time = time::parse_date(&text).and_then(|time| u64::try_from(time).ok());
        time.map(|time| Self(Nanos(time))).ok_or_else(|| {
            D::Error::custom("not a time: write a date and time such as \"2026-05-04T12:00:00Z\"")
        })
    }
}

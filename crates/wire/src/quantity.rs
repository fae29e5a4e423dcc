//! Quantities: topics, offsets, sequence numbers, times, rates. Each is a type that is parsed once, at the boundary.

use alloc::{format, string::String};
use core::{fmt, str::FromStr};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use uuid::Uuid;

macro_rules! counted {
    ($(#[$doc:meta])* $name:ident($inner:ty)) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub $inner);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

counted! {
    /// The number that the DAC assigns to a probe instance at registration: unique within an [`Epoch`], never 0.
    TopicId(u32)
}
counted! {
    /// Place of a sample in its topic log: the first sample of an epoch has offset 0.
    Offset(u64)
}
counted! {
    /// Number of a sample within one run of its probe, from 1.
    Sequence(u64)
}
counted! {
    /// Nanoseconds since 1970-01-01 UTC on the clock of the writer.
    Nanos(u64)
}

/// One lifetime of the topic logs of a DAC. Offsets of different epochs cannot be compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Epoch(pub u64);

/// The error for a text that is not an [`Epoch`] or a [`Position`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "\"{0}\" is not a position: write EPOCH:OFFSET as received from the DAC, 16 hexadecimal digits and a decimal number"
)]
pub struct PositionError(String);

impl Epoch {
    /// Returns when the DAC that chose it started, on its clock, to 66 µs: the last 16 bits are random.
    pub const fn began(self) -> Nanos {
        Nanos(self.0 & !0xffff)
    }
}

impl fmt::Display for Epoch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl FromStr for Epoch {
    type Err = PositionError;
    fn from_str(text: &str) -> Result<Self, PositionError> {
        let digits = text.len() == 16 && text.bytes().all(|b| b.is_ascii_hexdigit());
        match u64::from_str_radix(text, 16) {
            Ok(epoch) if digits => Ok(Self(epoch)),
            _ => Err(PositionError(text.into())),
        }
    }
}

impl Serialize for Epoch {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Epoch {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?.parse().map_err(serde::de::Error::custom)
    }
}

/// The position of a reader: the next sample it reads, as `epoch:offset`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// The epoch of the offset.
    pub epoch: Epoch,
    /// The offset of the next sample.
    pub offset: Offset,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.epoch, self.offset)
    }
}

impl FromStr for Position {
    type Err = PositionError;
    fn from_str(text: &str) -> Result<Self, PositionError> {
        let refuse = || PositionError(text.into());
        let (epoch, offset) = text.split_once(':').ok_or_else(refuse)?;
        let epoch = epoch.parse().map_err(|_| refuse())?;
        let offset = offset.parse().map(Offset).map_err(|_| refuse())?;
        Ok(Self { epoch, offset })
    }
}

impl<'de> Deserialize<'de> for Position {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?.parse().map_err(serde::de::Error::custom)
    }
}

impl Serialize for Position {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

/// The position of a reader that every DAC, relay and archive understands: the next sample it reads, as `run@sequence`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PortablePosition {
    /// The run of the node that took the sample.
    pub run: Uuid,
    /// The sequence number of the next sample.
    pub sequence: u64,
}

/// A string that is not a portable position.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "\"{0}\" is not a position: write RUN@SEQUENCE, the run of the node and the number of the next sample"
)]
pub struct PortablePositionError(String);

impl fmt::Display for PortablePosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.run, self.sequence)
    }
}

impl FromStr for PortablePosition {
    type Err = PortablePositionError;
    fn from_str(text: &str) -> Result<Self, PortablePositionError> {
        let refuse = || PortablePositionError(text.into());
        let (run, sequence) = text.split_once('@').ok_or_else(refuse)?;
        let run = run.parse().map_err(|_| refuse())?;
        Ok(Self { run, sequence: sequence.parse().map_err(|_| refuse())? })
    }
}

/// A sampling rate: samples a second, 0.01 to 1,000.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize)]
#[serde(transparent)]
pub struct Hertz(f64);

/// A rate outside of 0.01 to 1,000 Hz.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("rate of {0} Hz is out of range: 0.01 to 1,000 Hz")]
pub struct RateOutOfRange(String);

impl Hertz {
    /// One sample in 100 s.
    pub const MIN: f64 = 0.01;
    /// One sample a millisecond; the application pushes samples of a higher rate.
    pub const MAX: f64 = 1_000.0;
    /// One sample a second.
    pub const ONE: Self = Self(1.0);
    /// The highest rate.
    pub const FASTEST: Self = Self(Self::MAX);

    /// Checks the range.
    pub fn new(hertz: f64) -> Result<Self, RateOutOfRange> {
        if (Self::MIN..=Self::MAX).contains(&hertz) {
            Ok(Self(hertz))
        } else {
            Err(RateOutOfRange(format!("{hertz}")))
        }
    }

    /// Samples a second.
    pub fn get(self) -> f64 {
        self.0
    }

    /// Nanoseconds from one sample to the next.
    pub fn period_ns(self) -> u64 {
        (1e9 / self.0) as u64
    }
}

impl FromStr for Hertz {
    type Err = RateOutOfRange;
    fn from_str(text: &str) -> Result<Self, RateOutOfRange> {
        text.trim().parse().map_err(|_| RateOutOfRange(format!("\"{text}\""))).and_then(Self::new)
    }
}

impl fmt::Display for Hertz {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<'de> Deserialize<'de> for Hertz {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Self::new(f64::deserialize(from)?).map_err(serde::de::Error::custom)
    }
}

/// The rates between which the readers of a probe choose, in hertz. Never empty: `min` is at most `max`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Bounds")]
pub struct DemandRange {
    min: Hertz,
    max: Hertz,
}

/// The error for a range whose `min` exceeds its `max`.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("invalid demand range, {min} to {max} Hz: min must not exceed max")]
pub struct RangeReversed {
    min: Hertz,
    max: Hertz,
}

#[derive(Deserialize)]
struct Bounds {
    min: Hertz,
    max: Hertz,
}

impl DemandRange {
    /// Checks the order.
    ///
    /// # Errors
    /// [`RangeReversed`] if `min` is above `max`.
    pub fn new(min: Hertz, max: Hertz) -> Result<Self, RangeReversed> {
        if min <= max { Ok(Self { min, max }) } else { Err(RangeReversed { min, max }) }
    }

    /// The rate without readers, in hertz.
    pub fn min(self) -> Hertz {
        self.min
    }

    /// The highest rate that a reader can get, in hertz.
    pub fn max(self) -> Hertz {
        self.max
    }

    /// The rate in the range that is nearest to `hertz`, which may be infinite.
    pub fn nearest(self, hertz: f64) -> Hertz {
        Hertz(hertz.clamp(self.min.0, self.max.0))
    }
}

impl TryFrom<Bounds> for DemandRange {
    type Error = RangeReversed;
    fn try_from(bounds: Bounds) -> Result<Self, RangeReversed> {
        Self::new(bounds.min, bounds.max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn a_position_reads_back_as_it_was_written() {
        let position = Position { epoch: Epoch(0xab), offset: Offset(12) };
        assert_eq!(position.to_string(), "00000000000000ab:12");
        assert_eq!(position.to_string().parse(), Ok(position));
    }

    #[test]
    fn an_invalid_position_is_quoted_in_the_error() {
        for text in [
            "",
            ":",
            "ab:1",
            "00000000000000ab",
            "00000000000000ab:",
            "00000000000000ab:-1",
            "+0000000000000ab:1",
        ] {
            assert_eq!(text.parse::<Position>(), Err(PositionError(text.into())));
        }
    }

    #[test]
    fn a_portable_position_reads_back_as_it_was_written() {
        let position = PortablePosition { run: Uuid::from_u128(0xab), sequence: 12 };
        assert_eq!(position.to_string(), "00000000-0000-0000-0000-0000000000ab@12");
        assert_eq!(position.to_string().parse(), Ok(position));
        for text in ["", "@", "12", "00000000-0000-0000-0000-0000000000ab@", "ab@12", "00000000000000ab:12"] {
            let error = text.parse::<PortablePosition>().unwrap_err().to_string();
            assert!(error.contains("RUN@SEQUENCE") && error.contains(text), "{error}");
        }
    }

    #[test]
    fn rates_outside_of_the_range_are_refused() {
        for text in ["0", "0.009", "1000.1", "-1", "NaN", "inf", "fast", ""] {
            assert!(text.parse::<Hertz>().is_err(), "{text}");
        }
        assert_eq!("0.5".parse::<Hertz>().map(Hertz::period_ns), Ok(2_000_000_000));
    }

    #[test]
    fn a_range_of_demand_has_its_bounds_in_order() {
        let hertz = |hertz| Hertz::new(hertz).unwrap();
        let range = DemandRange::new(hertz(1.0), hertz(100.0)).unwrap();
        assert_eq!(range.nearest(f64::INFINITY), hertz(100.0));
        assert_eq!((range.nearest(0.0), range.nearest(20.0)), (hertz(1.0), hertz(20.0)));
        assert!(DemandRange::new(hertz(2.0), hertz(1.0)).unwrap_err().to_string().contains("2 to 1 Hz"));
        assert!(serde_json::from_str::<DemandRange>(r#"{"min": 2, "max": 1}"#).is_err());
    }
}

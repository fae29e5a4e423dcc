//! What a subscriber wants of a topic, and what should happen when it comes too late.

use oasis_wire::quantity::{Hertz, RateOutOfRange};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::{fmt, str::FromStr};

/// Which samples a subscriber gets.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Delivery {
    /// Every one.
    #[default]
    Every,
    /// The newest one whenever it is ready for another; what it skips is told.
    Latest,
    /// At most so many a second, the first of each period.
    MaxHz(Hertz),
    /// So many a second, each standing for all samples of its period: least, greatest and last value of each numeric metric.
    Envelope(Hertz),
}

/// Why a text is no [`Delivery`].
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum NotADelivery {
    /// An unknown word.
    #[error(
        "\"{0}\" is no delivery: write every, latest, max_hz=N or envelope=N (N is 0.01 to 1,000 a second)"
    )]
    Unknown(String),
    /// A rate that cannot be.
    #[error("{0}")]
    Rate(#[from] RateOutOfRange),
}

impl FromStr for Delivery {
    type Err = NotADelivery;
    fn from_str(text: &str) -> Result<Self, NotADelivery> {
        match text.split_once('=') {
            None if text == "every" => Ok(Self::Every),
            None if text == "latest" => Ok(Self::Latest),
            Some(("max_hz", hertz)) => Ok(Self::MaxHz(hertz.parse()?)),
            Some(("envelope", hertz)) => Ok(Self::Envelope(hertz.parse()?)),
            _ => Err(NotADelivery::Unknown(text.into())),
        }
    }
}

impl fmt::Display for Delivery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Every => f.write_str("every"),
            Self::Latest => f.write_str("latest"),
            Self::MaxHz(hertz) => write!(f, "max_hz={hertz}"),
            Self::Envelope(hertz) => write!(f, "envelope={hertz}"),
        }
    }
}

impl Serialize for Delivery {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Delivery {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?.parse().map_err(serde::de::Error::custom)
    }
}

/// What happens to a subscriber that wants samples which the log no longer holds. It is told of them in any case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Overflow {
    /// It goes on with the oldest one held.
    #[default]
    Gap,
    /// It goes on with the newest one.
    Latest,
    /// Its subscription ends.
    Close,
}

/// Why a text is no [`Overflow`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("\"{0}\" is no overflow policy: write gap, latest or close")]
pub struct NotAnOverflow(String);

impl FromStr for Overflow {
    type Err = NotAnOverflow;
    fn from_str(text: &str) -> Result<Self, NotAnOverflow> {
        match text {
            "gap" => Ok(Self::Gap),
            "latest" => Ok(Self::Latest),
            "close" => Ok(Self::Close),
            _ => Err(NotAnOverflow(text.into())),
        }
    }
}

/// The options of one subscription.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Options {
    /// Which samples.
    pub delivery: Delivery,
    /// What if it is too late for them.
    pub overflow: Overflow,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delivery_reads_back_as_it_was_written() {
        for text in ["every", "latest", "max_hz=0.5", "envelope=10"] {
            assert_eq!(text.parse::<Delivery>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn what_is_no_delivery_is_refused_with_what_would_be_one() {
        for text in [
            "",
            "all",
            "latest=1",
            "max_hz",
            "max_hz=",
            "max_hz=0",
            "envelope=1001",
            "envelope=NaN",
            "every ",
        ] {
            let refused = text.parse::<Delivery>().unwrap_err().to_string();
            assert!(refused.contains("1,000"), "{text}: {refused}");
        }
        assert!("drop".parse::<Overflow>().is_err());
    }
}

//! Which samples of a topic a subscriber wants, and what happens when it lags too far.

use oasis_wire::quantity::{Hertz, PortablePosition, RateOutOfRange};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::{fmt, str::FromStr};

/// Which samples a subscriber receives.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Delivery {
    /// Every sample.
    #[default]
    Every,
    /// The newest sample whenever it is ready for another. Skipped samples are reported.
    Latest,
    /// At most this many a second: the first of each period.
    MaxHz(Hertz),
    /// This many a second, each standing for all samples of its period: minimum, maximum and last value of each
    /// numeric metric.
    Envelope(Hertz),
}

/// Why a text is not a [`Delivery`].
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum DeliveryError {
    /// An unknown word.
    #[error(
        "unknown delivery \"{0}\": use every, latest, max_hz=N or envelope=N (N is 0.01 to 1,000 a second)"
    )]
    Unknown(String),
    /// The rate is out of range.
    #[error("{0}")]
    Rate(#[from] RateOutOfRange),
}

impl FromStr for Delivery {
    type Err = DeliveryError;
    fn from_str(text: &str) -> Result<Self, DeliveryError> {
        match text.split_once('=') {
            None if text == "every" => Ok(Self::Every),
            None if text == "latest" => Ok(Self::Latest),
            Some(("max_hz", hertz)) => Ok(Self::MaxHz(hertz.parse()?)),
            Some(("envelope", hertz)) => Ok(Self::Envelope(hertz.parse()?)),
            _ => Err(DeliveryError::Unknown(text.into())),
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

/// Policy for a subscriber whose next samples were evicted. The gap is reported to it in any case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Overflow {
    /// The subscriber continues at the oldest sample.
    #[default]
    Gap,
    /// The subscriber continues at the newest sample.
    Latest,
    /// Its subscription ends.
    Close,
}

/// A text that is not an [`Overflow`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown overflow policy \"{0}\": use gap, latest or close")]
pub struct OverflowError(String);

impl FromStr for Overflow {
    type Err = OverflowError;
    fn from_str(text: &str) -> Result<Self, OverflowError> {
        match text {
            "gap" => Ok(Self::Gap),
            "latest" => Ok(Self::Latest),
            "close" => Ok(Self::Close),
            _ => Err(OverflowError(text.into())),
        }
    }
}

/// The options of one subscription.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Options {
    /// Which samples.
    pub delivery: Delivery,
    /// Policy for a reader that lags too far.
    pub overflow: Overflow,
    /// Samples of this run before this number are not wanted: the subscription before this one had them.
    pub after: Option<PortablePosition>,
    /// End of the topic before this one, for a reader that continues after it.
    pub continues: Option<PortablePosition>,
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
    fn the_error_for_an_unknown_delivery_lists_the_valid_ones() {
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

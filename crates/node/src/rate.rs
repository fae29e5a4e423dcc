//! The rate of a chosen probe.

use oasis_probe::{Hertz, NodeBuilder, NodeError};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::str::FromStr;

/// The word for no rate.
const MAX: &str = "max";

/// Rate at which a probe takes samples.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rate {
    /// Number of samples a second.
    Hertz(Hertz),
    /// As fast as the node can.
    Max,
}

impl Rate {
    /// Returns the rate of a probe that needs one.
    pub(crate) fn hertz(self) -> Hertz {
        match self {
            Self::Hertz(hertz) => hertz,
            Self::Max => Hertz::FASTEST,
        }
    }

    pub(crate) fn apply(self, node: &mut NodeBuilder, instance: &str) -> Result<(), NodeError> {
        if self == Self::Max {
            node.unlimited(instance)?;
        }
        Ok(())
    }
}

impl Default for Rate {
    fn default() -> Self {
        Self::Hertz(Hertz::ONE)
    }
}

impl FromStr for Rate {
    type Err = <Hertz as FromStr>::Err;

    /// A number of hertz, or `max`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == MAX { Ok(Self::Max) } else { text.parse().map(Self::Hertz) }
    }
}

impl Serialize for Rate {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Hertz(hertz) => hertz.serialize(to),
            Self::Max => to.serialize_str(MAX),
        }
    }
}

impl<'de> Deserialize<'de> for Rate {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        match toml::Value::deserialize(from)? {
            toml::Value::String(text) if text == MAX => Ok(Self::Max),
            number => number.try_into().map(Self::Hertz).map_err(|error: toml::de::Error| {
                serde::de::Error::custom(format!(
                    "{}: write a number of hertz, or \"{MAX}\"",
                    error.message()
                ))
            }),
        }
    }
}

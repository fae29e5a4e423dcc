//! Where a subscription continues: at a position of this DAC, or at one that every DAC understands.

use oasis_dac::StartAt;
use oasis_wire::quantity::{PortablePosition, Position};
use serde::{Deserialize, Deserializer, de::Error};
use std::str::FromStr;

/// A position in `resume`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResumeAt {
    /// `EPOCH:OFFSET`
    Position(Position),
    /// `RUN@SEQUENCE`
    Portable(PortablePosition),
}

impl From<ResumeAt> for StartAt {
    fn from(at: ResumeAt) -> Self {
        match at {
            ResumeAt::Position(at) => Self::Position(at),
            ResumeAt::Portable(at) => Self::Portable(at),
        }
    }
}

impl FromStr for ResumeAt {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.contains('@') {
            return text
                .parse()
                .map(Self::Portable)
                .map_err(|error: <PortablePosition as FromStr>::Err| error.to_string());
        }
        text.parse().map(Self::Position).map_err(|error: <Position as FromStr>::Err| error.to_string())
    }
}

impl<'de> Deserialize<'de> for ResumeAt {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?.parse().map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn either_position_is_read_and_an_error_names_its_form() {
        let at = |text: &str| text.parse::<ResumeAt>();
        assert!(matches!(at("00000000000000ab:12"), Ok(ResumeAt::Position(at)) if at.offset.0 == 12));
        let portable = at("00000000-0000-0000-0000-0000000000ab@7");
        assert!(matches!(portable, Ok(ResumeAt::Portable(at)) if at.sequence == 7));
        assert!(at("ab:1").unwrap_err().contains("EPOCH:OFFSET"));
        assert!(at("ab@1").unwrap_err().contains("RUN@SEQUENCE"));
    }
}

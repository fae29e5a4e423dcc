//! Resuming a subscription: at a position of this DAC, at one that every DAC understands, or at whichever of both it knows.

use crate::past::Source;
use oasis_dac::{Instance, StartAt};
use oasis_history::Start;
use oasis_wire::quantity::{Epoch, PortablePosition, Position};
use serde::{Deserialize, Deserializer, de::Error};
use std::{fmt::Display, str::FromStr};

/// The positions in `resume`: `EPOCH:OFFSET`, `RUN@SEQUENCE`, or both with a space between them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResumeAt {
    position: Option<Position>,
    portable: Option<PortablePosition>,
}

/// Source in which reading resumes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resumed {
    /// In the topic log.
    Log(StartAt),
    /// Perhaps in the archive, or at an upstream: the log does not have the sample.
    Past(ResumeAt),
}

impl ResumeAt {
    /// Returns the position that every DAC understands.
    pub fn portable(self) -> Option<PortablePosition> {
        self.portable
    }

    /// Returns where the past begins that archive or upstream may have.
    pub fn source(self) -> Source {
        match (self.position, self.portable) {
            (at, Some(portable)) => Source::Start(Start::Resumed(at, portable)),
            (Some(at), None) => Source::from_position(at),
            (None, None) => Source::Start(Start::Time(0)),
        }
    }

    /// Returns where to read in the log, if nothing else has the sample.
    pub fn in_log(self) -> StartAt {
        match (self.position, self.portable) {
            (Some(at), _) => StartAt::Position(at),
            (None, Some(at)) => StartAt::Portable(at),
            (None, None) => StartAt::Earliest,
        }
    }

    /// Returns where to read an instance of a DAC in this epoch.
    pub fn of(self, instance: &Instance, epoch: Epoch) -> Resumed {
        let log = &instance.source().log;
        match (self.position, self.portable) {
            // The log of a relayed instance may be another one by now: then other samples have the same offsets.
            (Some(at), portable) if at.epoch == epoch && (portable.is_none() || !instance.is_relayed()) => {
                Resumed::Log(StartAt::Position(at))
            }
            (_, Some(at)) if log.find(at).is_some() => Resumed::Log(StartAt::Portable(at)),
            _ => Resumed::Past(self),
        }
    }
}

impl FromStr for ResumeAt {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (position, portable) = match text.split_once(' ') {
            Some((position, portable)) => (Some(position), Some(portable)),
            None if text.contains('@') => (None, Some(text)),
            None => (Some(text), None),
        };
        Ok(Self { position: parsed(position)?, portable: parsed(portable)? })
    }
}

fn parsed<T: FromStr<Err: Display>>(text: Option<&str>) -> Result<Option<T>, String> {
    text.map(|text| text.parse().map_err(|error: T::Err| error.to_string())).transpose()
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
    fn either_position_is_read_or_both_and_an_error_names_the_form() {
        let at = |text: &str| text.parse::<ResumeAt>();
        let parts = |text: &str| {
            let at = at(text).unwrap();
            (at.position.map(|at| at.offset.0), at.portable.map(|at| at.sequence))
        };
        let run = "00000000-0000-0000-0000-0000000000ab";
        assert_eq!(parts("00000000000000ab:12"), (Some(12), None));
        assert_eq!(parts(&format!("{run}@7")), (None, Some(7)));
        assert_eq!(parts(&format!("00000000000000ab:12 {run}@7")), (Some(12), Some(7)));
        assert!(at("ab:1").unwrap_err().contains("EPOCH:OFFSET"));
        assert!(at("ab@1").unwrap_err().contains("RUN@SEQUENCE"));
        assert!(at(&format!("{run}@7 00000000000000ab:12")).unwrap_err().contains("EPOCH:OFFSET"));
    }
}

//! The cell widths of roll-ups.

use serde::{Deserialize, Serialize};

/// The source of points, finest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Level {
    /// The samples themselves.
    #[serde(rename = "raw")]
    Raw,
    /// One cell a second.
    #[serde(rename = "1s")]
    Second,
    /// One cell a minute.
    #[serde(rename = "1m")]
    Minute,
    /// One cell an hour.
    #[serde(rename = "1h")]
    Hour,
}

impl Level {
    /// The levels of roll-ups, finest first.
    pub const ROLLED: [Self; 3] = [Self::Second, Self::Minute, Self::Hour];

    /// Its word in the API.
    pub fn word(self) -> &'static str {
        match self {
            Self::Raw => "raw",
            Self::Second => "1s",
            Self::Minute => "1m",
            Self::Hour => "1h",
        }
    }

    /// The level with this word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ROLLED.into_iter().find(|level| level.word() == word)
    }

    /// Width of a cell, nanoseconds; 1 for samples.
    pub fn width(self) -> u64 {
        const NANOS_PER_SECOND: u64 = 1_000_000_000;
        match self {
            Self::Raw => 1,
            Self::Second => NANOS_PER_SECOND,
            Self::Minute => 60 * NANOS_PER_SECOND,
            Self::Hour => 3_600 * NANOS_PER_SECOND,
        }
    }

    /// Returns the coarsest level for points of this width: rounding up to whole cells widens points by at most a half,
    /// or doubles them if the finer level would read all samples.
    pub fn for_step(step: u64) -> Self {
        let is_enough = |level: &Self| match level {
            Self::Raw => true,
            Self::Second => step >= level.width(),
            Self::Minute | Self::Hour => step >= 2 * level.width(),
        };
        [Self::Hour, Self::Minute, Self::Second, Self::Raw].into_iter().find(is_enough).unwrap_or(Self::Raw)
    }
}

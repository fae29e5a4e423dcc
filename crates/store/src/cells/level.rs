//! How much time a cell of a roll-up stands for.

use serde::{Deserialize, Serialize};

/// What points are made from, finest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Level {
    /// The samples themselves.
    #[serde(rename = "raw")]
    Raw,
    /// A cell a second.
    #[serde(rename = "1s")]
    Second,
    /// A cell a minute.
    #[serde(rename = "1m")]
    Minute,
    /// A cell an hour.
    #[serde(rename = "1h")]
    Hour,
}

impl Level {
    /// Those that are made of samples, finest first.
    pub const ROLLED: [Self; 3] = [Self::Second, Self::Minute, Self::Hour];

    /// The word that clients see.
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
        const SECOND: u64 = 1_000_000_000;
        match self {
            Self::Raw => 1,
            Self::Second => SECOND,
            Self::Minute => 60 * SECOND,
            Self::Hour => 3_600 * SECOND,
        }
    }

    /// The coarsest that is good enough for points of this width: rounding that up to whole cells makes it no more than half as wide again,
    /// or twice where the finer way would be to read all samples.
    pub fn for_step(step: u64) -> Self {
        let is_enough = |level: &Self| match level {
            Self::Raw => true,
            Self::Second => step >= level.width(),
            Self::Minute | Self::Hour => step >= 2 * level.width(),
        };
        [Self::Hour, Self::Minute, Self::Second, Self::Raw].into_iter().find(is_enough).unwrap_or(Self::Raw)
    }
}

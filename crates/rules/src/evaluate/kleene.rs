//! Three-valued logic.

use serde::{Deserialize, Serialize};

/// True, false, or unknown: the order makes `and` the minimum and `or` the maximum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Kleene {
    False,
    Unknown,
    True,
}

impl Kleene {
    pub fn negated(self) -> Self {
        match self {
            Self::False => Self::True,
            Self::Unknown => Self::Unknown,
            Self::True => Self::False,
        }
    }

    /// As a number: 0, 1, or not a number.
    pub fn to_number(self) -> f64 {
        match self {
            Self::False => 0.0,
            Self::Unknown => f64::NAN,
            Self::True => 1.0,
        }
    }

    pub fn from_number(number: f64) -> Self {
        if number.is_nan() { Self::Unknown } else { Self::from(number != 0.0) }
    }
}

impl From<bool> for Kleene {
    fn from(is_true: bool) -> Self {
        if is_true { Self::True } else { Self::False }
    }
}

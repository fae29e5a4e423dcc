//! Settings of a flight recorder.

use std::{str::FromStr, time::Duration};

/// Largest memory of a recorder, in bytes.
pub const MAX_RECORDER_BYTES: usize = 1 << 30;

/// Data that a flight recorder keeps, and limits that trigger it. A command `trigger` always does.
#[derive(Debug, Clone, PartialEq)]
pub struct FlightRecorder {
    /// Time before a trigger that is sent.
    pub before: Duration,
    /// Time after a trigger in which samples are sent at once. Another trigger within that time restarts it.
    pub after: Duration,
    /// Memory for the time before, in bytes, at most 1 GiB: a sample needs its row and 32 bytes. If the memory is too
    /// small, less time is kept.
    pub bytes: usize,
    /// Limits that trigger when a metric crosses them.
    pub triggers: Vec<Trigger>,
}

impl Default for FlightRecorder {
    /// Ten seconds before, five after, 16 MiB, no limits.
    fn default() -> Self {
        Self {
            before: Duration::from_secs(10),
            after: Duration::from_secs(5),
            bytes: 16 * 1024 * 1024,
            triggers: Vec::new(),
        }
    }
}

/// A limit of a metric, written as `metric > limit` or `metric < limit`.
#[derive(Debug, Clone, PartialEq)]
pub struct Trigger {
    /// Name of a numeric metric.
    pub metric: String,
    /// The side of the limit that triggers.
    pub side: Side,
    /// In the metric's unit.
    pub limit: f64,
}

/// A side of a limit. A sample triggers if it is on this side and the one before it was not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// Greater than the limit.
    Above,
    /// Less than the limit.
    Below,
}

impl FromStr for Trigger {
    type Err = TriggerError;

    fn from_str(text: &str) -> Result<Self, TriggerError> {
        let syntax = || TriggerError::Syntax(text.into());
        let (at, side) = match text.find(['<', '>']) {
            Some(at) if text[at..].starts_with('>') => (at, Side::Above),
            Some(at) => (at, Side::Below),
            None => return Err(syntax()),
        };
        let (metric, limit) = (text[..at].trim(), text[at + 1..].trim());
        let limit: f64 = limit.parse().map_err(|_| syntax())?;
        if metric.is_empty() || limit.is_nan() {
            return Err(syntax());
        }
        Ok(Self { metric: metric.into(), side, limit })
    }
}

/// Why a trigger is invalid.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum TriggerError {
    /// The text has another form.
    #[error(
        "invalid trigger {0:?}: use `metric > limit` or `metric < limit`, for example `temperature > 90`"
    )]
    Syntax(String),
    /// No such metric.
    #[error("the probe has no metric {0:?}")]
    UnknownMetric(String),
    /// Only numbers can have limits.
    #[error("metric {0:?} is not a number: it cannot cross a limit")]
    NoNumber(String),
}

//! What a flight recorder keeps, and what makes it send.

use std::{str::FromStr, time::Duration};

/// The largest memory of a recorder, bytes.
pub const MAX_RECORDER_BYTES: usize = 1 << 30;

/// What a flight recorder keeps, and what makes it send. A command `trigger` always does.
#[derive(Debug, Clone, PartialEq)]
pub struct FlightRecorder {
    /// How much of the time before a trigger is sent.
    pub before: Duration,
    /// For how long after a trigger samples are sent as they come. Another trigger within that time begins it anew.
    pub after: Duration,
    /// Memory for the time before, 1 GiB at most: a sample takes its row and 32 bytes. If it does not suffice, less time is kept.
    pub bytes: usize,
    /// Limits that send when a metric crosses them.
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

/// A limit of a metric. Reads from `metric > limit` and `metric < limit`.
#[derive(Debug, Clone, PartialEq)]
pub struct Trigger {
    /// Name of a numeric metric.
    pub metric: String,
    /// On which side of the limit it fires.
    pub side: Side,
    /// In the metric's unit.
    pub limit: f64,
}

/// A side of a limit. A sample fires when it is there and the one before it was not.
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

/// Why a trigger cannot be.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum TriggerError {
    /// Not in the form.
    #[error("{0:?} is no trigger: write `metric > limit` or `metric < limit`, such as `temperature > 90`")]
    Syntax(String),
    /// No such metric.
    #[error("the probe has no metric {0:?}")]
    UnknownMetric(String),
    /// Only numbers have limits.
    #[error("metric {0:?} is no number and crosses no limit")]
    NoNumber(String),
}

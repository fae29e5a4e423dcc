//! The three signals: their paths, layouts and names.

use crate::layout::{LOGS_REQUEST, METRICS_REQUEST, MessageLayout, TRACES_REQUEST};

/// A kind of telemetry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    Metrics,
    Logs,
    Traces,
}

impl Signal {
    /// Returns the signal of a path.
    pub fn of_path(path: &str) -> Option<Self> {
        match path {
            "/v1/metrics" => Some(Self::Metrics),
            "/v1/logs" => Some(Self::Logs),
            "/v1/traces" => Some(Self::Traces),
            _ => None,
        }
    }

    /// Returns the layout of its requests.
    pub fn layout(self) -> &'static MessageLayout {
        match self {
            Self::Metrics => &METRICS_REQUEST,
            Self::Logs => &LOGS_REQUEST,
            Self::Traces => &TRACES_REQUEST,
        }
    }

    /// Returns the name of its items.
    pub fn items(self) -> &'static str {
        match self {
            Self::Metrics => "data points",
            Self::Logs => "log records",
            Self::Traces => "spans",
        }
    }

    /// Returns the name of the number of refused items in answers of JSON.
    pub fn rejected(self) -> &'static str {
        match self {
            Self::Metrics => "rejectedDataPoints",
            Self::Logs => "rejectedLogRecords",
            Self::Traces => "rejectedSpans",
        }
    }
}

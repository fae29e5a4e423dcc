//! Status of a handler, for API, command line and page.

use serde::Serialize;
use serde_json::Value;

/// Whether a handler runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Condition {
    /// The handler was stopped, or never started.
    #[default]
    Stopped,
    /// The handler runs.
    Running,
    /// The handler failed, and starts again after a pause.
    BackingOff,
    /// The handler was asked to stop and has not stopped yet.
    Stopping,
}

impl Condition {
    /// Its word in the API.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Stopped => "stopped",
            Self::Running => "running",
            Self::BackingOff => "backing_off",
            Self::Stopping => "stopping",
        }
    }
}

/// A handler's condition and state.
#[derive(Debug, Clone, Serialize)]
pub struct Status {
    /// Its name.
    pub name: &'static str,
    /// Whether it runs.
    pub condition: Condition,
    /// The last failure; none since it was started by hand.
    pub detail: Option<String>,
    /// Number of restarts after a failure since it was started by hand.
    pub restarts: u64,
    /// Failures while it runs, and its warnings: a sentence each.
    pub warnings: Vec<String>,
    /// The handler's own state.
    pub state: Value,
}

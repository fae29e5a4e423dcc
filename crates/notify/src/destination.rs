//! The seam of destinations: how a notification gets to people.

use crate::notification::Notification;
use oasis_http_client::RequestError;
pub use oasis_http_client::Scope;
use std::time::Duration;

/// Longest reason of a failure that is kept, in bytes.
const LONGEST_REASON: usize = 512;

/// Sends notifications to one place. Calls block, for 10 s or little more.
pub trait Destination: Send + Sync + 'static {
    /// Sends these notifications as one message: at least one, and at most [`Destination::most_at_once`].
    ///
    /// # Errors
    /// If the place has not accepted them.
    fn send(&self, notifications: &[Notification]) -> Result<(), SendError>;

    /// Sends a test.
    ///
    /// # Errors
    /// If the place, or one of its servers, has not accepted it.
    fn test(&self, notification: &Notification) -> Result<(), SendError> {
        self.send(std::slice::from_ref(notification))
    }

    /// Number of notifications that a message takes if several wait.
    fn most_at_once(&self) -> AtOnce;

    /// Sends what stands, and what has been cleared of late, to a place that forgets what is not repeated.
    ///
    /// # Errors
    /// If the place has not accepted them.
    fn repeat(&self, standing: &[Notification]) -> Result<(), SendError> {
        let _ = standing;
        Ok(())
    }

    /// Interval of [`Destination::repeat`]; `None` for a place that forgets nothing.
    fn repeats_every(&self) -> Option<Duration> {
        None
    }

    /// Warning although messages are delivered.
    fn warnings(&self) -> Vec<String> {
        Vec::new()
    }
}

/// Number of notifications that go into one message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AtOnce {
    /// One.
    One,
    /// One, or up to this many when the limit of messages a minute was reached.
    WhenLimited(usize),
    /// Up to this many.
    Always(usize),
}

/// Why a place has not accepted a message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct SendError {
    /// The extent of the failure.
    pub scope: Scope,
    /// Earliest time of the next attempt, as the place asks for it.
    pub retry_after: Option<Duration>,
    /// For people.
    pub why: String,
}

impl SendError {
    /// A failure, with a reason of bounded length.
    pub fn new(scope: Scope, why: impl Into<String>) -> Self {
        let why = crate::text::line(&why.into(), LONGEST_REASON);
        Self { scope, retry_after: None, why }
    }

    /// The same, with the name of the server.
    pub fn from_server(self, name: &str) -> Self {
        Self { why: format!("{name}: {}", self.why), ..self }
    }
}

impl From<RequestError> for SendError {
    fn from(error: RequestError) -> Self {
        Self { retry_after: error.retry_after, ..Self::new(error.scope, error.why) }
    }
}

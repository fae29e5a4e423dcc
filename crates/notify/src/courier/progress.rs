//! State of a destination, for its readers.

use oasis_handler::Reach;
use serde::Serialize;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Whether a destination takes messages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Condition {
    /// The destination works, or nothing was sent yet.
    #[default]
    Ok,
    /// The last attempt failed.
    Failing,
}

impl Condition {
    /// As in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Failing => "failing",
        }
    }
}

/// State of a destination. Locked for a few assignments.
#[derive(Debug, Default)]
pub struct Progress(Mutex<Reach<Condition>>);

impl Progress {
    /// Records that an attempt succeeded.
    pub fn succeed(&self) {
        self.lock().note(Condition::Ok, None);
    }

    /// Records that an attempt failed.
    pub fn fail(&self, why: &str) {
        self.lock().note(Condition::Failing, Some(why.into()));
    }

    /// Returns the present state.
    pub fn now(&self) -> Reach<Condition> {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, Reach<Condition>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

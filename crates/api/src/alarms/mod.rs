//! Alarms over HTTP: the list, what operators do, changes as they happen, the journal, and figures.

pub mod actions;
mod all;
pub mod events;
mod forward;
pub mod handover;
pub mod journal;
pub mod list;
mod merge;
pub mod standing;
pub mod statistics;
pub mod tables;
mod view;

use crate::{Api, archive::blocking};
use axum::http::StatusCode;
use oasis_access::{Target, Verb};
use oasis_alarms::{AlarmKey, Alarms, AlarmsError};
use oasis_http::{Problem, permissions::Caller};
use std::sync::Arc;

/// The alarms of this DAC.
fn alarms(api: &Api) -> Result<&Arc<Alarms>, Problem> {
    api.alarms.as_ref().ok_or_else(none)
}

/// The problem of a DAC that has no alarms, neither its own nor those of others.
fn none() -> Problem {
    let detail = "this process evaluates no rules: ask a DAC whose section [rules] has `enabled`";
    Problem::new(StatusCode::NOT_FOUND, "no_alarms", detail)
}

/// Whether a caller may see an alarm: if it may read the instance as it is now.
fn sees(caller: &Caller, key: &AlarmKey) -> bool {
    caller.may(Verb::ReadLive, Target::Instance { node: &key.node, instance: &key.instance })
}

/// Asks the database on a thread that may block.
async fn query_alarms<T: Send + 'static>(
    api: &Api,
    question: impl FnOnce(&Alarms) -> Result<T, AlarmsError> + Send + 'static,
) -> Result<T, Problem> {
    let alarms = alarms(api)?.clone();
    blocking(move || question(&alarms)).await?.map_err(|error| failure(&error))
}

/// The problem of a database that cannot be read or written.
fn failure(error: &AlarmsError) -> Problem {
    let (status, code) = match error {
        error if error.is_disk_full() => (StatusCode::INSUFFICIENT_STORAGE, "disk_full"),
        _ => (StatusCode::INTERNAL_SERVER_ERROR, "alarms_database"),
    };
    Problem::new(status, code, error.to_string())
}

fn bad_parameter(detail: String) -> Problem {
    Problem::new(StatusCode::BAD_REQUEST, "bad_parameter", detail)
}

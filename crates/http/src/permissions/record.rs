//! The audit log: `begun` before an action, and what became of it afterwards.

use super::{
    Caller, Permissions,
    identify::{BAD_TICKET, BAD_TOKENS},
    refusal::Refusal,
};
use crate::problem::Problem;
use axum::http::{Method, StatusCode};
use oasis_access::{AuditError, AuditLog, Event, Receipt, Verdict};
use serde_json::{Value, json};
use std::{fmt::Display, sync::Arc, time::Instant};

/// An action was not carried out, because it cannot be recorded.
#[derive(Debug, Clone, thiserror::Error)]
#[error("not done, because the audit log cannot be written: {0}")]
pub struct NotRecorded(String);

impl NotRecorded {
    /// The code for programs.
    pub const CODE: &str = "not_recorded";
}

impl From<NotRecorded> for Problem {
    fn from(error: NotRecorded) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, NotRecorded::CODE, error.to_string())
    }
}

/// An error of an action that is recorded.
pub trait Outcome: Display + From<NotRecorded> + Send + 'static {}

impl Outcome for Problem {}

impl Permissions {
    /// Executes an action and records its begin, before it begins, and its result. The action continues if the future is
    /// dropped.
    ///
    /// # Errors
    /// Errors of the action; or if it cannot be recorded: then it does not happen.
    pub async fn recorded<T: Send + 'static, E: Outcome>(
        &self,
        caller: &Caller,
        action: &'static str,
        target: String,
        arguments: Value,
        act: impl Future<Output = Result<T, E>> + Send + 'static,
    ) -> Result<T, E> {
        let Some(audit) = self.audit.clone() else { return act.await };
        let event = Event { target, arguments, ..event(caller, action, "begun") };
        let acted = tokio::spawn(async move {
            let begun = append(&audit, event.clone()).await?;
            let done = act.await;
            let result = match &done {
                Ok(_) => "done".to_owned(),
                Err(error) => format!("failed: {error}"),
            };
            let ended = Event { arguments: Value::Null, result, of: Some(begun.seq), ..event };
            if let Err(error) = append(&audit, ended).await {
                tracing::error!(%error, "the result of an action is not in the audit log");
            }
            done
        });
        acted.await.map_err(|error| NotRecorded(error.to_string()))?
    }

    /// Records something that has happened.
    ///
    /// # Errors
    /// If it cannot be recorded.
    pub async fn record(&self, event: Event) -> Result<(), NotRecorded> {
        match &self.audit {
            Some(audit) => append(audit, event).await.map(drop),
            None => Ok(()),
        }
    }

    /// Records that something was refused, unless there were too many refusals in the last minute.
    pub async fn record_refusal(
        &self,
        caller: &Caller,
        action: &str,
        target: &str,
        arguments: Value,
        refusal: &Refusal,
    ) {
        let event = Event { target: target.into(), arguments, ..event(caller, action, refusal.word()) };
        self.record_bounded(event).await;
    }

    /// Records that a request was refused, unless it only shows that its author has not signed in yet: pages find that out by reading.
    pub async fn record_refused_request(
        &self,
        caller: &Caller,
        (method, path): (&Method, &str),
        problem: &Problem,
    ) {
        let (action, result) = match problem.code() {
            BAD_TICKET => ("ticket", problem.to_string()),
            code if BAD_TOKENS.contains(&code) => ("token", problem.to_string()),
            "sign_in_required" | "session_ended" if method.is_safe() => return,
            "sign_in_required" => ("request", Verdict::SignIn.word().to_owned()),
            "forbidden" => ("request", format!("forbidden: {problem}")),
            code => ("request", format!("forbidden ({code}): {problem}")),
        };
        let target = format!("{method} {path}");
        self.record_bounded(Event { target, ..event(caller, action, &result) }).await;
    }

    /// Records a refusal, unless there were too many in the last minute.
    pub async fn record_bounded(&self, mut event: Event) {
        let Some(left_out) = self.refusals.admit(&event, Instant::now()) else { return };
        if left_out > 0 {
            // The log says itself how many refusals it does not have.
            event.arguments = json!({"refusals_not_recorded": left_out, "arguments": event.arguments});
        }
        let action = event.action.clone();
        if let Err(error) = self.record(event).await {
            tracing::warn!(%error, action, "a refusal is not in the audit log");
        }
    }
}

/// An event of a caller.
fn event(caller: &Caller, action: &str, result: &str) -> Event {
    let address = caller.peer().ip().to_canonical().to_string();
    Event { address, ..Event::new(caller.principal().to_string(), action, result) }
}

/// Appends a record on a thread that may block.
async fn append(audit: &Arc<AuditLog>, event: Event) -> Result<Receipt, NotRecorded> {
    let audit = audit.clone();
    let appended = tokio::task::spawn_blocking(move || audit.append(event)).await;
    let failed = |error: &dyn Display| NotRecorded(error.to_string());
    appended.map_err(|error| failed(&error))?.map_err(|error: AuditError| failed(&error))
}

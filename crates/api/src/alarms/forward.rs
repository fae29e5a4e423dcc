//! Questions about alarms that go to the DAC that keeps them, as commands do.

use axum::http::StatusCode;
use oasis_alarms::{UpstreamAnswer, UpstreamRefusal};
use oasis_http::Problem;
use serde_json::Value;
use std::time::Duration;
use tokio::time::timeout;

/// Time for an answer of an upstream, which may ask further.
const UPSTREAM_TIMEOUT: Duration = Duration::from_secs(6);
/// The code of an upstream that does not answer.
const LOST: &str = "upstream_failed";

/// Waits for the answer of an upstream, as it is.
pub async fn asked(asked: Option<UpstreamAnswer>) -> Result<Value, UpstreamRefusal> {
    let lost = |why: &str| UpstreamRefusal { status: None, code: LOST.into(), detail: why.to_owned() };
    let asked = asked.ok_or_else(|| lost("it is not connected, or busy: try again"))?;
    match timeout(UPSTREAM_TIMEOUT, asked).await {
        Ok(Ok(answered)) => answered,
        Ok(Err(_)) => Err(lost("the connection has ended: try again")),
        Err(_) => Err(lost("it does not answer: look whether the action was taken")),
    }
}

/// Waits for the answer of an upstream to an action.
pub async fn answer(question: Option<UpstreamAnswer>) -> Result<Value, Problem> {
    asked(question).await.map_err(refused)
}

/// Converts a refusal of the upstream into one of this DAC. A refused token of this DAC is no fault of the caller.
fn refused(UpstreamRefusal { status, code, detail }: UpstreamRefusal) -> Problem {
    let status = status.and_then(|status| StatusCode::from_u16(status).ok());
    let (status, detail) = match status {
        None => {
            let detail = format!("the DAC of this alarm: {detail}");
            return Problem::new(StatusCode::SERVICE_UNAVAILABLE, LOST, detail);
        }
        Some(StatusCode::UNAUTHORIZED) => {
            (StatusCode::BAD_GATEWAY, format!("the DAC of this alarm: {detail}"))
        }
        Some(StatusCode::FORBIDDEN) => {
            let remedy = "the token of this relay (relay.token_file) does not permit that";
            (
                StatusCode::CONFLICT,
                format!("the DAC of this alarm: {detail}: {remedy}; act at the page of that DAC"),
            )
        }
        Some(status) => (status, detail),
    };
    match code.as_str() {
        "unknown_alarm" => Problem::new(status, "unknown_alarm", detail),
        "alarm_state" => Problem::new(status, "alarm_state", detail),
        "bad_request" => Problem::new(status, "bad_request", detail),
        _ => Problem::new(status, "upstream_refused", detail),
    }
}

//! The exchange with other TEMs.

use super::FOREIGN_ORIGIN_DETAIL;
use crate::Api;
use axum::{
    Extension, Json,
    body::Bytes,
    extract::State,
    http::{HeaderMap, StatusCode},
};
use oasis_access::{Target, Verb};
use oasis_http::{Problem, permissions::Caller};
use oasis_tem::{DacName, MAX_REPORT_BYTES, PeerError, Report};
use std::sync::Arc;

/// Takes what changed in the list of another TEM, and answers with what changed here. To be repeated ten times a second.
#[utoipa::path(post, path = "/api/v1/tem/exchange", request_body = Report,
    responses((status = 200, body = Report), (status = 403, body = Problem), (status = 409, body = Problem), (status = 413, body = Problem), (status = 422, body = Problem)))]
pub async fn exchange(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Json<Report>, Problem> {
    api.doors.admit(&headers, FOREIGN_ORIGIN_DETAIL)?;
    if !caller.sees_everything() {
        let detail = format!(
            "{} may not read all of this TEM's list: a peer needs a token of the roles registrar and viewer (oasis token create)",
            caller.principal()
        );
        return Err(Problem::new(StatusCode::FORBIDDEN, "forbidden", detail));
    }
    if body.len() > MAX_REPORT_BYTES {
        let detail = format!("the report has {} bytes: send at most {MAX_REPORT_BYTES}", body.len());
        return Err(Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", detail));
    }
    let report: Report = crate::body(&body)?;
    let via: Arc<str> = match report.doors.as_str() {
        "" => caller.peer().to_string().into(),
        doors => doors.into(),
    };
    let may = |name: &DacName| caller.may(Verb::Register, Target::Node(name.as_str()));
    let identity = api.tem.identity(api.doors.dac.epoch());
    let answer = api.tem.answer(report, &identity, (&via, may));
    answer.map(Json).map_err(|error| {
        let (status, code) = match error {
            PeerError::Itself => (StatusCode::CONFLICT, "own_peer"),
            PeerError::Doors => (StatusCode::UNPROCESSABLE_ENTITY, "bad_report"),
        };
        Problem::new(status, code, error.to_string())
    })
}

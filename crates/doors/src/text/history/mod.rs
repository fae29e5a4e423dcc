//! The past as a file: an Arrow stream, a Parquet file or an MCAP file. It has the samples of the archive, or without one of the topic logs, up to now.
//!
//! A thread that may block reads ([`samples`]) and writes ([`file`]). It keeps one part for a slow client ([`answer`]).

mod answer;
mod file;
mod memory;
mod samples;

use super::{RequestParts, admitted, parameters};
use crate::{Doors, places::Door};
use axum::{
    Extension,
    extract::{ConnectInfo, RawQuery, State},
    http::{HeaderMap, StatusCode},
    response::Response,
};
use file::Form;
use oasis_access::Verb;
use oasis_http::{Problem, permissions::Caller};
use std::net::SocketAddr;

/// All samples of a time as an Arrow stream; instances of one probe type.
#[utoipa::path(get, tag = "samples", path = "/api/v1/history.arrow", params(parameters::Span),
    responses((status = 200, description = "an Arrow IPC stream", content_type = "application/vnd.apache.arrow.stream"), (status = 400, body = Problem),
        (status = 404, body = Problem), (status = 422, body = Problem), (status = 429, body = Problem), (status = 501, body = Problem), (status = 503, body = Problem)))]
pub async fn arrow(
    state: State<Doors>,
    peer: ConnectInfo<SocketAddr>,
    caller: Extension<Caller>,
    query: RawQuery,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    export(Form::Arrow, (state, peer, caller, query, headers)).await
}

/// All samples of a time as a Parquet file; instances of one probe type.
#[utoipa::path(get, tag = "samples", path = "/api/v1/history.parquet", params(parameters::Span),
    responses((status = 200, description = "a Parquet file", content_type = "application/vnd.apache.parquet"), (status = 400, body = Problem),
        (status = 404, body = Problem), (status = 422, body = Problem), (status = 429, body = Problem), (status = 501, body = Problem), (status = 503, body = Problem)))]
pub async fn parquet(
    state: State<Doors>,
    peer: ConnectInfo<SocketAddr>,
    caller: Extension<Caller>,
    query: RawQuery,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    export(Form::Parquet, (state, peer, caller, query, headers)).await
}

/// All samples of a time as an MCAP file, in the order of their times.
#[utoipa::path(get, tag = "samples", path = "/api/v1/history.mcap", params(parameters::Span),
    responses((status = 200, description = "an MCAP file", content_type = "application/octet-stream"), (status = 400, body = Problem),
        (status = 404, body = Problem), (status = 422, body = Problem), (status = 429, body = Problem), (status = 501, body = Problem), (status = 503, body = Problem)))]
pub async fn mcap(
    state: State<Doors>,
    peer: ConnectInfo<SocketAddr>,
    caller: Extension<Caller>,
    query: RawQuery,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    export(Form::Mcap, (state, peer, caller, query, headers)).await
}

async fn export(form: Form, parts: RequestParts) -> Result<Response, Problem> {
    let (State(doors), peer, Extension(caller), query, headers) = parts;
    let asked = query.0.clone().unwrap_or_default();
    let (request, place) = admitted(Door::Poll, &doors, peer, query, &headers)?;
    request.authorize_verb(&caller, Verb::ReadPast)?;
    if !form.is_built() {
        return Err(not_built(form));
    }
    let target = request.topics.iter().map(|(node, instance)| format!("{node}/{instance}"));
    let target = target.collect::<Vec<_>>().join(", ");
    let arguments = serde_json::json!({"form": form.name(), "query": asked});
    let permissions = doors.permissions.clone();
    let answer = answer::answer(doors, request, place, form);
    permissions.recorded(&caller, "export", target, arguments, answer).await
}

fn not_built(form: Form) -> Problem {
    let feature = form.feature();
    let detail = format!(
        "this DAC was built without the feature {feature}: build it with --features {feature}, install a package, \
         or read /api/v1/samples/stream"
    );
    let problem = if form == Form::Mcap { "no_mcap" } else { "no_arrow" };
    Problem::new(StatusCode::NOT_IMPLEMENTED, problem, detail)
}

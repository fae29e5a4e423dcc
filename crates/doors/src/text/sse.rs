//! Server-sent events, for `EventSource` in a browser, which resumes by itself.

use super::{
    Visit,
    live::{self, Dialect},
    output::Output,
    parameters,
    query::Positions,
    reader::{Message, Reader},
};
use crate::{Doors, places::Door};
use axum::{
    Extension,
    extract::{ConnectInfo, RawQuery, State},
    http::HeaderMap,
    response::Response,
};
use oasis_http::{Problem, permissions::Caller};
use std::net::SocketAddr;

/// Milliseconds until a browser connects again.
const RETRY: &str = "retry: 1000\n\n";

/// Samples without end, as server-sent events. Also at `/api/v1/stream.sse`.
#[utoipa::path(get, tag = "samples", path = "/api/v1/samples/events", params(parameters::Common),
    responses((status = 200, description = "one event a message", content_type = "text/event-stream"), (status = 400, body = Problem),
        (status = 404, body = Problem), (status = 429, body = Problem), (status = 503, body = Problem)))]
pub async fn events(
    state: State<Doors>,
    peer: ConnectInfo<SocketAddr>,
    caller: Extension<Caller>,
    query: RawQuery,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let visit = Visit::begin(Door::Events, (state, peer, caller, query, headers)).await?;
    Ok(live::answer(visit, Events))
}

/// One event each message. Its `id` is the position after it.
#[derive(Debug)]
pub struct Events;

impl Dialect for Events {
    const MEDIA: &'static str = "text/event-stream";

    fn greet(&self, _: &Reader, out: &mut Output) {
        out.own(RETRY.as_bytes());
    }

    fn message(&self, message: &Message, after: &Positions, out: &mut Output) {
        out.own(format!("event: {}\nid: {after}\ndata: {{", message.name()).as_bytes());
        message.write(out);
        out.own(b"\n\n");
    }

    fn keep_alive(&self, out: &mut Output) {
        out.own(b":\n\n");
    }
}

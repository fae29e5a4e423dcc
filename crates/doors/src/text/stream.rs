//! AJAX streaming: one answer without end, a JSON object a line.

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

/// Samples without end, a JSON object a line.
#[utoipa::path(get, tag = "samples", path = "/api/v1/samples/stream", params(parameters::Common, parameters::Padding),
    responses((status = 200, description = "one message a line", content_type = "application/x-ndjson"), (status = 400, body = Problem),
        (status = 404, body = Problem), (status = 429, body = Problem), (status = 503, body = Problem)))]
pub async fn lines(
    state: State<Doors>,
    peer: ConnectInfo<SocketAddr>,
    caller: Extension<Caller>,
    query: RawQuery,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let visit = Visit::begin(Door::Stream, (state, peer, caller, query, headers)).await?;
    Ok(live::answer(visit, Lines))
}

/// Each line begins with the position after it.
#[derive(Debug)]
pub struct Lines;

impl Dialect for Lines {
    const MEDIA: &'static str = "application/x-ndjson";

    fn greet(&self, reader: &Reader, out: &mut Output) {
        let padding = reader.request().padding;
        if padding > 0 {
            // Browsers of 2012 passed no data to a script before this many bytes.
            out.own(" ".repeat(padding - 1).as_bytes());
            out.own(b"\n");
        }
    }

    fn message(&self, message: &Message, after: &Positions, out: &mut Output) {
        out.own(format!("{{\"next\":\"{after}\",").as_bytes());
        message.write(out);
        out.own(b"\n");
    }

    fn keep_alive(&self, out: &mut Output) {
        out.own(b"\n");
    }
}

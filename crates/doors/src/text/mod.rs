//! Text doors: samples as JSON over plain HTTP, for clients without WebSocket: scripts with `curl`, old proxies, the papers' comparison of server push.
//!
//! A [`query::Request`] becomes a [`reader::Reader`], which hands out one [`reader::Message`] at a time; what is written of it goes through an
//! [`output::Output`]. Samples that the topic logs no longer hold come from the archive ([`crate::past`]), all of them or summarized in points. The doors are [`sse`], [`stream`] and [`poll`] (long and short); [`live`] is what the first two share. [`writers`] write
//! old samples.
//! `docs/reference/text-doors.md` is their reference.

mod gzip;
mod history;
mod json;
mod live;
mod output;
mod poll;
mod query;
mod reader;
mod sample_text;
mod source;
mod sse;
mod stream;
#[cfg(test)]
mod tests;
pub mod writers;
mod zstd;

use crate::{
    Doors,
    coding::Coding,
    places::{Door, DoorPermit},
};
use axum::{
    Extension,
    extract::{ConnectInfo, RawQuery, State},
    http::{HeaderMap, StatusCode},
    response::Response,
};
use oasis_access::{Ended, Verb};
use oasis_http::{
    Problem,
    permissions::{Caller, READ_VERBS, Requirement, Routes},
};
use output::Output;
use query::Request;
use reader::Reader;
use std::{net::SocketAddr, time::Duration};
#[cfg(feature = "openapi")]
use utoipa::OpenApi;

/// Timeout of a client that does not read, as at the WebSocket door. Its next samples stay in the log.
pub const STALL: Duration = Duration::from_secs(30);

/// Declares the text doors: where each is, and its function.
macro_rules! doors {
    ($($path:literal $verbs:expr => $($function:ident)::+,)*) => {
        #[cfg(feature = "openapi")]
        #[derive(OpenApi)]
        #[openapi(paths($($($function)::+),*))]
        struct Description;

        /// All text doors.
        pub fn routes(doors: &Doors) -> Routes<Doors> {
            Routes::new(&doors.http)
                .get("/api/v1/stream.sse", Requirement::Somewhere(READ_VERBS), sse::events)
                $(.get($path, Requirement::Somewhere($verbs), $($function)::+))*
        }
    };
}

// The text doors, a line each: its path, one verb of which its reader needs, and its function, which asks for each instance.
doors! {
    "/api/v1/samples" READ_VERBS => poll_at_once,
    "/api/v1/samples/wait" READ_VERBS => long_poll,
    "/api/v1/samples/stream" READ_VERBS => stream::lines,
    "/api/v1/samples/events" READ_VERBS => sse::events,
    "/api/v1/history.arrow" &[Verb::ReadPast] => history::arrow,
    "/api/v1/history.mcap" &[Verb::ReadPast] => history::mcap,
    "/api/v1/history.parquet" &[Verb::ReadPast] => history::parquet,
}

/// The OpenAPI document of the text doors.
#[cfg(feature = "openapi")]
pub fn openapi() -> utoipa::openapi::OpenApi {
    Description::openapi()
}

type RequestParts = (State<Doors>, ConnectInfo<SocketAddr>, Extension<Caller>, RawQuery, HeaderMap);

/// State of an accepted request.
struct Visit {
    doors: Doors,
    caller: Caller,
    place: DoorPermit,
    reader: Reader,
    out: Output,
}

impl Visit {
    async fn begin(door: Door, parts: RequestParts) -> Result<Self, Problem> {
        let (State(doors), peer, Extension(caller), query, headers) = parts;
        let (request, place) = admitted(door, &doors, peer, query, &headers)?;
        let out = Output::new(Coding::accepted(&headers), request.form());
        let reader = Reader::open(&doors, &caller, request).await?;
        Ok(Self { doors, caller, place, reader, out })
    }
}

/// The parsed request, and a place at the door.
fn admitted(
    door: Door,
    doors: &Doors,
    peer: ConnectInfo<SocketAddr>,
    query: RawQuery,
    headers: &HeaderMap,
) -> Result<(Request, DoorPermit), Problem> {
    doors.admit(headers, "pages of other sites may not read (doors.allowed_origins)")?;
    let query = query.0.unwrap_or_default();
    let request = Request::parse(&query, headers, doors.config.max_subscriptions)?;
    let place = doors.places.enter(door, peer.0.ip()).map_err(|(code, problem)| {
        doors.admission.count_refused(code);
        problem
    })?;
    Ok((request, place))
}

/// Returns the samples after a position, at once.
#[utoipa::path(get, tag = "samples", path = "/api/v1/samples", params(parameters::Common),
    responses((status = 200, description = "messages, and the position to go on from"), (status = 400, body = Problem), (status = 404, body = Problem),
        (status = 429, body = Problem), (status = 503, body = Problem)))]
pub async fn poll_at_once(
    state: State<Doors>,
    peer: ConnectInfo<SocketAddr>,
    caller: Extension<Caller>,
    query: RawQuery,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let Visit { doors, reader, out, place, .. } =
        Visit::begin(Door::Poll, (state, peer, caller, query, headers)).await?;
    let answer = poll::answer(&doors, reader, out).await;
    drop(place);
    Ok(answer)
}

/// Returns the samples after a position, as soon as there are some.
#[utoipa::path(get, tag = "samples", path = "/api/v1/samples/wait", params(parameters::Common, parameters::Wait),
    responses((status = 200, description = "messages, and the position to go on from"), (status = 400, body = Problem), (status = 404, body = Problem),
        (status = 429, body = Problem), (status = 503, body = Problem)))]
pub async fn long_poll(
    state: State<Doors>,
    peer: ConnectInfo<SocketAddr>,
    caller: Extension<Caller>,
    query: RawQuery,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let Visit { doors, mut caller, reader, out, place } =
        Visit::begin(Door::LongPoll, (state, peer, caller, query, headers)).await?;
    poll::wait(&doors, &reader, reader.request().timeout).await;
    caller.refresh(&doors.permissions).map_err(|ended| ended_problem(&ended))?;
    reader.request().authorize(&caller)?;
    let answer = poll::answer(&doors, reader, out).await;
    drop(place);
    Ok(answer)
}

/// The rights of the reader have ended while it waited.
fn ended_problem(ended: &Ended) -> Problem {
    Problem::new(StatusCode::UNAUTHORIZED, "access_ended", ended.to_string())
}

/// Parameters, for the OpenAPI document only. Their order matters, so the doors parse the query themselves.
mod parameters {
    use serde::Deserialize;
    use utoipa::IntoParams;

    #[derive(Deserialize, IntoParams)]
    #[into_params(parameter_in = Query)]
    #[allow(dead_code, reason = "described, not read")]
    pub struct Common {
        /// Node name; instances named after it belong to it.
        node: Vec<String>,
        /// Instance name, once or more for each node.
        instance: Vec<String>,
        /// `now` (the newest segment in memory, then live), `earliest` (in memory), or a time, for samples that are no older: nanoseconds since 1970, a date
        /// and time (RFC 3339), or how long ago (`-90s`, `-15m`, `-2h`, `-7d`).
        from: Option<String>,
        /// A time to end at: samples that old or younger are not wanted.
        to: Option<String>,
        /// Number of samples of the past, the newest ones, 1 to 10,000; up to `to`, or now.
        last: Option<u32>,
        /// Most points that the past from `from` on is put together to, 1 to 10,000: a message `points` for each instance, and then what follows.
        points: Option<u32>,
        /// Position at which an earlier answer ended: `EPOCH:OFFSET`, with one offset for each instance, separated by commas.
        /// Overrides `from`.
        resume: Option<String>,
        /// `every`, `latest`, `max_hz=N` or `envelope=N`.
        delivery: Option<String>,
        /// Policy if the log has evicted wanted samples: `gap`, `latest` or `close`.
        overflow: Option<String>,
        /// `number`, or `string` for 64-bit integers as strings.
        integers: Option<String>,
        /// `size`, or `base64` for the bytes of blobs, too.
        blobs: Option<String>,
    }

    #[derive(Deserialize, IntoParams)]
    #[into_params(parameter_in = Query)]
    #[allow(dead_code, reason = "described, not read")]
    pub struct Span {
        /// Node name; instances named after it belong to it.
        node: Vec<String>,
        /// Instance name, once or more for each node.
        instance: Vec<String>,
        /// A time, for samples that are no older; all samples if absent.
        from: Option<String>,
        /// A time to end at; now if absent.
        to: Option<String>,
    }

    #[derive(Deserialize, IntoParams)]
    #[into_params(parameter_in = Query)]
    #[allow(dead_code, reason = "described, not read")]
    pub struct Wait {
        /// Longest wait for an answer, 0 to 180 seconds; 25 by default.
        timeout: Option<u64>,
        /// The same in milliseconds, 0 to 180,000; the last one given counts.
        timeout_ms: Option<u64>,
    }

    #[derive(Deserialize, IntoParams)]
    #[into_params(parameter_in = Query)]
    #[allow(dead_code, reason = "described, not read")]
    pub struct Padding {
        /// Bytes before the first line, 0 to 4096; 256 is what the browsers of 2012 needed.
        padding: Option<usize>,
    }
}

//! Changes of alarms as they happen: server-sent events, for `EventSource` in a browser, which resumes by itself.

use super::{
    all::{self, AllAlarms},
    list,
};
use crate::Api;
use axum::{
    Extension,
    body::Body,
    extract::{ConnectInfo, State},
    http::{HeaderMap, HeaderName, HeaderValue, header},
    response::{IntoResponse, Response},
};
use futures_util::stream;
use oasis_access::{Target, Verb};
use oasis_alarms::Filter;
use oasis_doors::{DoorPermit, Doors};
use oasis_http::{Problem, permissions::Caller};
use serde::Serialize;
use std::{convert::Infallible, net::SocketAddr, pin::pin, sync::Arc, time::Duration};
use tokio::{
    sync::{Semaphore, mpsc},
    time::{Instant, timeout},
};

/// Alarms in one `alarms` event.
const PAGE_ALARMS: usize = 200;
/// Upper bound of the bytes of changes in one message.
const MAX_MESSAGE_BYTES: usize = 64 * 1024;
/// Milliseconds until a browser connects again.
const RETRY: &str = "retry: 1000\n\n";
/// Longest time that a reader keeps its rights without a look-up.
const RECHECK_INTERVAL: Duration = Duration::from_secs(3);
/// Interval of keep-alive messages.
const KEEP_ALIVE_INTERVAL: Duration = Duration::from_secs(15);
/// Longest time in which a client takes nothing.
const STALL_TIMEOUT: Duration = Duration::from_secs(30);

/// Alarms that the caller may see, and then each change.
#[utoipa::path(get, path = "/api/v1/alarms/events",
    params(("Last-Event-ID" = Option<String>, Header, description = "`id` that the client has: changes after it follow, if they are known")),
    responses((status = 200, description = "events `alarms` with pages of the list, then `alarm` for each change; `id` is its place: the revision, and at a DAC that relays others a second number",
        content_type = "text/event-stream"),
        (status = 403, body = Problem), (status = 404, body = Problem), (status = 429, body = Problem), (status = 503, body = Problem)))]
pub async fn follow(
    State(api): State<Api>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    Extension(caller): Extension<Caller>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    api.doors.admit(&headers, "pages of other sites may not read (doors.allowed_origins)")?;
    let alarms = AllAlarms::of(&api)?;
    let place = api.doors.event_reader(peer.ip())?;
    let last = headers.get("last-event-id").and_then(|id| id.to_str().ok()?.parse().ok());
    // Room for one event: the others stay in the alarms until the client reads.
    let (to, from) = mpsc::channel(1);
    let changed = alarms.watch();
    let turn = api.alarm_texts;
    let stream = Stream { doors: api.doors, caller, alarms, changed, to, turn, _place: place };
    tokio::spawn(stream.run(last));
    let parts = stream::unfold(from, |mut from: mpsc::Receiver<String>| async move {
        from.recv().await.map(|part| (Ok::<_, Infallible>(part), from))
    });
    let mut answer = Body::from_stream(parts).into_response();
    let named = [
        (header::CONTENT_TYPE, "text/event-stream"),
        (header::CACHE_CONTROL, "no-store"),
        (HeaderName::from_static("x-accel-buffering"), "no"),
    ];
    answer.headers_mut().extend(named.map(|(name, value)| (name, HeaderValue::from_static(value))));
    Ok(answer)
}

/// Changes on their way to one client.
struct Stream {
    doors: Doors,
    caller: Caller,
    alarms: AllAlarms,
    changed: all::Watch,
    to: mpsc::Sender<String>,
    /// Permit to write texts. One stream holds it at a time, so that many streams that begin at once delay no samples.
    turn: Arc<Semaphore>,
    /// Taken as long as the stream lives.
    _place: DoorPermit,
}

/// The client is gone, or does not read.
struct ClientGone;

/// Events that a client waits for.
enum Wake {
    Changed,
    /// Nothing has happened for a while.
    Quiet,
    ShuttingDown,
}

impl Stream {
    async fn run(mut self, last: Option<all::AlarmPosition>) {
        let _ = self.converse(last).await;
    }

    async fn converse(&mut self, last: Option<all::AlarmPosition>) -> Result<(), ClientGone> {
        let doors = self.doors.clone();
        let mut ended = pin!(doors.ended());
        self.send(RETRY.to_owned()).await?;
        let mut at = match last.filter(|last| self.alarms.knows(*last)) {
            Some(last) => last,
            None => self.send_list().await?,
        };
        let mut quiet_since = Instant::now();
        loop {
            at = self.send_changes(at).await?;
            let wake = tokio::select! {
                () = &mut ended => Wake::ShuttingDown,
                () = self.to.closed() => return Err(ClientGone),
                changed = self.changed.changed() => {
                    // The sender lives as long as the alarms, which this has.
                    if changed { Wake::Changed } else { Wake::ShuttingDown }
                }
                () = tokio::time::sleep(RECHECK_INTERVAL) => Wake::Quiet,
            };
            match self.caller.refresh(&self.doors.permissions) {
                Ok(false) => {}
                // The visible alarms have changed.
                Ok(true) if self.may_read() => at = self.send_list().await?,
                Ok(true) | Err(_) => return self.send_end("access_ended").await,
            }
            match wake {
                Wake::ShuttingDown => return self.send_end("shutting_down").await,
                Wake::Changed => quiet_since = Instant::now(),
                Wake::Quiet if quiet_since.elapsed() >= KEEP_ALIVE_INTERVAL => {
                    self.send(":\n\n".to_owned()).await?;
                    quiet_since = Instant::now();
                }
                Wake::Quiet => {}
            }
        }
    }

    fn may_read(&self) -> bool {
        self.caller.may(Verb::ReadLive, Target::SomeOfDac)
    }

    /// Sends the whole list in pages. Returns the place from which the changes follow.
    async fn send_list(&self) -> Result<all::AlarmPosition, ClientGone> {
        let mut filter = Filter { most: PAGE_ALARMS, ..Filter::default() };
        // A change during the pages follows as a change.
        let mut from = None;
        loop {
            let turn = self.turn.acquire().await;
            let page = self.alarms.list(&filter, &self.caller);
            let at = *from.get_or_insert(page.at);
            filter.after = page.next.clone();
            let id = filter.after.is_none().then_some(at);
            let text = event("alarms", id, &list::Alarms::new(page));
            drop(turn);
            self.send(text).await?;
            if filter.after.is_none() {
                return Ok(at);
            }
        }
    }

    /// Sends what has changed after a place. Returns the place after it.
    async fn send_changes(&self, mut at: all::AlarmPosition) -> Result<all::AlarmPosition, ClientGone> {
        loop {
            let turn = self.turn.acquire().await;
            let found = self.alarms.changes(at, &self.caller);
            drop(turn);
            let Some((changes, next)) = found else {
                at = self.send_list().await?;
                continue;
            };
            if next == at {
                return Ok(at);
            }
            at = next;
            let mut rest = changes.iter().peekable();
            while rest.peek().is_some() {
                let turn = self.turn.acquire().await;
                let mut text = String::new();
                while text.len() < MAX_MESSAGE_BYTES
                    && let Some((place, alarm)) = rest.next()
                {
                    text += &event("alarm", Some(*place), alarm);
                }
                drop(turn);
                self.send(text).await?;
            }
        }
    }

    async fn send_end(&self, cause: &str) -> Result<(), ClientGone> {
        self.send(event("end", None, &serde_json::json!({"event": "end", "cause": cause}))).await
    }

    async fn send(&self, text: String) -> Result<(), ClientGone> {
        match timeout(STALL_TIMEOUT, self.to.send(text)).await {
            Ok(Ok(())) => Ok(()),
            _ => Err(ClientGone),
        }
    }
}

fn event(name: &str, id: Option<all::AlarmPosition>, data: &impl Serialize) -> String {
    let id = id.map(|id| format!("id: {id}\n")).unwrap_or_default();
    let data = serde_json::to_string(data).unwrap_or_default();
    format!("event: {name}\n{id}data: {data}\n\n")
}

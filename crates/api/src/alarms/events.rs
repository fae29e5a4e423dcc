//! Changes of alarms as they happen: server-sent events, for `EventSource` in a browser, which resumes by itself.

use super::{alarms, list, sees, view::AlarmJson};
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
use oasis_alarms::{Alarms, Filter};
use oasis_doors::{Doors, Place, Problem, permissions::Caller};
use serde::Serialize;
use std::{convert::Infallible, net::SocketAddr, pin::pin, sync::Arc, time::Duration};
use tokio::{
    sync::{Semaphore, mpsc, watch},
    time::{Instant, timeout},
};

/// Alarms that are sent at once.
const PAGE: usize = 200;
/// Milliseconds until a browser connects again.
const RETRY: &str = "retry: 1000\n\n";
/// Longest time that a reader keeps its rights without a look-up.
const RECHECK: Duration = Duration::from_secs(3);
/// Interval of keep-alive messages.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// Longest time in which a client takes nothing.
const STALL: Duration = Duration::from_secs(30);

/// Alarms that the caller may see, and then each change.
#[utoipa::path(get, path = "/api/v1/alarms/events",
    params(("Last-Event-ID" = Option<u64>, Header, description = "revision that the client has: changes after it follow, if they are known")),
    responses((status = 200, description = "events `alarms` with pages of the list, then `alarm` for each change; `id` is the revision",
        content_type = "text/event-stream"),
        (status = 403, body = Problem), (status = 404, body = Problem), (status = 429, body = Problem), (status = 503, body = Problem)))]
pub async fn follow(
    State(api): State<Api>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    Extension(caller): Extension<Caller>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    api.doors.admit(&headers, "pages of other sites may not read (doors.allowed_origins)")?;
    let alarms = alarms(&api)?.clone();
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
    alarms: Arc<Alarms>,
    changed: watch::Receiver<u64>,
    to: mpsc::Sender<String>,
    /// Who writes texts: one stream at a time, so that many that begin at once delay no samples.
    turn: Arc<Semaphore>,
    /// Taken as long as the stream lives.
    _place: Place,
}

/// The client is gone, or does not read.
struct Gone;

/// What a client waits for.
enum Wake {
    Changed,
    /// Nothing has happened for a while.
    Quiet,
    ShuttingDown,
}

impl Stream {
    async fn run(mut self, last: Option<u64>) {
        let _ = self.converse(last).await;
    }

    async fn converse(&mut self, last: Option<u64>) -> Result<(), Gone> {
        let doors = self.doors.clone();
        let mut ended = pin!(doors.ended());
        self.send(RETRY.to_owned()).await?;
        let mut revision = match last.filter(|last| !self.alarms.changes(*last).is_incomplete) {
            Some(last) => last,
            None => self.send_list().await?,
        };
        let mut quiet_since = Instant::now();
        loop {
            revision = self.send_changes(revision).await?;
            let wake = tokio::select! {
                () = &mut ended => Wake::ShuttingDown,
                () = self.to.closed() => return Err(Gone),
                changed = self.changed.changed() => {
                    // The sender lives as long as the alarms, which this has.
                    changed.map_or(Wake::ShuttingDown, |()| Wake::Changed)
                }
                () = tokio::time::sleep(RECHECK) => Wake::Quiet,
            };
            match self.caller.refresh(&self.doors.permissions) {
                Ok(false) => {}
                // What it may see has changed.
                Ok(true) if self.may_read() => revision = self.send_list().await?,
                Ok(true) | Err(_) => return self.send_end("access_ended").await,
            }
            match wake {
                Wake::ShuttingDown => return self.send_end("shutting_down").await,
                Wake::Changed => quiet_since = Instant::now(),
                Wake::Quiet if quiet_since.elapsed() >= KEEP_ALIVE => {
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

    /// Sends the whole list in pages. Returns the revision from which the changes follow.
    async fn send_list(&self) -> Result<u64, Gone> {
        let mut filter = Filter { most: PAGE, ..Filter::default() };
        // What changes during the pages follows as a change.
        let mut from = None;
        loop {
            let turn = self.turn.acquire().await;
            let page = self.alarms.list_visible(&filter, |key| sees(&self.caller, key));
            let revision = *from.get_or_insert(page.revision);
            filter.after = page.next.clone();
            let id = filter.after.is_none().then_some(revision);
            let text = event("alarms", id, &list::Alarms::new(page, &self.caller));
            drop(turn);
            self.send(text).await?;
            if filter.after.is_none() {
                return Ok(revision);
            }
        }
    }

    /// Sends what has changed after a revision. Returns the revision after it.
    async fn send_changes(&self, mut revision: u64) -> Result<u64, Gone> {
        loop {
            let turn = self.turn.acquire().await;
            let changes = self.alarms.changes(revision);
            if changes.is_incomplete {
                drop(turn);
                revision = self.send_list().await?;
                continue;
            }
            if changes.revision == revision {
                return Ok(revision);
            }
            revision = changes.revision;
            let changed = changes.alarms.into_iter().filter(|alarm| sees(&self.caller, &alarm.key));
            let changed = changed.map(|alarm| (alarm.revision, AlarmJson::new(alarm, &self.caller)));
            let removed = changes.removed.into_iter().filter(|(_, key)| sees(&self.caller, key));
            let removed = removed.map(|(at, key)| (at, AlarmJson::removed(key, at, &self.caller)));
            let mut all: Vec<_> = changed.chain(removed).collect();
            all.sort_by_key(|(revision, _)| *revision);
            drop(turn);
            for part in all.chunks(PAGE) {
                let turn = self.turn.acquire().await;
                let texts = part.iter().map(|(revision, alarm)| event("alarm", Some(*revision), alarm));
                let text: String = texts.collect();
                drop(turn);
                self.send(text).await?;
            }
        }
    }

    async fn send_end(&self, cause: &str) -> Result<(), Gone> {
        self.send(event("end", None, &serde_json::json!({"event": "end", "cause": cause}))).await
    }

    async fn send(&self, text: String) -> Result<(), Gone> {
        match timeout(STALL, self.to.send(text)).await {
            Ok(Ok(())) => Ok(()),
            _ => Err(Gone),
        }
    }
}

fn event(name: &str, id: Option<u64>, data: &impl Serialize) -> String {
    let id = id.map(|id| format!("id: {id}\n")).unwrap_or_default();
    let data = serde_json::to_string(data).unwrap_or_default();
    format!("event: {name}\n{id}data: {data}\n\n")
}

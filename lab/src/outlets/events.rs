//! Server-sent events as an application of axum has them: a broadcast channel, and a stream of it for each response.

use axum::{
    Router,
    extract::{Path, State},
    http::header,
    response::{
        IntoResponse,
        sse::{Event, KeepAlive, Sse},
    },
    routing::get,
};
use futures_util::stream;
use std::{convert::Infallible, sync::Arc};
use tokio::sync::broadcast::{self, Receiver, Sender, error::RecvError};

/// Records by which a client may lag; beyond them it loses the oldest ones.
const MAX_QUEUED_RECORDS: usize = 1_024;

/// The records of all instances.
#[derive(Debug)]
pub struct Events {
    records: Sender<(Arc<str>, Arc<str>)>,
}

impl Default for Events {
    fn default() -> Self {
        Self { records: broadcast::channel(MAX_QUEUED_RECORDS).0 }
    }
}

impl Events {
    /// Gives a record to all clients.
    pub fn put(&self, instance: &str, record: String) {
        // There may be no clients.
        let _ = self.records.send((instance.into(), record.into()));
    }
}

/// Serves `/events/INSTANCE`.
pub fn router(events: Arc<Events>) -> Router {
    Router::new().route("/events/{instance}", get(follow)).with_state(events)
}

async fn follow(State(events): State<Arc<Events>>, Path(instance): Path<String>) -> impl IntoResponse {
    let records = stream::unfold((events.records.subscribe(), instance), |(mut records, instance)| async {
        let record = next(&mut records, &instance).await?;
        Some((Ok::<_, Infallible>(Event::default().data(record)), (records, instance)))
    });
    // The pages are the site's; nothing here is secret.
    ([(header::ACCESS_CONTROL_ALLOW_ORIGIN, "*")], Sse::new(records).keep_alive(KeepAlive::default()))
}

async fn next(records: &mut Receiver<(Arc<str>, Arc<str>)>, instance: &str) -> Option<Arc<str>> {
    loop {
        match records.recv().await {
            Ok((name, record)) if &*name == instance => return Some(record),
            Ok(_) | Err(RecvError::Lagged(_)) => {}
            Err(RecvError::Closed) => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_client_gets_the_records_of_its_instance_and_skips_what_it_was_too_slow_for() {
        let events = Events::default();
        let mut records = events.records.subscribe();
        events.put("pump", "1".into());
        events.put("fan", "2".into());
        assert_eq!(next(&mut records, "fan").await.as_deref(), Some("2"));
        for number in 0..=MAX_QUEUED_RECORDS {
            events.put("fan", number.to_string());
        }
        assert_eq!(next(&mut records, "fan").await.as_deref(), Some("1"), "the oldest one is lost");
        drop(events);
        while next(&mut records, "fan").await.is_some() {}
    }
}

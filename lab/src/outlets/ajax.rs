//! AJAX as the publications' first data handler had it (thesis of 2012, section 4.1), a baseline: a response without an end for each XMLHttpRequest. Records
//! that come faster than it polls the store are overwritten. For comparison the instance's batches as bytes (chapter 6).

use super::store::{Store, Version};
use axum::{
    Router,
    body::{Body, Bytes},
    extract::{Path, State},
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
    routing::get,
};
use oasis_dac::{Cursor, Dac, Signal, StartAt};
use std::{
    convert::Infallible,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};
use tokio::sync::mpsc;

/// Interval between two polls of the store.
const POLL_INTERVAL: Duration = Duration::from_millis(1);
/// Least bytes of a message: the browsers of 2012 showed shorter ones late.
const MIN_MESSAGE_BYTES: usize = 256;
/// Messages that a client has not taken yet.
const MAX_QUEUED_MESSAGES: usize = 16;
/// A client that has gone is noticed when something is sent: a line end, this often.
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(1);

/// Serves `/ajax/INSTANCE`: the records of a store.
pub fn records(store: Arc<Store>) -> Router {
    Router::new().route("/ajax/{instance}", get(stream)).with_state(store)
}

/// Serves `/ajax/NODE/INSTANCE`: native batches.
pub fn batches(dac: Arc<Dac>) -> Router {
    Router::new().route("/ajax/{node}/{instance}", get(binary)).with_state(dac)
}

async fn stream(State(store): State<Arc<Store>>, Path(instance): Path<String>) -> Response {
    let mut seen = Version::default();
    let poll = move || match store.read_newer(&instance, &mut seen) {
        Ok(record) => Ok(record.map(padded)),
        Err(error) => Err(error.to_string()),
    };
    endless("application/json", b"\n", poll)
}

async fn binary(State(dac): State<Arc<Dac>>, Path((node, instance)): Path<(String, String)>) -> Response {
    let Some(instance) = dac.registry.find(&node, &instance) else {
        return (StatusCode::NOT_FOUND, "no such instance\n").into_response();
    };
    let mut cursor = Cursor::new(instance, StartAt::Now, &Arc::new(Signal::default())).0;
    let poll = move || {
        let mut bytes = Vec::new();
        for segment in cursor.read(MAX_QUEUED_MESSAGES).segments {
            let batch = segment.batch();
            bytes.extend_from_slice(&u32::try_from(batch.len()).unwrap_or(u32::MAX).to_le_bytes());
            bytes.extend_from_slice(batch);
        }
        Ok((!bytes.is_empty()).then(|| bytes.into()))
    };
    // A batch of no bytes.
    endless("application/octet-stream", &[0; 4], poll)
}

/// Blanks after the record, and a line end.
fn padded(mut record: String) -> Bytes {
    let blanks = MIN_MESSAGE_BYTES.saturating_sub(record.len() + 1);
    record.extend(std::iter::repeat_n(' ', blanks));
    record.push('\n');
    record.into()
}

/// A response whose thread polls until the client has gone.
fn endless(
    media: &'static str,
    nothing: &'static [u8],
    mut poll: impl FnMut() -> Result<Option<Bytes>, String> + Send + 'static,
) -> Response {
    let (to, from) = mpsc::channel(MAX_QUEUED_MESSAGES);
    thread::spawn(move || {
        let mut sent = Instant::now();
        loop {
            let message = match poll() {
                Ok(Some(message)) => message,
                Ok(None) if sent.elapsed() > KEEPALIVE_INTERVAL => Bytes::from_static(nothing),
                Ok(None) => {
                    thread::sleep(POLL_INTERVAL);
                    continue;
                }
                Err(error) => {
                    eprintln!("ajax: {error}");
                    return;
                }
            };
            if to.blocking_send(message).is_err() {
                return;
            }
            sent = Instant::now();
        }
    });
    let parts = futures_util::stream::unfold(from, |mut from: mpsc::Receiver<Bytes>| async move {
        from.recv().await.map(|part| (Ok::<_, Infallible>(part), from))
    });
    let mut headers = HeaderMap::new();
    headers.insert(
        header::CONTENT_TYPE,
        media.parse().unwrap_or(header::HeaderValue::from_static("text/plain")),
    );
    headers.insert(header::CACHE_CONTROL, header::HeaderValue::from_static("no-store"));
    // The pages are the site's; nothing here is secret.
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, header::HeaderValue::from_static("*"));
    (headers, Body::from_stream(parts)).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_messages_are_padded_to_256_bytes() {
        assert_eq!(padded("{}".into()).len(), 256);
        assert_eq!(padded("x".repeat(255)).len(), 256);
        assert_eq!(padded("x".repeat(300)).len(), 301);
    }
}

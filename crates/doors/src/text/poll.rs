//! Answers that end: at once (poll), or after the first message (long poll).

use super::{live, output::Output, reader::Reader};
use crate::{Doors, Problem};
use axum::{
    body::Body,
    http::StatusCode,
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use futures_util::StreamExt;
use std::{convert::Infallible, pin::pin, time::Duration};

/// One JSON document with everything since, up to `doors.max_answer_bytes`.
pub async fn answer(doors: &Doors, reader: &mut Reader, mut out: Output) -> Response {
    out.own(b"{\"messages\":[");
    let mut separator = "{";
    while out.len() < doors.config.max_answer_bytes {
        reader.fetch().await;
        let Some(message) = reader.next() else {
            // A fetch may only lead to the log, and the log may only lead to the archive, without a message.
            if reader.is_in_the_past() {
                continue;
            }
            break;
        };
        out.own(separator.as_bytes());
        message.write(&mut out);
        separator = ",{";
    }
    let (next, more) = (reader.positions(), reader.has_more());
    out.own(format!("],\"next\":\"{next}\",\"more\":{more}}}\n").as_bytes());
    let headers = live::headers("application/json", out.coding());
    out.finish();
    let parts = out.take();
    let mut unread = doors.dac.answers.hold();
    if !unread.set(parts.iter().map(Bytes::len).sum()) {
        doors.admission.count_refused("memory_limit");
        let detail = "answers that clients have not read exceed their share of memory_bytes: try again later";
        return Problem::new(StatusCode::SERVICE_UNAVAILABLE, "memory_limit", detail).into_response();
    }
    let parts = futures_util::stream::iter(parts).map(move |part| {
        // Held until the client has taken the last part.
        let _unread = &unread;
        Ok::<_, Infallible>(part)
    });
    (headers, Body::from_stream(parts)).into_response()
}

/// Waits for data, the timeout, or the end of the DAC.
pub async fn wait(doors: &Doors, reader: &Reader, timeout: Duration) {
    let deadline = tokio::time::Instant::now() + timeout;
    let mut ended = pin!(doors.ended());
    while !reader.has_more() {
        tokio::select! {
            () = &mut ended => return,
            () = reader.raised() => {}
            () = tokio::time::sleep_until(deadline) => return,
        }
    }
}

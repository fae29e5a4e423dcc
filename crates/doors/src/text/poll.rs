//! Answers that end: at once (poll), or after the first message (long poll).

use super::{live, output::Output, reader::Reader};
use crate::Doors;
use axum::{
    body::Body,
    http::StatusCode,
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use futures_util::StreamExt;
use oasis_http::Problem;
use std::{convert::Infallible, pin::pin, time::Duration};

/// Collected in one go.
const TURN_BYTES: usize = 64 * 1024;

/// One JSON document with everything since, up to `doors.max_answer_bytes`.
pub async fn answer(doors: &Doors, reader: Reader, mut out: Output) -> Response {
    out.own(b"{\"messages\":[");
    let most = doors.config.max_answer_bytes;
    let mut answer = Answer { reader, out, separator: "{", is_complete: false };
    while !answer.is_complete && answer.out.len() < most {
        answer.reader.fetch().await;
        let until = most.min(answer.out.len() + TURN_BYTES);
        if answer.reader.is_behind() {
            let written = doors.writers.work(answer, move |answer| answer.collect(until)).await;
            let Some(written) = written else { return failed() };
            answer = written;
        } else {
            answer.collect(until);
        }
    }
    let Answer { reader, mut out, .. } = answer;
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

struct Answer {
    reader: Reader,
    out: Output,
    /// Before the next message.
    separator: &'static str,
    /// The reader has nothing more.
    is_complete: bool,
}

impl Answer {
    /// Adds messages up to `until` bytes.
    fn collect(&mut self, until: usize) {
        while self.out.len() < until {
            let Some(message) = self.reader.next() else {
                // A fetch may only lead to the log, and the log may only lead to the archive, without a message.
                self.is_complete = !self.reader.is_in_the_past();
                return;
            };
            self.out.own(self.separator.as_bytes());
            message.write(&mut self.out);
            self.separator = ",{";
        }
    }
}

fn failed() -> Response {
    Problem::new(
        StatusCode::INTERNAL_SERVER_ERROR,
        "failed",
        "the answer could not be written: the DAC's log says why",
    )
    .into_response()
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

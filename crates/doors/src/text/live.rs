//! Answers without end: how the events door and the stream door wait and write. They differ in how a message looks.

use super::{
    STALL, Visit, json,
    output::Output,
    query::Positions,
    reader::{Message, Reader},
};
use crate::{Doors, coding::Coding};
use axum::{
    body::Body,
    http::{HeaderMap, HeaderName, HeaderValue, header},
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use oasis_dac::HeldMemory;
use oasis_http::permissions::Caller;
use std::{convert::Infallible, pin::pin, time::Duration};
use tokio::{sync::mpsc, time::Instant};

/// Collected before it is written.
const TURN_BYTES: usize = 64 * 1024;
/// Interval of keep-alive messages, for proxies and to notice a client that has disappeared.
const KEEP_ALIVE_INTERVAL: Duration = Duration::from_secs(15);

/// Longest time that a reader keeps its rights without a look-up; accounts are read once a second besides.
const RECHECK_INTERVAL: Duration = Duration::from_secs(3);

/// The format of messages at a door.
pub trait Dialect: Send + 'static {
    /// Media type.
    const MEDIA: &'static str;

    /// Before everything else.
    fn greet(&self, reader: &Reader, out: &mut Output);
    /// Writes one message; `after` is the position after it.
    fn message(&self, message: &Message, after: &Positions, out: &mut Output);
    /// Writes a keep-alive message.
    fn keep_alive(&self, out: &mut Output);
}

/// Answers with a body that continues until the client or the DAC ends it.
pub fn answer<D: Dialect>(visit: Visit, dialect: D) -> Response {
    let Visit { doors, caller, place, reader, mut out } = visit;
    // Room for one message: the others stay in the topic log until the client reads.
    let (to, from) = mpsc::channel(1);
    let coding = out.coding();
    dialect.greet(&reader, &mut out);
    let unread = doors.dac.answers.hold();
    let writer = Writer { doors, caller, unread, reader, out, dialect, to, is_over: false };
    tokio::spawn(async move {
        writer.run().await;
        drop(place);
    });
    let parts = futures_util::stream::unfold(from, |mut from: mpsc::Receiver<Bytes>| async move {
        from.recv().await.map(|part| (Ok::<_, Infallible>(part), from))
    });
    (headers(D::MEDIA, coding), Body::from_stream(parts)).into_response()
}

/// Adds the headers of all text doors. Proxies must neither cache an answer nor buffer it.
pub fn headers(media: &'static str, coding: Coding) -> HeaderMap {
    let mut headers = HeaderMap::new();
    let mut say = |name, value| drop(headers.insert(name, HeaderValue::from_static(value)));
    say(header::CONTENT_TYPE, media);
    say(header::CACHE_CONTROL, "no-store");
    say(header::VARY, "Accept-Encoding");
    say(HeaderName::from_static("x-accel-buffering"), "no");
    if let Some(name) = coding.name() {
        say(header::CONTENT_ENCODING, name);
    }
    headers
}

struct Writer<D> {
    doors: Doors,
    /// Caller that reads.
    caller: Caller,
    /// Bytes that the client has not taken yet.
    unread: HeldMemory,
    reader: Reader,
    out: Output,
    dialect: D,
    to: mpsc::Sender<Bytes>,
    /// The last message, which says why, is written.
    is_over: bool,
}

/// The client is gone, or does not read.
struct ClientGone;

impl<D: Dialect> Writer<D> {
    async fn run(self) {
        let Ok(mut writer) = self.converse().await else { return };
        writer.out.finish();
        let _ = writer.flush().await;
    }

    /// Writes until the stream is over.
    async fn converse(mut self) -> Result<Self, ClientGone> {
        let doors = self.doors.clone();
        let mut ended = pin!(doors.ended());
        let mut quiet_since = Instant::now();
        loop {
            self.reader.fetch().await;
            if !self.may_read_on() {
                self.say_end("access_ended", &self.reader.positions());
                return Ok(self);
            }
            // A greeting or a keep-alive message.
            self.flush().await?;
            self = self.send_next().await?;
            if self.is_over || self.reader.is_over() {
                return Ok(self);
            }
            tokio::select! {
                () = &mut ended => {
                    self.say_end("shutting_down", &self.reader.positions());
                    return Ok(self);
                }
                () = self.to.closed() => return Err(ClientGone),
                () = std::future::ready(()), if self.reader.has_more() => {}
                () = self.reader.raised() => {}
                () = tokio::time::sleep(RECHECK_INTERVAL) => {
                    if quiet_since.elapsed() >= KEEP_ALIVE_INTERVAL {
                        self.dialect.keep_alive(&mut self.out);
                        quiet_since = Instant::now();
                    }
                    continue;
                }
            }
            quiet_since = Instant::now();
        }
    }

    /// Whether the reader has the permissions for all that it reads.
    fn may_read_on(&mut self) -> bool {
        match self.caller.refresh(&self.doors.permissions) {
            Ok(false) => true,
            Ok(true) => self.reader.request().authorize(&self.caller).is_ok(),
            Err(_) => false,
        }
    }

    /// Writes the last message, which says why the stream ends.
    fn say_end(&mut self, cause: &str, after: &Positions) {
        let end = Message::Event("end", json::end(cause));
        self.dialect.message(&end, after, &mut self.out);
        self.is_over = true;
    }

    /// Sends the next messages. If there is no memory for them, the stream ends before them, at the position that the client has.
    async fn send_next(self) -> Result<Self, ClientGone> {
        let (mark, before) = (self.out.mark(), self.reader.positions());
        let mut writer = self.collected().await?;
        if writer.has_room() {
            writer.flush().await?;
        } else {
            writer.doors.admission.count_refused("memory_limit");
            writer.out.discard(mark);
            writer.say_end("memory_limit", &before);
        }
        Ok(writer)
    }

    /// Collects the next messages. A panic ends the stream.
    async fn collected(mut self) -> Result<Self, ClientGone> {
        if self.reader.is_behind() {
            let writers = self.doors.writers.clone();
            return writers.work(self, Self::collect).await.ok_or(ClientGone);
        }
        self.collect();
        Ok(self)
    }

    /// Returns whether the collected messages may wait for the client. A few always may.
    fn has_room(&mut self) -> bool {
        let bytes = self.out.len();
        self.unread.set(bytes) || bytes <= 2 * TURN_BYTES
    }

    fn collect(&mut self) {
        while self.out.len() < TURN_BYTES {
            let Some(message) = self.reader.next() else { return };
            self.dialect.message(&message, &self.reader.positions(), &mut self.out);
        }
    }

    async fn flush(&mut self) -> Result<(), ClientGone> {
        for part in self.out.take() {
            let began = Instant::now();
            let sent = tokio::time::timeout(STALL, self.to.send(part)).await;
            if !matches!(sent, Ok(Ok(()))) {
                // The system, which closes such a connection, has waited from a little earlier on.
                if began.elapsed() > STALL / 2 {
                    self.doors.admission.count_refused("stalled");
                }
                return Err(ClientGone);
            }
        }
        self.unread.set(0);
        Ok(())
    }
}

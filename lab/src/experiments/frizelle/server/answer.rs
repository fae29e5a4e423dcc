//! Answers as lines of JSON, with the fields of the study's section 3.4.1.2.

use super::calls::EventRequest;
use std::{
    fmt::Write,
    time::{Instant, SystemTime, UNIX_EPOCH},
};

/// A point in time, for clients and for durations.
#[derive(Debug, Clone, Copy)]
pub struct Stamp {
    /// Milliseconds since 1970.
    pub time: u128,
    /// On the clock that never goes back.
    pub clock: Instant,
}

/// An emit of an event.
#[derive(Debug, Clone)]
pub struct Emit {
    /// The event.
    pub name: String,
    /// When the emit began.
    pub created: Stamp,
    /// Requests that it answers.
    pub total: usize,
}

/// A request in the pool.
#[derive(Debug)]
pub struct Received {
    /// When it came.
    pub created: Stamp,
    /// Requests in the pool then, this one included.
    pub start: usize,
    /// The request as JSON.
    data: String,
}

/// Content of an answer.
#[derive(Debug, Clone, Copy)]
pub enum Content<'a> {
    /// An emit, and the request's place in its queue, from 1.
    Event(&'a Emit, usize),
    /// Its maximum duration is over.
    Timeout,
}

impl Stamp {
    /// Now.
    pub fn now() -> Self {
        let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
        Self { time, clock: Instant::now() }
    }

    /// Milliseconds from an earlier stamp to this one.
    fn since(&self, earlier: &Self) -> f64 {
        self.clock.saturating_duration_since(earlier.clock).as_secs_f64() * 1e3
    }
}

impl Received {
    /// A request that came now.
    pub fn new(wish: &EventRequest, start: usize) -> Self {
        let kind = if wish.is_comet { "comet" } else { "poll" };
        let events = wish.events.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(",");
        let duration = wish.duration.as_millis();
        let data = format!(r#"{{"type":"{kind}","events":[{events}],"duration":{duration}}}"#);
        Self { created: Stamp::now(), start, data }
    }

    /// Returns the answer that is sent now, while `finish` requests are in the pool.
    pub fn answer(&self, content: Content<'_>, finish: usize) -> Vec<u8> {
        let now = Stamp::now();
        let mut line = String::with_capacity(420);
        // Writing to a string cannot fail.
        let _ = match content {
            Content::Timeout => write!(line, r#"{{"response":{{"timeout":true}}"#),
            Content::Event(emit, place) => write!(
                line,
                r#"{{"response":{{"event":{{"timings":{{"duration":{:.3},"sent":{},"created":{}}},"name":{},"connections":{{"total":{},"place":{place}}}}}}}"#,
                now.since(&emit.created),
                now.time,
                emit.created.time,
                quoted(&emit.name),
                emit.total,
            ),
        };
        let _ = writeln!(
            line,
            r#","request":{},"timings":{{"duration":{:.3},"sent":{},"created":{}}},"connections":{{"finish":{finish},"start":{}}}}}"#,
            self.data,
            now.since(&self.created),
            now.time,
            self.created.time,
            self.start,
        );
        line.into_bytes()
    }
}

/// A JSON string.
pub fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Answers of the calls other than the request manager's.
pub mod short {
    use super::{Stamp, quoted};
    use std::time::Duration;

    /// The time stamper's.
    pub fn time(client: &str) -> String {
        format!(
            "{{\"client\":{},\"server\":{}}}\n",
            client.parse::<u64>().unwrap_or_default(),
            Stamp::now().time
        )
    }

    /// The log manager's.
    pub fn logging(is_enabled: bool) -> String {
        format!("{{\"logging\":{is_enabled}}}\n")
    }

    /// The event manager's for an event that is set.
    pub fn event(name: &str, interval: Duration) -> String {
        format!("{{\"event\":{{\"name\":{},\"interval\":{}}}}}\n", quoted(name), interval.as_millis())
    }

    /// The event manager's for events that are cleared.
    pub fn cleared() -> String {
        "{\"cleared\":true}\n".into()
    }

    /// Returns the answer to an unknown or a wrong call.
    pub fn error(message: &str) -> String {
        format!("{{\"error\":{}}}\n", quoted(message))
    }
}

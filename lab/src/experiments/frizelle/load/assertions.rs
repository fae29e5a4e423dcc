//! Judges an answer as the study's test plan does: it must not contain "error", and not "timeout" where an event was set.

use serde::Deserialize;

/// Verdict on an answer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Verdict {
    /// An event.
    Event(Event),
    /// A timeout where there are no events.
    Expected,
    /// A timeout where there are events.
    UnexpectedTimeout,
    /// An error, or no answer at all.
    Error,
}

/// The fields of an answer that the report needs (section 3.4.1.2).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Event {
    /// When the emit began, milliseconds since 1970.
    pub created: i64,
    /// From then until this answer, in milliseconds.
    pub duration: f64,
    /// Requests that the emit answers.
    pub total: u64,
}

#[derive(Deserialize)]
struct Answer {
    response: Response,
    connections: Connections,
}

#[derive(Deserialize)]
struct Response {
    event: Option<Emit>,
}

#[derive(Deserialize)]
struct Emit {
    timings: Timings,
    connections: Queue,
}

#[derive(Deserialize)]
struct Timings {
    duration: f64,
    created: i64,
}

#[derive(Deserialize)]
struct Queue {
    total: u64,
}

#[derive(Deserialize)]
struct Connections {
    start: u64,
}

/// Judges an answer; returns the verdict, and the connections that the server had when it received the request.
pub fn judge(line: &[u8], is_event_set: bool) -> (Verdict, u64) {
    let Ok(text) = std::str::from_utf8(line) else { return (Verdict::Error, 0) };
    if text.contains("error") {
        return (Verdict::Error, 0);
    }
    let Ok(answer) = serde_json::from_str::<Answer>(text) else { return (Verdict::Error, 0) };
    let verdict = match answer.response.event {
        Some(Emit { timings, connections }) => Verdict::Event(Event {
            created: timings.created,
            duration: timings.duration,
            total: connections.total,
        }),
        None if !text.contains("timeout") => Verdict::Error,
        None if is_event_set => Verdict::UnexpectedTimeout,
        None => Verdict::Expected,
    };
    (verdict, answer.connections.start)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMEOUT: &[u8] = br#"{"response":{"timeout":true},"connections":{"start":7,"finish":7}}"#;

    #[test]
    fn a_timeout_is_an_error_only_where_events_are_set() {
        assert_eq!(judge(TIMEOUT, false), (Verdict::Expected, 7));
        assert_eq!(judge(TIMEOUT, true), (Verdict::UnexpectedTimeout, 7));
    }

    #[test]
    fn an_error_is_one_wherever_it_stands() {
        assert_eq!(judge(br#"{"error":"no call /"}"#, true).0, Verdict::Error);
        assert_eq!(judge(b"<html>", true).0, Verdict::Error);
    }
}

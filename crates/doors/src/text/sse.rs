//! Server-sent events, for `EventSource` in a browser, which resumes by itself.

use super::{
    live::Dialect,
    output::Output,
    query::Positions,
    reader::{Message, Reader},
};

/// Milliseconds until a browser connects again.
const RETRY: &str = "retry: 1000\n\n";

/// One event for each message; its `id` is the position after it.
#[derive(Debug)]
pub struct Events;

impl Dialect for Events {
    const MEDIA: &'static str = "text/event-stream";

    fn greet(&self, _: &Reader, out: &mut Output) {
        out.own(RETRY.as_bytes());
    }

    fn message(&self, message: &Message, after: &Positions, out: &mut Output) {
        out.own(format!("event: {}\nid: {after}\ndata: {{", message.name()).as_bytes());
        message.write(out);
        out.own(b"\n\n");
    }

    fn keep_alive(&self, out: &mut Output) {
        out.own(b":\n\n");
    }
}

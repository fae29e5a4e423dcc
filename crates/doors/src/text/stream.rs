//! AJAX streaming: one answer without end, a JSON object a line.

use super::{
    live::Dialect,
    output::Output,
    query::Positions,
    reader::{Message, Reader},
};

/// Each line begins with the position after it.
#[derive(Debug)]
pub struct Lines;

impl Dialect for Lines {
    const MEDIA: &'static str = "application/x-ndjson";

    fn greet(&self, reader: &Reader, out: &mut Output) {
        let padding = reader.request().padding;
        if padding > 0 {
            // Browsers of 2012 passed no data to a script before this many bytes.
            out.own(" ".repeat(padding - 1).as_bytes());
            out.own(b"\n");
        }
    }

    fn message(&self, message: &Message, after: &Positions, out: &mut Output) {
        out.own(format!("{{\"next\":\"{after}\",").as_bytes());
        message.write(out);
        out.own(b"\n");
    }

    fn keep_alive(&self, out: &mut Output) {
        out.own(b"\n");
    }
}

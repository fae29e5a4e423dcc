//! Answers in the words of each version of InfluxDB, as its clients and Telegraf expect them.

use crate::{request::Version, write::Written};
use oasis_handler::InletAnswer;
use serde_json::{Value, json};

const JSON: &str = "application/json";
/// Clients of version 1 read it in answers of `/ping`. They take the value as it is.
const VERSION: &str = concat!("OASIS-", env!("CARGO_PKG_VERSION"));

/// Returns an answer with an error.
pub fn error(version: Version, status: u16, message: &str) -> InletAnswer {
    let body = match version {
        Version::V1 | Version::V3 => json!({ "error": message }),
        Version::V2 => json!({ "code": code(status), "message": message }),
    };
    let mut answer = InletAnswer::document(status, JSON, body.to_string());
    if version == Version::V1 {
        // The header that Telegraf reads for version 1.
        let line = message.chars().map(|sign| if (' '..='~').contains(&sign) { sign } else { '?' });
        answer.headers.push(("x-influxdb-error", line.take(500).collect()));
        answer.headers.push(("x-influxdb-version", VERSION.into()));
    }
    answer
}

/// Returns the answer to a request that was read to its end.
pub fn written(version: Version, written: &Written) -> InletAnswer {
    let Some(first) = written.listed.first() else { return no_content(version) };
    let left_out = match written.left_out_fields {
        0 => String::new(),
        fields => format!(", {fields} fields of others left out"),
    };
    let message = format!(
        "partial write: {} points written, {} refused{left_out}: line {}: {}",
        written.taken, written.refused, first.line, first.why
    );
    let status = if written.taken == 0 && written.forbidden == written.refused { 403 } else { 400 };
    if version != Version::V3 {
        return error(version, status, &message);
    }
    let lines: Vec<Value> = written
        .listed
        .iter()
        .map(|point| json!({ "error_message": point.why, "line_number": point.line, "original_line": point.text }))
        .collect();
    let body = json!({ "error": message, "data": lines });
    InletAnswer::document(status, JSON, body.to_string())
}

/// Returns the answer that everything was written.
pub fn no_content(version: Version) -> InletAnswer {
    let mut answer = InletAnswer::empty(204);
    if version == Version::V1 {
        answer.headers.push(("x-influxdb-version", VERSION.into()));
    }
    answer
}

/// Returns the answer of `/ping`.
pub fn ping() -> InletAnswer {
    let mut answer = InletAnswer::empty(204);
    answer.headers.push(("x-influxdb-version", VERSION.into()));
    answer.headers.push(("x-influxdb-build", "OSS".into()));
    answer
}

/// Returns the answer of `/health`.
pub fn health() -> InletAnswer {
    let body = json!({
        "name": "influxdb", "message": "ready for writes", "status": "pass", "checks": [], "version": VERSION,
    });
    InletAnswer::document(200, JSON, body.to_string())
}

/// Returns the answer of `/query`: Telegraf creates its database before it writes.
pub fn query(text: &str) -> InletAnswer {
    let begins = text.trim_start().get(..15).unwrap_or_default();
    if begins.eq_ignore_ascii_case("create database") {
        return InletAnswer::document(200, JSON, json!({ "results": [{ "statement_id": 0 }] }).to_string());
    }
    error(Version::V1, 400, "InfluxQL is not answered here: send SQL to /api/v1/sql, or use oasis sql")
}

fn code(status: u16) -> &'static str {
    match status {
        401 => "unauthorized",
        403 => "forbidden",
        413 => "request too large",
        503 => "unavailable",
        _ => "invalid",
    }
}

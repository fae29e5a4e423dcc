//! The audit log over HTTP, for administrators.

use super::{archive::blocking, sql::on_own_thread};
use axum::{
    Json,
    extract::{Query, State, rejection::QueryRejection},
    http::StatusCode,
};
use oasis_access::{AuditError, Record, newest_records};
use oasis_dac::now;
use oasis_doors::Doors;
use oasis_http::Problem;
use oasis_wire::time;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use utoipa::{IntoParams, ToSchema};

/// Records in one answer: by default, and at most.
const DEFAULT_LIMIT: usize = 100;
const MAX_LIMIT: usize = 1_000;
/// Findings of a check in one answer.
const MOST_FINDINGS: usize = 20;

#[derive(Debug, Deserialize, IntoParams)]
pub struct AuditLogQuery {
    /// Only records of this time or later: nanoseconds since 1970, a date and time, or how long ago (-15m).
    from: Option<String>,
    /// Only records before this time.
    to: Option<String>,
    /// Only records of this principal, such as person:ada.
    principal: Option<String>,
    /// Only actions that begin with this, such as command: or user:add.
    action: Option<String>,
    /// Only targets that begin with this, such as plant-7/.
    target: Option<String>,
    /// Only results that begin with this, such as failed or forbidden.
    result: Option<String>,
    /// Only records with smaller numbers: `next` of an earlier answer.
    before: Option<u64>,
    /// Most records in the answer, 1 to 1000; 100 by default.
    limit: Option<usize>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct AuditRecords {
    /// Newest first: see docs/reference/audit-log.md.
    #[schema(value_type = Vec<Object>)]
    records: Vec<Record>,
    /// `before` for the next records; null at the beginning of the log. An answer may have few records and a `next`: it reads 64 MiB at most.
    next: Option<u64>,
}

/// Records of the audit log, newest first.
#[utoipa::path(get, path = "/api/v1/audit-log", params(AuditLogQuery),
    responses((status = 200, body = AuditRecords), (status = 400, body = Problem), (status = 404, body = Problem), (status = 500, body = Problem)))]
pub async fn list(
    State(doors): State<Doors>,
    query: Result<Query<AuditLogQuery>, QueryRejection>,
) -> Result<Json<AuditRecords>, Problem> {
    let Query(query) = super::understood(query)?;
    let folder = folder(&doors)?;
    let (from, to) = (at("from", query.from.as_deref())?, at("to", query.to.as_deref())?);
    let begins =
        |text: &str, with: &Option<String>| with.as_ref().is_none_or(|with| text.starts_with(with.as_str()));
    let found = blocking(move || {
        let limit = query.limit.unwrap_or(DEFAULT_LIMIT).clamp(1, MAX_LIMIT);
        newest_records(&folder, query.before, limit, |record| {
            let time = record.nanos().map(|time| time.0);
            begins(&record.action, &query.action)
                && begins(&record.target, &query.target)
                && begins(&record.result, &query.result)
                && query.principal.as_ref().is_none_or(|principal| *principal == record.principal)
                && from.is_none_or(|from| time.is_none_or(|time| time >= from))
                && to.is_none_or(|to| time.is_none_or(|time| time < to))
        })
    });
    let found = found.await?.map_err(|error| problem(&error))?;
    Ok(Json(AuditRecords { records: found.records, next: found.next }))
}

#[derive(Debug, Serialize, ToSchema)]
pub struct AuditLogCheck {
    /// Whether no record was changed, removed, reordered or cut off.
    intact: bool,
    /// Records that were read.
    records: u64,
    /// Number of the first one; null if there is none.
    first: Option<u64>,
    /// `SEQ:HASH` of the newest one: keep it elsewhere, and check it later with `oasis audit-log verify --head`.
    head: Option<String>,
    /// Problems; at most 20 entries.
    findings: Vec<String>,
}

/// Checks the chain of the audit log. Reads all of it.
#[utoipa::path(get, path = "/api/v1/audit-log/check",
    responses((status = 200, body = AuditLogCheck), (status = 404, body = Problem), (status = 429, body = Problem), (status = 500, body = Problem)))]
pub async fn check(State(api): State<crate::Api>) -> Result<Json<AuditLogCheck>, Problem> {
    let log = api.doors.permissions.audit_log().ok_or_else(no_log)?.clone();
    // Two checks at a time, whoever asks: each reads up to a gigabyte.
    let turn = api.sql.take("audit-log:check", true)?;
    let report = on_own_thread(move || {
        let _turn = turn;
        log.check()
    });
    let report = report.await?.map_err(|error| problem(&error))?;
    Ok(Json(AuditLogCheck {
        intact: report.is_intact(),
        records: report.records,
        first: report.first,
        head: report.head.map(|head| head.to_string()),
        findings: report.findings.iter().take(MOST_FINDINGS).map(|finding| finding.what.clone()).collect(),
    }))
}

/// The folder of the log.
fn folder(doors: &Doors) -> Result<PathBuf, Problem> {
    doors.permissions.audit_folder().map(PathBuf::from).ok_or_else(no_log)
}

fn no_log() -> Problem {
    let detail = "this DAC has no audit log: start it with a folder for accounts (--access DIR)";
    Problem::new(StatusCode::NOT_FOUND, "no_audit_log", detail)
}

fn at(name: &str, text: Option<&str>) -> Result<Option<u64>, Problem> {
    let parsed =
        text.map(|text| time::parse(text, now()).map_err(|error| format!("{name} is {text:?}: {error}")));
    parsed.transpose().map_err(|detail| Problem::new(StatusCode::BAD_REQUEST, "bad_parameter", detail))
}

fn problem(error: &AuditError) -> Problem {
    Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "audit_log_error", error.to_string())
}

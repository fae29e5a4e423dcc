//! Whether the DAC works, and if not, why: for people, for orchestrators (`/healthz`, `/readyz`) and for the page.

use crate::Api;
use axum::{
    Extension, Json,
    extract::State,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use oasis_access::{CopyState, Moment};
use oasis_dac::now;
use oasis_health::FindingKind;
use oasis_http::permissions::Caller;
use serde::Serialize;
use std::time::Instant;
use utoipa::ToSchema;

#[derive(Debug, Serialize, ToSchema)]
pub struct Health {
    /// `ok`; `degraded`: something does not work, and a restart of the DAC would not help; `failing`: a restart would help
    status: &'static str,
    /// Name and version.
    software: &'static str,
    /// The DAC's clock: nanoseconds since 1970-01-01 UTC.
    dac_time: u64,
    /// Why the status is not `ok`; empty for callers that may not read everything.
    reasons: Vec<Reason>,
    /// Warnings that do not change the status, such as samples that will be evicted early.
    warnings: Vec<Reason>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct Reason {
    /// The thread or handler that does not work, `accounts`, `audit log` or `dac`.
    part: String,
    /// One sentence for people.
    reason: String,
}

/// Whether the DAC should stay as it is. `503` only if a restart would help.
#[utoipa::path(get, path = "/healthz", responses((status = 200, body = Health), (status = 503, body = Health)))]
pub async fn healthz(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
) -> (StatusCode, Json<Health>) {
    let health = api.health();
    (unless(health.status == "failing"), Json(health.for_caller(&caller)))
}

/// Whether the DAC does all its work: `503` if any part does not, or while it ends.
#[utoipa::path(get, path = "/readyz", responses((status = 200, body = Health), (status = 503, body = Health)))]
pub async fn readyz(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
) -> (StatusCode, Json<Health>) {
    let health = api.health();
    (unless(!health.reasons.is_empty()), Json(health.for_caller(&caller)))
}

/// Body of the answer of [`alive`]: another server at this address says something else.
const ALIVE: &str = "oasis";

/// Returns whether pages of another DAC, which has ended, can continue here. Pages of all sites may read this one word alone.
#[utoipa::path(get, path = "/alive", responses((status = 200, body = String, content_type = "text/plain"), (status = 503)))]
pub async fn alive(State(api): State<Api>) -> Response {
    let dac = &api.doors.dac;
    let has_died = dac.health.findings().iter().any(|finding| finding.kind == FindingKind::Died);
    if has_died || dac.is_releasing() {
        return StatusCode::SERVICE_UNAVAILABLE.into_response();
    }
    let headers = [(header::ACCESS_CONTROL_ALLOW_ORIGIN, "*"), (header::CACHE_CONTROL, "no-store")];
    (headers, ALIVE).into_response()
}

/// The same for the page: always `200`.
#[utoipa::path(get, path = "/api/v1/health", responses((status = 200, body = Health)))]
pub async fn health(State(api): State<Api>, Extension(caller): Extension<Caller>) -> Json<Health> {
    Json(api.health().for_caller(&caller))
}

impl Health {
    /// Without details, unless the caller may read everything: they name parts, nodes and files.
    fn for_caller(self, caller: &Caller) -> Self {
        if caller.sees_everything() {
            return self;
        }
        Self { reasons: Vec::new(), warnings: Vec::new(), ..self }
    }
}

fn unless(is_bad: bool) -> StatusCode {
    if is_bad { StatusCode::SERVICE_UNAVAILABLE } else { StatusCode::OK }
}

impl Api {
    /// Whether the DAC works, in a word for the TEM.
    pub(crate) fn works(&self) -> oasis_tem::Health {
        match self.health().status {
            "ok" => oasis_tem::Health::Ok,
            "failing" => oasis_tem::Health::Failing,
            _ => oasis_tem::Health::Degraded,
        }
    }

    fn health(&self) -> Health {
        let dac = &self.doors.dac;
        let findings = dac.health.findings();
        let is_failing = findings.iter().any(|finding| finding.kind == FindingKind::Died);
        let ending = dac.is_releasing().then(|| Reason { part: "dac".into(), reason: "the DAC ends".into() });
        let handlers = self.handlers.problems().into_iter();
        let files = self.doors.permissions.problems();
        let (distrusted, unconfirmed) = self.copied_accounts();
        let reasons: Vec<_> = findings
            .into_iter()
            .map(|finding| Reason { part: finding.thread.to_string(), reason: finding.to_string() })
            .chain(handlers.map(|(name, reason)| Reason { part: name.into(), reason }))
            .chain(files.map(|(part, reason)| Reason { part: part.into(), reason }))
            .chain(distrusted)
            .chain(dac.upstreams.outage().map(|reason| Reason { part: "relay".into(), reason }))
            .chain(ending)
            .collect();
        let status = match reasons.is_empty() {
            true => "ok",
            false if is_failing => "failing",
            false => "degraded",
        };
        let limited = self.doors.limited_lately().map(|count| {
            let reason = format!("{count} requests were refused lately because their principal or address sent too many (doors.rate_limit)");
            Reason { part: "doors".into(), reason }
        });
        let warnings = self.handlers.warnings().into_iter();
        let warnings = warnings.map(|(name, reason)| Reason { part: name.into(), reason });
        let nodes = dac.refused_nodes.report(Instant::now()).into_iter();
        let part = |name: &str| if name.is_empty() { "data channel".into() } else { format!("node {name}") };
        let nodes = nodes.map(|(name, reason)| Reason { part: part(&name), reason });
        let doubles = self.tem.doubles().into_iter();
        let doubles = doubles.map(|(name, reason)| Reason { part: part(&name), reason });
        let unlisted = self.tem.problems().into_iter();
        let unlisted = unlisted.map(|reason| Reason { part: "tem".into(), reason });
        let upstreams = dac.upstreams.problems().into_iter();
        let upstreams = upstreams.map(|reason| Reason { part: "relay".into(), reason });
        let warnings = warnings
            .chain(nodes)
            .chain(doubles)
            .chain(limited)
            .chain(unlisted)
            .chain(upstreams)
            .chain(unconfirmed)
            .collect();
        Health { status, software: oasis_dac::SOFTWARE, dac_time: now().0, reasons, warnings }
    }

    /// Problems of accounts that are a copy: a reason if they are not in force, else a warning if they are not renewed.
    fn copied_accounts(&self) -> (Option<Reason>, Option<Reason>) {
        let Some(copy) = self.doors.permissions.access.copy_state(Moment::now()) else { return (None, None) };
        let CopyState { source, confirmed, problem, is_trusted } = copy;
        let problem = problem.unwrap_or_default();
        let reason = match (confirmed, is_trusted) {
            (None, _) => format!("no copy of the accounts of {source} yet: nobody can sign in ({problem})"),
            (Some(at), false) => format!(
                "the copy of the accounts of {source} was last confirmed at {at}, too long ago (access.follow_max_age_seconds): nobody can sign in ({problem})"
            ),
            (Some(_), true) if problem.is_empty() => return (None, None),
            (Some(at), true) => {
                format!("the copy of the accounts of {source} was last confirmed at {at}: {problem}")
            }
        };
        let reason = Some(Reason { part: "accounts".into(), reason });
        if is_trusted { (None, reason) } else { (reason, None) }
    }
}

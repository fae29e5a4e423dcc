//! Permissions that each route needs, written down a second time: a route that is missing here, or changes, fails the
//! matrix.
//!
//! A new route gets a line here, one in `docs/reference/permissions.md`, and nothing else.

use super::people::On;

/// A route: its method and path, the verbs of which one is needed, and on what.
pub struct Expected {
    pub route: &'static str,
    pub verbs: &'static [&'static str],
    pub on: On<'static>,
}

const fn nothing(route: &'static str) -> Expected {
    Expected { route, verbs: &[], on: On::Something }
}

const fn somewhere(route: &'static str, verbs: &'static [&'static str]) -> Expected {
    Expected { route, verbs, on: On::Something }
}

const fn everywhere(route: &'static str, verbs: &'static [&'static str]) -> Expected {
    Expected { route, verbs, on: On::Everything }
}

const READ_VERBS: &[&str] = &["read-live", "read-past"];
const LIVE: &[&str] = &["read-live"];
const PAST: &[&str] = &["read-past"];
const ADMINISTRATION: &[&str] = &["administration"];
const ENROLL: &[&str] = &["enroll"];
const REGISTER: &[&str] = &["register"];
const FOLLOW: &[&str] = &["follow"];
const LAYOUTS: &[&str] = &["layouts"];
const RULES: &[&str] = &["rules"];
const SQL: &[&str] = &["sql"];
const RUNS: &[&str] = &["runs"];
const ANNOTATIONS: &[&str] = &["annotations"];
const ALARMS: &[&str] = &["alarms"];
const LABELS: &[&str] = &["labels"];
const WRITE: &[&str] = &["write"];
const COMMAND: &[&str] = &[
    "command:hertz",
    "command:enable",
    "command:disable",
    "command:sample-now",
    "command:trigger",
    "command:deadband",
    "command:demand",
    "command:demand-off",
    "command:reset",
];

/// All routes.
pub const ROUTES: &[Expected] = &[
    nothing("GET /"),
    nothing("GET /d/{name}"),
    nothing("GET /healthz"),
    nothing("GET /readyz"),
    nothing("GET /alive"),
    nothing("GET /openapi.json"),
    nothing("GET /api/v1/health"),
    nothing("GET /api/v1/session"),
    nothing("POST /api/v1/session"),
    nothing("DELETE /api/v1/session"),
    nothing("POST /api/v1/session/csrf"),
    nothing("GET /sign-in/oidc"),
    nothing("GET /sign-in/oidc/callback"),
    nothing("POST /api/v1/session/link"),
    nothing("PUT /api/v1/session/password"),
    nothing("POST /api/v1/sign-in-links"),
    somewhere("POST /api/v1/tickets", READ_VERBS),
    everywhere("GET /api/v1/accounts/copy", FOLLOW),
    everywhere("GET /api/v1/users", ADMINISTRATION),
    everywhere("POST /api/v1/users", ADMINISTRATION),
    everywhere("PATCH /api/v1/users/{name}", ADMINISTRATION),
    everywhere("DELETE /api/v1/users/{name}", ADMINISTRATION),
    everywhere("DELETE /api/v1/users/{name}/sessions", ADMINISTRATION),
    everywhere("GET /api/v1/tokens", ADMINISTRATION),
    everywhere("POST /api/v1/tokens", ADMINISTRATION),
    everywhere("DELETE /api/v1/tokens/{id}", ADMINISTRATION),
    everywhere("GET /api/v1/roles", ADMINISTRATION),
    everywhere("PUT /api/v1/roles/{name}", ADMINISTRATION),
    everywhere("DELETE /api/v1/roles/{name}", ADMINISTRATION),
    everywhere("POST /api/v1/roles/preview", ADMINISTRATION),
    everywhere("GET /api/v1/audit-log", ADMINISTRATION),
    everywhere("GET /api/v1/audit-log/check", ADMINISTRATION),
    everywhere("GET /api/v1/rules", LIVE),
    somewhere("GET /api/v1/rules/handover", PAST),
    everywhere("GET /api/v1/rules/files/{name}", LIVE),
    everywhere("PUT /api/v1/rules/files/{name}", RULES),
    everywhere("DELETE /api/v1/rules/files/{name}", RULES),
    somewhere("POST /api/v1/rules/check", LIVE),
    somewhere("POST /api/v1/rules/complete", LIVE),
    somewhere("POST /api/v1/rules/preview", PAST),
    somewhere("POST /api/v1/search", PAST),
    somewhere("GET /api/v1/sql", SQL),
    somewhere("POST /api/v1/sql", SQL),
    everywhere("POST /api/v1/imports", ADMINISTRATION),
    everywhere("PUT /api/v1/imports/{id}/files/{file}", ADMINISTRATION),
    everywhere("POST /api/v1/imports/{id}/describe", ADMINISTRATION),
    everywhere("POST /api/v1/imports/{id}/store", ADMINISTRATION),
    everywhere("GET /api/v1/imports/{id}", ADMINISTRATION),
    everywhere("DELETE /api/v1/imports/{id}", ADMINISTRATION),
    somewhere("DELETE /api/v1/nodes/{node}", ADMINISTRATION),
    somewhere("DELETE /api/v1/instances/{id}", ADMINISTRATION),
    somewhere("GET /ws", READ_VERBS),
    somewhere("GET /api/v1/tem", READ_VERBS),
    somewhere("PUT /api/v1/tem/dacs/{name}", REGISTER),
    somewhere("DELETE /api/v1/tem/dacs/{name}", REGISTER),
    somewhere("GET /api/v1/tem/dacs/{name}/beats", REGISTER),
    somewhere("GET /api/v1/other-pages", READ_VERBS),
    somewhere("GET /api/v1/other-pages/scout.js", READ_VERBS),
    somewhere("GET /api/v1/nodes", READ_VERBS),
    somewhere("POST /api/v1/nodes/enroll", ENROLL),
    somewhere("GET /api/v1/instances", READ_VERBS),
    somewhere("GET /api/v1/instances/{id}", READ_VERBS),
    somewhere("GET /api/v1/registry", READ_VERBS),
    somewhere("GET /api/v1/schemas/{hash}", READ_VERBS),
    somewhere("GET /api/v1/ledger", READ_VERBS),
    somewhere("GET /api/v1/audit", READ_VERBS),
    everywhere("GET /api/v1/handlers", READ_VERBS),
    everywhere("POST /api/v1/handlers/{name}/start", ADMINISTRATION),
    everywhere("POST /api/v1/handlers/{name}/stop", ADMINISTRATION),
    everywhere("GET /api/v1/notifications", ADMINISTRATION),
    everywhere("POST /api/v1/notifications/test", ADMINISTRATION),
    everywhere("GET /metrics", LIVE),
    nothing("GET /ping"),
    nothing("GET /health"),
    somewhere("GET /query", WRITE),
    somewhere("POST /query", WRITE),
    somewhere("POST /write", WRITE),
    somewhere("POST /api/v2/write", WRITE),
    somewhere("POST /api/v3/write_lp", WRITE),
    somewhere("POST /mcp", READ_VERBS),
    somewhere("POST /api/v1/write", WRITE),
    somewhere("POST /v1/metrics", WRITE),
    somewhere("POST /v1/logs", WRITE),
    somewhere("POST /v1/traces", WRITE),
    everywhere("GET /api/v1/shards", READ_VERBS),
    everywhere("PUT /api/v1/shards", ADMINISTRATION),
    everywhere("GET /api/v1/layouts", READ_VERBS),
    everywhere("GET /api/v1/layouts/{name}", READ_VERBS),
    everywhere("GET /api/v1/layouts/{name}/versions", READ_VERBS),
    everywhere("PUT /api/v1/layouts/{name}", LAYOUTS),
    everywhere("DELETE /api/v1/layouts/{name}", LAYOUTS),
    everywhere("GET /api/v1/archive", READ_VERBS),
    somewhere("GET /api/v1/archive/instances", PAST),
    everywhere("POST /api/v1/archive/flush", ADMINISTRATION),
    everywhere("POST /api/v1/archive/retention/confirm", ADMINISTRATION),
    somewhere("POST /api/v1/commands", COMMAND),
    somewhere("GET /api/v1/commands", READ_VERBS),
    somewhere("GET /api/v1/test-runs", READ_VERBS),
    everywhere("POST /api/v1/test-runs", RUNS),
    somewhere("GET /api/v1/test-runs/{test_run}", READ_VERBS),
    everywhere("PATCH /api/v1/test-runs/{test_run}", RUNS),
    everywhere("DELETE /api/v1/test-runs/{test_run}", RUNS),
    everywhere("POST /api/v1/test-runs/{test_run}/stop", RUNS),
    somewhere("GET /api/v1/test-runs/{test_run}/comparison", PAST),
    somewhere("GET /api/v1/settings", READ_VERBS),
    somewhere("GET /api/v1/labels", READ_VERBS),
    somewhere("PATCH /api/v1/labels", LABELS),
    somewhere("GET /api/v1/annotations", READ_VERBS),
    somewhere("POST /api/v1/annotations", ANNOTATIONS),
    somewhere("DELETE /api/v1/annotations/{annotation}", ANNOTATIONS),
    somewhere("GET /api/v1/alarms", LIVE),
    somewhere("POST /api/v1/alarms/actions", ALARMS),
    somewhere("GET /api/v1/alarms/events", LIVE),
    somewhere("GET /api/v1/alarms/journal", PAST),
    somewhere("GET /api/v1/alarms/statistics", LIVE),
    somewhere("GET /api/v1/stream.sse", READ_VERBS),
    somewhere("GET /api/v1/samples", READ_VERBS),
    somewhere("GET /api/v1/samples/wait", READ_VERBS),
    somewhere("GET /api/v1/samples/stream", READ_VERBS),
    somewhere("GET /api/v1/samples/events", READ_VERBS),
    somewhere("GET /api/v1/history.arrow", PAST),
    somewhere("GET /api/v1/history.mcap", PAST),
    somewhere("GET /api/v1/history.parquet", PAST),
];

//! Figures of a test run, alone or compared with another one.

use super::{
    archive::{archive, blocking, catalogue_problem},
    test_runs::{TestRunView, number, test_run_problem},
};
use axum::{
    Extension, Json,
    extract::{Path, Query, State, rejection::QueryRejection},
    http::StatusCode,
};
use oasis_access::Verb;
use oasis_archive::Archive;
use oasis_dac::now;
use oasis_doors::Doors;
use oasis_http::{Problem, permissions::Caller};
use oasis_query::Summary;
use oasis_store::{ReadError, TestRun};
use serde::{Deserialize, Serialize};
use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};
use utoipa::{IntoParams, ToSchema};

/// Most instances of one answer: each is read from end to end.
const MAX_INSTANCES: usize = 1_000;

#[derive(Debug, Deserialize, IntoParams)]
pub struct ComparisonQuery {
    /// Number of the test run to compare with.
    with: Option<u64>,
    /// Only instances of this node.
    node: Option<String>,
    /// Only instances with this name.
    instance: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct Comparison {
    test_run: TestRunView,
    /// The other one; null if none was requested.
    with: Option<TestRunView>,
    /// Instances with stored samples in either test run, by name.
    instances: Vec<InstanceComparison>,
    /// Whether more than the 1,000 listed ones exist.
    more: bool,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct InstanceComparison {
    /// Node name.
    node: String,
    /// Instance name.
    instance: String,
    /// In the test run: see docs/reference/http-api.md; null if nothing is stored.
    #[schema(value_type = Option<Object>)]
    summary: Option<Summary>,
    /// In the other one.
    #[schema(value_type = Option<Object>)]
    with: Option<Summary>,
}

/// Figures of a test run for each instance and metric, compared with another one if it is named. Reads all samples of their times, which takes a while.
#[utoipa::path(get, path = "/api/v1/test-runs/{test_run}/comparison", params(("test_run" = u64, Path, description = "its number"), ComparisonQuery),
    responses((status = 200, body = Comparison), (status = 400, body = Problem), (status = 404, body = Problem), (status = 500, body = Problem)))]
pub async fn compare(
    State(doors): State<Doors>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    query: Result<Query<ComparisonQuery>, QueryRejection>,
) -> Result<Json<Comparison>, Problem> {
    let Query(query) = super::understood(query)?;
    let id = number(&id)?;
    let archive = archive(&doors)?.clone();
    let _turn = doors.archived.turn().await;
    let leaving = Leaving::default();
    let has_left = leaving.0.clone();
    let comparison = blocking(move || compared(&archive, &caller, id, &query, &has_left)).await??;
    Ok(Json(comparison))
}

/// Its drop means that the client no longer waits for the answer.
#[derive(Default)]
struct Leaving(Arc<AtomicBool>);

impl Drop for Leaving {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn compared(
    archive: &Archive,
    caller: &Caller,
    id: u64,
    query: &ComparisonQuery,
    has_left: &AtomicBool,
) -> Result<Comparison, Problem> {
    let runs = archive.test_runs();
    let get = |id| runs.get(id).map_err(|error| test_run_problem(&error));
    let run = get(id)?;
    let with = query.with.map(get).transpose()?;
    let history = archive.history();
    let now = now();
    let wanted = |asked: &Option<String>, name: &str| asked.as_deref().is_none_or(|asked| asked == name);
    let mut instances = Vec::new();
    let mut more = false;
    let mut is_known = query.node.is_none() && query.instance.is_none();
    for (node, instance) in history.instances().map_err(|error| read_problem(&error))? {
        // The client no longer waits for an answer that is cut here.
        if has_left.load(Ordering::Relaxed) {
            break;
        }
        let may_read = caller.authorize_instance(Verb::ReadPast, &node, &instance).is_ok();
        if !may_read || !wanted(&query.node, &node) || !wanted(&query.instance, &instance) {
            continue;
        }
        is_known = true;
        let of = |run: &TestRun| {
            oasis_query::summarize(&history, &node, &instance, run.span(now), has_left)
                .map_err(|error| read_problem(&error))
        };
        let (summary, with) = (of(&run)?, with.as_ref().map_or(Ok(None), of)?);
        if summary.is_none() && with.is_none() {
            continue;
        }
        if instances.len() == MAX_INSTANCES {
            more = true;
            break;
        }
        instances.push(InstanceComparison { node, instance, summary, with });
    }
    if !is_known {
        return Err(unknown(query));
    }
    let view = |run| TestRunView::new(run, caller);
    Ok(Comparison { test_run: view(run), with: with.map(view), instances, more })
}

fn unknown(query: &ComparisonQuery) -> Problem {
    let asked = [("node", &query.node), ("instance", &query.instance)];
    let asked: Vec<_> = asked
        .into_iter()
        .filter_map(|(what, name)| name.as_ref().map(|name| format!("{what} {name:?}")))
        .collect();
    let detail = format!(
        "the archive has nothing of {}: GET /api/v1/instances and oasis list have all instances",
        asked.join(", ")
    );
    Problem::new(StatusCode::NOT_FOUND, "unknown_instance", detail)
}

/// The problem of an archive that cannot be read.
fn read_problem(error: &ReadError) -> Problem {
    match error {
        ReadError::Catalogue(error) => catalogue_problem(error),
        ReadError::Io(error) => {
            Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "archive_error", error.to_string())
        }
    }
}

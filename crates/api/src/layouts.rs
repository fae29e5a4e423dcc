//! Layouts of the page, by name.

use crate::{
    Api,
    layout_store::{Expected, LayoutError},
    layout_versions::Version,
    understood,
};
use axum::{
    Extension, Json,
    body::Bytes,
    extract::{Path, Query, State, rejection::QueryRejection},
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
};
use oasis_http::{Problem, permissions::Caller};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::{IntoParams, ToSchema};

#[derive(Debug, Serialize, ToSchema)]
pub struct Layouts {
    /// Whether they outlive the process: "disk" or "memory".
    kept_in: &'static str,
    layouts: Vec<LayoutView>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct LayoutView {
    name: String,
    #[serde(flatten)]
    version: VersionView,
}

/// A version of a layout.
#[derive(Debug, Serialize, ToSchema)]
pub struct VersionView {
    /// 1 for the first of this name, then one more each time it is saved.
    revision: u64,
    /// Size of its JSON.
    bytes: usize,
    /// When it was saved, nanoseconds since 1970-01-01 UTC on the DAC's clock.
    changed: u64,
    /// Principal that saved it, with the address only for callers that may read everything; empty if it was changed as
    /// a file.
    by: String,
}

impl VersionView {
    fn new(version: &Version, caller: &Caller) -> Self {
        let Version { revision, changed, by, json } = version;
        let by = caller.shown_author(by).to_owned();
        Self { revision: *revision, bytes: json.len(), changed: changed.0, by }
    }
}

/// The versions of a layout that are kept.
#[derive(Debug, Serialize, ToSchema)]
pub struct LayoutHistory {
    /// Newest first.
    versions: Vec<VersionView>,
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub struct VersionQuery {
    /// An earlier version; the newest without it.
    revision: Option<u64>,
}

/// All layouts that were saved.
#[utoipa::path(get, path = "/api/v1/layouts", responses((status = 200, body = Layouts)))]
pub async fn list(State(api): State<Api>, Extension(caller): Extension<Caller>) -> Json<Layouts> {
    let view = |(name, version)| LayoutView { name, version: VersionView::new(&version, &caller) };
    let kept_in = if api.layouts.is_on_disk() { "disk" } else { "memory" };
    Json(Layouts { kept_in, layouts: api.layouts.list().into_iter().map(view).collect() })
}

/// A saved layout. `ETag` is its revision.
#[utoipa::path(get, path = "/api/v1/layouts/{name}", params(("name" = String, Path), VersionQuery),
    responses((status = 200, body = Object), (status = 400, body = Problem), (status = 404, body = Problem)))]
pub async fn get(
    State(api): State<Api>,
    Path(name): Path<String>,
    query: Result<Query<VersionQuery>, QueryRejection>,
) -> Result<Response, Problem> {
    let Query(VersionQuery { revision }) = understood(query)?;
    let Some(version) = api.layouts.get(&name, revision) else {
        return Err(match revision {
            Some(revision) if api.layouts.get(&name, None).is_some() => no_version(&name, revision),
            _ => unknown(&name),
        });
    };
    let headers = [(header::CONTENT_TYPE, "application/json".to_owned()), tag(version.revision)];
    Ok((headers, version.json).into_response())
}

/// The versions of a layout that are kept: who saved each, and when.
#[utoipa::path(get, path = "/api/v1/layouts/{name}/versions", params(("name" = String, Path)),
    responses((status = 200, body = LayoutHistory), (status = 404, body = Problem)))]
pub async fn versions(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    Path(name): Path<String>,
) -> Result<Json<LayoutHistory>, Problem> {
    let versions = api.layouts.history(&name).ok_or_else(|| unknown(&name))?;
    let versions = versions.iter().map(|version| VersionView::new(version, &caller)).collect();
    Ok(Json(LayoutHistory { versions }))
}

/// Saves a layout, in place of one with the same name. With `If-Match: "REVISION"` only in place of that revision, with
/// `If-None-Match: *` only if there is none. `ETag` of the answer is the new revision.
#[utoipa::path(put, path = "/api/v1/layouts/{name}", params(("name" = String, Path)), request_body = Object,
    responses((status = 204), (status = 400, body = Problem), (status = 403, body = Problem), (status = 409, body = Problem),
        (status = 412, body = Problem), (status = 413, body = Problem), (status = 422, body = Problem),
        (status = 500, body = Problem)))]
pub async fn put(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    Path(name): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, Problem> {
    admit(&api, &headers)?;
    let expected = expected(&headers)?;
    let (layouts, target, author) = (api.layouts.clone(), name.clone(), caller.author("http"));
    let arguments = json!({"bytes": body.len()});
    let save = async move {
        Ok::<_, Problem>(blocking(move || layouts.put(&name, &body, &author, expected)).await??)
    };
    let revision = api.doors.permissions.recorded(&caller, "layout:save", target, arguments, save).await?;
    Ok((StatusCode::NO_CONTENT, [tag(revision)]).into_response())
}

/// Returns the expectation of `If-Match` and `If-None-Match`.
fn expected(headers: &HeaderMap) -> Result<Expected, Problem> {
    let text = |name| headers.get(name).map(|value| value.to_str().unwrap_or_default());
    match (text(header::IF_MATCH), text(header::IF_NONE_MATCH)) {
        (None, None) => Ok(Expected::Anything),
        (None, Some("*")) => Ok(Expected::Nothing),
        (Some(tag), None) => revision_in(tag).map(Expected::Revision).ok_or_else(bad_condition),
        _ => Err(bad_condition()),
    }
}

fn revision_in(tag: &str) -> Option<u64> {
    tag.strip_prefix('"')?.strip_suffix('"')?.parse().ok()
}

fn bad_condition() -> Problem {
    let detail = "one of If-Match: \"REVISION\" with the ETag of the layout, and If-None-Match: *";
    Problem::new(StatusCode::BAD_REQUEST, "bad_parameter", detail)
}

fn tag(revision: u64) -> (header::HeaderName, String) {
    (header::ETAG, format!("\"{revision}\""))
}

/// Deletes a layout.
#[utoipa::path(delete, path = "/api/v1/layouts/{name}", params(("name" = String, Path)),
    responses((status = 204), (status = 403, body = Problem), (status = 404, body = Problem), (status = 500, body = Problem)))]
pub async fn delete(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    Path(name): Path<String>,
    headers: HeaderMap,
) -> Result<StatusCode, Problem> {
    admit(&api, &headers)?;
    let (layouts, wanted) = (api.layouts.clone(), name.clone());
    let target = name.clone();
    let delete = async move {
        match blocking(move || layouts.delete(&wanted)).await?? {
            true => Ok(StatusCode::NO_CONTENT),
            false => Err(unknown(&name)),
        }
    };
    api.doors.permissions.recorded(&caller, "layout:delete", target, Value::Null, delete).await
}

fn admit(api: &Api, headers: &HeaderMap) -> Result<(), Problem> {
    api.doors.admit(headers, "pages of other sites may not change layouts (doors.allowed_origins)")
}

/// Writes files on a thread that may block.
async fn blocking<T: Send + 'static>(act: impl FnOnce() -> T + Send + 'static) -> Result<T, Problem> {
    tokio::task::spawn_blocking(act)
        .await
        .map_err(|error| Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "layout_storage", error.to_string()))
}

fn unknown(name: &str) -> Problem {
    let detail = format!("no layout is called {name:?}: GET /api/v1/layouts lists them");
    Problem::new(StatusCode::NOT_FOUND, "unknown_layout", detail)
}

fn no_version(name: &str, revision: u64) -> Problem {
    let detail = format!(
        "layout {name:?} has no revision {revision}, or not any more: GET /api/v1/layouts/NAME/versions lists them"
    );
    Problem::new(StatusCode::NOT_FOUND, "unknown_version", detail)
}

impl From<LayoutError> for Problem {
    fn from(error: LayoutError) -> Self {
        let (status, code) = match error {
            LayoutError::BadName(_) => (StatusCode::BAD_REQUEST, "layout_name"),
            LayoutError::TooLarge(..) => (StatusCode::PAYLOAD_TOO_LARGE, "layout_too_large"),
            LayoutError::TooMany(_) => (StatusCode::CONFLICT, "too_many_layouts"),
            LayoutError::Changed(_) => (StatusCode::PRECONDITION_FAILED, "layout_changed"),
            LayoutError::NotAnObject(_) => (StatusCode::UNPROCESSABLE_ENTITY, "bad_request"),
            LayoutError::Storage { .. } => (StatusCode::INTERNAL_SERVER_ERROR, "layout_storage"),
        };
        Self::new(status, code, error.to_string())
    }
}

//! Layouts of the page, by name.

use crate::{Api, layout_store::LayoutError};
use axum::{
    Extension, Json,
    body::Bytes,
    extract::{Path, State},
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
};
use oasis_doors::{Problem, permissions::Caller};
use serde::Serialize;
use serde_json::{Value, json};
use std::time::{SystemTime, UNIX_EPOCH};
use utoipa::ToSchema;

#[derive(Debug, Serialize, ToSchema)]
pub struct Layouts {
    layouts: Vec<LayoutView>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct LayoutView {
    name: String,
    bytes: usize,
    /// Nanoseconds since 1970-01-01 UTC.
    changed: u64,
}

/// All layouts that were saved.
#[utoipa::path(get, path = "/api/v1/layouts", responses((status = 200, body = Layouts)))]
pub async fn list(State(api): State<Api>) -> Json<Layouts> {
    let view = |(name, bytes, changed)| LayoutView { name, bytes, changed: nanoseconds(changed) };
    Json(Layouts { layouts: api.layouts.list().into_iter().map(view).collect() })
}

/// A saved layout.
#[utoipa::path(get, path = "/api/v1/layouts/{name}", params(("name" = String, Path)),
    responses((status = 200, body = Object), (status = 404, body = Problem)))]
pub async fn get(State(api): State<Api>, Path(name): Path<String>) -> Result<Response, Problem> {
    let layout = api.layouts.get(&name).ok_or_else(|| unknown(&name))?;
    Ok(([(header::CONTENT_TYPE, "application/json")], layout.json).into_response())
}

/// Saves a layout, in place of one with the same name.
#[utoipa::path(put, path = "/api/v1/layouts/{name}", params(("name" = String, Path)), request_body = Object,
    responses((status = 204), (status = 400, body = Problem), (status = 403, body = Problem), (status = 409, body = Problem),
        (status = 413, body = Problem), (status = 422, body = Problem), (status = 500, body = Problem)))]
pub async fn put(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    Path(name): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<StatusCode, Problem> {
    admit(&api, &headers)?;
    let (layouts, target) = (api.layouts.clone(), name.clone());
    let arguments = json!({"bytes": body.len()});
    let save = async move { Ok::<_, Problem>(blocking(move || layouts.put(&name, &body)).await??) };
    api.doors.permissions.recorded(&caller, "layout:save", target, arguments, save).await?;
    Ok(StatusCode::NO_CONTENT)
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

impl From<LayoutError> for Problem {
    fn from(error: LayoutError) -> Self {
        let (status, code) = match error {
            LayoutError::BadName(_) => (StatusCode::BAD_REQUEST, "layout_name"),
            LayoutError::TooLarge(..) => (StatusCode::PAYLOAD_TOO_LARGE, "layout_too_large"),
            LayoutError::TooMany(_) => (StatusCode::CONFLICT, "too_many_layouts"),
            LayoutError::NotAnObject(_) => (StatusCode::UNPROCESSABLE_ENTITY, "bad_request"),
            LayoutError::Storage { .. } => (StatusCode::INTERNAL_SERVER_ERROR, "layout_storage"),
        };
        Self::new(status, code, error.to_string())
    }
}

fn nanoseconds(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as u64)
}

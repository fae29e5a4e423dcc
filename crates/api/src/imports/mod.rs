//! Imports of recordings over HTTP, into the archive of the running DAC.
//!
//! A client makes an import, uploads the files of a recording in parts, has it described, and then stored. The bytes of a recording wait in a folder beside the
//! archive. A description and an import take the same code as `oasis import` offline.

mod job;
mod staging;
mod view;

use crate::{
    Api,
    archive::{archive, blocking},
};
use axum::{
    Extension, Json,
    body::{Body, Bytes, to_bytes},
    extract::{Path, Query, State, rejection::QueryRejection},
    http::{HeaderMap, StatusCode},
};
use oasis_http::{Problem, permissions::Caller};
use oasis_recordings::file::Choices;
use serde::{Deserialize, Serialize};
use serde_json::Value;
pub use staging::Imports;
use staging::{Kind, Upload};
use std::sync::Arc;
use utoipa::{IntoParams, ToSchema};
use view::ImportView;

/// Most bytes of a part.
const MAX_PART_BYTES: usize = 8 * 1024 * 1024;
/// The error for a page of another site.
const FOREIGN_IMPORT: &str = "pages of other sites may not import recordings (doors.allowed_origins)";

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewImport {
    /// Name of the file or folder, without a path: 1 to 255 bytes.
    name: String,
    /// Whether it is a folder, such as that of rosbag2. Its files are uploaded one by one.
    #[serde(default)]
    is_folder: bool,
}

#[derive(Debug, Deserialize, IntoParams)]
pub struct PartQuery {
    /// Position of the part in the file: the bytes uploaded so far.
    offset: u64,
    /// Whether the file is a CAN database, which describes the frames of the recording.
    #[serde(default)]
    dbc: bool,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct PartResult {
    /// Bytes of the file uploaded so far.
    bytes: u64,
}

/// Makes an import. It is removed an hour after its last request.
#[utoipa::path(post, path = "/api/v1/imports", request_body = NewImport,
    responses((status = 201, body = ImportView), (status = 403, body = Problem), (status = 404, body = Problem), (status = 422, body = Problem),
        (status = 503, body = Problem), (status = 507, body = Problem)))]
pub async fn create(
    State(api): State<Api>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<(StatusCode, Json<ImportView>), Problem> {
    api.doors.admit(&headers, FOREIGN_IMPORT)?;
    archive(&api.doors)?;
    let NewImport { name, is_folder } = crate::body(&body)?;
    let imports = api.imports.clone();
    let upload = blocking(move || imports.create(name, is_folder)).await??;
    api.imports.remove_when_idle(&upload);
    Ok((StatusCode::CREATED, Json(ImportView::new(&upload))))
}

/// Appends a part to a file of an import: at most 8 MiB.
#[utoipa::path(put, path = "/api/v1/imports/{id}/files/{file}",
    params(("id" = String, Path, description = "of the import"), ("file" = String, Path, description = "name of the file"), PartQuery),
    request_body(content = Vec<u8>, content_type = "application/octet-stream"),
    responses((status = 200, body = PartResult), (status = 400, body = Problem), (status = 403, body = Problem), (status = 404, body = Problem),
        (status = 409, body = Problem), (status = 413, body = Problem), (status = 422, body = Problem), (status = 503, body = Problem),
        (status = 507, body = Problem)))]
pub async fn upload(
    State(api): State<Api>,
    Path((id, file)): Path<(String, String)>,
    query: Result<Query<PartQuery>, QueryRejection>,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<PartResult>, Problem> {
    api.doors.admit(&headers, FOREIGN_IMPORT)?;
    let Query(PartQuery { offset, dbc }) = crate::understood(query)?;
    let min_free = archive(&api.doors)?.min_free_bytes();
    let upload = api.imports.find(&id)?;
    let permit = api.imports.begin_part().await?;
    let length = headers.get("content-length").and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
    if length.is_some_and(|length| length > MAX_PART_BYTES) {
        let detail =
            format!("the part has more than {MAX_PART_BYTES} bytes: upload the file in smaller parts");
        return Err(Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "body", detail));
    }
    let part = to_bytes(body, MAX_PART_BYTES).await.map_err(|_| {
        let detail = "the part is too long, or has not arrived whole and in time: upload a smaller one";
        Problem::new(StatusCode::SERVICE_UNAVAILABLE, "import_part", detail)
    })?;
    let kind = if dbc { Kind::Database } else { Kind::Content };
    let imports = api.imports.clone();
    let bytes = blocking(move || {
        let _permit = permit;
        imports.append(&upload, (kind, &file), (offset, &part), min_free)
    });
    Ok(Json(PartResult { bytes: bytes.await?? }))
}

/// Describes the recording without storing it. `GET` of the import has the description when its `state` is `described`.
#[utoipa::path(post, path = "/api/v1/imports/{id}/describe", params(("id" = String, Path, description = "of the import")), request_body = Object,
    responses((status = 202, body = ImportView), (status = 403, body = Problem), (status = 404, body = Problem), (status = 409, body = Problem),
        (status = 422, body = Problem)))]
pub async fn describe(
    State(api): State<Api>,
    Path(id): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<(StatusCode, Json<ImportView>), Problem> {
    api.doors.admit(&headers, FOREIGN_IMPORT)?;
    let (upload, choices) = begun(&api, &id, &body)?;
    tokio::spawn(job::describe(api.imports.clone(), upload.clone(), choices));
    Ok((StatusCode::ACCEPTED, Json(ImportView::new(&upload))))
}

/// Stores the recording in the archive: all of it, or nothing. `GET` of the import has the result when its `state` is `stored`.
#[utoipa::path(post, path = "/api/v1/imports/{id}/store", params(("id" = String, Path, description = "of the import")), request_body = Object,
    responses((status = 202, body = ImportView), (status = 403, body = Problem), (status = 404, body = Problem), (status = 409, body = Problem),
        (status = 422, body = Problem)))]
pub async fn store(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<(StatusCode, Json<ImportView>), Problem> {
    api.doors.admit(&headers, FOREIGN_IMPORT)?;
    let archive = archive(&api.doors)?.clone();
    let (upload, choices) = begun(&api, &id, &body)?;
    let arguments = serde_json::to_value(&choices).unwrap_or(Value::Null);
    let view = ImportView::new(&upload);
    let (imports, dac) = (api.imports.clone(), api.doors.dac.clone());
    let storing = job::store(imports, archive, dac, upload.clone(), choices);
    let permissions = api.doors.permissions.clone();
    tokio::spawn(async move {
        let target = upload.name.clone();
        let stored = permissions.recorded(&caller, "import", target, arguments, storing).await;
        if let Err(error) = stored {
            upload.fail(&error.to_string());
        }
    });
    Ok((StatusCode::ACCEPTED, Json(view)))
}

/// Marks an import as one that is read now.
fn begun(api: &Api, id: &str, body: &[u8]) -> Result<(Arc<Upload>, Choices), Problem> {
    let choices: Choices = crate::body(body)?;
    // Before the work begins: a mistake is answered at once.
    choices.format().and_then(|_| choices.options(Vec::new())).map_err(|error| {
        Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "bad_request", format!("field {error}"))
    })?;
    let upload = api.imports.find(id)?;
    upload.begin()?;
    Ok((upload, choices))
}

/// State, progress and result of an import.
#[utoipa::path(get, path = "/api/v1/imports/{id}", params(("id" = String, Path, description = "of the import")),
    responses((status = 200, body = ImportView), (status = 403, body = Problem), (status = 404, body = Problem)))]
pub async fn show(State(api): State<Api>, Path(id): Path<String>) -> Result<Json<ImportView>, Problem> {
    Ok(Json(ImportView::new(&*api.imports.find(&id)?)))
}

/// Cancels an import, and removes its files. What it has stored stays.
#[utoipa::path(delete, path = "/api/v1/imports/{id}", params(("id" = String, Path, description = "of the import")),
    responses((status = 204), (status = 403, body = Problem), (status = 404, body = Problem), (status = 409, body = Problem)))]
pub async fn cancel(
    State(api): State<Api>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<StatusCode, Problem> {
    api.doors.admit(&headers, FOREIGN_IMPORT)?;
    let imports = api.imports.clone();
    // Its files are removed.
    blocking(move || imports.cancel(&id)).await??;
    Ok(StatusCode::NO_CONTENT)
}

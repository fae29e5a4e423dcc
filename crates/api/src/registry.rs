//! Changes of the registry, and schemas by their hashes.

use axum::{
    Extension, Json,
    extract::{Path, Query, State, rejection::QueryRejection},
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use oasis_dac::SchemaHash;
use oasis_doors::{
    Doors,
    delta::{self, RegistryDeltaView, RegistryPosition},
};
use oasis_http::{Problem, permissions::Caller};
use oasis_wire::quantity::Epoch;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// A schema never changes: its path names its content.
const FOREVER: &str = "private, max-age=31536000, immutable";

#[derive(Debug, Deserialize, IntoParams)]
pub struct Since {
    /// `position` of the answer before; everything without it.
    resume: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct Changes {
    #[schema(value_type = String)]
    epoch: Epoch,
    #[serde(flatten)]
    delta: RegistryDeltaView,
}

/// Nodes and instances that changed since a position, about 64 KiB at a time.
#[utoipa::path(get, path = "/api/v1/registry", params(Since),
    responses((status = 200, body = Changes), (status = 400, body = Problem)))]
pub async fn changes(
    State(doors): State<Doors>,
    Extension(caller): Extension<Caller>,
    query: Result<Query<Since>, QueryRejection>,
) -> Result<Json<Changes>, Problem> {
    let Query(since) = super::understood(query)?;
    let resume: Option<RegistryPosition> = match since.resume.as_deref().map(str::parse).transpose() {
        Ok(resume) => resume,
        Err(error) => {
            return Err(Problem::new(StatusCode::BAD_REQUEST, "bad_parameter", format!("resume: {error}")));
        }
    };
    let epoch = doors.dac.epoch();
    let cursor = RegistryPosition::in_epoch(resume, epoch);
    let (delta, _) = match caller.sees_everything() {
        true => delta::next(&doors.dac.registry, epoch, cursor),
        false => delta::visible(&doors.dac.registry, epoch, cursor, &caller),
    };
    Ok(Json(Changes { epoch, delta }))
}

/// A schema by the SHA-256 of its JSON.
#[utoipa::path(get, path = "/api/v1/schemas/{hash}", params(("hash" = String, Path, description = "64 hexadecimal digits")),
    responses((status = 200, body = Object), (status = 400, body = Problem), (status = 404, body = Problem)))]
pub async fn schema(
    State(doors): State<Doors>,
    Extension(caller): Extension<Caller>,
    Path(hash): Path<String>,
) -> Result<Response, Problem> {
    let hash: SchemaHash = hash
        .parse()
        .map_err(|error| Problem::new(StatusCode::BAD_REQUEST, "bad_parameter", format!("{error}")))?;
    let found = delta::with_schema(&doors.dac, &caller, hash).ok_or_else(|| {
        let detail = format!("no instance has the schema {hash}: GET /api/v1/registry lists them");
        Problem::new(StatusCode::NOT_FOUND, "unknown_schema", detail)
    })?;
    Ok(([(header::CACHE_CONTROL, FOREVER)], Json(found.probe_type.clone())).into_response())
}

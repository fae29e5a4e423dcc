//! The threads that write to WebSockets: what they do, and how many there are.

use axum::{
    Extension, Json,
    body::Bytes,
    extract::State,
    http::{HeaderMap, StatusCode},
};
use oasis_doors::{Doors, ShardChoice, ShardsView};
use oasis_http::{Problem, permissions::Caller};
use serde::Deserialize;
use serde_json::json;
use utoipa::ToSchema;

/// Refusal of a page of another site that tries to change the number of shards.
const FOREIGN_ORIGIN_DETAIL: &str =
    "pages of other sites may not change the number of shards (doors.allowed_origins)";

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ShardsRequest {
    /// A number from 1 to 256, `0` for one a core, or `"auto"`.
    #[schema(value_type = serde_json::Value)]
    shards: ShardChoice,
}

/// The shards, with the load of each.
#[utoipa::path(get, path = "/api/v1/shards", responses((status = 200, body = ShardsView)))]
pub async fn list(State(doors): State<Doors>) -> Json<ShardsView> {
    Json(doors.shards())
}

/// Changes the number of shards until the DAC restarts. Shards that are too many hand over their connections; none is closed.
#[utoipa::path(put, path = "/api/v1/shards", request_body = ShardsRequest,
    responses((status = 200, body = ShardsView), (status = 403, body = Problem), (status = 422, body = Problem), (status = 503, body = Problem)))]
pub async fn choose(
    State(doors): State<Doors>,
    Extension(caller): Extension<Caller>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Json<ShardsView>, Problem> {
    doors.admit(&headers, FOREIGN_ORIGIN_DETAIL)?;
    let ShardsRequest { shards } = super::body(&body)?;
    let changed = doors.clone();
    let change = async move {
        changed.choose_shards(shards).map_err(|error| {
            let detail = format!("not all shards could be started: {error}");
            Problem::new(StatusCode::SERVICE_UNAVAILABLE, "not_started", detail)
        })
    };
    let arguments = json!({"shards": shards});
    doors.permissions.recorded(&caller, "shards:change", String::new(), arguments, change).await?;
    Ok(Json(doors.shards()))
}

//! Commands over HTTP.

use axum::{
    Json,
    body::Bytes,
    extract::{ConnectInfo, State},
    http::HeaderMap,
};
use oasis_channel::InstanceState;
use oasis_dac::{ProbeRequest, commands::JournalEntry, now};
use oasis_doors::{Doors, Problem};
use serde::{Deserialize, Serialize};
use std::net::SocketAddr;
use utoipa::ToSchema;

#[derive(Debug, Deserialize, ToSchema)]
pub struct CommandRequest {
    /// Node name.
    node: String,
    /// Instance name.
    instance: String,
    /// `{"command": "hertz", "hertz": 10}`, `{"command": "demand", "min": 1, "max": 100}`, `{"command": "deadband", "metric": "temperature", "deadband": 0.5}`, or `demand-off`, `enable`, `disable`, `sample-now`, `trigger`.
    #[serde(flatten)]
    #[schema(value_type = Object)]
    wish: ProbeRequest,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct CommandDone {
    /// `done`
    status: &'static str,
    /// The instance's state after it.
    #[serde(flatten)]
    #[schema(value_type = Object)]
    state: InstanceState,
}

/// Sends a command to a probe and waits until its node has done it.
#[utoipa::path(post, path = "/api/v1/commands", request_body = CommandRequest,
    responses((status = 200, body = CommandDone), (status = 403, body = Problem), (status = 404, body = Problem), (status = 409, body = Problem),
        (status = 422, body = Problem), (status = 503, body = Problem), (status = 504, body = Problem)))]
pub async fn send(
    State(doors): State<Doors>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Json<CommandDone>, Problem> {
    doors.admit(&headers, "pages of other sites may not send commands (doors.allowed_origins)")?;
    let request: CommandRequest = super::body(&body)?;
    let dac = &doors.dac;
    let target = (request.node.as_str(), request.instance.as_str());
    let state =
        dac.commands.execute(&dac.registry, target, request.wish, &format!("http {peer}"), now()).await?;
    Ok(Json(CommandDone { status: "done", state }))
}

#[derive(Debug, Serialize, ToSchema)]
pub struct Journal {
    #[schema(value_type = Vec<Object>)]
    commands: Vec<JournalEntry>,
}

/// The last commands, oldest first: author, time, command, result.
#[utoipa::path(get, path = "/api/v1/commands", responses((status = 200, body = Journal)))]
pub async fn journal(State(doors): State<Doors>) -> Json<Journal> {
    Json(Journal { commands: doors.dac.commands.journal() })
}

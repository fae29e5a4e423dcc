//! Commands over HTTP.

use axum::{Extension, Json, body::Bytes, extract::State, http::HeaderMap};
use oasis_channel::InstanceState;
use oasis_dac::{NamedRequest, commands::JournalEntry};
use oasis_doors::Doors;
use oasis_http::{Problem, permissions::Caller};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

#[derive(Debug, Deserialize, ToSchema)]
pub struct CommandRequest {
    /// Node name.
    node: String,
    /// Instance name.
    instance: String,
    /// A UUID of the client's choice in `uuid`, if it may repeat the command: the node executes it at most once. And `{"command": "hertz", "hertz": 10}`, `{"command": "demand", "min": 1, "max": 100}`, `{"command": "deadband", "metric": "temperature", "deadband": 0.5}`, or `demand-off`, `enable`, `disable`, `sample-now`, `trigger`; `"keep": true` if what it sets is kept for the next runs of the node. `{"command": "reset", "setting": "rate"}` returns to what the program has declared, without `setting` all of it.
    #[serde(flatten)]
    #[schema(value_type = Object)]
    wish: NamedRequest,
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
        (status = 422, body = Problem), (status = 503, body = Problem), (status = 504, body = Problem), (status = 507, body = Problem)))]
pub async fn send(
    State(doors): State<Doors>,
    Extension(caller): Extension<Caller>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Json<CommandDone>, Problem> {
    doors.admit(&headers, "pages of other sites may not send commands (doors.allowed_origins)")?;
    let request: CommandRequest = super::body(&body)?;
    let target = (request.node, request.instance);
    let state = doors.permissions.command(&doors.dac, &caller, "http", target, request.wish).await?;
    Ok(Json(CommandDone { status: "done", state }))
}

#[derive(Debug, Serialize, ToSchema)]
pub struct Journal {
    #[schema(value_type = Vec<Object>)]
    commands: Vec<JournalEntry>,
}

/// The last commands to instances that the caller may see, oldest first: author, time, command, result.
#[utoipa::path(get, path = "/api/v1/commands", responses((status = 200, body = Journal)))]
pub async fn journal(State(doors): State<Doors>, Extension(caller): Extension<Caller>) -> Json<Journal> {
    let mut commands = doors.dac.commands.journal();
    commands.retain(|entry| caller.sees(&entry.node, &entry.instance));
    for entry in &mut commands {
        entry.who = caller.shown_author(&entry.who).to_owned();
    }
    Json(Journal { commands })
}

//! Errors over HTTP: `application/problem+json` (RFC 9457).

use axum::{
    Json,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use oasis_dac::{CommandError, DeriveError};
use serde::Serialize;
use utoipa::ToSchema;

/// The media type of problems.
const MEDIA: &str = "application/problem+json";

/// An error, for programs and for people.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Problem {
    /// `/problems/` and a code of `docs/reference/http-api.md`.
    #[serde(rename = "type")]
    kind: String,
    /// The status in words.
    title: &'static str,
    /// HTTP status.
    status: u16,
    /// The details, and what to do.
    detail: String,
    /// Whether the audit log has it already.
    #[serde(skip)]
    is_recorded: bool,
}

/// Goes with an answer that refuses something which the audit log does not have yet.
#[derive(Debug, Clone)]
pub struct Unrecorded(pub Problem);

impl Problem {
    /// A problem with a documented code.
    pub fn new(status: StatusCode, code: &str, detail: impl Into<String>) -> Self {
        Self {
            kind: format!("/problems/{code}"),
            title: status.canonical_reason().unwrap_or("Error"),
            status: status.as_u16(),
            detail: detail.into(),
            is_recorded: false,
        }
    }

    /// The same, as one that the audit log has already.
    #[must_use]
    pub fn recorded(self) -> Self {
        Self { is_recorded: true, ..self }
    }

    /// Its code.
    pub fn code(&self) -> &str {
        self.kind.strip_prefix("/problems/").unwrap_or(&self.kind)
    }

    /// Whether it has this code.
    pub fn is(&self, code: &str) -> bool {
        self.code() == code
    }
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.detail)
    }
}

impl Problem {
    /// Returns a whole HTTP answer, after which the connection is closed: for clients whose request is not read.
    pub(crate) fn to_http(&self) -> Vec<u8> {
        let body = serde_json::to_string(self).unwrap_or_default();
        let (status, title, length) = (self.status, self.title, body.len());
        format!(
            "HTTP/1.1 {status} {title}\r\ncontent-type: {MEDIA}\r\ncontent-length: {length}\r\n\
             connection: close\r\n\r\n{body}"
        )
        .into_bytes()
    }
}

impl From<CommandError> for Problem {
    fn from(error: CommandError) -> Self {
        let status = match error {
            CommandError::UnknownInstance { .. } => StatusCode::NOT_FOUND,
            CommandError::NodeOffline(_) | CommandError::NodeMoved(_) | CommandError::Refused(_) => {
                StatusCode::CONFLICT
            }
            CommandError::NotKept(_) => StatusCode::INSUFFICIENT_STORAGE,
            CommandError::Busy(_) => StatusCode::SERVICE_UNAVAILABLE,
            CommandError::Timeout(_) | CommandError::Unknown(_) => StatusCode::GATEWAY_TIMEOUT,
        };
        Self::new(status, error.code(), error.to_string())
    }
}

impl From<DeriveError> for Problem {
    fn from(error: DeriveError) -> Self {
        let status = match error {
            DeriveError::TooWide(_) => StatusCode::UNPROCESSABLE_ENTITY,
            DeriveError::TooMany(_) | DeriveError::NoThread(_) => StatusCode::SERVICE_UNAVAILABLE,
        };
        Self::new(status, error.code(), error.to_string())
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut response = (status, Json(&self)).into_response();
        if matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) && !self.is_recorded {
            response.extensions_mut().insert(Unrecorded(self));
        }
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(MEDIA));
        if status == StatusCode::UNAUTHORIZED {
            // RFC 9110 15.5.2
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"oasis\""));
        }
        response
    }
}

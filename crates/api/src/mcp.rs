//! The Model Context Protocol over HTTP: calls become requests to this API, with the rights of the caller.

use crate::Api;
use axum::{
    Extension, Router,
    body::{Body, to_bytes},
    extract::{Request, State},
    http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header, request::Parts},
    response::{IntoResponse, Response},
};
use oasis_http::Problem;
use oasis_mcp::{ApiError, ApiRequest, DacApi, Headers, MAX_MESSAGE_BYTES};
use serde_json::Value;
use std::sync::Arc;
use tokio::sync::Semaphore;
use tower_service::Service as _;

/// Longest answer of the API that a call reads, in bytes.
const MAX_API_ANSWER_BYTES: usize = 10 * 1024 * 1024;
/// Calls at work at once; others wait.
const MAX_CONCURRENT_CALLS: usize = 2;
/// Headers that belong to the body of a request, not to its caller.
const OF_BODY: [HeaderName; 5] = [
    header::CONTENT_LENGTH,
    header::CONTENT_TYPE,
    header::CONTENT_ENCODING,
    header::TRANSFER_ENCODING,
    header::ACCEPT_ENCODING,
];

/// The routes of the API, for calls of the protocol.
#[derive(Debug, Clone)]
pub struct ApiRoutes {
    router: Router,
    calls: Arc<Semaphore>,
}

impl ApiRoutes {
    /// Calls use these routes.
    pub fn new(router: Router) -> Self {
        Self { router, calls: Arc::new(Semaphore::new(MAX_CONCURRENT_CALLS)) }
    }
}

/// Answers a message of the Model Context Protocol. There are no sessions, and no streams of events: `GET` is answered with 405.
#[utoipa::path(post, path = "/mcp", request_body = Object,
    responses((status = 200, body = Object), (status = 202, description = "a notification"), (status = 400, body = Object),
        (status = 403, body = Problem), (status = 404, body = Object), (status = 413, body = Problem)))]
pub async fn answer(
    State(api): State<Api>,
    Extension(routes): Extension<ApiRoutes>,
    request: Request,
) -> Result<Response, Problem> {
    let (parts, body) = request.into_parts();
    api.doors
        .admit(&parts.headers, "pages of other sites may not use this protocol (doors.allowed_origins)")?;
    let too_long = |_| {
        let detail = format!("the message has more than {MAX_MESSAGE_BYTES} bytes, or did not arrive whole");
        Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "body", detail)
    };
    let message = to_bytes(body, MAX_MESSAGE_BYTES).await.map_err(too_long)?;
    let ended = |_| Problem::new(StatusCode::SERVICE_UNAVAILABLE, "ending", "the DAC ends");
    let _call = routes.calls.clone().acquire_owned().await.map_err(ended)?;
    let caller = CallerOfApi { router: routes.router, parts: &parts };
    let header = |name: &str| parts.headers.get(name).and_then(|value| value.to_str().ok());
    let answer = oasis_mcp::answer(&caller, &message, Headers::of(&header)).await;
    let status = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    Ok(match answer.message {
        Some(message) => (status, axum::Json(message)).into_response(),
        None => status.into_response(),
    })
}

/// Sends requests with the credentials and the address of the caller.
struct CallerOfApi<'p> {
    router: Router,
    parts: &'p Parts,
}

impl CallerOfApi<'_> {
    fn request(&self, wanted: ApiRequest) -> Result<Request, ApiError> {
        let query = form_urlencoded::Serializer::new(String::new()).extend_pairs(&wanted.query).finish();
        let uri: Uri = format!("/api/v1{}?{query}", wanted.path)
            .parse()
            .map_err(|error| ApiError(format!("{}: {error}", wanted.path)))?;
        let mut request =
            Request::new(wanted.body.as_ref().map_or_else(Body::empty, |body| body.to_string().into()));
        *request.method_mut() = if wanted.body.is_some() { Method::POST } else { Method::GET };
        *request.uri_mut() = uri;
        *request.headers_mut() = self.headers(wanted.body.is_some());
        *request.extensions_mut() = self.parts.extensions.clone();
        Ok(request)
    }

    fn headers(&self, has_body: bool) -> HeaderMap {
        let mut headers = self.parts.headers.clone();
        for name in OF_BODY {
            headers.remove(name);
        }
        if has_body {
            headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        headers
    }
}

impl DacApi for CallerOfApi<'_> {
    async fn send(&self, request: ApiRequest) -> Result<Value, ApiError> {
        let request = self.request(request)?;
        let Ok(response) = self.router.clone().call(request).await;
        let status = response.status();
        let bytes = to_bytes(response.into_body(), MAX_API_ANSWER_BYTES);
        let bytes = bytes.await.map_err(|_| ApiError("the answer is too long: ask for less".into()))?;
        let document: Value = match bytes.is_empty() {
            true => Value::Null,
            false => serde_json::from_slice(&bytes).map_err(|error| ApiError(error.to_string()))?,
        };
        match (status.is_success(), document["detail"].as_str()) {
            (true, _) => Ok(document),
            (false, Some(detail)) => Err(ApiError(detail.to_owned())),
            (false, None) => Err(ApiError(status.to_string())),
        }
    }
}

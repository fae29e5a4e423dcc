//! Makes the request of a route of a call, and the answer of the call of the route's.

use super::{
    error::CallError,
    message::{encode, read_message},
    status::GrpcStatus,
};
use axum::{
    Router,
    body::{Body, Bytes, to_bytes},
    http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Uri, header, uri::PathAndQuery},
    response::Response,
};
use hyper::body::{Body as HttpBody, Frame};
use std::{
    convert::Infallible,
    pin::Pin,
    task::{Context, Poll},
};
use tower_service::Service;

/// Longest body of a route's answer, in bytes: an export response names one refused item.
const MAX_ANSWER_BYTES: usize = 16 * 1024;
/// Longest name of a method or an encoding in an error, in characters.
const MAX_NAME_CHARS: usize = 100;
/// The media type of calls; Protocol Buffers unless a suffix names another format.
const MEDIA_TYPE: &str = "application/grpc";
const PROTOBUF_MEDIA_TYPE: &str = "application/grpc+proto";
/// The encodings of messages, for clients whose own one is not known.
const ACCEPTED_ENCODINGS: &str = "identity,gzip";
const GRPC_ENCODING: HeaderName = HeaderName::from_static("grpc-encoding");

/// A method, and the route that answers its calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GrpcMethod {
    /// `/PACKAGE.SERVICE/METHOD`
    pub name: &'static str,
    /// The path of a route that takes a POST of the same message.
    pub route: &'static str,
}

/// Whether a request is a call with messages of Protocol Buffers.
pub fn is_call<B>(request: &Request<B>) -> bool {
    let content_type = request.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let media_type = content_type.and_then(|text| text.split(';').next()).map(str::trim);
    let is_grpc = media_type.is_some_and(|media_type| {
        [MEDIA_TYPE, PROTOBUF_MEDIA_TYPE].iter().any(|known| media_type.eq_ignore_ascii_case(known))
    });
    is_grpc && request.method() == Method::POST
}

/// The message of an answer, or the status of a call that its route has refused.
pub type CallAnswer = Result<Bytes, GrpcStatus>;

/// Answers a call by the route of its method.
///
/// # Errors
/// If the call is not one that its route can see.
pub async fn answer(
    mut router: Router,
    methods: &[GrpcMethod],
    request: Request<Body>,
) -> Result<CallAnswer, CallError> {
    let (mut parts, body) = request.into_parts();
    let route = route_of(methods, parts.uri.path())?;
    let encoding = encoding_of(&parts.headers)?;
    let (prefix, content, fault) = read_message(body).await?;
    if prefix.is_compressed && encoding.is_none() {
        return Err(CallError::NoEncoding);
    }
    // The authority stays, because it is checked like the header Host.
    let mut uri = parts.uri.into_parts();
    uri.path_and_query = Some(route);
    parts.uri = Uri::from_parts(uri).unwrap_or_default();
    let headers = &mut parts.headers;
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/x-protobuf"));
    headers.insert(header::CONTENT_LENGTH, HeaderValue::from(prefix.length));
    headers.remove(header::CONTENT_ENCODING);
    if let Some(encoding) = encoding.filter(|_| prefix.is_compressed) {
        headers.insert(header::CONTENT_ENCODING, encoding);
    }
    let answered = router.call(Request::from_parts(parts, content)).await;
    let answer = answered.unwrap_or_else(|never: Infallible| match never {});
    // The route knows only that it could not read the body.
    match fault.get() {
        Some(error) => Err(error),
        None => Ok(message_of(answer).await),
    }
}

fn route_of(methods: &[GrpcMethod], path: &str) -> Result<PathAndQuery, CallError> {
    let method = methods.iter().find(|method| method.name == path);
    let route = method.map(|method| PathAndQuery::from_static(method.route));
    route.ok_or_else(|| CallError::Method(path.chars().take(MAX_NAME_CHARS).collect()))
}

/// Returns the encoding of compressed messages; `None` if there is none.
fn encoding_of(headers: &HeaderMap) -> Result<Option<HeaderValue>, CallError> {
    let Some(encoding) = headers.get(GRPC_ENCODING) else { return Ok(None) };
    match encoding.as_bytes() {
        b"identity" => Ok(None),
        b"gzip" => Ok(Some(encoding.clone())),
        other => {
            let name = String::from_utf8_lossy(other).chars().take(MAX_NAME_CHARS).collect();
            Err(CallError::Encoding(name))
        }
    }
}

/// Returns the message of a route's answer.
///
/// # Errors
/// The status, if the route has refused the request.
async fn message_of(answer: Response) -> CallAnswer {
    let (parts, body) = answer.into_parts();
    let body = to_bytes(body, MAX_ANSWER_BYTES).await.unwrap_or_default();
    let status = GrpcStatus::of_answer(&Response::from_parts(parts, ()), &body);
    if status.is_ok() { Ok(encode(&body)) } else { Err(status) }
}

/// Returns the answer to a call: headers, a message and trailers; or headers alone with the status of a refused call.
pub fn response(answered: CallAnswer) -> Response {
    let mut headers = HeaderMap::new();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(MEDIA_TYPE));
    headers.insert("grpc-accept-encoding", HeaderValue::from_static(ACCEPTED_ENCODINGS));
    let body = match answered {
        Ok(message) => Body::new(AnswerBody { message: Some(message), trailers: Some(GrpcStatus::OK) }),
        Err(status) => {
            status.write(&mut headers);
            Body::empty()
        }
    };
    let mut response = Response::new(body);
    *response.headers_mut() = headers;
    response
}

/// A message, and the trailers after it.
struct AnswerBody {
    message: Option<Bytes>,
    trailers: Option<GrpcStatus>,
}

impl HttpBody for AnswerBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if let Some(message) = self.message.take() {
            return Poll::Ready(Some(Ok(Frame::data(message))));
        }
        Poll::Ready(self.trailers.take().map(|status| {
            let mut trailers = HeaderMap::new();
            status.write(&mut trailers);
            Ok(Frame::trailers(trailers))
        }))
    }
}

#[cfg(test)]
mod tests;

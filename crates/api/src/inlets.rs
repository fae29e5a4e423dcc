//! Requests of programs that speak other protocols: the handler that takes them answers.

use crate::{Api, FOREIGN_WRITE};
use axum::{
    Extension,
    body::Body,
    extract::{Request, State},
    http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header::RETRY_AFTER},
    response::{IntoResponse, Response},
};
use futures_util::StreamExt;
use oasis_access::{Target, Verb};
use oasis_handler::{InletAnswer, InletRequest};
use oasis_http::{Problem, permissions::Caller};
use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Longest body as it is sent, in bytes.
const MAX_BODY_BYTES: usize = 8 * 1024 * 1024;
/// Bytes of all bodies that are held at once; others wait unread, or are refused if they have begun.
const MAX_HELD_BYTES: usize = 64 * 1024 * 1024;
/// Requests that handlers work on at once: each may decompress its body.
const MAX_CONCURRENT_REQUESTS: usize = 2;

/// When a sender may try again, in seconds.
const RETRY_SECONDS: u64 = 1;

/// Permits that bound the memory of requests.
#[derive(Debug, Clone)]
pub struct InletPermits {
    /// A permit a byte of a body.
    bytes: Arc<Semaphore>,
    requests: Arc<Semaphore>,
}

impl Default for InletPermits {
    fn default() -> Self {
        Self {
            bytes: Arc::new(Semaphore::new(MAX_HELD_BYTES)),
            requests: Arc::new(Semaphore::new(MAX_CONCURRENT_REQUESTS)),
        }
    }
}

impl InletPermits {
    /// Reads a body. It takes room as it arrives: one that claims to be long and does not arrive keeps no other away. Only its beginning waits for room:
    /// bodies that wait with what they hold would wait for each other.
    async fn read(
        &self,
        headers: &HeaderMap,
        body: Body,
    ) -> Result<(Vec<u8>, OwnedSemaphorePermit), Problem> {
        // A body without a declared length may have any.
        let declared = value(headers, "content-length").and_then(|length| length.parse().ok());
        let length: usize = declared.unwrap_or(MAX_BODY_BYTES);
        let too_long = || {
            let detail =
                format!("the body has more than {MAX_BODY_BYTES} bytes: send fewer samples at a time");
            Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "body", detail)
        };
        if length > MAX_BODY_BYTES {
            return Err(too_long());
        }
        // A longer body than declared is cut by its declaration; one without is too long, or does not arrive in time.
        let unread = || match declared {
            Some(_) => unavailable("the body has not arrived whole and in time: send it again"),
            None => unavailable("the body has no length, and is too long or late: send it with a length"),
        };
        let (mut bytes, mut held) = (Vec::new(), self.room(0).await?);
        let mut parts = body.into_data_stream();
        while let Some(part) = parts.next().await {
            let part = part.map_err(|_| unread())?;
            if part.len() > length - bytes.len() {
                return Err(unread());
            }
            held.merge(match bytes.is_empty() {
                true => self.room(part.len()).await?,
                false => self.more_room(part.len())?,
            });
            bytes.extend_from_slice(&part);
        }
        Ok((bytes, held))
    }

    /// Waits for room for some bytes.
    async fn room(&self, bytes: usize) -> Result<OwnedSemaphorePermit, Problem> {
        let permits = u32::try_from(bytes).unwrap_or(u32::MAX);
        self.bytes.clone().acquire_many_owned(permits).await.map_err(|_| unavailable("the DAC ends"))
    }

    /// Returns room for some bytes if there is any.
    fn more_room(&self, bytes: usize) -> Result<OwnedSemaphorePermit, Problem> {
        let permits = u32::try_from(bytes).unwrap_or(u32::MAX);
        let detail = "the DAC receives too many bodies at once and has no room for the rest of this one: send it again";
        self.bytes.clone().try_acquire_many_owned(permits).map_err(|_| unavailable(detail))
    }
}

fn unavailable(detail: &str) -> Problem {
    Problem::new(StatusCode::SERVICE_UNAVAILABLE, "inlet", detail)
}

/// Takes samples in another protocol; 404 unless a running handler has the path. Senders may try again after a 503.
pub async fn receive(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    request: Request,
) -> Response {
    let mut answer = forward(api, caller, request).await.unwrap_or_else(IntoResponse::into_response);
    if answer.status() == StatusCode::SERVICE_UNAVAILABLE {
        answer.headers_mut().entry(RETRY_AFTER).or_insert(HeaderValue::from(RETRY_SECONDS));
    }
    answer
}

async fn forward(api: Api, caller: Caller, request: Request) -> Result<Response, Problem> {
    let (parts, body) = request.into_parts();
    api.doors.admit(&parts.headers, FOREIGN_WRITE)?;
    let held = match parts.method {
        Method::GET | Method::HEAD => None,
        _ => Some(api.inlets.read(&parts.headers, body).await?),
    };
    let permit =
        api.inlets.requests.clone().acquire_owned().await.map_err(|_| unavailable("the DAC ends"))?;
    let path = parts.uri.path().to_owned();
    let handlers = api.handlers.clone();
    let answer = tokio::task::spawn_blocking(move || {
        let _permit = permit;
        let body = held.as_ref().map_or(&[][..], |(body, _)| body);
        let may_write_everything = caller.may(Verb::Write, Target::Dac);
        let may_write = |node: &str, instance: &str| {
            may_write_everything || caller.may(Verb::Write, Target::Instance { node, instance })
        };
        handlers.receive(&InletRequest {
            method: parts.method.as_str(),
            path: parts.uri.path(),
            query: parts.uri.query().unwrap_or_default(),
            header: &|name| value(&parts.headers, name),
            body,
            may_write: &may_write,
        })
    });
    let answer = answer
        .await
        .map_err(|error| Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "handler", error.to_string()))?;
    answer.map(response).ok_or_else(|| {
        let detail =
            format!("no running handler takes {path}: enable the one for its protocol in the configuration");
        Problem::new(StatusCode::NOT_FOUND, "no_inlet", detail)
    })
}

fn value<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

fn response(answer: InletAnswer) -> Response {
    let status = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = (status, Body::from(answer.body)).into_response();
    for (name, text) in answer.headers {
        if let Ok(text) = HeaderValue::from_str(&text) {
            response.headers_mut().insert(HeaderName::from_static(name), text);
        }
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::{body::Bytes, http::header::CONTENT_LENGTH};
    use futures_util::{FutureExt, stream};
    use std::convert::Infallible;

    fn with_length(length: usize) -> HeaderMap {
        HeaderMap::from_iter([(CONTENT_LENGTH, HeaderValue::from(length))])
    }

    #[tokio::test]
    async fn bodies_that_do_not_arrive_keep_no_other_away() {
        let (permits, long) = (InletPermits::default(), with_length(MAX_BODY_BYTES));
        let silent = || Body::from_stream(stream::pending::<Result<Bytes, Infallible>>());
        let mut slow: Vec<_> = (0..100).map(|_| Box::pin(permits.read(&long, silent()))).collect();
        assert!(slow.iter_mut().all(|read| read.as_mut().now_or_never().is_none()));
        let (bytes, held) = permits.read(&with_length(3), Body::from("abc")).await.unwrap();
        assert_eq!((&*bytes, held.num_permits()), (&b"abc"[..], 3));
    }

    #[tokio::test]
    async fn bytes_that_are_held_have_a_bound() {
        let (permits, length) = (InletPermits::default(), with_length(MAX_BODY_BYTES));
        let read = || permits.read(&length, Body::from(vec![0; MAX_BODY_BYTES]));
        let mut held = Vec::new();
        for _ in 0..MAX_HELD_BYTES / MAX_BODY_BYTES {
            held.push(read().await.unwrap());
        }
        assert!(read().now_or_never().is_none(), "another body waits");
        held.pop();
        assert_eq!(read().await.unwrap().0.len(), MAX_BODY_BYTES);
    }

    #[tokio::test]
    async fn bodies_that_have_begun_do_not_wait_for_each_other() {
        let (permits, length) = (InletPermits::default(), with_length(MAX_BODY_BYTES));
        let half = || Ok::<_, Infallible>(Bytes::from(vec![0; MAX_BODY_BYTES / 2]));
        let begun = || Body::from_stream(stream::iter([half()]).chain(stream::pending()));
        let slow = MAX_HELD_BYTES / (MAX_BODY_BYTES / 2) - 1;
        let mut slow: Vec<_> = (0..slow).map(|_| Box::pin(permits.read(&length, begun()))).collect();
        assert!(slow.iter_mut().all(|read| read.as_mut().now_or_never().is_none()));
        let whole = Body::from_stream(stream::iter([half(), half()]));
        let refused = permits.read(&length, whole).now_or_never();
        let refused = refused.unwrap().unwrap_err().to_string();
        assert!(refused.contains("send it again"), "{refused}");
        slow.pop();
        let whole = Body::from_stream(stream::iter([half(), half()]));
        assert_eq!(permits.read(&length, whole).await.unwrap().0.len(), MAX_BODY_BYTES);
    }

    #[tokio::test]
    async fn a_body_longer_than_declared_is_refused() {
        let permits = InletPermits::default();
        assert!(permits.read(&with_length(2), Body::from("abc")).await.is_err());
        assert_eq!(permits.bytes.available_permits(), MAX_HELD_BYTES);
    }
}

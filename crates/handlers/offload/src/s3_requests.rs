//! Requests to S3 with the HTTP client of the other handlers, so that the program has one.

use bytes::Bytes;
use futures_util::StreamExt;
use oasis_http_client::{Client, ClientConfig, RequestError};
use object_store::{
    ClientOptions,
    client::{
        HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpResponseBody,
        HttpService,
    },
};
use std::time::Duration;

/// Timeout of a request with its answer.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(60);
/// Longest answer: an object, and the text of an older one that is replaced.
const MAX_ANSWER_BYTES: u64 = 128 << 20;

/// Makes clients.
#[derive(Debug)]
pub struct RequestConnector {
    /// Whether the address has `https`: otherwise no authorities are read.
    pub is_encrypted: bool,
}

/// A client. Its calls block, on the thread of the handler.
#[derive(Debug)]
struct BlockingRequests(Client);

impl HttpConnector for RequestConnector {
    fn connect(&self, _: &ClientOptions) -> object_store::Result<HttpClient> {
        let config = ClientConfig {
            timeout: REQUEST_TIMEOUT,
            max_answer_bytes: MAX_ANSWER_BYTES,
            is_encrypted: self.is_encrypted,
            ..ClientConfig::default()
        };
        let client = Client::new(config)
            .map_err(|error| object_store::Error::Generic { store: "S3", source: Box::new(error) })?;
        Ok(HttpClient::new(BlockingRequests(client)))
    }
}

#[async_trait::async_trait]
impl HttpService for BlockingRequests {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let (head, body) = request.into_parts();
        let mut bytes = Vec::with_capacity(body.content_length());
        let mut chunks = HttpResponseBody::new(body).bytes_stream();
        while let Some(chunk) = chunks.next().await {
            bytes.extend_from_slice(&chunk?);
        }
        let (head, body) = self.0.request(head, bytes).map_err(failed)?;
        Ok(HttpResponse::from_parts(head, HttpResponseBody::from(Bytes::from(body))))
    }
}

fn failed(error: RequestError) -> HttpError {
    HttpError::new(HttpErrorKind::Connect, error)
}

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
use std::{net::Ipv4Addr, time::Duration};

/// Timeout of a request with its answer, without the transfer of a body.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(60);
/// Timeout of a request to the machine's own service of credentials: a stop waits for it.
const CREDENTIALS_TIMEOUT: Duration = Duration::from_secs(2);
/// Slowest transfer of a body that is waited for.
const MIN_BYTES_PER_SECOND: u64 = 128_000;
/// Sizes of bodies up to which requests have a common timeout, in bytes.
const BODY_SIZES: [u64; 4] = [1 << 20, 8 << 20, 24 << 20, 64 << 20];
/// Longest answer: an object, and the text of an older one that is replaced.
const MAX_ANSWER_BYTES: u64 = 128 << 20;

/// Makes clients.
#[derive(Debug)]
pub struct RequestConnector {
    /// Whether the address has `https`: otherwise no authorities are read.
    pub is_encrypted: bool,
}

/// Clients with different timeouts. Their calls block, on the thread of the handler.
#[derive(Debug)]
struct BlockingRequests {
    of_credentials: Client,
    /// By sizes of bodies.
    by_size: Vec<(u64, Client)>,
}

impl HttpConnector for RequestConnector {
    fn connect(&self, _: &ClientOptions) -> object_store::Result<HttpClient> {
        let client = |timeout| {
            let config = ClientConfig {
                timeout,
                max_answer_bytes: MAX_ANSWER_BYTES,
                is_encrypted: self.is_encrypted,
                ..ClientConfig::default()
            };
            Client::new(config)
                .map_err(|error| object_store::Error::Generic { store: "S3", source: Box::new(error) })
        };
        let of_size = |size| Ok((size, client(timeout(size))?));
        let by_size: object_store::Result<_> = BODY_SIZES.into_iter().map(of_size).collect();
        Ok(HttpClient::new(BlockingRequests {
            of_credentials: client(CREDENTIALS_TIMEOUT)?,
            by_size: by_size?,
        }))
    }
}

impl BlockingRequests {
    fn client(&self, request: &HttpRequest) -> &Client {
        if is_of_machine(request.uri().host().unwrap_or_default()) {
            return &self.of_credentials;
        }
        let range = request.headers().get("range").and_then(|range| range.to_str().ok());
        let size = (request.body().content_length() as u64).max(range.map_or(0, range_bytes));
        let fitting = self.by_size.iter().find(|(most, _)| size <= *most).or(self.by_size.last());
        fitting.map_or(&self.of_credentials, |(_, client)| client)
    }
}

#[async_trait::async_trait]
impl HttpService for BlockingRequests {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let client = self.client(&request);
        let (head, body) = request.into_parts();
        let mut bytes = Vec::with_capacity(body.content_length());
        let mut chunks = HttpResponseBody::new(body).bytes_stream();
        while let Some(chunk) = chunks.next().await {
            bytes.extend_from_slice(&chunk?);
        }
        let (head, body) = client.request(head, bytes).map_err(failed)?;
        Ok(HttpResponse::from_parts(head, HttpResponseBody::from(Bytes::from(body))))
    }
}

/// Returns the timeout of a request that sends or receives this many bytes.
fn timeout(bytes: u64) -> Duration {
    REQUEST_TIMEOUT + Duration::from_secs(bytes / MIN_BYTES_PER_SECOND)
}

/// Whether a host is a service of the machine itself, at a link-local address.
fn is_of_machine(host: &str) -> bool {
    host.parse::<Ipv4Addr>().is_ok_and(|address| address.is_link_local()) || host == "[fd00:ec2::254]"
}

/// Returns the bytes of `bytes=FIRST-LAST`.
fn range_bytes(range: &str) -> u64 {
    let numbers = range.strip_prefix("bytes=").and_then(|range| range.split_once('-'));
    let parsed = numbers.and_then(|(first, last)| Some((first.parse().ok()?, last.parse().ok()?)));
    parsed.map_or(0, |(first, last): (u64, u64)| last.saturating_sub(first).saturating_add(1))
}

fn failed(error: RequestError) -> HttpError {
    HttpError::new(HttpErrorKind::Connect, error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_object_has_time_on_a_slow_connection() {
        assert_eq!(timeout(0), Duration::from_secs(60));
        for size in [1, 4 << 20, 40_000_000, 64 << 20] {
            let most = BODY_SIZES.into_iter().find(|most| size <= *most).unwrap();
            assert!(timeout(most) >= Duration::from_secs(size / MIN_BYTES_PER_SECOND), "{size}");
        }
        assert_eq!(range_bytes("bytes=0-41999999"), 42_000_000);
        assert_eq!(range_bytes("bytes=5-"), 0);
    }

    #[test]
    fn services_of_the_machine_have_link_local_addresses() {
        assert!(["169.254.169.254", "169.254.170.2", "[fd00:ec2::254]"].into_iter().all(is_of_machine));
        assert!(
            !["", "127.0.0.1", "s3.eu-central-1.amazonaws.com", "10.0.0.1"].into_iter().any(is_of_machine)
        );
    }
}

//! A client of one server, or of several with the same settings.

use crate::public_address::PublicResolver;
use oasis_tls::{ClientFiles, TlsError};
use std::{path::PathBuf, sync::Arc, time::Duration};
use ureq::{
    Agent,
    http::{HeaderMap, Method, Request, Response, StatusCode, request, response::Parts},
    tls::{Certificate, RootCerts, TlsConfig},
    unversioned::{resolver::DefaultResolver, transport::DefaultConnector},
};

/// Most bytes of the header of an answer.
const MAX_HEADER_BYTES: usize = 16 << 10;
/// Longest pause that an answer may ask for.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(3_600);

/// Targets that requests may have.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Reach {
    /// Anywhere.
    #[default]
    Anywhere,
    /// To addresses of the public internet.
    Public,
}

/// The settings of a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientConfig {
    /// File with the authorities that are trusted; those of the system if it is empty.
    pub ca_file: PathBuf,
    /// Whether any address has `https`: otherwise no authorities are read.
    pub is_encrypted: bool,
    /// Targets that requests may have.
    pub reach: Reach,
    /// Timeout of a request with its answer.
    pub timeout: Duration,
    /// Most bytes of an answer that are read.
    pub max_answer_bytes: u64,
}

impl Default for ClientConfig {
    fn default() -> Self {
        Self {
            ca_file: PathBuf::new(),
            is_encrypted: true,
            reach: Reach::Anywhere,
            timeout: Duration::from_secs(10),
            max_answer_bytes: 4 << 10,
        }
    }
}

/// Why a server has not accepted a request.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct RequestError {
    /// The extent of the failure.
    pub scope: Scope,
    /// Earliest time of the next attempt, as the server asks for it.
    pub retry_after: Option<Duration>,
    /// For people. It can have texts of the server.
    pub why: String,
}

/// An answer of a server, whatever its status is.
#[derive(Debug, Clone)]
pub struct Answer {
    status: StatusCode,
    text: String,
    headers: HeaderMap,
}

impl Answer {
    /// The status of HTTP.
    pub fn status(&self) -> u16 {
        self.status.as_u16()
    }

    /// Returns a header; its name in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// Returns the time after which the server asks for the next attempt.
    pub fn retry_after(&self) -> Option<Duration> {
        retry_after(&self.headers)
    }

    /// Returns why the server has refused, for people.
    pub fn refusal(&self) -> String {
        refusal(self.status, &self.text)
    }
}

/// The extent of a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// The place refuses this message; it would refuse it again.
    Final,
    /// The place cannot take this message at present.
    Message,
    /// The place cannot take any message at present.
    Place,
}

/// A client of one server, or of several with the same settings.
#[derive(Debug)]
pub struct Client {
    agent: Agent,
    max_answer_bytes: u64,
}

impl Client {
    /// Creates a client. Nothing is contacted.
    ///
    /// # Errors
    /// If the authorities cannot be read.
    pub fn new(config: ClientConfig) -> Result<Self, TlsError> {
        let ClientConfig { ca_file, is_encrypted, reach, timeout, max_answer_bytes } = config;
        let ca = (!ca_file.as_os_str().is_empty()).then_some(ca_file);
        let files = ClientFiles { ca, ..ClientFiles::default() };
        let authorities = if is_encrypted { files.authorities()? } else { Vec::new() };
        let authorities = authorities.iter().map(|certificate| Certificate::from_der(certificate).to_owned());
        let roots = RootCerts::Specific(Arc::new(authorities.collect()));
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let tls = TlsConfig::builder().root_certs(roots).unversioned_rustls_crypto_provider(provider).build();
        // A redirection would take the message elsewhere, and a proxy would look up the name itself.
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .proxy(None)
            .user_agent("oasis")
            .max_response_header_size(MAX_HEADER_BYTES)
            .timeout_global(Some(timeout))
            .tls_config(tls)
            .build();
        let connector = DefaultConnector::default();
        let agent = match reach {
            Reach::Anywhere => Agent::with_parts(config, connector, DefaultResolver::default()),
            Reach::Public => Agent::with_parts(config, connector, PublicResolver::default()),
        };
        Ok(Self { agent, max_answer_bytes })
    }

    /// Posts a JSON text. Returns the answer; an empty one if it is too long.
    ///
    /// # Errors
    /// If the answer is not of the class 2xx, or there is none in time.
    pub fn post(&self, url: &str, headers: &[(&str, &str)], body: &[u8]) -> Result<String, RequestError> {
        let mut request = self.agent.post(url).header("content-type", "application/json");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        Ok(answer(request.send(body), self.max_answer_bytes)?.unwrap_or_default())
    }

    /// Posts bytes. Returns the answer, whatever its status is. The headers name the type of the content.
    ///
    /// # Errors
    /// If there is no answer in time.
    pub fn send(&self, url: &str, headers: &[(&str, &str)], body: &[u8]) -> Result<Answer, RequestError> {
        let mut request = self.agent.post(url);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let (head, text) = receive(request.send(body), self.max_answer_bytes)?;
        Ok(Answer { status: head.status, text: text.unwrap_or_default(), headers: head.headers })
    }

    /// Sends a request of any method. Returns the answer with its bytes, whatever its status is.
    ///
    /// # Errors
    /// If there is no answer in time, or it is too long.
    pub fn request(&self, head: request::Parts, body: Vec<u8>) -> Result<(Parts, Vec<u8>), RequestError> {
        let has_body = matches!(head.method, Method::PUT | Method::POST);
        let answer = match has_body {
            true => self.agent.run(Request::from_parts(head, body)),
            false => self.agent.run(Request::from_parts(head, ())),
        };
        let (head, mut body) = answer.map_err(unreachable)?.into_parts();
        let limited = body.with_config().limit(self.max_answer_bytes);
        Ok((head, limited.read_to_vec().map_err(unreachable)?))
    }

    /// Reads bytes. Returns the type of their content too; an empty one if the server names none.
    ///
    /// # Errors
    /// As [`Client::post`].
    pub fn get_bytes(&self, url: &str, headers: &[(&str, &str)]) -> Result<(String, Vec<u8>), RequestError> {
        let mut request = self.agent.get(url);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        content(request.call(), self.max_answer_bytes)
    }

    /// Reads a text.
    ///
    /// # Errors
    /// As [`Client::post`].
    pub fn get(&self, url: &str, headers: &[(&str, &str)]) -> Result<String, RequestError> {
        let mut request = self.agent.get(url);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        answer(request.call(), self.max_answer_bytes)?.map_err(unreachable)
    }
}

/// Returns the type of the content, and the bytes.
fn content(
    answer: Result<Response<ureq::Body>, ureq::Error>,
    max_bytes: u64,
) -> Result<(String, Vec<u8>), RequestError> {
    let found = answer.map_err(unreachable)?;
    if !found.status().is_success() {
        let refused = self::answer(Ok(found), max_bytes)?.map_err(unreachable)?;
        return Ok((String::new(), refused.into_bytes()));
    }
    let (head, mut body) = found.into_parts();
    let content_type = head.headers.get("content-type").and_then(|value| value.to_str().ok());
    let bytes = body.with_config().limit(max_bytes).read_to_vec().map_err(unreachable)?;
    Ok((content_type.unwrap_or_default().to_owned(), bytes))
}

/// Returns the text of an acceptance.
fn answer(
    answer: Result<Response<ureq::Body>, ureq::Error>,
    max_bytes: u64,
) -> Result<Result<String, ureq::Error>, RequestError> {
    let (head, text) = receive(answer, max_bytes)?;
    let status = head.status;
    if status.is_success() {
        return Ok(text);
    }
    let retry_after = retry_after(&head.headers);
    let why = refusal(status, &text.unwrap_or_default());
    Err(RequestError { scope: scope(status, retry_after.is_some()), retry_after, why })
}

/// Returns head and text of an answer.
fn receive(
    answer: Result<Response<ureq::Body>, ureq::Error>,
    max_bytes: u64,
) -> Result<(Parts, Result<String, ureq::Error>), RequestError> {
    let (head, mut body) = answer.map_err(unreachable)?.into_parts();
    // Reading the answer lets the connection be used again; a longer answer ends it.
    let text = body.with_config().limit(max_bytes).lossy_utf8(true).read_to_string();
    Ok((head, text))
}

fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    headers.get("retry-after").and_then(|value| value.to_str().ok()).and_then(pause)
}

fn refusal(status: StatusCode, text: &str) -> String {
    let hint = if status.is_redirection() { " (redirections are not followed)" } else { "" };
    let why = format!("the server answered {status}{hint}: {}", text.trim());
    why.trim_end_matches(": ").to_owned()
}

fn unreachable(error: ureq::Error) -> RequestError {
    RequestError { scope: Scope::Place, retry_after: None, why: error.to_string() }
}

fn scope(status: StatusCode, has_pause: bool) -> Scope {
    match status {
        StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => Scope::Place,
        _ if status.is_server_error() && has_pause => Scope::Place,
        StatusCode::REQUEST_TIMEOUT => Scope::Message,
        _ if status.is_server_error() => Scope::Message,
        _ => Scope::Final,
    }
}

/// RFC 9110 10.2.3: seconds, or a date.
fn pause(value: &str) -> Option<Duration> {
    let value = value.trim();
    if let Ok(seconds) = value.parse::<u64>() {
        return Some(Duration::from_secs(seconds).min(MAX_RETRY_AFTER));
    }
    let date = jiff::fmt::rfc2822::DateTimeParser::new().parse_timestamp(value).ok()?;
    let left = date.duration_since(jiff::Timestamp::now());
    Some(Duration::try_from(left).unwrap_or_default().min(MAX_RETRY_AFTER))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_is_a_number_or_a_date_and_bounded() {
        assert_eq!(pause("7"), Some(Duration::from_secs(7)));
        assert_eq!(pause("999999999999"), Some(MAX_RETRY_AFTER));
        assert_eq!(pause("Wed, 21 Oct 2015 07:28:00 GMT"), Some(Duration::ZERO));
        assert_eq!(pause("Tue, 31 Dec 2199 23:59:59 GMT"), Some(MAX_RETRY_AFTER));
        assert_eq!(pause("-1"), None);
        assert_eq!(pause("soon"), None);
    }

    #[test]
    fn only_an_answer_that_may_change_is_worth_another_attempt() {
        let scope = |code| scope(StatusCode::from_u16(code).unwrap(), false);
        for code in [301, 400, 401, 404, 410, 413, 422] {
            assert_eq!(scope(code), Scope::Final, "{code}");
        }
        for code in [408, 500, 502, 504] {
            assert_eq!(scope(code), Scope::Message, "{code}");
        }
        for code in [429, 503] {
            assert_eq!(scope(code), Scope::Place, "{code}");
        }
    }
}

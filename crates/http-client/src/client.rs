//! Requests to webhooks and Alertmanagers: bounded in size and time, without redirections and proxies.

use crate::{
    destination::{Scope, SendError},
    public_address::PublicResolver,
    setting::TIMEOUT,
};
use oasis_tls::{ClientFiles, TlsError};
use std::{path::Path, sync::Arc, time::Duration};
use ureq::{
    Agent,
    http::{Response, StatusCode},
    tls::{Certificate, RootCerts, TlsConfig},
    unversioned::{resolver::DefaultResolver, transport::DefaultConnector},
};

/// Most bytes of an answer that are read, for the reason of a failure.
const LARGEST_ANSWER: u64 = 4 << 10;
/// Most bytes of the header of an answer.
const LARGEST_HEADER: usize = 16 << 10;
/// Longest pause that an answer may ask for.
const LONGEST_PAUSE: Duration = Duration::from_secs(3_600);

/// Targets that requests may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// Anywhere.
    Anywhere,
    /// To addresses of the public internet.
    Public,
}

/// A client of one server, or of several with the same settings.
#[derive(Debug)]
pub struct Http(Agent);

impl Http {
    /// A client that trusts the authorities of a file, or those of the system if the path is empty.
    ///
    /// # Errors
    /// If the authorities cannot be read.
    pub fn new(ca_file: &Path, is_encrypted: bool, reach: Reach) -> Result<Self, TlsError> {
        let ca = (!ca_file.as_os_str().is_empty()).then(|| ca_file.to_owned());
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
            .max_response_header_size(LARGEST_HEADER)
            .timeout_global(Some(TIMEOUT))
            .tls_config(tls)
            .build();
        let connector = DefaultConnector::default();
        Ok(Self(match reach {
            Reach::Anywhere => Agent::with_parts(config, connector, DefaultResolver::default()),
            Reach::Public => Agent::with_parts(config, connector, PublicResolver::default()),
        }))
    }

    /// Posts a JSON text.
    ///
    /// # Errors
    /// If the answer is not of the class 2xx, or there is none in time.
    pub fn post(&self, url: &str, headers: &[(&str, &str)], body: &[u8]) -> Result<(), SendError> {
        let mut request = self.0.post(url).header("content-type", "application/json");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let answer = request.send(body).map_err(|error| SendError::new(Scope::Place, error.to_string()))?;
        refusal(answer).map_or(Ok(()), Err)
    }
}

/// Meaning of an answer, if it is not an acceptance.
fn refusal(answer: Response<ureq::Body>) -> Option<SendError> {
    let (head, mut body) = answer.into_parts();
    let status = head.status;
    // Reading the answer lets the connection be used again; a longer answer ends it.
    let text = body.with_config().limit(LARGEST_ANSWER).read_to_string().unwrap_or_default();
    if status.is_success() {
        return None;
    }
    let retry_after = head.headers.get("retry-after").and_then(|value| value.to_str().ok()).and_then(pause);
    let scope = scope(status, retry_after.is_some());
    let hint = if status.is_redirection() { " (redirections are not followed)" } else { "" };
    let why = format!("the server answered {status}{hint}: {}", text.trim());
    Some(SendError { retry_after, ..SendError::new(scope, why.trim_end_matches(": ")) })
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
        return Some(Duration::from_secs(seconds).min(LONGEST_PAUSE));
    }
    let date = jiff::fmt::rfc2822::DateTimeParser::new().parse_timestamp(value).ok()?;
    let left = date.duration_since(jiff::Timestamp::now());
    Some(Duration::try_from(left).unwrap_or_default().min(LONGEST_PAUSE))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_is_a_number_or_a_date_and_bounded() {
        assert_eq!(pause("7"), Some(Duration::from_secs(7)));
        assert_eq!(pause("999999999999"), Some(LONGEST_PAUSE));
        assert_eq!(pause("Wed, 21 Oct 2015 07:28:00 GMT"), Some(Duration::ZERO));
        assert_eq!(pause("Tue, 31 Dec 2199 23:59:59 GMT"), Some(LONGEST_PAUSE));
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

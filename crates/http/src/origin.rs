//! Checks which web pages may use the DAC: its own page, and those of configured origins.
//!
//! Browsers send `Origin` and scripts cannot forge it there, so it keeps other sites' pages out of a DAC that their visitor can reach
//! (RFC 6455 10.2). Programs that are not browsers send none and are let through. The own page is one whose origin is the host
//! asked for, if that host may be asked for at all ([`named_host`]).

use crate::{config::HttpConfig, named_host};
use axum::{
    http::{HeaderMap, HeaderName, HeaderValue, Method, header, request::Parts},
    response::Response,
};
use oasis_dac::LogLimit;
use std::time::{Duration, Instant};
use tower_http::{
    cors::{AllowOrigin, CorsLayer},
    set_header::SetResponseHeaderLayer,
};

/// Warnings in one [`PERIOD`]: enough to see which origins or hosts are refused.
const MAX_WARNINGS: u32 = 10;
/// A page that is refused tries again and again, and must not fill the log.
const PERIOD: Duration = Duration::from_secs(60);
/// Time that a browser remembers the rights of a page of an allowed origin.
const PREFLIGHT_MAX_AGE: Duration = Duration::from_secs(600);
/// Bytes of a header that are logged.
const MAX_HEADER_BYTES: usize = 200;

/// Logs refused requests, at most [`MAX_WARNINGS`] in each [`PERIOD`].
#[derive(Debug)]
pub struct RefusalLog {
    /// The refusal and its remedy.
    message: &'static str,
    limit: LogLimit,
}

impl RefusalLog {
    /// A log of refusals with this message.
    pub fn new(message: &'static str) -> Self {
        Self { message, limit: LogLimit::new(MAX_WARNINGS, PERIOD) }
    }

    /// The log of refused origins.
    pub fn of_origins() -> Self {
        Self::new(
            "request refused: its origin is not allowed; add it to doors.allowed_origins if its pages may connect",
        )
    }

    /// Logs a refused request, unless too many were logged already.
    pub fn warn(&self, headers: &HeaderMap, now: Instant) {
        let Some(left_out) = self.limit.admit(now) else { return };
        let text = |name| {
            let value = headers.get(name).map(HeaderValue::as_bytes).unwrap_or_default();
            String::from_utf8_lossy(value.get(..MAX_HEADER_BYTES).unwrap_or(value)).into_owned()
        };
        tracing::warn!(
            origin = ?text(header::ORIGIN), host = ?text(header::HOST), others = left_out.others(), "{}", self.message
        );
    }
}

/// Returns whether the request comes from no page, from our own page or from an allowed one.
pub fn allowed(headers: &HeaderMap, config: &HttpConfig) -> bool {
    // A browser leaves `Origin` out of requests for images, scripts and links.
    let Some(origin) = headers.get(header::ORIGIN) else { return !is_foreign_fetch(headers) };
    let (Ok(origin), Some(Ok(host))) = (origin.to_str(), headers.get(header::HOST).map(|host| host.to_str()))
    else {
        return false;
    };
    let own = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
    own.is_some_and(|own| {
        own.eq_ignore_ascii_case(host) && named_host::is_allowed_authority(host, &config.allowed_hosts)
    }) || config.allowed_origins.iter().any(|allowed| allowed.eq_ignore_ascii_case(origin))
}

/// Lets browsers give answers to pages of allowed origins, and lets these pages use every method of the API (WHATWG Fetch, "CORS protocol").
pub fn sharing(config: &HttpConfig) -> CorsLayer {
    let allowed = config.allowed_origins.clone();
    let is_allowed = move |origin: &HeaderValue, _: &Parts| {
        allowed.iter().any(|allowed| origin.as_bytes().eq_ignore_ascii_case(allowed.as_bytes()))
    };
    CorsLayer::new()
        .allow_origin(AllowOrigin::predicate(is_allowed))
        .allow_methods([Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE])
        .allow_headers([header::CONTENT_TYPE, header::AUTHORIZATION])
        .max_age(PREFLIGHT_MAX_AGE)
}

/// Lets these pages also see when the parts of an answer arrived (W3C Resource Timing, `Timing-Allow-Origin`); around [`sharing`].
pub fn timing() -> SetResponseHeaderLayer<fn(&Response) -> Option<HeaderValue>> {
    let shared_with =
        |response: &Response| response.headers().get(header::ACCESS_CONTROL_ALLOW_ORIGIN).cloned();
    SetResponseHeaderLayer::overriding(HeaderName::from_static("timing-allow-origin"), shared_with)
}

/// Returns whether a browser says that another site's page has caused the request (W3C Fetch Metadata).
pub fn is_foreign_fetch(headers: &HeaderMap) -> bool {
    let site = headers.get("sec-fetch-site").map(HeaderValue::as_bytes);
    matches!(site, Some(b"cross-site" | b"same-site"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{
        io::{self, Write},
        sync::{Arc, Mutex},
    };

    fn verdict(origin: Option<&str>, host: &str) -> bool {
        let config =
            HttpConfig { allowed_origins: vec!["https://ops.example.org".into()], ..Default::default() };
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, host.parse().unwrap());
        if let Some(origin) = origin {
            headers.insert(header::ORIGIN, origin.parse().unwrap());
        }
        allowed(&headers, &config)
    }

    #[test]
    fn only_the_own_page_and_named_ones_get_in() {
        assert!(verdict(None, "127.0.0.1:7070"));
        assert!(verdict(Some("http://127.0.0.1:7070"), "127.0.0.1:7070"));
        assert!(verdict(Some("https://ops.example.org"), "127.0.0.1:7070"));
        assert!(!verdict(Some("http://127.0.0.1:8080"), "127.0.0.1:7070"));
        assert!(!verdict(Some("http://evil.example"), "127.0.0.1:7070"));
        assert!(!verdict(Some("null"), "127.0.0.1:7070"));
        assert!(verdict(Some("http://[::1]:7070"), "[::1]:7070"));
        assert!(verdict(Some("http://localhost:7070"), "localhost:7070"));
        assert!(!verdict(Some("http://rebound.example:7070"), "rebound.example:7070"));
    }

    #[test]
    fn a_request_that_another_sites_page_has_caused_is_refused_without_an_origin_too() {
        let caused_by = |site: &str| {
            let headers = HeaderMap::from_iter([("sec-fetch-site".parse().unwrap(), site.parse().unwrap())]);
            allowed(&headers, &HttpConfig::default())
        };
        assert!(!caused_by("cross-site") && !caused_by("same-site"));
        assert!(caused_by("same-origin") && caused_by("none"));
    }

    /// Everything logged while `work` runs.
    fn logged(work: impl FnOnce()) -> String {
        #[derive(Clone, Default)]
        struct Lines(Arc<Mutex<Vec<u8>>>);
        impl Write for Lines {
            fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                self.0.lock().unwrap().extend_from_slice(bytes);
                Ok(bytes.len())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let lines = Lines::default();
        let writer = lines.clone();
        let subscriber =
            tracing_subscriber::fmt().with_ansi(false).with_writer(move || writer.clone()).finish();
        tracing::subscriber::with_default(subscriber, work);
        let bytes = lines.0.lock().unwrap().clone();
        String::from_utf8(bytes).unwrap()
    }

    fn headers(origin: &str) -> HeaderMap {
        let pairs = [(header::ORIGIN, origin), (header::HOST, "127.0.0.1:7070")];
        pairs.into_iter().map(|(name, value)| (name, value.parse().unwrap())).collect()
    }

    #[test]
    fn a_refused_origin_is_logged_with_the_setting_that_allows_it() {
        let origins = RefusalLog::of_origins();
        let log = logged(|| origins.warn(&headers("http://evil.example"), Instant::now()));
        for words in ["WARN", "http://evil.example", "127.0.0.1:7070", "doors.allowed_origins"] {
            assert!(log.contains(words), "{words}: {log}");
        }
    }

    #[test]
    fn a_page_that_tries_again_and_again_cannot_flood_the_log() {
        let (origins, start) = (RefusalLog::of_origins(), Instant::now());
        let first = logged(|| (0..1_000).for_each(|_| origins.warn(&headers("http://evil.example"), start)));
        assert_eq!(first.lines().count(), MAX_WARNINGS as usize);
        let later = logged(|| origins.warn(&headers("http://evil.example"), start + PERIOD));
        assert!(later.contains("others=990"), "{later}");
        let long = logged(|| origins.warn(&headers(&"x".repeat(10_000)), start + PERIOD));
        assert!(long.len() < 1_000, "{}", long.len());
    }
}

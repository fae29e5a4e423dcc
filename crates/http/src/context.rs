//! State that all requests share.

use crate::{
    HttpConfig, Problem, host,
    origin::{self, RefusalLog},
    permissions::Permissions,
    rate_limits::RateLimits,
};
use axum::http::{HeaderMap, StatusCode};
use oasis_dac::Admission;
use oasis_tls::ServerTls;
use std::{sync::Arc, time::Instant};

/// State that all requests share.
#[derive(Debug, Clone)]
pub struct HttpContext {
    /// Bounds.
    pub config: Arc<HttpConfig>,
    /// Counts refused clients.
    pub admission: Arc<Admission>,
    /// Permissions of all callers.
    pub permissions: Arc<Permissions>,
    /// Rates of requests that each of them may send.
    pub(crate) limits: Arc<RateLimits>,
    pub(crate) tls: Option<Arc<ServerTls>>,
    refused_origins: Arc<RefusalLog>,
    pub(crate) refused_hosts: Arc<RefusalLog>,
}

impl HttpContext {
    /// Creates the state of a server without TLS.
    pub fn new(config: HttpConfig, admission: Arc<Admission>, permissions: Arc<Permissions>) -> Self {
        Self {
            limits: Arc::new(RateLimits::new(&config)),
            config: Arc::new(config),
            admission,
            permissions,
            tls: None,
            refused_origins: Arc::new(RefusalLog::of_origins()),
            refused_hosts: Arc::new(host::refusal_log()),
        }
    }

    /// Serves HTTPS and WSS with these certificates, and nothing else.
    #[must_use]
    pub fn with_tls(self, tls: Option<Arc<ServerTls>>) -> Self {
        Self { tls, ..self }
    }

    /// Whether clients need TLS.
    pub fn is_encrypted(&self) -> bool {
        self.tls.is_some()
    }

    /// Requests that were refused lately because their principal sent too many.
    pub fn limited_lately(&self) -> Option<u64> {
        self.limits.refused_lately()
    }

    /// Admits programs, the own page and allowed origins; logs and counts the others.
    ///
    /// # Errors
    /// Status 403 with `detail`.
    pub fn admit(&self, headers: &HeaderMap, detail: &str) -> Result<(), Problem> {
        if origin::allowed(headers, &self.config) {
            return Ok(());
        }
        self.admission.count_refused("origin");
        self.refused_origins.warn(headers, Instant::now());
        Err(Problem::new(StatusCode::FORBIDDEN, "origin", detail))
    }
}

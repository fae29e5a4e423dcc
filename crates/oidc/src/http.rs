//! Requests to the provider: one at a time, bounded in size and time, without redirections.

use oasis_tls::{ClientFiles, TlsError};
use openidconnect::{HttpRequest, HttpResponse};
use std::{sync::Arc, time::Duration};
use ureq::{
    Agent,
    http::Response,
    tls::{Certificate, RootCerts, TlsConfig},
};

/// Timeout of a request.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);
/// Most bytes of an answer: keys and metadata of large providers take less.
const MAX_RESPONSE_BYTES: u64 = 256 << 10;

/// A client of the provider.
#[derive(Debug)]
pub struct Http(Agent);

impl Http {
    /// # Errors
    /// If the authorities cannot be read.
    pub fn new(files: &ClientFiles) -> Result<Self, TlsError> {
        let authorities = files.authorities()?;
        let authorities = authorities.iter().map(|certificate| Certificate::from_der(certificate).to_owned());
        let roots = RootCerts::Specific(Arc::new(authorities.collect()));
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let tls = TlsConfig::builder().root_certs(roots).unversioned_rustls_crypto_provider(provider).build();
        // A redirection would send the secret elsewhere.
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .timeout_global(Some(REQUEST_TIMEOUT))
            .tls_config(tls);
        Ok(Self(config.build().into()))
    }

    /// Sends a request.
    ///
    /// # Errors
    /// If there is no answer in time, or it is too large.
    pub fn call(&self, request: HttpRequest) -> Result<HttpResponse, ureq::Error> {
        let (head, mut body) = self.0.run(request)?.into_parts();
        let bytes = body.with_config().limit(MAX_RESPONSE_BYTES).read_to_vec()?;
        Ok(Response::from_parts(head, bytes))
    }
}

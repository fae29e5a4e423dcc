//! The section `[otlp_export]` of the configuration file.

use crate::{export::REQUEST_TIMEOUT, json::shortened};
use oasis_http_client::{BadServer, Server, parse_url, visible_url};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The settings of the handler.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct OtlpExportConfig {
    /// Address of the collector, without `/v1/metrics`; empty: nothing is sent.
    pub endpoint: String,
    /// Instances whose newest values are sent, as `NODE/INSTANCE`; a `*` stands for any text.
    pub instances: Vec<String>,
    /// Seconds between two requests.
    pub interval_seconds: u64,
    /// Most series of an interval. Further values are omitted and counted.
    pub max_series: usize,
    /// File with a token for the header `Authorization`; empty: none.
    pub token_file: PathBuf,
    /// File with the CA of the collector; empty: those that the system trusts.
    pub ca_file: PathBuf,
}

impl Default for OtlpExportConfig {
    fn default() -> Self {
        Self {
            endpoint: String::new(),
            instances: vec!["rules/*".into()],
            interval_seconds: 10,
            max_series: 20_000,
            token_file: PathBuf::new(),
            ca_file: PathBuf::new(),
        }
    }
}

/// A section that cannot work.
#[derive(Debug, thiserror::Error)]
pub enum BadConfig {
    /// The address is none.
    #[error(
        "otlp_export.endpoint: {0:?} is no address such as http://127.0.0.1:4318, without user and password; a token belongs into otlp_export.token_file"
    )]
    Endpoint(String),
    /// A pattern that can match no instance.
    #[error(
        "otlp_export.instances: {0:?} matches no instance: write NODE/INSTANCE, such as \"{0}/*\" or \"*/{0}\""
    )]
    Pattern(String),
    /// No interval.
    #[error("otlp_export.interval_seconds is 0: write 1 or more")]
    Interval,
    /// The collector cannot be used with these files.
    #[error("otlp_export.{0}")]
    Server(#[from] BadServer),
}

/// The collector.
#[derive(Debug)]
pub struct Target(Server);

impl Target {
    /// Checks the section. Nothing is contacted.
    ///
    /// # Errors
    /// If the section cannot work.
    pub fn new(config: &OtlpExportConfig) -> Result<Self, BadConfig> {
        if let Some(bad) = config.instances.iter().find(|pattern| !pattern.contains(['/', '*'])) {
            return Err(BadConfig::Pattern(bad.clone()));
        }
        if config.interval_seconds == 0 {
            return Err(BadConfig::Interval);
        }
        let endpoint = &config.endpoint;
        let has_no_query = parse_url(endpoint).is_ok_and(|uri| uri.query().is_none());
        let uri = parse_url(&format!("{}/v1/metrics", endpoint.trim_end_matches('/')));
        let Some(uri) = uri.ok().filter(|_| has_no_query) else {
            return Err(BadConfig::Endpoint(visible_url(endpoint).to_owned()));
        };
        Ok(Self(Server::new(&uri, &config.token_file, &config.ca_file, REQUEST_TIMEOUT)?))
    }

    /// Posts a request. Returns the answer.
    ///
    /// # Errors
    /// If the collector has not taken it; the text is for people.
    pub fn post(&self, request: &[u8]) -> Result<String, String> {
        self.0.post(request).map_err(|error| shortened(&error.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(endpoint: &str) -> String {
        let config = OtlpExportConfig { endpoint: endpoint.into(), ..OtlpExportConfig::default() };
        Target::new(&config).err().map(|error| error.to_string()).unwrap_or_default()
    }

    #[test]
    fn an_address_is_checked_before_anything_is_sent() {
        for good in ["http://127.0.0.1:4318", "http://collector/", "http://[::1]:4318/otlp"] {
            assert_eq!(refused(good), "", "{good}");
        }
        for bad in ["127.0.0.1:4318", "grpc://x", "http://", "http://:4318", "http://a b", "http://a?b"] {
            assert!(refused(bad).starts_with("otlp_export.endpoint"), "{bad}");
        }
        let with_password = refused("https://ada:hush@collector");
        assert!(with_password.contains("token_file") && !with_password.contains("hush"), "{with_password}");
    }
}

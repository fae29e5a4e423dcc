//! The section `[remote_write]` of the configuration file.

use oasis_http_client::{Answer, RequestError};
use oasis_http_client::{BadServer, Server, parse_url, visible_url};
use serde::{Deserialize, Serialize};
use std::{path::PathBuf, time::Duration};

/// Timeout of a request.
pub const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);

/// A version of the protocol.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum RemoteWriteVersion {
    /// `prometheus.WriteRequest`
    #[default]
    #[serde(rename = "1.0")]
    V1,
    /// `io.prometheus.write.v2.Request`
    #[serde(rename = "2.0")]
    V2,
}

/// The settings of the handler.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RemoteWriteConfig {
    /// Address of the server, with its path; empty: nothing is sent.
    pub url: String,
    /// The version of the protocol.
    pub version: RemoteWriteVersion,
    /// Instances whose samples are sent, as `NODE/INSTANCE`; a `*` stands for any text.
    pub instances: Vec<String>,
    /// Seconds between two requests if there are few samples.
    pub interval_seconds: u64,
    /// Whether the number of each sample is a series as well.
    pub sequence: bool,
    /// Most instances. Further ones are not sent, and counted.
    pub max_instances: usize,
    /// File with the positions, so that a restart of the DAC neither repeats nor skips samples; empty: none.
    pub state_file: PathBuf,
    /// File with a token for the header `Authorization`; empty: none.
    pub token_file: PathBuf,
    /// File with the CA of the server; empty: those that the system trusts.
    pub ca_file: PathBuf,
}

impl Default for RemoteWriteConfig {
    fn default() -> Self {
        Self {
            url: String::new(),
            version: RemoteWriteVersion::V1,
            instances: vec!["*".into()],
            interval_seconds: 1,
            sequence: true,
            max_instances: 20_000,
            state_file: PathBuf::new(),
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
        "remote_write.url: {0:?} is no address such as http://127.0.0.1:9090/api/v1/write, without user and password; a token belongs into remote_write.token_file"
    )]
    Url(String),
    /// A pattern that can match no instance.
    #[error(
        "remote_write.instances: {0:?} matches no instance: write NODE/INSTANCE, such as \"{0}/*\" or \"*/{0}\""
    )]
    Pattern(String),
    /// Nothing could be sent.
    #[error("remote_write.{0} is 0: write 1 or more")]
    Zero(&'static str),
    /// The server cannot be used with these files.
    #[error("remote_write.{0}")]
    Server(#[from] BadServer),
}

/// The server that takes the samples.
#[derive(Debug)]
pub struct Receiver(Server);

impl Receiver {
    /// Checks the section. Nothing is contacted.
    ///
    /// # Errors
    /// If the section cannot work.
    pub fn new(config: &RemoteWriteConfig) -> Result<Self, BadConfig> {
        if let Some(bad) = config.instances.iter().find(|pattern| !pattern.contains(['/', '*'])) {
            return Err(BadConfig::Pattern(bad.clone()));
        }
        if config.interval_seconds == 0 {
            return Err(BadConfig::Zero("interval_seconds"));
        }
        if config.max_instances == 0 {
            return Err(BadConfig::Zero("max_instances"));
        }
        let Ok(uri) = parse_url(&config.url) else {
            return Err(BadConfig::Url(visible_url(&config.url).to_owned()));
        };
        Ok(Self(Server::new(&uri, &config.token_file, &config.ca_file, REQUEST_TIMEOUT)?))
    }

    /// Posts a compressed message.
    ///
    /// # Errors
    /// If there is no answer in time.
    pub fn post(&self, version: RemoteWriteVersion, body: &[u8]) -> Result<Answer, RequestError> {
        let (content_type, number) = match version {
            RemoteWriteVersion::V1 => ("application/x-protobuf", "0.1.0"),
            RemoteWriteVersion::V2 => {
                ("application/x-protobuf;proto=io.prometheus.write.v2.Request", "2.0.0")
            }
        };
        let headers = [
            ("content-type", content_type),
            ("content-encoding", "snappy"),
            ("x-prometheus-remote-write-version", number),
        ];
        self.0.send(&headers, body)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(config: RemoteWriteConfig) -> String {
        Receiver::new(&config).err().map(|error| error.to_string()).unwrap_or_default()
    }

    #[test]
    fn a_section_is_checked_before_anything_is_sent() {
        let at = |url: &str| RemoteWriteConfig { url: url.into(), ..RemoteWriteConfig::default() };
        for good in ["http://127.0.0.1:9090/api/v1/write", "https://mimir/api/v1/push?tenant=a"] {
            assert_eq!(refused(at(good)), "", "{good}");
        }
        for bad in ["127.0.0.1:9090", "grpc://x", "http://", "http://a b"] {
            assert!(refused(at(bad)).starts_with("remote_write.url"), "{bad}");
        }
        let with_password = refused(at("https://ada:hush@prometheus/api/v1/write"));
        assert!(with_password.contains("token_file") && !with_password.contains("hush"), "{with_password}");
        let pattern = RemoteWriteConfig { instances: vec!["pump".into()], ..at("http://x/") };
        assert!(refused(pattern).contains("\"*/pump\""));
        assert!(
            refused(RemoteWriteConfig { interval_seconds: 0, ..at("http://x/") })
                .contains("interval_seconds")
        );
    }

    #[test]
    fn versions_are_texts() {
        let version = |text: &str| serde_json::from_str::<RemoteWriteVersion>(text);
        assert_eq!(version("\"2.0\"").unwrap(), RemoteWriteVersion::V2);
        assert!(version("\"3.0\"").is_err());
    }
}

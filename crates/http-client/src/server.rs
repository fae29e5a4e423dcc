//! A server with the token that it wants.

use crate::{
    Answer, BadSecretFile, Client, ClientConfig, RequestError, Secret, Uri, is_encrypted, is_loopback,
};
use std::{path::Path, time::Duration};

/// A server that the configuration names.
#[derive(Debug)]
pub struct Server {
    client: Client,
    url: String,
    authorization: Option<Secret>,
}

/// Why a server cannot be used. A text begins with the setting.
#[derive(Debug, thiserror::Error)]
pub enum BadServer {
    /// Every host on the way could read the token.
    #[error("token_file: a token needs https://, except on this host")]
    PlainToken,
    /// The token cannot be read.
    #[error("token_file: {0}")]
    Token(#[from] BadSecretFile),
    /// The authorities cannot be read.
    #[error("ca_file: {0}")]
    Authorities(String),
}

impl Server {
    /// Creates a server at an address. Nothing is contacted. A file whose path is empty is none: no token, and the authorities of the system.
    ///
    /// # Errors
    /// If a file cannot be read, or the token would not be encrypted.
    pub fn new(uri: &Uri, token_file: &Path, ca_file: &Path, timeout: Duration) -> Result<Self, BadServer> {
        let authorization = Secret::read(token_file)?;
        if authorization.is_some() && !is_encrypted(uri) && !is_loopback(uri) {
            return Err(BadServer::PlainToken);
        }
        let client = Client::new(ClientConfig {
            ca_file: ca_file.to_owned(),
            is_encrypted: is_encrypted(uri),
            timeout,
            ..ClientConfig::default()
        });
        let client = client.map_err(|error| BadServer::Authorities(error.to_string()))?;
        Ok(Self { client, url: uri.to_string(), authorization })
    }

    /// Posts a message with the token. Returns the answer, whatever its status is.
    ///
    /// # Errors
    /// If there is no answer in time.
    pub fn send(&self, headers: &[(&str, &str)], body: &[u8]) -> Result<Answer, RequestError> {
        let authorization = self.authorization();
        let authorization = authorization.iter().map(|value| ("authorization", value.as_str()));
        let headers: Vec<_> = headers.iter().copied().chain(authorization).collect();
        self.client.send(&self.url, &headers, body)
    }

    /// Posts a JSON text with the token. Returns the answer.
    ///
    /// # Errors
    /// As [`Client::post`].
    pub fn post(&self, body: &[u8]) -> Result<String, RequestError> {
        let authorization = self.authorization();
        let headers: Vec<_> = authorization.iter().map(|value| ("authorization", value.as_str())).collect();
        self.client.post(&self.url, &headers, body)
    }

    fn authorization(&self) -> Option<String> {
        self.authorization.as_ref().map(|token| format!("Bearer {}", token.reveal()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse_url;
    use std::{fs, os::unix::fs::PermissionsExt};

    #[test]
    fn a_token_goes_to_this_host_or_is_encrypted() {
        let folder = tempfile::tempdir().unwrap();
        let token = folder.path().join("token");
        fs::write(&token, "oasis_x\n").unwrap();
        let refused = |url: &str, token: &Path| {
            let server = Server::new(&parse_url(url).unwrap(), token, Path::new(""), Duration::from_secs(1));
            server.err().map(|error| error.to_string()).unwrap_or_default()
        };
        fs::set_permissions(&token, fs::Permissions::from_mode(0o644)).unwrap();
        assert!(refused("http://127.0.0.1:1", &token).starts_with("token_file: cannot use"));
        fs::set_permissions(&token, fs::Permissions::from_mode(0o600)).unwrap();
        assert_eq!(refused("http://127.0.0.1:1", &token), "");
        assert!(refused("http://10.0.0.1", &token).contains("https://"));
        assert_eq!(refused("http://10.0.0.1", Path::new("")), "");
    }
}

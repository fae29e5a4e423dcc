//! The way to an upstream, and its messages.

use crate::{api, client::Client};
use anyhow::{Context, anyhow};
use oasis_client::{Api, Server, token};
use oasis_relay::Message;
use serde_json::Value;
use std::{
    path::{Path, PathBuf},
    time::Duration,
};
use tokio::time::timeout;

/// Time to connect.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);
/// Time for an answer over HTTP.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(5);

/// Server and token of a connection.
#[derive(Debug, Clone)]
pub struct UpstreamServer {
    server: Server,
    token_file: Option<PathBuf>,
}

impl UpstreamServer {
    /// The way to a server, with the token of a file.
    pub fn new(server: &Server, token_file: Option<&Path>) -> Self {
        Self { server: server.clone(), token_file: token_file.map(Path::to_owned) }
    }

    /// Connects.
    pub async fn connect(&self) -> anyhow::Result<Client> {
        let token = self.token_file.as_deref().map(token::from_file).transpose()?;
        let connecting = timeout(CONNECT_TIMEOUT, Client::connect_as(&self.server, token));
        connecting.await.map_err(|_| anyhow!("no answer within {} s", CONNECT_TIMEOUT.as_secs()))?
    }

    /// The HTTP API there.
    pub fn api(&self) -> anyhow::Result<Api> {
        self.api_within(RESPONSE_TIMEOUT)
    }

    /// The same, for requests that end after this time.
    pub fn api_within(&self, time: Duration) -> anyhow::Result<Api> {
        let token = self.token_file.as_deref().map(token::from_file).transpose()?;
        Ok(api::within(&self.server, Some(time))?.with_authorization(token))
    }
}

/// Reads a message of an upstream.
///
/// # Errors
/// If it is none.
pub fn understood(message: Value) -> anyhow::Result<Message> {
    serde_json::from_value(message).context("the upstream sent what is no message of oasis.v1")
}

//! The address of OTLP alone, if the configuration has one.

use super::sockets::{another, listen};
use crate::{config::Config, live::encryption};
use oasis_api::Api;
use oasis_health::Health;
use oasis_site::revive::revive;
use std::{net::TcpListener, sync::Arc};
use tokio::sync::watch;

/// The listener, until the API is there.
pub struct OtlpListener(Option<(TcpListener, String)>);

impl OtlpListener {
    /// Listens at the configured address, if there is one.
    pub async fn open(config: &Config, is_encrypted: bool) -> anyhow::Result<Self> {
        if !config.otlp.enabled || config.otlp.listen.is_empty() {
            return Ok(Self(None));
        }
        let listener = listen(&config.otlp.listen, "OTLP", "otlp.listen").await?;
        let address = listener.local_addr()?;
        encryption::check(address, "OTLP", is_encrypted, config.insecure)?;
        Ok(Self(Some((listener.into_std()?, address.to_string()))))
    }

    /// Serves the paths of OTLP there. Returns the address.
    pub fn serve(self, health: &Health, api: &Api, ended: &watch::Receiver<bool>) -> Option<String> {
        let (listener, address) = self.0?;
        let (listener, health, api, ended) = (Arc::new(listener), health.clone(), api.clone(), ended.clone());
        tokio::spawn(revive(health, "OTLP listener", move || {
            let (api, listener, mut ended) = (api.clone(), listener.clone(), ended.clone());
            let ended = async move {
                let _ = ended.wait_for(|&ended| ended).await;
            };
            async move { oasis_api::serve_otlp(api, another(&listener).await, ended).await }
        }));
        Some(address)
    }
}

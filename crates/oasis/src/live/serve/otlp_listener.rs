//! The addresses of OTLP alone, if the configuration has them.

use super::{
    Fact,
    sockets::{another, listen},
};
use crate::{config::Config, live::encryption};
use oasis_api::Api;
use oasis_health::Health;
use oasis_site::revive::revive;
use std::{net::TcpListener, sync::Arc};
use tokio::sync::watch;

/// A protocol that has an address of its own.
#[derive(Debug, Clone, Copy)]
enum OtlpTransport {
    Http,
    Grpc,
}

/// The names of a transport.
struct TransportNames {
    fact: &'static str,
    title: &'static str,
    setting: &'static str,
    task: &'static str,
}

impl OtlpTransport {
    fn names(self) -> TransportNames {
        match self {
            Self::Http => {
                TransportNames { fact: "otlp", title: "OTLP", setting: "otlp.listen", task: "OTLP listener" }
            }
            Self::Grpc => TransportNames {
                fact: "otlp_grpc",
                title: "OTLP (gRPC)",
                setting: "otlp.grpc_listen",
                task: "OTLP listener of gRPC",
            },
        }
    }

    async fn serve(self, api: Api, listener: tokio::net::TcpListener, mut ended: watch::Receiver<bool>) {
        let ended = async move {
            let _ = ended.wait_for(|&ended| ended).await;
        };
        match self {
            Self::Http => oasis_api::serve_otlp(api, listener, ended).await,
            Self::Grpc => oasis_api::serve_otlp_grpc(api, listener, ended).await,
        }
    }
}

/// The listeners, until the API is there.
#[derive(Debug, Default)]
pub struct OtlpListeners(Vec<(OtlpTransport, TcpListener)>);

impl OtlpListeners {
    /// Listens at the configured addresses.
    pub async fn open(config: &Config, is_encrypted: bool) -> anyhow::Result<Self> {
        let mut listeners = Self::default();
        if !config.otlp.enabled {
            return Ok(listeners);
        }
        let configured =
            [(OtlpTransport::Http, &config.otlp.listen), (OtlpTransport::Grpc, &config.otlp.grpc_listen)];
        for (transport, address) in configured.into_iter().filter(|(_, address)| !address.is_empty()) {
            let TransportNames { title, setting, .. } = transport.names();
            let listener = listen(address, title, setting).await?;
            encryption::check(listener.local_addr()?, title, is_encrypted, config.insecure)?;
            listeners.0.push((transport, listener.into_std()?));
        }
        Ok(listeners)
    }

    /// Serves OTLP there. Returns the addresses.
    pub fn serve(
        self,
        health: &Health,
        api: &Api,
        ended: &watch::Receiver<bool>,
    ) -> anyhow::Result<Vec<Fact>> {
        let mut facts = Vec::new();
        for (transport, listener) in self.0 {
            let TransportNames { fact, title, task, .. } = transport.names();
            facts.push((fact, listener.local_addr()?.to_string(), title));
            let (listener, health, api, ended) =
                (Arc::new(listener), health.clone(), api.clone(), ended.clone());
            tokio::spawn(revive(health, task, move || {
                let (api, listener, ended) = (api.clone(), listener.clone(), ended.clone());
                async move { transport.serve(api, another(&listener).await, ended).await }
            }));
        }
        Ok(facts)
    }
}

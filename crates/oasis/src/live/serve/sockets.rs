//! The sockets of a DAC, and the tasks that serve them.

use crate::{
    config::Config,
    live::{
        answers,
        encryption::{self, DATAGRAMS},
    },
};
use anyhow::Context;
use oasis_api::Api;
use oasis_dac::{Dac, ingest::Security, listener};
use oasis_health::Health;
use oasis_site::revive::revive;
use std::{io::ErrorKind, net::SocketAddr, sync::Arc, time::Duration};
use tokio::{
    net::{TcpListener, UdpSocket},
    sync::watch,
};

/// Pause before a listener is tried again.
const LISTEN_RETRY_DELAY: Duration = Duration::from_millis(200);

/// The sockets for nodes.
pub struct DataChannel {
    pub listener: TcpListener,
    pub datagrams: Option<UdpSocket>,
    pub address: SocketAddr,
}

impl DataChannel {
    pub async fn bind(config: &Config, is_encrypted: bool) -> anyhow::Result<Self> {
        let listener =
            listen(&config.channel.listen, "data channel", "--channel-listen or channel.listen").await?;
        let address = listener.local_addr()?;
        encryption::check(address, "the data channel", is_encrypted, config.insecure)?;
        if !config.channel.udp {
            return Ok(Self { listener, datagrams: None, address });
        }
        encryption::check(address, DATAGRAMS, is_encrypted, config.insecure)?;
        let datagrams = UdpSocket::bind(address).await.with_context(|| {
            format!("cannot receive datagrams at {address} (channel.udp): is another program using the port?")
        })?;
        Ok(Self { listener, datagrams: Some(datagrams), address })
    }
}

pub async fn serve_channel(dac: Arc<Dac>, listener: std::net::TcpListener, security: Security) {
    let listener = Arc::new(listener);
    let served = revive(dac.health.clone(), "data channel", || {
        let (dac, listener, security) = (dac.clone(), listener.clone(), security.clone());
        async move { oasis_dac::ingest::serve_with(dac, another(&listener).await, security).await }
    });
    if let Err(error) = served.await {
        tracing::error!(%error, "the data channel accepts no more nodes");
    }
}

pub async fn serve_doors(
    health: Health,
    api: Api,
    listener: std::net::TcpListener,
    ended: watch::Receiver<bool>,
) -> std::io::Result<()> {
    let listener = Arc::new(listener);
    revive(health, "http server", || {
        let (api, listener, mut ended) = (api.clone(), listener.clone(), ended.clone());
        let ended = async move {
            let _ = ended.wait_for(|&ended| ended).await;
        };
        async move { oasis_api::serve(api, another(&listener).await, ended).await }
    })
    .await
}

/// Another descriptor of a listener. Without free descriptors it waits: connections that end meanwhile give theirs back.
pub async fn another(listener: &std::net::TcpListener) -> TcpListener {
    loop {
        match listener.try_clone().and_then(TcpListener::from_std) {
            Ok(listener) => return listener,
            Err(error) => {
                tracing::warn!(%error, listener = ?listener.local_addr().ok(), "a listener cannot be served, retrying")
            }
        }
        tokio::time::sleep(LISTEN_RETRY_DELAY).await;
    }
}

pub async fn listen(address: &str, what: &str, setting: &str) -> anyhow::Result<TcpListener> {
    let error = match listener::bind(address).await {
        Ok(listener) => return Ok(listener),
        Err(error) => error,
    };
    let asked = address.to_owned();
    let runs = error.kind() == ErrorKind::AddrInUse
        && tokio::task::spawn_blocking(move || answers::is_dac(&asked)).await.unwrap_or(false);
    let why = match (error.kind(), runs) {
        (_, true) => format!("a DAC runs there already: open http://{address}, or end it first"),
        (ErrorKind::AddrInUse, false) => "another program has this port".into(),
        _ => "it is no address of this host that this user may use".into(),
    };
    Err(error).with_context(|| {
        format!("cannot listen on {address} for {what}: {why}; or use a free HOST:PORT ({setting})")
    })
}

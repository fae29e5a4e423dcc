//! Nodes and DACs that meet through NATS: the data channel `nats`.

use crate::features::NATS;
use oasis_channel::Connector;
use oasis_dac::{Dac, ingest::Security};
use oasis_nats::{NatsConfig, Target};
use oasis_tem::DacName;
use std::sync::Arc;

/// Returns the connector of a node to a DAC of this name, or to any.
///
/// # Errors
/// If no server is configured, or its settings are wrong.
pub fn connector(config: &NatsConfig, dac: Option<&DacName>) -> anyhow::Result<Box<dyn Connector>> {
    NATS.require("--channel nats")?;
    let target = Target::new(config)?;
    let target =
        target.ok_or_else(|| anyhow::anyhow!("--channel nats needs a server: --nats nats://HOST:PORT"))?;
    connector_to(target, dac.map(ToString::to_string))
}

#[cfg(feature = "nats")]
fn connector_to(target: Target, dac: Option<String>) -> anyhow::Result<Box<dyn Connector>> {
    Ok(Box::new(oasis_nats::channel::NatsConnector::new(target, dac)))
}

#[cfg(not(feature = "nats"))]
fn connector_to(_: Target, _: Option<String>) -> anyhow::Result<Box<dyn Connector>> {
    Err(oasis_nats::BadTarget::NotBuilt.into())
}

/// Lets nodes connect to a DAC of this name through NATS, if that is configured.
///
/// # Errors
/// If the settings are wrong.
pub fn accept(config: &NatsConfig, name: DacName, dac: &Arc<Dac>, security: Security) -> anyhow::Result<()> {
    match Target::new(config)?.filter(|_| config.channel) {
        Some(target) => accept_from(target, name, dac, security),
        None => Ok(()),
    }
}

#[cfg(feature = "nats")]
#[expect(clippy::unnecessary_wraps, reason = "the other one fails")]
fn accept_from(target: Target, name: DacName, dac: &Arc<Dac>, security: Security) -> anyhow::Result<()> {
    let channel = Arc::new(super::carried::StreamReceiver { dac: dac.clone(), security });
    let health = dac.health.clone();
    tokio::spawn(oasis_site::revive::revive(health, "data channel over NATS", move || {
        oasis_nats::channel::serve(target.clone(), name.to_string(), channel.clone())
    }));
    Ok(())
}

#[cfg(not(feature = "nats"))]
fn accept_from(_: Target, _: DacName, _: &Arc<Dac>, _: Security) -> anyhow::Result<()> {
    Err(oasis_nats::BadTarget::NotBuilt.into())
}

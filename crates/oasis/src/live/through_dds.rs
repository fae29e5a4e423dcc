//! Nodes and DACs that meet through DDS: the data channel `dds`.

use crate::features::DDS;
use anyhow::Context;
use oasis_channel::Connector;
use oasis_dac::{Dac, config::TlsConfig, ingest::Security};
use oasis_dds::DdsConfig;
use oasis_tem::DacName;
use std::sync::Arc;

/// Returns the connector of a node to a DAC of this name, or to any.
///
/// # Errors
/// If the settings are wrong.
pub fn connector(config: &DdsConfig, dac: Option<&DacName>) -> anyhow::Result<Box<dyn Connector>> {
    DDS.require("--channel dds")?;
    config.check().context("in the section [dds]")?;
    connector_to(config.clone(), dac.map(ToString::to_string))
}

#[cfg(feature = "dds")]
#[expect(clippy::unnecessary_wraps, reason = "the other one fails")]
fn connector_to(config: DdsConfig, dac: Option<String>) -> anyhow::Result<Box<dyn Connector>> {
    Ok(Box::new(oasis_dds::channel::DdsConnector::new(config, dac)))
}

#[cfg(not(feature = "dds"))]
fn connector_to(_: DdsConfig, _: Option<String>) -> anyhow::Result<Box<dyn Connector>> {
    Err(oasis_dds::BadDds::NotBuilt.into())
}

/// Checks the settings of the channel, if it is configured.
///
/// # Errors
/// If they are wrong, or the DAC requires what nodes cannot show through DDS.
pub fn check(config: &DdsConfig, tls: &TlsConfig) -> anyhow::Result<()> {
    if !config.channel {
        return Ok(());
    }
    config.check().context("in the section [dds]")?;
    if [&tls.node_ca, &tls.ca_directory].iter().any(|path| !path.as_os_str().is_empty()) {
        anyhow::bail!(
            "dds.channel: this DAC requires certificates of nodes (tls.node_ca, tls.ca_directory), and a node through DDS can show none: set dds.channel = false, \
             or let another DAC take these nodes"
        );
    }
    Ok(())
}

/// Lets nodes connect to a DAC of this name through DDS, if that is configured.
///
/// # Errors
/// If this program has no DDS.
pub fn accept(config: &DdsConfig, name: DacName, dac: &Arc<Dac>, security: Security) -> anyhow::Result<()> {
    if config.channel { accept_from(config.clone(), name, dac, security) } else { Ok(()) }
}

#[cfg(feature = "dds")]
#[expect(clippy::unnecessary_wraps, reason = "the other one fails")]
fn accept_from(config: DdsConfig, name: DacName, dac: &Arc<Dac>, security: Security) -> anyhow::Result<()> {
    let place = Arc::new(super::carried::StreamReceiver { dac: dac.clone(), security });
    tokio::spawn(oasis_site::revive::revive(dac.health.clone(), "data channel over DDS", move || {
        oasis_dds::channel::serve(config.clone(), name.to_string(), place.clone())
    }));
    Ok(())
}

#[cfg(not(feature = "dds"))]
fn accept_from(_: DdsConfig, _: DacName, _: &Arc<Dac>, _: Security) -> anyhow::Result<()> {
    Err(oasis_dds::BadDds::NotBuilt.into())
}

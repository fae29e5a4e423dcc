//! The devices that `oasis node` and `oasis up` carry to a DAC.

use oasis_channel::Connector;
use oasis_client::NodeDacs;
use oasis_ei_node::NodeSettings;
use oasis_gateway::{Connectors, Gateway, GatewayConfig, Nodes};
use oasis_probe::{Hertz, NodeBuilder};
use std::{
    io,
    path::{Path, PathBuf},
};

/// The parts of a gateway besides the settings of its node.
pub struct Devices {
    /// The addresses of the devices.
    pub config: GatewayConfig,
    /// Lead to the DAC: one for each device.
    pub connectors: Box<Connectors>,
    /// Folder of their sessions.
    pub state: Option<PathBuf>,
}

impl Devices {
    /// Opens the lines, and adds a probe of each to the node of this process. None if there are no devices.
    ///
    /// # Errors
    /// If a line cannot be opened.
    pub fn start(self, section: &NodeSettings, node: &mut NodeBuilder) -> anyhow::Result<Option<Gateway>> {
        let Self { config, connectors, state } = self;
        if config.devices.is_empty() {
            return Ok(None);
        }
        let nodes = Nodes::new(section.bounds(), connectors);
        let gateway = Gateway::start(&config, &section.name(), nodes, state.as_deref())?;
        for (address, health) in gateway.lines() {
            node.periodic(address.instance(), Hertz::ONE, health)?;
        }
        Ok(Some(gateway))
    }
}

/// Connectors to the DACs of a node: those of its settings, or those that TEMs name.
pub fn connectors(section: &NodeSettings, dacs: Option<NodeDacs>) -> Box<Connectors> {
    let section = section.clone();
    Box::new(move || -> io::Result<Box<dyn Connector>> {
        let connector = section.failover(&section.dac);
        Ok(match dacs.clone() {
            Some(dacs) => Box::new(connector.following(move || dacs.clone().follow())),
            None => Box::new(connector),
        })
    })
}

/// Returns the folder of the sessions of devices.
pub fn state(node: Option<&Path>) -> Option<PathBuf> {
    super::super::node::state::NodeState::find(node).map(|state| state.folder().to_owned())
}

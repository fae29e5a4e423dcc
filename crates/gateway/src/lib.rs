//! Carries devices without an operating system (`sdk/embedded`) to a DAC: each is a node there, under its own name.
//!
//! A [`Gateway`] has lines: serial ports, and addresses for UDP and TCP. Bytes of a line become frames (`frame`), these messages (`message`). A
//! `station` knows which devices are heard over its line, a `device` what the messages of one device mean. All of that takes bytes and
//! time and returns bytes. The `uplink` of a device is its node at the DAC: [`oasis_probe::forward`].
//!
//! `docs/reference/embedded.md` specifies the link.
//!
//! ```no_run
//! use oasis_gateway::{Gateway, GatewayConfig, Nodes};
//! use oasis_probe::{Connector, NodeConfig, TcpConnector};
//!
//! let connector = || Ok(Box::new(TcpConnector::new("127.0.0.1:7071")) as Box<dyn Connector>);
//! let nodes = Nodes::new(NodeConfig::default(), Box::new(connector));
//! let devices = vec!["serial:/dev/ttyUSB0,115200".parse()?];
//! let gateway = Gateway::start(&GatewayConfig { devices, ..GatewayConfig::default() }, "my-host", nodes, None)?;
//! // Until the program ends.
//! gateway.shutdown();
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod device;
pub mod frame;
mod line;
mod line_probe;
pub mod message;
mod registry;
mod schemas;
mod sessions;
#[cfg(feature = "simulation")]
pub mod simulation;
mod station;
mod stats;
mod uplink;

pub use generated::oasis::gateway::LineProbe;
pub use line::{GatewayConfig, LineAddress, LineAddressError, LineError};
pub use line_probe::LineHealth;
pub use uplink::{Connectors, Nodes};

use line::Line;
use registry::Registry;
use sessions::Sessions;
use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

/// The probe type, generated from `pdl/gateway/` at build time.
mod generated {
    include!(concat!(env!("OUT_DIR"), "/probes.rs"));
}

/// A gateway at work.
#[derive(Debug)]
pub struct Gateway {
    registry: Arc<Registry>,
    lines: Vec<Line>,
    stopping: Arc<AtomicBool>,
}

impl Gateway {
    /// Opens lines. `own_name` is the name of the gateway's own node, which no device can have. `state` is a folder for what the gateway
    /// remembers of its devices beyond its process; without one each device begins a new session when the gateway restarts.
    ///
    /// # Errors
    /// If an address cannot be listened on, or there can be no thread.
    pub fn start(
        config: &GatewayConfig,
        own_name: &str,
        nodes: Nodes,
        state: Option<&Path>,
    ) -> Result<Self, LineError> {
        let registry = Arc::new(Registry::new(own_name, config.known.clone(), nodes, Sessions::open(state)));
        let stopping = Arc::new(AtomicBool::new(false));
        let mut opened = Vec::new();
        for address in &config.devices {
            match Line::open(address, &registry, &stopping) {
                Ok(line) => opened.push(line),
                Err(error) => {
                    stopping.store(true, Ordering::Relaxed);
                    opened.into_iter().for_each(Line::join);
                    return Err(error);
                }
            }
        }
        Ok(Self { registry, lines: opened, stopping })
    }

    /// Returns the lines, each with a probe of its counters.
    pub fn lines(&self) -> impl Iterator<Item = (&LineAddress, LineHealth)> {
        self.lines.iter().map(|line| (&line.address, LineHealth(line.stats.clone())))
    }

    /// Closes the lines and sends what is left of the devices, waiting a few seconds at most.
    pub fn shutdown(self) {
        self.stopping.store(true, Ordering::Relaxed);
        self.lines.into_iter().for_each(Line::join);
        self.registry.shutdown();
    }
}

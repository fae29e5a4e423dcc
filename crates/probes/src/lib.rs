//! Ready-made probes: what a host says about itself.
//!
//! Each probe is a file here beside its `.pdl`; adding one touches both, [`PROBES`], and its page in `docs/`.

mod heartbeat;
mod memory;
mod network;
mod proc_file;
mod processor;

pub use generated::oasis::system::*;
pub use heartbeat::Heartbeat;
pub use memory::Memory;
pub use network::{Network, interfaces};
pub use processor::Processor;

use oasis_probe::{Hertz, NodeBuilder, NodeError};

/// The probes' types, generated from `pdl/` at build time.
mod generated {
    include!(concat!(env!("OUT_DIR"), "/probes.rs"));
}

/// Adds a ready-made probe to a node, under a name of the user's or its own.
pub type Add = fn(&mut NodeBuilder, Option<&str>, Hertz) -> Result<(), NodeError>;

/// One ready-made probe.
#[derive(Debug, Clone, Copy)]
pub struct ReadyMade {
    /// As it is called in flags and configuration; also the default instance name.
    pub name: &'static str,
    /// Adds it.
    pub add: Add,
}

/// All of them.
pub const PROBES: [ReadyMade; 4] = [
    ReadyMade {
        name: "processor",
        add: |node, name, hertz| {
            node.periodic(name.unwrap_or("processor"), hertz, Processor::default()).map(drop)
        },
    },
    ReadyMade {
        name: "memory",
        add: |node, name, hertz| node.periodic(name.unwrap_or("memory"), hertz, Memory::default()).map(drop),
    },
    ReadyMade { name: "network", add: add_network },
    ReadyMade {
        name: "heartbeat",
        add: |node, name, hertz| node.periodic(name.unwrap_or("heartbeat"), hertz, Heartbeat).map(drop),
    },
];

/// Looks a probe up by name.
pub fn ready_made(name: &str) -> Option<Add> {
    PROBES.iter().find(|probe| probe.name == name).map(|probe| probe.add)
}

/// One instance for each interface: `network/eth0`.
fn add_network(node: &mut NodeBuilder, name: Option<&str>, hertz: Hertz) -> Result<(), NodeError> {
    for interface in interfaces()? {
        let instance = format!("{}/{interface}", name.unwrap_or("network"));
        node.periodic(instance, hertz, Network::new(interface))?;
    }
    Ok(())
}

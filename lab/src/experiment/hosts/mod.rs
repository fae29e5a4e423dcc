//! Load from other hosts, over the data channel of the run's DAC.
//!
//! The runner is a node with an instance of orders ([`runner`]). Each host is a node with an instance of reports ([`host`]): it reads the orders at a door of the
//! DAC ([`stream`]), starts the processes that are meant for it, and publishes each line that they print.

mod host;
mod process;
mod runner;
mod stream;

pub use host::Host;
pub use process::LoadProcess;
pub use runner::Hosts;

/// The runner's node, and its instance.
const RUNNER: &str = "lab";
const ORDERS: &str = "orders";
/// The instance of a host's node.
const REPORTS: &str = "reports";
/// Room between a probe and its node: a summary has thousands of numbers.
const RING: usize = 8 * 1024 * 1024;

/// The node of a host.
fn node_of(host: &str) -> String {
    format!("{HOST}{host}")
}

/// Begins the names of hosts' nodes.
const HOST: &str = "load-";

//! The load: processes of a [`generator`] that opens connections at a rate; on each of them a [`client`] pings. What they see goes into a [`tally`].

mod client;
mod generator;
mod tally;

pub use generator::Orders;
pub use tally::Pings;

/// Subcommand of the lab's binary that is a process of the load.
pub const LOAD: &str = "ping-load";

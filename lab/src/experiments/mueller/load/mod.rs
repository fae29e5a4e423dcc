//! The load: processes of a [`generator`] that opens connections at a rate; on each of them a [`client`] pings. What they see goes into a [`tally`].

mod client;
mod generator;
mod tally;

pub use generator::Orders;
pub use tally::Pings;

/// How the lab's binary is called to be a process of the load.
pub const LOAD: &str = "ping-load";

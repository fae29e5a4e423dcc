//! The load: processes of a [`generator`] of many [`client`]s each. What they see goes into a [`tally`].

mod assertions;
mod client;
mod generator;
mod response;
mod tally;

pub use generator::Orders;
pub use tally::{Cycle, Tally};

/// Subcommand of the lab's binary that is a process of the load.
pub const LOAD: &str = "push-load";

//! The load: clients in several processes ([`fleet`]), each a [`generator`] of many [`client`]s. What they see goes into a [`tally`].

mod assertions;
mod client;
mod fleet;
mod generator;
mod response;
mod tally;

pub use fleet::{Fleet, Summary};
pub use generator::Orders;
pub use tally::{Cycle, Second};

//! WebSocket: the handshake, and the choice between two protocols.
//!
//! The handshake is HTTP's; after it the socket belongs to a [`shard`], which decodes frames with [`oasis_websocket`] and knows the protocols ([`native`] with its [`messages`], [`eisa`]),
//! how bytes reach its socket ([`transport`]), what each client has been sent ([`connection`], [`topic`]), when to send more ([`push`], [`pace`]), and where what the logs no longer hold comes from ([`past`]).
//!
//! There may be more or fewer shards at any time ([`shards`]): a [`roster`] lists where each is reached ([`home`]), a connection goes to the least loaded one
//! ([`balance`]), and can move to another ([`moving`]).

mod autoscale;
mod balance;
mod client;
mod connection;
mod deltas;
mod eisa;
mod end;
mod fleet_subscription;
mod fleets;
mod handshake;
mod inbox;
mod messages;
mod moving;
mod native;
mod pace;
mod packets;
mod past;
mod past_state;
mod picture;
mod push;
mod rates;
mod read_allowance;
mod rights;
mod roster;
mod shard;
mod shard_handle;
mod shards;
mod statistics;
mod statistics_rows;
mod thread;
mod topic;
mod transport;
mod watching;

#[cfg(feature = "mcap")]
pub use connection::ConnectionPermit;
pub use handshake::{REQUIREMENT, upgrade};
#[cfg(test)]
pub use picture::tests::registry_of;
pub use rates::Rates;
pub use shard::SharedContext;
pub use shards::Shards;

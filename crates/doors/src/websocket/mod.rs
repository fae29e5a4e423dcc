//! WebSocket: the handshake, and the choice between two protocols.
//!
//! The handshake is HTTP's; after it the socket belongs to a [`shard`], which decodes frames with [`oasis_websocket`] and knows the protocols ([`native`] with its [`messages`], [`eisa`]),
//! what each client has been sent ([`connection`], [`topic`]), when to send more ([`push`], [`pace`]), and where what the logs no longer hold comes from ([`past`]).

mod client;
mod connection;
mod deltas;
mod eisa;
mod end;
mod handshake;
mod inbox;
mod messages;
mod native;
mod pace;
mod packets;
mod past;
mod past_state;
mod picture;
mod push;
mod read_allowance;
mod shard;
mod shards;
mod statistics;
mod statistics_rows;
mod topic;
mod watching;

pub use handshake::upgrade;
pub use shard::Surroundings;
pub use shards::Shards;

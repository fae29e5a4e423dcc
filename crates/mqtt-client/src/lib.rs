//! A client of MQTT brokers, versions 3.1.1 and 5: packets, sessions, connections, and payloads of Sparkplug B.
//!
//! In the order of a connection: `broker` checks its settings and opens a `stream`, `packet` and `encode` are its packets, `inbox` cuts the stream into them, and
//! `session` answers them. A session takes bytes and time, and returns events and bytes; the source of messages and the handler that publishes samples drive one each.
//! Sources: <https://docs.oasis-open.org/mqtt/mqtt/v3.1.1/os/mqtt-v3.1.1-os.html>, <https://docs.oasis-open.org/mqtt/mqtt/v5.0/os/mqtt-v5.0-os.html>.
//!
//! ```
//! use oasis_mqtt_client::{BadBroker, BrokerSettings};
//!
//! let url = "mqtt://broker.example.org".to_owned();
//! let settings = BrokerSettings { url, client_id: "a".into(), ..BrokerSettings::default() };
//! assert!(matches!(settings.check(), Err(BadBroker::Plaintext(_))), "a broker on another machine needs TLS");
//! ```

mod address;
mod broker;
mod encode;
mod inbox;
mod packet;
mod reconnect_delay;
mod secret;
mod session;
pub mod sparkplug;
mod stream;
mod unconfirmed;
mod version;

pub use address::{Address, BadAddress};
pub use broker::ConnectError;
pub use broker::{BadBroker, BrokerSettings};
pub use encode::{Login, OutgoingMessage, TopicRequest, Will};
pub use inbox::{Inbox, Incoming};
pub use packet::{BadPacket, BrokerLimits, MAX_PACKET_BYTES, Packet, Publish};
pub use reconnect_delay::ReconnectDelay;
pub use secret::{BadSecret, secret_of_file};
pub use session::{Event, KEEP_ALIVE_SECONDS, Session, SessionError, SessionOptions};
pub use stream::{BrokerStream, READ_CHUNK_BYTES};
pub use version::ProtocolVersion;

//! A source that subscribes to topics of an MQTT broker, versions 3.1.1 and 5.
//!
//! In the order of a message: `stream` is the connection to the broker, `packet` its packets, `inbox` cuts the stream into them, `session` answers
//! them, `filter` and `names` make node and instance of a topic, `payload` or `sparkplug` makes fields of the bytes, and `source` pushes the sample and acknowledges
//! the message once it is stored.
//! Sources: <https://docs.oasis-open.org/mqtt/mqtt/v3.1.1/os/mqtt-v3.1.1-os.html>, <https://docs.oasis-open.org/mqtt/mqtt/v5.0/os/mqtt-v5.0-os.html>.
//! `docs/guides/receive-mqtt.md` is the guide. Without the feature `source`, settings that enable it are refused.
//!
//! ```
//! use oasis_handler::ConfiguredHandler;
//! use oasis_mqtt::{Mqtt, MqttConfig};
//!
//! assert!(Mqtt::configured(MqttConfig::default())?.is_none(), "it is enabled by the address of a broker");
//! # Ok::<(), oasis_mqtt::BadConfig>(())
//! ```

mod address;
mod config;
mod filter;
#[cfg(feature = "source")]
mod inbox;
mod names;
#[cfg(feature = "source")]
mod packet;
#[cfg(feature = "source")]
mod payload;
#[cfg(feature = "source")]
mod receiver;
mod secret;
#[cfg(feature = "source")]
mod session;
#[cfg(feature = "source")]
mod source;
#[cfg(feature = "source")]
mod sparkplug;
#[cfg(feature = "source")]
mod state;
#[cfg(feature = "source")]
mod stream;
#[cfg(feature = "source")]
mod unconfirmed;

#[cfg(test)]
#[cfg(feature = "source")]
mod tests;

pub use config::{BadConfig, MqttConfig, PayloadFormat, ProtocolVersion, SubscriptionConfig};
#[cfg(feature = "source")]
pub use inbox::{Inbox, Incoming};
#[cfg(feature = "source")]
pub use packet::{BadPacket, Packet, Publish};
#[cfg(feature = "source")]
pub use receiver::{Receiver, ReceiverCounters};
#[cfg(feature = "source")]
pub use sparkplug::Request;

use oasis_handler::ConfiguredHandler;

/// The section `[mqtt]`.
#[derive(Debug)]
pub enum Mqtt {}

impl ConfiguredHandler for Mqtt {
    type Config = MqttConfig;
    #[cfg(feature = "source")]
    type Handler = source::MqttSource;
    #[cfg(not(feature = "source"))]
    type Handler = oasis_handler::Unbuilt;
    type Error = BadConfig;

    fn configured(config: MqttConfig) -> Result<Option<Self::Handler>, BadConfig> {
        if config.url.is_empty() {
            return Ok(None);
        }
        let checked = config.checked()?;
        #[cfg(feature = "source")]
        return Ok(Some(source::MqttSource::new(config, checked)));
        #[cfg(not(feature = "source"))]
        {
            drop(checked);
            Err(BadConfig::NotBuilt)
        }
    }
}

//! A source that subscribes to topics of an MQTT broker, versions 3.1.1 and 5.
//!
//! In the order of a message: the session of `oasis-mqtt-client` yields it, `filter` and `names` make node and instance of its topic, `payload` or `sparkplug` makes
//! fields of its bytes, `delivery_journal` records the message, and `source` pushes the sample and acknowledges the message once it is stored.
//! `docs/guides/receive-mqtt.md` is the guide.
//!
//! ```
//! use oasis_handler::ConfiguredHandler;
//! use oasis_mqtt::{Mqtt, MqttConfig};
//!
//! assert!(Mqtt::configured(MqttConfig::default())?.is_none(), "it is enabled by the address of a broker");
//! # Ok::<(), oasis_mqtt::BadConfig>(())
//! ```

mod config;
mod delivery_journal;
mod filter;
mod names;
mod payload;
mod receiver;
mod source;
mod sparkplug;
mod state;

#[cfg(test)]
mod tests;

pub use config::{BadConfig, MqttConfig, PayloadFormat, SubscriptionConfig};
pub use delivery_journal::Delivery;
pub use receiver::{Receiver, ReceiverCounters};
pub use sparkplug::Request;

use oasis_handler::ConfiguredHandler;

/// The section `[mqtt]`.
#[derive(Debug)]
pub enum Mqtt {}

impl ConfiguredHandler for Mqtt {
    type Config = MqttConfig;
    type Handler = source::MqttSource;
    type Error = BadConfig;

    fn configured(config: MqttConfig) -> Result<Option<Self::Handler>, BadConfig> {
        if config.url.is_empty() {
            return Ok(None);
        }
        let checked = config.checked()?;
        Ok(Some(source::MqttSource::new(config, checked)))
    }
}

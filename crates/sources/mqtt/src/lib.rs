//! A source that subscribes to topics of an MQTT broker, versions 3.1.1 and 5.
//!
//! In the order of a message: the session of `oasis-mqtt-client` yields it, `filter` and `names` make node and instance of its topic, `payload` or `sparkplug` makes
//! fields of its bytes, `delivery_journal` records the message, and `source` pushes the sample and acknowledges the message once it is stored.
//! `docs/guides/receive-mqtt.md` is the guide. Without the feature `source`, settings that enable it are refused.
//!
//! ```
//! use oasis_handler::ConfiguredHandler;
//! use oasis_mqtt::{Mqtt, MqttConfig};
//!
//! assert!(Mqtt::configured(MqttConfig::default())?.is_none(), "it is enabled by the address of a broker");
//! # Ok::<(), oasis_mqtt::BadConfig>(())
//! ```

mod config;
#[cfg(feature = "source")]
mod delivery_journal;
mod filter;
mod names;
#[cfg(feature = "source")]
mod payload;
#[cfg(feature = "source")]
mod receiver;
#[cfg(feature = "source")]
mod source;
#[cfg(feature = "source")]
mod sparkplug;
#[cfg(feature = "source")]
mod state;

#[cfg(test)]
#[cfg(feature = "source")]
mod tests;

pub use config::{BadConfig, MqttConfig, PayloadFormat, SubscriptionConfig};
#[cfg(feature = "source")]
pub use delivery_journal::Delivery;
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

//! A handler that publishes samples of probe instances to an MQTT broker, as JSON or Sparkplug B, and takes commands to probes from it.
//!
//! In the order of a sample: a `feed` reads the samples of an instance from archive and topic log, a `topic` finds the gaps between them and counts what the
//! broker has acknowledged, `json` or `sparkplug` encodes them, and `publisher` sends them through the session of `oasis-mqtt-client`. `positions` remembers on disk
//! what is published, so that the next run of the DAC continues there. `commands` reads commands, and the handler's context asks for their permission.
//! `docs/guides/publish-to-mqtt.md` is the guide. Without the feature `handler`, settings that enable it are refused.
//!
//! ```
//! use oasis_handler::ConfiguredHandler;
//! use oasis_mqtt_publish::{MqttPublish, MqttPublishConfig};
//!
//! assert!(MqttPublish::configured(MqttPublishConfig::default())?.is_none(), "it is enabled by the address of a broker");
//! # Ok::<(), oasis_mqtt_publish::BadConfig>(())
//! ```

#[cfg(feature = "handler")]
mod commands;
mod config;
#[cfg(feature = "handler")]
mod feed;
#[cfg(feature = "handler")]
mod json;
#[cfg(feature = "handler")]
mod missing;
#[cfg(feature = "handler")]
mod outlet;
#[cfg(feature = "handler")]
mod positions;
#[cfg(feature = "handler")]
mod publisher;
#[cfg(feature = "handler")]
mod publisher_state;
#[cfg(feature = "handler")]
mod sparkplug;
#[cfg(feature = "handler")]
mod topic;
#[cfg_attr(not(feature = "handler"), allow(dead_code, reason = "only a connection publishes"))]
mod topic_template;
#[cfg(feature = "handler")]
mod topics;
#[cfg(feature = "handler")]
mod wake_socket;

#[cfg(test)]
#[cfg(feature = "handler")]
mod tests;

#[cfg(feature = "handler")]
pub use commands::{ParsedCommand, wants_births, writes};
pub use config::{BadConfig, MqttPublishConfig, PublishFormat};
pub use topic_template::BadTopic;

use oasis_handler::ConfiguredHandler;

/// The section `[mqtt_publish]`.
#[derive(Debug)]
pub enum MqttPublish {}

impl ConfiguredHandler for MqttPublish {
    type Config = MqttPublishConfig;
    #[cfg(feature = "handler")]
    type Handler = publisher::MqttPublisher;
    #[cfg(not(feature = "handler"))]
    type Handler = oasis_handler::Unbuilt;
    type Error = BadConfig;

    fn configured(config: MqttPublishConfig) -> Result<Option<Self::Handler>, BadConfig> {
        if config.url.is_empty() {
            return Ok(None);
        }
        let checked = config.checked()?;
        #[cfg(feature = "handler")]
        return Ok(Some(publisher::MqttPublisher::new(config, checked)));
        #[cfg(not(feature = "handler"))]
        {
            drop(checked);
            Err(BadConfig::NotBuilt)
        }
    }
}

//! A handler that publishes samples of probe instances to an MQTT broker, as JSON or Sparkplug B, and takes commands to probes from it.
//!
//! In the order of a sample: a `feed` reads the samples of an instance from archive and topic log, a `topic` finds the gaps between them and counts what the
//! broker has acknowledged, `json` or `sparkplug` encodes them, and `publisher` sends them through the session of `oasis-mqtt-client`. `positions` remembers on disk
//! what is published, so that the next run of the DAC continues there. `commands` reads commands, and the handler's context asks for their permission.
//! `docs/guides/publish-to-mqtt.md` is the guide.
//!
//! ```
//! use oasis_handler::ConfiguredHandler;
//! use oasis_mqtt_publish::{MqttPublish, MqttPublishConfig};
//!
//! assert!(MqttPublish::configured(MqttPublishConfig::default())?.is_none(), "it is enabled by the address of a broker");
//! # Ok::<(), oasis_mqtt_publish::BadConfig>(())
//! ```

mod commands;
mod config;
mod feed;
mod json;
mod missing;
mod outlet;
mod positions;
mod publisher;
mod publisher_state;
mod sparkplug;
mod topic;
mod topic_template;
mod topics;
mod wake_socket;

#[cfg(test)]
mod tests;

pub use commands::{ParsedCommand, wants_births, writes};
pub use config::{BadConfig, MqttPublishConfig, PublishFormat};
pub use topic_template::BadTopic;

use oasis_handler::ConfiguredHandler;

/// The section `[mqtt_publish]`.
#[derive(Debug)]
pub enum MqttPublish {}

impl ConfiguredHandler for MqttPublish {
    type Config = MqttPublishConfig;
    type Handler = publisher::MqttPublisher;
    type Error = BadConfig;

    fn configured(config: MqttPublishConfig) -> Result<Option<Self::Handler>, BadConfig> {
        if config.url.is_empty() {
            return Ok(None);
        }
        let checked = config.checked()?;
        Ok(Some(publisher::MqttPublisher::new(config, checked)))
    }
}

//! The section `[mqtt_publish]` of the configuration file.

use crate::topic_template::{BadTopic, TopicTemplate, check_topic};
use oasis_dac::Delivery;
use oasis_mqtt_client::{Address, BadBroker, BadSecret, BrokerSettings, ProtocolVersion, secret_of_file};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The environment variable with the password.
const PASSWORD_VARIABLE: &str = "OASIS_MQTT_PUBLISH_PASSWORD";
/// Most patterns of instances.
const MAX_PATTERNS: usize = 1_000;

/// The settings of the handler.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MqttPublishConfig {
    /// `mqtt://HOST:PORT` or `mqtts://HOST:PORT`, without user and password; empty for none.
    pub url: String,
    /// The version of the protocol.
    pub version: ProtocolVersion,
    /// The name of the client. No other client of the broker may have it.
    pub client_id: String,
    /// User name; empty for none.
    pub user: String,
    /// File with the user's password in its first line, which others cannot read; empty for the environment variable
    /// `OASIS_MQTT_PUBLISH_PASSWORD`.
    pub password_file: String,
    /// File with the CA certificates (PEM) of the broker; empty for those of the system.
    pub ca_file: String,
    /// File with a certificate (PEM) that shows the broker who this is; empty for none.
    pub certificate: String,
    /// File with the key of that certificate.
    pub key: String,
    /// Whether a broker on another machine is used without TLS.
    pub accept_plaintext: bool,
    /// Instances that are published, as `NODE/INSTANCE`; a `*` stands for any text.
    pub instances: Vec<String>,
    /// The form of the messages.
    pub format: PublishFormat,
    /// The topic of an instance, for JSON.
    pub topic: String,
    /// The topic of missing samples, for JSON.
    pub missing_topic: String,
    /// Whether each message has the units, for JSON.
    pub units: bool,
    /// The group, for Sparkplug B.
    pub group: String,
    /// The name of the DAC as an edge node, for Sparkplug B.
    pub edge: String,
    /// The quality of service: 0, or 1 for messages that the broker acknowledges.
    pub qos: u8,
    /// Whether the broker keeps the newest message of each instance for later subscribers, for JSON.
    pub retain: bool,
    /// Samples that are published: `every`, `max_hz=N` or `envelope=N`.
    pub delivery: Delivery,
    /// Most instances.
    pub max_instances: usize,
    /// Longest message, in bytes.
    pub max_message_bytes: usize,
    /// Folder of the file with what is published; empty for one beside the archive.
    pub directory: String,
    /// The topic of commands; empty for none.
    pub commands: String,
    /// The topic of answers to commands, above those that a command may ask for.
    pub answers: String,
    /// File with the token of the DAC with which commands are sent.
    pub token_file: String,
}

/// The form of messages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PublishFormat {
    /// An object of JSON for each sample.
    #[default]
    Json,
    /// Payloads of Sparkplug B: the DAC is an edge node, and each instance a device.
    Sparkplug,
}

impl Default for MqttPublishConfig {
    fn default() -> Self {
        Self {
            url: String::new(),
            version: ProtocolVersion::default(),
            client_id: "oasis-publish".into(),
            user: String::new(),
            password_file: String::new(),
            ca_file: String::new(),
            certificate: String::new(),
            key: String::new(),
            accept_plaintext: false,
            instances: vec!["*".into()],
            format: PublishFormat::default(),
            topic: "oasis/{node}/{instance}".into(),
            missing_topic: "oasis/missing".into(),
            units: false,
            group: "oasis".into(),
            edge: "oasis".into(),
            qos: 1,
            retain: false,
            delivery: Delivery::Every,
            max_instances: 10_000,
            max_message_bytes: 256 * 1024,
            directory: String::new(),
            commands: String::new(),
            answers: "oasis/answers".into(),
            token_file: String::new(),
        }
    }
}

/// A section that cannot work.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadConfig {
    /// The broker cannot be used.
    #[error("mqtt_publish.{0}")]
    Broker(#[from] BadBroker),
    /// A pattern that can match no instance.
    #[error(
        "mqtt_publish.instances: {0:?} matches no instance: write NODE/INSTANCE, such as \"{0}/*\" or \"*/{0}\""
    )]
    Pattern(String),
    /// More patterns than are compared.
    #[error("mqtt_publish.instances has {0} patterns, more than {MAX_PATTERNS}: use *")]
    Patterns(usize),
    /// A topic that cannot be used.
    #[error("mqtt_publish.{0}: {1}")]
    Topic(&'static str, BadTopic),
    /// A name that is no level of a topic.
    #[error("mqtt_publish.{0}: {1:?} is no name of 1 to 128 bytes without /, +, # and control characters")]
    Level(&'static str, String),
    /// Another quality.
    #[error("mqtt_publish.qos is {0}: write 0 or 1")]
    Quality(u8),
    /// The newest sample only.
    #[error("mqtt_publish.delivery: latest cannot be published: write every, max_hz=N or envelope=N")]
    Delivery,
    /// Nothing could be published.
    #[error("mqtt_publish.{0} is {1}: write {2} or more")]
    TooLow(&'static str, usize, usize),
    /// Messages of the DAC would be commands to it.
    #[error(
        "mqtt_publish.commands: {0:?} has messages of the DAC itself: take a topic that is not that of answers, below it, or of missing samples"
    )]
    OwnMessages(String),
    /// Commands without a token.
    #[error("mqtt_publish.commands needs mqtt_publish.token_file: a token of this DAC (oasis token create)")]
    NoToken,
    /// The file with the token does not exist.
    #[error(
        "mqtt_publish.token_file: {0} does not exist: make it with `oasis token create NAME --role ROLE --token-file {0}`"
    )]
    MissingToken(String),
    /// The token cannot be read.
    #[error("mqtt_publish.token_file: {0}")]
    Token(#[from] BadSecret),
}

/// Settings that can work.
#[derive(Debug, Clone)]
pub(crate) struct Checked {
    pub address: Address,
    pub topic: TopicTemplate,
}

impl MqttPublishConfig {
    /// Returns the settings of the connection.
    pub(crate) fn broker(&self) -> BrokerSettings {
        BrokerSettings {
            url: self.url.clone(),
            version: self.version,
            client_id: self.client_id.clone(),
            user: self.user.clone(),
            password_file: self.password_file.clone(),
            password_variable: PASSWORD_VARIABLE,
            ca_file: self.ca_file.clone(),
            certificate: self.certificate.clone(),
            key: self.key.clone(),
            accept_plaintext: self.accept_plaintext,
        }
    }

    /// Returns the address of the broker, if the section names one.
    pub fn broker_address(&self) -> Option<Address> {
        Address::parse(&self.url).ok()
    }

    /// Returns the topics of samples as topic filters, each with its setting.
    pub fn published_topics(&self) -> Vec<(&'static str, String)> {
        match self.format {
            PublishFormat::Json => vec![
                ("topic", self.topic.replace("{node}", "+").replace("{instance}", "+")),
                ("missing_topic", self.missing_topic.clone()),
            ],
            PublishFormat::Sparkplug => vec![("edge", format!("spBv1.0/{}/+/{}/#", self.group, self.edge))],
        }
    }

    /// Checks the settings, and that the files with secrets can be read.
    pub(crate) fn checked(&self) -> Result<Checked, BadConfig> {
        let address = self.broker().check()?;
        if self.instances.len() > MAX_PATTERNS {
            return Err(BadConfig::Patterns(self.instances.len()));
        }
        if let Some(bad) = self.instances.iter().find(|pattern| !pattern.contains(['/', '*'])) {
            return Err(BadConfig::Pattern(bad.clone()));
        }
        let topic = TopicTemplate::parse(&self.topic).map_err(|bad| BadConfig::Topic("topic", bad))?;
        let topics = [
            ("missing_topic", &self.missing_topic, false),
            ("answers", &self.answers, false),
            ("commands", &self.commands, true),
        ];
        for (name, topic, is_optional) in topics {
            if !(is_optional && topic.is_empty()) {
                check_topic(topic).map_err(|bad| BadConfig::Topic(name, bad))?;
            }
        }
        for (name, level) in [("group", &self.group), ("edge", &self.edge)] {
            let is_level = check_topic(level).is_ok() && !level.contains('/') && level.len() <= 128;
            if !is_level {
                return Err(BadConfig::Level(name, level.chars().take(128).collect()));
            }
        }
        if self.qos > 1 {
            return Err(BadConfig::Quality(self.qos));
        }
        if self.delivery == Delivery::Latest {
            return Err(BadConfig::Delivery);
        }
        let limits =
            [("max_instances", self.max_instances, 1), ("max_message_bytes", self.max_message_bytes, 1_024)];
        if let Some((name, is, least)) = limits.into_iter().find(|(_, is, least)| is < least) {
            return Err(BadConfig::TooLow(name, is, least));
        }
        if !self.commands.is_empty() {
            let is_answer = self.commands.strip_prefix(&self.answers);
            let is_answer = is_answer.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
            if is_answer || self.commands == self.missing_topic {
                return Err(BadConfig::OwnMessages(self.commands.clone()));
            }
            if self.token_file.is_empty() {
                return Err(BadConfig::NoToken);
            }
            if !Path::new(&self.token_file).exists() {
                return Err(BadConfig::MissingToken(self.token_file.clone()));
            }
            secret_of_file(&self.token_file)?;
        }
        Ok(Checked { address, topic })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(toml: &str) -> String {
        let config: MqttPublishConfig = serde_json::from_str(toml).unwrap();
        let config = MqttPublishConfig { url: "mqtt://localhost".into(), ..config };
        config.checked().err().map(|error| error.to_string()).unwrap_or_default()
    }

    #[test]
    fn a_section_that_cannot_work_is_refused_with_a_remedy() {
        assert_eq!(error("{}"), "");
        for (settings, part) in [
            (r#"{"instances": ["plant"]}"#, "plant/*"),
            (r#"{"topic": "oasis/{node}"}"#, "{instance}"),
            (r#"{"missing_topic": "a/#"}"#, "mqtt_publish.missing_topic"),
            (r#"{"answers": ""}"#, "mqtt_publish.answers"),
            (r#"{"group": "a/b"}"#, "mqtt_publish.group"),
            (r#"{"edge": ""}"#, "mqtt_publish.edge"),
            (r#"{"qos": 2}"#, "0 or 1"),
            (r#"{"delivery": "latest"}"#, "every"),
            (r#"{"max_message_bytes": 10}"#, "1024"),
            (r#"{"commands": "oasis/commands"}"#, "token_file"),
            (r#"{"commands": "c", "token_file": "/nowhere"}"#, "oasis token create"),
            (r#"{"commands": "oasis/answers", "token_file": "/nowhere"}"#, "of the DAC itself"),
            (r#"{"commands": "a/b", "answers": "a", "token_file": "/nowhere"}"#, "of the DAC itself"),
            (r#"{"commands": "oasis/missing", "token_file": "/nowhere"}"#, "of the DAC itself"),
            (r#"{"user": "ada", "password_file": "/nowhere"}"#, "mqtt_publish.password_file"),
        ] {
            assert!(error(settings).contains(part), "{settings}: {}", error(settings));
        }
    }
}

//! The section `[mqtt]` of the configuration file.

use crate::{
    filter::{BadFilter, Filter},
    names::{BadTemplate, Template},
};
use oasis_handler::Acknowledge;
use oasis_mqtt_client::{Address, BadBroker, BrokerSettings, ProtocolVersion};
use serde::{Deserialize, Serialize};

/// Most subscriptions.
const MAX_SUBSCRIPTIONS: usize = 64;
/// The environment variable with the password.
const PASSWORD_VARIABLE: &str = "OASIS_MQTT_PASSWORD";

/// The settings of the source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MqttConfig {
    /// `mqtt://HOST:PORT` or `mqtts://HOST:PORT`, without user and password; empty for none.
    pub url: String,
    /// The version of the protocol.
    pub version: ProtocolVersion,
    /// The name under which the broker keeps the session. No other client of the broker may have it.
    pub client_id: String,
    /// User name; empty for none.
    pub user: String,
    /// File with the user's password in its first line, which others cannot read; empty for the environment variable `OASIS_MQTT_PASSWORD`.
    pub password_file: String,
    /// File with the CA certificates (PEM) of the broker; empty for those of the system.
    pub ca_file: String,
    /// File with a certificate (PEM) that shows the broker who this is; empty for none.
    pub certificate: String,
    /// File with the key of that certificate.
    pub key: String,
    /// Whether a broker on another machine is used without TLS.
    pub accept_plaintext: bool,
    /// The topics that are received.
    pub subscribe: Vec<SubscriptionConfig>,
    /// Most nodes.
    pub max_nodes: usize,
    /// Most series: each is an instance.
    pub max_series: usize,
    /// When a message is acknowledged to the broker.
    pub acknowledge: Acknowledge,
    /// Folder of the files with the messages that the broker may send again; empty for one beside the archive.
    pub directory: String,
}

/// A subscription.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SubscriptionConfig {
    /// The topics, such as `plant/+/temperature`.
    pub topic: String,
    /// The meaning of the messages.
    #[serde(default)]
    pub format: PayloadFormat,
    /// The node of a message. `{1}` stands for what the first wildcard matches.
    #[serde(default = "default_node")]
    pub node: String,
    /// The instance of a message. `{topic}` stands for the topic.
    #[serde(default = "default_instance")]
    pub instance: String,
    /// The name of the type; empty for the last level of `topic` without a wildcard.
    #[serde(default, rename = "type")]
    pub type_name: String,
    /// The member of a JSON object with the time of the sample; empty for the time of receipt.
    #[serde(default)]
    pub time: String,
    /// Whether messages are taken that the broker retained before the subscription.
    #[serde(default)]
    pub retained: bool,
}

/// The meaning of messages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PayloadFormat {
    /// A value of JSON: the members of an object are metrics.
    #[default]
    Json,
    /// A number in digits: the metric `value`.
    Number,
    /// A text: the metric `value`.
    Text,
    /// A payload of Sparkplug B, whose topics name node and instance.
    Sparkplug,
}

impl Default for MqttConfig {
    fn default() -> Self {
        Self {
            url: String::new(),
            version: ProtocolVersion::default(),
            client_id: "oasis".into(),
            user: String::new(),
            password_file: String::new(),
            ca_file: String::new(),
            certificate: String::new(),
            key: String::new(),
            accept_plaintext: false,
            subscribe: Vec::new(),
            max_nodes: 1_000,
            max_series: 10_000,
            acknowledge: Acknowledge::Stored,
            directory: String::new(),
        }
    }
}

fn default_node() -> String {
    "mqtt".into()
}

fn default_instance() -> String {
    "{topic}".into()
}

/// A section that cannot work.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadConfig {
    /// The broker cannot be used.
    #[error("mqtt.{0}")]
    Broker(#[from] BadBroker),
    /// Nothing would be received.
    #[error(
        "mqtt.subscribe is empty: nothing would be received; name a topic, such as subscribe = [{{ topic = \"plant/#\" }}]"
    )]
    NoSubscription,
    /// More subscriptions than are made.
    #[error("mqtt.subscribe has {0} topics, more than {MAX_SUBSCRIPTIONS}: use + and #")]
    Subscriptions(usize),
    /// The topic cannot be subscribed.
    #[error("mqtt.subscribe: {0}")]
    Filter(#[from] BadFilter),
    /// A message would arrive twice.
    #[error(
        "mqtt.subscribe: {0:?} and {1:?} have topics in common, and a broker may send these twice: keep them apart"
    )]
    Overlap(String, String),
    /// A name cannot be made.
    #[error("mqtt.subscribe: {0}")]
    Template(#[from] BadTemplate),
    /// Only objects have members.
    #[error("mqtt.subscribe: {0:?} has a time, which only messages with the format json have")]
    Time(String),
    /// Sparkplug names all by itself.
    #[error(
        "mqtt.subscribe: {0:?} has the format sparkplug, whose topics begin with spBv1.0/ and name all else: leave out node, instance, type, time and retained"
    )]
    Sparkplug(String),
    /// Nothing could be taken.
    #[error("mqtt.{0} is 0: nothing could be taken")]
    Zero(&'static str),
}

/// Settings that can work.
#[derive(Debug, Clone)]
pub(crate) struct Checked {
    pub address: Address,
    pub subscriptions: Vec<Subscription>,
}

/// A subscription that can work.
#[derive(Debug, Clone)]
pub(crate) struct Subscription {
    pub filter: Filter,
    pub format: PayloadFormat,
    pub node: Template,
    pub instance: Template,
    pub type_name: String,
    pub time: Option<String>,
    pub takes_retained: bool,
}

impl MqttConfig {
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

    /// Returns the subscriptions that have a topic in common with a topic filter.
    pub fn subscriptions_to(&self, topics: &str) -> impl Iterator<Item = &SubscriptionConfig> {
        let topics = Filter::parse(topics).ok();
        self.subscribe.iter().filter(move |subscription| {
            let filter = Filter::parse(&subscription.topic).ok();
            topics.as_ref().zip(filter).is_some_and(|(topics, filter)| topics.overlaps(&filter))
        })
    }

    /// Checks the settings, and that the files with secrets can be read.
    pub(crate) fn checked(&self) -> Result<Checked, BadConfig> {
        let address = self.broker().check()?;
        let limits = [("max_nodes", self.max_nodes), ("max_series", self.max_series)];
        if let Some((name, _)) = limits.iter().find(|(_, limit)| *limit == 0) {
            return Err(BadConfig::Zero(name));
        }
        Ok(Checked { address, subscriptions: self.subscriptions()? })
    }

    fn subscriptions(&self) -> Result<Vec<Subscription>, BadConfig> {
        match self.subscribe.len() {
            0 => return Err(BadConfig::NoSubscription),
            count if count > MAX_SUBSCRIPTIONS => return Err(BadConfig::Subscriptions(count)),
            _ => {}
        }
        let mut checked: Vec<Subscription> = Vec::new();
        for config in &self.subscribe {
            let subscription = Subscription::new(config)?;
            let mut others = checked.iter().map(|known| &known.filter);
            if let Some(other) = others.find(|known| known.overlaps(&subscription.filter)) {
                return Err(BadConfig::Overlap(other.as_str().into(), config.topic.clone()));
            }
            checked.push(subscription);
        }
        Ok(checked)
    }
}

impl SubscriptionConfig {
    /// Whether topic and names are those of Sparkplug.
    fn is_plain_sparkplug(&self) -> bool {
        let Self { node, instance, type_name, time, retained, .. } = self;
        let is_named = *node != default_node() || *instance != default_instance() || !type_name.is_empty();
        self.topic.starts_with("spBv1.0/") && !is_named && time.is_empty() && !retained
    }
}

impl Subscription {
    fn new(config: &SubscriptionConfig) -> Result<Self, BadConfig> {
        let filter = Filter::parse(&config.topic)?;
        if config.format == PayloadFormat::Sparkplug && !config.is_plain_sparkplug() {
            return Err(BadConfig::Sparkplug(config.topic.clone()));
        }
        if !config.time.is_empty() && config.format != PayloadFormat::Json {
            return Err(BadConfig::Time(config.topic.clone()));
        }
        let of_filter = filter.name().unwrap_or("mqtt").to_owned();
        Ok(Self {
            format: config.format,
            node: Template::of_node(&config.node, &filter)?,
            instance: Template::of_instance(&config.instance, &filter)?,
            type_name: Some(config.type_name.clone()).filter(|name| !name.is_empty()).unwrap_or(of_filter),
            time: Some(config.time.clone()).filter(|name| !name.is_empty()),
            takes_retained: config.retained,
            filter,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subscription(topic: &str) -> SubscriptionConfig {
        SubscriptionConfig {
            topic: topic.into(),
            format: PayloadFormat::Json,
            node: default_node(),
            instance: default_instance(),
            type_name: String::new(),
            time: String::new(),
            retained: false,
        }
    }

    fn of(topics: &[&str]) -> MqttConfig {
        let subscribe = topics.iter().map(|topic| subscription(topic)).collect();
        MqttConfig { url: "mqtt://localhost".into(), subscribe, ..MqttConfig::default() }
    }

    fn error(config: &MqttConfig) -> String {
        config.checked().unwrap_err().to_string()
    }

    #[test]
    fn a_section_that_cannot_work_is_refused_with_a_remedy() {
        let good = of(&["plant/+/temperature", "plant/+/pressure/#"]);
        assert_eq!(good.checked().unwrap().subscriptions[1].type_name, "pressure");
        assert!(error(&of(&[])).contains("name a topic"));
        assert!(error(&of(&["a/+", "+/b"])).contains("twice"));
        assert!(error(&of(&["a/b#"])).contains("a/b#"));
        let far = MqttConfig { url: "mqtt://broker.example.org:1883".into(), ..of(&["a"]) };
        assert!(error(&far).contains("mqtt.url leads to"));
        assert!(MqttConfig { accept_plaintext: true, ..far }.checked().is_ok());
        assert!(error(&MqttConfig { max_nodes: 0, ..of(&["a"]) }).contains("max_nodes"));
        let number =
            SubscriptionConfig { format: PayloadFormat::Number, time: "t".into(), ..subscription("a") };
        assert!(error(&MqttConfig { subscribe: vec![number], ..of(&[]) }).contains("json"));
        let sparkplug =
            |topic| SubscriptionConfig { format: PayloadFormat::Sparkplug, ..subscription(topic) };
        let with = |one| MqttConfig { subscribe: vec![one], ..of(&[]) };
        assert!(with(sparkplug("spBv1.0/plant/#")).checked().is_ok());
        assert!(error(&with(sparkplug("plant/#"))).contains("spBv1.0/"));
        let named = SubscriptionConfig { node: "n".into(), ..sparkplug("spBv1.0/#") };
        assert!(error(&with(named)).contains("leave out node"));
    }
}

//! The channels of a viewer: instances that it may read, and their gaps.

use super::{
    control,
    messages::{Channel, ServerMessage, StatusLevel},
};
use base64::{Engine, prelude::BASE64_STANDARD};
use oasis_access::{Target, Verb};
use oasis_dac::{Instance, Registry};
use oasis_format::{
    MessageEncoding, WriteError,
    mcap::{EncodedSchema, lost},
};
use oasis_http::permissions::Caller;
use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
};

/// The channel of gaps. Other channels have the number of their topic.
pub const GAP_CHANNEL: u32 = u32::MAX;
/// Most channels of a viewer.
const MAX_CHANNELS: usize = 10_000;
/// Bytes after which advertisements wait until the viewer has taken them.
const PAGE_BYTES: usize = 64 * 1024;

/// Most characters of a topic in a message.
const MAX_TOPIC_CHARACTERS: usize = 80;

/// The channels of a viewer.
#[derive(Debug)]
pub struct Channels {
    encoding: MessageEncoding,
    /// Advertised, or about to be.
    known: BTreeMap<u32, Arc<Instance>>,
    waiting: VecDeque<Arc<Instance>>,
    /// The topic of the first instance that has no channel, because there are too many.
    left_out: Option<String>,
    /// Whether the viewer knows that it does not have all.
    is_cut: bool,
}

impl Channels {
    pub fn new(encoding: MessageEncoding) -> Self {
        Self { encoding, known: BTreeMap::new(), waiting: VecDeque::new(), left_out: None, is_cut: false }
    }

    /// Returns the instance of a channel.
    pub fn get(&self, id: u32) -> Option<&Arc<Instance>> {
        self.known.get(&id)
    }

    /// Returns all instances.
    pub fn instances(&self) -> impl Iterator<Item = &Arc<Instance>> {
        self.known.values()
    }

    /// Compares with the registry and with what the caller may read. Returns channels that no longer exist.
    pub fn update(&mut self, registry: &Registry, caller: &Caller) -> Vec<u32> {
        let may_read = |instance: &Arc<Instance>| {
            let target = Target::Instance { node: &instance.node, instance: &instance.name };
            caller.may(Verb::ReadLive, target)
        };
        let current: BTreeMap<u32, Arc<Instance>> = registry
            .instances()
            .into_iter()
            .filter(may_read)
            .map(|instance| (instance.topic.0, instance))
            .collect();
        let gone: Vec<u32> = self.known.keys().filter(|id| !current.contains_key(id)).copied().collect();
        self.known.retain(|id, _| current.contains_key(id));
        for (id, instance) in current {
            if self.known.contains_key(&id) {
                continue;
            }
            if self.known.len() < MAX_CHANNELS {
                self.known.insert(id, instance.clone());
                self.waiting.push_back(instance);
            } else if self.left_out.is_none() {
                self.left_out = Some(topic(&instance));
            }
        }
        gone
    }

    /// Whether there are channels to advertise.
    pub fn has_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Advertises the next channels with what the caller may command.
    pub fn advertise(&mut self, caller: &Caller, out: &mut Vec<u8>) {
        let (mut channels, mut services, mut bytes) = (Vec::new(), Vec::new(), 0);
        while bytes < PAGE_BYTES {
            let Some(instance) = self.waiting.pop_front() else { break };
            if !self.known.contains_key(&instance.topic.0) {
                continue;
            }
            match channel(&instance, self.encoding) {
                Ok(channel) => {
                    bytes += channel.schema.len() + channel.topic.len();
                    channels.push(channel);
                    services.extend(control::services(&instance, caller));
                }
                Err(error) => {
                    let name: String = topic(&instance).chars().take(MAX_TOPIC_CHARACTERS).collect();
                    let message =
                        format!("{name} is left out: {error}; another ?encoding of the address may have it");
                    bytes += message.len();
                    ServerMessage::status(StatusLevel::Warning, message).write(out);
                }
            }
        }
        if !channels.is_empty() {
            ServerMessage::Advertise { channels: &channels }.write(out);
        }
        if !services.is_empty() {
            ServerMessage::AdvertiseServices { services: &services }.write(out);
        }
        self.warn_if_cut(out);
    }

    fn warn_if_cut(&mut self, out: &mut Vec<u8>) {
        let Some(name) = &self.left_out else { return };
        if !std::mem::replace(&mut self.is_cut, true) {
            let name: String = name.chars().take(MAX_TOPIC_CHARACTERS).collect();
            let message = format!(
                "only the first {MAX_CHANNELS} instances are channels, and {name} is the first without one: use a token that may read fewer instances"
            );
            ServerMessage::status(StatusLevel::Warning, message).write(out);
        }
    }
}

/// Whether an instance has this topic.
pub fn has_topic(instance: &Instance, topic: &str) -> bool {
    let name = topic.strip_prefix(&*instance.node).and_then(|rest| rest.strip_prefix('/'));
    name == Some(&*instance.name)
}

/// Returns the topic of an instance: as in MCAP files.
pub fn topic(instance: &Instance) -> String {
    format!("{}/{}", instance.node, instance.name)
}

fn channel(instance: &Instance, encoding: MessageEncoding) -> Result<Channel, WriteError> {
    let EncodedSchema { name, encoding: schema_encoding, data } =
        EncodedSchema::of(&instance.probe_type, encoding)?;
    let schema = match encoding {
        MessageEncoding::Protobuf => BASE64_STANDARD.encode(data),
        MessageEncoding::Cdr | MessageEncoding::Json => String::from_utf8_lossy(&data).into_owned(),
    };
    Ok(Channel {
        id: instance.topic.0,
        topic: topic(instance),
        encoding: encoding.name(),
        schema_name: name,
        schema,
        schema_encoding,
    })
}

/// The channel of gaps, which is JSON whatever the others are.
pub fn gap_channel() -> Channel {
    Channel {
        id: GAP_CHANNEL,
        topic: lost::TOPIC.into(),
        encoding: MessageEncoding::Json.name(),
        schema_name: lost::SCHEMA_NAME.into(),
        schema: lost::schema().to_string(),
        schema_encoding: "jsonschema",
    }
}

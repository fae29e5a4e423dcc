//! Publishes items through the session, and follows their acknowledgments.

use crate::{
    MqttPublishConfig,
    config::{Checked, PublishFormat},
    feed::Archive,
    json,
    missing::Missing,
    positions::Positions,
    publisher_state::{PublisherState, SharedPublisherState},
    sparkplug::{self, DeviceMessage, EdgeNode},
    topic::{Content, Described, Item, PublishedSample},
    topic_template::push_level,
    topics::Topics,
};
use oasis_dac::{Dac, Instance, now};
use oasis_mqtt_client::{OutgoingMessage, Session, Will};
use oasis_wire::quantity::TopicId;
use std::{
    collections::HashMap,
    sync::{Arc, MutexGuard},
    time::Instant,
};

/// Bytes for the broker after which no more messages are made before they are written.
const MAX_OUTPUT_BYTES: usize = 256 * 1024;
/// Bytes that a packet has besides topic and payload.
const PACKET_OVERHEAD_BYTES: usize = 32;

/// The session with all that is published through it.
pub struct Outlet {
    config: MqttPublishConfig,
    pub session: Session,
    pub topics: Topics,
    pub positions: Positions,
    /// The edge node, for Sparkplug B.
    pub edge: Option<EdgeNode>,
    /// Messages that are not acknowledged: instance, and number of the item.
    in_flight: HashMap<u16, (TopicId, u64)>,
    /// When the connection began, nanoseconds since 1970.
    connected: u64,
    state: SharedPublisherState,
}

impl Outlet {
    pub fn new(
        config: &MqttPublishConfig,
        session: Session,
        positions: Positions,
        state: SharedPublisherState,
    ) -> Self {
        let edge =
            (config.format == PublishFormat::Sparkplug).then(|| EdgeNode::new(&config.group, &config.edge));
        Self {
            config: config.clone(),
            session,
            topics: Topics::new(),
            positions,
            edge,
            in_flight: HashMap::new(),
            connected: 0,
            state,
        }
    }

    fn state(&self) -> MutexGuard<'_, PublisherState> {
        self.state.lock()
    }

    /// Returns the name of an instance in topics; `None` if it is too long.
    pub fn name(config: &MqttPublishConfig, checked: &Checked, instance: &Instance) -> Option<String> {
        let topic = checked.topic.topic(&instance.node, &instance.name)?;
        if config.format == PublishFormat::Json {
            return Some(topic);
        }
        let mut device = String::new();
        push_level(&instance.node, &mut device);
        let mut name = String::new();
        push_level(&instance.name, &mut name);
        // The colon stands between both.
        Some(format!("{}:{}", device.replace(':', "%3A"), name.replace(':', "%3A")))
    }

    /// Prepares a connection: what was not acknowledged is published again. Returns the will.
    pub fn begin(&mut self) -> Option<Will> {
        self.in_flight.clear();
        let repeated = self.topics.rewind();
        self.state().repeated_samples += repeated;
        self.connected = now().0;
        let edge = self.edge.as_mut()?;
        let session = self.positions.next_session();
        Some(edge.begin(session, self.connected))
    }

    /// Publishes the birth of the edge node: the broker has accepted the connection, or a host asks for all births.
    pub fn publish_birth(&mut self) {
        if let Some(birth) = self.edge.as_mut().map(|edge| edge.birth(now().0)) {
            self.state().births += 1;
            self.publish_unacknowledged(&birth);
        }
    }

    /// Publishes births and deaths of devices whose nodes have come or gone.
    pub fn publish_devices(&mut self, dac: &Dac) {
        let Some(edge) = &self.edge else { return };
        let mut online: HashMap<Arc<str>, bool> = HashMap::new();
        let mut changed = Vec::new();
        for (id, topic) in &self.topics.all {
            let node = &topic.instance.node;
            let is_online = *online
                .entry(node.clone())
                .or_insert_with(|| dac.registry.node(node).is_some_and(|node| node.is_online()));
            let is_alive = edge.is_alive(*id);
            let is_present = is_online && !topic.instance.is_retired();
            if is_present != is_alive && (is_present || topic.is_settled()) {
                changed.push((*id, is_present));
            }
        }
        for (id, is_present) in changed {
            if self.session.output_bytes() >= MAX_OUTPUT_BYTES {
                return;
            }
            if is_present {
                self.publish_device_birth(id, None);
            } else {
                self.publish_device_death(id);
            }
        }
    }

    /// Publishes the death of a device that is alive.
    fn publish_device_death(&mut self, id: TopicId) {
        let (Some(edge), Some(topic)) = (&mut self.edge, self.topics.all.get(&id)) else { return };
        if let Some(death) = edge.device_death(id, &topic.name, now().0) {
            self.publish_unacknowledged(&death);
        }
    }

    /// Publishes the birth of a device with this type; its newest one without. Returns whether hosts know it now.
    fn publish_device_birth(&mut self, id: TopicId, described: Option<&Arc<Described>>) -> bool {
        let (Some(edge), Some(topic)) = (&mut self.edge, self.topics.all.get_mut(&id)) else { return false };
        let described = described.cloned().unwrap_or_else(|| topic.described());
        if edge.has_born(id, &described) {
            return true;
        }
        if !sparkplug::fits(&described) {
            return false;
        }
        let birth = edge.device_birth(topic, &described, now().0);
        self.state().births += 1;
        self.publish_unacknowledged(&birth);
        true
    }

    /// Publishes rate and state of the device of a command.
    pub fn publish_settings(&mut self, device: &str) {
        let (Some(edge), Some(topic)) = (&mut self.edge, self.topics.find(device)) else { return };
        if edge.is_alive(topic.instance.topic) {
            let settings = edge.device_settings(topic, now().0);
            self.publish_unacknowledged(&settings);
        }
    }

    /// Publishes a message that is not counted.
    fn publish_unacknowledged(&mut self, (topic, payload): &DeviceMessage) {
        self.publish_once(topic, payload, None);
    }

    /// Publishes a message with quality of service 0; it is left out if too much waits.
    pub fn publish_once(&mut self, topic: &str, payload: &[u8], correlation: Option<&[u8]>) {
        let message =
            OutgoingMessage { topic, payload, is_acknowledged: false, is_retained: false, correlation };
        self.session.publish(&message, Instant::now());
    }

    /// Publishes items until the broker takes no more at once. Returns whether there are more.
    pub fn publish_items(&mut self, archive: &Archive<'_>) -> bool {
        while self.session.has_room() && self.session.output_bytes() < MAX_OUTPUT_BYTES {
            let Some((id, item)) = self.topics.next_item(archive) else { return false };
            self.publish_item(id, item);
        }
        // Without room, the next acknowledgment continues.
        self.session.has_room() && self.topics.has_items()
    }

    fn publish_item(&mut self, id: TopicId, item: Item) {
        let encoded = self.encode(id, &item.content);
        let Some(topic) = self.topics.all.get_mut(&id) else { return };
        let number = topic.note_sent(&item);
        let (in_topics, payload) = match encoded {
            Ok(encoded) => encoded,
            Err(why) => return self.refuse((id, number), &why),
        };
        let message = OutgoingMessage {
            topic: &in_topics,
            payload: &payload,
            is_acknowledged: self.config.qos == 1,
            is_retained: self.config.retain
                && self.edge.is_none()
                && matches!(item.content, Content::Sample(_)),
            correlation: None,
        };
        match self.session.publish(&message, Instant::now()) {
            Some(message) => {
                self.in_flight.insert(message, (id, number));
            }
            None => self.note_answer((id, number), 0),
        }
        if let Content::Missing(missing) = &item.content {
            let samples = missing.samples.unwrap_or(0);
            *self.state().missing_samples.entry(missing.cause.word()).or_default() += samples;
        }
    }

    /// Encodes a message that the broker can take.
    fn encode(&mut self, id: TopicId, content: &Content) -> Result<DeviceMessage, String> {
        // A gap has bounded names and numbers, and is published if the broker can take it at all.
        let ((topic, payload), wanted) = match content {
            Content::Sample(published) => (self.encode_sample(id, published)?, self.config.max_message_bytes),
            Content::Missing(missing) => (self.encode_missing(id, missing)?, usize::MAX),
        };
        let most = wanted.min(self.session.limits().max_packet_bytes as usize);
        let bytes = topic.len() + payload.len() + PACKET_OVERHEAD_BYTES;
        match bytes > most {
            true => Err(format!("a message of {bytes} bytes is longer than {most}")),
            false => Ok((topic, payload)),
        }
    }

    /// Counts an item that cannot be a message, and declares its sample.
    fn refuse(&mut self, (id, number): (TopicId, u64), why: &str) {
        let Some(topic) = self.topics.all.get_mut(&id) else { return };
        let outcome = topic.note_answer(number, true);
        let name = format!("{}/{}", topic.instance.node, topic.instance.name);
        self.note_refused(outcome.refused, &name, why);
    }

    fn note_refused(&self, samples: u64, name: &str, why: &str) {
        if samples > 0 {
            let mut state = self.state();
            state.refused_samples += samples;
            state.newest_refusal = Some(format!("{name:?}: {why}"));
        }
    }

    fn encode_sample(&mut self, id: TopicId, published: &PublishedSample) -> Result<DeviceMessage, String> {
        if self.edge.is_some() && !self.publish_device_birth(id, Some(&published.described)) {
            return Err("its type has more metrics than a device of Sparkplug B, or one of oasis/".into());
        }
        let topic = self.topics.all.get(&id).ok_or("the instance is gone")?;
        Ok(match &mut self.edge {
            Some(edge) => edge.device_data(topic, published, self.connected),
            None => (topic.name.clone(), json::sample(&topic.instance, published, self.config.units)),
        })
    }

    fn encode_missing(&mut self, id: TopicId, missing: &Missing) -> Result<DeviceMessage, String> {
        if self.edge.is_some() && !self.publish_device_birth(id, None) {
            return Err("the device has no birth".into());
        }
        let topic = self.topics.all.get(&id).ok_or("the instance is gone")?;
        Ok(match &mut self.edge {
            Some(edge) => edge.device_missing(topic, missing, now().0),
            None => (self.config.missing_topic.clone(), json::missing(&topic.instance, missing)),
        })
    }

    /// Notes the answer of the broker to a message.
    pub fn on_published(&mut self, message: u16, code: u8) {
        if let Some(item) = self.in_flight.remove(&message) {
            self.note_answer(item, code);
        }
    }

    fn note_answer(&mut self, (id, number): (TopicId, u64), code: u8) {
        let Some(topic) = self.topics.all.get_mut(&id) else { return };
        let outcome = topic.note_answer(number, code >= 0x80);
        let (name, mark) = (topic.instance_name(), topic.acknowledged());
        if self.config.delivery == oasis_dac::Delivery::Every {
            self.positions.set(&name, mark);
        }
        self.state().published_samples += outcome.published;
        let why = format!("the broker refuses it (code {code}): see its access rules");
        self.note_refused(outcome.refused, &format!("{}/{}", name.0, name.1), &why);
    }

    /// Updates the figures of the state.
    pub fn measure(&self) {
        let unread = self.topics.unread();
        let mut state = self.state();
        (state.unread_samples, state.in_flight) = (unread, self.in_flight.len());
        state.instances = self.topics.all.len();
        state.omitted_instances = self.topics.omitted;
        state.why_omitted.clone_from(&self.topics.why_omitted);
    }

    /// Publishes the death of the edge node, before the connection is closed.
    pub fn publish_death(&mut self, will: Option<&Will>) {
        if let Some(Will { topic, payload }) = will {
            self.publish_once(topic, payload, None);
        }
    }
}

//! Samples from messages.

use crate::{
    BadConfig, MqttConfig,
    config::Subscription,
    payload::{BadPayload, Payload},
};
use oasis_dac::{Dac, now};
use oasis_source_node::{SourceLimits, SourceNodes, SourceSample, push_node_name};
use std::sync::Arc;

/// Most characters of a topic in a warning.
const MAX_QUOTED_CHARACTERS: usize = 120;

/// Pushes the messages of a broker as samples.
#[derive(Debug)]
pub struct Receiver {
    subscriptions: Vec<Subscription>,
    nodes: SourceNodes,
    /// Names of the present message, reused for the next one.
    node: String,
    instance: String,
    counters: ReceiverCounters,
}

/// Counters of messages since the handler started.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReceiverCounters {
    /// Messages that became samples.
    pub samples: u64,
    /// Samples that were taken, and that the DAC refused.
    pub lost_samples: u64,
    /// Messages of which nothing was taken.
    pub refused_messages: u64,
    /// Messages that the broker had retained before the subscription, and that were left out.
    pub retained_messages: u64,
    /// Values that were left out because of their type.
    pub left_out_values: u64,
    /// Whole numbers that were rounded to reals.
    pub rounded_values: u64,
    /// Nodes.
    pub nodes: usize,
    /// Instances.
    pub series: usize,
    /// The topic of the newest refused message, and the reason.
    pub newest_refusal: Option<String>,
}

impl Receiver {
    /// Creates it without nodes.
    ///
    /// # Errors
    /// If the settings cannot work.
    pub fn new(config: &MqttConfig, dac: Arc<Dac>) -> Result<Self, BadConfig> {
        let limits = SourceLimits {
            max_nodes: config.max_nodes,
            max_instances: config.max_series,
            ..SourceLimits::default()
        };
        Ok(Self {
            subscriptions: config.checked()?.subscriptions,
            nodes: SourceNodes::new(dac, "oasis mqtt", limits),
            node: String::new(),
            instance: String::new(),
            counters: ReceiverCounters::default(),
        })
    }

    /// Takes a message; [`Receiver::flush`] sends its sample.
    pub fn receive(&mut self, topic: &str, payload: &[u8], is_retained: bool) {
        match self.push(topic, payload, is_retained) {
            Ok(Some(left_out)) => {
                self.counters.samples += 1;
                self.counters.left_out_values += left_out;
            }
            Ok(None) => self.counters.retained_messages += 1,
            Err(why) => self.refuse(topic, &why),
        }
    }

    /// Counts a message that is refused.
    pub fn refuse(&mut self, topic: &str, why: &str) {
        self.counters.refused_messages += 1;
        let quoted: String = topic.chars().take(MAX_QUOTED_CHARACTERS).collect();
        self.counters.newest_refusal = Some(format!("{quoted:?}: {why}"));
    }

    /// Returns the number of values that are left out; `None` if the message is.
    fn push(&mut self, topic: &str, payload: &[u8], is_retained: bool) -> Result<Option<u64>, String> {
        let matching = |one: &Subscription| one.filter.captures(topic);
        let mut all =
            self.subscriptions.iter().filter_map(|one| matching(one).map(|captures| (one, captures)));
        let (subscription, captures) = all.next().ok_or_else(|| {
            "no subscription of mqtt.subscribe matches: the session has an earlier one; set another mqtt.client_id"
                .to_owned()
        })?;
        if is_retained && !subscription.takes_retained {
            return Ok(None);
        }
        let bad = |why: BadPayload| why.to_string();
        let mut payload = Payload::parse(subscription.format, payload).map_err(bad)?;
        let time = match &subscription.time {
            Some(name) => payload.take_time(name).map_err(bad)?,
            None => now().0,
        };
        subscription.node.write(topic, &captures, push_node_name, &mut self.node);
        let as_written = |part: &str, to: &mut String| to.push_str(part);
        subscription.instance.write(topic, &captures, as_written, &mut self.instance);
        let (node, instance, type_name) = (&*self.node, &*self.instance, &*subscription.type_name);
        let fields = payload.fields().map_err(bad)?;
        let sample = SourceSample { node, instance, type_name, time, fields: &fields };
        self.nodes.push(&sample).map(Some).map_err(|why| why.to_string())
    }

    /// Sends all samples to the DAC, and wakes their readers.
    pub fn flush(&mut self) {
        let lost = self.nodes.flush();
        self.counters.samples = self.counters.samples.saturating_sub(lost.count);
        self.counters.lost_samples += lost.count;
        if lost.count > 0 {
            self.counters.newest_refusal = Some(lost.reason);
        }
        self.counters.rounded_values = self.nodes.rounded();
        (self.counters.nodes, self.counters.series) = (self.nodes.node_count(), self.nodes.instance_count());
    }

    /// Counters since its creation.
    pub fn counters(&self) -> &ReceiverCounters {
        &self.counters
    }
}

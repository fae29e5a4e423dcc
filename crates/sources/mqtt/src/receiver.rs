//! Samples from messages.

use crate::{
    BadConfig, MqttConfig,
    config::{PayloadFormat, Subscription},
    delivery_journal::{Delivery, DeliveryJournal},
    payload::{BadPayload, Payload},
    sparkplug::{Edges, Request},
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
    edges: Edges,
    journal: DeliveryJournal,
    /// Commands to edge nodes that are not sent yet, one of each at most.
    requests: Vec<Request>,
    /// Names of the present message, reused for the next one.
    node: String,
    instance: String,
    counters: ReceiverCounters,
}

/// The samples of a message.
struct Pushed {
    samples: u64,
    /// Values that are left out.
    left_out: u64,
}

/// Counters of messages since the handler started.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReceiverCounters {
    /// Messages that became samples.
    pub samples: u64,
    /// Messages that the broker sent again, and whose samples an earlier run of the handler has pushed.
    pub repeated_messages: u64,
    /// Samples that were taken, and that the DAC refused.
    pub lost_samples: u64,
    /// Messages of which nothing was taken.
    pub refused_messages: u64,
    /// Messages that the broker had retained before the subscription, and that were left out.
    pub retained_messages: u64,
    /// Messages of Sparkplug that were lost on the way here.
    pub missing_messages: u64,
    /// Requests to edge nodes of Sparkplug to send their births again.
    pub requested_births: u64,
    /// Values that were left out because of their type.
    pub left_out_values: u64,
    /// Whole numbers that were rounded to reals.
    pub rounded_values: u64,
    /// Nodes.
    pub nodes: usize,
    /// Instances.
    pub series: usize,
    /// Why messages cannot be recorded at present: they would be stored twice after a kill.
    pub journal_failure: Option<String>,
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
            edges: Edges::new(config.max_nodes),
            journal: DeliveryJournal::open(&config.directory),
            requests: Vec::new(),
            node: String::new(),
            instance: String::new(),
            counters: ReceiverCounters::default(),
        })
    }

    /// Takes a message; [`Receiver::flush`] sends its sample. `delivery` is there if the broker sends the message again until it is acknowledged.
    pub fn receive(&mut self, topic: &str, payload: &[u8], is_retained: bool, delivery: Option<Delivery>) {
        if let Some(delivery) = &delivery {
            self.nodes.begin_message(self.journal.take_earlier(delivery));
        }
        let pushed = self.push(topic, payload, is_retained);
        let is_known = delivery.is_some_and(|delivery| self.record(&delivery));
        match pushed {
            Ok(Some(_)) if is_known => self.counters.repeated_messages += 1,
            Ok(Some(Pushed { samples, left_out })) => {
                self.counters.samples += samples;
                self.counters.left_out_values += left_out;
            }
            Ok(None) => self.counters.retained_messages += 1,
            Err(why) => self.refuse(topic, &why),
        }
    }

    /// Records a message and its samples. Returns whether the DAC had all of them.
    fn record(&mut self, delivery: &Delivery) -> bool {
        let samples = self.nodes.end_message();
        self.journal.record(delivery, &samples.references);
        samples.pushed == 0 && samples.repeated > 0
    }

    /// Notes that a connection begins, and whether the broker has kept the session.
    pub fn begin_connection(&mut self, session_present: bool) {
        self.journal.begin_connection(session_present);
    }

    /// Notes that the broker has all acknowledgments before its newest answer to a ping.
    pub fn confirm(&mut self) {
        self.journal.confirm();
    }

    /// Counts a message that is refused.
    pub fn refuse(&mut self, topic: &str, why: &str) {
        self.counters.refused_messages += 1;
        let quoted: String = topic.chars().take(MAX_QUOTED_CHARACTERS).collect();
        self.counters.newest_refusal = Some(format!("{quoted:?}: {why}"));
    }

    /// Returns the samples of a message; `None` if it is left out.
    fn push(&mut self, topic: &str, payload: &[u8], is_retained: bool) -> Result<Option<Pushed>, String> {
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
        if subscription.format == PayloadFormat::Sparkplug {
            return self.push_sparkplug(topic, payload).map(Some);
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
        let left_out = self.nodes.push(&sample).map_err(|why| why.to_string())?;
        Ok(Some(Pushed { samples: 1, left_out }))
    }

    fn push_sparkplug(&mut self, topic: &str, payload: &[u8]) -> Result<Pushed, String> {
        let taken = self.edges.receive(topic, payload, now().0, &mut self.nodes)?;
        // Commands and states of hosts have no samples.
        let Some(taken) = taken else { return Ok(Pushed { samples: 0, left_out: 0 }) };
        self.counters.missing_messages += u64::from(taken.missing);
        self.counters.requested_births += u64::from(taken.request.is_some());
        self.requests.extend(taken.request);
        if let Some(why) = taken.refused {
            self.refuse(topic, &why);
        }
        Ok(Pushed { samples: taken.samples, left_out: taken.left_out })
    }

    /// Takes the commands to edge nodes, which are published once.
    pub fn take_requests(&mut self) -> Vec<Request> {
        std::mem::take(&mut self.requests)
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
        self.counters.journal_failure = self.journal.failure().map(str::to_owned);
        (self.counters.nodes, self.counters.series) = (self.nodes.node_count(), self.nodes.instance_count());
    }

    /// Counters since its creation.
    pub fn counters(&self) -> &ReceiverCounters {
        &self.counters
    }
}

//! The state of the source for API and page.

use crate::receiver::ReceiverCounters;
use serde_json::{Value, json};

/// Counters and connection of the source.
#[derive(Debug, Clone, Default)]
pub struct SourceState {
    /// Whether the broker has accepted the connection.
    pub is_connected: bool,
    /// Whether the broker has the subscriptions.
    pub is_subscribed: bool,
    /// Connections that the broker has accepted.
    pub connections: u64,
    /// Sessions that the broker did not keep: messages may be lost.
    pub lost_sessions: u64,
    /// Messages.
    pub messages: u64,
    /// Messages that the broker sent again, and that were taken already.
    pub repeated_messages: u64,
    /// Counters of the receiver.
    pub receiver: ReceiverCounters,
    /// Topics that the broker refuses.
    pub refused_topics: Vec<String>,
    /// Topics whose messages the broker sends without waiting for an acknowledgment.
    pub unacknowledged_topics: Vec<String>,
    /// Why the newest connection failed or ended.
    pub newest_failure: Option<String>,
}

impl SourceState {
    /// As JSON.
    pub fn json(&self, broker: &str) -> Value {
        let receiver = &self.receiver;
        json!({
            "broker": broker,
            "connected": self.is_connected,
            "subscribed": self.is_subscribed,
            "connections": self.connections,
            "lost_sessions": self.lost_sessions,
            "messages": self.messages,
            "samples": receiver.samples,
            "lost_samples": receiver.lost_samples,
            "refused_messages": receiver.refused_messages,
            "retained_messages": receiver.retained_messages,
            "repeated_messages": self.repeated_messages + receiver.repeated_messages,
            "missing_messages": receiver.missing_messages,
            "requested_births": receiver.requested_births,
            "left_out_values": receiver.left_out_values,
            "rounded_values": receiver.rounded_values,
            "nodes": receiver.nodes,
            "series": receiver.series,
            "refused_topics": self.refused_topics,
            "unacknowledged_topics": self.unacknowledged_topics,
            "journal_failure": receiver.journal_failure,
            "newest_refusal": receiver.newest_refusal,
            "newest_failure": self.newest_failure,
        })
    }

    /// Why it does not work at present.
    pub fn problem(&self, broker: &str) -> Option<String> {
        if self.is_connected {
            return None;
        }
        let why = self.newest_failure.as_deref().unwrap_or("the broker has not answered yet");
        Some(format!("no connection to {broker}: {why}"))
    }

    /// Messages that were refused, or may be lost.
    pub fn warnings(&self) -> Vec<String> {
        let receiver = &self.receiver;
        let refusal = receiver.newest_refusal.as_ref().map(|why| {
            let (refused, lost) = (receiver.refused_messages, receiver.lost_samples);
            format!("MQTT: {refused} messages refused, {lost} samples lost in this DAC, the newest: {why}")
        });
        let missing = (receiver.missing_messages > 0).then(|| {
            let count = receiver.missing_messages;
            format!("MQTT: {count} messages of Sparkplug were lost before they reached this DAC: see the gaps of the instances messages")
        });
        let sessions = (self.lost_sessions > 0).then(|| {
            let count = self.lost_sessions;
            format!("the broker did not keep the session {count} times: messages may be lost; let it store sessions on disk")
        });
        let refused = (!self.refused_topics.is_empty()).then(|| {
            let topics = self.refused_topics.join(", ");
            format!("the broker refuses the subscription of {topics}: see its access rules")
        });
        let unacknowledged = (!self.unacknowledged_topics.is_empty()).then(|| {
            let topics = self.unacknowledged_topics.join(", ");
            format!("the broker keeps no messages of {topics} until they are stored: let it offer QoS 1")
        });
        let journal = receiver.journal_failure.as_ref().map(|why| {
            format!(
                "messages are not recorded, and stored twice if the DAC is killed: {why}; see mqtt.directory"
            )
        });
        [refusal, missing, journal, sessions, refused, unacknowledged].into_iter().flatten().collect()
    }
}

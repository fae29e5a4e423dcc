//! The state of the handler for API and page.

use oasis_wire::loss::{Cause, LossPlace};
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// The state, which the handler's thread changes and others read. Locked for a few additions, and to copy it.
#[derive(Debug, Clone, Default)]
pub struct SharedPublisherState(Arc<Mutex<PublisherState>>);

impl SharedPublisherState {
    /// Locks it.
    pub fn lock(&self) -> MutexGuard<'_, PublisherState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Counters and connection of the handler.
#[derive(Debug, Clone, Default)]
pub struct PublisherState {
    /// Whether the broker has accepted the connection.
    pub is_connected: bool,
    /// Connections that the broker has accepted.
    pub connections: u64,
    /// Samples that the broker has; with quality of service 0, that were sent.
    pub published_samples: u64,
    /// Samples that were sent again after a broken connection.
    pub repeated_samples: u64,
    /// Missing samples that were declared, by cause.
    pub missing_samples: BTreeMap<&'static str, u64>,
    /// Samples that are too long, or that the broker refuses.
    pub refused_samples: u64,
    /// The reason for the newest of them.
    pub newest_refusal: Option<String>,
    /// Births of Sparkplug B that were sent.
    pub births: u64,
    /// Commands that were carried out.
    pub commands: u64,
    /// Commands that were refused, or failed.
    pub refused_commands: u64,
    /// Instances that are published.
    pub instances: usize,
    /// Instances beyond a limit.
    pub omitted_instances: u64,
    /// The reason for the newest of them.
    pub why_omitted: Option<String>,
    /// Samples in topic logs that are not sent yet.
    pub unread_samples: u64,
    /// Messages that are not acknowledged yet.
    pub in_flight: usize,
    /// Whether the broker takes no quality of service 1, although it is asked for.
    pub is_unacknowledged: bool,
    /// Whether the broker refuses the subscription to commands.
    pub is_refused: bool,
    /// Why positions cannot be written.
    pub unsaved: Option<String>,
    /// Why the newest connection failed or ended.
    pub newest_failure: Option<String>,
}

impl PublisherState {
    /// As JSON.
    pub fn json(&self, broker: &str) -> Value {
        json!({
            "broker": broker,
            "connected": self.is_connected,
            "connections": self.connections,
            "published_samples": self.published_samples,
            "repeated_samples": self.repeated_samples,
            "missing_samples": self.missing_samples,
            "lost_before_dac": self.lost_samples(true),
            "unpublished_samples": self.lost_samples(false),
            "refused_samples": self.refused_samples,
            "births": self.births,
            "commands": self.commands,
            "refused_commands": self.refused_commands,
            "instances": self.instances,
            "omitted_instances": self.omitted_instances,
            "unread_samples": self.unread_samples,
            "in_flight": self.in_flight,
            "newest_refusal": self.newest_refusal,
            "newest_failure": self.newest_failure,
        })
    }

    /// Why it does not work at present.
    pub fn problem(&self, broker: &str) -> Option<String> {
        if !self.is_connected {
            let why = self.newest_failure.as_deref().unwrap_or("the broker has not answered yet");
            return Some(format!("no connection to {broker}: {why}"));
        }
        self.unsaved.as_ref().map(|why| format!("what is published cannot be remembered: {why}"))
    }

    /// Returns the number of samples lost before they reached the DAC, or the number that the DAC did not publish. Samples that a recorder kept back do not
    /// count.
    fn lost_samples(&self, is_before_dac: bool) -> u64 {
        let is_wanted = |word: &str| {
            let cause = Cause::from_word(word).unwrap_or(Cause::Unexplained).entry();
            let is_before = matches!(cause.place, LossPlace::Node | LossPlace::Channel | LossPlace::Unknown);
            cause.is_loss && is_before == is_before_dac
        };
        self.missing_samples.iter().filter(|(word, _)| is_wanted(word)).map(|(_, count)| count).sum()
    }

    /// Samples and instances that are not published.
    pub fn warnings(&self) -> Vec<String> {
        let refused = self
            .newest_refusal
            .as_ref()
            .map(|why| format!("MQTT: {} samples were refused, the newest: {why}", self.refused_samples));
        let before = self.lost_samples(true);
        let before = (before > 0).then(|| {
            format!(
                "MQTT: {before} samples were lost before they reached this DAC, and are declared as missing"
            )
        });
        let unpublished = self.lost_samples(false);
        let unpublished = (unpublished > 0).then(|| {
            format!("MQTT: {unpublished} samples of this DAC were not published, and are declared as missing")
        });
        let omitted = self.why_omitted.as_ref().map(|why| {
            format!("MQTT: {} instances are not published, the newest: {why}", self.omitted_instances)
        });
        let unacknowledged = self.is_unacknowledged.then(|| {
            "the broker acknowledges no messages: those of a broken connection are lost; let it offer QoS 1".into()
        });
        let commands = self
            .is_refused
            .then(|| "the broker refuses the subscription to commands: see its access rules".into());
        [refused, before, unpublished, omitted, unacknowledged, commands].into_iter().flatten().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_before_the_dac_are_distinct_from_samples_that_it_did_not_publish() {
        let missing = [("network", 5), ("ring_full", 2), ("log_retention", 30), ("kept_back", 400)];
        let state = PublisherState { missing_samples: missing.into(), ..PublisherState::default() };
        let warnings = state.warnings();
        assert_eq!(
            warnings,
            [
                "MQTT: 7 samples were lost before they reached this DAC, and are declared as missing",
                "MQTT: 30 samples of this DAC were not published, and are declared as missing",
            ]
        );
        let json = state.json("a broker");
        assert_eq!((&json["lost_before_dac"], &json["unpublished_samples"]), (&7.into(), &30.into()));
    }
}

//! Position of a follower in an instance, valid at any DAC.

use oasis_wire::{
    batch::Sample,
    quantity::{Epoch, Offset, PortablePosition, Position},
};
use serde_json::Value;
use std::collections::BTreeMap;
use uuid::Uuid;

/// Most samples shown ahead of their turn that are remembered. Older ones are shown again.
const MAX_AHEAD_SAMPLES: usize = 65_536;

/// The next sample that a follower wants.
#[derive(Debug, Default)]
pub struct FollowPosition {
    /// At the DAC that it follows now.
    position: Option<Position>,
    /// The run of the node; none if it is not known which run the newest sample is of.
    run: Option<Uuid>,
    /// Sequence number of the next sample, once there was one.
    next: Option<u64>,
    /// Time of the newest sample.
    newest: u64,
    /// Whether the samples before `next` may come again, because another DAC sends them.
    may_repeat: bool,
    /// Numbers and times of samples that were shown ahead of their turn, which has not come.
    ahead: BTreeMap<u64, u64>,
}

impl FollowPosition {
    /// Takes the message that begins a subscription.
    pub fn begin(&mut self, subscribed: &Value) {
        self.move_to(subscribed);
        let run = subscribed["instance"]["run"].as_str().and_then(|run| run.parse().ok());
        self.may_repeat = self.next.is_some();
        if self.next.is_none() {
            self.run = run;
        } else if self.run != run {
            // The sequence number cannot show what the node sent before.
            self.run = None;
        }
    }

    /// Takes the epoch and the offset of a message, as far as it has them.
    pub fn move_to(&mut self, message: &Value) {
        let epoch: Option<Epoch> = message["epoch"].as_str().and_then(|epoch| epoch.parse().ok());
        let offset = message["offset"].as_u64().or_else(|| message["to"].as_u64()).map(Offset);
        let before = self.position;
        let epoch = epoch.or(before.map(|at| at.epoch));
        let offset = offset.or(before.map(|at| at.offset));
        self.position = epoch.zip(offset).map(|(epoch, offset)| Position { epoch, offset });
    }

    /// Returns where another DAC continues, or the same one after a restart; none before the first sample.
    pub fn resume(&self) -> Option<String> {
        let next = self.next?;
        let portable = self.run.map(|run| PortablePosition { run, sequence: next }.to_string());
        let position = self.position.map(|at| at.to_string());
        Some(position.into_iter().chain(portable).collect::<Vec<_>>().join(" "))
    }

    /// Whether the sample was there before. A number says so within a run, and the time otherwise.
    pub fn has(&self, sample: &Sample) -> bool {
        let is_before = self.next.is_some_and(|next| sample.sequence < next);
        self.may_repeat && sample.time <= self.newest && (is_before || self.run.is_none())
    }

    /// Notes a sample that comes before its turn. Returns false if it was there before.
    pub fn show_ahead(&mut self, sample: &Sample) -> bool {
        let is_before = self.next.is_some_and(|next| sample.sequence < next) && sample.time <= self.newest;
        if is_before || self.ahead.get(&sample.sequence) == Some(&sample.time) {
            return false;
        }
        if self.ahead.len() >= MAX_AHEAD_SAMPLES {
            self.ahead.pop_first();
        }
        self.ahead.insert(sample.sequence, sample.time);
        true
    }

    /// Whether a sample that comes in its turn was shown ahead of that.
    pub fn was_ahead(&mut self, sample: &Sample) -> bool {
        let is_same = self.ahead.get(&sample.sequence) == Some(&sample.time);
        if is_same {
            // Earlier ones do not come any more.
            self.ahead = self.ahead.split_off(&sample.sequence.saturating_add(1));
        }
        is_same
    }

    /// Takes the next sample. Returns the number that was expected instead, if it has another one.
    pub fn take(&mut self, sample: &Sample) -> Option<u64> {
        let expected = self.next.filter(|next| sample.sequence != *next);
        if expected.is_some_and(|expected| sample.sequence < expected) {
            self.run = None;
        }
        self.may_repeat = false;
        self.next = Some(sample.sequence.saturating_add(1));
        self.newest = sample.time;
        if let Some(at) = &mut self.position {
            at.offset = Offset(sample.offset.saturating_add(1));
        }
        expected
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const RUN: &str = "00000000-0000-0000-0000-000000000001";
    const OTHER_RUN: &str = "00000000-0000-0000-0000-000000000002";

    fn sample(sequence: u64, offset: u64, time: u64) -> Sample {
        Sample { sequence, offset, time, values: Vec::new() }
    }

    fn subscribed(epoch: &str, offset: u64, run: &str) -> Value {
        json!({"epoch": format!("00000000000000{epoch}"), "offset": offset, "instance": {"run": run}})
    }

    /// After samples 7 and 8, at times 70 and 80.
    fn followed() -> FollowPosition {
        let mut place = FollowPosition::default();
        place.begin(&subscribed("aa", 3, RUN));
        assert_eq!(
            (place.resume(), place.take(&sample(7, 3, 70)), place.take(&sample(8, 4, 80))),
            (None, None, None)
        );
        place
    }

    #[test]
    fn a_follower_resumes_after_its_last_sample_at_any_dac() {
        let mut place = followed();
        assert_eq!(place.resume().unwrap(), format!("00000000000000aa:5 {RUN}@9"));
        place.move_to(&json!({"op": "gap", "from": 5, "to": 9}));
        assert_eq!(place.resume().unwrap(), format!("00000000000000aa:9 {RUN}@9"));
        place.move_to(&json!({"op": "epoch", "epoch": "00000000000000ab", "offset": 1}));
        assert_eq!(place.resume().unwrap(), format!("00000000000000ab:1 {RUN}@9"));
    }

    #[test]
    fn samples_that_another_dac_sends_again_are_known() {
        let mut place = followed();
        assert!(!place.has(&sample(8, 4, 80)), "the same connection sends nothing twice");
        place.begin(&subscribed("bb", 0, RUN));
        assert!(
            place.has(&sample(7, 0, 70)) && place.has(&sample(8, 1, 80)) && !place.has(&sample(9, 2, 90))
        );
        assert_eq!(place.take(&sample(10, 3, 100)), Some(9));
        assert!(!place.has(&sample(9, 4, 90)));
    }

    #[test]
    fn a_sample_that_was_shown_ahead_is_known_when_its_turn_comes() {
        let mut place = followed();
        assert!(!place.show_ahead(&sample(8, u64::MAX, 80)), "its turn has come");
        assert!(
            place.show_ahead(&sample(11, u64::MAX, 110)) && !place.show_ahead(&sample(11, u64::MAX, 110))
        );
        assert_eq!(place.resume().unwrap(), format!("00000000000000aa:5 {RUN}@9"), "9 is still wanted");
        assert!(!place.was_ahead(&sample(11, 5, 90)), "a sample of another run");
        assert!(!place.was_ahead(&sample(9, 5, 90)) && place.was_ahead(&sample(11, 6, 110)));
        assert!(!place.was_ahead(&sample(11, 6, 110)));
    }

    #[test]
    fn a_node_that_was_restarted_meanwhile_repeats_nothing() {
        let mut place = followed();
        place.begin(&subscribed("bb", 0, OTHER_RUN));
        assert!(place.has(&sample(8, 0, 80)), "sent by the run before");
        assert!(!place.has(&sample(1, 1, 90)));
        assert_eq!(place.take(&sample(1, 1, 90)), Some(9));
        assert_eq!(place.resume().unwrap(), "00000000000000bb:2");
        // The DAC may report the old run although samples of a new one follow.
        let mut place = followed();
        place.begin(&subscribed("bb", 0, RUN));
        assert!(!place.has(&sample(1, 0, 90)));
    }
}

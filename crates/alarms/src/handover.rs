//! The state of a node for its next DAC: the node's alarms, and the states of the rules that read it.
//!
//! A DAC keeps [`Copies`](crate::Copies) of the state of others, because one that has ended gives nothing any more. Of
//! several copies, the one of the later connection of the node counts ([`NodeConnection::is_after`]).

use crate::{
    AlarmView, Checkpoint, CheckpointKey, NodeConnection, Position,
    machine::{Shelve, State, TimedShelve},
    memory::Alarm,
};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use oasis_rules::Standing;
use oasis_wire::quantity::{Epoch, Offset};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// Most bytes of a text of an alarm.
const TEXT_BYTES: usize = 8 * 1024;
/// Most alarms of a node that are taken over.
const MAX_ALARMS: usize = 20_000;
/// Bytes that an alarm counts besides its texts.
const ALARM_BYTES: usize = 512;

/// The alarms of a node, and the states of its rules.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Handover {
    /// The node.
    pub node: String,
    /// Under which connection of the node they are; none if the DAC has not noted it.
    pub home: Option<NodeConnection>,
    /// Whether the DAC evaluates the node's rules no longer: nothing follows.
    pub is_final: bool,
    /// All alarms of the node.
    pub alarms: Vec<HandedAlarm>,
    /// The states of rules.
    pub checkpoints: Vec<HandedCheckpoint>,
    /// States that are missing, because they have too many bytes.
    pub left_out: usize,
}

impl Handover {
    /// Its bytes, about.
    pub fn bytes(&self) -> usize {
        let alarms: usize = self.alarms.iter().map(HandedAlarm::bytes).sum();
        self.node.len() + alarms + self.checkpoints.iter().map(HandedCheckpoint::bytes).sum::<usize>()
    }

    /// Leaves out states of rules until it has no more than that many bytes.
    pub fn fit(&mut self, most: usize) {
        let mut room = most.saturating_sub(self.alarms.iter().map(HandedAlarm::bytes).sum());
        let before = self.checkpoints.len();
        self.checkpoints.retain(|kept| match room.checked_sub(kept.bytes()) {
            Some(left) => {
                room = left;
                true
            }
            None => false,
        });
        self.left_out += before - self.checkpoints.len();
    }

    /// Leaves out what does not belong to the node, or is larger than any DAC makes it.
    pub fn check(&mut self) {
        let node = &self.node;
        self.alarms.retain(|alarm| alarm.view.key.node == *node && alarm.is_bounded());
        self.alarms.truncate(MAX_ALARMS);
    }
}

/// An alarm with all that the next DAC needs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HandedAlarm {
    /// As readers see it.
    #[serde(flatten)]
    pub view: AlarmView,
    /// First duration of its timed shelve, nanoseconds.
    pub shelved_nanos: Option<u64>,
    /// Whether the last message about it said that it stands.
    pub is_told: bool,
    /// When it was raised last, nanoseconds on the clock of the DAC.
    pub raised_dac: Option<u64>,
}

impl HandedAlarm {
    pub(crate) fn of(alarm: &Alarm, now: u64) -> Self {
        Self {
            view: alarm.shown(now),
            shelved_nanos: alarm.state.shelve.timed.map(|timed| timed.nanos),
            is_told: alarm.state.is_told,
            raised_dac: alarm.raised_dac,
        }
    }

    /// As a DAC has shown it to this one. What it showed as standing it has told the destinations.
    pub fn shown(view: AlarmView, now: u64) -> Self {
        let shelved_nanos = view.shelved_until.map(|until| until.saturating_sub(now));
        let stands = view.state != Standing::Normal;
        let (is_told, raised_dac) = (stands && !view.is_silenced(), stands.then_some(now));
        Self { view, shelved_nanos, is_told, raised_dac }
    }

    /// Gives its state and all that is known of it to an alarm. A message that this DAC has sent about that one is not forgotten.
    pub(crate) fn give_to(self, alarm: &mut Alarm) {
        let Self { view, shelved_nanos, is_told, raised_dac } = self;
        let timed = view.shelved_until.zip(shelved_nanos).map(|(until, nanos)| TimedShelve { until, nanos });
        alarm.state = State {
            standing: view.state,
            acknowledged: view.acknowledged,
            is_known: view.is_known,
            shelve: Shelve { timed, once: view.shelved_once },
            suppressed: view.suppressed,
            out_of_service: view.out_of_service,
            is_told: is_told || alarm.state.is_told,
        };
        (alarm.view, alarm.raised_dac) = (view, raised_dac);
        alarm.show();
    }

    fn texts(&self) -> impl Iterator<Item = &String> {
        let view = &self.view;
        let names = [&view.key.rule, &view.key.node, &view.key.instance].into_iter();
        let more = [&view.message, &view.unit, &view.cause, &view.comment, &view.principal];
        names.chain(more.into_iter().flatten())
    }

    fn bytes(&self) -> usize {
        ALARM_BYTES + self.texts().map(String::len).sum::<usize>()
    }

    fn is_bounded(&self) -> bool {
        self.texts().all(|text| text.len() <= TEXT_BYTES)
    }
}

/// The states of the rules of an instance.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HandedCheckpoint {
    /// The instance.
    pub instance: String,
    /// The form of the states.
    pub form: String,
    /// The run of the last sample that was evaluated.
    pub run: Option<Uuid>,
    /// Its number.
    pub sequence: u64,
    /// When the DAC received it, nanoseconds on its clock.
    pub dac_time: u64,
    /// The states, in Base64.
    state: String,
}

impl HandedCheckpoint {
    /// Creates the checkpoint of an instance.
    pub fn new(instance: String, checkpoint: &Checkpoint) -> Self {
        let Position { run, sequence, dac_time, .. } = checkpoint.position;
        let (form, state) = (checkpoint.rule_hash.clone(), STANDARD.encode(&checkpoint.state));
        Self { instance, form, run, sequence, dac_time, state }
    }

    /// The checkpoint of an instance of a node, without a place in a log: that of another DAC means nothing here. `None` if it is damaged.
    pub fn checkpoint(&self, node: &str) -> Option<(CheckpointKey, Checkpoint)> {
        let key = CheckpointKey { rule: String::new(), node: node.into(), instance: self.instance.clone() };
        let Self { run, sequence, dac_time, .. } = *self;
        let position = Position { run, sequence, epoch: Epoch(0), offset: Offset(0), dac_time };
        let state = STANDARD.decode(&self.state).ok()?;
        Some((key, Checkpoint { rule_hash: self.form.clone(), position, state }))
    }

    fn bytes(&self) -> usize {
        self.instance.len() + self.state.len() + 128
    }
}

/// Changes since a position.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HandoverPage {
    /// The position after it.
    pub position: u64,
    /// Whether more follows at once.
    pub has_more: bool,
    /// Nodes whose alarms or states have changed, each with all of them.
    pub nodes: Vec<Handover>,
}

/// State that comes from another DAC with a node.
#[derive(Debug, Clone, PartialEq)]
pub struct Arrival {
    /// The node.
    pub node: String,
    /// Its connection to this DAC.
    pub home: NodeConnection,
    /// The name of the other DAC and what it had, if it had the node last.
    pub from: Option<(String, Vec<HandedAlarm>)>,
    /// The states of rules from there, in this DAC's places.
    pub checkpoints: Vec<(CheckpointKey, Checkpoint)>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::AlarmKey;

    fn home(run: u128, attach: impl Into<Option<u64>>, since: u64) -> NodeConnection {
        NodeConnection { run: Uuid::from_u128(run), attach: attach.into(), since }
    }

    #[test]
    fn the_count_of_the_node_decides_within_a_run_and_the_time_otherwise() {
        assert!(home(1, 2, 0).is_after(&home(1, 1, 9)));
        assert!(!home(1, 1, 9).is_after(&home(1, 2, 0)));
        assert!(!home(1, 1, 9).is_after(&home(1, 1, 0)), "the same connection");
        assert!(home(2, 1, 9).is_after(&home(1, 7, 0)) && !home(1, 7, 0).is_after(&home(2, 1, 9)));
        assert!(home(1, None, 9).is_after(&home(1, None, 0)));
    }

    fn alarm(node: &str, comment: usize) -> HandedAlarm {
        let key = AlarmKey { rule: "Hot".into(), node: node.into(), instance: "pump".into() };
        // A reader of JSON that does not round to the nearest number takes this value for the one before it.
        let value = Some(0.098_943_830_817_006_53);
        let view = AlarmView { value, comment: Some("x".repeat(comment)), ..AlarmView::new(key) };
        HandedAlarm { view, shelved_nanos: None, is_told: false, raised_dac: None }
    }

    fn handed(bytes: usize) -> HandedCheckpoint {
        let position = Position { run: None, sequence: 7, epoch: Epoch(3), offset: Offset(9), dac_time: 5 };
        HandedCheckpoint::new(
            "pump".into(),
            &Checkpoint { rule_hash: "form".into(), position, state: vec![7; bytes] },
        )
    }

    #[test]
    fn what_is_not_of_the_node_or_too_long_is_left_out() {
        let alarms = vec![alarm("plant", 3), alarm("other", 3), alarm("plant", TEXT_BYTES + 1)];
        let mut handover = Handover {
            node: "plant".into(),
            home: None,
            is_final: false,
            alarms,
            checkpoints: vec![handed(10), handed(100_000), handed(10)],
            left_out: 0,
        };
        handover.check();
        assert_eq!(handover.alarms, [alarm("plant", 3)]);
        handover.fit(2_000);
        assert_eq!((handover.checkpoints.len(), handover.left_out), (2, 1));
        assert!(handover.bytes() < 2_000);
    }

    #[test]
    fn a_handover_survives_its_way() {
        let handover = Handover {
            node: "plant".into(),
            home: Some(home(1, 2, 3)),
            is_final: true,
            alarms: vec![alarm("plant", 3)],
            checkpoints: vec![handed(10)],
            left_out: 0,
        };
        let text = serde_json::to_string(&handover).unwrap();
        assert_eq!(serde_json::from_str::<Handover>(&text).unwrap(), handover);
        let (key, checkpoint) = handover.checkpoints[0].checkpoint("plant").unwrap();
        assert_eq!((key.node.as_str(), key.instance.as_str()), ("plant", "pump"));
        assert_eq!((checkpoint.state, checkpoint.position.sequence), (vec![7; 10], 7));
        assert_eq!(checkpoint.position.offset, Offset(0), "a place of another DAC means nothing here");
    }
}

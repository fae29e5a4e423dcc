//! Evaluations that begin again after crashes have the effect of one evaluation.

use crate::support::*;
use oasis_alarms::{
    Action, ActionVerb, AlarmView, Alarms, Checkpoint, CheckpointKey, Filter, JournalEntry, Limits, Message,
    Outcome, Position, Round,
};
use oasis_rules::EventKind;
use oasis_wire::quantity::{Epoch, Nanos, Offset};
use proptest::prelude::*;
use std::fs;
use tempfile::TempDir;

const DATABASE: &str = "alarms.sqlite3";
const LOG: &str = "alarms.sqlite3-wal";

/// A step between two changes.
#[derive(Debug, Clone)]
enum Step {
    /// Events of the next second.
    Commit(Vec<(bool, u8, EventKind)>),
    Act(bool, u8, ActionVerb),
    /// Time passes, in seconds.
    Pass(u64),
    /// The first message that is due ends so.
    Settle(bool),
    /// The process ends; `repeats` of the last rounds are committed again.
    Crash {
        repeats: usize,
        is_clean: bool,
    },
    /// The power fails while the last round is written.
    TornWrite {
        kept: u8,
    },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let kind = prop::sample::select(vec![
        EventKind::Raised,
        EventKind::Cleared,
        EventKind::Unknown,
        EventKind::Known,
        EventKind::Violated,
    ]);
    let verb = prop::sample::select(vec![
        ActionVerb::Acknowledge,
        ActionVerb::Shelve { seconds: Some(3), once: false },
        ActionVerb::Shelve { seconds: None, once: true },
        ActionVerb::Unshelve,
        ActionVerb::Suppress,
        ActionVerb::Unsuppress,
        ActionVerb::OutOfService,
        ActionVerb::InService,
    ]);
    let step = prop_oneof![
        6 => prop::collection::vec((any::<bool>(), 0..3_u8, kind), 1..4).prop_map(Step::Commit),
        4 => (any::<bool>(), 0..3_u8, verb).prop_map(|(rule, instance, verb)| Step::Act(rule, instance, verb)),
        2 => (0..5_u64).prop_map(Step::Pass),
        2 => any::<bool>().prop_map(Step::Settle),
        2 => (0..4_usize, any::<bool>()).prop_map(|(repeats, is_clean)| Step::Crash { repeats, is_clean }),
        1 => any::<u8>().prop_map(|kept| Step::TornWrite { kept }),
    ];
    prop::collection::vec(step, 1..40)
}

/// All that can be seen.
#[derive(Debug, PartialEq)]
struct VisibleState {
    alarms: Vec<AlarmView>,
    journal: Vec<JournalEntry>,
    messages: Vec<Message>,
    checkpoint: Option<Checkpoint>,
    revision: u64,
}

fn seen(alarms: &Alarms) -> VisibleState {
    VisibleState {
        alarms: alarms.list(&Filter::default()).alarms,
        journal: journal(alarms),
        messages: alarms.due(Nanos(u64::MAX / 2), 10_000).unwrap(),
        checkpoint: alarms.checkpoint(&checkpoint_key()).unwrap(),
        revision: *alarms.watch().borrow(),
    }
}

fn checkpoint_key() -> CheckpointKey {
    CheckpointKey { rule: "all".into(), node: String::new(), instance: String::new() }
}

/// Opens a copy of the files as they are now: what a process finds that follows one that was killed.
fn killed(folder: &TempDir, log: Option<Vec<u8>>) -> (TempDir, Alarms) {
    let copy = tempfile::tempdir().unwrap();
    fs::copy(folder.path().join(DATABASE), copy.path().join(DATABASE)).unwrap();
    let log = log.unwrap_or_else(|| fs::read(folder.path().join(LOG)).unwrap_or_default());
    fs::write(copy.path().join(LOG), log).unwrap();
    let alarms = open(&copy, Limits::default());
    (copy, alarms)
}

/// A file of which only `kept` 255ths of the change have reached the disk.
fn torn_file(before: &[u8], after: &[u8], kept: u8) -> Vec<u8> {
    let is_changed = |at: &usize| before.get(*at) != after.get(*at);
    let Some(first) = (0..after.len()).find(is_changed) else { return after.to_vec() };
    let end = (0..after.len()).rev().find(is_changed).map_or(first, |last| last + 1);
    let cut = first + (end - first) * usize::from(kept) / 255;
    [&after[..cut], before.get(cut..).unwrap_or_default()].concat()
}

/// Alarms that crash, and what they were given.
struct Crashing {
    folder: TempDir,
    alarms: Option<Alarms>,
    rounds: Vec<Round>,
}

impl Crashing {
    fn alarms(&self) -> &Alarms {
        self.alarms.as_ref().unwrap()
    }

    fn crash(&mut self, repeats: usize, is_clean: bool) {
        if is_clean {
            self.alarms = None;
            self.alarms = Some(open(&self.folder, Limits::default()));
        } else {
            let (folder, alarms) = killed(&self.folder, None);
            (self.folder, self.alarms) = (folder, Some(alarms));
        }
        let from = self.rounds.len().saturating_sub(repeats);
        let checkpoint = self.alarms().checkpoint(&checkpoint_key()).unwrap();
        for round in &self.rounds[from..] {
            // The engine would write later checkpoints.
            let again =
                Round { checkpoints: vec![], now: self.rounds[self.rounds.len() - 1].now, ..round.clone() };
            let committed = self.alarms().commit(again).unwrap();
            assert_eq!((committed.events, committed.duplicates), (0, round.events.len()));
        }
        assert_eq!(self.alarms().checkpoint(&checkpoint_key()).unwrap(), checkpoint);
    }

    /// Commits a round of which only a part reaches the disk: none of it or all of it has happened, and committing it again has the same effect.
    fn torn(&mut self, round: &Round, kept: u8) {
        let log = || fs::read(self.folder.path().join(LOG)).unwrap_or_default();
        let (before, log_before) = (seen(self.alarms()), log());
        self.alarms().commit(round.clone()).unwrap();
        let after = seen(self.alarms());
        let (folder, alarms) = killed(&self.folder, Some(torn_file(&log_before, &log(), kept)));
        alarms.tick(round.now).unwrap();
        let found = seen(&alarms);
        let shown =
            |seen: &VisibleState| (seen.journal.clone(), seen.messages.clone(), seen.checkpoint.clone());
        assert!(
            shown(&found) == shown(&before) || shown(&found) == shown(&after),
            "a part of a round: {found:?}"
        );
        (self.folder, self.alarms) = (folder, Some(alarms));
        self.alarms().commit(round.clone()).unwrap();
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn crashes_and_repetitions_change_nothing(steps in steps()) {
        let (_calm_folder, calm) = alarms();
        let (folder, first) = alarms();
        let mut crashing = Crashing { folder, alarms: Some(first), rounds: vec![] };
        let mut second = 1;
        let mut sequence = 0;
        let mut next_round = |second: u64, events: &[(bool, u8, EventKind)]| {
            let events = events.iter().map(|(latches, instance, kind)| {
                sequence += 1;
                let rule = if *latches { "Latched" } else { "Hot" };
                event(rule, &format!("pump {instance}"), *kind, sequence)
            });
            let events = events.collect();
            let position = Position { run: None, sequence, epoch: Epoch(1), offset: Offset(sequence), dac_time: 0 };
            let checkpoint = Checkpoint { rule_hash: "1".into(), position, state: vec![7; 10] };
            Round { checkpoints: vec![(checkpoint_key(), checkpoint)], ..round(second, events) }
        };
        for step in steps {
            second += 1;
            let now = Nanos(second * NANOS_PER_SECOND);
            match step {
                Step::Commit(events) => {
                    let round = next_round(second, &events);
                    calm.commit(round.clone()).unwrap();
                    crashing.alarms().commit(round.clone()).unwrap();
                    crashing.rounds.push(round);
                }
                Step::Act(latches, instance, verb) => {
                    let rule = if latches { "Latched" } else { "Hot" };
                    let act = |alarms: &Alarms| {
                        let action = Action { now, ..action(rule, &format!("pump {instance}"), verb, second) };
                        alarms.act(action).map_err(|error| error.to_string())
                    };
                    prop_assert_eq!(act(&calm), act(crashing.alarms()));
                }
                Step::Pass(seconds) => {
                    second += seconds;
                    calm.tick(Nanos(second * NANOS_PER_SECOND)).unwrap();
                    crashing.alarms().tick(Nanos(second * NANOS_PER_SECOND)).unwrap();
                }
                Step::Settle(is_delivered) => {
                    let settle = |alarms: &Alarms| {
                        if let Some(message) = alarms.due(now, 1).unwrap().first() {
                            let retry = Outcome::Retry { at: Nanos(now.0 + 2 * NANOS_PER_SECOND), why: "no".into() };
                            let outcome = if is_delivered { Outcome::Delivered } else { retry };
                            alarms.settle(message.id, outcome).unwrap();
                        }
                    };
                    settle(&calm);
                    settle(crashing.alarms());
                }
                Step::Crash { repeats, is_clean } => {
                    // Time passes for both alike.
                    calm.tick(now).unwrap();
                    crashing.alarms().tick(now).unwrap();
                    let rounds = &mut crashing.rounds;
                    rounds.iter_mut().for_each(|round| round.now = now);
                    crashing.crash(repeats, is_clean);
                    crashing.alarms().tick(now).unwrap();
                }
                Step::TornWrite { kept } => {
                    let round = next_round(second, &[(false, 0, EventKind::Raised), (true, 1, EventKind::Cleared)]);
                    calm.tick(now).unwrap();
                    crashing.alarms().tick(now).unwrap();
                    calm.commit(round.clone()).unwrap();
                    crashing.torn(&round, kept);
                    crashing.rounds.push(round);
                }
            }
        }
        let now = Nanos((second + 1) * NANOS_PER_SECOND);
        calm.tick(now).unwrap();
        crashing.alarms().tick(now).unwrap();
        prop_assert_eq!(seen(&calm), seen(crashing.alarms()));
        // The shown state is the stored one.
        let before = seen(crashing.alarms());
        crashing.crash(0, true);
        crashing.alarms().tick(now).unwrap();
        prop_assert_eq!(before, seen(crashing.alarms()));
    }
}

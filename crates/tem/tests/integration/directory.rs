//! The directory under heartbeats that are lost, repeated, reordered and forged, and under clocks that jump.

use oasis_tem::{
    Accepted, Attachment, Beaten, DOUBLE_AFTER, DacName, Directory, FORGET_AFTER, HEARTBEAT, Health,
    Heartbeat, Kind, LATE_AFTER, Limits, Liveness, Load, NodeNames, Refusal,
};
use oasis_wire::quantity::Epoch;
use proptest::{collection::vec, prelude::*};
use std::{collections::BTreeMap, time::Duration};

const QUARTER: Duration = Duration::from_millis(250);

fn name(text: &str) -> DacName {
    text.parse().unwrap()
}

fn heartbeat(epoch: u64, beat: u64, nodes: &[&str]) -> Heartbeat {
    let online = nodes.iter().map(|node| (*node).to_owned()).collect();
    Heartbeat {
        epoch: Epoch(epoch),
        beat,
        kind: Kind::Dac,
        doors: format!("http://192.0.2.{}:7070", epoch % 250),
        channel: "192.0.2.1:7071".into(),
        software: "test".into(),
        health: Health::Ok,
        load: Load::default(),
        names_revision: 1,
        names: Some(NodeNames { online, ..NodeNames::default() }),
    }
}

/// A heartbeat of a DAC with one node that has counted its connections.
fn attached(epoch: u64, beat: u64, attach: Option<u64>) -> Heartbeat {
    let mut heartbeat = heartbeat(epoch, beat, &["plant"]);
    heartbeat.names_revision = beat;
    let names = heartbeat.names.as_mut().unwrap();
    let run = "6f1b7c1e-3a55-4d5e-8c57-2f6e4f1f9d01".parse().unwrap();
    names.attached = attach.map(|attach| ("plant".into(), Attachment { run, attach })).into_iter().collect();
    heartbeat
}

#[test]
fn a_dac_learns_once_that_its_node_has_come_to_another() {
    let mut tem = Directory::new(Limits::default());
    let mut beat = |dac: &str, heartbeat: Heartbeat| {
        let accepted = tem.beat(&name(dac), heartbeat, Duration::ZERO).unwrap();
        accepted.moved.into_iter().map(|moved| (moved.node, moved.to.attach)).collect::<Vec<_>>()
    };
    let again = |epoch, beat| Heartbeat { names: None, names_revision: 1, ..heartbeat(epoch, beat, &[]) };
    assert_eq!(beat("a", attached(1, 1, Some(1))), []);
    assert_eq!(beat("b", attached(2, 1, Some(2))), [], "it has the later connection");
    assert_eq!(beat("a", again(1, 2)), [("plant".to_owned(), 2)]);
    assert_eq!(beat("a", again(1, 3)), []);
    assert_eq!(
        beat("a", attached(1, 4, Some(1))),
        [("plant".to_owned(), 2)],
        "it lists the node all the same"
    );
    assert_eq!(beat("a", attached(1, 5, Some(3))), []);
    assert_eq!(beat("b", again(2, 2)), [("plant".to_owned(), 3)]);
    assert_eq!(beat("b", attached(2, 3, None)), [], "nothing is known of a node that does not count");
}

#[test]
fn a_dac_learns_where_the_nodes_are_that_have_left_it() {
    let mut tem = Directory::new(Limits::default());
    let mut beat = |dac: &str, heartbeat: Heartbeat| {
        let accepted = tem.beat(&name(dac), heartbeat, Duration::ZERO).unwrap();
        accepted.moved.into_iter().map(|moved| (moved.dac, moved.to.attach)).collect::<Vec<_>>()
    };
    let left = |beat, run: u128, attach| {
        let mut heartbeat = heartbeat(1, beat, &[]);
        heartbeat.names_revision = beat;
        let names = heartbeat.names.as_mut().unwrap();
        names.offline = vec!["plant".into()];
        let run = uuid::Uuid::from_u128(run);
        names.left = [("plant".to_owned(), Attachment { run, attach })].into();
        heartbeat
    };
    let run = 0x6f1b_7c1e_3a55_4d5e_8c57_2f6e_4f1f_9d01;
    beat("b", attached(2, 1, Some(2)));
    assert_eq!(beat("a", left(1, run, 3)), [], "its last connection was here");
    assert_eq!(beat("a", left(2, run, 1)), [("b".to_owned(), 2)]);
    assert_eq!(beat("a", left(3, run, 0)), [("b".to_owned(), 2)], "it has forgotten the number");
    assert_eq!(beat("a", left(4, 9, 7)), [("b".to_owned(), 2)], "the node was started again there");
    beat("b", attached(2, 2, None));
    assert_eq!(beat("a", left(5, run, 1)), []);
}

/// A directory with the time of its caller.
struct Observer {
    directory: Directory,
    clock: Duration,
}

impl Observer {
    fn new(limits: Limits) -> Self {
        Self { directory: Directory::new(limits), clock: Duration::ZERO }
    }

    fn beat(&mut self, dac: &str, heartbeat: Heartbeat) -> Result<Beaten, Refusal> {
        self.directory.beat(&name(dac), heartbeat, self.clock).map(|accepted| accepted.beaten)
    }

    /// Lets time pass, and polls the directory as often as an owner does.
    fn wait(&mut self, time: Duration) {
        let end = self.clock + time;
        while self.clock < end {
            self.clock = end.min(self.clock + QUARTER);
            self.directory.advance(self.clock);
        }
    }

    fn liveness(&self, dac: &str) -> Option<Liveness> {
        self.directory.members().find(|member| member.name().as_str() == dac).map(|member| member.liveness())
    }
}

#[test]
fn a_silent_dac_is_late_after_three_heartbeats_and_gone_after_five_minutes() {
    let mut tem = Observer::new(Limits::default());
    assert_eq!(tem.beat("a", heartbeat(1, 1, &["plant"])), Ok(Beaten::Joined));
    tem.wait(LATE_AFTER - QUARTER);
    assert_eq!(tem.liveness("a"), Some(Liveness::Live));
    tem.wait(QUARTER);
    assert_eq!(tem.liveness("a"), Some(Liveness::Late));
    assert_eq!(tem.beat("a", heartbeat(1, 2, &["plant"])), Ok(Beaten::Heard));
    assert_eq!(tem.liveness("a"), Some(Liveness::Live));
    tem.wait(FORGET_AFTER);
    assert_eq!(tem.liveness("a"), None);
    assert_eq!((tem.directory.counters().expired, tem.directory.names()), (1, (0, 0)));
}

/// A heartbeat of a DAC with `plant`, in this run of it.
fn connected(epoch: u64, beat: u64, (run, attach): (u128, u64)) -> Heartbeat {
    let mut heartbeat = attached(epoch, beat, Some(attach));
    let names = heartbeat.names.as_mut().unwrap();
    names.attached.values_mut().for_each(|attachment| attachment.run = uuid::Uuid::from_u128(run));
    heartbeat
}

#[test]
fn different_nodes_of_one_name_are_doubles_once_that_has_lasted() {
    let mut tem = Observer::new(Limits::default());
    let mut number = 0;
    // Both DACs send heartbeats for a while. Returns the doubles.
    let mut go_on = |time: Duration, a: Option<(u128, u64)>, b: Option<(u128, u64)>| {
        for _ in 0..time.as_millis() / HEARTBEAT.as_millis() {
            number += 1;
            for (dac, epoch, node) in [("a", 1, a), ("b", 2, b)] {
                let Some(node) = node else { continue };
                tem.beat(dac, connected(epoch, number, node)).unwrap();
            }
            tem.wait(HEARTBEAT);
        }
        let doubles = tem.directory.doubles();
        doubles
            .map(|double| (double.node, double.dacs.iter().map(ToString::to_string).collect::<Vec<_>>()))
            .collect::<Vec<_>>()
    };
    let (minute, moment) = (Duration::from_secs(60), DOUBLE_AFTER - HEARTBEAT);
    assert_eq!(go_on(minute, Some((1, 1)), Some((1, 2))), [], "it has moved");
    assert_eq!(go_on(moment, Some((1, 1)), Some((2, 1))), [], "it may have started again elsewhere");
    assert_eq!(go_on(minute, Some((1, 3)), Some((1, 2))), []);
    let double = ("plant".to_owned(), vec!["a".to_owned(), "b".to_owned()]);
    assert_eq!(go_on(minute, Some((1, 3)), Some((2, 1))), [double]);
    assert_eq!(go_on(minute, None, Some((2, 1))), [], "one DAC is late");
}

#[test]
fn a_name_of_dots_alone_is_none() {
    for text in [".", "..", "", "a/b"] {
        assert!(text.parse::<DacName>().is_err(), "{text}");
    }
    for text in ["...", "hall.1", ".hall"] {
        assert_eq!(name(text).as_str(), text);
    }
}

#[test]
fn an_observer_that_was_stopped_blames_nobody() {
    let mut tem = Observer::new(Limits::default());
    tem.beat("a", heartbeat(1, 1, &[])).unwrap();
    // An hour passes while the observer does not run, and its clock goes back later.
    tem.clock += Duration::from_secs(3_600);
    tem.directory.advance(tem.clock);
    assert_eq!(tem.liveness("a"), Some(Liveness::Live));
    tem.clock = Duration::ZERO;
    tem.directory.advance(tem.clock);
    assert_eq!(tem.liveness("a"), Some(Liveness::Live));
    tem.wait(LATE_AFTER);
    assert_eq!(tem.liveness("a"), Some(Liveness::Late));
}

#[test]
fn a_live_holder_keeps_its_name_and_a_late_one_loses_it() {
    let mut tem = Observer::new(Limits::default());
    tem.beat("a", heartbeat(1, 7, &["plant"])).unwrap();
    let refused = tem.beat("a", heartbeat(2, 1, &[])).unwrap_err();
    assert!(matches!(refused, Refusal::NameTaken { .. }));
    for words in ["192.0.2.1:7070", "192.0.2.2:7070", "--dac-name"] {
        assert!(refused.to_string().contains(words), "{refused}");
    }
    tem.wait(LATE_AFTER);
    assert_eq!(tem.beat("a", heartbeat(2, 2, &["mill"])), Ok(Beaten::TookOver));
    // Heartbeats that the first process sent before are still under way.
    assert!(matches!(tem.beat("a", heartbeat(1, 7, &["plant"])), Err(Refusal::Old { .. })));
    tem.wait(LATE_AFTER);
    assert!(matches!(tem.beat("a", heartbeat(1, 7, &["plant"])), Err(Refusal::Old { .. })));
    assert_eq!(tem.directory.holders("plant").count(), 0);
    // The first process was not dead: now the name is free again.
    assert_eq!(tem.beat("a", heartbeat(1, 8, &["plant"])), Ok(Beaten::TookOver));
}

#[test]
fn a_dac_that_has_left_is_not_brought_back_by_its_own_heartbeats() {
    let mut tem = Observer::new(Limits::default());
    tem.beat("a", heartbeat(1, 1, &["plant"])).unwrap();
    assert!(!tem.directory.leave(&name("a"), (Epoch(2), 9), tem.clock), "another process has the name");
    assert!(tem.directory.leave(&name("a"), (Epoch(1), 9), tem.clock));
    assert!(matches!(tem.beat("a", heartbeat(1, 8, &["plant"])), Err(Refusal::Old { .. })));
    assert_eq!(tem.beat("a", heartbeat(2, 1, &[])), Ok(Beaten::Joined), "the next process need not wait");
}

#[test]
fn what_does_not_fit_is_left_out_and_counted() {
    let limits = Limits { members: 2, node_names: 3, node_name_bytes: 100, removals: 2 };
    let mut tem = Observer::new(limits);
    tem.beat("a", heartbeat(1, 1, &["x", "y"])).unwrap();
    tem.beat("b", heartbeat(2, 1, &["v", "w", "z"])).unwrap();
    let kept: Vec<_> =
        tem.directory.members().map(|member| (member.online().len(), member.left_out())).collect();
    assert_eq!((kept, tem.directory.names().0), (vec![(2, 0), (1, 2)], 3));
    assert_eq!(tem.beat("c", heartbeat(3, 1, &[])), Err(Refusal::Full(2)));
    tem.wait(HEARTBEAT);
    tem.beat("b", heartbeat(2, 2, &["v"])).unwrap();
    tem.wait(LATE_AFTER - HEARTBEAT);
    assert_eq!(tem.beat("c", heartbeat(3, 2, &[])), Ok(Beaten::Joined), "the late one makes room");
    assert_eq!((tem.liveness("a"), tem.directory.counters().evicted), (None, 1));
    let long = "n".repeat(101);
    tem.beat("b", heartbeat(2, 3, &[&long])).unwrap();
    assert_eq!((tem.directory.names(), tem.directory.counters().names_left_out), ((0, 0), 3));
}

#[test]
fn names_are_asked_for_when_they_are_missing() {
    let mut tem = Observer::new(Limits::default());
    let mut wants = |heartbeat| {
        let Accepted { wants_names, .. } = tem.directory.beat(&name("a"), heartbeat, Duration::ZERO).unwrap();
        wants_names
    };
    let without = |beat, names_revision| Heartbeat { names: None, names_revision, ..heartbeat(1, beat, &[]) };
    assert!(wants(without(1, 1)), "a directory that has just started");
    assert!(!wants(heartbeat(1, 2, &["x"])));
    assert!(!wants(without(3, 1)));
    assert!(wants(without(4, 2)));
}

/// Event of a directory.
#[derive(Debug, Clone)]
enum Event {
    Beat {
        dac: usize,
        epoch: u64,
        beat: u64,
        nodes: Vec<u8>,
    },
    /// An earlier heartbeat arrives again.
    Again(prop::sample::Index),
    Leave {
        dac: usize,
        epoch: u64,
        beat: u64,
    },
    /// The clock moves by this many milliseconds; the observer polls once.
    Clock(i64),
}

fn event() -> impl Strategy<Value = Event> {
    let beat = (0..5_usize, 1..4_u64, 0..40_u64, vec(0..12_u8, 0..6));
    prop_oneof![
        6 => beat.prop_map(|(dac, epoch, beat, nodes)| Event::Beat { dac, epoch, beat, nodes }),
        2 => any::<prop::sample::Index>().prop_map(Event::Again),
        1 => (0..5_usize, 1..4_u64, 0..40_u64).prop_map(|(dac, epoch, beat)| Event::Leave { dac, epoch, beat }),
        4 => (-3_000..3_000_i64).prop_map(Event::Clock),
        1 => Just(Event::Clock(400_000)),
    ]
}

const LIMITS: Limits = Limits { members: 3, node_names: 8, node_name_bytes: 12, removals: 3 };

proptest! {
    #[test]
    fn the_rules_hold_whatever_arrives(events in vec(event(), 1..200)) {
        let mut directory = Directory::new(LIMITS);
        let mut clock = Duration::from_secs(1_000);
        let mut sent: Vec<(DacName, Heartbeat)> = Vec::new();
        // A reader that asks for changes alone.
        let (mut at, mut seen) = (None, BTreeMap::new());
        for event in events {
            let before: BTreeMap<_, _> = directory.members().map(|member| (member.name().clone(), member.clone())).collect();
            let replayed = match event {
                Event::Clock(step) => {
                    let step_by = Duration::from_millis(step.unsigned_abs());
                    clock = if step < 0 { clock.saturating_sub(step_by) } else { clock + step_by };
                    directory.advance(clock);
                    None
                }
                Event::Leave { dac, epoch, beat } => {
                    directory.leave(&name(&format!("dac-{dac}")), (Epoch(epoch), beat), clock);
                    None
                }
                Event::Beat { dac, epoch, beat, nodes } => {
                    let nodes: Vec<String> = nodes.iter().map(|node| format!("n{node}")).collect();
                    let nodes: Vec<&str> = nodes.iter().map(String::as_str).collect();
                    sent.push((name(&format!("dac-{dac}")), heartbeat(epoch, beat, &nodes)));
                    sent.last().cloned()
                }
                Event::Again(which) if !sent.is_empty() => Some(which.get(&sent).clone()),
                Event::Again(_) => None,
            };
            if let Some((dac, heartbeat)) = replayed {
                let epoch = heartbeat.epoch;
                let done = directory.beat(&dac, heartbeat.clone(), clock);
                if let (Some(holder), Ok(Accepted { beaten: Beaten::TookOver, .. })) = (before.get(&dac), &done) {
                    prop_assert!(holder.epoch() != epoch && holder.silence(directory.now()) >= LATE_AFTER);
                }
                // The same heartbeat a second time changes nothing.
                let now: Vec<_> = directory.members().cloned().collect();
                prop_assert!(directory.beat(&dac, heartbeat, clock).is_err());
                prop_assert_eq!(now, directory.members().cloned().collect::<Vec<_>>());
            }
            let names: Vec<&String> = directory.members().flat_map(|member| member.online().iter().chain(member.offline())).collect();
            let bytes = names.iter().map(|name| name.len()).sum::<usize>();
            prop_assert_eq!(directory.names(), (names.len(), bytes));
            prop_assert!(names.len() <= LIMITS.node_names && bytes <= LIMITS.node_name_bytes);
            prop_assert!(directory.members().count() <= LIMITS.members);
            for member in directory.members() {
                if let Some(earlier) = before.get(member.name()).filter(|earlier| earlier.epoch() == member.epoch()) {
                    prop_assert!(member.beat() >= earlier.beat(), "a number goes back");
                }
                let is_late = member.liveness() == Liveness::Late;
                prop_assert!(!is_late || member.silence(directory.now()) >= LATE_AFTER, "late without silence");
            }
            let changes = directory.changes(at);
            if changes.complete {
                seen.clear();
            }
            for member in &changes.members {
                seen.insert(member.name().clone(), (member.epoch(), member.liveness(), member.online().to_vec()));
            }
            changes.removed.iter().for_each(|gone| drop(seen.remove(*gone)));
            at = Some(changes.revision);
            let all = directory.members().map(|member| (member.name().clone(), (member.epoch(), member.liveness(), member.online().to_vec())));
            prop_assert_eq!(&seen, &all.collect::<BTreeMap<_, _>>(), "the reader of changes has another picture");
        }
    }

    #[test]
    fn a_dac_that_beats_is_never_late_however_the_clock_jumps(steps in vec(-10_000..1_000_000_i64, 1..50)) {
        let mut directory = Directory::new(Limits::default());
        let mut clock = Duration::from_secs(100_000);
        for (beat, step) in (1..).zip(steps) {
            // At most one look between two heartbeats, whatever the clock says.
            let step_by = Duration::from_millis(step.unsigned_abs());
            clock = if step < 0 { clock.saturating_sub(step_by) } else { clock + step_by };
            directory.advance(clock);
            prop_assert!(directory.members().all(|member| member.liveness() == Liveness::Live));
            directory.beat(&name("a"), heartbeat(1, beat, &[]), clock).unwrap();
        }
    }
}

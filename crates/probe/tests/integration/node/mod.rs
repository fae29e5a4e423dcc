//! Nodes and a DAC that records, in one process: the outcome of samples by kind, policy and command.

mod forwarded;
mod process;
mod recorder;

use oasis_channel::{Drops, Failure, InstanceState, Outcome};
use oasis_probe::{
    Deadbands, Grant, Hertz, Node, NodeBuilder, NodeConfig, NodeError, Overflow, ProbeState, ProbeType,
    PushedKind, RealTime, RingConfig, RowProbe,
};
use oasis_wire::{
    command::Command,
    probe_kind::ProbeKind,
    quantity::Epoch,
    schema::{Metric, MetricType},
};
use recorder::{Recorder, SeenSample, recorder};
use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
        mpsc,
    },
    thread,
    time::{Duration, Instant},
};
use uuid::Uuid;

/// A number and a text.
fn reading() -> ProbeType {
    ProbeType {
        name: "Test::Reading".into(),
        uuid: "6b0c1bbb-37a5-4f3f-a6cf-5a3e2a3a8a01".parse().unwrap(),
        version: "1.0".into(),
        doc: None,
        rate: None,
        metrics: vec![Metric::new("value", MetricType::Real64), Metric::new("label", MetricType::String)],
    }
}

fn builder() -> NodeBuilder {
    NodeBuilder::new("node", NodeConfig { linger: Duration::from_millis(1), ..NodeConfig::default() })
}

fn flush(probe: &mut RowProbe, value: f64) -> bool {
    probe.flush_at(1, |row| {
        row.f64(value);
        row.string("a");
    })
}

/// A node with one pushed probe of this kind.
fn pushing(kind: PushedKind, ring: impl Into<RingConfig>) -> (RowProbe, Node, Recorder) {
    let mut builder = builder();
    let probe = builder.pushed_rows("reading", reading(), kind, ring).unwrap();
    let (connector, recorder) = recorder();
    (probe, builder.start(connector).unwrap(), recorder)
}

#[test]
fn a_node_that_is_shut_down_sends_everything_first() {
    let (mut probe, node, recorder) = pushing(PushedKind::Pushed, 1 << 20);
    assert!((0..5_000).all(|value| flush(&mut probe, value.into())));
    node.shutdown();
    let seen = recorder.samples("reading");
    assert!(seen.iter().map(|sample| sample.value).eq((0..5_000).map(f64::from)));
    assert!(seen.iter().map(|sample| sample.sequence).eq(1..=5_000));
    assert_eq!(recorder.goodbyes(), 1);
}

#[test]
fn a_node_that_is_shut_down_empties_a_large_ring_and_its_probe_refuses_samples() {
    let (mut probe, node, recorder) = pushing(PushedKind::Pushed, 16 << 20);
    // More than the node takes from a ring at once.
    let samples = 3 * u64::from(u16::MAX);
    assert!((0..samples).all(|_| flush(&mut probe, 1.0)));
    assert_eq!(node.shutdown(), None);
    assert_eq!(recorder.samples("reading").len() as u64, samples);
    assert!(!flush(&mut probe, 2.0));
}

#[test]
fn a_sample_that_is_taken_during_a_shutdown_is_sent_and_later_ones_are_refused() {
    let (mut probe, node, recorder) = pushing(PushedKind::Pushed, 1 << 20);
    let (first, is_flushing) = mpsc::channel();
    let flushing = thread::spawn(move || {
        let mut taken = 0;
        while !probe.has_ended() {
            taken += usize::from(flush(&mut probe, 1.0));
            let _ = first.send(());
            thread::yield_now();
        }
        (probe, taken)
    });
    is_flushing.recv().unwrap();
    node.shutdown();
    let (mut probe, taken) = flushing.join().unwrap();
    assert_eq!(recorder.samples("reading").len(), taken);
    let refused = probe.refused();
    assert!((0..9).all(|value| !flush(&mut probe, value.into())), "the ring is empty, but has no reader");
    assert_eq!(probe.refused(), refused + 9);
}

#[test]
fn what_a_full_ring_dropped_last_is_told_before_there_is_another_batch() {
    let (mut probe, node, recorder) = pushing(PushedKind::Pushed, 4_096);
    recorder.wait_for_connections(1);
    while flush(&mut probe, 1.0) {}
    let told = recorder.counters_with("reading", |counters| !counters.after_sent.is_empty());
    let seen = recorder.samples("reading");
    assert_eq!((told.sent, told.after_sent.total()), (seen.len() as u64, told.taken - told.sent));
    assert_eq!(told.after_sent, Drops { ring_full: 1, ..Drops::default() });
    node.shutdown();
}

#[test]
fn a_probe_on_change_sends_changes_above_its_deadband_and_accepts_a_new_one() {
    let deadbands = Deadbands::any_change().with("value", 1.0);
    let (mut probe, node, recorder) = pushing(PushedKind::OnChange(deadbands), 4_096);
    assert_eq!(recorder.instance("reading").kind, ProbeKind::OnChange);
    (0..=10).for_each(|value| assert!(flush(&mut probe, f64::from(value) / 4.0)));
    recorder.wait_for("reading", 3);
    let wider = Command::Deadband { metric: "value".into(), deadband: Some(10.0) };
    let state = InstanceState { hertz: None, enabled: true, recorder: None };
    assert_eq!(recorder.command("reading", wider), Outcome::Done(state));
    (3..=20).for_each(|value| assert!(flush(&mut probe, value.into())));
    node.shutdown();
    let values: Vec<f64> = recorder.samples("reading").iter().map(|sample| sample.value).collect();
    assert_eq!(values, [0.0, 1.25, 2.5, 13.0]);
}

#[test]
fn a_restarted_dac_receives_values_that_do_not_change() {
    let (mut probe, node, recorder) = pushing(PushedKind::OnChange(Deadbands::any_change()), 4_096);
    assert!(flush(&mut probe, 1.0));
    recorder.wait_for("reading", 1);
    recorder.live(Epoch(2));
    recorder.end();
    // Flushed as an application does, whether or not a DAC is connected.
    let began = Instant::now();
    while recorder.samples("reading").len() < 2 {
        assert!(flush(&mut probe, 1.0) && began.elapsed() < Duration::from_secs(20));
        std::thread::yield_now();
    }
    (0..100).for_each(|_| assert!(flush(&mut probe, 1.0)));
    // The same run of the DAC recognizes it over another connection.
    recorder.live(Epoch(2));
    recorder.end();
    recorder.wait_for_connections(3);
    (0..100).for_each(|_| assert!(flush(&mut probe, 1.0)));
    assert!(flush(&mut probe, 2.0));
    node.shutdown();
    let seen: Vec<_> =
        recorder.samples("reading").iter().map(|sample| (sample.sequence, sample.value)).collect();
    assert_eq!(seen, [(1, 1.0), (2, 1.0), (3, 2.0)]);
}

#[test]
fn a_node_leaves_a_dac_that_drains_and_sends_the_rest_to_the_next() {
    let (mut probe, node, recorder) = pushing(PushedKind::Pushed, 1 << 20);
    assert!(flush(&mut probe, 1.0));
    recorder.wait_for("reading", 1);
    recorder.drain();
    recorder.wait_for_goodbyes(1);
    assert!(flush(&mut probe, 2.0));
    recorder.live(Epoch(2));
    recorder.end();
    recorder.wait_for("reading", 2);
    node.shutdown();
    let seen: Vec<_> = recorder.samples("reading").iter().map(|sample| sample.sequence).collect();
    assert_eq!(seen, [1, 2], "what was acknowledged is not sent again");
    let attached = recorder.attached();
    assert!(attached.is_sorted_by(|a, b| a < b) && attached.len() == 2, "{attached:?}");
}

#[test]
fn a_node_with_a_byte_budget_takes_its_time() {
    const RATE: u64 = 100_000;
    let config = NodeConfig { max_bytes_per_second: Some(RATE), batch_samples: 100, ..NodeConfig::default() };
    let mut builder = NodeBuilder::new("node", config);
    let mut probe = builder.pushed_rows("reading", reading(), PushedKind::Pushed, 1 << 20).unwrap();
    let (connector, recorder) = recorder();
    let began = Instant::now();
    let node = builder.start(connector).unwrap();
    assert!((0..5_000).all(|value| flush(&mut probe, f64::from(value).sqrt())));
    recorder.wait_for("reading", 5_000);
    let bytes = recorder.bytes() as f64;
    // A tenth of a second may go at once, and one batch beyond that.
    let least = (bytes - 0.1 * RATE as f64 - 4_096.0) / RATE as f64;
    assert!(least > 0.2 && began.elapsed().as_secs_f64() >= least, "{bytes} in {:?}", began.elapsed());
    node.shutdown();
    assert!(recorder.samples("reading").iter().map(|sample| sample.sequence).eq(1..=5_000));
}

#[test]
fn deadbands_that_do_not_fit_are_refused_by_node_and_builder() {
    let (_probe, _node, recorder) = pushing(PushedKind::OnChange(Deadbands::any_change()), 4_096);
    let refusal = |metric: &str, deadband: f64| match recorder
        .command("reading", Command::Deadband { metric: metric.into(), deadband: Some(deadband) })
    {
        Outcome::Failed(failure) => failure.code,
        Outcome::Done(_) => panic!("{metric} {deadband} was taken"),
    };
    assert_eq!(refusal("colour", 1.0), "deadband_invalid");
    assert_eq!(refusal("label", 1.0), "deadband_invalid");
    assert_eq!(refusal("value", -1.0), "deadband_invalid");
    let kind = PushedKind::OnChange(Deadbands::any_change().with("colour", 1.0));
    let error = builder().pushed_rows("reading", reading(), kind, 4_096).unwrap_err();
    assert_eq!(error.to_string(), r#"invalid deadbands of "reading": the probe has no metric "colour""#);

    let (_probe, _node, recorder) = pushing(PushedKind::Pushed, 4_096);
    let any = Command::Deadband { metric: "value".into(), deadband: None };
    let Outcome::Failed(failure) = recorder.command("reading", any) else { panic!("it has no deadbands") };
    assert_eq!(failure.code, "not_on_change");
}

/// Numbers are missing only for calls that a busy host did not make.
fn assert_no_holes(recorder: &Recorder, seen: &[SeenSample]) {
    assert!(seen.is_sorted_by(|sample, next| sample.sequence < next.sequence), "{seen:?}");
    let not_taken = recorder.counters("reading").dropped.not_taken;
    let last = seen.last().map_or(0, |sample| sample.sequence);
    assert_eq!(last, seen.len() as u64 + not_taken, "no holes: {seen:?}");
}

#[test]
fn a_periodic_probe_on_change_is_called_at_its_rate_and_sample_now_keeps_any_value() {
    let mut builder = builder();
    let calls = Arc::new(AtomicU64::new(0));
    let counted = calls.clone();
    let sample = move |row: &mut oasis_probe::RowWriter<'_>| {
        // Every tenth call reads another value.
        row.f64((counted.fetch_add(1, Ordering::Relaxed) / 10) as f64);
        row.string("a");
        Ok(ProbeState::NORMAL)
    };
    let hertz = Hertz::new(1_000.0).unwrap();
    builder.periodic_rows("reading", reading(), hertz, Some(Deadbands::any_change()), sample).unwrap();
    let (connector, recorder) = recorder();
    let node = builder.start(connector).unwrap();
    recorder.wait_for("reading", 5);
    assert!(calls.load(Ordering::Relaxed) > 40);
    let slow = Command::Hertz { hertz: Hertz::new(0.01).unwrap() };
    assert!(matches!(recorder.command("reading", slow), Outcome::Done(_)));
    assert!(matches!(recorder.command("reading", Command::SampleNow), Outcome::Done(_)));
    assert!(matches!(recorder.command("reading", Command::SampleNow), Outcome::Done(_)));
    node.shutdown();
    let seen = recorder.samples("reading");
    assert_no_holes(&recorder, &seen);
    let moved = seen.windows(2).filter(|pair| pair[0].value != pair[1].value).count();
    assert!((seen.len() - 3..seen.len()).contains(&moved), "at most two were asked for: {seen:?}");
}

/// Each call of a disabled probe is a command that was executed.
#[test]
fn a_command_is_executed_once_however_often_and_by_whichever_dac_it_comes() {
    const COMMANDS: u64 = 300;
    const LIVES: u64 = 6;
    let mut builder = builder();
    let calls = Arc::new(AtomicU64::new(0));
    let counted = calls.clone();
    let sample = move |row: &mut oasis_probe::RowWriter<'_>| {
        row.f64(counted.fetch_add(1, Ordering::Relaxed) as f64);
        row.string("a");
        Ok(ProbeState::NORMAL)
    };
    builder.periodic_rows("reading", reading(), Hertz::new(0.01).unwrap(), None, sample).unwrap();
    let (connector, recorder) = recorder();
    let node = builder.start(connector).unwrap();
    assert!(matches!(recorder.command("reading", Command::Disable), Outcome::Done(_)));
    let before = calls.load(Ordering::Relaxed);
    let (mut random, mut deliveries, mut sent) = (1_u64, 0, 0);
    for life in 0..LIVES {
        for _ in 0..COMMANDS / LIVES {
            sent += 1;
            // The new command, and some that came before: through this DAC, or an earlier one.
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let again = [random >> 33, random >> 43, random >> 53].map(|number| 1 + number % sent);
            for number in [sent].into_iter().chain(again) {
                deliveries += 1;
                let uuid = Some(Uuid::from_u128(number.into()));
                let outcome = recorder.named_command(uuid, "reading", Command::SampleNow);
                assert!(matches!(outcome, Outcome::Done(_)), "{outcome:?}");
            }
        }
        if life + 1 < LIVES {
            recorder.live(Epoch(2 + life));
            recorder.end();
            recorder.wait_for_connections(usize::try_from(life).unwrap() + 2);
        }
    }
    let executed = calls.load(Ordering::Relaxed) - before;
    println!("{sent} commands, {deliveries} deliveries by {LIVES} DACs: {executed} executed, 0 twice");
    assert_eq!((executed, sent), (COMMANDS, COMMANDS));
    node.shutdown();
}

#[test]
fn a_probe_that_panics_takes_no_sample_and_stops_neither_itself_nor_others() {
    let mut builder = builder();
    let calls = AtomicU64::new(0);
    let shaky = move |row: &mut oasis_probe::RowWriter<'_>| {
        let call = calls.fetch_add(1, Ordering::Relaxed);
        row.f64(call as f64);
        assert!(!call.is_multiple_of(2), "planted");
        row.string("a");
        Ok(ProbeState::NORMAL)
    };
    let steady = |row: &mut oasis_probe::RowWriter<'_>| {
        row.f64(1.0);
        row.string("a");
        Ok(ProbeState::NORMAL)
    };
    let hertz = Hertz::new(1_000.0).unwrap();
    builder.periodic_rows("reading", reading(), hertz, None, shaky).unwrap();
    builder.periodic_rows("steady", reading(), hertz, None, steady).unwrap();
    let (connector, recorder) = recorder();
    let node = builder.start(connector).unwrap();
    recorder.wait_for("reading", 5);
    recorder.wait_for("steady", 5);
    node.shutdown();
    let seen = recorder.samples("reading");
    assert!(seen.iter().all(|sample| sample.value % 2.0 == 1.0), "{seen:?}");
    assert_no_holes(&recorder, &seen);
}

#[test]
fn a_sample_carries_the_state_its_probe_was_in() {
    let (mut probe, node, recorder) = pushing(PushedKind::Pushed, 4_096);
    for (value, state) in [(1.0, 0), (2.0, 0), (3.0, 7), (4.0, 7), (5.0, 0)] {
        probe.set_state(ProbeState(state));
        assert!(flush(&mut probe, value));
    }
    node.shutdown();
    let states: Vec<u16> = recorder.samples("reading").iter().map(|sample| sample.state).collect();
    assert_eq!(states, [0, 0, 7, 7, 0]);
}

#[test]
fn an_event_is_registered_as_one_and_waits_for_no_others() {
    let mut builder =
        NodeBuilder::new("node", NodeConfig { linger: Duration::from_secs(3_600), ..NodeConfig::default() });
    let mut probe = builder.pushed_rows("reading", reading(), PushedKind::Event, 4_096).unwrap();
    let (connector, recorder) = recorder();
    let _node = builder.start(connector).unwrap();
    assert_eq!(recorder.instance("reading").kind, ProbeKind::Event);
    for turn in 1..=3 {
        assert!(flush(&mut probe, 1.0));
        recorder.wait_for("reading", turn);
    }
}

#[test]
fn a_disabled_probe_takes_nothing_until_it_is_enabled() {
    let (mut probe, node, recorder) = pushing(PushedKind::Pushed, 4_096);
    assert!(flush(&mut probe, 1.0));
    recorder.wait_for("reading", 1);
    recorder.command("reading", Command::Disable);
    assert!(flush(&mut probe, 2.0));
    recorder.command("reading", Command::Enable);
    assert!(flush(&mut probe, 3.0));
    node.shutdown();
    let seen: Vec<_> = recorder.samples("reading").iter().map(|s| (s.sequence, s.value)).collect();
    assert_eq!(seen, [(1, 1.0), (2, 3.0)]);
}

#[test]
fn samples_dropped_by_every_policy_are_counted() {
    for (overflow, values, holes) in [
        (Overflow::DropNewest, vec![0.0, 1.0, 9.0], 3),
        (Overflow::DropOldest, vec![4.0, 9.0], 4),
        (Overflow::Block(Duration::from_millis(1)), vec![0.0, 1.0, 9.0], 3),
    ] {
        let mut builder = builder();
        // Two samples have room.
        let ring = RingConfig { bytes: 2 * (24 + 16), overflow };
        let mut probe = builder.pushed_rows("reading", reading(), PushedKind::Pushed, ring).unwrap();
        (0..5).for_each(|value| _ = flush(&mut probe, value.into()));
        let (connector, recorder) = recorder();
        let node;
        if overflow == Overflow::DropOldest {
            assert!(flush(&mut probe, 9.0));
            node = builder.start(connector).unwrap();
        } else {
            node = builder.start(connector).unwrap();
            recorder.wait_for("reading", 2);
            assert!(flush(&mut probe, 9.0));
        }
        node.shutdown();
        let seen: Vec<f64> = recorder.samples("reading").iter().map(|sample| sample.value).collect();
        assert_eq!(seen, values, "{overflow:?}");
        let counters = recorder.counters("reading");
        assert_eq!((counters.taken, counters.dropped.ring_full), (6, holes), "{overflow:?}");
    }
}

#[test]
fn rows_that_do_not_fit_are_counted_and_the_next_that_does_is_sent() {
    let (mut probe, node, recorder) = pushing(PushedKind::Pushed, 4 << 20);
    assert!(probe.flush_at(1, |row| row.u8(1)));
    assert!(!probe.flush_at(1, |row| row.packed(&[0; 600_000])));
    assert!(flush(&mut probe, 3.0));
    node.shutdown();
    let seen: Vec<_> = recorder.samples("reading").iter().map(|s| (s.sequence, s.value)).collect();
    assert_eq!(seen, [(3, 3.0)]);
    let counters = recorder.counters("reading");
    assert_eq!((counters.taken, counters.dropped), (3, Drops { invalid_row: 2, ..Drops::default() }));
}

#[test]
fn an_earlier_run_that_the_dac_refuses_is_kept_and_does_not_delay_others() {
    let directory = tempfile::tempdir().unwrap();
    let (connector, recorder) = recorder();
    let start = || {
        let spool_directory = Some(directory.path().to_owned());
        let mut builder = NodeBuilder::new("node", NodeConfig { spool_directory, ..NodeConfig::default() });
        let probe = builder.pushed_rows("reading", reading(), PushedKind::Pushed, 4_096).unwrap();
        (probe, builder.start(connector.clone()).unwrap())
    };
    let values = || recorder.samples("reading").iter().map(|sample| sample.value).collect::<Vec<_>>();
    let (mut probe, node) = start();
    let run = recorder.identity().run;
    recorder.end();
    assert!(flush(&mut probe, 1.0));
    assert_eq!(node.shutdown(), None);

    recorder.refuse(Some(run));
    (0..20).for_each(|_| recorder.live(Epoch(2)));
    let (mut probe, node) = start();
    assert!(flush(&mut probe, 2.0));
    recorder.wait_for("reading", 1);
    node.shutdown();
    assert_eq!(values(), [2.0]);

    recorder.refuse(None);
    (0..20).for_each(|_| recorder.live(Epoch(2)));
    let (_probe, node) = start();
    recorder.wait_for("reading", 2);
    node.shutdown();
    assert_eq!(values(), [2.0, 1.0]);
}

#[test]
fn a_probe_that_is_added_to_a_running_node_is_registered_on_its_connection() {
    let (mut probe, node, recorder) = pushing(PushedKind::Pushed, 1 << 16);
    assert!(flush(&mut probe, 1.0));
    recorder.wait_for("reading", 1);
    let add = |name: &str, probe_type| node.pushed_rows(name, probe_type, PushedKind::Pushed, 1 << 16);
    let mut added = add("added", reading()).unwrap();
    assert!((0..100).all(|value| flush(&mut added, value.into())));
    recorder.wait_for("added", 100);
    assert_eq!(recorder.attached().len(), 1, "no other connection was needed");
    let state = InstanceState { hertz: None, enabled: false, recorder: None };
    assert_eq!(recorder.command("added", Command::Disable), Outcome::Done(state));
    assert_eq!(
        recorder.command("added", Command::Enable),
        Outcome::Done(InstanceState { enabled: true, ..state })
    );

    // Another connection registers all at once.
    recorder.live(Epoch(1));
    recorder.end();
    recorder.wait_for_connections(2);
    assert!(flush(&mut added, 100.0) && flush(&mut probe, 2.0));
    recorder.wait_for("added", 101);
    recorder.wait_for("reading", 2);

    assert!(matches!(add("added", reading()), Err(NodeError::DuplicateInstance { .. })));
    let other = ProbeType { metrics: Vec::new(), ..reading() };
    let error = add("other", other).unwrap_err().to_string();
    assert!(error.contains("another schema"), "{error}");
    assert!(matches!(add("", reading()), Err(NodeError::Name { .. })));
    node.shutdown();
    assert!(recorder.samples("added").iter().map(|sample| sample.sequence).eq(1..=101));
}

#[test]
fn samples_of_an_added_probe_survive_in_the_file_spool() {
    let directory = tempfile::tempdir().unwrap();
    let (connector, recorder) = recorder();
    let builder = || {
        let spool_directory = Some(directory.path().to_owned());
        let mut builder = NodeBuilder::new("node", NodeConfig { spool_directory, ..NodeConfig::default() });
        let probe = builder.pushed_rows("reading", reading(), PushedKind::Pushed, 4_096).unwrap();
        (probe, builder)
    };
    let (mut probe, first) = builder();
    let node = first.start(connector.clone()).unwrap();
    assert!(flush(&mut probe, 1.0));
    recorder.wait_for("reading", 1);
    recorder.end();
    assert!(flush(&mut probe, 2.0));
    let mut added = node.pushed_rows("added", reading(), PushedKind::Pushed, 4_096).unwrap();
    assert!(flush(&mut added, 3.0));
    node.shutdown();

    (0..20).for_each(|_| recorder.live(Epoch(2)));
    let (_probe, mut second) = builder();
    let _added = second.pushed_rows("added", reading(), PushedKind::Pushed, 4_096).unwrap();
    let node = second.start(connector).unwrap();
    recorder.wait_for("added", 1);
    node.shutdown();
    assert_eq!(recorder.samples("added").iter().map(|sample| sample.value).collect::<Vec<_>>(), [3.0]);
}

#[test]
fn a_node_that_the_dac_refuses_says_so_until_it_is_taken() {
    let mut builder = builder();
    let mut probe = builder.pushed_rows("reading", reading(), PushedKind::Pushed, 4_096).unwrap();
    let (connector, recorder) = recorder();
    recorder.take_name(true);
    let node = builder.start(connector.clone()).unwrap();
    assert!(flush(&mut probe, 1.0));
    let code = |refusal: Option<Failure>| refusal.map(|refusal| refusal.code);
    while node.refusal().is_none() {
        thread::yield_now();
    }
    assert!(!node.was_taken());
    assert_eq!(code(node.refusal()).as_deref(), Some("name_taken"));
    recorder.take_name(false);
    (0..20).for_each(|_| recorder.live(Epoch(2)));
    recorder.wait_for("reading", 1);
    assert!(node.was_taken());
    assert_eq!(node.shutdown(), None);
}

#[test]
fn a_node_takes_its_second_name_when_it_ends_and_another_node_has_the_first() {
    let mut builder = builder();
    let mut probe = builder.pushed_rows("reading", reading(), PushedKind::Pushed, 4_096).unwrap();
    let (reports, reported) = std::sync::mpsc::channel();
    builder.second_name("node-2").on_refusal(move |refusal| reports.send(refusal.code.clone()).unwrap());
    let (connector, recorder) = recorder();
    recorder.have_name_taken("node");
    let node = builder.start(connector).unwrap();
    (0..20).for_each(|_| recorder.live(Epoch(2)));
    assert!(flush(&mut probe, 1.0));
    while node.refusal().is_none() {
        thread::yield_now();
    }
    assert_eq!(node.shutdown(), None);
    assert_eq!(reported.try_iter().count(), 0, "its second name is free");
    assert_eq!((recorder.identity().name.as_str(), recorder.samples("reading").len()), ("node-2", 1));
}

#[test]
fn a_refusal_is_reported_once() {
    let mut builder = builder();
    let (reports, reported) = std::sync::mpsc::channel();
    builder.on_refusal(move |refusal| reports.send(refusal.code.clone()).unwrap());
    let (connector, recorder) = recorder();
    recorder.take_name(true);
    (0..20).for_each(|_| recorder.live(Epoch(2)));
    let node = builder.start(connector).unwrap();
    assert_eq!(reported.recv_timeout(Duration::from_secs(20)).unwrap(), "name_taken");
    recorder.wait_for_refusals(3);
    assert!(node.shutdown().is_some());
    assert_eq!(reported.try_iter().count(), 0);
}

#[test]
fn a_process_can_have_several_nodes() {
    let start = |name: &str| {
        let mut builder = NodeBuilder::new(name, NodeConfig::default());
        let probe = builder.pushed_rows("reading", reading(), PushedKind::Pushed, 4_096).unwrap();
        let (connector, recorder) = recorder();
        (probe, builder.start(connector).unwrap(), recorder)
    };
    let mut nodes = ["left", "middle", "right"].map(start);
    for (value, (probe, ..)) in (1..).zip(&mut nodes) {
        assert!(flush(probe, value.into()));
    }
    let mut uuids = Vec::new();
    for (value, (_probe, node, recorder)) in (1..).zip(nodes) {
        node.shutdown();
        let values: Vec<f64> = recorder.samples("reading").iter().map(|sample| sample.value).collect();
        assert_eq!(values, [f64::from(value)]);
        uuids.push(recorder.identity().uuid);
    }
    uuids.dedup();
    assert_eq!(uuids.len(), 3, "each has an identity of its own");
}

#[test]
fn a_node_without_permission_for_real_time_runs_without_it_and_reports_so() {
    let wish = RealTime { cores: Some(vec![usize::MAX]), ..RealTime::default() };
    let config = NodeConfig { real_time: wish, ..NodeConfig::default() };
    let mut builder = NodeBuilder::new("node", config);
    let mut probe = builder.pushed_rows("reading", reading(), PushedKind::Pushed, 4_096).unwrap();
    let (connector, recorder) = recorder();
    let node = builder.start(connector).unwrap();
    assert!(matches!(&node.real_time().cores, Grant::No(why) if why.contains("processors")));
    assert_eq!(node.real_time().priority, Grant::NotAsked);
    assert!(!node.real_time().is_complete());
    assert!(flush(&mut probe, 1.0));
    node.shutdown();
    assert_eq!(recorder.samples("reading").len(), 1);
}

#[test]
fn a_ring_has_limits() {
    for bytes in [(1 << 30) + 1, usize::MAX] {
        let error = builder().pushed_rows("reading", reading(), PushedKind::Pushed, bytes).unwrap_err();
        assert!(matches!(error, NodeError::RingBytes { .. }));
        assert!(error.to_string().contains("1073741824"), "{error}");
    }
}

#[test]
fn names_that_a_dac_refuses_are_errors_of_the_program() {
    let long = "x".repeat(1_025);
    for name in ["", "pump\n3", "\u{1b}[31m", "pump\u{85}", &long] {
        let error = builder().pushed_rows(name, reading(), PushedKind::Pushed, 4_096).unwrap_err();
        assert!(matches!(error, NodeError::Name { what: "instance", .. }), "{name:?}: {error}");
        assert!(error.to_string().contains("without control characters"), "{error}");
        let error = NodeBuilder::new(name, NodeConfig::default()).start(recorder().0).unwrap_err();
        assert!(matches!(error, NodeError::Name { what: "node", .. }), "{name:?}: {error}");
    }
    let longest = "x".repeat(1_024);
    for name in [&*longest, "Pumpe \u{fc}", "network/eth0", "\u{202e}abc"] {
        builder().pushed_rows(name, reading(), PushedKind::Pushed, 4_096).unwrap();
    }
}

//! Test runs and annotations: what people add to an archive is there after a restart, bounded, and keeps samples from retention.

use crate::plant::{Node, Plant, STEP, config};
use oasis_store::{
    AnnotationError, AnnotationFilter, Description, Note, RetentionRule, Target, TestRunError, TestRunFilter,
};
use oasis_wire::{loss::Cause, quantity::Nanos};
use std::{
    sync::atomic::AtomicBool,
    thread,
    time::{Duration, Instant},
};

const ROOM: usize = 8 * 1024 * 1024;

fn eventually(what: &str, is_there: impl Fn() -> bool) {
    let start = Instant::now();
    while !is_there() {
        assert!(start.elapsed() < Duration::from_secs(60), "{what}");
        thread::park_timeout(Duration::from_millis(5));
    }
}

fn named(name: &str) -> Description {
    Description { name: name.into(), ..Description::default() }
}

#[test]
fn a_test_run_survives_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let node = Node::new(1);
    let plant = Plant::start(config(folder.path()), &node, ROOM);
    let runs = plant.archive.test_runs();
    let tags = ["night", "line 3", "night"].map(String::from).to_vec();
    let hostile = "<img src=x>\u{202e}'; DROP TABLE test_run; --";
    let description =
        Description { name: hostile.into(), notes: "first\nsecond".into(), tags, pinned: false };
    let run = runs.start(description, "http 192.0.2.1:5", Nanos(100)).unwrap();
    assert_eq!((run.tags.as_slice(), run.stopped), (&["line 3".to_owned(), "night".to_owned()][..], None));
    let changed = runs.change(run.id, |run| (run.pinned, run.tags) = (true, vec!["x".into()])).unwrap();
    assert!(changed.pinned && changed.notes == "first\nsecond" && changed.tags == ["x"]);
    // A clock that was set back does not end it before it began.
    assert_eq!(runs.stop(run.id, Nanos(90)).unwrap().stopped, Some(Nanos(100)));
    assert!(matches!(runs.stop(run.id, Nanos(101)), Err(TestRunError::Stopped(_))));
    let last = runs.get(run.id).unwrap();
    drop(runs);
    plant.stop();

    let plant = Plant::start(config(folder.path()), &node, ROOM);
    let runs = plant.archive.test_runs();
    assert_eq!(runs.named(hostile).unwrap(), last);
    assert_eq!((last.who.as_str(), last.started), ("http 192.0.2.1:5", Nanos(100)));
    runs.delete(last.id).unwrap();
    assert!(matches!(runs.delete(last.id), Err(TestRunError::Unknown(_))));
    assert!(matches!(runs.named(hostile), Err(TestRunError::UnknownName(_))));
}

#[test]
fn names_are_nobody_elses_and_texts_are_bounded() {
    let folder = tempfile::tempdir().unwrap();
    let plant = Plant::start(config(folder.path()), &Node::new(1), ROOM);
    let runs = plant.archive.test_runs();
    let start = |description| runs.start(description, "", Nanos(1));
    let first = start(named("soak")).unwrap();
    assert!(matches!(start(named("soak")), Err(TestRunError::Taken(name)) if name == "soak"));
    let second = start(named("soak 2")).unwrap();
    let renamed = runs.change(second.id, |run| run.name = "soak".into());
    assert!(matches!(renamed, Err(TestRunError::Taken(_))));
    for bad in ["", " ", "a\nb", &"x".repeat(257)] {
        assert!(matches!(start(named(bad)), Err(TestRunError::Text(_))), "{bad:?}");
    }
    let tags = (0..33).map(|number| number.to_string()).collect();
    assert!(matches!(start(Description { tags, ..named("c") }), Err(TestRunError::TooManyTags(33))));
    let listed = |filter| runs.list(&filter, 10).unwrap().iter().map(|run| run.id).collect::<Vec<_>>();
    assert_eq!(listed(TestRunFilter::default()), [second.id, first.id]);
    assert_eq!(listed(TestRunFilter { before: Some(second.id), ..TestRunFilter::default() }), [first.id]);
    runs.change(first.id, |run| run.tags.push("night".into())).unwrap();
    assert_eq!(listed(TestRunFilter { tag: Some("night".into()), ..TestRunFilter::default() }), [first.id]);
}

#[test]
fn samples_of_a_pinned_run_stay_until_it_is_unpinned() {
    let folder = tempfile::tempdir().unwrap();
    let retention = vec![RetentionRule { instances: "*".into(), days: 0, bytes: 1 }];
    let mut node = Node::new(1);
    let mut plant =
        Plant::start(oasis_store::ArchiveConfig { retention, ..config(folder.path()) }, &node, ROOM);
    let runs = plant.archive.test_runs();
    let run = runs.start(Description { pinned: true, ..named("soak") }, "", Nanos(200 * STEP)).unwrap();
    runs.stop(run.id, Nanos(300 * STEP)).unwrap();
    // Each flush is a commit, and between two of them a file that is full is sealed: retention takes whole files.
    plant.fill(&mut node, 150);
    let first = |plant: &Plant| plant.past(0, None).numbers.first().map(|run| run.0);
    let gone = || plant.archive.counters().removed_samples;
    eventually("retention lets go of something", || gone() > 0);
    let span = (200 * STEP, Some(300 * STEP));
    assert_eq!(plant.past(span.0, span.1).numbers, [(200, 300)]);
    runs.change(run.id, |run| run.pinned = false).unwrap();
    eventually("it is unpinned", || first(&plant).is_none_or(|first| first >= 300));
}

#[test]
fn a_summary_has_rates_values_and_losses_with_causes() {
    let folder = tempfile::tempdir().unwrap();
    let mut node = Node::new(1);
    let mut plant = Plant::start(config(folder.path()), &node, ROOM);
    node.take(100);
    node.lose(20);
    node.take(80);
    plant.send(&mut node, true);
    plant.flush().unwrap();
    let never = AtomicBool::new(false);
    let history = plant.archive.history();
    let of = |span| oasis_query::summarize(&history, "plant", "counter", span, &never).unwrap();
    // The ledger's gaps are noted once a second, with the other things that are not samples.
    let unexplained = || of(0..200 * STEP).is_some_and(|of| of.lost.contains_key(&Cause::Unexplained));
    eventually("the ledger's gap is noted", unexplained);
    let all = of(10 * STEP..200 * STEP).unwrap();
    assert_eq!((all.samples, all.first_time, all.last_time), (170, 10 * STEP, 199 * STEP));
    assert_eq!(all.lost, [(Cause::Unexplained, 20)].into());
    assert_eq!(all.rate, Some(169.0 / (189.0 * STEP as f64 / 1e9)));
    let intervals = all.intervals.unwrap();
    for quantile in [intervals.p50, intervals.p99] {
        assert!(quantile.abs_diff(STEP) <= STEP / 100, "{intervals:?}");
    }
    let [count] = &all.metrics[..] else { panic!("one metric is a number: {all:?}") };
    assert_eq!((&*count.name, count.count, count.min, count.max), ("count", 170, Some(10.0), Some(199.0)));
    let mean = ((10..100).sum::<u64>() + (120..200).sum::<u64>()) as f64 / 170.0;
    assert!((count.mean.unwrap() - mean).abs() < 1e-9, "{count:?}");
    assert_eq!((count.first, count.last), (Some(10.0), Some(199.0)));
    assert_eq!(of(101 * STEP..119 * STEP), None);
    assert_eq!(
        oasis_query::summarize(&history, "plant", "counter", 0..200 * STEP, &AtomicBool::new(true)).unwrap(),
        None
    );
}

#[test]
fn losses_of_a_replaced_type_have_their_cause() {
    let folder = tempfile::tempdir().unwrap();
    let mut node = Node::new(1);
    let mut plant = Plant::start(config(folder.path()), &node, ROOM);
    // The first round comes by itself, and what is noted besides samples is noted with it.
    plant.flush().unwrap();
    node.take(10);
    node.lose(5);
    node.take(10);
    plant.send(&mut node, true);
    plant.flush().unwrap();
    plant.change_type();
    // The topic was read to its end: the archive follows it no longer, and its ledger goes with it.
    plant.flush().unwrap();
    let history = plant.archive.history();
    let all = oasis_query::summarize(&history, "plant", "counter", 0..25 * STEP, &AtomicBool::new(false))
        .unwrap()
        .unwrap();
    assert_eq!(all.lost, [(Cause::Unexplained, 5)].into());
}

/// Rounds begin at another topic each time, and readers take the topics of one instance in the order of its offsets.
#[test]
fn samples_of_a_replaced_type_are_stored_before_those_of_the_next_one() {
    for rounds_before in 0..4 {
        let folder = tempfile::tempdir().unwrap();
        let mut node = Node::new(1);
        let mut plant = Plant::start(config(folder.path()), &node, ROOM);
        (0..=rounds_before).for_each(|_| plant.flush().unwrap());
        node.take(2);
        plant.send(&mut node, true);
        plant.change_type();
        node.take(3);
        plant.send(&mut node, true);
        plant.flush().unwrap();
        let read = plant.past(0, None);
        assert_eq!(read.numbers, [(0, 5)], "after {rounds_before} rounds");
    }
}

fn note(time: u64, until: Option<u64>, targets: &[(&str, Option<&str>)]) -> Note {
    let target = |(node, instance): &(&str, Option<&str>)| Target {
        node: (*node).into(),
        instance: instance.map(str::to_owned),
    };
    Note {
        time: Nanos(time),
        until: until.map(Nanos),
        text: "<b>noted</b>".into(),
        targets: targets.iter().map(target).collect(),
    }
}

#[test]
fn annotations_are_found_by_time_and_by_instance() {
    let folder = tempfile::tempdir().unwrap();
    let plant = Plant::start(config(folder.path()), &Node::new(1), ROOM);
    let annotations = plant.archive.annotations();
    let add = |note| annotations.add(note, "me", Nanos(7)).unwrap().id;
    let span = add(note(10, Some(30), &[("plant", Some("cpu"))]));
    let moment = add(note(20, None, &[("plant", None), ("other", Some("x"))]));
    let everything = add(note(20, None, &[]));
    let listed = |filter: AnnotationFilter, most| -> Vec<u64> {
        annotations.list(&filter, most).unwrap().iter().map(|annotation| annotation.id).collect()
    };
    let all = AnnotationFilter::default;
    assert_eq!(listed(all(), 9), [span, moment, everything]);
    let between = |from, to| AnnotationFilter { from: Some(Nanos(from)), to: Some(Nanos(to)), ..all() };
    assert_eq!(listed(between(25, 40), 9), [span]);
    assert_eq!(listed(between(0, 20), 9), [span]);
    assert_eq!(listed(between(20, 21), 9), [span, moment, everything]);
    let about = |node: &str, instance: Option<&str>| AnnotationFilter {
        node: Some(node.into()),
        instance: instance.map(str::to_owned),
        ..all()
    };
    assert_eq!(listed(about("plant", Some("cpu")), 9), [span, moment, everything]);
    assert_eq!(listed(about("plant", Some("memory")), 9), [moment, everything]);
    assert_eq!(listed(about("other", None), 9), [moment, everything]);
    assert_eq!(listed(about("third", None), 9), [everything]);
    // Page by page nothing comes twice, and nothing is left out.
    assert_eq!(listed(AnnotationFilter { after: Some((Nanos(20), moment)), ..all() }, 9), [everything]);
    let stored = annotations.list(&all(), 1).unwrap().remove(0);
    assert_eq!((stored.who.as_str(), stored.written), ("me", Nanos(7)));
    assert_eq!(stored.note, note(10, Some(30), &[("plant", Some("cpu"))]));
    annotations.delete(span).unwrap();
    assert!(matches!(annotations.delete(span), Err(AnnotationError::Unknown(_))));
    assert!(matches!(
        annotations.add(note(9, Some(8), &[]), "", Nanos(0)),
        Err(AnnotationError::Backwards { .. })
    ));
    let late = note(u64::MAX, None, &[]);
    assert!(matches!(annotations.add(late, "", Nanos(0)), Err(AnnotationError::TooLate(_))));
    let many = note(1, None, &[("n", None); 65]);
    assert!(matches!(annotations.add(many, "", Nanos(0)), Err(AnnotationError::TooManyTargets(65))));
}

#[test]
fn a_catalogue_of_an_earlier_version_is_brought_up_to_date() {
    let folder = tempfile::tempdir().unwrap();
    let catalogue = rusqlite::Connection::open(folder.path().join("catalogue.sqlite")).unwrap();
    catalogue.execute_batch(include_str!("../../../../store/src/catalogue/1.sql")).unwrap();
    catalogue.execute("INSERT INTO test_run VALUES (5, 'old', 1, 2, 'n', 1)", []).unwrap();
    let refused = oasis_store::History::open(folder.path()).unwrap_err().to_string();
    assert!(refused.contains("start its DAC"), "{refused}");
    // Read-only access needs the tables, and no index.
    catalogue.execute_batch(include_str!("../../../../store/src/catalogue/2.sql")).unwrap();
    assert!(oasis_store::History::open(folder.path()).is_ok());
    drop(catalogue);
    let plant = Plant::start(config(folder.path()), &Node::new(1), ROOM);
    let old = plant.archive.test_runs().named("old").unwrap();
    assert_eq!((old.id, old.who.as_str(), old.pinned), (5, "", true));
}

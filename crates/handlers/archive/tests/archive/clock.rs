//! The wall clock may be set: nothing is deleted by a clock that has jumped, and readers receive the evicted ranges.

use super::{ROOM, numbers, segment_files};
use crate::{
    plant::{Node, Plant, STEP, config},
    rollups::{eventually, rollup_files},
};
use oasis_archive::Archive;
use oasis_handler::Handler as _;
use oasis_query::Sql;
use oasis_rollup::points::Span;
use oasis_store::{ArchiveConfig, Clock, ClockJump, RetentionRule};
use oasis_wire::quantity::Nanos;
use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicI64, AtomicU64, Ordering},
    },
    time::Duration,
};

const NANOS_PER_SECOND: i64 = 1_000_000_000;
const DAY: i64 = 24 * 3_600 * NANOS_PER_SECOND;

/// The clocks of this machine, and what a test adds to them.
#[derive(Debug, Default)]
struct TestClock {
    /// Nanoseconds by which the wall clock was set.
    set: AtomicI64,
    /// Nanoseconds that have passed on both clocks.
    passed: AtomicI64,
    /// Number of reads of the wall clock.
    looks: AtomicU64,
}

impl TestClock {
    fn set(&self, by: i64) {
        self.set.fetch_add(by, Ordering::Relaxed);
    }

    /// Waits until retention has read the clock twice since this call: a whole round lies between.
    fn wait_for_a_round(&self) {
        let before = self.looks.load(Ordering::Relaxed);
        eventually("nobody looks at the clock", || self.looks.load(Ordering::Relaxed) > before + 3);
    }
}

impl Clock for TestClock {
    fn wall(&self) -> Nanos {
        self.looks.fetch_add(1, Ordering::Relaxed);
        let added = self.set.load(Ordering::Relaxed) + self.passed.load(Ordering::Relaxed);
        Nanos(oasis_store::clock::now().0.checked_add_signed(added).unwrap())
    }

    fn since_boot(&self) -> Duration {
        let passed = Duration::from_nanos(self.passed.load(Ordering::Relaxed).unsigned_abs());
        oasis_store::clock::SystemClock.since_boot() + passed
    }

    fn boot(&self) -> String {
        "this one".into()
    }
}

/// Keeps samples and roll-ups for 30 days.
fn by_age(folder: &Path) -> ArchiveConfig {
    let retention = vec![RetentionRule { instances: "*".into(), days: 30, bytes: 0 }];
    ArchiveConfig { retention, rollup_days: 30, ..config(folder) }
}

fn jump(archive: &Archive) -> Option<i64> {
    archive.counters().clock_jump.map(|ClockJump { seconds }| seconds.unwrap())
}

#[test]
fn a_clock_that_jumps_evicts_nothing_until_it_is_confirmed_and_readers_learn_what_has_expired() {
    let folder = tempfile::tempdir().unwrap();
    let clock = Arc::new(TestClock::default());
    let mut node = Node::new(1);
    let mut plant = Plant::start_at(by_age(folder.path()), &node, ROOM, clock.clone());
    plant.fill(&mut node, 50);
    let files = segment_files(folder.path());
    eventually("not all is rolled up", || plant.archive.counters().rollup_waiting == 0);
    clock.set(40 * DAY);
    eventually("the jump is not noticed", || plant.archive.counters().clock_jump.is_some());
    clock.wait_for_a_round();
    assert_eq!(segment_files(folder.path()), files);
    assert!(!rollup_files(folder.path()).is_empty());
    let days = jump(&plant.archive).unwrap() / (24 * 3_600);
    assert_eq!(days, 40);
    let problem = plant.archive.problem().unwrap();
    assert!(problem.contains("oasis archive retention confirm"), "{problem}");
    // A restart is no confirmation.
    plant.stop();
    let plant = Plant::start_at(by_age(folder.path()), &node, ROOM, clock.clone());
    eventually("the jump is forgotten", || plant.archive.counters().clock_jump.is_some());
    clock.wait_for_a_round();
    assert!(segment_files(folder.path()).len() >= files.len());
    assert!(plant.archive.confirm_clock().is_some());
    eventually("expired files stay", || segment_files(folder.path()).is_empty());
    eventually("expired roll-ups stay", || rollup_files(folder.path()).is_empty());
    assert_eq!(plant.archive.problem(), None);

    let read = plant.past(0, None);
    assert_eq!((read.numbers, read.gaps), (vec![], vec![(0, 2_000, "archive_retention")]));
    assert_eq!(plant.past(2_000 * STEP, None).gaps, [], "nothing that is asked for has expired");
    let span = Span { from: 0, to: 2_000 * STEP, is_open: false, points: 20 };
    let points = oasis_query::points(&plant.archive.history(), "plant", "counter", span).unwrap();
    let gaps: Vec<_> =
        points.gaps.iter().map(|gap| (gap.from, gap.to, gap.samples, gap.cause.word())).collect();
    assert_eq!(gaps, [(0, 1_999 * STEP, 2_000, "archive_retention")]);
    let query = "SELECT node, instance, count, cause, from_offset, to_offset, time_ns FROM gaps";
    let evicted = format!("plant|counter|2000|archive_retention|0|1999|{}", 1_999 * STEP);
    assert_eq!(super::sql::one(&Sql::open(folder.path()).unwrap(), query), evicted);
}

#[test]
fn old_files_stay_until_their_copies_are_safe() {
    let folder = tempfile::tempdir().unwrap();
    let clock = Arc::new(TestClock::default());
    let mut node = Node::new(1);
    let mut plant = Plant::start_at(by_age(folder.path()), &node, ROOM, clock.clone());
    plant.archive.history().0.copies.require();
    plant.fill(&mut node, 250);
    let sealed = || plant.archive.history().0.catalogue().segments().unwrap();
    eventually("few files are sealed", || {
        sealed().len() >= 3 && plant.archive.counters().rollup_waiting == 0
    });
    let sealed = sealed();
    clock.passed.store(40 * DAY, Ordering::Relaxed);
    let warnings = || plant.archive.counters().warnings;
    eventually("nothing waits", || warnings().iter().any(|warning| warning.code == "awaits_copy"));
    assert!(plant.archive.counters().rules[0].awaiting_copy_bytes > 0);
    let is_listed = |number| plant.archive.history().0.catalogue().is_listed(number).unwrap();
    assert!(sealed.iter().all(|segment| is_listed(segment.number)));
    let (first, others) = sealed.split_first().unwrap();
    plant.archive.history().0.copies.add_safe(first.number);
    eventually("a file with a copy stays", || !is_listed(first.number));
    assert!(!others.is_empty() && others.iter().all(|segment| is_listed(segment.number)));
    others.iter().for_each(|segment| plant.archive.history().0.copies.add_safe(segment.number));
    eventually("files with copies stay", || !others.iter().any(|segment| is_listed(segment.number)));
    eventually("the warning stays", || warnings().is_empty());
}

#[test]
fn a_clock_that_returns_evicts_by_age_again() {
    let folder = tempfile::tempdir().unwrap();
    let clock = Arc::new(TestClock::default());
    let mut node = Node::new(1);
    let mut plant = Plant::start_at(by_age(folder.path()), &node, ROOM, clock.clone());
    plant.fill(&mut node, 50);
    for by in [40 * DAY, -DAY] {
        clock.set(by);
        eventually("the jump is not noticed", || plant.archive.counters().clock_jump.is_some());
        clock.set(-by);
        eventually("the return is not noticed", || plant.archive.counters().clock_jump.is_none());
    }
    let files = segment_files(folder.path());
    clock.wait_for_a_round();
    assert_eq!(segment_files(folder.path()), files);
    // The time really passes.
    clock.passed.store(40 * DAY, Ordering::Relaxed);
    eventually("expired files stay", || segment_files(folder.path()).len() <= 1);
    assert_eq!(plant.archive.counters().clock_jump, None);
}

#[test]
fn readers_from_a_time_receive_what_has_expired_before_the_first_stored_sample() {
    let folder = tempfile::tempdir().unwrap();
    let mut node = Node::new(1);
    let mut small = config(folder.path());
    small.retention = vec![RetentionRule { instances: "*".into(), days: 0, bytes: 40_000 }];
    let mut plant = Plant::start(small.clone(), &node, ROOM);
    plant.fill(&mut node, 200);
    eventually("nothing has expired", || plant.archive.counters().removed_files > 0);
    plant.pause();
    let read = plant.past(0, None);
    let first = read.numbers[0].0;
    assert_eq!((read.numbers, read.gaps), (numbers(first..8_000), vec![(0, first, "archive_retention")]));
    assert_eq!(plant.past(first * STEP, None).gaps, []);
    assert_eq!(plant.past(0, Some(STEP)).gaps, [(0, first, "archive_retention")]);
    plant.stop();
    // All of that epoch expires.
    small.retention[0].bytes = 1;
    let mut plant = Plant::start(small.clone(), &node, ROOM);
    eventually("not all has expired", || segment_files(folder.path()).is_empty());
    small.retention[0].bytes = 0;
    plant.stop();
    plant = Plant::start(small, &node, ROOM);
    plant.fill(&mut node, 1);
    let read = plant.past(0, None);
    assert_eq!((read.numbers, read.epochs), (numbers(8_000..8_040), 1));
    let [(_, 8_000, "archive_retention")] = &read.gaps[..] else { panic!("{:?}", read.gaps) };
}

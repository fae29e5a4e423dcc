//! Rules give the same on any number of threads, and a thread that fails is noticed.

use crate::common::{MS, Plant, Pumps, Random, wait};
use oasis_alarms::{Alarms, Checkpoint, CheckpointKey, JournalEntry, JournalFilter, Limits};
use oasis_dac::{Config, Dac, now};
use oasis_handler::{Condition, Failure, Handler, StoredSamples, Supervisor};
use oasis_rules_handler::{RoundBounds, Rules, RulesConfig};
use oasis_store::{ArchiveConfig, History, WritableStore};
use oasis_wire::{batch::Batch, quantity::Nanos};
use std::{
    fmt::Debug,
    fs,
    path::Path,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

const RULES: &str = "input p = \"*/pump *\" : Pump;
alarm Hot { raise p.temperature > 5 for 200ms; clear p.temperature < 3 for 100ms; latch; }
alarm Often { raise count(p.temperature > 4, last 5) >= 3; on_unknown clear; }
event Jumped { when p.temperature > 6 then p.temperature < 2 within 500ms; }
derive Mean every 200ms { mean = mean(p.temperature, last 4); }
alarm Derived { raise Mean.mean > 4 for 1s; }
";
const INSTANCES: [&str; 6] = ["pump 1", "pump 2", "pump 3", "pump 4", "pump 5", "pump 6"];

/// An archive that has nothing, and fails once if it must.
struct Empty {
    store: WritableStore,
    must_fail: AtomicBool,
}

impl Empty {
    fn new(folder: &Path, must_fail: bool) -> Arc<Self> {
        let directory = folder.join("archive").display().to_string();
        let store = oasis_store::open(ArchiveConfig { directory, ..ArchiveConfig::default() }).unwrap();
        Arc::new(Self { store, must_fail: must_fail.into() })
    }
}

impl StoredSamples for Empty {
    fn history(&self) -> History {
        self.store.history()
    }

    fn flush(&self) -> Pin<Box<dyn Future<Output = Result<(), Failure>> + Send + '_>> {
        let is_beside = thread::current().name().is_some_and(|name| name.starts_with("rules-"));
        if is_beside && self.must_fail.swap(false, Ordering::Relaxed) {
            panic!("the archive of this test fails once");
        }
        Box::pin(std::future::ready(Ok(())))
    }
}

/// Result of one evaluation of all samples.
struct Outcome {
    journal: Vec<JournalEntry>,
    checkpoints: Vec<Option<Checkpoint>>,
    /// Times and values of the derived instances.
    derived: Vec<String>,
}

/// Evaluates what is in the logs of a DAC from the first sample on.
fn evaluate(
    (dac, archive): (&Arc<Dac>, &Arc<Empty>),
    threads: usize,
    bounds: RoundBounds,
    samples: u64,
) -> Outcome {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.rules"), RULES).unwrap();
    let mut config = RulesConfig {
        files: vec![".".into()],
        directory: "state".into(),
        node: format!("rules {}", uuid::Uuid::new_v4()),
        threads,
        pdl_limits: false,
        ..RulesConfig::default()
    };
    config.relative_to(folder.path());
    let node = config.node.clone();
    let alarms = Arc::new(Alarms::open(&folder.path().join("state"), Limits::default()).unwrap());
    let rules = Arc::new(Rules::new(config, alarms.clone()).with_bounds(bounds));
    let supervisor = Supervisor::new(dac.clone(), Some(archive.clone()), vec![rules.clone()]);
    supervisor.start_all();
    wait("all samples", || (rules.state()["samples"] == samples).then_some(()));
    // On a busy machine it takes longer than a stop may.
    wait("the stop", || supervisor.stop("rules").ok());
    assert_eq!(rules.state()["samples"], samples);
    let mut journal = Vec::new();
    let mut after = None;
    loop {
        let page = alarms.journal(&JournalFilter { most: 1_000, after, ..JournalFilter::default() }).unwrap();
        journal.extend(page.entries.into_iter().map(|entry| JournalEntry { written: 0, ..entry }));
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    let names: Vec<_> =
        ["north", "south"].into_iter().flat_map(|node| INSTANCES.map(|instance| (node, instance))).collect();
    let checkpoint = |(node, instance): &(&str, &str)| {
        let key = CheckpointKey { rule: String::new(), node: (*node).into(), instance: (*instance).into() };
        alarms.checkpoint(&key).unwrap()
    };
    let derived = |(source, instance): &(&str, &str)| {
        let derived = dac.registry.find(&node, &format!("Mean {source}/{instance}")).unwrap();
        let read = derived.log.read(derived.log.start(), usize::MAX);
        let batches = read.segments.iter();
        let samples = batches.flat_map(|segment| {
            let batch = Batch::parse(segment.batch(), &derived.probe_type).unwrap();
            batch.samples().map(|sample| format!("{} {:?}", sample.time, sample.values)).collect::<Vec<_>>()
        });
        samples.collect::<Vec<_>>()
    };
    Outcome {
        journal,
        checkpoints: names.iter().map(checkpoint).collect(),
        derived: names.iter().flat_map(derived).collect(),
    }
}

/// Sends random temperatures of two nodes, in batches of any length with losses. Returns how many.
fn send(dac: &Arc<Dac>, random: &mut Random) -> u64 {
    let mut nodes = [Pumps::new(dac, "north", 1, &INSTANCES), Pumps::new(dac, "south", 2, &INSTANCES)];
    // The samples are so old that all events are late.
    let (mut samples, mut dac_time) = (0, now().0 - 3_600_000 * MS);
    for _ in 0..150 {
        let (node, instance) = (random.next(2) as usize, INSTANCES[random.next(6) as usize]);
        if random.next(10) == 0 {
            nodes[node].lose(instance, 1 + random.next(4));
        }
        let temperatures: Vec<f64> =
            (0..1 + random.next(100)).map(|_| random.next(90) as f64 / 10.0).collect();
        dac_time += random.next(3) * MS;
        nodes[node].send_at(instance, &temperatures, Nanos(dac_time));
        samples += temperatures.len() as u64;
    }
    samples
}

fn assert_same<T: PartialEq + Debug>(one: &[T], other: &[T], which: &str) {
    assert_eq!(one.len(), other.len(), "{which}");
    let different = one.iter().zip(other).position(|(one, other)| one != other);
    assert!(different.is_none(), "{which}: {:#?}", different.map(|at| (at, &one[at], &other[at])));
}

#[test]
fn any_number_of_threads_gives_the_same() {
    let bounds = [
        RoundBounds { of_thread: 1, ..RoundBounds::default() },
        // Many rounds, of which each leaves instances and samples out.
        RoundBounds { of_thread: 1, of_instance: 500, of_all: 2_000, events: 40, bytes: 20_000 },
        RoundBounds { of_thread: 1, events: 5, bytes: 1, ..RoundBounds::default() },
    ];
    let folder = tempfile::tempdir().unwrap();
    let archive = Empty::new(folder.path(), false);
    for (seed, bounds) in (0..).zip(bounds) {
        let dac = Dac::new(Config::default());
        let samples = send(&dac, &mut Random(seed));
        let one = evaluate((&dac, &archive), 1, bounds, samples);
        assert!(one.journal.len() > 100, "{} events", one.journal.len());
        assert!(one.derived.len() > 100, "{} derived samples", one.derived.len());
        assert!(one.checkpoints.iter().all(Option::is_some));
        for threads in [2, 4] {
            let others = evaluate((&dac, &archive), threads, bounds, samples);
            let which = format!("seed {seed}, {threads} threads, {bounds:?}");
            assert_same(&one.journal, &others.journal, &format!("{which}, journal"));
            assert_same(&one.checkpoints, &others.checkpoints, &format!("{which}, checkpoints"));
            assert_same(&one.derived, &others.derived, &format!("{which}, derived samples"));
        }
    }
}

#[test]
fn a_stop_evaluates_what_came_before() {
    let bounds = RoundBounds { of_thread: 1, of_instance: 50, of_all: 100, ..RoundBounds::default() };
    let config = RulesConfig { threads: 2, ..RulesConfig::default() };
    let plant = Plant::bounded(&[RULES.to_owned()], config, bounds);
    let mut pumps = Pumps::new(&plant.dac, "north", 1, &INSTANCES);
    for _ in 0..10 {
        INSTANCES.into_iter().for_each(|instance| pumps.send(instance, &[1.0; 20]));
    }
    plant.stop();
    assert_eq!(plant.rules.state()["samples"], 10 * 20 * INSTANCES.len());
}

#[test]
fn a_thread_that_panics_is_a_failure_of_the_handler_and_loses_nothing() {
    let mut config = Config::default();
    config.log.topic_bytes = 4_096;
    let dac = Dac::new(config);
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.rules"), RULES).unwrap();
    let mut config = RulesConfig {
        files: vec![".".into()],
        directory: "state".into(),
        threads: 2,
        ..RulesConfig::default()
    };
    config.relative_to(folder.path());
    let mut pumps = Pumps::new(&dac, "north", 1, &INSTANCES);
    for instance in INSTANCES {
        (0..20).for_each(|_| pumps.send(instance, &[9.0; 100]));
    }
    let alarms = Arc::new(Alarms::open(&folder.path().join("state"), Limits::default()).unwrap());
    let bounds = RoundBounds { of_thread: 1, ..RoundBounds::default() };
    let rules = Arc::new(Rules::new(config, alarms.clone()).with_bounds(bounds));
    let archive = Empty::new(folder.path(), true);
    let supervisor = Supervisor::new(dac.clone(), Some(archive.clone()), vec![rules.clone()]);
    supervisor.start_all();
    wait("the failure", || {
        let detail = supervisor.status("rules").unwrap().detail?;
        assert_eq!(detail, "panicked: the archive of this test fails once");
        Some(())
    });
    wait("the next start", || {
        (supervisor.status("rules").unwrap().condition == Condition::Running).then_some(())
    });
    // Samples in the log are evaluated, on both threads, and lost ones are missing.
    wait("all alarms", || {
        let page = alarms.journal(&JournalFilter { most: 1_000, ..JournalFilter::default() }).unwrap();
        let raised = |entry: &&JournalEntry| entry.rule == "Hot" && entry.kind.name() == "raised";
        (page.entries.iter().filter(raised).count() == INSTANCES.len()).then_some(())
    });
    assert_eq!((rules.state()["behind"].as_u64(), rules.problem()), (Some(0), None));
    supervisor.stop("rules").unwrap();
}

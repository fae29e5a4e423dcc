//! Whatever happens to the evaluation, the journal has each event of the same samples once: many plants, each with another seed.
//!
//! Each of 1, 2 and 4 threads evaluates a third of them. `OASIS_RULES_SEEDS=2000` takes some minutes; `OASIS_RULES_SEED=7` runs one.

use crate::common::{MS, Plant, Pumps, Random, wait};
use oasis_dac::{Instance, now};
use oasis_handler::InstanceLog;
use oasis_rules::{Standing, compile};
use oasis_rules_history::{CLOCK_TYPE, KnownLog, Past, Replay, Span};
use oasis_wire::quantity::Nanos;
use std::{
    collections::BTreeMap,
    env,
    sync::Arc,
    time::{Duration, Instant},
};

const RULES: &str = "input p = \"*/pump *\" : Pump;
alarm Hot { raise p.temperature > 5 for 200ms; clear p.temperature < 3 for 100ms; latch; }
alarm Often { raise count(p.temperature > 4, last 5) >= 3; on_unknown clear; }
alarm Rising { raise rate(p.temperature, 1s at most 40 samples) > 2 Cel/s; }
event Jumped { when p.temperature > 6 then p.temperature < 2 within 500ms; }
check Calm { after p.temperature > 7: always[100ms, 400ms] p.temperature > 1; }
derive Mean every 500ms { mean = mean(p.temperature, last 4); }
alarm Derived { raise Mean.mean > 4 for 1s; }
alarm Gone { raise silent(p) for 100ms; }
input f = \"*/feed *\" : Pump;
alarm JoinHot { raise p.temperature - hold(f.temperature, 60s) > 3 for 200ms; clear p.temperature < hold(f.temperature, 60s); latch; }
alarm JoinOften { raise p.temperature > 4 and count(f.temperature > 4, last 5) >= 3; on_unknown clear; }
event JoinJumped { when hold(f.temperature, 30s) > 6 and p.temperature > 5 then hold(f.temperature, 30s) < 4 within 5s; }
derive JoinMean every 500ms { above = p.temperature - hold(mean(f.temperature, 20s at most 300 samples), 20s); }
alarm JoinDerived { raise JoinMean.above > 1 for 1s; }
input s = \"south/pump *\" : Pump;
input n = \"north/feed *\" : Pump;
alarm JoinNodes { raise s.temperature > hold(n.temperature, 60s); on_unknown raise; }
alarm JoinLine { raise s.temperature > linear(n.temperature, 60s) for 200ms; clear s.temperature < 3; }
event JoinNear { when nearest(n.temperature, 60s) > s.temperature then hold(n.temperature, 60s) < 4 within 5s; }
derive JoinWindow every 500ms { above = s.temperature - hold(mean(n.temperature, 20s at most 300 samples), 60s); }
alarm JoinWindows { raise JoinWindow.above > 1 for 1s; }
";
/// Another rule of the file: its states begin when it is added, so only the others are compared.
const EXTRA: &str = "alarm Extra { raise p.temperature > 1; }\n";
const STEPS: usize = 60;
const TEST_TIMEOUT: Duration = Duration::from_secs(60);
const INSTANCES: [&str; 5] = ["pump 1", "pump 2", "pump 3", "feed 1", "feed 2"];

/// Content of an event.
type Line =
    (String, String, String, Option<u64>, Option<&'static str>, [Option<u64>; 3], bool, [Option<u64>; 2]);

/// The events that the samples in the logs give, up to a DAC time.
fn expected(plant: &Plant, frontier: Option<u64>) -> BTreeMap<Line, u64> {
    let instances = plant.dac.registry.home_instances().into_iter();
    let pumps =
        instances.filter(|instance| *instance.node != *"rules" || instance.probe_type.name == CLOCK_TYPE);
    let logs = pumps.map(|instance| KnownLog {
        node: instance.node.clone(),
        instance: instance.name.clone(),
        log: Arc::new(InstanceLog(instance)),
    });
    let past = Past { logs: logs.collect(), frontier, ..Past::default() };
    let program = compile("a.rules".as_ref(), RULES, &past.types().unwrap()).program;
    let mut replay = Replay::open(&past, program, Span::default()).unwrap();
    let mut found = Vec::new();
    while replay.step(&mut found).unwrap() {}
    count(found.into_iter().map(|occurrence| {
        let event = occurrence.event;
        let names = (occurrence.node.to_string(), occurrence.instance.to_string());
        let rule = replay.program().rules[event.rule].name.clone();
        let numbers = [Some(event.time), event.since, event.missing];
        let values = [event.value, event.limit].map(|value| value.map(f64::to_bits));
        let rule_and_kind = format!("{rule} {}", event.kind.name());
        let state = event.standing.map(Standing::name);
        (rule_and_kind, names.0, names.1, event.sequence, state, numbers, event.is_known, values)
    }))
}

/// The events of the journal.
fn found(plant: &Plant) -> BTreeMap<Line, u64> {
    let entries =
        plant.entries().into_iter().filter(|entry| entry.rule != "Extra" && !entry.rule.contains('.'));
    count(entries.map(|entry| {
        let numbers = [Some(entry.time), entry.since, entry.missing];
        let values = [entry.value, entry.limit].map(|value| value.map(f64::to_bits));
        let rule_and_kind = format!("{} {}", entry.rule, entry.kind.name());
        let state = entry.state.map(Standing::name);
        (rule_and_kind, entry.node, entry.instance, entry.sequence, state, numbers, entry.is_known, values)
    }))
}

fn count(lines: impl Iterator<Item = Line>) -> BTreeMap<Line, u64> {
    let mut counts = BTreeMap::new();
    lines.for_each(|line| *counts.entry(line).or_default() += 1);
    counts
}

/// The numbers of threads that evaluate, one after the other.
const THREADS: [usize; 3] = [1, 2, 4];

/// Returns the known events of rules over several nodes.
fn run(seed: u64) -> usize {
    let mut random = Random(seed);
    let threads = THREADS[seed as usize % THREADS.len()];
    let mut plant = Plant::on_threads(RULES, threads);
    let mut nodes: Vec<Pumps> = Vec::new();
    let mut runs = 0;
    for name in ["north", "south"] {
        runs += 1;
        nodes.push(Pumps::new(&plant.dac, name, runs, &INSTANCES));
    }
    // The clocks of nodes are off, drift and step.
    let offset = |random: &mut Random| random.next(6_000) as i64 * MS as i64 - 3_000 * MS as i64;
    let mut offsets = [offset(&mut random), offset(&mut random)];
    nodes.iter_mut().zip(offsets).for_each(|(node, offset)| node.measure_clock(offset, 1_000_000));
    wait("the clocks", || {
        let is_published = |instance: Arc<Instance>| instance.log.next().0 > 0;
        let clock = |name: &str| plant.dac.registry.find("rules", name).is_some_and(is_published);
        (clock("clock north") && clock("clock south")).then_some(())
    });
    let (mut step_of_clock, mut newest) = (0_i64, 0);
    let mut has_extra = false;
    for _ in 0..STEPS {
        match random.next(40) {
            // The DAC is killed, and has the database of some commits before.
            0..=2 => plant.kill(random.next(2) == 0),
            3 => plant.restart(),
            4 => {
                has_extra = !has_extra;
                plant.write_rules(&format!("{RULES}{}", if has_extra { EXTRA } else { "" }));
            }
            // The clock of the DAC is set.
            5 => step_of_clock = random.next(2_000) as i64 * MS as i64 - 1_000 * MS as i64,
            6 => {
                let node = nodes.remove(0);
                let name = node.name.clone();
                node.leave();
                runs += 1;
                nodes.push(Pumps::new(&plant.dac, &name, runs, &INSTANCES));
            }
            7 => plant.snapshot(),
            9..=11 => {
                let at = random.next(2) as usize;
                match random.next(4) {
                    0 => offsets[at] = offset(&mut random),
                    _ => offsets[at] += random.next(20) as i64 * MS as i64 - 10 * MS as i64,
                }
                let (node, round_trip) = (&mut nodes[at], random.next(5_000_000));
                node.measure_clock(offsets[at], round_trip);
            }
            8 => std::thread::sleep(std::time::Duration::from_millis(random.next(300))),
            _ => {
                let (node, instance) = (random.next(2) as usize, INSTANCES[random.next(5) as usize]);
                if random.next(10) == 0 {
                    nodes[node].lose(instance, 1 + random.next(4));
                }
                if random.next(20) == 0 {
                    nodes[node].set_clock_back(random.next(3_000) * MS);
                }
                let temperatures: Vec<f64> = (0..1 + random.next(30))
                    .map(|_| if random.next(15) == 0 { f64::NAN } else { random.next(90) as f64 / 10.0 })
                    .collect();
                let time = Nanos(now().0.saturating_add_signed(step_of_clock));
                newest = newest.max(time.0);
                nodes[node].send_at(instance, &temperatures, time);
            }
        }
    }
    // A clock that is published now must not come before samples that were evaluated.
    let end = wait("the time of the last sample", || Some(now().0).filter(|now| *now > newest));
    let wanted = expected(&plant, Some(end));
    let begin = Instant::now();
    let last = loop {
        let last = found(&plant);
        let lacking: Vec<_> = wanted.keys().filter(|line| !last.contains_key(*line)).collect();
        if lacking.is_empty() {
            break last;
        }
        assert!(begin.elapsed() < TEST_TIMEOUT, "seed {seed} lacks {lacking:#?}");
        std::thread::sleep(Duration::from_millis(5));
    };
    // Later events are only silence after the end, and events that waited then.
    let all = expected(&plant, None);
    let later: Vec<_> = last.iter().filter(|(line, count)| wanted.get(*line) != Some(*count)).collect();
    let may_be = |line: &Line, count: u64| match line.0.starts_with("Join") {
        // Another run of the node can have an equal one that still waits.
        true => all.get(line).is_some_and(|all| count <= *all),
        false => line.0 == "Gone raised" && count == 1,
    };
    let wrong: Vec<_> = later.iter().filter(|(line, count)| !may_be(line, **count)).collect();
    assert!(wrong.is_empty(), "seed {seed}: {wrong:#?}");
    let joined = wanted.keys().filter(|line| line.0.starts_with("Join")).count();
    assert!(joined > 3, "seed {seed}: {joined} events of joined rules");
    assert!(wanted.len() > 20, "seed {seed}: {} events", wanted.len());
    let of_nodes = ["JoinNodes", "JoinLine", "JoinNear", "JoinWindows"];
    let is_of_nodes = |line: &Line| line.6 && of_nodes.iter().any(|rule| line.0.starts_with(rule));
    wanted.keys().filter(|line| is_of_nodes(line)).count()
}

#[test]
fn the_journal_has_each_event_of_the_samples_once() {
    let number = |name: &str| env::var(name).ok().map(|text| text.parse::<u64>().expect("a number"));
    if let Some(seed) = number("OASIS_RULES_SEED") {
        println!("{} known events of several nodes", run(seed));
        return;
    }
    let seeds = number("OASIS_RULES_SEEDS").unwrap_or(9);
    let of_nodes: usize = (0..seeds).map(run).sum();
    assert!(of_nodes as u64 > seeds, "{of_nodes} known events of several nodes");
    println!("{seeds} seeds, {of_nodes} known events of several nodes");
}

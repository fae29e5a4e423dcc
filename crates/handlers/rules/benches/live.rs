//! Cost of evaluating rules while samples come: processor time of the handler's threads, their maximum throughput, and latency from a sample to its
//! committed event.
//!
//! `cargo bench -p oasis-rules-handler` prints one line a figure.

#![allow(clippy::unwrap_used, reason = "a benchmark stops at the first surprise")]
#![allow(clippy::print_stdout, reason = "figures are printed")]

#[allow(dead_code, reason = "tests use more of it")]
#[path = "../tests/integration/common.rs"]
mod common;

use common::{MS, Plant, Pumps, wait};
use oasis_dac::now;
use oasis_handler::Handler;
use oasis_rules::Standing;
use oasis_rules_handler::RulesConfig;
use std::{
    fs,
    time::{Duration, Instant},
};

/// Duration of each load.
const LOAD: Duration = Duration::from_secs(5);
/// Ticks of `/proc` in a second.
const TICKS: f64 = 100.0;

fn main() {
    // Tests of the workspace call benchmarks without `--bench`: they only look whether they start.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    for threads in [1, 2] {
        println!("{threads} threads:");
        million(1, threads);
        million(10, threads);
        rules_of_their_own(threads);
        rules_for_all(10, threads);
    }
    for (rules, samples) in [(1, 400), (20, 60)] {
        overload(rules, samples);
    }
    joins("hold(f.temperature, 1s)");
    joins("linear(f.temperature, 1s)");
    joins("mean(f.temperature, 1s at most 2000 samples)");
    latency();
}

/// Processor time of the threads that evaluate, in seconds.
fn cpu() -> f64 {
    let tasks = fs::read_dir("/proc/self/task").unwrap().flatten();
    let ticks = tasks.filter_map(|task| {
        let stat = fs::read_to_string(task.path().join("stat")).ok()?;
        let (comm, rest) = stat.split_once('(')?.1.rsplit_once(')')?;
        let fields: Vec<&str> = rest.split_whitespace().collect();
        let ticks = |at: usize| fields.get(at)?.parse::<f64>().ok();
        (comm.starts_with("rules") && comm != "rules-commands").then(|| Some(ticks(11)? + ticks(12)?))?
    });
    ticks.sum::<f64>() / TICKS
}

fn on(threads: usize) -> RulesConfig {
    RulesConfig { threads, ..RulesConfig::default() }
}

/// Calls `send` so often in a second, for a while. Returns the handler's share of a core, and the samples that it had not evaluated at the end.
fn load(plant: &Plant, per_second: u32, mut send: impl FnMut(u32)) -> (f64, u64) {
    let (begin, before) = (Instant::now(), cpu());
    let mut sent = 0;
    while begin.elapsed() < LOAD {
        let due = (begin.elapsed().as_secs_f64() * f64::from(per_second)) as u32;
        while sent < due {
            send(sent);
            sent += 1;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    let share = (cpu() - before) / begin.elapsed().as_secs_f64();
    let behind = plant.rules.state()["behind"].as_u64().unwrap();
    // The next case must not be charged with this one.
    plant.stop();
    (share, behind)
}

/// 1,000,000 samples a second.
fn million(instances: usize, threads: usize) {
    let rules = "input p = \"*/pump *\" : Pump; alarm Hot { raise p.temperature > 95; }";
    let plant = Plant::configured(rules, on(threads));
    let names = names(instances);
    let names: Vec<&str> = names.iter().map(|name| &**name).collect();
    let mut pumps = Pumps::new(&plant.dac, "north", 1, &names);
    let temperatures = vec![50.0; 1_000];
    let (share, behind) =
        load(&plant, 1_000, |at| pumps.send(names[at as usize % names.len()], &temperatures));
    let samples = plant.rules.state()["samples"].as_u64().unwrap();
    println!(
        "  one rule, {instances} instances, 1,000 batches of 1,000 samples a second: {:.1} % of a core, {samples} evaluated, {behind} behind",
        share * 100.0
    );
}

fn names(instances: usize) -> Vec<String> {
    (0..instances).map(|at| format!("pump {at}")).collect()
}

/// Rules over samples of 16 instances that are all there before: as fast as it can, one time after the other on 1 and 2 threads.
fn overload(rules: usize, batches: usize) {
    const RUNS: usize = 7;
    let alarms: String =
        (0..rules).map(|at| format!("alarm Hot{at} {{ raise p.temperature > {at} + 95; }}\n")).collect();
    let text = format!("input p = \"*/pump *\" : Pump;\n{alarms}");
    let names = names(16);
    let names: Vec<&str> = names.iter().map(|name| &**name).collect();
    let samples = (names.len() * batches * 1_000) as u64;
    let mut rates = [Vec::new(), Vec::new()];
    for _ in 0..RUNS {
        for (threads, rates) in (1..).zip(&mut rates) {
            let config = RulesConfig { pdl_limits: false, ..on(threads) };
            let plant = Plant::configured(&text, config);
            plant.stop();
            let mut pumps = Pumps::new(&plant.dac, "north", 1, &names);
            for _ in 0..batches {
                names.iter().for_each(|name| pumps.send(name, &[50.0; 1_000]));
            }
            let begin = Instant::now();
            plant.start();
            wait("all samples", || (plant.rules.state()["samples"] == samples).then_some(()));
            rates.push(samples as f64 / begin.elapsed().as_secs_f64() / 1e6);
        }
    }
    for (threads, mut rates) in (1..).zip(rates) {
        rates.sort_by(f64::total_cmp);
        println!(
            "overload, {rules} rules, 16 instances, {samples} samples, {threads} threads: {:.1} million samples a second, fastest {:.1}",
            rates[RUNS / 2],
            rates[RUNS - 1]
        );
    }
}

/// Instances with 10 samples a second each.
const INSTANCES: usize = 1_000;

/// A rule for each instance alone.
fn rules_of_their_own(threads: usize) {
    // A file has 1,000 declarations at most.
    let file = |first: usize| -> String {
        let rule = |at| {
            format!(
                "input p{at} = \"*/pump {at}\" : Pump; alarm Hot{at} {{ raise p{at}.temperature > 95; }}\n"
            )
        };
        (first..first + 250).map(rule).collect()
    };
    let files: Vec<String> = (0..INSTANCES).step_by(250).map(file).collect();
    many_rules("1,000 rules, each over one", &Plant::with_files(&files, on(threads)), INSTANCES);
}

/// Rules that read all instances.
fn rules_for_all(rules: usize, threads: usize) {
    let alarms: String =
        (0..rules).map(|at| format!("alarm Hot{at} {{ raise p.temperature > {at} + 1000; }}\n")).collect();
    let plant = Plant::configured(&format!("input p = \"*/pump *\" : Pump;\n{alarms}"), on(threads));
    many_rules(&format!("{rules} rules, each over all"), &plant, rules);
}

fn many_rules(which: &str, plant: &Plant, rules: usize) {
    let names = names(INSTANCES);
    let names: Vec<&str> = names.iter().map(|name| &**name).collect();
    let mut pumps = Pumps::new(&plant.dac, "north", 1, &names);
    // The limit of the type is a rule too.
    wait("all rules", || (plant.rules.state()["rules"] == rules + 1).then_some(()));
    wait("all instances", || (plant.rules.state()["instances"] == INSTANCES).then_some(()));
    let per_second = u32::try_from(INSTANCES).unwrap() * 10;
    let (share, _) = load(plant, per_second, |at| pumps.send(names[at as usize % names.len()], &[50.0]));
    let evaluated = plant.rules.state()["samples"].as_u64().unwrap();
    let sent = u64::from(per_second) * LOAD.as_secs();
    println!(
        "  {which} of {INSTANCES} instances at 10 Hz: {:.1} % of a core, {evaluated} of {sent} samples evaluated meanwhile",
        share * 100.0
    );
}

/// Pairs of instances of two nodes that one rule joins.
const PAIRS: usize = 100;
/// Samples in a batch: a tenth of a second at 1 kHz.
const BATCH: u64 = 100;

/// A rule that joins instances of two nodes, with 1,000 samples a second each.
fn joins(value: &str) {
    let rule = format!("alarm Above {{ raise p.temperature > {value}; }}");
    let plant = Plant::without_limits(&format!(
        "input p = \"north/pump *\" : Pump; input f = \"south/pump *\" : Pump; {rule}"
    ));
    let names: Vec<String> = (0..PAIRS).map(|at| format!("pump {at}")).collect();
    let names: Vec<&str> = names.iter().map(|name| &**name).collect();
    let mut nodes = [("north", 1), ("south", 2)].map(|(name, run)| Pumps::new(&plant.dac, name, run, &names));
    for node in &mut nodes {
        node.step = MS;
        node.measure_clock(0, 100_000);
    }
    wait("all joins", || (plant.rules.state()["joins"] == PAIRS).then_some(()));
    for clock in ["clock north", "clock south"] {
        let is_published = |instance: std::sync::Arc<oasis_dac::Instance>| instance.log.next().0 > 0;
        wait("a clock", || plant.dac.registry.find("rules", clock).map(is_published).filter(|is| *is));
    }
    let begin = now().0;
    let temperatures = vec![50.0; BATCH as usize];
    let sends = 2 * PAIRS as u64;
    let (share, _) = load(&plant, sends as u32 * 10, |at| {
        let (at, tenth) = (u64::from(at) % sends, u64::from(at) / sends);
        let node = &mut nodes[(at % 2) as usize];
        // The samples were taken in the tenth of a second before they are sent.
        node.set_clock(begin + tenth * BATCH * MS - BATCH * MS);
        node.send(names[(at / 2) as usize], &temperatures);
    });
    let state = plant.rules.state();
    println!(
        "{PAIRS} joins of two inputs of two nodes at 1 kHz, {value}: {:.1} % of a core, {} samples evaluated, {} wait, {} unaligned",
        share * 100.0,
        state["samples"],
        state["waiting"],
        state["unaligned"]
    );
}

fn latency() {
    let plant = Plant::new("input p = \"*/pump\" : Pump; alarm Hot { raise p.temperature > 95; }");
    let mut pumps = Pumps::new(&plant.dac, "north", 1, &["pump"]);
    let mut latencies = Vec::new();
    for _ in 0..200 {
        for (temperature, standing) in [(99.0, Standing::Active), (9.0, Standing::Normal)] {
            pumps.send("pump", &[temperature]);
            plant.wait_for_standing("Hot", standing);
            wait("the figure", || (plant.rules.state()["events"] == latencies.len() + 1).then_some(()));
            latencies.push(plant.rules.state()["latency_ns"].as_u64().unwrap());
        }
    }
    latencies.sort_unstable();
    let at = |share: f64| latencies[(latencies.len() as f64 * share) as usize] as f64 / 1e6;
    println!(
        "DAC time to commit: median {:.2} ms, 99 % {:.2} ms, longest {:.2} ms of {} events",
        at(0.5),
        at(0.99),
        latencies.last().map_or(0.0, |longest| *longest as f64 / 1e6),
        latencies.len()
    );
}

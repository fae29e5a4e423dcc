//! DACs that relay each other and take over each other's nodes, step by step, from a seed: the sessions, registries and ledgers of two real
//! DACs, and the spool of a node. Connections that the node has given up still deliver what is on them.

mod host;
mod line;
mod relay;
mod watcher;
mod world;

use std::panic::{AssertUnwindSafe, catch_unwind};
use watcher::Watched;
use world::{Counts, Planted, World};

/// Seeds of a test run; `OASIS_SIM_SEEDS` asks for more, and `OASIS_SIM_FIRST` for others with a relay.
const SEEDS: u64 = 1_000;
/// Seeds of a full run (`OASIS_SIM_FULL`).
const FULL_SEEDS: u64 = 3_000;
/// Seeds with a relay and its readers, which take longer.
const WATCHED_SEEDS: u64 = 200;
const STEPS: usize = 250;

fn run(seed: u64, planted: Option<Planted>) -> Result<Counts, String> {
    finish(World::new(seed, planted)).map(|(counts, _)| counts)
}

fn finish(mut world: World) -> Result<(Counts, [Watched; 2]), String> {
    let result = catch_unwind(AssertUnwindSafe(|| {
        (0..STEPS).for_each(|_| world.step());
        world.settle();
        (world.judge(), world.received())
    }));
    result.map_err(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        text.or(panic.downcast_ref::<&str>().copied()).unwrap_or("a panic without a text").to_owned()
    })
}

#[test]
fn every_sample_is_stored_once_in_an_archive_whoever_is_killed_and_whoever_relays() {
    let mut sum = Counts::default();
    let otherwise = if crate::is_full() { FULL_SEEDS } else { SEEDS };
    let seeds = std::env::var("OASIS_SIM_SEEDS").map_or(otherwise, |seeds| seeds.parse().unwrap());
    for seed in 0..seeds {
        match run(seed, None) {
            Ok(counts) => sum.add(&counts),
            Err(message) => panic!("seed {seed}: {message}"),
        }
    }
    println!("{seeds} seeds: {sum}");
    assert!(sum.kept_ahead > 0 && sum.releases > 0, "{sum}");
    assert!(sum.kills > 0 && sum.late_batches > 0 && sum.takeovers > 0, "{sum}");
}

#[test]
fn readers_of_a_relay_receive_each_sample_once_in_order_or_learn_that_they_miss_it() {
    let (mut sum, mut of_relay, mut of_dacs) = (Counts::default(), Watched::default(), Watched::default());
    let seeds = std::env::var("OASIS_SIM_SEEDS").map_or(WATCHED_SEEDS, |seeds| seeds.parse().unwrap());
    let first = std::env::var("OASIS_SIM_FIRST").map_or(0, |first| first.parse().unwrap());
    for seed in first..first + seeds {
        match finish(World::watched(seed)) {
            Ok((counts, [at_relay, at_dacs])) => {
                sum.add(&counts);
                of_relay.add(&at_relay);
                of_dacs.add(&at_dacs);
            }
            Err(message) => panic!("seed {seed}: {message}"),
        }
    }
    println!("{seeds} seeds: {sum}; readers of the relay: {of_relay}; readers of the DACs: {of_dacs}");
    assert!(of_relay.samples > 0 && of_dacs.samples > 0 && sum.takeovers > 0, "{of_relay}; {of_dacs}");
}

/// Runs seeds until one fails. Returns how many that took.
fn found_after(planted: Planted) -> u64 {
    // The panics are expected.
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let found = (0..SEEDS).find_map(|seed| Some((seed, run(seed, Some(planted)).err()?)));
    std::panic::set_hook(hook);
    let Some((seed, message)) = found else { panic!("{planted:?} is not found in {SEEDS} seeds") };
    println!("mutant {planted:?}: found after {} seeds: {message}", seed + 1);
    seed + 1
}

#[test]
fn mutants_of_failover_are_found() {
    for planted in [
        Planted::ReceivedTakenForSafe,
        Planted::AttachIgnored,
        Planted::StoredBeforeTheArchive,
        Planted::KeptTakenForReceived,
    ] {
        assert!(found_after(planted) <= SEEDS);
    }
}

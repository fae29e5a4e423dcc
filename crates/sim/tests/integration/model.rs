//! Two DACs with archives, a node and a relay, checked in each state that they can reach: few samples and few faults, but each order of what
//! happens. The seeds of `relaying_dacs.rs` drive more of the real code along random ways.
//!
//! Real code decides what is difficult: the node's `Spool`, the DACs' `Ledger`, `Standing` (which of two connections of a node counts) and the relay's
//! `ResumePoint` (where it continues, and what is new or missing). Restated is what is around them:
//!
//! | here | stands for |
//! |---|---|
//! | `home.rs`: hello, counters, batches, answers | `dac::session`, `dac::registry`, `dac::keeping` |
//! | `home.rs`: commit, restart | `handlers/archive`, `dac::registry::restore` |
//! | `home.rs`: log, where a subscription begins | `dac::log`, `dac::log::portable`, `doors` |
//! | `relay.rs`: subscriptions | `relay::feed` |
//! | `world.rs`: connections, ship, leave | `probe::shipper`, `channel::Failover` |
//!
//! Not in the model: time (a silent DAC is one that the node gives up at any moment), several instances and runs, file spools, batches ahead of
//! their turn, datagrams, logs that evict, and history from archives.
//!
//! State without effect on samples, such as counts of duplicates, is left out. Orders of events with the same outcome are merged: samples are
//! taken first, and an answer is heard when it is given. The relay changes nothing for others, so the DACs either learn of the node from each other,
//! or a relay does.
//!
//! `OASIS_SIM_FULL` asks for one more sample, `OASIS_MODEL_SAMPLES` and `OASIS_MODEL_FAULTS` for any bounds.

mod checker;
mod hashed;
mod home;
mod node;
mod planted;
mod relay;
mod world;

use checker::{Explored, Wrong, explore};
use planted::Planted;
use std::time::Instant;
use world::{Action, Bounds, Checked, Cluster};

/// Properties that are checked: four of each state, one of each answer, one of each hello, one of each sample read, three of what becomes of each state.
const PROPERTIES: usize = 10;
/// Upper bound of states; a test has no memory and time for more.
const MAX_STATES: usize = 20_000_000;

fn asked(variable: &str, otherwise: u64) -> u64 {
    std::env::var(variable).map_or(otherwise, |text| text.parse().unwrap())
}

/// Visits all states within the bounds, and prints how many there are.
fn visit(bounds: Bounds) {
    let samples = asked("OASIS_MODEL_SAMPLES", bounds.samples);
    let faults = u8::try_from(asked("OASIS_MODEL_FAULTS", bounds.faults.into())).unwrap();
    let bounds = Bounds { samples, faults, ..bounds };
    let cluster = Cluster { bounds, planted: None, checked: Checked::default() };
    let begun = Instant::now();
    let explored =
        explore(&cluster, MAX_STATES).unwrap_or_else(|wrong| panic!("{bounds:?}: {}", describe(&wrong)));
    let Checked { states, hellos, answers, samples_read } = &cluster.checked;
    let Explored { states: all, transitions, depth, settled } = explored;
    let (states, answers, hellos, samples_read) =
        (states.get(), answers.get(), hellos.get(), samples_read.get());
    println!(
        "{bounds:?}: {all} states, {transitions} transitions, {depth} deep, in {:.1?}; {PROPERTIES} properties:\n\
         in {states} states: 0 samples left the spool before an archive had them, 0 were called stored before, 0 drops are undeclared, 0 accounts do not add up\n\
         at {answers} answers 0 samples are called safe before a copy exists; at {hellos} hellos 0 earlier connections replace a later one\n\
         at {samples_read} samples of the reader: 0 again, 0 out of order, 0 missing without a gap\n\
         from {all} states, once faults end: all is stored or declared, all name the same home, the reader has the newest ({settled} such ends)",
        begun.elapsed(),
    );
}

fn describe(wrong: &Wrong<Action>) -> String {
    format!("{} after {:?} ({} states)", wrong.message, wrong.trace, wrong.states)
}

#[test]
fn whatever_fails_in_whatever_order_nothing_is_lost_and_the_last_connection_is_home() {
    let samples = if crate::is_full() { 2 } else { 1 };
    visit(Bounds { samples, faults: 2, has_relay: false });
}

#[test]
fn a_reader_of_a_relay_gets_each_sample_once_in_order_or_learns_that_it_misses_it() {
    let samples = if crate::is_full() { 3 } else { 2 };
    visit(Bounds { samples, faults: 1, has_relay: true });
}

#[test]
fn mutants_of_the_model_are_found() {
    let bounds = Bounds { samples: 3, faults: 1, has_relay: true };
    for planted in [
        Planted::ReceivedTakenForSafe,
        Planted::AttachIgnored,
        Planted::NotSentAgain,
        Planted::GapDropped,
        Planted::StoredBeforeTheArchive,
    ] {
        let cluster = Cluster { bounds, planted: Some(planted), checked: Checked::default() };
        let found = explore(&cluster, MAX_STATES).err();
        let wrong = found.unwrap_or_else(|| panic!("{planted:?} is not found"));
        println!("mutant {planted:?} of the model: {}", describe(&wrong));
    }
}

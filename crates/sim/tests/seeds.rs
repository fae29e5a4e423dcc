//! The simulation finds the bugs that it plants, and nothing in the same seeds without them.
//!
//! A program of its own: the DAC's steady clock begins when the process reads it first, which must be on a simulated machine.

use oasis_sim::{
    planted::Planted,
    run::{Options, run},
};

/// Seeds without a planted bug that each test run checks.
const SEEDS: u64 = 30;

/// Seeds that found defects of releases before; `docs/evidence/simulation.md` lists the defects.
const FORMER: [u64; 6] = [305, 383, 1_012_275, 1_024_451, 1_047_111, 1_076_363];

/// Returns after how many seeds a planted bug is found. Each of them passes without it.
fn found_after(planted: Planted, most: u64) -> u64 {
    let options = Options { planted: Some(planted), ..Options::default() };
    let found = (1..=most).find(|&seed| !run(seed, options).findings.is_empty());
    let found = found.unwrap_or_else(|| panic!("{planted:?} is not found within {most} seeds"));
    assert_eq!(run(found, Options::default()).findings, Vec::<String>::new(), "seed {found} without the bug");
    found
}

#[test]
fn an_acknowledgement_before_the_batch_is_taken_is_found() {
    found_after(Planted::AckBeforeTake, 40);
}

#[test]
fn a_missing_sync_is_found() {
    found_after(Planted::MissingSync, 60);
}

#[test]
fn a_resume_that_is_off_by_one_is_found() {
    found_after(Planted::ResumeOffByOne, 40);
}

#[test]
fn a_verdict_without_its_append_is_found() {
    found_after(Planted::VerdictWithoutAppend, 40);
}

#[test]
fn a_seed_repeats_everything() {
    for seed in [1, 7, 23] {
        let (first, second) = (run(seed, Options::default()), run(seed, Options::default()));
        assert_eq!(
            (first.hash, first.steps, &first.last),
            (second.hash, second.steps, &second.last),
            "seed {seed}"
        );
        assert_eq!(
            (first.changes, first.account.stored),
            (second.changes, second.account.stored),
            "seed {seed}"
        );
    }
}

#[test]
fn nothing_is_found_without_a_planted_bug() {
    for seed in (1..=SEEDS).chain(FORMER) {
        let outcome = run(seed, Options::default());
        assert_eq!(outcome.findings, Vec::<String>::new(), "seed {seed}: {:#?}", outcome.last);
        assert!(outcome.account.stored > 0, "seed {seed}");
    }
}

//! The state of a rule never takes more memory than its bound, which `oasis rules explain` prints, whatever samples come.

use crate::random::{Row, program, rows, rule, steps};
use oasis_rules::{Engine, Group, Instance, Program, RESTART, Rows};
use proptest::prelude::*;
use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
};

thread_local! {
    static LIVE: Cell<usize> = const { Cell::new(0) };
}

/// Counts the bytes of the thread that asks for them, so that the tests beside may run at the same time.
struct Counting;

// SAFETY: all is passed on to the system's allocator; the counter is a plain cell that allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LIVE.set(LIVE.get().wrapping_add(layout.size()));
        // SAFETY: the caller keeps the rules of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        LIVE.set(LIVE.get().wrapping_sub(layout.size()));
        // SAFETY: the caller keeps the rules of `dealloc`, and `alloc` gave what the system gave.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Bytes that belong to an instance and to no rule: its place in the engine, and the time at which its silence would be
/// noticed.
const INSTANCE_BYTES: usize = 128;

/// Instances that are measured at once.
const INSTANCES: usize = 4;

/// The most bytes that the states of an instance take after a batch, and their bound.
fn most_bytes(program: Program, rows: &[Row], batch: usize) -> (usize, usize) {
    let bound: usize = program.rules.iter().map(|rule| rule.memory_bytes()).sum();
    let mut engine = Engine::new(program);
    let before = LIVE.get();
    let ids: Vec<_> = (0..INSTANCES).map(|_| engine.add(0).unwrap()).collect();
    let of_ids = size_of_val(&*ids);
    let mut most = 0;
    for (at, rows) in rows.chunks(batch).enumerate() {
        for id in &ids {
            engine.batch(*id, at as u64, columns(rows), &mut |_, _| {});
        }
        most = most.max(LIVE.get() - before - of_ids);
    }
    (most / INSTANCES, bound + INSTANCE_BYTES)
}

/// As above, for an instance whose state was saved and restored after `kept_after` samples.
fn most_bytes_restored(program: &Program, rows: &[Row], batch: usize, kept_after: usize) -> (usize, usize) {
    let bound: usize = program.rules.iter().map(|rule| rule.memory_bytes()).sum();
    let (before, after) = rows.split_at(kept_after.min(rows.len()));
    let step = |instance: &mut Instance, rows: &[Row]| {
        drop(instance.step(program, 0, &columns(rows), &mut Vec::new()));
    };
    let mut first = Instance::new(program, 0);
    before.chunks(batch).for_each(|rows| step(&mut first, rows));
    let saved = first.save(program);
    let live = LIVE.get();
    let mut restored = Instance::new(program, 0);
    assert!(restored.restore(program, &saved).is_empty());
    restored.continue_after(first.last_time());
    let mut most = LIVE.get() - live;
    for rows in after.chunks(batch) {
        step(&mut restored, rows);
        most = most.max(LIVE.get() - live);
    }
    (most, bound)
}

fn columns(rows: &[Row]) -> Rows {
    Rows {
        times: rows.iter().map(|row| row.time).collect(),
        sequences: rows.iter().map(|row| row.sequence).collect(),
        missing: rows.iter().map(|row| row.missing).collect(),
        columns: (0..3).map(|column| rows.iter().map(|row| row.values[column]).collect()).collect(),
        origins: (0..rows.len()).collect(),
    }
}

/// Samples that all have one time, at which conditions become true and false again and again: windows by time are full, and everything waits for an answer.
fn flood(count: usize) -> Vec<Row> {
    let flip = |at: usize| if at.is_multiple_of(2) { [-3.0, 5.0, 0.0] } else { [95.0, -2.0, 1.0] };
    let row = |at: usize| Row {
        time: 1_000_000_000,
        sequence: at as u64,
        missing: if at == 0 { RESTART } else { 0 },
        values: flip(at).to_vec(),
        origin: at,
    };
    (0..count).map(row).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_rules_stay_below_their_bound(rule in rule(), steps in steps(), batch in 1..50_usize) {
        let repeated: Vec<_> = steps.iter().cycle().take(400).copied().collect();
        for rows in [rows(&repeated), flood(400)] {
            let (most, bound) = most_bytes(program(&rule), &rows, batch);
            prop_assert!(most <= bound, "{} bytes of {}: {}", most, bound, rule);
        }
    }

    #[test]
    fn restored_states_stay_below_their_bound(rule in rule(), steps in steps(), batch in 1..50_usize, kept_after in 0..200_usize) {
        let repeated: Vec<_> = steps.iter().cycle().take(200).copied().collect();
        for rows in [rows(&repeated), flood(200)] {
            let (most, bound) = most_bytes_restored(&program(&rule), &rows, batch, kept_after);
            prop_assert!(most <= bound, "{} bytes of {}: {}", most, bound, rule);
        }
    }
}

#[test]
fn full_states_come_near_their_bound_and_stay_below() {
    let rules = [
        "alarm A { raise mean(p.x, last 1000) > 3; }",
        "alarm A { raise mean(p.x, 10s at most 1025 samples) > 3; }",
        "alarm A { raise 1 s * rate(p.x, 10s at most 777 samples) > 3; clear count(p.y > 2, last 5) > 3; }",
        "event A { when p.x > 3 then p.x > 1000 within 1h; }",
        "check A { after p.x > 3: always[1s, 1h] p.y > 3; }",
        "derive D every 1s { a = p.x; b = max(p.y, last 100); c = p.flag; } alarm A { raise mean(D.a, last 50) > 3; }",
        "alarm A { raise silent(p) for 1s; }",
    ];
    for rule in rules {
        let (most, bound) = most_bytes(program(rule), &flood(3_000), 256);
        assert!(most <= bound, "{most} bytes of {bound}: {rule}");
        println!("{most} bytes of {bound}: {rule}");
    }
    // A bound that nothing comes near shows nothing.
    let (most, bound) =
        most_bytes(program("alarm A { raise mean(p.x, last 1000) > 3; }"), &flood(3_000), 256);
    assert!(most * 10 > bound * 9, "{most} bytes of {bound}");
}

#[test]
fn samples_that_wait_stay_below_the_bound_of_a_join() {
    let rule = "input q = \"*/q\" : P; alarm A { raise p.x > max(q.x, 10s at most 500 samples) for 1s; }";
    let program = program(rule);
    let number = program.joins().next().unwrap();
    let bound = program.rules[number].memory_bytes();
    let rows = flood(20_000);
    for driver_first in [true, false] {
        let before = LIVE.get();
        let mut group = Group::new(&program, number).unwrap();
        let mut most = 0;
        // Whatever comes first waits: it is newer than what comes then.
        for (at, rows) in rows.chunks(100).enumerate() {
            let mut found = Vec::new();
            match driver_first == (at % 20 < 15) {
                true => group.push_driver(&program, (0, 0), columns(rows), &mut found),
                false => group.push_other(&program, 1, 0, &one_column(rows), &mut found),
            }
            drop(found);
            most = most.max(LIVE.get() - before);
        }
        assert!(most <= bound && most * 4 > bound, "{most} bytes of {bound}");
        assert!(group.figures().overflowed > 0);
    }
}

fn one_column(rows: &[Row]) -> Rows {
    let rows = columns(rows);
    Rows { columns: rows.columns.into_iter().take(1).collect(), ..rows }
}

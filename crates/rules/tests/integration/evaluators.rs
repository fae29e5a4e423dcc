//! The evaluator over columns equals the naive one, on random formulas and random traces with gaps, however the samples are cut into batches.

use crate::{
    naive,
    random::{MS, Row, evaluated, program, rows, rule, steps},
};
use oasis_rules::{Engine, Event, EventKind, Instance, Program, Rows};
use proptest::prelude::*;

/// The events of an instance on its own, whose state is saved and restored before some of its batches.
fn restored(program: &Program, rows: &[Row], size: usize, restores: &[bool]) -> Vec<Event> {
    let mut instance = Instance::new(program, 0);
    let (mut events, mut dac_time, mut derived) = (Vec::new(), 5_000 * MS, Vec::new());
    for (batch, is_restored) in rows.chunks(size).zip(restores.iter().cycle()) {
        if *is_restored {
            let saved = instance.save(program);
            let mut next = Instance::new(program, 0);
            assert_eq!(next.restore(program, &saved), Vec::<usize>::new());
            next.continue_after(instance.last_time());
            instance = next;
        }
        dac_time += 180 * MS;
        let columns = (0..3).map(|column| batch.iter().map(|row| row.values[column]).collect());
        let batch = Rows {
            times: batch.iter().map(|row| row.time).collect(),
            sequences: batch.iter().map(|row| row.sequence).collect(),
            missing: batch.iter().map(|row| row.missing).collect(),
            columns: columns.collect(),
            origins: (0..batch.len()).collect(),
        };
        events.extend(instance.step(program, dac_time, &batch, &mut derived));
    }
    events.extend(instance.pass(program, dac_time + 10_000 * MS));
    events.iter().for_each(|event| assert!(event.dac_time > 5_000 * MS, "{event:?}"));
    // Also what derived instances have.
    assert!(derived.iter().all(|(rule, rows)| *rule < program.rules.len() && !rows.is_empty()));
    events
}

/// Checks each tick, in milliseconds.
fn naive_silences(times: &[u64], duration: u64, end: u64) -> Vec<(EventKind, u64)> {
    let (mut found, mut is_active) = (Vec::new(), false);
    for (at, &last) in times.iter().enumerate() {
        if std::mem::take(&mut is_active) {
            found.push((EventKind::Cleared, last));
        }
        let next = times.get(at + 1).copied().unwrap_or(end + 1);
        for tick in (last..next).filter(|time| time % 100 == 0) {
            if !is_active && tick - last >= duration {
                found.push((EventKind::Raised, tick));
                is_active = true;
            }
        }
    }
    found
}

/// Events with unknown numbers compare by their text.
fn text(events: &[Event]) -> String {
    events.iter().map(|event| format!("{event:?}\n")).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn both_evaluators_agree(rule in rule(), steps in steps(), sizes in prop::collection::vec(1..9_usize, 1..5)) {
        let program = program(&rule);
        let rows = rows(&steps);
        let expected = text(&naive::events(&program, &rows));
        prop_assert_eq!(text(&evaluated(&program, &rows, &sizes)), &expected[..], "{}", &rule);
        prop_assert_eq!(text(&evaluated(&program, &rows, &[usize::MAX])), &expected[..], "{}", &rule);
    }

    /// The events do not show where an evaluation was interrupted.
    #[test]
    fn a_restored_state_goes_on_as_if_nothing_had_been(
        rule in rule(), steps in steps(), size in 1..9_usize, restores in prop::collection::vec(any::<bool>(), 1..6)
    ) {
        let program = program(&format!("{rule} alarm Gone {{ raise silent(p) for 300ms; }}"));
        let rows = rows(&steps);
        let expected = text(&restored(&program, &rows, size, &[false]));
        prop_assert_eq!(text(&restored(&program, &rows, size, &restores)), &expected[..], "{}", &rule);
    }

    #[test]
    fn a_damaged_state_is_refused(rule in rule(), at in any::<usize>(), change in 1..=u8::MAX, length in any::<usize>()) {
        let program = program(&rule);
        let intact = Instance::new(&program, 0).save(&program);
        let damage = |damage: &dyn Fn(&mut Vec<u8>)| {
            let mut saved = intact.clone();
            saved.iter_mut().for_each(|saved| damage(&mut saved.state));
            Instance::new(&program, 0).restore(&program, &saved).len()
        };
        prop_assert_eq!(damage(&|_| {}), 0);
        prop_assert_eq!(damage(&|state| { let at = at % state.len(); state[at] ^= change }), intact.len());
        prop_assert_eq!(damage(&|state| state.truncate(length % state.len())), intact.len());
        prop_assert_eq!(damage(&|state| state.push(change)), intact.len());
    }

    /// Silence is looked for at the next tick alone, and not at each.
    #[test]
    fn silence_is_that_of_each_tick(gaps in prop::collection::vec(0..900_u64, 1..20), duration in 1..12_u64, after in 0..900_u64) {
        let duration = duration * 50;
        let program = program(&format!("alarm Gone {{ raise silent(p) for {duration}ms; }}"));
        let times: Vec<u64> = gaps.iter().scan(1_000, |time, gap| { *time += gap; Some(*time) }).collect();
        let end = times.last().unwrap() + after;
        let expected = naive_silences(&times, duration, end);
        let mut engine = Engine::new(program);
        let id = engine.add(0).unwrap();
        let mut found = Vec::new();
        for time in times {
            let rows = Rows {
                times: vec![time * MS], sequences: vec![0], missing: vec![0], columns: vec![vec![0.0]; 3], origins: vec![0],
            };
            engine.batch(id, time * MS, rows, &mut |_, event| found.push((event.kind, event.time / MS)));
        }
        engine.frontier(end * MS, &mut |_, event| found.push((event.kind, event.time / MS)));
        prop_assert_eq!(found, expected);
    }
}

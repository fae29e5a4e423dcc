//! Gaps only turn known into unknown: samples that are lost, with a gap in their place, can hide an answer or delay it, but never turn it into its opposite.
//!
//! `docs/reference/rules.md` ("Unknown") promises for each kind of rule what a test here shows. The clock of the node does not step back here, and conditions that
//! raise and clear an alarm exclude each other; `on_unknown` is `keep`, because the others let unknown count.

use crate::random::{MS, Row, Step, formulas, program, rows, steps};
use oasis_rules::{Engine, Event, EventKind, RESTART, Rows, Standing};
use proptest::prelude::*;

/// Time does not step back.
fn forward() -> impl Strategy<Value = Vec<Step>> {
    steps().prop_map(|steps| {
        steps.into_iter().map(|(later, missing, values)| (later.abs(), missing, values)).collect()
    })
}

/// Returns which samples are lost; the first one never is, because the samples before it are unknown.
fn losses() -> impl Strategy<Value = Vec<bool>> {
    prop::collection::vec(prop::bool::weighted(0.15), 40)
}

fn without(rows: &[Row], losses: &[bool]) -> Vec<Row> {
    let mut carried = 0_u64;
    let mut left = Vec::new();
    for (at, row) in rows.iter().enumerate() {
        // The number of those before a restart is unknown.
        let missing = row.missing.saturating_add(carried);
        if at > 0 && losses[at] {
            carried = missing.saturating_add(1);
        } else {
            carried = 0;
            left.push(Row { missing, ..row.clone() });
        }
    }
    left
}

/// The events of each sample, by its number among all.
fn by_sample(rules: &str, rows: &[Row]) -> Vec<(usize, Vec<Event>)> {
    let mut engine = Engine::new(program(rules));
    let id = engine.add(0).unwrap();
    let mut found = Vec::new();
    for row in rows {
        let batch = Rows {
            times: vec![row.time],
            sequences: vec![row.sequence],
            missing: vec![row.missing],
            columns: row.values.iter().map(|value| vec![*value]).collect(),
            origins: vec![0],
        };
        let mut events = Vec::new();
        engine.batch(id, 0, batch, &mut |_, event| events.push(event));
        found.push((row.origin, events));
    }
    found
}

fn events(rules: &str, rows: &[Row]) -> Vec<Event> {
    by_sample(rules, rows).into_iter().flat_map(|(_, events)| events).collect()
}

/// Two alarms: one is active while a condition is known to be true, the other one while it is known to be false.
fn knowledge(condition: &str) -> String {
    format!(
        "alarm True {{ raise {condition}; on_unknown clear; }}
         alarm False {{ raise not ({condition}); on_unknown clear; }}"
    )
}

/// Whether the first and the second rule after the one of `program` are active, after all these events.
fn are_active<'e>(events: impl Iterator<Item = &'e Event>, first: usize, before: [bool; 2]) -> [bool; 2] {
    events.fold(before, |mut active, event| {
        if let Some(place) = event.rule.checked_sub(first).and_then(|rule| active.get_mut(rule)) {
            *place = event.standing == Some(Standing::Active);
        }
        active
    })
}

/// By the number of each sample.
fn known(condition: &str, rows: &[Row]) -> Vec<(usize, [bool; 2])> {
    let mut active = [false; 2];
    let found = by_sample(&knowledge(condition), rows);
    let states = found.into_iter().map(|(number, events)| {
        active = are_active(events.iter(), 1, active);
        (number, active)
    });
    states.collect()
}

/// Verdicts and moments that are known, with the time at which they began.
fn verdicts(rules: &str, rows: &[Row]) -> Vec<(EventKind, u64)> {
    let known = events(rules, rows).into_iter().filter(|event| event.is_known);
    known.map(|event| (event.kind, event.since.unwrap_or(event.time))).collect()
}

/// Returns the known states of a condition of the field of a derived instance, by the time of its samples.
fn known_of_derived(rules: &str, every: u64, rows: &[Row]) -> Vec<(u64, [bool; 2])> {
    let events = events(rules, rows);
    let mut periods: Vec<_> = rows.iter().map(|row| row.time.div_ceil(every)).collect();
    periods.dedup();
    // The last one has not ended.
    periods.pop();
    let until = |time: u64| are_active(events.iter().filter(|event| event.time <= time), 2, [false; 2]);
    periods.into_iter().map(|period| (period * every, until(period * every))).collect()
}

fn duration() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["", " for 100ms", " for 1s", " for 4s"])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    /// A condition that is known at a sample is the same as without losses.
    #[test]
    fn a_condition_stays_what_it_is_or_becomes_unknown(condition in formulas().1, steps in forward(), losses in losses()) {
        let condition = format!("({condition}) and (p.x > -90 or p.flag)");
        let all = rows(&steps);
        let of_all = known(&condition, &all);
        for (number, [is_true, is_false]) in known(&condition, &without(&all, &losses)) {
            let (_, [was_true, was_false]) = of_all[number];
            prop_assert!(!is_true || was_true, "true at {}: {}", number, condition);
            prop_assert!(!is_false || was_false, "false at {}: {}", number, condition);
        }
    }

    /// An alarm that is raised despite losses, or cleared, has the same state as without them. This can happen later,
    /// or never.
    #[test]
    fn an_alarm_is_raised_and_cleared_only_as_without_losses(
        (raise, more) in (formulas().1, formulas().1),
        (raise_for, clear_for) in (duration(), duration()),
        has_clear in any::<bool>(),
        steps in forward(),
        losses in losses(),
    ) {
        let raise = format!("({raise}) and (p.x > -90 or p.flag)");
        let clear = if has_clear { format!("clear not ({raise}) and ({more}){clear_for};") } else { String::new() };
        let rule = format!("alarm A {{ raise {raise}{raise_for}; {clear} }}");
        let all = rows(&steps);
        let mut active = [false; 2];
        let of_all: Vec<_> = by_sample(&rule, &all).iter().map(|(_, events)| {
            active = are_active(events.iter(), 1, active);
            active[0]
        }).collect();
        for (number, events) in by_sample(&rule, &without(&all, &losses)) {
            for event in events {
                match event.kind {
                    EventKind::Raised => prop_assert!(of_all[number], "raised at {}: {}", number, rule),
                    EventKind::Cleared => prop_assert!(!of_all[number], "cleared at {}: {}", number, rule),
                    _ => {}
                }
            }
        }
    }

    /// A known verdict about a known moment is the same as without losses.
    #[test]
    fn an_event_or_check_says_what_it_says_without_losses(
        (when, then) in (formulas().1, formulas().1),
        form in 0..3_u8,
        steps in forward(),
        losses in losses(),
    ) {
        let when = format!("({when}) and (p.x > -90 or p.flag)");
        let rule = match form {
            0 => format!("event A {{ when {when}; }}"),
            1 => format!("event A {{ when {when} then {then} within 2s; }}"),
            _ => format!("check A {{ after {when}: always[500ms, 3s] {then}; }}"),
        };
        let all = rows(&steps);
        let of_all = verdicts(&rule, &all);
        for verdict in verdicts(&rule, &without(&all, &losses)) {
            prop_assert!(of_all.contains(&verdict), "{:?} is not in {:?}: {}", verdict, of_all, rule);
        }
    }

    /// A known field of a derived instance is the same as without losses.
    #[test]
    fn a_derived_instance_stays_what_it_is_or_becomes_unknown(
        number in formulas().0,
        window in prop::sample::select(vec!["D.value", "mean(D.value, 2s)", "mean(D.value, last 2)", "rate(D.value) * 1 s"]),
        limit in -3..6_i8,
        steps in forward(),
        losses in losses(),
    ) {
        let derive = format!("derive D every 700ms {{ value = {number} + p.x; }}");
        let rules = format!("{derive}\n{}", knowledge(&format!("{window} > {limit}")));
        let steps: Vec<Step> = steps.into_iter().map(|(later, missing, values)| (later, if missing == RESTART { 0 } else { missing }, values)).collect();
        let all = rows(&steps);
        let every = 700 * MS;
        let of_all = known_of_derived(&rules, every, &all);
        for (time, [is_true, is_false]) in known_of_derived(&rules, every, &without(&all, &losses)) {
            let (_, [was_true, was_false]) = of_all.iter().find(|(other, _)| *other == time).unwrap();
            prop_assert!(!is_true || *was_true, "true at {}: {}", time, rules);
            prop_assert!(!is_false || *was_false, "false at {}: {}", time, rules);
        }
    }
}

//! Joins of instances whose nodes have clocks of their own.

use oasis_rules::{CLOCK_VALIDITY_NANOS, ClockOffset, Evaluated, EventKind, Group, Program, Rows, compile};
use oasis_wire::schema::{Metric, MetricType, ProbeType};
use proptest::prelude::*;
use std::sync::Arc;

const MS: u64 = 1_000_000;
const START: u64 = 1_700_000_000_000 * MS;

/// Compiles rules over `p` of one node and `q` and `r` of another one.
fn program(rules: &str) -> Program {
    let probe_type = Arc::new(ProbeType {
        name: "P".into(),
        uuid: "0f3c7d52-9c7e-4a57-8a9f-62c1f1b8c7aa".parse().unwrap(),
        version: "1.0".into(),
        doc: None,
        rate: None,
        metrics: vec![Metric::new("x", MetricType::Real64)],
    });
    let text = format!("input p = \"a-*/p\" : P; input q = \"b-*/q\" : P; input r = \"a-*/r\" : P; {rules}");
    let report = compile("a.rules".as_ref(), &text, &[probe_type]);
    let errors: Vec<_> =
        report.diagnostics.iter().map(|wrong| wrong.render(&report.sources, false)).collect();
    assert!(report.is_ok(), "{}", errors.join("\n"));
    report.program
}

fn group(program: &Program) -> Group {
    let rule = program.joins().next().unwrap();
    Group::for_instance(program, rule, ("a-1", "p")).unwrap()
}

/// Data that comes at a DAC time, in milliseconds.
#[derive(Debug, Clone)]
enum Came {
    /// The clock of this number, with an offset in milliseconds.
    Clock(usize, i64),
    /// Samples of the first input, with times on the clock of their node.
    Driver(Vec<(u64, f64)>),
    Other(Vec<(u64, f64)>),
}

fn rows(first: u64, samples: &[(u64, f64)]) -> Rows {
    Rows {
        times: samples.iter().map(|(time, _)| time * MS).collect(),
        sequences: (first..).take(samples.len()).collect(),
        missing: vec![0; samples.len()],
        columns: vec![samples.iter().map(|(_, value)| *value).collect()],
        origins: (0..samples.len()).collect(),
    }
}

struct Run<'a> {
    program: &'a Program,
    group: Group,
    sequences: u64,
    found: Vec<Evaluated>,
}

impl<'a> Run<'a> {
    fn new(program: &'a Program) -> Self {
        Self { program, group: group(program), sequences: 1, found: Vec::new() }
    }

    fn give(&mut self, dac_time: u64, came: &Came) {
        let (program, found, dac_time) = (self.program, &mut self.found, dac_time * MS);
        match came {
            Came::Clock(clock, offset) => {
                let measured = ClockOffset { offset: offset * MS as i64, uncertainty: 0 };
                self.group.measure(program, *clock, (dac_time, measured), found);
            }
            Came::Driver(samples) => {
                self.group.push_driver(program, (7, dac_time), rows(self.sequences, samples), found);
                self.sequences += samples.len() as u64;
            }
            Came::Other(samples) => {
                self.group.push_other(program, 1, dac_time, &rows(1, samples), found);
            }
        }
    }

    fn events(&self) -> Vec<(EventKind, u64)> {
        let events = self.found.iter().flat_map(|found| &found.events);
        events.map(|event| (event.kind, event.time / MS)).collect()
    }
}

const NOW: u64 = START / MS;

#[test]
fn samples_are_aligned_on_the_clock_of_the_dac() {
    let program = program("alarm A { raise p.x > q.x; }");
    assert_eq!(program.clocks(program.joins().next().unwrap(), ("a-1", "p")), ["a-1", "b-1"]);
    let mut run = Run::new(&program);
    // The clock of `a-1` is an hour late, and that of `b-1` 7 s ahead.
    run.give(NOW, &Came::Clock(0, 3_600_000));
    run.give(NOW, &Came::Clock(1, -7_000));
    run.give(NOW + 100, &Came::Other(vec![(NOW + 7_000, 1.0), (NOW + 7_050, 9.0), (NOW + 7_090, 1.0)]));
    run.give(NOW + 200, &Came::Driver(vec![(NOW - 3_600_000 + 49, 5.0), (NOW - 3_600_000 + 50, 5.0)]));
    assert_eq!(
        run.events(),
        [(EventKind::Raised, NOW - 3_600_000 + 49), (EventKind::Cleared, NOW - 3_600_000 + 50),]
    );
}

#[test]
fn values_are_unknown_while_a_clock_is() {
    let program = program("alarm A { raise p.x > q.x; on_unknown raise; }");
    for missing in [0, 1] {
        let mut run = Run::new(&program);
        run.give(NOW, &Came::Clock(1 - missing, 0));
        run.give(NOW + 9, &Came::Other(vec![(NOW, 9.0), (NOW + 9, 9.0)]));
        run.give(NOW + 9, &Came::Driver(vec![(NOW + 5, 5.0)]));
        // If its own place is not known, nothing can come.
        assert_eq!(run.events().len(), 1 - missing);
        run.group.pass(&program, START + 2_100 * MS, &mut run.found);
        assert_eq!(run.events(), [(EventKind::Raised, NOW + 5)]);
        assert!(run.group.figures().unaligned > 0);
        // Then it is known. What came before has no place.
        let later = NOW + 3_000;
        run.give(later, &Came::Clock(missing, 0));
        run.give(later, &Came::Other(vec![(later - 80, 9.0), (later, 9.0)]));
        run.give(later, &Came::Driver(vec![(later - 90, 5.0), (later - 70, 5.0)]));
        let cleared = if missing == 0 { later - 90 } else { later - 70 };
        assert_eq!(run.events().last(), Some(&(EventKind::Cleared, cleared)), "{:?}", run.events());
    }
}

#[test]
fn an_old_measurement_does_not_count() {
    let program = program("alarm A { raise p.x > hold(q.x, 1h); on_unknown raise; }");
    let mut run = Run::new(&program);
    (0..2).for_each(|clock| run.give(NOW, &Came::Clock(clock, 0)));
    let end = NOW + CLOCK_VALIDITY_NANOS / MS;
    run.give(end, &Came::Other(vec![(NOW, 9.0), (end, 9.0)]));
    run.give(end, &Came::Driver(vec![(end - 1, 5.0)]));
    assert_eq!(run.events(), []);
    run.give(end + 1, &Came::Driver(vec![(end - 1, 5.0)]));
    assert_eq!(run.events(), [(EventKind::Unknown, end - 1), (EventKind::Raised, end - 1)]);
}

#[test]
fn instances_of_the_first_node_need_no_offset() {
    let program = program("alarm A { raise p.x > r.x and p.x > q.x; }");
    let rule = program.joins().next().unwrap();
    let mut group = Group::for_instance(&program, rule, ("a-1", "p")).unwrap();
    let mut found = Vec::new();
    let of_r = rows(1, &[(NOW, 9.0), (NOW + 9, 9.0)]);
    group.push_other(&program, 2, START, &of_r, &mut found);
    group.push_driver(&program, (7, START), rows(1, &[(NOW + 1, 5.0), (NOW + 2, 10.0)]), &mut found);
    let kinds: Vec<_> = found.iter().flat_map(|found| &found.events).map(|event| event.kind).collect();
    // `false and unknown` is false, and `true and unknown` is unknown.
    assert_eq!(kinds, [EventKind::Unknown]);
    let only = ("a-1".to_owned(), "r".to_owned());
    assert_eq!(program.partner(0, 2, ("a-1", "p")), Some(only));
}

#[test]
fn a_clock_that_is_measured_a_little_differently_is_no_restart() {
    let program = program("alarm A { raise p.x > count(q.x > 0, last 3); on_unknown raise; }");
    let mut run = Run::new(&program);
    (0..2).for_each(|clock| run.give(NOW, &Came::Clock(clock, 0)));
    run.give(NOW + 100, &Came::Other((0..10).map(|at| (NOW + at * 10, 1.0)).collect()));
    run.give(NOW + 100, &Came::Clock(1, -9));
    run.give(NOW + 110, &Came::Other(vec![(NOW + 98, 1.0), (NOW + 108, 1.0), (NOW + 118, 1.0)]));
    run.give(NOW + 110, &Came::Driver(vec![(NOW + 85, 2.0), (NOW + 95, 2.0), (NOW + 105, 2.0)]));
    assert_eq!(run.events(), []);
    // A step is one.
    run.give(NOW + 120, &Came::Clock(1, -50));
    run.give(NOW + 130, &Came::Other(vec![(NOW + 128, 1.0), (NOW + 138, 1.0)]));
    run.give(NOW + 140, &Came::Driver(vec![(NOW + 80, 2.0)]));
    assert_eq!(run.events(), [(EventKind::Unknown, NOW + 105), (EventKind::Raised, NOW + 80)]);
}

#[test]
fn a_wrong_offset_that_leads_into_the_future_does_not_count() {
    let program = program("alarm A { raise p.x > q.x; on_unknown raise; }");
    let mut run = Run::new(&program);
    (0..2).for_each(|clock| run.give(NOW, &Came::Clock(clock, 0)));
    run.give(NOW, &Came::Other(vec![(NOW, 9.0), (NOW + 5_000, 9.0)]));
    assert_eq!(run.group.figures().unaligned, 1);
    run.give(NOW + 10, &Came::Driver(vec![(NOW + 5, 5.0)]));
    run.group.pass(&program, u64::MAX, &mut run.found);
    assert_eq!(run.events(), [(EventKind::Raised, NOW + 5)]);
}

/// Milliseconds to the sample before, its value, and how long it takes.
type Step = (u64, i8, u64);

fn steps() -> impl Strategy<Value = Vec<Step>> {
    prop::collection::vec((1..200_u64, -4..4_i8, 0..150_u64), 1..40)
}

/// Returns the data, with the DAC time in milliseconds. Both clocks are those of the DAC.
fn arrivals(steps: &[Step], is_driver: bool) -> Vec<(u64, Came)> {
    let (mut time, mut dac_time) = (NOW, NOW);
    let mut found = Vec::new();
    for (later, value, delay) in steps {
        time += later;
        dac_time = dac_time.max(time + delay);
        let samples = vec![(time, f64::from(*value))];
        found.push((dac_time, if is_driver { Came::Driver(samples) } else { Came::Other(samples) }));
    }
    found
}

const RULES: [&str; 4] = [
    "alarm A { raise p.x > linear(q.x, 300ms) for 100ms; on_unknown clear; }",
    "alarm A { raise p.x > nearest(q.x, 100ms); clear hold(q.x, 200ms) > 2; on_unknown raise; }",
    "derive D every 1ms { both = p.x + q.x; mean = mean(q.x, 500ms at most 100 samples); line = linear(q.x); near = nearest(q.x); }",
    "check A { after p.x > 0: always[0s, 300ms] p.x + q.x > count(q.x < 1, last 3); }",
];

fn text(found: &[Evaluated]) -> String {
    let events = found.iter().flat_map(|found| &found.events).map(|event| format!("{event:?}\n"));
    let derived = found.iter().flat_map(|found| &found.derived);
    let derived = derived.map(|(_, rows)| format!("{:?} {:?}\n", rows.times, rows.columns));
    events.chain(derived).collect()
}

/// The time of a sample on a clock with this offset.
fn on_clock(came: Came, driver: i64, other: i64) -> Came {
    let moved = |samples: Vec<(u64, f64)>, offset: i64| {
        samples.into_iter().map(|(time, value)| (time.saturating_add_signed(-offset), value)).collect()
    };
    match came {
        Came::Driver(samples) => Came::Driver(moved(samples, driver)),
        Came::Other(samples) => Came::Other(moved(samples, other)),
        clock @ Came::Clock(..) => clock,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    /// The offsets of clocks do not matter, as long as they are known.
    #[test]
    fn known_offsets_change_nothing(
        driver in steps(), other in steps(), offset in -9_000_000..9_000_000_i64, rule in 0..RULES.len()
    ) {
        let program = program(RULES[rule]);
        let mut all = [arrivals(&driver, true), arrivals(&other, false)].concat();
        all.sort_by_key(|(dac_time, _)| *dac_time);
        let run = |of_other: i64| {
            let mut run = Run::new(&program);
            run.give(NOW, &Came::Clock(0, 0));
            run.give(NOW, &Came::Clock(1, of_other));
            for (dac_time, came) in &all {
                run.give(*dac_time, &on_clock(came.clone(), 0, of_other));
            }
            run.group.pass(&program, u64::MAX, &mut run.found);
            text(&run.found)
        };
        prop_assert_eq!(run(offset), run(0));
        // And it is what instances of one node give.
        let mut trusting = Run::new(&program);
        trusting.group.trust_clocks();
        all.iter().for_each(|(dac_time, came)| trusting.give(*dac_time, came));
        trusting.group.pass(&program, u64::MAX, &mut trusting.found);
        prop_assert_eq!(text(&trusting.found), run(0));
    }

    /// Clocks that step and drift: a state that was kept continues in the same way.
    #[test]
    fn interruptions_do_not_matter(
        driver in steps(), other in steps(),
        clocks in prop::collection::vec((0..4_000_u64, 0..2_usize, -40..40_i64), 0..12),
        restores in prop::collection::vec(any::<bool>(), 1..5), rule in 0..RULES.len()
    ) {
        let program = program(RULES[rule]);
        let clocks = clocks.into_iter().map(|(at, clock, offset)| (NOW + at, Came::Clock(clock, offset)));
        let mut all = [arrivals(&driver, true), arrivals(&other, false), clocks.collect()].concat();
        all.sort_by_key(|(dac_time, _)| *dac_time);
        let mut whole = Run::new(&program);
        all.iter().for_each(|(dac_time, came)| whole.give(*dac_time, came));
        whole.group.pass(&program, u64::MAX, &mut whole.found);
        let mut parts = Run::new(&program);
        for ((dac_time, came), is_restored) in all.iter().zip(restores.iter().cycle()) {
            if *is_restored {
                let saved = parts.group.save(&program).unwrap();
                parts.group = group(&program);
                prop_assert_eq!(parts.group.restore(&program, &saved), Some(Vec::new()));
            }
            parts.group.pass(&program, dac_time * MS - 1, &mut parts.found);
            parts.give(*dac_time, came);
        }
        parts.group.pass(&program, u64::MAX, &mut parts.found);
        prop_assert_eq!(text(&parts.found), text(&whole.found));
    }
}

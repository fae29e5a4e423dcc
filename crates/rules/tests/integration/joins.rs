//! Rules that read several inputs: what their values are, and that neither batches nor interruptions change them.

use oasis_rules::{Evaluated, EventKind, Group, JOIN_WAIT_NANOS, Program, RESTART, Rows, Standing, compile};
use oasis_wire::schema::{Metric, MetricType, ProbeType};
use proptest::prelude::*;
use std::sync::Arc;

const MS: u64 = 1_000_000;
const START: u64 = 1_000_000 * MS;

fn probe_type() -> Arc<ProbeType> {
    let metrics = [("x", MetricType::Real64), ("flag", MetricType::Boolean)];
    Arc::new(ProbeType {
        name: "P".into(),
        uuid: "0f3c7d52-9c7e-4a57-8a9f-62c1f1b8c7aa".parse().unwrap(),
        version: "1.0".into(),
        doc: None,
        rate: None,
        metrics: metrics.map(|(name, kind)| Metric::new(name, kind)).to_vec(),
    })
}

/// Compiles rules over the inputs `p` and `q` of a node; both read their columns in their order.
fn program(rules: &str) -> Program {
    let all = "event P { when p.x > 99 and p.flag; } event Q { when q.x > 99 and q.flag; }";
    let text = format!("input p = \"*/p\" : P; input q = \"*/q\" : P; {all} {rules}");
    let report = compile("a.rules".as_ref(), &text, &[probe_type()]);
    let errors: Vec<_> =
        report.diagnostics.iter().map(|wrong| wrong.render(&report.sources, false)).collect();
    assert!(report.is_ok(), "{}", errors.join("\n"));
    report.program
}

/// A sample: milliseconds, samples missing before it, and both values.
#[derive(Debug, Clone, Copy)]
struct Sample {
    time: u64,
    missing: u64,
    x: f64,
    flag: f64,
}

/// Samples of one input that came at once.
#[derive(Debug, Clone)]
struct Delivery {
    dac_time: u64,
    is_driver: bool,
    first: u64,
    samples: Vec<Sample>,
}

fn sample(time: u64, x: f64) -> Sample {
    Sample { time, missing: 0, x, flag: 0.0 }
}

fn delivery(dac_time: u64, is_driver: bool, samples: &[Sample]) -> Delivery {
    Delivery { dac_time, is_driver, first: 1, samples: samples.to_vec() }
}

impl Delivery {
    fn rows(&self) -> Rows {
        let samples = &self.samples;
        Rows {
            times: samples.iter().map(|sample| START + sample.time * MS).collect(),
            sequences: (self.first..).take(samples.len()).collect(),
            missing: samples.iter().map(|sample| sample.missing).collect(),
            columns: vec![
                samples.iter().map(|sample| sample.x).collect(),
                samples.iter().map(|sample| sample.flag).collect(),
            ],
            origins: (0..samples.len()).collect(),
        }
    }

    fn give(&self, group: &mut Group, program: &Program, found: &mut Vec<Evaluated>) {
        let dac_time = START + self.dac_time * MS;
        match self.is_driver {
            true => group.push_driver(program, (7, dac_time), self.rows(), found),
            false => group.push_other(program, 1, dac_time, &self.rows(), found),
        }
    }
}

/// The group of the first rule that reads both.
fn group(program: &Program) -> Group {
    Group::new(program, program.joins().next().unwrap()).unwrap()
}

fn evaluated(program: &Program, deliveries: &[Delivery]) -> Vec<Evaluated> {
    let (mut group, mut found) = (group(program), Vec::new());
    deliveries.iter().for_each(|delivery| delivery.give(&mut group, program, &mut found));
    group.pass(program, u64::MAX, &mut found);
    found
}

/// Kind, milliseconds of the sample, and of DAC time.
fn events(found: &[Evaluated]) -> Vec<(EventKind, u64, u64)> {
    let events = found.iter().flat_map(|evaluated| &evaluated.events);
    events.map(|event| (event.kind, (event.time - START) / MS, (event.dac_time - START) / MS)).collect()
}

use EventKind::{Cleared, Raised};

#[test]
fn a_rule_waits_until_the_other_input_has_passed() {
    let program = program("alarm A { raise p.x > q.x; }");
    let deliveries = [
        delivery(10, true, &[sample(10, 5.0)]),
        // Not newer: another sample of this time can come.
        delivery(20, false, &[sample(5, 9.0), sample(10, 3.0)]),
        delivery(30, false, &[sample(11, 9.0)]),
        delivery(40, true, &[sample(15, 5.0)]),
    ];
    let found = evaluated(&program, &deliveries);
    // The last one has waited in vain.
    assert_eq!(events(&found), [(Raised, 10, 30), (Cleared, 15, 40 + JOIN_WAIT_NANOS / MS)]);
    assert_eq!(found[0].events[0].value, Some(5.0));
    assert_eq!(found[0].events[0].limit, Some(3.0));
    assert_eq!((found[0].run, found[0].first, found[0].last), (7, 1, (1, START + 10 * MS)));
}

#[test]
fn a_sample_that_comes_after_the_wait_changes_nothing() {
    let program = program("alarm A { raise p.x > q.x; }");
    let wait = JOIN_WAIT_NANOS / MS;
    let mut deliveries = vec![
        delivery(0, false, &[sample(0, 9.0)]),
        delivery(10, true, &[sample(10, 5.0)]),
        // At the last moment.
        delivery(10 + wait, false, &[sample(5, 1.0)]),
    ];
    assert_eq!(events(&evaluated(&program, &deliveries)), [(Raised, 10, 10 + wait)]);
    deliveries[2].dac_time += 1;
    let mut group = group(&program);
    let mut found = Vec::new();
    deliveries.iter().for_each(|delivery| delivery.give(&mut group, &program, &mut found));
    assert_eq!(events(&found), []);
    assert_eq!(found.len(), 1, "it was evaluated");
    assert_eq!(group.figures().late, 1);
}

#[test]
fn values_are_unknown_in_a_gap_and_when_they_are_old() {
    let program = program("alarm A { raise p.x > hold(q.x, 1s); on_unknown raise; }");
    let of = |missing| {
        let after = Sample { missing, ..sample(3_000, 9.0) };
        let deliveries = [
            delivery(0, false, &[sample(0, 9.0), after]),
            delivery(1, true, &[sample(500, 5.0), sample(1_000, 5.0), sample(1_001, 5.0)]),
        ];
        events(&evaluated(&program, &deliveries))
    };
    assert_eq!(of(0), [(EventKind::Unknown, 1_001, 1), (Raised, 1_001, 1)]);
    assert_eq!(of(2), [(Raised, 500, 1)], "known nowhere");
}

#[test]
fn a_clock_that_is_set_back_makes_values_unknown_until_both_have_done_it() {
    let program = program("alarm A { raise p.x > q.x; }");
    let deliveries = [
        delivery(0, false, &[sample(1_000, 9.0), sample(2_000, 9.0)]),
        delivery(1, true, &[sample(1_500, 5.0)]),
        delivery(2, true, &[sample(100, 5.0)]),
        delivery(3, false, &[sample(50, 1.0), sample(150, 1.0)]),
        delivery(4, true, &[sample(120, 5.0)]),
    ];
    let kinds: Vec<_> =
        events(&evaluated(&program, &deliveries)).into_iter().map(|(kind, time, _)| (kind, time)).collect();
    assert_eq!(kinds, [(EventKind::Unknown, 1_500), (EventKind::Known, 120), (Raised, 120)],);
}

#[test]
fn what_does_not_fit_into_memory_is_unknown_and_counted() {
    let program = program("alarm A { raise p.x > q.x; on_unknown raise; }");
    let (mut group, mut found) = (group(&program), Vec::new());
    let many: Vec<_> = (0..20_000).map(|time| sample(time, 5.0)).collect();
    delivery(0, true, &many).give(&mut group, &program, &mut found);
    assert!(group.figures().overflowed > 10_000, "{:?}", group.figures());
    assert_eq!(events(&found)[0], (Raised, 0, 0));
    delivery(1, false, &many).give(&mut group, &program, &mut found);
    assert_eq!(found.iter().flat_map(|found| &found.derived).count(), 0);
}

#[test]
fn an_alarm_can_read_what_a_join_derives() {
    let rules = "derive Ratio every 100ms { ratio = p.x / mean(q.x, 1s at most 9 samples); } alarm A { raise Ratio.ratio > 2; }";
    let program = program(rules);
    let deliveries = [
        delivery(0, false, &[sample(0, 1.0), sample(1_000, 1.0)]),
        delivery(1, true, &[sample(10, 1.0), sample(90, 4.0), sample(110, 1.0), sample(250, 1.0)]),
    ];
    let found = evaluated(&program, &deliveries);
    assert_eq!(events(&found), [(Raised, 100, 1), (Cleared, 200, 1)]);
    let (rule, rows) = &found[0].derived[0];
    assert_eq!(program.rules[*rule].name, "Ratio");
    assert_eq!(rows.columns, [[4.0, 1.0]]);
}

#[test]
fn a_state_belongs_to_its_rule() {
    let first = program("alarm A { raise p.x > q.x for 1s; }");
    let saved = group(&first).save(&first).unwrap();
    assert_eq!(group(&first).restore(&first, &saved), Some(Vec::new()));
    for other in [
        "alarm A { raise p.x > q.x for 2s; }",
        "alarm A { raise p.x > hold(q.x, 1s) for 1s; }",
        "alarm B { raise p.x > q.x for 1s; }",
    ] {
        let other = program(other);
        assert_eq!(group(&other).restore(&other, &saved), None);
    }
    let mut damaged = saved;
    damaged.state[9] ^= 1;
    assert_eq!(group(&first).restore(&first, &damaged), None);
    let mut standing = group(&first);
    standing.set_standing(standing.rule(), Standing::Active);
    let mut found = Vec::new();
    delivery(0, false, &[sample(0, 5.0), sample(9, 5.0)]).give(&mut standing, &first, &mut found);
    delivery(0, true, &[sample(5, 1.0)]).give(&mut standing, &first, &mut found);
    assert_eq!(events(&found), [(Cleared, 5, 0)]);
}

#[test]
fn joined_instances_have_the_same_text_for_their_stars() {
    let program = program("alarm A { raise p.x > q.x; }");
    let rule = &program.rules[program.joins().next().unwrap()];
    assert_eq!((rule.input, rule.others()), (0, vec![1]));
    assert_eq!(program.partner(0, 1, ("plant 7", "p")), Some(("plant 7".into(), "q".into())));
    assert_eq!(program.partner(0, 1, ("plant 7", "r")), None);
}

/// The fields whose values are compared with the naive ones.
const FIELDS: &str = "derive D every 1ms {
    newest = q.x; young = hold(q.x, 300ms); mean = mean(q.x, 500ms at most 1000 samples);
    pressed = count(q.flag, 400ms at most 1000 samples); rate = rate(q.x, 400ms at most 1000 samples);
    last = sum(q.x, last 2); both = p.x + q.x;
    line = linear(2 * q.x, 300ms); near = nearest(q.x, 300ms); pressed_near = nearest(q.flag); }";

/// The values of a sample, from all samples of the other input that have come.
fn naive(asked: Sample, come: &[Sample]) -> Vec<f64> {
    let time = asked.time;
    let older: Vec<&Sample> = come.iter().filter(|sample| sample.time <= time).collect();
    let is_whole = come.iter().find(|sample| sample.time > time).is_none_or(|next| next.missing == 0);
    let Some(newest) = older.last().filter(|_| is_whole) else { return vec![f64::NAN; 10] };
    let window = |extent: u64| older.iter().filter(move |sample| sample.time + extent > time);
    let is_complete = |extent: u64| window(extent).all(|sample| sample.missing == 0 && !sample.x.is_nan());
    let unless = |is_known: bool, value: f64| if is_known { value } else { f64::NAN };
    let mean = window(500).map(|sample| sample.x).sum::<f64>() / window(500).count() as f64;
    let pressed = window(400).filter(|sample| sample.flag == 1.0).count() as f64;
    let base = older.iter().rposition(|sample| sample.time + 400 <= time);
    let rate = base.map_or(f64::NAN, |base| {
        let after = &older[base + 1..];
        let is_known = after.iter().all(|sample| sample.missing == 0 && !sample.x.is_nan());
        let change = newest.x - older[base].x;
        unless(
            is_known && !after.is_empty() && newest.time > older[base].time,
            change / ((newest.time - older[base].time) as f64 / 1e3),
        )
    });
    let pair = older
        .len()
        .checked_sub(2)
        .map_or(f64::NAN, |at| unless(older[at + 1].missing == 0, older[at].x + older[at + 1].x));
    let is_young = time - newest.time <= 10_000;
    let next =
        |most: u64| come.iter().find(|sample| sample.time > time).filter(|next| next.time - time <= most);
    let age = time - newest.time;
    let line = match next(300) {
        _ if age == 0 => 2.0 * newest.x,
        Some(next) => {
            let share = age as f64 / (next.time - newest.time) as f64;
            2.0 * (newest.x + (next.x - newest.x) * share)
        }
        None => f64::NAN,
    };
    let nearest = |most: u64| match next(most) {
        Some(next) if next.time - time < age => Some(*next),
        _ => (age <= most).then_some(**newest),
    };
    let near = nearest(300).map_or(f64::NAN, |sample| sample.x);
    let pressed_near = nearest(10_000).map_or(f64::NAN, |sample| sample.flag);
    let values = [
        newest.x,
        unless(time - newest.time <= 300, newest.x),
        unless(is_complete(500), mean),
        unless(window(400).all(|sample| sample.missing == 0), pressed),
        rate,
        pair,
        asked.x + newest.x,
    ];
    let values = values.map(|value| unless(is_young, value));
    [&values[..], &[unless(age <= 300, line), near, pressed_near]].concat()
}

/// Decides for each sample of the first input when it is evaluated, and with what.
fn naive_values(deliveries: &[Delivery]) -> Vec<(u64, Vec<f64>)> {
    let mut found = Vec::new();
    let mut pending: Vec<(u64, Sample)> = Vec::new();
    let mut come: Vec<Sample> = Vec::new();
    let end = Delivery { dac_time: u64::MAX, is_driver: false, first: 0, samples: Vec::new() };
    for delivery in deliveries.iter().chain([&end]) {
        while pending.first().is_some_and(|(asked, _)| asked + JOIN_WAIT_NANOS / MS < delivery.dac_time) {
            let (_, asked) = pending.remove(0);
            found.push((asked.time, naive(asked, &come)));
        }
        match delivery.is_driver {
            true => pending.extend(delivery.samples.iter().map(|sample| (delivery.dac_time, *sample))),
            false => come.extend(&delivery.samples),
        }
        while pending.first().is_some_and(|(_, asked)| come.last().is_some_and(|last| last.time > asked.time))
        {
            let (_, asked) = pending.remove(0);
            found.push((asked.time, naive(asked, &come)));
        }
    }
    found
}

/// Milliseconds to the sample before, its value, whether samples are missing, and how long it takes.
type Step = (u64, f64, u64, u64);

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let value = prop_oneof![9 => (-4..4_i32).prop_map(f64::from), 1 => Just(f64::NAN)];
    let missing = prop_oneof![12 => Just(0_u64), 1 => Just(1), 1 => Just(RESTART)];
    let later = prop_oneof![8 => 1..120_u64, 1 => 1..1_500_u64, 1 => Just(12_000)];
    let delay = prop_oneof![8 => 0..200_u64, 1 => 0..4_000_u64];
    prop::collection::vec((later, value, missing, delay), 1..40)
}

/// Samples as they come: never before one that is older. The first input loses none, so that all of its values are seen.
fn deliveries(steps: &[Step], is_driver: bool) -> Vec<Delivery> {
    let (mut time, mut dac_time) = (0, 0);
    let mut found = Vec::new();
    for (at, (later, x, missing, delay)) in steps.iter().enumerate() {
        time += later;
        dac_time = dac_time.max(time + delay);
        let missing = if is_driver { 0 } else { *missing };
        let sample = Sample { time, missing, x: *x, flag: f64::from(*x > 0.0) };
        found.push(Delivery { first: at as u64 + 1, ..delivery(dac_time, is_driver, &[sample]) });
    }
    found
}

/// In the order of DAC time; of one time in that of topics.
fn merged(driver: &[Step], other: &[Step], is_driver_first: bool) -> Vec<Delivery> {
    let mut all = [deliveries(driver, is_driver_first), deliveries(other, !is_driver_first)].concat();
    all.sort_by_key(|delivery| delivery.dac_time);
    all
}

/// Puts together what came at one time.
fn cut(all: &[Delivery], joins: &[bool]) -> Vec<Delivery> {
    let mut cut: Vec<Delivery> = Vec::new();
    for (next, join) in all.iter().zip(joins.iter().cycle()) {
        match cut.last_mut() {
            Some(last) if *join && (last.dac_time, last.is_driver) == (next.dac_time, next.is_driver) => {
                last.samples.extend(&next.samples);
            }
            _ => cut.push(next.clone()),
        }
    }
    cut
}

/// The values that a derived instance has, by milliseconds.
fn derived(found: &[Evaluated]) -> Vec<(u64, Vec<f64>)> {
    let rows = found.iter().flat_map(|found| &found.derived).map(|(_, rows)| rows);
    let of_rows = rows.flat_map(|rows| {
        let values = |at: usize| rows.columns.iter().map(|column| column[at]).collect();
        (0..rows.len()).map(move |at| ((rows.times[at] - START) / MS, values(at))).collect::<Vec<_>>()
    });
    of_rows.collect()
}

/// Returns the text that is compared: the events of all evaluations, and the samples of derived instances.
fn text(found: &[Evaluated]) -> String {
    let events = found.iter().flat_map(|found| &found.events).map(|event| format!("{event:?}\n"));
    format!("{}{:?}", events.collect::<String>(), derived(found))
}

fn is_close(one: &[f64], other: &[f64]) -> bool {
    let pairs = one.iter().zip(other);
    one.len() == other.len()
        && pairs
            .into_iter()
            .all(|(one, other)| (one.is_nan() && other.is_nan()) || (one - other).abs() < 1e-9)
}

const RULES: [&str; 3] = [
    FIELDS,
    "alarm A { raise p.x > mean(q.x, 300ms at most 5 samples) for 100ms; clear q.x > 2; }",
    "check A { after rising(q.flag) and p.x > 0: always[0s, 200ms] p.x + q.x > count(q.x < 1, last 3); }",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn values_are_those_of_a_naive_evaluator(driver in steps(), other in steps()) {
        let program = program(FIELDS);
        let all = merged(&driver, &other, true);
        let expected = naive_values(&all);
        let found = derived(&evaluated(&program, &all));
        // The last sample of all still waits for the end of its period.
        prop_assert_eq!(found.len() + 1, expected.len());
        for (found, expected) in found.iter().zip(&expected) {
            prop_assert!(found.0 == expected.0 && is_close(&found.1, &expected.1), "{:?} {:?}", found, expected);
        }
    }

    #[test]
    fn batches_and_interruptions_do_not_matter(
        driver in steps(), other in steps(), joins in prop::collection::vec(any::<bool>(), 1..5),
        restores in prop::collection::vec(any::<bool>(), 1..5), rule in 0..RULES.len()
    ) {
        let program = program(RULES[rule]);
        let all = merged(&driver, &other, true);
        let expected = text(&evaluated(&program, &all));
        prop_assert_eq!(text(&evaluated(&program, &cut(&all, &joins))), &expected[..]);
        let (mut group, mut found) = (group(&program), Vec::new());
        for (delivery, is_restored) in cut(&all, &joins).iter().zip(restores.iter().cycle()) {
            if *is_restored {
                let saved = group.save(&program).unwrap();
                group = Group::new(&program, group.rule()).unwrap();
                prop_assert_eq!(group.restore(&program, &saved), Some(Vec::new()));
            }
            // The number of calls does not matter either.
            group.pass(&program, START + delivery.dac_time * MS - 1, &mut found);
            delivery.give(&mut group, &program, &mut found);
        }
        group.pass(&program, u64::MAX, &mut found);
        prop_assert_eq!(text(&found), expected);
    }
}

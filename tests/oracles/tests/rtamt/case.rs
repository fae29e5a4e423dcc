//! Random rules, what OASIS says of a trace, and the formulas that must say the same.

use crate::{formula::Formula, trace::Trace};
use fastrand::Rng;
use oasis_oracles::{events, program};
use oasis_rules::{Event, EventKind, Standing};
use serde_json::{Value, json};

/// A rule, and formulas with their values at the steps where both must agree.
pub struct Case {
    rule: String,
    trace: Trace,
    comparisons: Vec<Comparison>,
}

pub struct Comparison {
    pub what: &'static str,
    pub formula: String,
    /// None where there is nothing to compare.
    pub expected: Vec<Option<bool>>,
}

impl Comparison {
    pub fn to_json(&self) -> Value {
        json!([self.what, self.formula, self.expected])
    }
}

/// Milliseconds in steps, and as they are written in a rule: often between two steps.
struct Duration {
    /// Whole steps, rounded down and up.
    steps: (u64, u64),
    text: String,
}

impl Duration {
    fn random(least: u64, period: u64, random: &mut Rng) -> Self {
        let steps = random.u64(least..6);
        let more = if random.bool() { period / 2 } else { 0 };
        let up = steps + u64::from(more > 0);
        Self { steps: (steps, up), text: format!("{}ms", steps * period + more) }
    }

    /// After a condition; nothing for no time.
    fn clause(&self) -> String {
        if self.steps.1 == 0 { String::new() } else { format!("for {}", self.text) }
    }
}

impl Case {
    pub fn random(random: &mut Rng) -> Self {
        match random.u8(0..5) {
            0 | 1 => alarm(random),
            2 => event(random),
            3 => followed(random),
            _ => checked(random),
        }
    }

    pub fn to_json(&self, number: usize, random: &mut Rng) -> Value {
        let comparisons: Vec<_> = self.comparisons.iter().map(Comparison::to_json).collect();
        json!({"case": number, "rule": self.rule, "signals": self.trace.signals(random), "comparisons": comparisons})
    }
}

/// Values at the steps that have a sample.
fn at_samples(trace: &Trace, value: impl Fn(usize) -> Option<bool>) -> Vec<Option<bool>> {
    (0..trace.len()).map(|step| value(step).filter(|_| trace.is_seen(step))).collect()
}

/// Active: raised, and not cleared since. `raise C for D` is `historically[0, D] C`, once the trace is as old as that. The condition that clears excludes the one
/// that raises, so that no timer has to begin anew when the other one ends.
fn alarm(random: &mut Rng) -> Case {
    let trace = Trace::random(random.bool(), random.bool(), random);
    let has_gaps = (0..trace.len()).any(|step| !trace.is_seen(step));
    let raise = Formula::random(2, trace.period, random);
    let held = Duration::random(0, trace.period, random);
    // If unknown counts, a gap does not count before the sample after it: not as if there were samples in it.
    let on_unknown =
        if has_gaps { "keep" } else { *random.choice(&["keep", "raise", "clear"]).expect("some") };
    let (raises, clears) = (on_unknown == "raise", on_unknown == "clear");
    let counts = |formula: &Formula, counts| if counts { formula.may_be_true() } else { formula.is_true() };
    let lasts = |steps: u64, of: &str| format!("((age > {steps}) and (historically[0:{steps}]{of}))");
    let is_raised = lasts(held.steps.1, &counts(&raise, raises));

    let (clause, clear, cleared_after) = if random.bool() {
        let more = Formula::random(1, trace.period, random);
        let more = if random.bool() { more.negated() } else { more };
        let clear = raise.negated().joined("and", &more);
        let after = Duration::random(0, trace.period, random);
        (format!("clear {} {};", clear.ours, after.clause()), clear, after.steps.1)
    } else {
        (String::new(), raise.negated(), 0)
    };
    let is_cleared = lasts(cleared_after, &counts(&clear, clears));
    let active = format!("((not {is_cleared}) since {is_raised})");
    let was_active = format!("((age > 1) and (prev({active})))");
    let (known_raise, known_clear) = (raise.is_known(), clear.is_known());
    let known = format!("(({was_active} and {known_clear}) or ((not {was_active}) and {known_raise}))");

    let latch = if random.bool() { "latch;" } else { "" };
    let rule = format!(
        "alarm A {{ raise {} {}; {clause} {latch} on_unknown {on_unknown}; }}",
        raise.ours,
        held.clause()
    );
    let found = events(&program(&rule), &trace.samples(), random);
    let states = states(&trace, &found);
    let comparisons = vec![
        Comparison {
            what: "active",
            formula: active,
            expected: at_samples(&trace, |step| Some(states[step].0)),
        },
        Comparison { what: "known", formula: known, expected: at_samples(&trace, |step| states[step].1) },
    ];
    Case { rule, trace, comparisons }
}

/// Whether an alarm is active after each step, and whether its condition is known: none before the first change, which nothing reports.
fn states(trace: &Trace, found: &[Event]) -> Vec<(bool, Option<bool>)> {
    let mut found = found.iter().peekable();
    let (mut is_active, mut is_known) = (false, None);
    let mut states = Vec::new();
    for step in 0..trace.len() {
        // A gap is reported at the sample before it, and known at the sample after it.
        let is_due = |event: &&Event| trace.step(event.time) + usize::from(event.missing.is_some()) <= step;
        while let Some(event) = found.next_if(is_due) {
            is_active = event.standing == Some(Standing::Active);
            match event.kind {
                EventKind::Unknown => is_known = Some(false),
                EventKind::Known => is_known = Some(true),
                _ => {}
            }
        }
        states.push((is_active, is_known));
    }
    states
}

/// Becomes true: true now, and false when it was known last.
struct Edge {
    is_edge: String,
    /// And known at the step before.
    is_known: String,
}

impl Edge {
    fn of(formula: &Formula) -> Self {
        let (is_true, is_false, is_known) = (formula.is_true(), formula.is_false(), formula.is_known());
        let was_false = format!("((not {is_known}) since {is_false})");
        Self {
            is_edge: format!("({is_true} and (age > 1) and (prev{was_false}))"),
            is_known: format!("({is_true} and (age > 1) and (prev{is_false}))"),
        }
    }
}

/// The event that began at each step.
fn by_start(trace: &Trace, found: &[Event], start: impl Fn(&Event) -> u64) -> Vec<Option<Event>> {
    let mut events = vec![None; trace.len()];
    for event in found {
        let place = &mut events[trace.step(start(event))];
        assert!(place.is_none(), "two verdicts: {place:?}, {event:?}");
        *place = Some(event.clone());
    }
    events
}

/// An event happens when its condition becomes true.
fn event(random: &mut Rng) -> Case {
    let trace = Trace::random(random.bool(), random.bool(), random);
    let when = Formula::random(2, trace.period, random);
    let rule = format!("event A {{ when {}; }}", when.ours);
    let found = by_start(&trace, &events(&program(&rule), &trace.samples(), random), |event| event.time);
    let Edge { is_edge, is_known } = Edge::of(&when);
    let known = |event: &Option<Event>| event.as_ref().is_some_and(|event| event.is_known);
    let comparisons = vec![
        Comparison {
            what: "matched",
            formula: is_edge,
            expected: at_samples(&trace, |step| Some(found[step].is_some())),
        },
        Comparison {
            what: "known",
            formula: is_known,
            expected: at_samples(&trace, |step| Some(known(&found[step]))),
        },
    ];
    Case { rule, trace, comparisons }
}

/// `when C then D within W` is `eventually[0, W] D` at each start.
fn followed(random: &mut Rng) -> Case {
    let trace = Trace::random(random.bool(), random.bool(), random);
    let (when, then) = (Formula::random(1, trace.period, random), Formula::random(1, trace.period, random));
    let within = Duration::random(1, trace.period, random);
    let rule = format!("event A {{ when {} then {} within {}; }}", when.ours, then.ours, within.text);
    let found = events(&program(&rule), &trace.samples(), random);
    let steps = within.steps.0;
    let verdicts = Verdicts {
        is_good: format!("(eventually[0:{steps}]{})", then.is_true()),
        is_bad: format!("(always[0:{steps}]{})", then.is_false()),
        good: EventKind::Matched,
        bad: EventKind::Violated,
        good_is_early: true,
        interval: (0, steps as usize),
    };
    let comparisons = verdicts.compared(&trace, &when, &found);
    Case { rule, trace, comparisons }
}

/// `after C: always[A, B] D` is `always[A, B] D` at each start.
fn checked(random: &mut Rng) -> Case {
    let trace = Trace::random(random.bool(), random.bool(), random);
    let (after, always) =
        (Formula::random(1, trace.period, random), Formula::random(1, trace.period, random));
    let (first, length) = (random.u64(0..4), random.u64(0..5));
    let (half_first, half_last) = (random.bool(), random.bool());
    let half = trace.period / 2;
    // Between two steps, or at one.
    let from = if half_first && first > 0 { first * trace.period - half } else { first * trace.period };
    let last = first + length;
    let to = if half_last || last == 0 { last * trace.period + half } else { last * trace.period };
    let rule = format!("check A {{ after {}: always[{from}ms, {to}ms] {}; }}", after.ours, always.ours);
    let found = events(&program(&rule), &trace.samples(), random);
    let verdicts = Verdicts {
        is_good: format!("(always[{first}:{last}]{})", always.is_true()),
        is_bad: format!("(eventually[{first}:{last}]{})", always.is_false()),
        good: EventKind::Satisfied,
        bad: EventKind::Violated,
        good_is_early: false,
        interval: (first as usize, last as usize),
    };
    let comparisons = verdicts.compared(&trace, &after, &found);
    Case { rule, trace, comparisons }
}

/// The verdicts of an event or a check.
struct Verdicts {
    is_good: String,
    is_bad: String,
    good: EventKind,
    bad: EventKind,
    /// Which of the two can be known before the interval has ended; the other one needs all of it.
    good_is_early: bool,
    /// First and last step after the start.
    interval: (usize, usize),
}

impl Verdicts {
    fn compared(self, trace: &Trace, trigger: &Formula, found: &[Event]) -> Vec<Comparison> {
        let found = by_start(trace, found, |event| event.since.expect("a start"));
        let kind = |step: usize| found[step].as_ref().map(|event| event.kind);
        let early = |step| self.early(trace, step, kind(step));
        let late = |step| self.late(trace, step, kind(step));
        let (good, bad) = if self.good_is_early {
            (at_samples(trace, early), at_samples(trace, late))
        } else {
            (at_samples(trace, late), at_samples(trace, early))
        };
        // A start without a verdict yet is not seen.
        let is_over = |step: usize| step + self.interval.1 + 1 < trace.len();
        let starts =
            at_samples(trace, |step| Some(found[step].is_some()).filter(|has| *has || is_over(step)));
        let known = |step: usize| {
            found[step]
                .as_ref()
                .map(|event| event.is_known)
                .filter(|_| kind(step) != Some(EventKind::Unknown))
        };
        let Edge { is_edge, is_known } = Edge::of(trigger);
        vec![
            Comparison { what: "start", formula: is_edge, expected: starts },
            Comparison { what: "known start", formula: is_known, expected: at_samples(trace, known) },
            Comparison { what: "good", formula: self.is_good, expected: good },
            Comparison { what: "bad", formula: self.is_bad, expected: bad },
        ]
    }

    fn kinds(&self) -> (EventKind, EventKind) {
        if self.good_is_early { (self.good, self.bad) } else { (self.bad, self.good) }
    }

    /// One sample decides. It was not there if the verdict is another, or none yet.
    fn early(&self, trace: &Trace, step: usize, kind: Option<EventKind>) -> Option<bool> {
        // Without a verdict this is either no start, or one whose interval has not ended.
        let is_early = kind.map(|kind| kind == self.kinds().0);
        is_early.filter(|_| step + self.interval.0 < trace.len())
    }

    /// All samples decide. OASIS does not know that samples come at regular times: one that is missing just outside the interval could have been inside.
    fn late(&self, trace: &Trace, step: usize, kind: Option<EventKind>) -> Option<bool> {
        let kind = kind?;
        let (first, last) = (step + self.interval.0, step + self.interval.1);
        let touches = !trace.is_seen(last + 1) || (first > step && !trace.is_seen(first - 1));
        match kind {
            EventKind::Unknown if touches => None,
            // Early decisions end before the interval may have ended.
            kind if kind == self.kinds().0 => (last < trace.len()).then_some(false),
            kind => Some(kind == self.kinds().1),
        }
    }
}

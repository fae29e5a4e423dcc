//! Shared parts of the comparisons with other evaluators: rules over three columns, and the events of OASIS for them.
//!
//! Each comparison is a test: `rtamt` for logic and time, `rtlola` for windows, `promtool` for `for`, `joins` for rules over several inputs.

use oasis_rules::{ClockOffset, Engine, Event, Group, Program, RESTART, Rows, compile};
use oasis_wire::schema::{Metric, MetricType, ProbeType};
use std::{env, sync::Arc};

/// Nanoseconds of a millisecond.
pub const MS: u64 = 1_000_000;

/// Columns that rules read: two numbers and a condition.
pub const COLUMNS: [(&str, MetricType); 3] =
    [("x", MetricType::Real64), ("y", MetricType::Real64), ("flag", MetricType::Boolean)];

/// A sample; what is not a number is unknown.
#[derive(Debug, Clone, Copy)]
pub struct Sample {
    /// Milliseconds.
    pub time: u64,
    /// The number of the sample; samples are missing where it skips some.
    pub sequence: u64,
    /// `x`, `y` and `flag`.
    pub values: [f64; 3],
}

/// Returns the number of random cases that are compared: `OASIS_ORACLE_CASES`, or `default`.
pub fn cases(default: usize) -> usize {
    env::var("OASIS_ORACLE_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Random numbers of one case: the same in each run, unless `OASIS_ORACLE_SEED` is another.
pub fn random(case: usize) -> fastrand::Rng {
    let seed = env::var("OASIS_ORACLE_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(1_u64);
    fastrand::Rng::with_seed(seed.wrapping_mul(1_000_003).wrapping_add(case as u64))
}

/// Compiles rules of an input `p`.
///
/// # Panics
/// If they have an error.
pub fn program(rules: &str) -> Program {
    let probe_type = Arc::new(ProbeType {
        name: "P".into(),
        uuid: "0f3c7d52-9c7e-4a57-8a9f-62c1f1b8c7aa".parse().expect("a UUID"),
        version: "1.0".into(),
        doc: None,
        rate: None,
        metrics: COLUMNS.map(|(name, kind)| Metric::new(name, kind)).to_vec(),
    });
    // Reads all columns, so that they have their order.
    let all = "event All { when p.x > 1000000 and p.y > 1000000 and p.flag; }";
    let report =
        compile("a.rules".as_ref(), &format!("input p = \"*/p\" : P;\n{all}\n{rules}"), &[probe_type]);
    let errors: Vec<_> =
        report.diagnostics.iter().map(|wrong| wrong.render(&report.sources, false)).collect();
    assert!(report.is_ok(), "{rules}\n{}", errors.join("\n"));
    report.program
}

/// The events of one instance. Batches end at random places.
///
/// # Panics
/// If there is no room for one instance.
pub fn events(program: &Program, samples: &[Sample], random: &mut fastrand::Rng) -> Vec<Event> {
    let mut engine = Engine::new(program.clone());
    let id = engine.add(0).expect("room for one instance");
    let (mut events, mut rest, mut last) = (Vec::new(), samples, None);
    while !rest.is_empty() {
        let (batch, after) = rest.split_at(random.usize(1..=rest.len()));
        rest = after;
        let rows = rows(batch, &mut last);
        engine.batch(id, 0, rows, &mut |_, event| events.push(event));
    }
    events
}

/// Samples in columns; before the first one nothing is known.
fn rows(samples: &[Sample], last: &mut Option<u64>) -> Rows {
    let mut rows = Rows { columns: vec![Vec::new(); COLUMNS.len()], ..Rows::default() };
    for (at, sample) in samples.iter().enumerate() {
        rows.times.push(sample.time * MS);
        rows.sequences.push(sample.sequence);
        rows.missing.push(last.map_or(RESTART, |last| sample.sequence - last - 1));
        rows.origins.push(at);
        rows.columns.iter_mut().zip(sample.values).for_each(|(column, value)| column.push(value));
        *last = Some(sample.sequence);
    }
    rows
}

/// Input of a DAC: samples of one of two inputs, or a measurement of the clock of its node.
#[derive(Debug, Clone, Copy)]
pub enum Came {
    /// Time on the clock of the node in nanoseconds, samples missing before it, and value.
    Sample(u64, u64, f64),
    /// The clock of the DAC minus that of the node, in nanoseconds.
    Clock(i64),
}

/// Something that comes of an input, with its DAC time in nanoseconds.
#[derive(Debug, Clone, Copy)]
pub struct Arrival {
    /// When it comes.
    pub dac_time: u64,
    /// Whether it is of the input whose samples are evaluated.
    pub is_driver: bool,
    /// Input that comes.
    pub came: Came,
}

/// Compiles fields of a derived instance over an input `p` of a node and `q` of another one, which have one column `x` each.
///
/// # Panics
/// If they have an error.
pub fn joined(fields: &str) -> Program {
    let probe_type = Arc::new(ProbeType {
        name: "P".into(),
        uuid: "0f3c7d52-9c7e-4a57-8a9f-62c1f1b8c7aa".parse().expect("a UUID"),
        version: "1.0".into(),
        doc: None,
        rate: None,
        metrics: vec![Metric::new("x", MetricType::Real64)],
    });
    let text = format!(
        "input p = \"a/p\" : P;\ninput q = \"b/q\" : P;\nderive D every 1us {{ own = p.x; {fields} }}"
    );
    let report = compile("a.rules".as_ref(), &text, &[probe_type]);
    let errors: Vec<_> =
        report.diagnostics.iter().map(|wrong| wrong.render(&report.sources, false)).collect();
    assert!(report.is_ok(), "{fields}\n{}", errors.join("\n"));
    report.program
}

/// The values of the derived instance at each sample of `p` but the last one, after `own`.
///
/// # Panics
/// If the program is not one of [`joined`].
pub fn values(program: &Program, arrivals: &[Arrival]) -> Vec<Vec<f64>> {
    let mut group = Group::for_instance(program, 0, ("a", "p")).expect("a join");
    let (mut found, mut sequences) = (Vec::new(), [0_u64; 2]);
    for Arrival { dac_time, is_driver, came } in arrivals {
        match came {
            Came::Clock(offset) => {
                let measured = ClockOffset { offset: *offset, uncertainty: 0 };
                group.measure(program, usize::from(!is_driver), (*dac_time, measured), &mut found);
            }
            Came::Sample(time, missing, value) => {
                let sequence = &mut sequences[usize::from(*is_driver)];
                *sequence += 1;
                let rows = Rows {
                    times: vec![*time],
                    sequences: vec![*sequence],
                    missing: vec![*missing],
                    columns: vec![vec![*value]],
                    origins: vec![0],
                };
                match is_driver {
                    true => group.push_driver(program, (1, *dac_time), rows, &mut found),
                    false => group.push_other(program, 1, *dac_time, &rows, &mut found),
                }
            }
        }
    }
    group.pass(program, u64::MAX, &mut found);
    let rows = found.into_iter().flat_map(|found| found.derived).map(|(_, rows)| rows);
    let values = |rows: Rows| {
        let row = |at: usize| rows.columns.iter().skip(1).map(|column| column[at]).collect();
        (0..rows.len()).map(row).collect::<Vec<_>>()
    };
    rows.flat_map(values).collect()
}

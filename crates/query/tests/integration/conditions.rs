//! A condition of a query never loses a row: a query with it has the rows of the query without, filtered here.
//!
//! `OASIS_QUERY_ARCHIVES=1000 OASIS_QUERY_SEED=7` takes more archives, and others.

use fastrand::Rng;
use oasis_channel::ProbeKind;
use oasis_import::Import;
use oasis_query::{Rows, Sql, SqlValue};
use oasis_store::{ArchiveConfig, Series, open};
use oasis_wire::{
    batch::{Encoder, Fields},
    quantity::Epoch,
    schema::ProbeType,
    value::RowWriter,
};
use std::{env, path::Path, sync::Arc};
use uuid::Uuid;

/// Queries of each archive.
const QUERIES: usize = 100;
/// When the clocks of these nodes begin: small, so that equal times are frequent.
const EPOCH: u64 = 1_000;

/// A row as the queries return it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Row {
    node: String,
    instance: String,
    run: String,
    sequence: i64,
    time: i64,
    value: i64,
}

/// All rows of a query that selects the columns of [`Row`].
#[derive(Default)]
struct QueryRows(Vec<Row>);

impl Rows for QueryRows {
    fn begin(&mut self, _: &[String]) -> std::io::Result<()> {
        Ok(())
    }

    fn row(&mut self, values: &[SqlValue<'_>]) -> std::io::Result<()> {
        let text = |at: usize| values[at].as_str().unwrap().to_owned();
        let whole = |at: usize| values[at].as_i64().unwrap();
        self.0.push(Row {
            node: text(0),
            instance: text(1),
            run: text(2),
            sequence: whole(3),
            time: whole(4),
            value: whole(5),
        });
        Ok(())
    }
}

fn probe_type() -> Arc<ProbeType> {
    let json = r#"{"name": "Probe", "uuid": "2f1c7c1e-6f0b-4f4e-9a51-6f1c0e6a2d12", "version": "1.0",
        "metrics": [{"name": "value", "type": "uint32"}]}"#;
    serde_json::from_str::<ProbeType>(json).unwrap().into()
}

fn batch(probe_type: &ProbeType, first_sequence: u64, times: &[u64]) -> Vec<u8> {
    let mut encoder = Encoder::new(probe_type).unwrap();
    for (at, time) in times.iter().enumerate() {
        let mut row = Vec::new();
        RowWriter::new(&mut row).u32(first_sequence as u32 + at as u32);
        encoder.push(*time, &row).unwrap();
    }
    let mut batch = Vec::new();
    encoder.finish(Fields { topic: 1, first_sequence, ..Fields::default() }, &mut batch);
    batch
}

/// Adds an import to the archive: runs of some instances, with clocks that stand still, jump back and jump ahead.
fn import(folder: &Path, random: &mut Rng) {
    let directory = folder.display().to_string();
    let mut import =
        Import::begin(open(ArchiveConfig { directory, ..ArchiveConfig::default() }).unwrap()).unwrap();
    let probe_type = probe_type();
    for _ in 0..random.usize(1..4) {
        let series = Series {
            node: ["plant", "boiler"][random.usize(..2)].into(),
            instance: ["a", "b"][random.usize(..2)].into(),
            kind: ProbeKind::Pushed,
            run: Uuid::from_u128(random.u128(..)),
            epoch: Epoch(1),
            probe_type: probe_type.clone(),
        };
        let (mut time, mut sequence) = (EPOCH + random.u64(..200), 1);
        for _ in 0..random.usize(1..8) {
            let times: Vec<u64> = (0..random.usize(1..12))
                .map(|_| {
                    time = match random.u8(..8) {
                        0 => time.saturating_sub(random.u64(..150)),
                        1 => time + random.u64(..150),
                        2 => time,
                        _ => time + random.u64(1..5),
                    };
                    time
                })
                .collect();
            import.add(&series, &batch(&probe_type, sequence, &times)).unwrap();
            sequence += times.len() as u64 + random.u64(..3);
        }
    }
    import.finish().unwrap();
}

/// A condition, as SQL and as a predicate.
struct Condition {
    sql: String,
    matches: Box<dyn Fn(&Row) -> bool>,
}

fn compare(random: &mut Rng, column: &str, value: i64, of: fn(&Row) -> i64) -> Condition {
    let (operator, holds): (&str, fn(i64, i64) -> bool) = match random.u8(..5) {
        0 => ("=", |a, b| a == b),
        1 => ("<", |a, b| a < b),
        2 => ("<=", |a, b| a <= b),
        3 => (">", |a, b| a > b),
        _ => (">=", |a, b| a >= b),
    };
    Condition {
        sql: format!("{column} {operator} {value}"),
        matches: Box::new(move |row| holds(of(row), value)),
    }
}

fn condition(random: &mut Rng, depth: usize) -> Condition {
    if depth > 0 && random.u8(..3) > 0 {
        let (a, b) = (condition(random, depth - 1), condition(random, depth - 1));
        let is_any = random.bool();
        return Condition {
            sql: format!("({} {} {})", a.sql, if is_any { "OR" } else { "AND" }, b.sql),
            matches: Box::new(move |row| match is_any {
                true => (a.matches)(row) || (b.matches)(row),
                false => (a.matches)(row) && (b.matches)(row),
            }),
        };
    }
    match random.u8(..8) {
        0 => {
            let node = ["plant", "boiler", "none"][random.usize(..3)];
            Condition { sql: format!("node = '{node}'"), matches: Box::new(move |row| row.node == node) }
        }
        1 => {
            let instance = ["a", "b"][random.usize(..2)];
            Condition {
                sql: format!("instance = '{instance}'"),
                matches: Box::new(move |row| row.instance == instance),
            }
        }
        2 => {
            let value = random.i64(..60);
            compare(random, "value", value, |row| row.value)
        }
        _ => {
            let time = EPOCH as i64 + random.i64(-20..400);
            compare(random, "time_ns", time, |row| row.time)
        }
    }
}

fn rows(sql: &Sql, condition: &str) -> Vec<Row> {
    let mut found = QueryRows::default();
    let query = format!("SELECT node, instance, run, sequence, time_ns, value FROM probe WHERE {condition}");
    sql.query(&query, &mut found).unwrap_or_else(|error| panic!("{query}: {error}"));
    found.0.sort();
    found.0
}

fn number(variable: &str, default: u64) -> u64 {
    env::var(variable).map_or(default, |text| text.parse().unwrap())
}

#[test]
fn a_query_with_a_condition_has_the_rows_of_the_query_without_that_match() {
    let first = number("OASIS_QUERY_SEED", 0);
    for seed in first..first + number("OASIS_QUERY_ARCHIVES", 20) {
        let mut random = Rng::with_seed(seed);
        let folder = tempfile::tempdir().unwrap();
        for _ in 0..random.usize(1..4) {
            import(folder.path(), &mut random);
        }
        let sql = Sql::open(folder.path()).unwrap();
        let all = rows(&sql, "1");
        for _ in 0..QUERIES {
            let condition = condition(&mut random, 3);
            let expected: Vec<Row> = all.iter().filter(|row| (condition.matches)(row)).cloned().collect();
            let found = rows(&sql, &condition.sql);
            assert_eq!(found, expected, "OASIS_QUERY_SEED={seed}: WHERE {}", condition.sql);
        }
    }
}

/// Fifty samples, one after the other, from a clock.
fn archive(times: &[u64]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let directory = folder.path().display().to_string();
    let mut import =
        Import::begin(open(ArchiveConfig { directory, ..ArchiveConfig::default() }).unwrap()).unwrap();
    let series = Series {
        node: "plant".into(),
        instance: "a".into(),
        kind: ProbeKind::Pushed,
        run: Uuid::from_u128(1),
        epoch: Epoch(1),
        probe_type: probe_type(),
    };
    for (at, times) in times.chunks(10).enumerate() {
        import.add(&series, &batch(&series.probe_type, 1 + at as u64 * 10, times)).unwrap();
    }
    import.finish().unwrap();
    folder
}

#[test]
fn both_sides_of_an_or_on_times_count() {
    let start = 1_700_000_000_000_000_000;
    let folder = archive(&(0..50).map(|at| start + at).collect::<Vec<u64>>());
    let sql = Sql::open(folder.path()).unwrap();
    let count = |condition: &str| rows(&sql, condition).len();
    assert_eq!(count(&format!("time_ns < {} OR time_ns >= {}", start + 10, start + 40)), 20);
    assert_eq!(
        count(&format!("node = 'plant' AND (time_ns < {} OR time_ns >= {})", start + 10, start + 40)),
        20
    );
    assert_eq!(count(&format!("time_ns < {} OR instance = 'a'", start + 10)), 50);
    assert_eq!(count(&format!("time_ns < {0} OR time_ns < {0}", start + 10)), 10);
}

#[test]
fn samples_before_a_clock_that_was_set_back_are_found_by_time() {
    let (start, hour) = (1_700_000_000_000_000_000, 3_600_000_000_000);
    let times: Vec<u64> = (0..50).map(|at| if at < 25 { start + hour + at } else { start + at }).collect();
    let folder = archive(&times);
    let sql = Sql::open(folder.path()).unwrap();
    assert_eq!(rows(&sql, &format!("time_ns < {}", start + hour)).len(), 25);
    assert_eq!(rows(&sql, &format!("time_ns >= {}", start + hour)).len(), 25);
    assert_eq!(rows(&sql, "time < '2023-11-14T23:00:00Z'").len(), 25);
}

#[test]
fn the_time_one_nanosecond_after_1970_is_found() {
    let folder = archive(&[1]);
    let sql = Sql::open(folder.path()).unwrap();
    assert_eq!(rows(&sql, "time_ns = 1").len(), 1);
}

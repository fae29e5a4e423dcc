//! A condition of a query never loses a row: a query with it has the rows of the query without, filtered here. The same holds for a range of times of an
//! export.
//!
//! `OASIS_QUERY_ARCHIVES=1000 OASIS_QUERY_SEED=7` takes more archives, and others.

use crate::plant::{EPOCH, Plant, number};
use fastrand::Rng;
use oasis_history::{SampleOrMissing, Samples};
use oasis_query::{Rows, Sql, SqlValue};
use oasis_recordings::import::Import;
use oasis_store::{ArchiveConfig, History, Series, open};
use oasis_wire::{probe_kind::ProbeKind, quantity::Epoch};
use uuid::Uuid;

/// Queries of each archive.
const QUERIES: usize = 100;

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

#[test]
fn a_query_with_a_condition_has_the_rows_of_the_query_without_that_match() {
    let first = number("OASIS_QUERY_SEED", 0);
    for seed in first..first + number("OASIS_QUERY_ARCHIVES", 20) {
        let mut random = Rng::with_seed(seed);
        let folder = tempfile::tempdir().unwrap();
        for _ in 0..random.usize(1..4) {
            Plant::default().import(folder.path(), &mut random);
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

/// The run, sequence number and time of each sample of an instance that a reader of these times yields.
fn samples(
    history: &History,
    names: (&str, &str),
    from: u64,
    until: Option<u64>,
    bytes: usize,
) -> Vec<(String, i64, i64)> {
    let mut reader = Samples::new(history, names, from, until, bytes);
    let mut found = Vec::new();
    while let Some(item) = reader.next().unwrap() {
        if let SampleOrMissing::Sample(series, _, sample) = item {
            found.push((series.run.to_string(), sample.sequence as i64, sample.time as i64));
        }
    }
    found.sort();
    found
}

#[test]
fn a_range_of_times_has_the_samples_of_these_times() {
    let first = number("OASIS_QUERY_SEED", 0);
    for seed in first..first + number("OASIS_QUERY_ARCHIVES", 40) {
        let mut random = Rng::with_seed(seed);
        let folder = tempfile::tempdir().unwrap();
        for _ in 0..random.usize(1..4) {
            Plant::default().import(folder.path(), &mut random);
        }
        let all = rows(&Sql::open(folder.path()).unwrap(), "1");
        let history = History::open(folder.path()).unwrap();
        for _ in 0..QUERIES / 2 {
            let node = ["plant", "boiler"][random.usize(..2)];
            let instance = ["a", "b"][random.usize(..2)];
            let from = if random.bool() { EPOCH + random.u64(..400) } else { 0 };
            let until = random.bool().then(|| from + random.u64(..200));
            let is_wanted = |row: &&Row| {
                let time = row.time as u64;
                row.node == node
                    && row.instance == instance
                    && time >= from
                    && until.is_none_or(|until| time < until)
            };
            let mut expected: Vec<_> =
                all.iter().filter(is_wanted).map(|row| (row.run.clone(), row.sequence, row.time)).collect();
            expected.sort();
            let found = samples(&history, (node, instance), from, until, 1 + random.usize(..2_000));
            assert_eq!(
                found, expected,
                "OASIS_QUERY_SEED={seed}: {node}/{instance} from {from} to {until:?}"
            );
        }
    }
}

/// Fifty samples, one after the other, from a clock.
fn archive(times: &[u64]) -> tempfile::TempDir {
    let plant = Plant::default();
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
        probe_type: plant.probe_type.clone(),
    };
    for (at, times) in times.chunks(10).enumerate() {
        import.add(&series, &plant.batch(1 + at as u64 * 10, times)).unwrap();
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

/// A refused query.
fn refused(sql: &Sql, query: &str) -> String {
    sql.query(query, &mut QueryRows::default()).unwrap_err().to_string()
}

#[test]
fn a_number_that_sql_cannot_have_is_an_error_and_not_another_number() {
    let beyond = 1_u64 << 63;
    let folder = archive(&[5, beyond]);
    let sql = Sql::open(folder.path()).unwrap();
    assert_eq!(rows(&sql, "time_ns < 10").len(), 1);
    let said = refused(&sql, "SELECT max(time_ns) - min(time_ns) FROM probe");
    assert!(said.contains("time_ns of plant/a, sequence 2, is 9223372036854775808, beyond"), "{said}");
}

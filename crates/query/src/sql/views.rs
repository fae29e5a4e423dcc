//! Views of the catalogue for queries.

use super::{TableInfo, table::TIMES};
use oasis_store::store::{OpenGap, OpenShare};
use oasis_wire::{loss, schema::ProbeType};
use rusqlite::{Connection, params};

/// Name, meaning of the rows, and query. `{t:COLUMN}` is a time as text, `{cause}` the current word of a cause of loss, `{expired}` the table of evicted
/// samples.
const VIEWS: [(&str, &str, &str); 6] = [
    (
        "test_runs",
        "test runs",
        "SELECT id, name, {t:started} AS started, started AS started_ns, {t:stopped} AS stopped, stopped AS stopped_ns, notes,
                (SELECT json_group_array(tag) FROM test_run_tag WHERE test_run = id) AS tags, pinned, who
         FROM test_run",
    ),
    (
        "annotations",
        "annotations",
        "SELECT id, {t:time} AS time, time AS time_ns, {t:until} AS until, until AS until_ns, text,
                (SELECT json_group_array(json_object('node', node, 'instance', instance) ORDER BY number)
                 FROM annotation_target WHERE annotation = id) AS targets,
                who, {t:written} AS written
         FROM annotation",
    ),
    (
        "gaps",
        "missing samples and their cause: by sequence number if the DAC never received them or the disk was full at the end of a run, by offset if they were not stored or retention has evicted them",
        "SELECT {t:time} AS time, time AS time_ns, node, instance, run, to_sequence - from_sequence + 1 AS count, {cause} AS cause,
                from_sequence, to_sequence, NULL AS epoch, NULL AS from_offset, NULL AS to_offset
         FROM loss
         UNION ALL
         SELECT {t:gap.time}, gap.time, instance.node, instance.name, series.run, to_offset - from_offset, {cause},
                NULL, NULL, series.epoch, from_offset, to_offset - 1
         FROM gap JOIN series ON series.id = gap.series JOIN instance ON instance.id = series.instance
         UNION ALL
         SELECT {t:time}, time, node, instance, run, to_offset - from_offset, cause,
                NULL, NULL, epoch, from_offset, to_offset - 1
         FROM temp.open_gap WHERE segment NOT IN (SELECT number FROM main.segment)
         UNION ALL
         SELECT {t:max_time}, max_time, node, instance, NULL, samples, 'archive_retention',
                NULL, NULL, epoch, from_offset, to_offset - 1
         FROM {expired}",
    ),
    (
        "nodes",
        "known nodes",
        "SELECT name, uuid, host, software, {t:last_seen} AS last_seen, last_seen AS last_seen_ns FROM node",
    ),
    (
        "instances",
        "instances with samples",
        "SELECT node, instance, type, version, uuid, sum(samples) AS samples, {t:min(first)} AS first, {t:max(last)} AS last,
                (SELECT group_concat(name, ', ') FROM temp.sample_table AS named
                 WHERE (named.type, named.version, named.uuid) = (listed.type, listed.version, listed.uuid)) AS table_name
         FROM (SELECT instance.node, instance.name AS instance, type.name AS type, type.version, type.uuid,
                      extent.samples, extent.min_time AS first, extent.max_time AS last
               FROM instance JOIN series ON series.instance = instance.id JOIN type ON type.id = series.type
               JOIN extent ON extent.series = series.id
               UNION ALL
               SELECT node, instance, type, version, uuid, samples, first, last FROM temp.open_share
               WHERE segment NOT IN (SELECT number FROM main.segment)) AS listed
         GROUP BY node, instance, type, version, uuid",
    ),
    (
        "commands",
        "sent commands",
        "SELECT {t:time} AS time, time AS time_ns, who, node, instance, command, outcome FROM main.command",
    ),
];

/// Tables for the views only.
pub const HIDDEN: [&str; 3] = [OPEN_SHARE, OPEN_GAP, SAMPLE_TABLE];
/// The names of tables of samples.
const SAMPLE_TABLE: &str = "sample_table";
/// Content that the catalogue does not list yet.
const OPEN_SHARE: &str = "open_share";
const OPEN_GAP: &str = "open_gap";

/// Creates the views in this connection, with the content of open files.
pub fn create(
    connection: &Connection,
    shares: &[OpenShare],
    gaps: &[OpenGap],
) -> rusqlite::Result<Vec<TableInfo>> {
    add_shares(connection, shares)?;
    add_gaps(connection, gaps)?;
    connection.execute_batch(&format!(
        "CREATE TEMP TABLE {SAMPLE_TABLE} (type, version, uuid, name);
         CREATE INDEX temp.sample_table_type ON {SAMPLE_TABLE} (uuid, version, type)"
    ))?;
    let mut tables = Vec::new();
    for (name, about, query) in VIEWS {
        let query = query.replace("{cause}", &present_cause()).replace("{expired}", expired(connection)?);
        let query = with_times(&query);
        connection.execute_batch(&format!("CREATE TEMP VIEW {name} AS {query}"))?;
        let statement = connection.prepare(&format!("SELECT * FROM {name}"))?;
        let columns = statement.column_names().map(|column| (column.to_owned(), None)).collect();
        tables.push(TableInfo { name: name.into(), about: about.into(), columns, types: Vec::new() });
    }
    Ok(tables)
}

/// Notes the table with the samples of a type, for the view `instances`.
pub fn name_table(connection: &Connection, name: &str, probe_type: &ProbeType) -> rusqlite::Result<()> {
    let ProbeType { name: type_name, version, uuid, .. } = probe_type;
    connection.execute(
        &format!("INSERT INTO temp.{SAMPLE_TABLE} VALUES (?, ?, ?, ?)"),
        params![type_name, version, uuid.to_string(), name],
    )?;
    Ok(())
}

fn add_shares(connection: &Connection, open: &[OpenShare]) -> rusqlite::Result<()> {
    connection.execute_batch(&format!(
        "CREATE TEMP TABLE {OPEN_SHARE} (segment, node, instance, type, version, uuid, samples, first, last)"
    ))?;
    let mut add =
        connection.prepare(&format!("INSERT INTO {OPEN_SHARE} VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"))?;
    for OpenShare { segment, series, samples, times: (first, last), .. } in open {
        let (probe_type, number) = (&series.probe_type, |number: &u64| number.cast_signed());
        add.execute(params![
            number(segment),
            &*series.node,
            &*series.instance,
            probe_type.name,
            probe_type.version,
            probe_type.uuid.to_string(),
            number(samples),
            number(first),
            number(last)
        ])?;
    }
    Ok(())
}

fn add_gaps(connection: &Connection, open: &[OpenGap]) -> rusqlite::Result<()> {
    connection.execute_batch(&format!(
        "CREATE TEMP TABLE {OPEN_GAP} (segment, time, node, instance, run, epoch, from_offset, to_offset, cause)"
    ))?;
    let mut add =
        connection.prepare(&format!("INSERT INTO {OPEN_GAP} VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"))?;
    for OpenGap { segment, series, gap } in open {
        add.execute(params![
            segment.cast_signed(),
            gap.time.0.cast_signed(),
            &*series.node,
            &*series.instance,
            series.run.to_string(),
            series.epoch.to_string(),
            gap.from.0.cast_signed(),
            gap.to.0.cast_signed(),
            gap.cause.word()
        ])?;
    }
    Ok(())
}

/// The table of evicted samples. The catalogue of an earlier version has none.
fn expired(connection: &Connection) -> rusqlite::Result<&'static str> {
    let listed = "SELECT 1 FROM main.sqlite_schema WHERE type = 'table' AND name = 'expired'";
    Ok(match connection.prepare(listed)?.exists([])? {
        true => "main.expired",
        false => {
            "(SELECT NULL AS node, NULL AS instance, NULL AS epoch, 0 AS from_offset, 0 AS to_offset, 0 AS samples, 0 AS max_time WHERE false)"
        }
    })
}

/// The column `cause`: maps words of earlier releases.
fn present_cause() -> String {
    let former = |entry: &loss::Entry| -> Vec<_> {
        entry.former.iter().map(|former| format!("WHEN '{former}' THEN '{}'", entry.word)).collect()
    };
    let cases: Vec<_> = loss::TABLE.iter().flat_map(former).collect();
    format!("CASE cause {} ELSE cause END", cases.join(" "))
}

/// The SQL expression of a time as text. SQL divides towards 0: a time before 1970 belongs to the second below.
fn as_text(time: &str) -> String {
    const NANOS_PER_SECOND: &str = "1000000000";
    let fraction = format!("((({time}) % {NANOS_PER_SECOND} + {NANOS_PER_SECOND}) % {NANOS_PER_SECOND})");
    format!(
        "strftime('%Y-%m-%dT%H:%M:%S', (({time}) - {fraction}) / {NANOS_PER_SECOND}, 'unixepoch') || printf('.%09dZ', {fraction})"
    )
}

/// Replaces times by RFC 3339 text to the nanosecond.
fn with_times(query: &str) -> String {
    let mut parts = query.split("{t:");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (time, rest) = part.split_once('}').unwrap_or((part, ""));
        out += &format!("({}) COLLATE {TIMES}{rest}", as_text(time));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use rusqlite::Connection;

    #[test]
    fn times_before_1970_are_the_text_of_their_second() {
        let database = Connection::open_in_memory().unwrap();
        let text = |time: i64| -> String {
            let query = format!("SELECT {}", as_text(&time.to_string()));
            database.query_row(&query, [], |row| row.get(0)).unwrap()
        };
        assert_eq!(text(0), "1970-01-01T00:00:00.000000000Z");
        assert_eq!(text(1_763_683_200_000_000_001), "2025-11-21T00:00:00.000000001Z");
        assert_eq!(text(-15_853_775_809), "1969-12-31T23:59:44.146224191Z");
        assert_eq!(text(-1_000_000_000), "1969-12-31T23:59:59.000000000Z");
    }
}

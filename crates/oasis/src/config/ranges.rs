//! The numbers that settings may have. Beyond them the DAC would not start, or not work, without saying why. `fuzz` includes this file.

use anyhow::bail;
use std::ops::RangeInclusive;
use toml::de::{DeTable, DeValue};

const BYTES: RangeInclusive<u64> = 0..=1 << 60;
const COUNT: RangeInclusive<u64> = 0..=10_000_000;
/// A semaphore counts these.
const AT_LEAST_ONE: RangeInclusive<u64> = 1..=10_000_000;
/// Up to a day.
const MILLIS: RangeInclusive<u64> = 0..=86_400_000;
/// Up to 100 years.
const SECONDS: RangeInclusive<u64> = 0..=3_155_760_000;
const DAYS: RangeInclusive<u64> = 0..=36_525;

/// By key; `[]` stands for each element of a list.
pub const RANGES: &[(&str, RangeInclusive<u64>)] = &[
    ("memory_bytes", 1 << 20..=1 << 60),
    ("doors.hsts_seconds", SECONDS),
    ("doors.rate_limit", COUNT),
    ("doors.rate_limit_burst", COUNT),
    ("doors.rate_limit_expensive", COUNT),
    ("doors.rate_limit_expensive_burst", COUNT),
    ("doors.max_connections", AT_LEAST_ONE),
    ("doors.max_connections_per_address", COUNT),
    ("doors.max_websockets", COUNT),
    ("doors.max_subscriptions", COUNT),
    ("doors.max_readers", COUNT),
    ("doors.max_per_address", COUNT),
    ("doors.max_sse", COUNT),
    ("doors.max_streams", COUNT),
    ("doors.max_long_polls", COUNT),
    ("doors.max_polls", COUNT),
    ("doors.head_timeout_ms", MILLIS),
    ("doors.body_timeout_ms", MILLIS),
    ("doors.max_answer_bytes", BYTES),
    ("doors.shards", 0..=256),
    ("doors.flush_ms", 0..=60_000),
    ("doors.send_buffer_bytes", 0..=1 << 30),
    ("doors.max_import_bytes", BYTES),
    ("doors.max_layouts", COUNT),
    ("doors.max_layout_bytes", BYTES),
    ("access.session_idle_seconds", 60..=3_155_760_000),
    ("access.session_seconds", 60..=3_155_760_000),
    // A few files of the log, each with a few thousand records.
    ("access.audit_bytes", 1 << 20..=1 << 60),
    ("access.audit_days", DAYS),
    ("access.follow_max_age_seconds", 60..=2_592_000),
    ("channel.max_message_bytes", 1..=1 << 30),
    ("channel.max_connections", AT_LEAST_ONE),
    ("channel.max_connections_per_address", COUNT),
    ("channel.max_nodes", COUNT),
    ("channel.max_topics", COUNT),
    ("channel.max_schema_bytes", BYTES),
    ("log.topic_bytes", BYTES),
    ("log.total_bytes", BYTES),
    ("log.topic_seconds", SECONDS),
    ("log.derived_streams", COUNT),
    ("log.derived_linger_ms", MILLIS),
    ("archive.commit_ms", MILLIS),
    ("archive.segment_bytes", 1..=1 << 40),
    ("archive.segment_seconds", SECONDS),
    ("archive.min_free_bytes", BYTES),
    ("archive.retention[].days", DAYS),
    ("archive.retention[].bytes", BYTES),
    ("archive.pinned_percent", 0..=100),
    ("archive.plausible_past_days", DAYS),
    ("archive.plausible_ahead_days", DAYS),
    ("archive.rollup_days", DAYS),
    ("archive.rollup_bytes", BYTES),
    ("rules.threads", 0..=16),
    ("rules.commands_per_minute", 0..=6_000),
    ("openmetrics.max_series", COUNT),
    ("offload.after_seconds", SECONDS),
    ("postgresql.commit_ms", MILLIS),
    ("nats.replicas", 1..=5),
    ("nats.retention_seconds", SECONDS),
    ("nats.retention_bytes", 1 << 20..=1 << 60),
    ("influxdb.max_nodes", COUNT),
    ("influxdb.max_series", COUNT),
    ("otlp.max_nodes", COUNT),
    ("otlp.max_series", COUNT),
    ("otlp_export.interval_seconds", 1..=86_400),
    ("otlp_export.max_series", COUNT),
    ("prometheus.max_nodes", COUNT),
    ("prometheus.max_series", COUNT),
    ("remote_write.interval_seconds", 1..=86_400),
    ("remote_write.max_instances", COUNT),
    ("postgresql_protocol.max_connections", COUNT),
    ("mqtt.max_nodes", COUNT),
    ("mqtt.max_series", COUNT),
    ("mqtt_publish.qos", 0..=1),
    ("mqtt_publish.max_instances", COUNT),
    ("mqtt_publish.max_message_bytes", 1_024..=1 << 28),
    ("mavlink.max_nodes", COUNT),
    ("mavlink.max_series", COUNT),
    ("can.bit_rate", 0..=100_000_000),
    ("can.data_bit_rate", 0..=100_000_000),
    ("can.max_series", COUNT),
    ("dds.domain", 0..=232),
    ("dds.buffer_bytes", 1 << 20..=1 << 40),
    ("node.datagram_bytes", 0..=65_507),
    ("node.spool_bytes", BYTES),
    ("node.spool_directory_bytes", BYTES),
    ("node.batch_samples", 1..=65_535),
    ("node.linger_ms", MILLIS),
];

/// Checks all integers of a file whose keys have a range.
///
/// # Errors
/// Names the line, the key and the range.
pub fn check(text: &str) -> anyhow::Result<()> {
    let table = DeTable::parse(text)?;
    check_table(text, "", table.get_ref())
}

fn check_table(text: &str, parent: &str, table: &DeTable<'_>) -> anyhow::Result<()> {
    for (key, value) in table {
        let dot = if parent.is_empty() { "" } else { "." };
        check_value(text, &format!("{parent}{dot}{}", key.get_ref()), value.span().start, value.get_ref())?;
    }
    Ok(())
}

fn check_value(text: &str, key: &str, at: usize, value: &DeValue<'_>) -> anyhow::Result<()> {
    match value {
        DeValue::Table(table) => check_table(text, key, table),
        DeValue::Array(list) => {
            let element = format!("{key}[]");
            list.iter().try_for_each(|value| check_value(text, &element, value.span().start, value.get_ref()))
        }
        DeValue::Integer(number) => {
            let Some((_, range)) = RANGES.iter().find(|(known, _)| *known == key) else { return Ok(()) };
            let known = u64::from_str_radix(number.as_str(), number.radix()).ok();
            if known.is_some_and(|number| range.contains(&number)) {
                return Ok(());
            }
            let line = text.get(..at).unwrap_or_default().matches('\n').count() + 1;
            bail!("line {line}: {key} is {number}: write a number from {} to {}", range.start(), range.end())
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_beyond_its_range_is_refused_with_its_line() {
        let refused = |text: &str| check(text).unwrap_err().to_string();
        assert_eq!(
            refused("[log]\n\n[doors]\nmax_connections = 9_000_000_000_000_000_000\n"),
            "line 4: doors.max_connections is 9000000000000000000: write a number from 1 to 10000000"
        );
        assert!(refused("archive.retention = [{ instances = \"*\", days = 1_000_000 }]").contains("36525"));
        assert!(refused("doors = { shards = 0xffff }").contains("line 1: doors.shards is"));
        check("[log]\ntopic_seconds = 0b11\n[other]\nmax_connections = 0\n").unwrap();
    }
}

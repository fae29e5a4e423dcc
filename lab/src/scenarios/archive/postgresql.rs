//! Rows a second into PostgreSQL: the handler, and right after it a bare binary `COPY` of what it has written.

use super::{super::progress, Archive, rows::BATCH};
use crate::{
    packet,
    servers::Feed,
    statistics::{median, ratios, spread},
    table::{Table, ratio, with_spread},
};
use anyhow::{Context, bail, ensure};
use futures_util::{SinkExt, TryStreamExt};
use oasis_dac::{Config, Dac, config::LogConfig};
use oasis_handler::{ConfiguredHandler, Supervisor};
use oasis_postgresql::{Postgresql, PostgresqlConfig};
use std::{
    pin::pin,
    thread,
    time::{Duration, Instant},
};
use tokio_postgres::{
    Client, NoTls,
    config::{Host, SslMode},
};
use uuid::Uuid;

const REPETITIONS: usize = 5;
/// Table in which the handler stores samples of the processor probe.
const TABLE: &str = "oasis_system_linux_processor_probe";
/// Memory for a topic: all samples of a run, so that none of them has to come from an archive. One takes some 2 bytes.
const LOG_BYTES: usize = 256 * 1024 * 1024;
/// Bytes that the bare `COPY` sends at once, as much as a round of the handler has.
const COPY_CHUNK_BYTES: usize = 8 * 1024 * 1024;
/// Timeout without a new row.
const STALL_TIMEOUT: Duration = Duration::from_secs(60);
const POLL_INTERVAL: Duration = Duration::from_millis(2);

impl Archive {
    pub(super) fn postgresql(&self) -> anyhow::Result<String> {
        let Some(url) = &self.postgresql_url else {
            return Ok("## PostgreSQL\n\nSkipped: no database given with `--postgresql-url` or `OASIS_POSTGRESQL_URL`.\n".into());
        };
        let rows = (self.rows_m * 1_000_000).next_multiple_of(BATCH);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let client = runtime.block_on(connect(url))?;
        let version: String = runtime.block_on(client.query_one("SHOW server_version", &[]))?.get(0);
        let version = version.split(' ').next().unwrap_or_default();
        let fsync: String = runtime.block_on(client.query_one("SHOW fsync", &[]))?.get(0);
        let (mut ours, mut bare) = (Vec::new(), Vec::new());
        for repetition in 1..=REPETITIONS {
            progress(format_args!("{rows} rows, repetition {repetition} of {REPETITIONS}"));
            let schema = format!("oasis_lab_{}", Uuid::new_v4().simple());
            let run = handled(url, &schema, rows)
                .and_then(|ours| Ok((ours, runtime.block_on(copied(&client, &schema, rows))?)));
            // The schema is dropped, whether the measurement succeeded or not.
            let drop = format!("DROP SCHEMA IF EXISTS {schema} CASCADE");
            let dropped = runtime.block_on(client.batch_execute(&drop));
            let (by_handler, by_copy) = run?;
            dropped.with_context(|| format!("cannot drop the schema {schema}"))?;
            ours.push(by_handler);
            bare.push(by_copy);
        }
        let mut table = Table::new(["into PostgreSQL", "rows a second"]);
        table.row(vec!["handler, from its start to the last commit".into(), with_spread(&ours)]);
        table.row(vec!["bare binary `COPY`".into(), with_spread(&bare)]);
        let pairs = ratios(&ours, &bare);
        let (low, high) = spread(&pairs).unwrap_or_default();
        Ok(format!(
            "## PostgreSQL\n\n{rows} samples of seven counters, of one instance, in batches of {BATCH}, into PostgreSQL {version} (`fsync` {fsync}). Handler: connecting, creating schema, tables and partition, encoding, a node's session, the topic log, rows and positions. For comparison, the same rows, already encoded, with the same client library in one `COPY` into the same emptied table, with its key and partitions. {REPETITIONS} alternating runs; median (lowest to highest).\n\n\
             {table}\nRatio of handler to bare `COPY`: {} ({low:.2} to {high:.2}).\n",
            ratio(median(&pairs)),
        ))
    }
}

async fn connect(url: &str) -> anyhow::Result<Client> {
    let address: tokio_postgres::Config = url.parse().context("invalid --postgresql-url")?;
    let is_local = address.get_hosts().iter().all(|host| matches!(host, Host::Unix(_)));
    ensure!(
        is_local || address.get_ssl_mode() == SslMode::Disable,
        "the handler would encrypt and the bare COPY would not: use sslmode=disable in --postgresql-url"
    );
    let (client, connection) = address.connect(NoTls).await.context("cannot connect to PostgreSQL")?;
    // The client reports the end of its connection.
    tokio::spawn(connection);
    Ok(client)
}

/// Has the handler write rows into a schema that is not there yet; rows a second.
fn handled(url: &str, schema: &str, rows: u64) -> anyhow::Result<f64> {
    let log = LogConfig { topic_bytes: LOG_BYTES, topic_seconds: 0, ..LogConfig::default() };
    let dac = Dac::new(Config { log, ..Config::default() });
    let mut feed = Feed::new(dac.clone())?;
    let config = PostgresqlConfig { url: url.into(), schema: schema.into(), ..PostgresqlConfig::default() };
    let (began, mut time) = (Instant::now(), packet::now());
    let handler = std::sync::Arc::new(Postgresql::configured(config)?.context("no --postgresql-url")?);
    let supervisor = Supervisor::new(dac, None, vec![handler.clone()]);
    supervisor.start("postgresql")?;
    for _ in 0..rows / BATCH {
        let next = |_| {
            time += 1_000;
            time
        };
        feed.batch(BATCH, next, false)?;
    }
    let written = wait_for(&handler, rows);
    let took = began.elapsed();
    // The handler uses the schema that is to be dropped.
    supervisor.stop("postgresql")?;
    written?;
    Ok(rows as f64 / took.as_secs_f64())
}

/// Waits until `rows` rows are committed.
fn wait_for(handler: &Postgresql, rows: u64) -> anyhow::Result<()> {
    let (mut last, mut since) = (0, Instant::now());
    loop {
        let state = handler.report();
        ensure!(
            state.missing + state.refused + state.failures == 0,
            "the handler did not write all rows: {}",
            state
                .reach
                .detail
                .unwrap_or_else(|| format!("{} missing, {} refused", state.missing, state.refused))
        );
        if state.rows >= rows {
            return Ok(());
        }
        if state.rows > last {
            (last, since) = (state.rows, Instant::now());
        }
        if since.elapsed() > STALL_TIMEOUT {
            bail!("the handler stalled at {last} of {rows} rows for {} s", STALL_TIMEOUT.as_secs());
        }
        thread::sleep(POLL_INTERVAL);
    }
}

/// Writes what is in the handler's table once more, into the same table; rows a second.
async fn copied(client: &Client, schema: &str, rows: u64) -> anyhow::Result<f64> {
    // A table with partitions can be read by no other form of COPY.
    let copy = format!("COPY (SELECT * FROM {schema}.{TABLE} ORDER BY time) TO STDOUT (FORMAT binary)");
    let (mut out, mut pieces) = (pin!(client.copy_out(&copy).await?), vec![Vec::new()]);
    while let Some(row) = out.try_next().await? {
        if pieces.last().is_none_or(|piece| piece.len() + row.len() > COPY_CHUNK_BYTES) {
            pieces.push(Vec::with_capacity(COPY_CHUNK_BYTES));
        }
        pieces.last_mut().into_iter().for_each(|piece| piece.extend_from_slice(&row));
    }
    let pieces: Vec<_> = pieces.into_iter().map(bytes::Bytes::from).collect();
    client.batch_execute(&format!("TRUNCATE {schema}.{TABLE}")).await?;
    let began = Instant::now();
    let mut copy = pin!(client.copy_in(&format!("COPY {schema}.{TABLE} FROM STDIN (FORMAT binary)")).await?);
    for piece in pieces {
        copy.send(piece).await?;
    }
    let written = copy.finish().await?;
    let took = began.elapsed();
    ensure!(written == rows, "the bare COPY wrote {written} of {rows} rows");
    Ok(rows as f64 / took.as_secs_f64())
}

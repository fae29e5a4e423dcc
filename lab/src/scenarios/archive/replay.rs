//! Samples a second of a replay as fast as it goes: the whole process `oasis replay`, and right after it the same samples, encoded and sent.

use super::{
    super::progress,
    Archive,
    rows::{self, BATCH, COMMIT},
};
use crate::{
    packet, program,
    servers::{INSTANCE, NODE, greeting, sample},
    statistics::{median, ratios, spread},
    table::{Table, ratio, with_spread},
};
use anyhow::{Context, ensure};
use oasis_channel::{Connector, DacMessage, NodeMessage, REPLAY_PREFIX, Receiver, tcp::TcpConnector};
use oasis_dac::{Config, Dac};
use oasis_probe::{RowWriter, Sample};
use oasis_wire::{
    batch::{Encoder, Fields},
    quantity::TopicId,
};
use std::{
    path::Path,
    process::{Command, Stdio},
    sync::Arc,
    thread,
    time::Instant,
};
use tokio::{net::TcpListener, runtime::Runtime};

const REPETITIONS: usize = 5;
/// The recording's samples are a microsecond apart: at this speed all of them are due at once.
const SPEED: &str = "10000";

impl Archive {
    pub(super) fn replay(&self) -> anyhow::Result<String> {
        let program = match program::oasis() {
            Ok(program) => program,
            Err(error) => return Ok(format!("## Replay\n\nSkipped: {error}\n")),
        };
        let rows = (self.rows_m * 1_000_000).next_multiple_of(COMMIT);
        let folder = self.new_folder()?;
        progress(format_args!("recording {rows} samples"));
        rows::archived(folder.path(), rows, BATCH)?;
        let (mut ours, mut bare) = (Vec::new(), Vec::new());
        for repetition in 1..=REPETITIONS {
            progress(format_args!("{rows} samples, repetition {repetition} of {REPETITIONS}"));
            ours.push(replayed(&program, folder.path(), rows)?);
            bare.push(sent(rows)?);
        }
        let mut table = Table::new(["to a DAC", "samples a second"]);
        table.row(vec![
            format!("`oasis replay --speed {SPEED}`, from its start to its end"),
            with_spread(&ours),
        ]);
        table.row(vec!["the same samples, encoded and sent".into(), with_spread(&bare)]);
        let pairs = ratios(&ours, &bare);
        let (low, high) = spread(&pairs).unwrap_or_default();
        Ok(format!(
            "## Replay\n\n{rows} samples of seven counters, of one instance, in batches of {BATCH}, over TCP to a DAC in the lab's process. Replay: start, reading segment files, assigning new times, and waiting until the DAC has all samples. For comparison, one thread encodes the same samples from memory and sends them until the last is acknowledged. {REPETITIONS} alternating runs; median (lowest to highest).\n\n\
             {table}\nRatio: {} ({low:.2} to {high:.2}).\n",
            ratio(median(&pairs)),
        ))
    }
}

/// A DAC with a data channel, and where it is.
fn dac() -> anyhow::Result<(Runtime, Arc<Dac>, String)> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0"))?;
    let address = listener.local_addr()?.to_string();
    let dac = {
        let _in_it = runtime.enter();
        Dac::new(Config::default())
    };
    runtime.spawn(oasis_dac::ingest::serve(dac.clone(), listener));
    Ok((runtime, dac, address))
}

/// Samples a second of the process that plays the archive.
fn replayed(program: &Path, archive: &Path, rows: u64) -> anyhow::Result<f64> {
    let (_runtime, dac, address) = dac()?;
    let began = Instant::now();
    let status = Command::new(program)
        .arg("replay")
        .arg(archive)
        .args(["--speed", SPEED, "--dac", &address])
        .stderr(Stdio::null())
        .status()?;
    let took = began.elapsed();
    ensure!(status.success(), "{} replay failed: {status}", program.display());
    check(&dac, &format!("{REPLAY_PREFIX}{NODE}"), rows)?;
    Ok(rows as f64 / took.as_secs_f64())
}

/// Samples a second of a connection that has nothing else to do.
fn sent(rows: u64) -> anyhow::Result<f64> {
    let (_runtime, dac, address) = dac()?;
    let (mut encoder, greeting) = greeting()?;
    let (mut sender, mut receiver) = TcpConnector::new(&address).connect()?;
    sender.send(&greeting, &[])?;
    let topic = loop {
        if let DacMessage::Registered { topics } = receiver.receive()? {
            break topics.first().context("the DAC assigned no topic to the instance")?.topic;
        }
    };
    let began = Instant::now();
    let acknowledged = thread::spawn(move || last_acknowledged(&mut *receiver, rows));
    for first in (1..=rows).step_by(BATCH as usize) {
        sender.send(&[], &[&batch(&mut encoder, topic, first)?])?;
    }
    acknowledged.join().ok().context("the reader thread panicked")??;
    let took = began.elapsed();
    sender.send(&[NodeMessage::Goodbye { reason: "all is sent".into() }], &[])?;
    check(&dac, NODE, rows)?;
    Ok(rows as f64 / took.as_secs_f64())
}

/// The samples from this number on.
fn batch(encoder: &mut Encoder, topic: TopicId, first_sequence: u64) -> anyhow::Result<Vec<u8>> {
    let (mut row, mut batch) = (Vec::new(), Vec::new());
    let mut time = packet::now();
    for number in first_sequence..first_sequence + BATCH {
        time += 1_000;
        row.clear();
        sample(number).write(&mut RowWriter::new(&mut row));
        encoder.push(time, &row)?;
    }
    let fields = Fields { topic: topic.0, first_sequence, node_time: time, ..Fields::default() };
    encoder.finish(fields, &mut batch);
    Ok(batch)
}

/// Returns once the DAC has acknowledged the sample of this number.
fn last_acknowledged(receiver: &mut dyn Receiver, last: u64) -> anyhow::Result<()> {
    loop {
        if let DacMessage::Ack { topics } = receiver.receive()?
            && topics.iter().any(|(_, sequence)| *sequence >= last)
        {
            return Ok(());
        }
    }
}

fn check(dac: &Dac, node: &str, rows: u64) -> anyhow::Result<()> {
    let instance = dac.registry.find(node, INSTANCE).context("the DAC does not know the instance")?;
    let received = instance.ledger().received;
    ensure!(received == rows, "{received} of {rows} samples are there");
    Ok(())
}

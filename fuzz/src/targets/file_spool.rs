//! The directory of a file spool: any heads, records and file names, with right checksums, and anything between them. Its runs are sent to a DAC that
//! takes everything, and a new run is written beside them.
//!
//! Each part is its kind, the length of its payload (two bytes) and the payload.

use oasis_probe::{
    NodeConfig,
    simulation::{Announcement, Directory, Journal, MetDac, Outbox, Spool, Spooler},
};
use oasis_wire::quantity::TopicId;
use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
    time::Instant,
};
use tempfile::TempDir;

/// Bytes of the directory: little, so that old segments have to make room.
const LIMIT: u64 = 256 * 1024;
/// Bytes of the queue.
const QUEUE: usize = 64 * 1024;
/// Turns in which all batches of an input can be sent.
const TURNS: usize = 2_000;

pub fn run(input: &[u8]) {
    batches(input);
}

/// Returns how many batches are sent.
pub fn batches(input: &[u8]) -> usize {
    let folder = folder().expect("a folder");
    write(folder.path(), input).expect("files");
    let Ok(directory) = Directory::open(folder.path(), LIMIT) else { return 0 };
    let directory = Arc::new(directory);
    let mut sent = 0;
    let mut last = None;
    for run in directory.earlier_runs().unwrap_or_default() {
        let Ok(Some(journal)) = Journal::earlier_run(directory.clone(), run) else { continue };
        last = Some(journal.head().announcement.clone());
        sent += send(journal);
    }
    if let Some(announcement) = last {
        fill(directory, announcement);
    }
    sent
}

/// Sends a run to a DAC that stores all of it.
fn send(journal: Journal) -> usize {
    let instances = journal.head().announcement.instances.len();
    let outbox = Outbox::for_earlier_run(&journal, QUEUE);
    let topics = (0..instances).map(|instance| (instance, TopicId(instance as u32 + 1)));
    outbox.with(|held| {
        held.spool.connected(topics, MetDac { is_new: true, safe_when: None, takes_ahead: false })
    });
    let mut spooler = Spooler::new(outbox.clone(), journal);
    let mut sent = 0;
    for _ in 0..TURNS {
        spooler.turn(Instant::now());
        let (pieces, is_sent) = outbox.with(|held| {
            let pieces = held.spool.take(64, |_| true).pieces();
            held.counters();
            (0..instances).for_each(|instance| {
                let topic = TopicId(instance as u32 + 1);
                held.spool.acknowledge(topic, u64::MAX);
            });
            (pieces, held.is_sent())
        });
        sent += pieces;
        if is_sent && pieces == 0 {
            break;
        }
    }
    spooler.settle();
    outbox.with(|held| held.ended = true);
    spooler.turn(Instant::now());
    spooler.settle();
    spooler.end();
    sent
}

/// Writes a run until old segments have to make room for it.
fn fill(directory: Arc<Directory>, announcement: Arc<Announcement>) {
    let instances = announcement.instances.len();
    if instances == 0 {
        return;
    }
    let mut journal = Journal::begin(directory, announcement);
    let mut spool = Spool::before_a_file(NodeConfig::default().spool_bytes, instances);
    for sequence in 1..=6 {
        let before = Default::default();
        let bytes = Arc::new(vec![sequence as u8; 60_000]);
        spool.push(oasis_probe::simulation::NewBatch {
            instance: 0,
            first_sequence: sequence,
            count: 1,
            before,
            bytes,
        });
    }
    let mut batches = spool.take_intake();
    // A head may be too large for the directory.
    let _ = journal.append(&mut batches);
    while journal.read().is_ok_and(|batch| batch.is_some()) {}
}

/// A folder in memory, if the system has such.
fn folder() -> io::Result<TempDir> {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir())
}

/// Writes the parts of an input.
fn write(folder: &Path, mut input: &[u8]) -> io::Result<()> {
    let mut run = folder.join("0000000001-6f1b7c1e-3a55-4d5e-8c57-2f6e4f1f9d01");
    let (mut name, mut bytes) = (PathBuf::from("0000000001.segment"), Vec::new());
    while let Some((&[kind, low, high], rest)) = input.split_first_chunk() {
        let length = usize::from(u16::from_le_bytes([low, high])).min(rest.len());
        let (payload, rest) = rest.split_at(length);
        input = rest;
        match kind % 6 {
            0 => bytes.extend(framed(payload)),
            1 => bytes.extend(record(payload)),
            2 => bytes.extend_from_slice(payload),
            3 => {
                finish(&run, &name, &mut bytes)?;
                name = format!("{:010}.segment", number(payload)).into();
            }
            4 => {
                finish(&run, &name, &mut bytes)?;
                name = "delivered".into();
            }
            _ => {
                finish(&run, &name, &mut bytes)?;
                run = folder.join(format!("{:010}-run", number(payload)));
                name = "0000000001.segment".into();
            }
        }
    }
    finish(&run, &name, &mut bytes)
}

fn finish(run: &Path, name: &Path, bytes: &mut Vec<u8>) -> io::Result<()> {
    fs::create_dir_all(run)?;
    fs::write(run.join(name), std::mem::take(bytes))
}

fn number(payload: &[u8]) -> u64 {
    let mut number = [0; 8];
    number.iter_mut().zip(payload).for_each(|(to, from)| *to = *from);
    u64::from_le_bytes(number)
}

/// JSON of a head, or of what is safe.
fn framed(json: &[u8]) -> Vec<u8> {
    let length = (json.len() as u32).to_le_bytes();
    [&b"OSP2"[..], &length, &crc32fast::hash(json).to_le_bytes(), json].concat()
}

/// A record: the fields from the instance to the count as they are in a file, then the batch.
fn record(payload: &[u8]) -> Vec<u8> {
    let (fields, batch) = payload.split_at(payload.len().min(48));
    let mut bytes =
        [&b"OSPC"[..], &(batch.len() as u32).to_le_bytes(), &crc32fast::hash(batch).to_le_bytes(), fields]
            .concat();
    bytes.resize(60, 0);
    bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
    bytes.extend_from_slice(batch);
    bytes
}

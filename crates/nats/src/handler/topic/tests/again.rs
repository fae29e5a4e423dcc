//! Copies that come again, within the two minutes in which JetStream recognizes their `Nats-Msg-Id` and after them. Whoever reads copies must know
//! samples by instance, run and sequence number, as `oasis import --nats` does.
//!
//! Messages, ids, losses and acknowledgements are those of the copy, order and import those of `oasis import --nats`; only the stream is simulated.

use super::*;
use crate::Sorter;
use fastrand::Rng;
use oasis_recordings::import::{Import, ImportTotals};
use oasis_store::{ArchiveConfig, Series};
use oasis_wire::quantity::Epoch;
use std::{
    collections::{BTreeSet, HashMap},
    fmt,
};

/// Milliseconds in which JetStream recognizes an id: what `oasis_nats` asks for when it creates the streams.
const WINDOW: u64 = 120_000;
const SEEDS: u64 = 60;
/// Bytes that are sorted at once: more than a seed has.
const SORTED: usize = 1024 * 1024;

/// A stream of JetStream: it takes each message, unless it has taken one with this id within the window.
#[derive(Default)]
struct Stream {
    messages: Vec<Bytes>,
    /// When a message with this id was taken last.
    taken: HashMap<String, u64>,
    /// Messages that came within the window again, and after it.
    recognized: u64,
    again: u64,
}

impl Stream {
    fn publish(&mut self, message: &Message, now: u64) {
        let before = self.taken.get(&message.id).copied();
        if before.is_some_and(|before| now - before < WINDOW) {
            self.recognized += 1;
            return;
        }
        self.again += u64::from(before.is_some());
        self.taken.insert(message.id.clone(), now);
        self.messages.push(message.payload.clone());
    }

    fn numbers(&self) -> impl Iterator<Item = u64> {
        self.messages.iter().flat_map(|message| numbers(&Copy::decode(message).unwrap()))
    }
}

fn numbers(copy: &Copy) -> Vec<u64> {
    let Ok(header) = Header::parse(&copy.batch) else { return Vec::new() };
    (header.first_sequence..header.first_sequence + u64::from(header.count)).collect()
}

/// A message on its way to the stream. The publisher sends it until an acknowledgement comes back.
struct Delivery {
    time: u64,
    dac: usize,
    message: usize,
    is_acknowledged: bool,
}

/// Counts of events.
#[derive(Debug, Default)]
struct Counts {
    samples: u64,
    messages: u64,
    recognized: u64,
    again: u64,
    acknowledgements: u64,
    known: u64,
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { samples, messages, recognized, again, acknowledgements, known } = self;
        write!(
            f,
            "{samples} samples, 0 missing, 0 twice, 0 out of order; {messages} messages in the stream, {recognized} recognized within the window, {again} again \
             after it; {known} samples dropped because they were known; {acknowledgements} acknowledgements, 0 samples called copied before a copy exists"
        )
    }
}

/// DACs that copy the samples of one run, one after the other: the node sends again to the second one what was not safe at the first, in other
/// batches. Returns the stream and the last sequence number.
fn copy(seed: u64, dacs: usize, longest_pause: u64, counts: &mut Counts) -> (Stream, u64) {
    let mut random = Rng::with_seed(seed);
    let mut copied: Vec<Copied> = (0..dacs).map(|_| Copied::new(Config::default())).collect();
    let (mut messages, mut deliveries): (Vec<Vec<Message>>, Vec<Delivery>) = Default::default();
    let (mut time, mut last) = (0, 0);
    for (dac, copied) in copied.iter_mut().enumerate() {
        copied.next = random.u64(1..=last + 1);
        while copied.next <= last + 10 {
            copied.send(random.u64(1..5));
        }
        last = copied.next - 1;
        let of_dac = copied.read(MAX_MESSAGE).0;
        for message in 0..of_dac.len() {
            time += random.u64(0..1_000);
            let mut at = time;
            let mut is_acknowledged = false;
            while !is_acknowledged {
                is_acknowledged = random.u32(0..3) > 0;
                deliveries.push(Delivery { time: at, dac, message, is_acknowledged });
                at += random.u64(200..longest_pause);
            }
        }
        messages.push(of_dac);
    }
    deliveries.sort_by_key(|delivery| delivery.time);
    let mut stream = Stream::default();
    for Delivery { time, dac, message, is_acknowledged } in deliveries {
        let message = &messages[dac][message];
        stream.publish(message, time);
        if is_acknowledged {
            copied[dac].topic.acknowledge(message.place.1);
            counts.acknowledgements += 1;
            check_copied(&copied[dac], &stream);
        }
    }
    counts.recognized += stream.recognized;
    counts.again += stream.again;
    counts.messages += stream.messages.len() as u64;
    (stream, last)
}

/// Nothing is called copied before the stream has it, or a loss of it.
fn check_copied(copied: &Copied, stream: &Stream) {
    let there: BTreeSet<u64> = stream.numbers().collect();
    let lost: Vec<Lost> =
        stream.messages.iter().flat_map(|message| Copy::decode(message).unwrap().head.lost).collect();
    let is_declared = |number| lost.iter().any(|Lost(first, last, _)| (*first..=*last).contains(&number));
    for number in 1..=copied.copied().0 {
        assert!(there.contains(&number) || is_declared(number), "{number} is called copied, and is not");
    }
}

/// Copies with batches, in order.
fn sorted(stream: &Stream) -> Vec<Copy> {
    let (mut sorter, mut sorted) = (Sorter::new(SORTED), Vec::new());
    for message in &stream.messages {
        let copy = Copy::decode(message).unwrap();
        let Some(first) = copy.first_sequence() else { continue };
        let key = (copy.head.node.clone(), copy.head.instance.clone(), copy.head.run, first);
        let bytes = copy.batch.len();
        sorter.add(key, copy, bytes, &mut sorted);
    }
    sorted.extend(sorter.finish());
    sorted
}

/// Imports copies into an empty archive. Returns the sequence numbers that it has then, in its order.
fn import(copies: &[Copy], probe_type: &ProbeType) -> (Vec<u64>, ImportTotals) {
    let folder = tempfile::tempdir().unwrap();
    let directory = folder.path().display().to_string();
    let open = || {
        oasis_store::open(ArchiveConfig { directory: directory.clone(), ..ArchiveConfig::default() }).unwrap()
    };
    let mut import = Import::begin(open()).unwrap();
    for Copy { head, batch } in copies {
        let series = Series {
            node: head.node.clone(),
            instance: head.instance.clone(),
            kind: head.kind,
            run: head.run,
            epoch: Epoch(0),
            probe_type: Arc::new(probe_type.clone()),
        };
        import.add(&series, batch).unwrap();
    }
    let totals = import.finish().unwrap();
    let store = open().store;
    let mut numbers = Vec::new();
    for extent in store.extents("plant", "beat", 0).unwrap() {
        for entry in store.entries(&extent, extent.first, usize::MAX).unwrap() {
            numbers.extend(entry.last_sequence + 1 - u64::from(entry.count)..=entry.last_sequence);
        }
    }
    (numbers, totals)
}

/// Checks the numbers that a reader has taken.
fn judge(taken: &[u64], last: u64) -> Result<(), String> {
    for pair in taken.windows(2) {
        match pair {
            [before, number] if before == number => return Err(format!("{number} is taken twice")),
            [before, number] if before > number => return Err(format!("{number} comes after {before}")),
            _ => {}
        }
    }
    match (1..=last).find(|number| !taken.contains(number)) {
        Some(number) => Err(format!("{number} is missing")),
        None => Ok(()),
    }
}

/// A reader that takes whatever the stream has: JetStream has recognized what came again.
fn trust_the_id(seed: u64, longest_pause: u64) -> Result<(), String> {
    let (stream, last) = copy(seed, 1, longest_pause, &mut Counts::default());
    let taken: Vec<u64> = sorted(&stream).iter().flat_map(numbers).collect();
    judge(&taken, last)
}

#[test]
fn a_sample_is_taken_once_however_late_its_copy_comes_again() {
    let mut counts = Counts::default();
    for seed in 0..SEEDS {
        let (stream, last) = copy(seed, 2, 3 * WINDOW, &mut counts);
        let beat = Copied::new(Config::default()).beat;
        let (taken, totals) = import(&sorted(&stream), &beat);
        judge(&taken, last).unwrap_or_else(|wrong| panic!("seed {seed}: {wrong}"));
        assert_eq!(totals.samples, last, "seed {seed}");
        counts.samples += last;
        counts.known += totals.known;
    }
    println!("{SEEDS} seeds: {counts}");
    assert!(counts.recognized > 0 && counts.again > 0 && counts.known > 0, "{counts}");
}

#[test]
fn the_mutant_that_trusts_the_msg_id_beyond_its_two_minutes_is_found() {
    for seed in 0..SEEDS {
        // Within the window it is right: nothing else reveals it.
        assert_eq!(trust_the_id(seed, WINDOW / 20), Ok(()), "seed {seed}");
    }
    let found = (0..SEEDS).find_map(|seed| Some((seed, trust_the_id(seed, 3 * WINDOW).err()?)));
    let (seed, wrong) = found.expect("a reader that trusts the id takes samples twice");
    println!("mutant Msg-Id trusted beyond its two minutes: found after {} seeds: {wrong}", seed + 1);
}

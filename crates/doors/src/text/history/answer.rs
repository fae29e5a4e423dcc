//! The past as an Arrow stream, for pandas, polars and DuckDB: samples of the archive, or without one of the topic logs, up to now.
//!
//! A thread that may block produces the stream. It keeps one piece for a slow client.

use super::{STALL, query::Request};
use crate::{Doors, past::times::Begin, places::Place, problem::Problem};
use axum::{
    body::Body,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use oasis_dac::{CommandError, HeldMemory};
use oasis_format::{
    Source, WriteError,
    arrow::{MEDIA_TYPE, Stream},
};
use oasis_handler::InstanceLog;
use oasis_history::{Batch, NextStep, Piece, Reader, Start};
use oasis_store::Series;
use oasis_wire::{
    batch::{self, Header},
    quantity::Offset,
    schema::ProbeType,
};
use std::{
    io::{self, Write},
    sync::Arc,
};
use tokio::{runtime::Handle, sync::mpsc};

/// Bytes of batches read at once.
const READ: usize = 1024 * 1024;
/// Bytes that are sent at once.
const PART: usize = 64 * 1024;
/// Bytes of values in one record batch.
const RECORD_BATCH: usize = 1024 * 1024;
/// Memory of an answer: batches that were read, a record batch while it grows and while it is encoded, and parts.
const RESERVED: usize = 4 * READ;

/// Answers with all samples of a time.
pub async fn answer(doors: Doors, request: Request, place: Place) -> Result<Response, Problem> {
    // Includes samples up to now. Samples that cannot be stored will not be found.
    doors.archived.flush().await;
    let turn = doors.archived.turn().await;
    let memory = AnswerMemory::reserve(&doors)?;
    let (to, mut from) = mpsc::channel(1);
    let handle = Handle::current();
    tokio::task::spawn_blocking(move || {
        let out = Parts { to: to.clone(), handle, held: Vec::with_capacity(PART) };
        if let Err(error) = write(&doors, &request, out, memory) {
            // Fails only if the client is gone.
            let _ = to.blocking_send(Err(error));
        }
        drop((turn, place));
    });
    // The first part shows whether there are samples.
    let first = match from.recv().await {
        Some(Ok(part)) => part,
        Some(Err(Failure::Problem(problem))) => return Err(*problem),
        Some(Err(Failure::Write(error))) => return Err(failed(&error.to_string())),
        None => return Err(failed("it ended before it began")),
    };
    let parts = futures_util::stream::unfold((Some(first), from), |(first, mut from)| async move {
        let part = match first {
            Some(first) => Ok(first),
            // An answer that breaks off is no whole stream: the client is not left to believe that this is all.
            None => from.recv().await?.map_err(|_| io::Error::other("the past cannot be read to its end")),
        };
        Some((part, (None, from)))
    });
    let headers = [(header::CONTENT_TYPE, MEDIA_TYPE), (header::CACHE_CONTROL, "no-store")];
    Ok((headers, Body::from_stream(parts)).into_response())
}

fn failed(detail: &str) -> Problem {
    Problem::new(
        StatusCode::INTERNAL_SERVER_ERROR,
        "archive_error",
        format!("the past cannot be read: {detail}"),
    )
}

/// Why a stream is not whole.
enum Failure {
    Problem(Box<Problem>),
    Write(WriteError),
}

impl From<WriteError> for Failure {
    fn from(error: WriteError) -> Self {
        Self::Write(error)
    }
}

impl From<Problem> for Failure {
    fn from(problem: Problem) -> Self {
        Self::Problem(Box::new(problem))
    }
}

/// The memory that an answer holds for a client that may be slow: part of the share of unread answers in `memory_bytes`.
struct AnswerMemory(HeldMemory);

impl AnswerMemory {
    /// Reserves what every answer needs.
    fn reserve(doors: &Doors) -> Result<Self, Problem> {
        let mut memory = Self(doors.dac.answers.hold());
        memory.need(doors, 0)?;
        Ok(memory)
    }

    /// Holds so many bytes besides.
    fn need(&mut self, doors: &Doors, more: usize) -> Result<(), Problem> {
        if self.0.set(RESERVED.saturating_add(more)) {
            return Ok(());
        }
        doors.admission.count_refused("memory_limit");
        let detail = "answers that clients have not read exceed their share of memory_bytes: try again later";
        Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, "memory_limit", detail))
    }
}

/// Returns about how much memory the values of a batch take once they are decoded: constant columns have few bytes.
fn decoded_bytes(bytes: &[u8], metrics: usize) -> usize {
    let samples = Header::parse(bytes).map_or(0, |head| usize::from(head.count));
    (metrics + 1) * samples * size_of::<u64>() + bytes.len()
}

fn write(doors: &Doors, request: &Request, out: Parts, memory: AnswerMemory) -> Result<(), Failure> {
    known(doors, request)?;
    let mut table = Table { out: Some(out), stream: None, memory };
    for (node, instance) in &request.topics {
        let topic = (node.as_str(), instance.as_str());
        table.add_topic(doors, request, topic)?;
    }
    match table.stream {
        Some((_, stream)) => drop(stream.finish()?),
        None => {
            let detail = "there is no sample of these instances and that time";
            return Err(Problem::new(StatusCode::NOT_FOUND, "no_samples", detail).into());
        }
    }
    Ok(())
}

/// Refuses instances that neither the DAC nor its archive knows.
fn known(doors: &Doors, request: &Request) -> Result<(), Problem> {
    let is_here = |(node, name): &&(String, String)| doors.dac.registry.find(node, name).is_some();
    let mut others = request.topics.iter().filter(|topic| !is_here(topic)).peekable();
    let stored = match (&doors.archived.archive, others.peek()) {
        (Some(archive), Some(_)) => {
            archive.history().instances().map_err(|error| failed(&error.to_string()))?
        }
        _ => Vec::new(),
    };
    match others.find(|topic| !stored.contains(topic)) {
        Some((node, instance)) => {
            Err(CommandError::UnknownInstance { node: node.clone(), instance: instance.clone() }.into())
        }
        None => Ok(()),
    }
}

/// The samples of a request, as a table of one type.
struct Table {
    out: Option<Parts>,
    stream: Option<(Arc<ProbeType>, Stream<Parts>)>,
    memory: AnswerMemory,
}

impl Table {
    /// Adds the samples of a topic: those of the archive, then newer ones of the topic log, up to now.
    fn add_topic(&mut self, doors: &Doors, request: &Request, names: (&str, &str)) -> Result<(), Failure> {
        let (node, name) = names;
        let instance = doors.dac.registry.find(node, name);
        let end = instance.as_ref().map(|instance| (instance.log.epoch(), instance.log.next()));
        let reader = Reader::new(node, name, Start::Time(first_time(request)))
            .with_archive(doors.archived.history())
            .until(request.times.until);
        let mut reader = match instance {
            Some(instance) => reader.with_log(Arc::new(InstanceLog(instance))),
            None => reader,
        };
        loop {
            let read = reader.read(READ).map_err(|error| failed(&error.to_string()))?;
            let is_over = read.pieces.is_empty() && !matches!(read.then, NextStep::More | NextStep::Flush);
            for (piece, after) in read.pieces {
                // Gaps are missing sequence numbers here.
                if let Piece::Samples(batch) = piece {
                    self.add(doors, &batch)?;
                }
                // Samples that arrive while the table is sent are not part of it.
                if end.is_some_and(|(epoch, next)| after.epoch == epoch && after.offset >= next) {
                    return Ok(());
                }
            }
            if is_over {
                return Ok(());
            }
        }
    }

    fn add(&mut self, doors: &Doors, batch: &Batch) -> Result<(), Failure> {
        let Batch { series, bytes, wanted, .. } = batch;
        self.memory.need(doors, decoded_bytes(bytes, series.probe_type.metrics.len()))?;
        // Batches that do not match their schema are counted by readers of the other doors; here they are a gap.
        let Ok(batch) = batch::Batch::parse(bytes, &series.probe_type) else { return Ok(()) };
        let Series { node, instance, kind, run, epoch, probe_type } = Series::clone(series);
        let source = Source { node, instance, kind, run, epoch, probe_type };
        for sample in batch.samples().filter(|sample| wanted.contains(&Offset(sample.offset))) {
            self.stream_of(series)?.push(&source, batch.header().state, &sample)?;
        }
        Ok(())
    }

    fn stream_of(&mut self, series: &Series) -> Result<&mut Stream<Parts>, Failure> {
        if let Some(out) = self.out.take() {
            self.stream =
                Some((series.probe_type.clone(), Stream::limited(out, &series.probe_type, RECORD_BATCH)?));
        }
        let of = &series.probe_type;
        match self.stream.as_mut().filter(|(known, _)| **known == **of) {
            Some((_, stream)) => Ok(stream),
            None => {
                let detail = format!(
                    "a table has the columns of one probe type, and some of these are {} {}: ask for each by itself",
                    of.name, of.version
                );
                Err(Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "several_types", detail).into())
            }
        }
    }
}

fn first_time(request: &Request) -> u64 {
    if let Begin::Time(time) = request.times.from { time } else { 0 }
}

/// Sends what is written in parts.
struct Parts {
    to: mpsc::Sender<Result<Bytes, Failure>>,
    handle: Handle,
    held: Vec<u8>,
}

impl Parts {
    fn send(&mut self) -> io::Result<()> {
        if self.held.is_empty() {
            return Ok(());
        }
        let part = Ok(Bytes::from(std::mem::take(&mut self.held)));
        let sent = self.handle.block_on(async { tokio::time::timeout(STALL, self.to.send(part)).await });
        match sent {
            Ok(Ok(())) => Ok(()),
            _ => Err(io::Error::new(io::ErrorKind::BrokenPipe, "the client takes nothing any more")),
        }
    }
}

impl Write for Parts {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = bytes.len().min(PART - self.held.len().min(PART));
        self.held.extend_from_slice(&bytes[..taken]);
        if self.held.len() >= PART {
            self.send()?;
        }
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.send()
    }
}

//! An answer that grows while its client reads.

use super::{
    file::{self, Form},
    memory::AnswerMemory,
    samples::{Item, Samples},
};
use crate::{
    Doors,
    places::DoorPermit,
    text::{STALL, query::Request},
};
use axum::{
    body::Body,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use oasis_dac::CommandError;
use oasis_format::{Gap, Source, WriteError};
use oasis_http::Problem;
use oasis_store::Missing;
use oasis_wire::schema::ProbeType;
use std::{
    io::{self, Write},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};
use tokio::{runtime::Handle, sync::mpsc};

/// Bytes that are sent at once.
const CHUNK_BYTES: usize = 64 * 1024;

/// Answers with all samples of a time.
///
/// # Errors
/// If nothing can be answered. An answer that fails later breaks off.
pub async fn answer(
    doors: Doors,
    request: Request,
    place: DoorPermit,
    form: Form,
) -> Result<Response, Problem> {
    if request.topics.len() > form.most_instances() {
        return Err(too_many(form));
    }
    // Includes samples up to now. Samples that cannot be stored will not be found.
    doors.archived.flush().await;
    let turn = doors.archived.turn().await;
    let memory = AnswerMemory::reserve(&doors, form.reserved())?;
    let (to, mut from) = mpsc::channel(1);
    let handle = Handle::current();
    tokio::task::spawn_blocking(move || {
        let out =
            Parts { to: to.clone(), handle, held: Vec::with_capacity(CHUNK_BYTES), sent: Arc::default() };
        if let Err(error) = write(&doors, &request, form, out, memory) {
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
            // An answer that breaks off is no whole file: the client is not left to believe that this is all.
            None => from.recv().await?.map_err(|_| io::Error::other("the past cannot be read to its end")),
        };
        Some((part, (None, from)))
    });
    let headers = [(header::CONTENT_TYPE, form.media_type()), (header::CACHE_CONTROL, "no-store")];
    Ok((headers, Body::from_stream(parts)).into_response())
}

/// The past cannot be read.
pub fn failed(detail: &str) -> Problem {
    Problem::new(
        StatusCode::INTERNAL_SERVER_ERROR,
        "archive_error",
        format!("the past cannot be read: {detail}"),
    )
}

fn too_many(form: Form) -> Problem {
    let detail = format!(
        "a file in the order of time has at most {} instances: ask for fewer, or use oasis export --format {}",
        form.most_instances(),
        form.name()
    );
    Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "too_many_instances", detail)
}

/// Why a file is not whole.
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

fn write(
    doors: &Doors,
    request: &Request,
    form: Form,
    out: Parts,
    mut memory: AnswerMemory,
) -> Result<(), Failure> {
    known(doors, request)?;
    let sent = out.sent.clone();
    let mut out = Some(out);
    let mut file = None;
    let mut samples = Samples::new(doors, request, form.order());
    while let Some(item) = samples.next(&mut memory)? {
        let (Item::Sample(source, ..) | Item::Missing(source, ..)) = &item;
        let of = source.probe_type.clone();
        if let Some(out) = out.take() {
            file = Some(file::begin(form, out, &of)?);
        }
        let Some(file) = &mut file else { continue };
        match item {
            Item::Sample(source, state, sample) => {
                file.sample(&source, state, &sample).map_err(|error| refused(error, &of))?;
            }
            Item::Missing(source, missing, time) => file.gap(&gap(&source, &missing, time))?,
        }
        memory.index(doors, file.index_bytes(sent.load(Ordering::Relaxed)))?;
    }
    match file {
        Some(file) => Ok(file.finish()?),
        None => {
            let detail = "there is no sample of these instances and that time";
            Err(Problem::new(StatusCode::NOT_FOUND, "no_samples", detail).into())
        }
    }
}

fn refused(error: WriteError, of: &ProbeType) -> Failure {
    if !matches!(error, WriteError::SeveralTypes(..)) {
        return error.into();
    }
    let detail = format!(
        "a table has the columns of one probe type, and some of these are {} {}: ask for each by itself",
        of.name, of.version
    );
    Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "several_types", detail).into()
}

fn gap<'a>(source: &'a Source, missing: &'a Missing, time: u64) -> Gap<'a> {
    let Missing { run, count, cause, numbers } = missing;
    Gap {
        node: &source.node,
        instance: &source.instance,
        run: *run,
        count: *count,
        numbers: numbers.clone(),
        cause: *cause,
        time,
    }
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

/// Sends what is written in parts.
struct Parts {
    to: mpsc::Sender<Result<Bytes, Failure>>,
    handle: Handle,
    held: Vec<u8>,
    /// Bytes that were sent.
    sent: Arc<AtomicUsize>,
}

impl Parts {
    fn send(&mut self) -> io::Result<()> {
        if self.held.is_empty() {
            return Ok(());
        }
        self.sent.fetch_add(self.held.len(), Ordering::Relaxed);
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
        let taken = bytes.len().min(CHUNK_BYTES - self.held.len().min(CHUNK_BYTES));
        self.held.extend_from_slice(&bytes[..taken]);
        if self.held.len() >= CHUNK_BYTES {
            self.send()?;
        }
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.send()
    }
}

//! Nodes and probes.
//!
//! The collector thread of a node locks the interpreter when it calls a periodic probe. So no thread may keep the
//! lock while it waits for the collector.

use crate::schema;
use oasis_ei_node::{NodeSettings, SettingsError};
use oasis_probe::{
    Deadbands, Failure, FlightRecorder, Hertz, Importance, NodeError, Overflow, ProbeState, PushedKind,
    RingConfig, RowProbe, RowWriter, TriggerError, now_ns, process,
};
use pyo3::{
    create_exception,
    exceptions::{PyConnectionRefusedError, PyOSError, PyRuntimeError, PyValueError},
    prelude::*,
    pybacked::PyBackedBytes,
};
use std::{
    collections::BTreeMap,
    fmt::Display,
    io, mem,
    path::PathBuf,
    sync::{Mutex, PoisonError},
    time::Duration,
};

create_exception!(
    oasis._native,
    ForkedError,
    PyRuntimeError,
    "The process was forked after its node had started, and has none of its threads."
);

/// A node that has not started yet; empty afterwards.
#[pyclass]
pub struct NodeBuilder {
    node: Exclusive<Option<oasis_probe::NodeBuilder>>,
    settings: NodeSettings,
}

/// The application's side of a pushed probe.
#[pyclass]
pub struct PushedProbe(Exclusive<RowProbe>);

/// A running node; empty after shutdown.
#[pyclass]
pub struct Node(Option<oasis_probe::Node>);

/// A value that one thread uses at a time. The interpreter ensures that, but Rust requires a proof: a mutex without
/// contention.
struct Exclusive<T>(Mutex<T>);

impl<T> Exclusive<T> {
    fn new(thing: T) -> Self {
        Self(Mutex::new(thing))
    }

    fn get(&mut self) -> &mut T {
        self.0.get_mut().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl NodeBuilder {
    /// Without a name or a file, the environment names the file; without that, the defaults apply. A node has `default_name` if they
    /// name none, and with a process number if another node has that. `child` is for a process that inherits all of these.
    #[new]
    #[pyo3(signature = (name = None, config = None, tem = None, dac_name = None, default_name = None, child = false))]
    fn new(
        name: Option<String>,
        config: Option<PathBuf>,
        tem: Option<&str>,
        dac_name: Option<&str>,
        default_name: Option<String>,
        child: bool,
    ) -> PyResult<Self> {
        let mut settings = match (&name, &config) {
            (Some(_), None) => NodeSettings::default(),
            _ => NodeSettings::load(config.as_deref()).map_err(misconfigured)?,
        };
        settings.name = name.unwrap_or(settings.name);
        let default_name = default_name.filter(|_| settings.name.is_empty());
        let is_default = default_name.is_some();
        settings.name = default_name.unwrap_or(settings.name);
        if child {
            settings = settings.in_child();
        }
        if let Some(addresses) = tem {
            settings = settings.with_tem(addresses).map_err(misconfigured)?;
        }
        if let Some(name) = dac_name {
            settings = settings.with_dac_name(name).map_err(misconfigured)?;
        }
        let mut node = settings.builder(oasis_ei_node::PROBES).map_err(misconfigured)?;
        if is_default && !child {
            node.second_name(process::name_in_child(&settings.name));
        }
        Ok(Self { node: Exclusive::new(Some(node)), settings })
    }

    /// `overflow` is `drop-newest`, `drop-oldest`, or the seconds to wait.
    fn pushed(
        &mut self,
        instance: &str,
        schema: &str,
        kind: Kind,
        ring_bytes: usize,
        overflow: Policy,
    ) -> PyResult<PushedProbe> {
        let (probe_type, kind) = (self::schema(schema)?, kind.try_into()?);
        let ring = RingConfig { bytes: ring_bytes, overflow: overflow.try_into()? };
        let rows = self.builder()?.pushed_rows(instance, probe_type, kind, ring).map_err(refused)?;
        Ok(PushedProbe::of(rows))
    }

    fn periodic(&mut self, instance: &str, schema: &str, hertz: f64, sample: Py<PyAny>) -> PyResult<()> {
        let hertz = Hertz::new(hertz).map_err(|error| PyValueError::new_err(error.to_string()))?;
        let probe_type = self::schema(schema)?;
        let call = move |row: &mut RowWriter<'_>| {
            // The interpreter is shutting down: take no sample.
            let called = Python::try_attach(|py| -> PyResult<PyBackedBytes> {
                Ok(sample.call0(py)?.extract::<PyBackedBytes>(py)?)
            });
            match called {
                Some(Ok(packed)) => {
                    row.packed(&packed);
                    Ok(ProbeState::NORMAL)
                }
                Some(Err(error)) => Err(io::Error::other(error.to_string())),
                None => Err(io::Error::other("the interpreter is shutting down")),
            }
        };
        self.builder()?.periodic_rows(instance, probe_type, hertz, None, call).map(drop).map_err(refused)
    }

    fn record(
        &mut self,
        instance: &str,
        before: f64,
        after: f64,
        memory_bytes: usize,
        triggers: Vec<String>,
    ) -> PyResult<()> {
        let invalid = |error: &dyn Display| PyValueError::new_err(error.to_string());
        let seconds = |seconds| Duration::try_from_secs_f64(seconds).map_err(|error| invalid(&error));
        let parsed = |text: &String| text.parse().map_err(|error: TriggerError| invalid(&error));
        let triggers = triggers.iter().map(parsed).collect::<PyResult<_>>()?;
        let recorder = FlightRecorder {
            before: seconds(before)?,
            after: seconds(after)?,
            bytes: memory_bytes,
            triggers,
        };
        self.builder()?.record(instance, &recorder).map(drop).map_err(refused)
    }

    fn importance(&mut self, instance: &str, importance: u8) -> PyResult<()> {
        self.builder()?.importance(instance, Importance(importance)).map(drop).map_err(refused)
    }

    /// `on_refusal` is called by a thread of the node, with the node's name and the reason.
    #[pyo3(signature = (dac = None, on_refusal = None))]
    fn start(&mut self, dac: Option<&str>, on_refusal: Option<Py<PyAny>>) -> PyResult<Node> {
        let mut builder = self.node.get().take().ok_or_else(started)?;
        if let Some(report) = on_refusal {
            let name = self.settings.name();
            builder.on_refusal(move |refusal| call_report(&report, &name, refusal));
        }
        let connector = dac.map_or_else(|| self.settings.connector(), |dac| self.settings.connector_to(dac));
        builder.start(connector).map(|node| Node(Some(node))).map_err(refused)
    }
}

impl NodeBuilder {
    /// Adds a logger or spans, which register their own probe.
    pub fn add<T>(
        &mut self,
        add: impl FnOnce(&mut oasis_probe::NodeBuilder) -> Result<T, NodeError>,
    ) -> PyResult<T> {
        add(self.builder()?).map_err(refused)
    }

    fn builder(&mut self) -> PyResult<&mut oasis_probe::NodeBuilder> {
        self.node.get().as_mut().ok_or_else(started)
    }
}

/// A name, or the deadbands of a probe on change.
#[derive(FromPyObject)]
enum Kind {
    Named(String),
    OnChange(BTreeMap<String, f64>),
}

/// A name, or seconds.
#[derive(FromPyObject)]
enum Policy {
    Named(String),
    Block(f64),
}

impl TryFrom<Kind> for PushedKind {
    type Error = PyErr;

    fn try_from(kind: Kind) -> PyResult<Self> {
        match kind {
            Kind::Named(name) if name == "pushed" => Ok(Self::Pushed),
            Kind::Named(name) if name == "event" => Ok(Self::Event),
            Kind::Named(name) => Err(PyValueError::new_err(format!("unknown kind of pushed probe {name:?}"))),
            Kind::OnChange(deadbands) => {
                let with = |all: Deadbands, (metric, deadband): (String, f64)| all.with(metric, deadband);
                Ok(Self::OnChange(deadbands.into_iter().fold(Deadbands::any_change(), with)))
            }
        }
    }
}

impl TryFrom<Policy> for Overflow {
    type Error = PyErr;

    fn try_from(policy: Policy) -> PyResult<Self> {
        match policy {
            Policy::Named(name) if name == "drop-newest" => Ok(Self::DropNewest),
            Policy::Named(name) if name == "drop-oldest" => Ok(Self::DropOldest),
            Policy::Named(name) => Err(PyValueError::new_err(format!(
                "invalid overflow {name:?}: use drop-newest, drop-oldest, or the seconds to wait"
            ))),
            Policy::Block(seconds) => Duration::try_from_secs_f64(seconds)
                .map(Self::Block)
                .map_err(|error| PyValueError::new_err(format!("invalid overflow of {seconds} s: {error}"))),
        }
    }
}

impl PushedProbe {
    fn of(rows: RowProbe) -> Self {
        Self(Exclusive::new(rows))
    }

    /// Returns the probe unless its node is one of the parent process.
    fn usable(&mut self) -> PyResult<&mut RowProbe> {
        let probe = self.0.get();
        if probe.is_forked() { Err(forked()) } else { Ok(probe) }
    }
}

#[pymethods]
impl PushedProbe {
    fn set_state(&mut self, state: u16) {
        self.0.get().set_state(ProbeState(state));
    }

    /// Returns whether the ring had room.
    #[pyo3(signature = (row, time = None))]
    fn flush(&mut self, py: Python<'_>, row: PyBackedBytes, time: Option<u64>) -> PyResult<bool> {
        let probe = self.usable()?;
        let time = time.unwrap_or_else(now_ns);
        if !probe.may_wait() {
            return Ok(probe.flush_at(time, |to| to.packed(&row)));
        }
        // The node may need the interpreter to make room.
        let row: &[u8] = &row;
        Ok(py.detach(|| probe.flush_at(time, |to| to.packed(row))))
    }

    /// Returns whether the node was shut down: then no sample is taken.
    fn has_ended(&mut self) -> bool {
        self.0.get().has_ended()
    }

    /// Returns the most bytes of a row.
    fn max_row_bytes(&mut self) -> usize {
        self.0.get().max_row_bytes()
    }

    /// Flushes consecutive rows of `width` bytes. `times` has 8 bytes for each row, little-endian; if it is empty,
    /// the time is now. Returns how many rows found room.
    #[pyo3(signature = (rows, count, times = None))]
    fn flush_rows(
        &mut self,
        py: Python<'_>,
        rows: PyBackedBytes,
        count: usize,
        times: Option<PyBackedBytes>,
    ) -> PyResult<usize> {
        let width = rows.len().checked_div(count).unwrap_or(0);
        let times = times.as_deref().map(|times| times.as_chunks::<8>().0);
        if width * count != rows.len() || times.is_some_and(|times| times.len() != count) {
            return Err(PyValueError::new_err("lengths of rows and times do not match"));
        }
        let now = now_ns();
        let (probe, rows) = (self.usable()?, &rows[..]);
        let flush = |index: &usize| {
            let time = times.map_or(now, |times| u64::from_le_bytes(times[*index]));
            probe.flush_at(time, |to| to.packed(&rows[index * width..][..width]))
        };
        Ok(py.detach(|| (0..count).filter(flush).count()))
    }
}

#[pymethods]
impl Node {
    /// As [`NodeBuilder::pushed`], while the node runs.
    fn pushed(
        &self,
        instance: &str,
        schema: &str,
        kind: Kind,
        ring_bytes: usize,
        overflow: Policy,
    ) -> PyResult<PushedProbe> {
        let node = self.0.as_ref().ok_or_else(|| PyRuntimeError::new_err("the node was shut down"))?;
        let (probe_type, kind) = (self::schema(schema)?, kind.try_into()?);
        let ring = RingConfig { bytes: ring_bytes, overflow: overflow.try_into()? };
        // The call waits for no other thread but one that adds a probe, and that takes no lock of the interpreter.
        node.pushed_rows(instance, probe_type, kind, ring).map(PushedProbe::of).map_err(refused)
    }

    /// Returns whether the node is one of the parent process.
    fn is_forked(&self) -> bool {
        self.0.as_ref().is_some_and(oasis_probe::Node::is_forked)
    }

    /// Does nothing with a node of the parent process: it has no samples of this one.
    fn shutdown(&mut self, py: Python<'_>) -> PyResult<()> {
        let Some(node) = self.0.take() else { return Ok(()) };
        if node.is_forked() {
            return Ok(());
        }
        match py.detach(|| node.shutdown()) {
            None => Ok(()),
            Some(refusal) => {
                let message = format!("the DAC refuses this node: {refusal}");
                Err(PyConnectionRefusedError::new_err(message))
            }
        }
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        let Some(node) = self.0.take() else { return };
        // Without an interpreter a running probe callback would wait for its lock forever, so shutdown must not wait
        // for it.
        let mut node = Some(node);
        let ended = Python::try_attach(|py| {
            let node = node.take();
            py.detach(|| drop(node));
        });
        if ended.is_none() {
            mem::forget(node);
        }
    }
}

/// Returns the node's clock, in nanoseconds since 1970-01-01 UTC.
#[pyfunction]
pub fn now() -> u64 {
    now_ns()
}

/// Reports a refusal to the program. Without an interpreter there is no program left.
fn call_report(report: &Py<PyAny>, name: &str, refusal: &Failure) {
    Python::try_attach(|py| {
        if let Err(error) = report.call1(py, (name, refusal.to_string())) {
            error.write_unraisable(py, None);
        }
    });
}

/// The error of a call in a child of the node's process.
pub fn forked() -> PyErr {
    ForkedError::new_err(process::forked().message)
}

/// Calls `finish` when SIGTERM or SIGHUP arrives, and then ends the process by it, unless the program handles or ignores
/// that signal.
#[pyfunction]
pub fn at_termination(finish: Py<PyAny>) -> PyResult<bool> {
    let finish = move || {
        Python::try_attach(|py| {
            if let Err(error) = finish.call0(py) {
                error.write_unraisable(py, None);
            }
        });
    };
    process::at_termination(finish).map_err(|error| PyOSError::new_err(error.to_string()))
}

/// Lets these signals end the process at once again; waits for the end if one has arrived.
#[pyfunction]
pub fn end_at_once(py: Python<'_>) {
    py.detach(process::end_at_once);
}

fn started() -> PyErr {
    PyRuntimeError::new_err("the node was started before: a builder makes only one node")
}

fn misconfigured(error: SettingsError) -> PyErr {
    match error {
        SettingsError::File { .. } => PyOSError::new_err(error.to_string()),
        error => PyValueError::new_err(error.to_string()),
    }
}

fn refused(error: NodeError) -> PyErr {
    match error {
        NodeError::Forked(_) => forked(),
        error @ (NodeError::Thread(_) | NodeError::Spool(_)) => PyOSError::new_err(error.to_string()),
        error => PyValueError::new_err(error.to_string()),
    }
}

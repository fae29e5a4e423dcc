//! Nodes and probes.
//!
//! The collector thread of a node takes the interpreter's lock when it calls a periodic probe, so nobody may hold the lock while waiting for that thread.

use crate::schema;
use oasis_probe::{Hertz, NodeError, ProbeState, PushedKind, RowProbe, RowWriter, TcpConnector, now_ns};
use oasis_probes::{NodeSettings, SettingsError};
use pyo3::{
    exceptions::{PyOSError, PyRuntimeError, PyValueError},
    prelude::*,
    pybacked::PyBackedBytes,
};
use std::{
    io, mem,
    path::PathBuf,
    sync::{Mutex, PoisonError},
};

/// A node that has not started yet; empty once it has.
#[pyclass]
pub struct NodeBuilder {
    node: Exclusive<Option<oasis_probe::NodeBuilder>>,
    /// The DAC as the settings say.
    dac: String,
}

/// The application's side of a pushed probe.
#[pyclass]
pub struct PushedProbe(Exclusive<RowProbe>);

/// A running node; empty once it was shut down.
#[pyclass]
pub struct Node(Option<oasis_probe::Node>);

/// What one thread uses at a time. The interpreter sees to that and wants to be told: a mutex that is never locked.
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
    /// With neither name nor file the environment says which file, or the defaults count.
    #[new]
    #[pyo3(signature = (name = None, config = None))]
    fn new(name: Option<String>, config: Option<PathBuf>) -> PyResult<Self> {
        let mut settings = match (&name, &config) {
            (Some(_), None) => NodeSettings::default(),
            _ => NodeSettings::load(config.as_deref()).map_err(misconfigured)?,
        };
        settings.name = name.unwrap_or(settings.name);
        let node = settings.builder().map_err(misconfigured)?;
        Ok(Self { node: Exclusive::new(Some(node)), dac: settings.dac })
    }

    fn pushed(&mut self, instance: &str, schema: &str, ring_bytes: usize) -> PyResult<PushedProbe> {
        let probe_type = self::schema(schema)?;
        let rows = self
            .builder()?
            .pushed_rows(instance, probe_type, PushedKind::Pushed, ring_bytes)
            .map_err(refused)?;
        Ok(PushedProbe(Exclusive::new(rows)))
    }

    fn periodic(&mut self, instance: &str, schema: &str, hertz: f64, sample: Py<PyAny>) -> PyResult<()> {
        let hertz = Hertz::new(hertz).map_err(|error| PyValueError::new_err(error.to_string()))?;
        let probe_type = self::schema(schema)?;
        let call = move |row: &mut RowWriter<'_>| {
            // No interpreter, no sample: it is ending.
            let called = Python::try_attach(|py| -> PyResult<PyBackedBytes> {
                Ok(sample.call0(py)?.extract::<PyBackedBytes>(py)?)
            });
            match called {
                Some(Ok(packed)) => {
                    row.packed(&packed);
                    Ok(ProbeState::NORMAL)
                }
                Some(Err(error)) => Err(io::Error::other(error.to_string())),
                None => Err(io::Error::other("the interpreter is ending")),
            }
        };
        self.builder()?.periodic_rows(instance, probe_type, hertz, None, call).map(drop).map_err(refused)
    }

    #[pyo3(signature = (dac = None))]
    fn start(&mut self, dac: Option<&str>) -> PyResult<Node> {
        let builder = self.node.get().take().ok_or_else(started)?;
        builder
            .start(TcpConnector::new(dac.unwrap_or(&self.dac)))
            .map(|node| Node(Some(node)))
            .map_err(refused)
    }
}

impl NodeBuilder {
    /// Adds what has a way of its own to be added.
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

#[pymethods]
impl PushedProbe {
    /// Whether the ring had room.
    #[pyo3(signature = (row, time = None))]
    fn flush(&mut self, row: PyBackedBytes, time: Option<u64>) -> bool {
        self.0.get().flush_at(time.unwrap_or_else(now_ns), |to| to.packed(&row))
    }

    /// Flushes rows of `width` bytes that lie one after another, each at its time: `times` has 8 bytes for each, little-endian, or it is now.
    /// Answers how many found room.
    #[pyo3(signature = (rows, count, times = None))]
    fn flush_rows(
        &mut self,
        rows: PyBackedBytes,
        count: usize,
        times: Option<PyBackedBytes>,
    ) -> PyResult<usize> {
        let width = rows.len().checked_div(count).unwrap_or(0);
        let times = times.as_deref().map(|times| times.as_chunks::<8>().0);
        if width * count != rows.len() || times.is_some_and(|times| times.len() != count) {
            return Err(PyValueError::new_err("rows, their number and their times do not fit together"));
        }
        let now = now_ns();
        let probe = self.0.get();
        let flush = |index: &usize| {
            let time = times.map_or(now, |times| u64::from_le_bytes(times[*index]));
            probe.flush_at(time, |to| to.packed(&rows[index * width..][..width]))
        };
        Ok((0..count).filter(flush).count())
    }
}

#[pymethods]
impl Node {
    fn shutdown(&mut self, py: Python<'_>) {
        if let Some(node) = self.0.take() {
            py.detach(|| node.shutdown());
        }
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        let Some(node) = self.0.take() else { return };
        // Without an interpreter a probe that is being called waits for its lock for ever: better not to wait for that.
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

/// The node's clock, in nanoseconds since 1970-01-01 UTC.
#[pyfunction]
pub fn now() -> u64 {
    now_ns()
}

fn started() -> PyErr {
    PyRuntimeError::new_err("the node has started; a builder makes one node")
}

fn misconfigured(error: SettingsError) -> PyErr {
    match error {
        SettingsError::File { .. } => PyOSError::new_err(error.to_string()),
        error => PyValueError::new_err(error.to_string()),
    }
}

fn refused(error: NodeError) -> PyErr {
    match error {
        error @ (NodeError::Thread(_) | NodeError::Spool(_)) => PyOSError::new_err(error.to_string()),
        error => PyValueError::new_err(error.to_string()),
    }
}

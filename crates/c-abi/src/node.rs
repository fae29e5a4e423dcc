//! Nodes: built, started, shut down.

use crate::{
    arguments::{bytes, put, schema, text, thing},
    probe::Probe,
    status::{Problem, Status, answer},
};
use oasis_probe::{Connector, Hertz, NodeConfig, ProbeState, PushedKind, RowWriter, TcpConnector};
use oasis_probes::NodeSettings;
use std::{
    ffi::{c_char, c_int, c_void},
    io,
    path::Path,
};

/// A node that has not started yet.
pub struct NodeBuilder {
    pub node: oasis_probe::NodeBuilder,
    /// As its file says.
    settings: Option<NodeSettings>,
}

/// A running node.
pub struct Node(oasis_probe::Node);

/// The row of one sample, while it is written.
pub struct Row<'a, 'row> {
    writer: &'a mut RowWriter<'row>,
    state: ProbeState,
}

/// Measures for a periodic probe: appends the packed row with oasis_row_append and answers 0, or answers an error number (errno.h)
/// and is called again at the probe's rate. Called by a thread of the node; one call at a time.
pub type Sample = Option<unsafe extern "C" fn(context: *mut c_void, row: *mut Row<'_, '_>) -> c_int>;

/// Frees the context of a periodic probe when its node has ended. Called by whichever thread ends it.
pub type Release = Option<unsafe extern "C" fn(context: *mut c_void)>;

/// Begins a node. `name` is unique among the nodes of a DAC.
///
/// # Safety
/// `name` ends with NUL; `builder` can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oasis_node_builder_new(
    name: *const c_char,
    builder: *mut *mut NodeBuilder,
) -> Status {
    answer(|| {
        // SAFETY: as the caller promises.
        unsafe {
            let name = text(name, "name")?;
            let node = oasis_probe::NodeBuilder::new(name, NodeConfig::default());
            put(builder, NodeBuilder { node, settings: None }, "builder")?;
        }
        Ok(Status::Ok)
    })
}

/// Begins a node as section [node] of a configuration file says (docs/reference/oasis.toml): its name, UUID, DAC, bounds, spool directory, and its
/// ready-made probes. Without a file (null) that of the environment variable OASIS_CONFIG counts, or there are the defaults. OASIS_NODE_NAME,
/// OASIS_NODE_UUID, OASIS_DAC and OASIS_SPOOL_DIRECTORY win over the file.
///
/// # Safety
/// `file` is null or ends with NUL; `builder` can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oasis_node_builder_from_file(
    file: *const c_char,
    builder: *mut *mut NodeBuilder,
) -> Status {
    answer(|| {
        // SAFETY: as the caller promises.
        unsafe {
            let file = if file.is_null() { None } else { Some(Path::new(text(file, "file")?)) };
            let settings = NodeSettings::load(file)?;
            let node = settings.builder()?;
            put(builder, NodeBuilder { node, settings: Some(settings) }, "builder")?;
        }
        Ok(Status::Ok)
    })
}

/// Adds a probe that the application flushes with oasis_probe_flush. Between them lies a ring of `ring_bytes` (1 GiB at most; each sample takes its
/// row, rounded up to eight bytes, and 24 bytes); a sample that finds it full is dropped and counted. `instance` is unique within the node; `schema` is what generated code has.
///
/// # Safety
/// `builder` is from oasis_node_builder_new; the texts end with NUL; `probe` can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oasis_node_builder_pushed(
    builder: *mut NodeBuilder,
    instance: *const c_char,
    schema: *const c_char,
    ring_bytes: usize,
    probe: *mut *mut Probe,
) -> Status {
    answer(|| {
        if probe.is_null() {
            return Err(Problem::Null("probe"));
        }
        // SAFETY: as the caller promises.
        unsafe {
            let builder = thing(builder, "builder")?;
            let (instance, probe_type) = (text(instance, "instance")?, self::schema(schema)?);
            let rows = builder.node.pushed_rows(instance, probe_type, PushedKind::Pushed, ring_bytes)?;
            put(probe, Probe(rows), "probe")?;
        }
        Ok(Status::Ok)
    })
}

/// Adds a probe that the node calls, `hertz` times a second (0.01 to 1,000) until a command says otherwise. `context` is passed to each call;
/// `release`, if it is not null, frees it, also when this call fails.
///
/// # Safety
/// `builder` is from oasis_node_builder_new; the texts end with NUL; `sample` and `release` can be called with `context` from another thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oasis_node_builder_periodic(
    builder: *mut NodeBuilder,
    instance: *const c_char,
    schema: *const c_char,
    hertz: f64,
    sample: Sample,
    context: *mut c_void,
    release: Release,
) -> Status {
    // First of all: it frees the context however this ends.
    let context = Context { context, release };
    answer(|| {
        if sample.is_none() {
            return Err(Problem::Null("sample"));
        }
        let hertz = Hertz::new(hertz).map_err(|error| Problem::Argument(error.to_string()))?;
        // SAFETY: as the caller promises.
        unsafe {
            let builder = thing(builder, "builder")?;
            let (instance, probe_type) = (text(instance, "instance")?, self::schema(schema)?);
            builder
                .node
                .periodic_rows(instance, probe_type, hertz, None, move |row| context.call(sample, row))?;
        }
        Ok(Status::Ok)
    })
}

/// Appends packed values to the row of a sample.
///
/// # Safety
/// `row` is what the callback was given, during the callback; `values` has `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oasis_row_append(row: *mut Row<'_, '_>, values: *const u8, length: usize) -> Status {
    answer(|| {
        // SAFETY: as the caller promises.
        let (row, values) = unsafe { (thing(row, "row")?, bytes(values, length, "values")?) };
        row.writer.packed(values);
        Ok(Status::Ok)
    })
}

/// Says which state the probe is in (docs/guides/choose-a-kind-of-probe.md); without it the sample says 0, normal.
///
/// # Safety
/// `row` is what the callback was given, during the callback.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oasis_row_set_state(row: *mut Row<'_, '_>, state: u16) -> Status {
    answer(|| {
        // SAFETY: as the caller promises.
        unsafe { thing(row, "row")? }.state = ProbeState(state);
        Ok(Status::Ok)
    })
}

/// Starts sampling, and connecting to the data channel of the DAC at `dac`, such as "127.0.0.1:7071", or at the one that the file says if `dac` is null
/// and the builder is from oasis_node_builder_from_file; while it is away the node keeps trying and keeps samples, within bounds. The builder is consumed
/// whatever the answer is.
///
/// # Safety
/// `builder` is from here and not used afterwards; `dac` is null or ends with NUL; `node` can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oasis_node_builder_start(
    builder: *mut NodeBuilder,
    dac: *const c_char,
    node: *mut *mut Node,
) -> Status {
    answer(|| {
        if builder.is_null() {
            return Err(Problem::Null("builder"));
        }
        // SAFETY: made by a Box, and the caller promises to use it no more; the rest as promised.
        unsafe {
            let builder = Box::from_raw(builder);
            let connector: Box<dyn Connector> = match &builder.settings {
                Some(settings) if dac.is_null() => settings.connector(),
                Some(settings) => settings.connector_to(text(dac, "dac")?),
                None => Box::new(TcpConnector::new(text(dac, "dac")?)),
            };
            if node.is_null() {
                return Err(Problem::Null("node"));
            }
            put(node, Node(builder.node.start(connector)?), "node")?;
        }
        Ok(Status::Ok)
    })
}

/// Frees a builder that was not started. Null is ignored.
///
/// # Safety
/// `builder` is from oasis_node_builder_new and not used afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oasis_node_builder_free(builder: *mut NodeBuilder) {
    if !builder.is_null() {
        // SAFETY: made by a Box, and the caller promises to use it no more.
        drop(unsafe { Box::from_raw(builder) });
    }
}

/// Takes the last samples, sends them, waits up to two seconds for the DAC to have them, and frees the node. Null is ignored.
///
/// # Safety
/// `node` is from oasis_node_builder_start and not used afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oasis_node_shutdown(node: *mut Node) {
    answer(|| {
        if !node.is_null() {
            // SAFETY: made by a Box, and the caller promises to use it no more.
            unsafe { Box::from_raw(node) }.0.shutdown();
        }
        Ok(Status::Ok)
    });
}

/// What belongs to a periodic probe of the application.
struct Context {
    context: *mut c_void,
    release: Release,
}

// SAFETY: who adds a periodic probe promises that its context can be used from another thread.
unsafe impl Send for Context {}

impl Context {
    /// # Safety
    /// `sample` can be called with this context.
    unsafe fn call(&self, sample: Sample, row: &mut RowWriter<'_>) -> io::Result<ProbeState> {
        let Some(sample) = sample else { return Ok(ProbeState::NORMAL) };
        let mut row = Row { writer: row, state: ProbeState::NORMAL };
        // SAFETY: as the caller promises.
        match unsafe { sample(self.context, &raw mut row) } {
            0 => Ok(row.state),
            number => Err(io::Error::from_raw_os_error(number)),
        }
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        if let Some(release) = self.release {
            // SAFETY: who adds a periodic probe promises that its context can be released, and it is released once.
            unsafe { release(self.context) };
        }
    }
}

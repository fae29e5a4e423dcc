//! Nodes: create, start, shut down.

use crate::{
    arguments::{bytes, put, schema, text, thing},
    log::report_refusal,
    probe::Probe,
    status::{Problem, Status, answer},
};
use oasis_ei_node::NodeSettings;
use oasis_probe::{Connector, Hertz, NodeConfig, ProbeState, PushedKind, RowWriter, process};
use std::{
    ffi::{c_char, c_int, c_void},
    io,
    path::Path,
};

/// A node that has not started yet.
pub struct NodeBuilder {
    pub node: oasis_probe::NodeBuilder,
    settings: NodeSettings,
    /// Whether the settings say where the DACs are.
    knows_dacs: bool,
}

/// A running node.
pub struct Node(oasis_probe::Node);

/// The row of one sample, while it is being written.
pub struct Row<'a, 'row> {
    writer: &'a mut RowWriter<'row>,
    state: ProbeState,
}

/// Takes a sample of a periodic probe: appends the packed row with oasis_row_append and returns 0. After an error
/// number (errno.h), it is called again at the probe's rate. Called by a thread of the node; one call at a time.
pub type Sample = Option<unsafe extern "C" fn(context: *mut c_void, row: *mut Row<'_, '_>) -> c_int>;

/// Frees the context of a periodic probe after its node has ended. Called by any thread.
pub type Release = Option<unsafe extern "C" fn(context: *mut c_void)>;

/// Creates a builder of a node. `name` is unique among the nodes of a DAC.
///
/// # Safety
/// `name` ends with NUL; `builder` is writable.
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
            let settings = NodeSettings { name: name.into(), ..NodeSettings::default() };
            put(builder, NodeBuilder { node, settings, knows_dacs: false }, "builder")?;
        }
        Ok(Status::Ok)
    })
}

/// Creates a builder with the settings of section [node] of a configuration file (docs/reference/oasis.toml): name,
/// UUID, DAC or TEM, limits, spool directory, and the ready-made probe heartbeat. If `file` is null, the environment
/// variable OASIS_CONFIG names the file; without it the defaults apply. OASIS_NODE_NAME, OASIS_NODE_UUID, OASIS_DAC,
/// OASIS_TEM, OASIS_DAC_NAME, OASIS_CA, OASIS_CERTIFICATE, OASIS_KEY and OASIS_SPOOL_DIRECTORY override the file.
///
/// In a child of a process that had a builder or a node, the name is NAME-PID and the UUID follows from it.
///
/// # Safety
/// `file` is null or ends with NUL; `builder` is writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oasis_node_builder_from_file(
    file: *const c_char,
    builder: *mut *mut NodeBuilder,
) -> Status {
    answer(|| {
        // SAFETY: as the caller promises.
        unsafe {
            let file = if file.is_null() { None } else { Some(Path::new(text(file, "file")?)) };
            let mut settings = NodeSettings::load(file)?;
            if process::is_child() {
                settings = settings.in_child();
            }
            let node = settings.builder(oasis_ei_node::PROBES)?;
            put(builder, NodeBuilder { node, settings, knows_dacs: true }, "builder")?;
        }
        Ok(Status::Ok)
    })
}

/// Lets a TEM name the DACs (docs/guides/name-dacs.md): "http://192.0.2.1:7000", the address of its page, or several with
/// commas between them. `dac_name` is the DAC to connect to first; if it is null, that is the one that has the node, or
/// the first in the TEM's order. Call oasis_node_builder_start with null for `dac` then. The node asks the TEM on a thread
/// of its own, and when it loses its DAC. While no TEM answers, the node keeps the list that it knew last.
///
/// # Safety
/// `builder` is from this library; `tem` ends with NUL; `dac_name` is null or ends with NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oasis_node_builder_tem(
    builder: *mut NodeBuilder,
    tem: *const c_char,
    dac_name: *const c_char,
) -> Status {
    answer(|| {
        // SAFETY: as the caller promises.
        unsafe {
            let builder = thing(builder, "builder")?;
            let mut settings = builder.settings.clone().with_tem(text(tem, "tem")?)?;
            if !dac_name.is_null() {
                settings = settings.with_dac_name(text(dac_name, "dac_name")?)?;
            }
            (builder.settings, builder.knows_dacs) = (settings, true);
        }
        Ok(Status::Ok)
    })
}

/// Adds a probe that the application flushes with oasis_probe_flush. The ring between them has `ring_bytes` (at most
/// 1 GiB; a sample needs its row, rounded up to eight bytes, and 24 bytes). If it is full, the sample is dropped and
/// counted. `instance` is unique within the node; `schema` is the one in generated code.
///
/// # Safety
/// `builder` is from oasis_node_builder_new; the texts end with NUL; `probe` is writable.
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

/// Adds a probe that the node calls `hertz` times a second (0.01 to 1,000) until a command changes the rate.
/// `context` is passed to each call; `release`, if not null, frees it, also if this call fails.
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
    // First, because it frees the context on every path.
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
/// `row` is the argument of the callback, during the callback; `values` has `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oasis_row_append(row: *mut Row<'_, '_>, values: *const u8, length: usize) -> Status {
    answer(|| {
        // SAFETY: as the caller promises.
        let (row, values) = unsafe { (thing(row, "row")?, bytes(values, length, "values")?) };
        row.writer.packed(values);
        Ok(Status::Ok)
    })
}

/// Sets the state of the probe (docs/guides/choose-a-kind-of-probe.md); the default is 0, normal.
///
/// # Safety
/// `row` is the argument of the callback, during the callback.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oasis_row_set_state(row: *mut Row<'_, '_>, state: u16) -> Status {
    answer(|| {
        // SAFETY: as the caller promises.
        unsafe { thing(row, "row")? }.state = ProbeState(state);
        Ok(Status::Ok)
    })
}

/// Starts to sample, and connects to the data channel of the DAC at `dac`, for example "127.0.0.1:7071". With several,
/// "192.0.2.7:7071,192.0.2.8:7071", the node goes to the next one when it loses one. If `dac` is null and the builder is
/// from oasis_node_builder_from_file, the file names the DACs, or else the TEM of oasis_node_builder_tem. While none can be
/// reached, the node retries and keeps samples, within limits. Always consumes the builder.
///
/// # Safety
/// `builder` is from this library and not used afterwards; `dac` is null or ends with NUL; `node` is writable.
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
        // SAFETY: created by a Box, and the caller promises not to use it again; the rest as promised.
        unsafe {
            let mut builder = Box::from_raw(builder);
            let connector: Box<dyn Connector> = match builder.knows_dacs && dac.is_null() {
                true => builder.settings.connector(),
                false => builder.settings.connector_to(text(dac, "dac")?),
            };
            if node.is_null() {
                return Err(Problem::Null("node"));
            }
            let name = builder.settings.name();
            builder.node.on_refusal(move |refusal| report_refusal(&name, refusal));
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

/// Takes the last samples, sends them, waits up to two seconds until the DAC has them, and frees the node. Null is
/// ignored. Returns OASIS_STATUS_REFUSED if the DAC has refused the node, such as for a name that another node has: then
/// it has not received the samples. In a child of the process in which the node has started, it returns
/// OASIS_STATUS_FORKED at once, and changes nothing in the parent's node.
///
/// # Safety
/// `node` is from oasis_node_builder_start and not used afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oasis_node_shutdown(node: *mut Node) -> Status {
    answer(|| {
        if !node.is_null() {
            // SAFETY: made by a Box, and the caller promises to use it no more.
            let refusal = unsafe { Box::from_raw(node) }.0.shutdown();
            if let Some(refusal) = refusal {
                if refusal.code == process::FORKED {
                    return Err(Problem::forked());
                }
                return Err(Problem::Refused(refusal.to_string()));
            }
        }
        Ok(Status::Ok)
    })
}

/// The context of a periodic probe of the application.
struct Context {
    context: *mut c_void,
    release: Release,
}

// SAFETY: the caller that adds a periodic probe promises that its context can be used from another thread.
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
            // SAFETY: the caller that adds a periodic probe promises that its context can be released, and it is
            // released once.
            unsafe { release(self.context) };
        }
    }
}

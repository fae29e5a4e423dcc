//! Options of a pushed probe: its kind, its ring, and its overflow policy.

use crate::{
    arguments::{put, schema, text, thing},
    node::NodeBuilder,
    probe::Probe,
    status::{Problem, Status, answer},
};
use oasis_probe::{Deadbands, Overflow, PushedKind, RingConfig};
use std::{ffi::c_char, slice, time::Duration};

/// Measurements: every flush is a sample.
pub const OASIS_KIND_PUSHED: u32 = 0;
/// Changes: a sample is kept if a metric has changed by more than its deadband since the last kept sample.
pub const OASIS_KIND_ON_CHANGE: u32 = 1;
/// Events.
pub const OASIS_KIND_EVENT: u32 = 2;

/// If the ring is full, the new sample is dropped.
pub const OASIS_OVERFLOW_DROP_NEWEST: u32 = 0;
/// If the ring is full, the oldest samples are dropped.
pub const OASIS_OVERFLOW_DROP_OLDEST: u32 = 1;
/// If the ring is full, the caller waits for room, at most `timeout_ns`.
pub const OASIS_OVERFLOW_BLOCK: u32 = 2;

/// The deadband of a metric.
#[repr(C)]
pub struct Deadband {
    /// The metric's name.
    metric: *const c_char,
    /// In the metric's unit, 0 or more; infinity for a metric that never counts.
    deadband: f64,
}

/// Options of a pushed probe. All zeros except `ring_bytes` is equivalent to oasis_node_builder_pushed.
#[repr(C)]
pub struct PushedOptions {
    /// At most 1 GiB; a sample needs its row, rounded up to eight bytes, and 24 bytes.
    ring_bytes: usize,
    /// OASIS_KIND_PUSHED, OASIS_KIND_ON_CHANGE or OASIS_KIND_EVENT.
    kind: u32,
    /// OASIS_OVERFLOW_DROP_NEWEST, OASIS_OVERFLOW_DROP_OLDEST or OASIS_OVERFLOW_BLOCK.
    overflow: u32,
    /// Timeout of OASIS_OVERFLOW_BLOCK.
    timeout_ns: u64,
    /// For OASIS_KIND_ON_CHANGE; a metric without a deadband counts as soon as its value differs.
    deadbands: *const Deadband,
    /// Number of deadbands.
    deadband_count: usize,
}

/// Adds a probe like oasis_node_builder_pushed, with a choice of kind and overflow policy (docs/guides/choose-a-kind-of-probe.md).
///
/// # Safety
/// `builder` is from oasis_node_builder_new; the texts end with NUL; `options` and its deadbands are readable;
/// `probe` is writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oasis_node_builder_pushed_with(
    builder: *mut NodeBuilder,
    instance: *const c_char,
    schema: *const c_char,
    options: *const PushedOptions,
    probe: *mut *mut Probe,
) -> Status {
    answer(|| {
        // SAFETY: as the caller promises.
        unsafe {
            let builder = thing(builder, "builder")?;
            let options = options.as_ref().ok_or(Problem::Null("options"))?;
            let (instance, probe_type) = (text(instance, "instance")?, self::schema(schema)?);
            let ring = RingConfig { bytes: options.ring_bytes, overflow: options.overflow()? };
            let rows = builder.node.pushed_rows(instance, probe_type, options.kind()?, ring)?;
            put(probe, Probe(rows), "probe")?;
        }
        Ok(Status::Ok)
    })
}

impl PushedOptions {
    fn overflow(&self) -> Result<Overflow, Problem> {
        Ok(match self.overflow {
            OASIS_OVERFLOW_DROP_NEWEST => Overflow::DropNewest,
            OASIS_OVERFLOW_DROP_OLDEST => Overflow::DropOldest,
            OASIS_OVERFLOW_BLOCK => Overflow::Block(Duration::from_nanos(self.timeout_ns)),
            other => return Err(unknown("overflow", other)),
        })
    }

    /// # Safety
    /// `deadbands` has as many elements as stated, and their names end with NUL.
    unsafe fn kind(&self) -> Result<PushedKind, Problem> {
        Ok(match self.kind {
            OASIS_KIND_PUSHED => PushedKind::Pushed,
            // SAFETY: as the caller promises.
            OASIS_KIND_ON_CHANGE => PushedKind::OnChange(unsafe { self.deadbands() }?),
            OASIS_KIND_EVENT => PushedKind::Event,
            other => return Err(unknown("kind", other)),
        })
    }

    /// # Safety
    /// As [`PushedOptions::kind`].
    unsafe fn deadbands(&self) -> Result<Deadbands, Problem> {
        if self.deadband_count == 0 {
            return Ok(Deadbands::any_change());
        }
        if self.deadbands.is_null() {
            return Err(Problem::Null("deadbands"));
        }
        // SAFETY: not null, and the caller promises the length.
        let deadbands = unsafe { slice::from_raw_parts(self.deadbands, self.deadband_count) };
        deadbands.iter().try_fold(Deadbands::any_change(), |all, one| {
            // SAFETY: as the caller promises.
            Ok(all.with(unsafe { text(one.metric, "metric") }?, one.deadband))
        })
    }
}

fn unknown(what: &str, number: u32) -> Problem {
    Problem::Argument(format!("{what} is {number}, which is not a known value"))
}

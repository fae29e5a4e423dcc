//! Pushed probes, which the application flushes.

use crate::{
    arguments::{bytes, thing},
    status::{Problem, Status, answer},
};
use oasis_probe::{ProbeState, RowProbe, now_ns};

/// A pushed probe. For one thread at a time.
pub struct Probe(pub RowProbe);

/// Takes a sample now. Wait-free: no lock, no allocation once rows have their usual size, no system call. Only the first flush after
/// 40 ms in which no probe of the node was flushed wakes the node with a system call.
///
/// `row` is the packed row (docs/reference/native-batch.md), as generated code writes it. The node counts a row that
/// does not fit the schema as dropped. While the probe is disabled, nothing is taken and the result is
/// OASIS_STATUS_OK. In a child of the process in which the node has started it is OASIS_STATUS_FORKED; for a
/// row that is longer than the ring it is OASIS_STATUS_TOO_LONG. After the shutdown of the node it is
/// OASIS_STATUS_DROPPED.
///
/// # Safety
/// `probe` is from oasis_node_builder_pushed and not used by another thread at this time; `row` has `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oasis_probe_flush(probe: *mut Probe, row: *const u8, length: usize) -> Status {
    // SAFETY: as the caller promises.
    unsafe { oasis_probe_flush_at(probe, now_ns(), row, length) }
}

/// Takes a sample like oasis_probe_flush, with the given time in nanoseconds since 1970-01-01 UTC.
///
/// # Safety
/// As oasis_probe_flush.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oasis_probe_flush_at(
    probe: *mut Probe,
    time: u64,
    row: *const u8,
    length: usize,
) -> Status {
    answer(|| {
        // SAFETY: as the caller promises.
        let (probe, row) = unsafe { (thing(probe, "probe")?, bytes(row, length, "row")?) };
        if probe.0.is_forked() {
            return Err(Problem::forked());
        }
        let has_room = probe.0.flush_at(time, |to| to.packed(row));
        let limit = probe.0.max_row_bytes();
        if !has_room && row.len() > limit && !probe.0.has_ended() {
            return Err(Problem::TooLong { bytes: row.len(), limit });
        }
        Ok(if has_room { Status::Ok } else { Status::Dropped })
    })
}

/// Stores how many samples were dropped because the node was shut down. No report to a DAC contains them.
///
/// # Safety
/// `probe` is from oasis_node_builder_pushed and not used by another thread at this time; `count` points to a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oasis_probe_refused(probe: *mut Probe, count: *mut u64) -> Status {
    answer(|| {
        // SAFETY: as the caller promises.
        let (probe, count) = unsafe { (thing(probe, "probe")?, thing(count, "count")?) };
        *count = probe.0.refused();
        Ok(Status::Ok)
    })
}

/// Sets the state of all following samples; 0 is normal, the application defines the others.
///
/// # Safety
/// `probe` is from oasis_node_builder_pushed or oasis_node_builder_pushed_with and not used by another thread at this
/// time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oasis_probe_set_state(probe: *mut Probe, state: u16) -> Status {
    answer(|| {
        // SAFETY: as the caller promises.
        unsafe { thing(probe, "probe")? }.0.set_state(ProbeState(state));
        Ok(Status::Ok)
    })
}

/// Frees a probe. Its instance stays registered while its node runs. Null is ignored.
///
/// # Safety
/// `probe` is from oasis_node_builder_pushed and not used afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oasis_probe_free(probe: *mut Probe) {
    if !probe.is_null() {
        // SAFETY: made by a Box, and the caller promises to use it no more.
        drop(unsafe { Box::from_raw(probe) });
    }
}

/// Returns nanoseconds since 1970-01-01 UTC by the clock that stamps samples.
#[unsafe(no_mangle)]
pub extern "C" fn oasis_now() -> u64 {
    now_ns()
}

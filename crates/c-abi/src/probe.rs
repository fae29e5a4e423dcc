//! Pushed probes: the application flushes.

use crate::{
    arguments::{bytes, thing},
    status::{Status, answer},
};
use oasis_probe::{ProbeState, RowProbe, now_ns};

/// A pushed probe. One thread at a time.
pub struct Probe(pub RowProbe);

/// Takes a sample now. Wait-free: no lock, no allocation once rows have their usual size, no system call.
///
/// `row` is the packed row (docs/reference/native-batch.md), as generated code writes it. One that does not fit the schema is counted as
/// dropped when the node sees it. Answers OASIS_STATUS_OK also while the probe is disabled, when nothing is taken.
///
/// # Safety
/// `probe` is from oasis_node_builder_pushed and not used by another thread now; `row` has `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oasis_probe_flush(probe: *mut Probe, row: *const u8, length: usize) -> Status {
    // SAFETY: as the caller promises.
    unsafe { oasis_probe_flush_at(probe, now_ns(), row, length) }
}

/// As oasis_probe_flush, with a time of the caller's own, in nanoseconds since 1970-01-01 UTC.
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
        let has_room = probe.0.flush_at(time, |to| to.packed(row));
        Ok(if has_room { Status::Ok } else { Status::Dropped })
    })
}

/// The samples from now on carry this state; 0 is normal, the rest is the application's to give a meaning.
///
/// # Safety
/// `probe` is from oasis_node_builder_pushed or oasis_node_builder_pushed_with and not used by another thread now.
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

/// Nanoseconds since 1970-01-01 UTC by the clock that samples are stamped with.
#[unsafe(no_mangle)]
pub extern "C" fn oasis_now() -> u64 {
    now_ns()
}

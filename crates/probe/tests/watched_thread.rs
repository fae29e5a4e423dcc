//! The cost of a flush for the calling thread: no allocation and no system call.
//!
//! A program of its own: its signal handler is that of the whole process, and the other tests run under sanitizers (`make check-memory`).

#![allow(clippy::unwrap_used, reason = "a test says what it expects by unwrapping")]

use oasis_probe::{
    Deadbands, NodeBuilder, NodeConfig, Overflow, ProbeType, PushedKind, RingConfig, RowProbe, now_ns,
};
use oasis_wire::schema::{Metric, MetricType};
use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
    time::Duration,
};

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

/// Counts the allocations of each thread.
struct Counting;

// SAFETY: passes everything on to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(memory, layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
        // SAFETY: as the caller promises.
        unsafe { System.realloc(memory, layout, bytes) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// Seven counters and a name, like `/proc/stat`.
fn processor() -> ProbeType {
    let mut metrics: Vec<Metric> =
        (0..7).map(|number| Metric::new(format!("time_{number}"), MetricType::Uint64)).collect();
    metrics.push(Metric::new("name", MetricType::String));
    ProbeType {
        name: "Test::Processor".into(),
        uuid: "6b0c1bbb-37a5-4f3f-a6cf-5a3e2a3a8a02".parse().unwrap(),
        version: "1.0".into(),
        doc: None,
        rate: None,
        metrics,
    }
}

fn flush(probe: &mut RowProbe, number: u64) {
    probe.flush_at(now_ns(), |row| {
        (0..7).for_each(|metric| row.u64(number / 3 + metric));
        row.string("cpu");
    });
}

/// Returns a probe for each policy and each kind, all with rings that overflow soon.
fn probes(policies: &[Overflow]) -> (Vec<RowProbe>, NodeBuilder) {
    let mut builder = NodeBuilder::new("node", NodeConfig::default());
    let kinds = [
        PushedKind::Pushed,
        PushedKind::OnChange(Deadbands::any_change().with("time_0", 2.0)),
        PushedKind::Event,
    ];
    let mut probes = Vec::new();
    for &overflow in policies {
        for kind in &kinds {
            let name = format!("{overflow:?} {kind:?}");
            let ring = RingConfig { bytes: 64 * 1024, overflow };
            probes.push(builder.pushed_rows(name, processor(), kind.clone(), ring).unwrap());
        }
    }
    (probes, builder)
}

/// Ten times fewer in unoptimized builds; `make check-memory` runs all.
const FLUSHES: u64 = if cfg!(debug_assertions) { 1_000_000 } else { 10_000_000 };

#[test]
fn a_flush_allocates_nothing() {
    let (mut probes, _builder) =
        probes(&[Overflow::DropNewest, Overflow::DropOldest, Overflow::Block(Duration::ZERO)]);
    let before = ALLOCATIONS.get();
    let each = FLUSHES / probes.len() as u64;
    for probe in &mut probes {
        (0..each).for_each(|number| flush(probe, number));
    }
    assert_eq!(ALLOCATIONS.get() - before, 0);
    drop(vec![1]);
    assert_eq!(ALLOCATIONS.get() - before, 1, "allocations are counted");
}

#[cfg(target_os = "linux")]
mod system_calls {
    //! A thread can turn its system calls into a signal while a byte of its own is set
    //! (`prctl(PR_SET_SYSCALL_USER_DISPATCH)`, Linux 5.11). Code without system calls runs unchanged.

    use super::{FLUSHES, flush, probes};
    use oasis_probe::Overflow;
    use std::{
        ptr,
        sync::atomic::{AtomicU8, AtomicU64, Ordering},
    };

    const SET_DISPATCH: libc::c_int = 59;
    const OFF: u64 = 0;
    const ON: u64 = 1;
    const ALLOW: u8 = 0;
    const CATCH: u8 = 1;

    static SWITCH: AtomicU8 = AtomicU8::new(ALLOW);
    static CAUGHT: AtomicU64 = AtomicU64::new(0);

    extern "C" fn caught(_: libc::c_int) {
        // First: returning from here is a system call as well.
        SWITCH.store(ALLOW, Ordering::Relaxed);
        CAUGHT.fetch_add(1, Ordering::Relaxed);
    }

    fn dispatch(mode: u64, switch: *const AtomicU8) -> bool {
        // SAFETY: the switch is a static; no range of addresses is excepted.
        unsafe { libc::prctl(SET_DISPATCH, mode, 0_u64, 0_u64, switch) == 0 }
    }

    /// Returns the number of system calls of `work`, at most one; none if this kernel cannot tell.
    fn system_calls(work: impl FnOnce()) -> Option<u64> {
        // SAFETY: the handler only touches atomics.
        unsafe { libc::signal(libc::SIGSYS, caught as *const () as libc::sighandler_t) };
        CAUGHT.store(0, Ordering::Relaxed);
        if !dispatch(ON, &raw const SWITCH) {
            return None;
        }
        SWITCH.store(CATCH, Ordering::SeqCst);
        work();
        SWITCH.store(ALLOW, Ordering::SeqCst);
        dispatch(OFF, ptr::null());
        Some(CAUGHT.load(Ordering::Relaxed))
    }

    #[test]
    fn millions_of_flushes_make_no_system_call() {
        let (mut probes, _builder) = probes(&[Overflow::DropNewest, Overflow::DropOldest]);
        // SAFETY: takes nothing.
        let control = system_calls(|| _ = unsafe { libc::syscall(libc::SYS_getppid) });
        let Some(control) = control else {
            return println!("this kernel does not catch system calls: nothing is tested");
        };
        assert_eq!(control, 1, "a system call is caught");
        let each = FLUSHES / probes.len() as u64 + 1;
        let calls = system_calls(|| {
            for probe in &mut probes {
                (0..each).for_each(|number| flush(probe, number));
            }
        });
        assert_eq!(calls, Some(0));
    }
}

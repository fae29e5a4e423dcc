//! The machine that the code under test believes it runs on: its clock, its random numbers and its disk.
//!
//! `calls` replaces the functions of the C library that the standard library and SQLite use, so the code under test
//! needs no seams. A thread sees the simulated machine between [`enter`] and the drop of its [`Guard`]; all other threads
//! see the real one.

mod calls;
pub mod disk;
mod names;
mod page_cache;

use disk::Disk;
use std::{cell::RefCell, marker::PhantomData, path::Path, time::Duration};

/// The simulated wall clock begins here: 2026-01-01 00:00 UTC.
const EPOCH: u64 = 1_767_225_600 * NANOS_PER_SECOND;
/// The steady clock begins here: code subtracts from it. Below the steady clock of any real machine, so that no wait of
/// the real kernel lasts longer than it should.
const STEADY: u64 = NANOS_PER_SECOND;
/// A second in nanoseconds.
pub const NANOS_PER_SECOND: u64 = 1_000_000_000;

thread_local! {
    static CURRENT: RefCell<Option<Machine>> = const { RefCell::new(None) };
}

/// The simulated machine of a thread.
#[derive(Debug)]
pub struct Machine {
    /// Nanoseconds since the simulation began.
    now: u64,
    /// By how much the wall clock of the present host is ahead.
    ahead: i64,
    random: fastrand::Rng,
    disk: Disk,
}

/// Ends the simulation of the thread's machine.
#[derive(Debug)]
pub struct Guard(PhantomData<*const ()>);

/// Simulates a machine for this thread: files below `root` are on its disk.
pub fn enter(root: &Path, seed: u64) -> Guard {
    let mut random = fastrand::Rng::with_seed(seed);
    let disk = Disk::new(root, random.fork());
    let machine = Machine { now: 0, ahead: 0, random, disk };
    CURRENT.with(|current| *current.borrow_mut() = Some(machine));
    Guard(PhantomData)
}

impl Drop for Guard {
    fn drop(&mut self) {
        // After the borrow: dropping it closes nothing, but frees memory.
        drop(CURRENT.with(|current| current.borrow_mut().take()));
    }
}

/// Sets the time, in nanoseconds since the simulation began, and by how much the wall clock of the host whose code runs
/// next is ahead.
pub fn set_clock(now: u64, ahead: i64) {
    with(|machine| (machine.now, machine.ahead) = (machine.now.max(now), ahead));
}

/// Returns the time since the host was started.
pub fn since_boot() -> Duration {
    with(|machine| Duration::from_nanos(STEADY + machine.now))
}

/// Accesses the disk.
///
/// # Panics
/// Outside of a simulation.
pub fn disk<T>(access: impl FnOnce(&mut Disk) -> T) -> T {
    with(|machine| access(&mut machine.disk))
}

fn with<T>(access: impl FnOnce(&mut Machine) -> T) -> T {
    CURRENT.with(|current| match &mut *current.borrow_mut() {
        Some(machine) => access(machine),
        None => panic!("no machine is simulated on this thread"),
    })
}

impl Machine {
    /// Returns the time of a clock of `clock_gettime(2)`; none for a clock that is not simulated. To read it takes a
    /// nanosecond: a loop that waits for time to pass ends.
    fn clock(&mut self, clock: libc::clockid_t) -> Option<u64> {
        self.now += 1;
        match clock {
            libc::CLOCK_REALTIME | libc::CLOCK_REALTIME_COARSE => {
                Some((EPOCH + self.now).saturating_add_signed(self.ahead))
            }
            libc::CLOCK_MONOTONIC
            | libc::CLOCK_MONOTONIC_RAW
            | libc::CLOCK_MONOTONIC_COARSE
            | libc::CLOCK_BOOTTIME => Some(STEADY + self.now),
            _ => None,
        }
    }
}

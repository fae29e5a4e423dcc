//! The process that a node works in: a child of `fork` has its memory and none of its threads.
//!
//! A counter of forks tells parent and child apart: `pthread_atfork` has the child increment it. Neither side takes a
//! lock for that, and the child touches nothing that another thread of its parent may have locked. So a probe of the
//! parent costs the child one comparison, and refuses.
//!
//! The counter does not notice `vfork` and `posix_spawn`, after which another program begins.

pub use crate::termination::{at_termination, end_at_once};
use oasis_channel::Failure;
use std::{
    io::{self, Write},
    os::fd::AsRawFd,
    sync::atomic::{AtomicBool, AtomicI32, AtomicU32, Ordering},
};

/// Forks between the first process with a node and this one.
static FORKS: AtomicU32 = AtomicU32::new(0);
/// Whether forks are counted.
static IS_COUNTING: AtomicBool = AtomicBool::new(false);
/// A number of forks that no process has.
const NEVER: u32 = u32::MAX;
/// Number of the process that has written the last warning.
static WARNED: AtomicU32 = AtomicU32::new(NEVER);

/// Descriptors that a child closes at once: otherwise it would hold a lock of its parent after that has ended.
static CLOSED_IN_CHILD: [AtomicI32; MAX_CLOSED] = [const { AtomicI32::new(NO_DESCRIPTOR) }; MAX_CLOSED];
/// Most descriptors that a child closes. Those of further nodes stay open in it.
const MAX_CLOSED: usize = 64;
const NO_DESCRIPTOR: i32 = -1;

/// Code of the [`Failure`] of a node that the process has only inherited.
pub const FORKED: &str = "forked";

/// A process, as far as forks tell it apart from its parent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Process(u32);

/// The process in which a node runs, for its probes. None before the node starts: then they belong to any process.
#[derive(Debug)]
pub(crate) struct NodeProcess(AtomicU32);

impl Process {
    /// Returns this process, and counts its forks from now on.
    pub fn current() -> Self {
        count_forks();
        Self(FORKS.load(Ordering::Relaxed))
    }

    /// Returns whether this is the process, and not a child of it.
    #[inline]
    pub fn is_current(self) -> bool {
        self.0 == FORKS.load(Ordering::Relaxed)
    }
}

impl NodeProcess {
    /// Returns the home of a probe whose node has not started.
    pub fn unknown() -> Self {
        Self(AtomicU32::new(NEVER))
    }

    /// Sets the process in which the node runs.
    pub fn set(&self, process: Process) {
        self.0.store(process.0, Ordering::Relaxed);
    }

    /// Returns whether the node runs in another process, of which this one is a child.
    #[inline]
    pub fn is_elsewhere(&self) -> bool {
        let home = self.0.load(Ordering::Relaxed);
        home != FORKS.load(Ordering::Relaxed) && home != NEVER
    }
}

/// Returns whether this process is the child of one that had a node or a builder of one.
pub fn is_child() -> bool {
    FORKS.load(Ordering::Relaxed) > 0
}

/// Returns the name of a node in a child of the process whose node has this name: `NAME-PID`.
pub fn name_in_child(name: &str) -> String {
    format!("{name}-{}", std::process::id())
}

/// Returns why a node of the parent does not work in a child.
pub fn forked() -> Failure {
    Failure::new(FORKED, message())
}

/// Writes [`forked`] to standard error, once in a process. It takes no lock: another thread may have had that at the
/// fork.
#[cold]
pub fn warn_once() {
    let process = FORKS.load(Ordering::Relaxed);
    if WARNED.swap(process, Ordering::Relaxed) != process {
        write_to_stderr(&message());
    }
}

/// Writes a line to standard error. An error is ignored: it may be closed.
pub fn write_to_stderr(line: &str) {
    let _ = UnlockedStderr.write_all(format!("oasis: {line}\n").as_bytes());
}

fn message() -> String {
    let process = std::process::id();
    format!(
        "process {process} was forked after its node had started, and has none of its threads: samples are refused. Start a node in the child, named NAME-{process} for example"
    )
}

/// Standard error without the lock of [`std::io::stderr`], which a child of `fork` may find taken for ever.
#[derive(Debug, Clone, Copy)]
pub struct UnlockedStderr;

impl io::Write for UnlockedStderr {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(rustix::io::write(rustix::stdio::stderr(), bytes)?)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Has each child close a descriptor.
pub(crate) fn close_in_child(file: &impl AsRawFd) {
    let file = file.as_raw_fd();
    count_forks();
    let take = |place: &&AtomicI32| {
        place.compare_exchange(NO_DESCRIPTOR, file, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    };
    // Without a place the child keeps it open, as it does with all other files.
    let _ = CLOSED_IN_CHILD.iter().find(take);
}

/// Forgets a descriptor that is about to be closed here.
pub(crate) fn keep_in_child(file: &impl AsRawFd) {
    let file = file.as_raw_fd();
    for place in &CLOSED_IN_CHILD {
        let _ = place.compare_exchange(file, NO_DESCRIPTOR, Ordering::Relaxed, Ordering::Relaxed);
    }
}

/// Registers the child's part of a fork, once.
pub(crate) fn count_forks() {
    if IS_COUNTING.swap(true, Ordering::Relaxed) {
        return;
    }
    // SAFETY: `begin_child` may run in a child at any time.
    let failed = unsafe { libc::pthread_atfork(None, None, Some(begin_child)) };
    if failed != 0 {
        // No memory: the next node tries it again.
        IS_COUNTING.store(false, Ordering::Relaxed);
    }
}

/// Runs in the child before `fork` returns. No other thread exists, and any lock may be held for ever: it does only what
/// a signal handler may do.
unsafe extern "C" fn begin_child() {
    FORKS.fetch_add(1, Ordering::Relaxed);
    for place in &CLOSED_IN_CHILD {
        let file = place.swap(NO_DESCRIPTOR, Ordering::Relaxed);
        if file != NO_DESCRIPTOR {
            // SAFETY: the threads that own the file do not exist here, so nothing uses or closes it again.
            unsafe { libc::close(file) };
        }
    }
}

#[cfg(test)]
#[cfg(not(loom))]
mod tests {
    use super::*;

    #[test]
    fn a_probe_is_at_home_everywhere_until_its_node_starts() {
        let (home, here) = (NodeProcess::unknown(), Process::current());
        assert!(!home.is_elsewhere());
        home.set(here);
        assert!(!home.is_elsewhere() && here.is_current() && !is_child());
        home.set(Process(here.0 + 1));
        assert!(home.is_elsewhere());
    }

    #[test]
    fn a_child_has_its_parents_name_and_its_own_number() {
        assert_eq!(name_in_child("pump"), format!("pump-{}", std::process::id()));
        assert_eq!(forked().code, FORKED);
    }
}

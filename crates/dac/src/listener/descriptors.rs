//! File descriptors: as many as the system allows, with some kept for files.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::{
    fs::File,
    io,
    os::fd::AsRawFd,
    sync::atomic::{AtomicU64, Ordering},
};

/// Descriptors that connections must leave: 192 for the files of the archive and of its readers, 64 for goodbyes to refused peers and
/// connections to other systems. Of a small limit it is half of those that the process does not need by itself.
const RESERVED_DESCRIPTORS: u64 = 256;

/// Descriptors that the process has in use without any connection; 0 until it has started.
static IN_USE_AT_START: AtomicU64 = AtomicU64::new(0);

/// Raises the soft limit of descriptors (`RLIMIT_NOFILE`) to the hard one. Returns it.
///
/// # Errors
/// If the system refuses.
pub fn raise_limit() -> io::Result<u64> {
    let limit = getrlimit(Resource::Nofile);
    if limit.current != limit.maximum {
        setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit })?;
    }
    Ok(limit.maximum.unwrap_or(u64::MAX))
}

/// Notes how many descriptors the process needs by itself. Call it once it has started, before it has many connections.
pub fn note_start() {
    // The lowest free number.
    if let Ok(probe) = File::open("/dev/null") {
        IN_USE_AT_START.store(u64::try_from(probe.as_raw_fd()).unwrap_or_default(), Ordering::Relaxed);
    }
}

/// Returns whether a new socket uses a descriptor that is reserved for files.
pub fn is_reserved(socket: &impl AsRawFd) -> bool {
    let limit = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    // POSIX: a new descriptor is the lowest free one, so all below it are in use.
    u64::try_from(socket.as_raw_fd()).is_ok_and(|number| number >= usable(limit))
}

/// Returns the descriptors that connections may use, of all that the system allows, and those that the process uses by itself.
pub fn usable(limit: u64) -> u64 {
    usable_beside(limit, IN_USE_AT_START.load(Ordering::Relaxed))
}

fn usable_beside(limit: u64, in_use: u64) -> u64 {
    limit - RESERVED_DESCRIPTORS.min(limit.saturating_sub(in_use) / 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_leave_descriptors_for_files() {
        assert_eq!(usable_beside(1_024, 40), 768);
        assert_eq!(usable_beside(100, 0), 50);
        assert_eq!(usable_beside(64, 44), 54, "there is room for connections in a small limit too");
        assert_eq!(usable_beside(64, 100), 64);
        assert_eq!(usable_beside(u64::MAX, 0), u64::MAX - 256);
    }

    #[test]
    fn the_limit_is_the_hard_one_and_a_low_descriptor_is_not_reserved() {
        let raised = raise_limit().unwrap();
        assert_eq!(getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX), raised);
        assert!(!is_reserved(&File::open("/dev/null").unwrap()));
    }
}

//! File descriptors: as many as the system allows, with some kept for files.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::{io, os::fd::AsRawFd};

/// Descriptors that connections must leave: 192 for the files of the archive and of its readers, 64 for goodbyes to refused peers and
/// connections to other systems.
const RESERVED: u64 = 256;

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

/// Returns whether a new socket uses a descriptor that is reserved for files.
pub fn is_reserved(socket: &impl AsRawFd) -> bool {
    let limit = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    // POSIX: a new descriptor is the lowest free one, so all below it are in use.
    u64::try_from(socket.as_raw_fd()).is_ok_and(|number| number >= usable(limit))
}

/// Returns the descriptors that connections may use, of all that the system allows.
pub fn usable(limit: u64) -> u64 {
    limit - RESERVED.min(limit / 2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;

    #[test]
    fn connections_leave_descriptors_for_files() {
        assert_eq!(usable(1_024), 768);
        assert_eq!(usable(100), 50);
        assert_eq!(usable(u64::MAX), u64::MAX - 256);
    }

    #[test]
    fn the_limit_is_the_hard_one_and_a_low_descriptor_is_not_reserved() {
        let raised = raise_limit().unwrap();
        assert_eq!(getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX), raised);
        assert!(!is_reserved(&File::open("/dev/null").unwrap()));
    }
}

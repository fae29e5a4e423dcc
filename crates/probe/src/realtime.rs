//! Processors, priority and memory locking of the collector thread, for hosts that require it.
//!
//! Every setting is optional: if the host refuses one, the node logs it and runs without.

use std::{fmt, io};

/// Scheduling of the collector thread. The default is that of the system.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RealTime {
    /// The processors it may run on, from 0, for example those that the watched threads do not use. None: all.
    pub cores: Option<Vec<usize>>,
    /// Priority among real-time threads, 1 to 99 (Linux: `SCHED_FIFO`), above all other threads. Needs `CAP_SYS_NICE`
    /// or a limit (`ulimit -r`).
    pub priority: Option<u8>,
    /// Locks the memory of the *whole process*, now and later, so that it is never paged out (`mlockall`). Needs
    /// `CAP_IPC_LOCK` or a limit (`ulimit -l`).
    pub lock_memory: bool,
    /// Polls the rings of silent probes too, so that no flush ever makes a system call. A collector with [`RealTime::cores`] or
    /// [`RealTime::priority`] polls without it.
    pub polls: bool,
}

/// Results of the settings.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RealTimeState {
    /// Result of [`RealTime::cores`].
    pub cores: Grant,
    /// Result of [`RealTime::priority`].
    pub priority: Grant,
    /// Result of [`RealTime::lock_memory`].
    pub lock_memory: Grant,
}

/// Result of one setting.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Grant {
    /// Not requested.
    #[default]
    NotAsked,
    /// Applied.
    Yes,
    /// Refused, with the reason. The node runs without it.
    No(String),
}

impl RealTimeState {
    /// Returns whether all requested settings were applied.
    pub fn is_complete(&self) -> bool {
        [&self.cores, &self.priority, &self.lock_memory].iter().all(|wish| !matches!(wish, Grant::No(_)))
    }
}

impl fmt::Display for Grant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAsked => f.write_str("not asked for"),
            Self::Yes => f.write_str("yes"),
            Self::No(why) => write!(f, "no: {why}"),
        }
    }
}

impl RealTime {
    /// Returns whether the collector never sleeps while probes are silent.
    pub fn is_polling(&self) -> bool {
        self.polls || self.cores.is_some() || self.priority.is_some()
    }

    /// Applies all settings to the calling thread; logs those that are refused.
    pub fn apply(&self, node: &str) -> RealTimeState {
        let state = RealTimeState {
            cores: grant(self.cores.as_deref().map(system::run_on)),
            priority: grant(self.priority.map(system::set_priority)),
            lock_memory: grant(self.lock_memory.then(system::lock_memory)),
        };
        for (what, granted, remedy) in [
            ("cores", &state.cores, "use processors that this process may use"),
            ("priority", &state.priority, "allow it with CAP_SYS_NICE, or a higher limit (ulimit -r)"),
            ("lock_memory", &state.lock_memory, "allow it with CAP_IPC_LOCK, or a higher limit (ulimit -l)"),
        ] {
            if let Grant::No(why) = granted {
                tracing::warn!(node, what, %why, remedy, "real-time setting refused: the collector runs without it");
            }
        }
        state
    }
}

fn grant(outcome: Option<io::Result<()>>) -> Grant {
    match outcome {
        None => Grant::NotAsked,
        Some(Ok(())) => Grant::Yes,
        Some(Err(error)) => Grant::No(error.to_string()),
    }
}

#[cfg(target_os = "linux")]
mod system {
    use std::{io, mem};

    /// Most processors in a set (`cpu_set_t`, sched(7)).
    const PROCESSORS: usize = libc::CPU_SETSIZE as usize;

    pub fn run_on(cores: &[usize]) -> io::Result<()> {
        if cores.is_empty() || cores.iter().any(|&core| core >= PROCESSORS) {
            return Err(io::Error::other(format!("processors are numbered 0 to {}", PROCESSORS - 1)));
        }
        // SAFETY: a set is a plain array of bits, all 0 here, and the numbers were checked against its size.
        let set = unsafe {
            let mut set: libc::cpu_set_t = mem::zeroed();
            cores.iter().for_each(|&core| libc::CPU_SET(core, &mut set));
            set
        };
        // SAFETY: 0 is the calling thread; the set is only read, and has the given size.
        done(unsafe { libc::sched_setaffinity(0, size_of_val(&set), &raw const set) })
    }

    pub fn set_priority(priority: u8) -> io::Result<()> {
        let policy = libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK;
        // SAFETY: a structure of numbers.
        let mut parameters: libc::sched_param = unsafe { mem::zeroed() };
        parameters.sched_priority = priority.into();
        // By its number, because the function of musl refuses every call.
        // SAFETY: 0 is the calling thread; the parameters are only read. Threads that it starts do not inherit them.
        let answer = unsafe { libc::syscall(libc::SYS_sched_setscheduler, 0, policy, &raw const parameters) };
        done(if answer == 0 { 0 } else { -1 })
    }

    pub fn lock_memory() -> io::Result<()> {
        // SAFETY: takes no pointers, and changes only where pages may be.
        done(unsafe { libc::mlockall(libc::MCL_CURRENT | libc::MCL_FUTURE) })
    }

    fn done(answer: libc::c_int) -> io::Result<()> {
        if answer == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use std::io;

    fn unknown() -> io::Result<()> {
        Err(io::Error::new(io::ErrorKind::Unsupported, "supported on Linux only"))
    }

    pub fn run_on(_: &[usize]) -> io::Result<()> {
        unknown()
    }

    pub fn set_priority(_: u8) -> io::Result<()> {
        unknown()
    }

    pub fn lock_memory() -> io::Result<()> {
        unknown()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    #[test]
    fn nothing_is_requested_by_default() {
        let state = RealTime::default().apply("node");
        assert_eq!(state, RealTimeState::default());
        assert!(state.is_complete());
    }

    #[test]
    fn a_refused_setting_is_a_state_and_not_an_error() {
        let wish = RealTime { cores: Some(vec![usize::MAX]), priority: Some(200), ..RealTime::default() };
        assert!(wish.is_polling() && !RealTime::default().is_polling());
        let state = thread::spawn(move || wish.apply("node")).join().unwrap();
        assert!(matches!(&state.cores, Grant::No(why) if why.contains("numbered")), "{state:?}");
        assert!(matches!(state.priority, Grant::No(_)), "{state:?}");
        assert!(!state.is_complete());
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_thread_has_the_priority_that_was_granted() {
        let (priority, policy) = thread::spawn(|| {
            let state = RealTime { priority: Some(1), ..RealTime::default() }.apply("node");
            // SAFETY: 0 is the calling thread.
            (state.priority, unsafe { libc::syscall(libc::SYS_sched_getscheduler, 0) })
        })
        .join()
        .unwrap();
        let wanted = libc::c_long::from(libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK);
        // Without the right to it, the system refuses.
        assert_eq!(priority == Grant::Yes, policy == wanted, "{priority:?}, policy {policy}");
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_thread_runs_on_the_requested_processor() {
        let allowed = thread::spawn(|| {
            // SAFETY: 0 is the calling thread; the set is written, and has the given size.
            let set = unsafe {
                let mut set: libc::cpu_set_t = std::mem::zeroed();
                libc::sched_getaffinity(0, size_of_val(&set), &raw mut set);
                set
            };
            // SAFETY: within the set's size.
            (0..64).find(|&core| unsafe { libc::CPU_ISSET(core, &set) }).unwrap()
        })
        .join()
        .unwrap();
        let ran_on = thread::spawn(move || {
            let state = RealTime { cores: Some(vec![allowed]), ..RealTime::default() }.apply("node");
            assert_eq!(state.cores, Grant::Yes);
            // SAFETY: takes nothing.
            unsafe { libc::sched_getcpu() }
        });
        assert_eq!(ran_on.join().unwrap(), allowed as i32);
    }
}

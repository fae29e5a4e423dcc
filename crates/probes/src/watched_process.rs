//! The process that a probe watches, found by number or by name, and found again after a restart.

use oasis_ei_node::{Choice, ChoiceError};
use std::{
    fs, io,
    time::{Duration, Instant},
};

/// Shortest time between two searches: a search through all processes takes milliseconds.
const SEARCH_AGAIN: Duration = Duration::from_secs(1);
/// Bytes of a name that the kernel keeps (TASK_COMM_LEN).
const NAME_BYTES: usize = 15;

/// The process that the user chose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProcessChoice {
    /// The own process.
    Own,
    /// The process with this number.
    Pid(u32),
    /// The oldest process with this name, as `ps -o comm` shows it.
    Name(String),
}

impl ProcessChoice {
    /// Reads the parameters `name` and `pid`. The own process of the node if both are absent.
    pub(crate) fn parse(choice: &Choice<'_>) -> Result<Self, ChoiceError> {
        let pid = choice.parsed("pid", "the number of a process, such as 4711")?;
        match (choice.text("name")?, pid) {
            (Some(_), Some(_)) => Err(ChoiceError::Both("name", "pid")),
            (Some(name), None) => Ok(Self::Name(name.into())),
            (None, Some(pid)) => Ok(Self::Pid(pid)),
            (None, None) => Ok(Self::Own),
        }
    }

    /// Whether a found process still matches. A process that has ended no longer matches.
    pub fn is_still(&self, stat: &Stat) -> bool {
        match self {
            Self::Name(name) => same_name(name, &stat.comm) && stat.state != 'Z',
            Self::Own | Self::Pid(_) => true,
        }
    }
}

/// A process that may end and restart.
#[derive(Debug)]
pub struct WatchedProcess {
    which: ProcessChoice,
    found: Option<u32>,
    searched: Option<Instant>,
}

impl WatchedProcess {
    /// Returns a watch on a process that need not run yet.
    pub fn new(which: ProcessChoice) -> Self {
        Self { which, found: None, searched: None }
    }

    /// Calls `read` with the number of the process. If it fails, the process may have restarted under another number.
    pub fn with<T>(&mut self, mut read: impl FnMut(u32) -> io::Result<T>) -> io::Result<T> {
        let by_name = matches!(self.which, ProcessChoice::Name(_));
        match read(self.pid()?) {
            Err(_) if by_name => {
                self.found = None;
                read(self.pid()?)
            }
            outcome => outcome,
        }
    }

    /// The process that the user chose.
    pub fn which(&self) -> &ProcessChoice {
        &self.which
    }

    fn pid(&mut self) -> io::Result<u32> {
        let name = match &self.which {
            ProcessChoice::Own => return Ok(std::process::id()),
            ProcessChoice::Pid(pid) => return Ok(*pid),
            ProcessChoice::Name(name) => name,
        };
        if let Some(pid) = self.found {
            return Ok(pid);
        }
        let rested = self.searched.is_none_or(|searched| searched.elapsed() >= SEARCH_AGAIN);
        if rested {
            self.found = oldest(&self.which)?;
            // Search again at once if the process ended shortly after it was found.
            self.searched = self.found.is_none().then(Instant::now);
        }
        let gone =
            || io::Error::new(io::ErrorKind::NotFound, format!("/proc: no process with the name {name}"));
        self.found.ok_or_else(gone)
    }
}

fn oldest(which: &ProcessChoice) -> io::Result<Option<u32>> {
    let entries =
        fs::read_dir("/proc").map_err(|error| io::Error::new(error.kind(), format!("/proc: {error}")))?;
    let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok());
    // A process may end during the search: skip unreadable ones.
    let candidates = pids.filter_map(|pid| {
        let stat = Stat::parse(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)?;
        ProcessChoice::is_still(which, &stat).then_some((stat.start_time, pid))
    });
    Ok(candidates.min().map(|(_, pid)| pid))
}

fn same_name(name: &str, comm: &str) -> bool {
    name.as_bytes().get(..NAME_BYTES).unwrap_or(name.as_bytes()) == comm.as_bytes()
}

/// The used fields of `/proc/PID/stat`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Stat {
    /// Name, 15 bytes at most.
    pub comm: String,
    /// One letter.
    pub state: char,
    /// Page faults without a disk.
    pub minor_faults: u64,
    /// Page faults with one.
    pub major_faults: u64,
    /// Clock ticks.
    pub user_time: u64,
    /// Clock ticks.
    pub system_time: u64,
    /// Threads.
    pub threads: u64,
    /// Clock ticks from boot to the start of the process.
    pub start_time: u64,
    /// Address space, bytes.
    pub virtual_bytes: u64,
}

impl Stat {
    /// proc_pid_stat(5); the field numbers stand after each. The name may contain blanks and parentheses.
    pub fn parse(text: &str) -> Option<Self> {
        let (before, fields) = text.rsplit_once(')')?;
        let comm = before.split_once('(')?.1.to_owned();
        let mut fields = fields.split_ascii_whitespace();
        let state = fields.next()?.chars().next()?; // 3
        let mut number = |skip: usize| fields.nth(skip)?.parse().ok();
        Some(Self {
            comm,
            state,
            minor_faults: number(6)?,  // 10
            major_faults: number(1)?,  // 12
            user_time: number(1)?,     // 14
            system_time: number(0)?,   // 15
            threads: number(4)?,       // 20
            start_time: number(1)?,    // 22
            virtual_bytes: number(0)?, // 23
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_name_can_look_like_the_rest_of_the_line() {
        let stat = Stat::parse(include_str!("../recorded/process-stat-6.18")).unwrap();
        assert_eq!((stat.comm.as_str(), stat.state), ("my app) R 1 (x", 'S'));
        assert_eq!((stat.minor_faults, stat.major_faults), (1_234, 5));
        assert_eq!((stat.user_time, stat.system_time, stat.threads), (320, 71, 4));
        assert_eq!((stat.start_time, stat.virtual_bytes), (2_768_973, 3_133_440));
        let old = Stat::parse(include_str!("../recorded/process-stat-2.6.18")).unwrap();
        assert_eq!((old.comm.as_str(), old.threads, old.virtual_bytes), ("init", 1, 2_146_304));
    }

    #[test]
    fn long_names_are_compared_as_far_as_the_kernel_keeps_them() {
        assert!(same_name("telemetry-gateway", "telemetry-gatew") && same_name("init", "init"));
        assert!(!same_name("init", "initrd") && !same_name("telemetry-gat", "telemetry-gatew"));
    }

    #[test]
    fn a_process_that_does_not_run_is_an_error_that_names_it() {
        let mut process = WatchedProcess::new(ProcessChoice::Name("nonesuch-process".into()));
        let error = process.with(|_| Ok(())).unwrap_err().to_string();
        assert!(error.contains("/proc") && error.contains("nonesuch-process"), "{error}");
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_a_panic(text in "([0-9]{1,21}|[()]| |R|\n|\\PC){0,100}") {
            Stat::parse(&text);
        }
    }
}

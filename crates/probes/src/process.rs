//! `LinuxProcessProbe`: one process of this host, from `/proc/PID/stat` and `/proc/PID/status`.

use crate::{
    generated::oasis::system::{LinuxProcessProbe, ProcessState},
    proc_file::{ProcFile, unexpected},
    watched_process::{ProcessChoice, Stat, WatchedProcess},
};
use oasis_ei_node::{Parameter, ReadyMadeProbe};
use oasis_probe::Probe;
use std::io;

/// `stat` has about 400 bytes, `status` 1,500 and more on hosts with many processors.
const ROOM: usize = 16 * 1024;

/// The entry in [`crate::PROBES`].
pub(crate) const READY_MADE: ReadyMadeProbe = ReadyMadeProbe {
    name: "process",
    measures: "processor time, memory, threads, page faults, context switches, state",
    instances: "one",
    parameters: &[
        Parameter { name: "name", meaning: "the oldest process with this name" },
        Parameter { name: "pid", meaning: "its number; default: the node's own" },
    ],
    types: &["LinuxProcessProbe"],
    add: |node, choice| choice.periodic(node, "process", Process::new(ProcessChoice::parse(choice)?)),
};

/// One process.
#[derive(Debug)]
pub struct Process {
    process: WatchedProcess,
    files: Option<Files>,
    ticks_per_second: u64,
}

/// Open files belong to one process, even if its number is assigned to another process later.
#[derive(Debug)]
struct Files {
    pid: u32,
    stat: ProcFile,
    status: ProcFile,
}

impl Process {
    /// The process need not run yet.
    pub fn new(which: ProcessChoice) -> Self {
        let ticks_per_second = rustix::param::clock_ticks_per_second().max(1);
        Self { process: WatchedProcess::new(which), files: None, ticks_per_second }
    }
}

impl Probe for Process {
    type Sample = LinuxProcessProbe;

    fn sample(&mut self) -> io::Result<LinuxProcessProbe> {
        let Self { process, files, ticks_per_second } = self;
        let which = process.which().clone();
        let (pid, stat, status) = process.with(|pid| {
            let mut open = files.take().filter(|files| files.pid == pid).unwrap_or_else(|| Files::of(pid));
            let (stat, status) = open.read(&which)?;
            // Kept only on success: after an error they are opened again.
            *files = Some(open);
            Ok((pid, stat, status))
        })?;
        let milliseconds = |ticks: u64| ticks.saturating_mul(1_000) / *ticks_per_second;
        Ok(LinuxProcessProbe {
            pid,
            state: state(stat.state),
            user_time: milliseconds(stat.user_time),
            system_time: milliseconds(stat.system_time),
            resident_memory: status.resident_memory,
            virtual_memory: stat.virtual_bytes / 1024,
            threads: stat.threads,
            swapped_memory: status.swapped_memory,
            minor_faults: stat.minor_faults,
            major_faults: stat.major_faults,
            voluntary_switches: status.voluntary_switches,
            involuntary_switches: status.involuntary_switches,
        })
    }
}

impl Files {
    fn of(pid: u32) -> Self {
        let file = |name| ProcFile::new(format!("/proc/{pid}/{name}"), ROOM);
        Self { pid, stat: file("stat"), status: file("status") }
    }

    fn read(&mut self, which: &ProcessChoice) -> io::Result<(Stat, Status)> {
        let path = format!("/proc/{}/stat", self.pid);
        let stat = Stat::parse(self.stat.read()?)
            .ok_or_else(|| unexpected(&path, "the line has fewer than 23 fields"))?;
        if !which.is_still(&stat) {
            return Err(unexpected(
                &path,
                &format!("the number now belongs to {} in state {}", stat.comm, stat.state),
            ));
        }
        Ok((stat, Status::parse(self.status.read()?)))
    }
}

/// The used fields of `/proc/PID/status`. A kernel thread has no memory of its own, and old kernels lack counters: these stay 0.
#[derive(Debug, Default, PartialEq)]
struct Status {
    resident_memory: u64,
    swapped_memory: u64,
    voluntary_switches: u64,
    involuntary_switches: u64,
}

impl Status {
    /// proc_pid_status(5)
    fn parse(text: &str) -> Self {
        let mut status = Self::default();
        for (name, value) in text.lines().filter_map(|line| line.split_once(':')) {
            let metric = match name {
                "VmRSS" => &mut status.resident_memory,
                "VmSwap" => &mut status.swapped_memory,
                "voluntary_ctxt_switches" => &mut status.voluntary_switches,
                "nonvoluntary_ctxt_switches" => &mut status.involuntary_switches,
                _ => continue,
            };
            *metric = value.trim().trim_end_matches(" kB").parse().unwrap_or(0);
        }
        status
    }
}

/// proc_pid_stat(5), field 3, with the letters of all kernels.
fn state(letter: char) -> ProcessState {
    match letter {
        'R' | 'W' => ProcessState::Running,
        'S' => ProcessState::Sleeping,
        'D' => ProcessState::DiskSleep,
        'T' => ProcessState::Stopped,
        't' => ProcessState::Traced,
        'Z' | 'X' | 'x' => ProcessState::Zombie,
        'I' | 'P' => ProcessState::Idle,
        _ => ProcessState::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::process::{Child, Command};

    /// A process whose name is its own.
    fn start(program: &std::path::Path) -> Child {
        Command::new(program).arg("1000").spawn().unwrap()
    }

    fn end(mut child: Child) {
        child.kill().unwrap();
        child.wait().unwrap();
    }

    #[test]
    fn status_of_programs_and_of_threads_of_the_kernel() {
        let status = Status::parse(include_str!("../recorded/process-status-6.18"));
        assert_eq!((status.resident_memory, status.swapped_memory), (28_911, 128));
        assert_eq!((status.voluntary_switches, status.involuntary_switches), (40_122, 318));
        let status = Status::parse(include_str!("../recorded/process-status-kernel-thread"));
        assert_eq!((status.resident_memory, status.voluntary_switches), (0, 9_913));
    }

    #[test]
    fn this_process_can_be_sampled_again_and_again() {
        let mut probe = Process::new(ProcessChoice::Own);
        let (first, second) = (probe.sample().unwrap(), probe.sample().unwrap());
        assert_eq!((first.pid, second.pid), (std::process::id(), std::process::id()));
        assert!(
            first.resident_memory > 0 && first.threads > 0 && first.virtual_memory > first.resident_memory
        );
        assert!(second.minor_faults >= first.minor_faults && first.minor_faults > 0);
    }

    #[test]
    fn a_process_that_ends_and_is_started_again_is_found_again() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join(format!("watch{}", std::process::id()));
        std::fs::copy("/bin/sleep", &program).unwrap();
        let name = program.file_name().unwrap().to_str().unwrap().to_owned();
        let mut probe = Process::new(ProcessChoice::Name(name.clone()));
        assert!(probe.sample().unwrap_err().to_string().contains(&name));

        let started = std::time::Instant::now();
        let mut again = || loop {
            assert!(started.elapsed().as_secs() < 20, "not found again");
            if let Ok(sample) = probe.sample() {
                break sample.pid;
            }
            std::thread::park_timeout(std::time::Duration::from_millis(20));
        };
        let first = start(&program);
        assert_eq!(again(), first.id());
        end(first);
        let second = start(&program);
        assert_eq!(again(), second.id());
        end(second);
        let error = probe.sample().unwrap_err().to_string();
        assert!(error.contains(&name), "{error}");
    }

    #[test]
    fn a_number_that_no_process_has_is_an_error_that_names_it() {
        let error = Process::new(ProcessChoice::Pid(4_194_305)).sample().unwrap_err().to_string();
        assert!(error.contains("/proc/4194305/stat"), "{error}");
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_a_panic(text in "(VmRSS|:| kB|[0-9]{1,21}|\n|\\PC){0,100}") {
            Status::parse(&text);
        }
    }
}

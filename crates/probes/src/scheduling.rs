//! `LinuxSchedulingProbe`: run and wait times of the threads of a process, from `/proc/PID/task/TID/schedstat`.

use crate::{
    generated::oasis::system::{LinuxSchedulingProbe, ThreadScheduling},
    proc_file::unexpected,
    watched_process::{ProcessChoice, Stat, WatchedProcess},
};
use oasis_ei_node::{Parameter, ReadyMadeProbe};
use oasis_probe::Probe;
use std::{fs, io, path::Path};

/// Maximum threads of one process: each takes three files.
const MOST_THREADS: usize = 256;

/// The entry in [`crate::PROBES`].
pub(crate) const READY_MADE: ReadyMadeProbe = ReadyMadeProbe {
    name: "scheduling",
    measures: "time that threads run, and time that they wait for a processor: all together, and each",
    instances: "one",
    parameters: &[
        Parameter { name: "name", meaning: "the oldest process with this name" },
        Parameter { name: "pid", meaning: "its number; default: the node's own" },
        Parameter { name: "thread", meaning: "only threads of this name" },
    ],
    types: &["LinuxSchedulingProbe"],
    add: |node, choice| {
        let thread = choice.text("thread")?.map(str::to_owned);
        choice.periodic(node, "scheduling", Scheduling::new(ProcessChoice::parse(choice)?, thread))
    },
};

/// The threads of one process.
#[derive(Debug)]
pub struct Scheduling {
    process: WatchedProcess,
    only: Option<String>,
    totals: Totals,
}

impl Scheduling {
    /// All threads of a process, or only those with a name. The process need not run yet.
    pub fn new(which: ProcessChoice, only: Option<String>) -> Self {
        Self { process: WatchedProcess::new(which), only, totals: Totals::default() }
    }
}

impl Probe for Scheduling {
    type Sample = LinuxSchedulingProbe;

    fn sample(&mut self) -> io::Result<LinuxSchedulingProbe> {
        let Self { process, only, totals } = self;
        let which = process.which().clone();
        let mut threads = process.with(|pid| threads(pid, &which))?;
        threads.retain(|thread| only.as_ref().is_none_or(|name| *name == thread.name));
        if let (Some(name), true) = (only, threads.is_empty()) {
            return Err(io::Error::new(io::ErrorKind::NotFound, format!("no thread with the name {name}")));
        }
        totals.take(&threads);
        let Totals { run_time, wait_time, timeslices, .. } = *totals;
        Ok(LinuxSchedulingProbe { run_time, wait_time, timeslices, threads })
    }
}

/// Sums that only grow, although counters disappear with their threads.
#[derive(Debug, Default)]
struct Totals {
    run_time: u64,
    wait_time: u64,
    timeslices: u64,
    before: Vec<ThreadScheduling>,
}

impl Totals {
    /// Adds the change of each thread since the previous call; for a new thread, all of its counters.
    fn take(&mut self, threads: &[ThreadScheduling]) {
        let new = ThreadScheduling::default();
        for thread in threads {
            // Counters that decrease belong to a new thread that reuses the number.
            let same = |old: &&ThreadScheduling| old.tid == thread.tid && old.run_time <= thread.run_time;
            let old = self.before.iter().find(same).unwrap_or(&new);
            self.run_time = self.run_time.wrapping_add(thread.run_time - old.run_time);
            self.wait_time = self.wait_time.wrapping_add(thread.wait_time.saturating_sub(old.wait_time));
            self.timeslices = self.timeslices.wrapping_add(thread.timeslices.saturating_sub(old.timeslices));
        }
        self.before = threads.to_vec();
    }
}

/// The threads that the process has now.
fn threads(pid: u32, which: &ProcessChoice) -> io::Result<Vec<ThreadScheduling>> {
    let process = format!("/proc/{pid}");
    let named =
        |path: &Path, error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
    let read = |path: &Path| fs::read_to_string(path).map_err(|error| named(path, error));
    let stat = Path::new(&process).join("stat");
    if Stat::parse(&read(&stat)?).is_none_or(|found| !which.is_still(&found)) {
        return Err(unexpected(&stat.display().to_string(), "the number now belongs to another process"));
    }
    let folder = Path::new(&process).join("task");
    let mut threads = Vec::new();
    for entry in fs::read_dir(&folder).map_err(|error| named(&folder, error))?.take(MOST_THREADS) {
        let path = entry.map_err(|error| named(&folder, error))?.path();
        let Some(tid) = path.file_name().and_then(|name| name.to_str()?.parse().ok()) else { continue };
        match read(&path.join("schedstat")) {
            Ok(text) => {
                threads.extend(parse(tid, &text, read(&path.join("comm")).unwrap_or_default().trim_end()))
            }
            // A thread can end between two reads. If no thread has such a file, the kernel does not write it.
            Err(_) if path.exists() && threads.is_empty() => {
                return Err(unexpected(
                    &path.display().to_string(),
                    "no schedstat: the kernel was built without CONFIG_SCHED_INFO",
                ));
            }
            Err(_) => {}
        }
    }
    Ok(threads)
}

/// Documentation/scheduler/sched-stats.rst: time on a processor, time in the run queue, timeslices.
fn parse(tid: u32, schedstat: &str, name: &str) -> Option<ThreadScheduling> {
    let mut fields = schedstat.split_ascii_whitespace();
    let mut next = || fields.next()?.parse().ok();
    Some(ThreadScheduling {
        tid,
        name: name.into(),
        run_time: next()?,
        wait_time: next()?,
        timeslices: next()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn thread(tid: u32, schedstat: &str) -> ThreadScheduling {
        parse(tid, schedstat, "loop").unwrap()
    }

    #[test]
    fn totals_go_on_when_threads_end_and_their_numbers_are_used_again() {
        let mut totals = Totals::default();
        totals.take(&[thread(1, "100 10 1\n"), thread(2, "50 5 1")]);
        assert_eq!((totals.run_time, totals.wait_time, totals.timeslices), (150, 15, 2));
        totals.take(&[thread(1, "130 10 2")]);
        assert_eq!((totals.run_time, totals.wait_time, totals.timeslices), (180, 15, 3));
        totals.take(&[thread(1, "7 1 1")]);
        assert_eq!((totals.run_time, totals.wait_time, totals.timeslices), (187, 16, 4));
    }

    #[test]
    fn threads_of_this_process_can_be_sampled_one_by_name() {
        let (told, waits) = std::sync::mpsc::channel::<()>();
        let named = std::thread::Builder::new().name("control".into()).spawn(move || waits.recv()).unwrap();
        let sample = Scheduling::new(ProcessChoice::Own, None).sample().unwrap();
        assert!(sample.run_time > 0 && sample.threads.len() > 1, "{sample:?}");
        // The thread gives itself its name some time after it began.
        let mut one = Scheduling::new(ProcessChoice::Own, Some("control".into()));
        while one.sample().is_err() {
            std::thread::yield_now();
        }
        assert_eq!(one.sample().unwrap().threads.len(), 1);
        drop(told);
        let _ = named.join().unwrap();
    }

    #[test]
    fn a_missing_process_is_an_error_that_names_it() {
        let error = Scheduling::new(ProcessChoice::Pid(4_194_305), None).sample().unwrap_err().to_string();
        assert!(error.contains("/proc/4194305"), "{error}");
        let error =
            Scheduling::new(ProcessChoice::Own, Some("nonesuch".into())).sample().unwrap_err().to_string();
        assert!(error.contains("nonesuch"), "{error}");
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_a_panic(texts in prop::collection::vec("([0-9]{1,20}| |\n|\\PC){0,9}", 0..5)) {
            let mut totals = Totals::default();
            let threads: Vec<_> = texts.iter().filter_map(|text| parse(1, text, "")).collect();
            totals.take(&threads);
        }
    }
}

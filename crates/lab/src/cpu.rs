//! Cores, CPU time and memory of processes.

use anyhow::Context;
use rustix::{
    process::{Resource, Rlimit, getrlimit, setrlimit},
    thread::{CpuSet, sched_setaffinity},
    time::{ClockId, clock_gettime},
};
use std::{fs, time::Duration};

/// Where servers run.
pub const SERVERS: usize = 0;
/// The core of the load generator and of nodes.
pub const CLIENTS: usize = 1;

/// Keeps this thread, and what it starts from now on, on one core.
pub fn confine(core: usize) -> anyhow::Result<()> {
    let mut cores = CpuSet::new();
    cores.set(core);
    sched_setaffinity(None, &cores)
        .with_context(|| format!("cannot run on core {core}: the lab needs two cores"))
}

/// Processor time of a process, in nanoseconds precise: `/proc/PID/stat` counts in hundredths of a second, too coarse for one round.
pub fn time(pid: u32) -> anyhow::Result<Duration> {
    let mut total = Duration::ZERO;
    for task in fs::read_dir(format!("/proc/{pid}/task")).context("the process has ended")? {
        // A thread may end between the two looks.
        let Ok(text) = fs::read_to_string(task?.path().join("schedstat")) else { continue };
        let nanoseconds = text.split_ascii_whitespace().next().and_then(|word| word.parse().ok());
        total += Duration::from_nanos(nanoseconds.context("no schedstat: the kernel does not support it")?);
    }
    Ok(total)
}

/// Processor time of the calling thread.
pub fn this_thread() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    // The clock counts from the beginning of the thread.
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Memory of a process that is in use (`VmRSS`), bytes. Buffers of sockets are the kernel's and not in it.
pub fn resident(pid: u32) -> anyhow::Result<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).context("the process has ended")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib: Option<u64> = line.and_then(|line| line.split_ascii_whitespace().next()?.parse().ok());
    Ok(kib.context("no VmRSS in /proc/PID/status")? * 1024)
}

/// Raises the limit of open files as far as it goes; what is started from here inherits it.
pub fn raise_open_files() -> anyhow::Result<u64> {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum })?;
    Ok(maximum.unwrap_or(u64::MAX))
}

/// Describes the machine.
pub fn machine() -> String {
    let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpuinfo.lines().find(|line| line.starts_with("model name"));
    let model = model.and_then(|line| line.split_once(": ")).map_or("unknown processor", |(_, name)| name);
    // The parallelism of the standard library counts only the cores of this process.
    let cores = cpuinfo.lines().filter(|line| line.starts_with("processor")).count();
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let version = kernel.split('-').next().unwrap_or_default().trim();
    format!("{cores} cores of {model}, Linux {version}")
}

/// Makes this process the load generator, with as many open files as it may have.
pub fn prepare() -> anyhow::Result<()> {
    confine(CLIENTS)?;
    raise_open_files()?;
    Ok(())
}

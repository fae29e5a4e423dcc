//! Cores, CPU time and memory of processes.

use anyhow::Context;
use rustix::{
    process::{Resource, Rlimit, getrlimit, setpriority_process, setrlimit},
    thread::{CpuSet, sched_setaffinity},
    time::{ClockId, clock_gettime},
};
use std::{fs, time::Duration};

/// Core on which servers run.
pub const SERVERS: usize = 0;
/// The core of the load generator and of nodes.
pub const CLIENTS: usize = 1;

/// Files that a process needs besides its connections.
const OTHER_FILES: u64 = 500;

/// Keeps this thread, and what it starts from now on, on one core.
pub fn confine(core: usize) -> anyhow::Result<()> {
    let mut cores = CpuSet::new();
    cores.set(core);
    sched_setaffinity(None, &cores)
        .with_context(|| format!("cannot run on core {core}: the lab needs two cores"))
}

/// Keeps this thread, and what it starts from now on, on the first cores, or on all if there are fewer.
pub fn confine_to_first(count: usize) -> anyhow::Result<()> {
    let mut cores = CpuSet::new();
    (0..count.clamp(1, CpuSet::MAX_CPU)).for_each(|core| cores.set(core));
    sched_setaffinity(None, &cores).with_context(|| format!("cannot run on the first {count} cores"))
}

/// Lets this thread have processor time that no other wants.
pub fn give_way() {
    // On Linux a priority belongs to a thread, and everybody may lower their own.
    let _ = setpriority_process(None, 19);
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

/// Processor time of one thread of a process.
pub fn thread_time(pid: u32, thread: u32) -> anyhow::Result<Duration> {
    let text =
        fs::read_to_string(format!("/proc/{pid}/task/{thread}/schedstat")).context("the thread has ended")?;
    let nanoseconds = text.split_ascii_whitespace().next().and_then(|word| word.parse().ok());
    Ok(Duration::from_nanos(nanoseconds.context("no schedstat: the kernel does not support it")?))
}

/// Names and numbers of a process's threads.
pub fn threads(pid: u32) -> anyhow::Result<Vec<(String, u32)>> {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).context("the process has ended")?;
    let named = tasks.filter_map(|task| {
        let task = task.ok()?;
        // A thread may end between the two looks.
        let name = fs::read_to_string(task.path().join("comm")).ok()?;
        Some((name.trim().to_owned(), task.file_name().to_str()?.parse().ok()?))
    });
    Ok(named.collect())
}

/// Processor time of the calling thread.
pub fn this_thread() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    // The clock counts from the beginning of the thread.
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Memory of a process that is in use (`VmRSS`), bytes. Buffers of sockets are the kernel's and not in it.
pub fn resident(pid: u32) -> anyhow::Result<u64> {
    status(pid, "VmRSS:")
}

/// Memory in use, with pages that several processes use divided by their number (`Pss`), bytes.
pub fn proportional(pid: u32) -> anyhow::Result<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).context("the process has ended")?;
    let line = text.lines().find_map(|line| line.strip_prefix("Pss:"));
    let kib: Option<u64> = line.and_then(|line| line.split_ascii_whitespace().next()?.parse().ok());
    Ok(kib.context("no Pss in /proc/PID/smaps_rollup")? * 1024)
}

/// Memory in use that is no file's (`RssAnon`), bytes: the process shares it with no other.
pub fn private(pid: u32) -> anyhow::Result<u64> {
    status(pid, "RssAnon:")
}

/// A line of `/proc/PID/status`, in bytes.
fn status(pid: u32, name: &str) -> anyhow::Result<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).context("the process has ended")?;
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    let kib: Option<u64> = line.and_then(|line| line.split_ascii_whitespace().next()?.parse().ok());
    Ok(kib.with_context(|| format!("no {name} in /proc/PID/status"))? * 1024)
}

/// A process and those that it has started.
pub fn family(pid: u32) -> Vec<u32> {
    let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    let children = children.split_ascii_whitespace().filter_map(|child| child.parse().ok());
    [pid].into_iter().chain(children.flat_map(family)).collect()
}

/// Ticks of all cores together: busy ones, and all.
pub fn system_ticks() -> Option<(u64, u64)> {
    let stat = fs::read_to_string("/proc/stat").ok()?;
    let ticks: Vec<u64> =
        stat.lines().next()?.split_ascii_whitespace().skip(1).filter_map(|word| word.parse().ok()).collect();
    // user, nice, system, idle, iowait, and others that are busy: proc_stat(5).
    let idle = ticks.get(3)? + ticks.get(4)?;
    let all = ticks.iter().take(8).sum::<u64>();
    Some((all.saturating_sub(idle), all))
}

/// Memory of the machine by its name in `/proc/meminfo`, in bytes.
pub fn memory(name: &str) -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    Some(line.split_ascii_whitespace().next()?.parse::<u64>().ok()? * 1024)
}

/// Raises the limit of open files as far as it goes; what is started from here inherits it.
pub fn raise_open_files() -> anyhow::Result<u64> {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum })?;
    Ok(maximum.unwrap_or(u64::MAX))
}

/// Connections that a process may have: its limit of open files, less what else it opens.
pub fn most_connections() -> usize {
    let open_files = getrlimit(Resource::Nofile).maximum.unwrap_or(u64::MAX);
    usize::try_from(open_files.saturating_sub(OTHER_FILES)).unwrap_or(usize::MAX)
}

/// All cores of the machine; the parallelism of the standard library counts only those of this process.
pub fn count() -> usize {
    let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    cpuinfo.lines().filter(|line| line.starts_with("processor")).count().max(1)
}

/// Precedes the version of the kernel in the description of a machine.
pub const KERNEL: &str = ", Linux ";

/// Describes the machine.
pub fn machine() -> String {
    let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpuinfo.lines().find(|line| line.starts_with("model name"));
    let model = model.and_then(|line| line.split_once(": ")).map_or("unknown processor", |(_, name)| name);
    let cores = count();
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let version = kernel.split('-').next().unwrap_or_default().trim();
    format!("{cores} cores of {model}{KERNEL}{version}")
}

/// Makes this process the load generator, with as many open files as it may have.
pub fn prepare() -> anyhow::Result<()> {
    confine(CLIENTS)?;
    raise_open_files()?;
    Ok(())
}

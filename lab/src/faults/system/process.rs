//! Signals and memory of a process.

use anyhow::Context;
use rustix::process::{Pid, Signal, kill_process};
use std::{fs, process::Child};

/// Sends a signal to a child that was not waited for.
pub fn signal(child: &Child, signal: Signal) -> anyhow::Result<()> {
    kill_process(Pid::from_child(child), signal).context("the process has ended")
}

/// Most memory that a process ever used (`VmHWM`), bytes; 0 if it has ended.
pub fn peak_memory(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib: Option<u64> = line.and_then(|line| line.split_ascii_whitespace().next()?.parse().ok());
    kib.unwrap_or_default() * 1024
}

//! A failing or hanging disk, simulated by strace, which injects errors or delays into syncs.

use super::Oasis;
use rustix::process::{Pid, Signal, kill_process};
use std::{
    io::{self, BufRead, BufReader, Write},
    process::{Child, ChildStderr, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

/// Timeout of detaching.
const DETACH_TIMEOUT: Duration = Duration::from_secs(5);

/// Until it is dropped, every sync of a process fails with EIO, or hangs.
pub struct FailingSyncs {
    strace: Child,
    /// Kept open for its last output.
    _said: BufReader<ChildStderr>,
}

impl FailingSyncs {
    /// Returns `None` without strace, or without permission to trace, and prints the reason.
    pub fn of(process: &Oasis) -> Option<Self> {
        Self::inject(process, "error=EIO")
    }

    /// The same, but each sync takes an hour.
    pub fn hanging(process: &Oasis) -> Option<Self> {
        Self::inject(process, "delay_enter=3600s")
    }

    fn inject(process: &Oasis, fault: &str) -> Option<Self> {
        let id = process.id().to_string();
        let syncs = "fsync,fdatasync,sync_file_range";
        let strace = Command::new("strace")
            .args(["-f", "-p", &id, "-o", "/dev/null", "-e", "signal=none"])
            .args(["-e", &format!("trace={syncs}"), "-e", &format!("inject={syncs}:{fault}")])
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .spawn();
        let mut strace = match strace {
            Ok(strace) => strace,
            Err(error) => return skip(&format!("there is no strace ({error}): install strace")),
        };
        // strace reports that it is attached, or why not.
        let mut said = BufReader::new(strace.stderr.take().expect("a pipe"));
        let mut line = String::new();
        said.read_line(&mut line).expect("the pipe is read");
        let failing = Self { strace, _said: said };
        if line.contains("attached") {
            Some(failing)
        } else {
            skip(&format!("strace may not trace here: {line}"))
        }
    }
}

/// Writes directly, because output of macros is captured for failed tests.
fn skip(why: &str) -> Option<FailingSyncs> {
    let _ = writeln!(io::stderr(), "SKIPPED: {why}");
    None
}

impl Drop for FailingSyncs {
    fn drop(&mut self) {
        if let Ok(Some(_)) = self.strace.try_wait() {
            return;
        }
        // On SIGINT it detaches cleanly, unless a thread of an ended process is in a sync that hangs.
        let asked = Instant::now();
        let _ = kill_process(Pid::from_child(&self.strace), Signal::INT);
        while asked.elapsed() < DETACH_TIMEOUT {
            if let Ok(Some(_)) = self.strace.try_wait() {
                return;
            }
            thread::park_timeout(Duration::from_millis(10));
        }
        let _ = self.strace.kill();
        let _ = self.strace.wait();
    }
}

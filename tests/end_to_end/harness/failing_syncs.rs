//! A failing disk, simulated by strace, which injects errors into syncs.

use super::Oasis;
use rustix::process::{Pid, Signal, kill_process};
use std::{
    io::{self, BufRead, BufReader, Write},
    process::{Child, ChildStderr, Command, Stdio},
};

/// Until it is dropped, every sync of a process fails with EIO.
pub struct FailingSyncs {
    strace: Child,
    /// Kept open for its last output.
    _said: BufReader<ChildStderr>,
}

impl FailingSyncs {
    /// Returns `None` without strace, or without permission to trace, and prints the reason.
    pub fn of(process: &Oasis) -> Option<Self> {
        let id = process.id().to_string();
        let syncs = "fsync,fdatasync,sync_file_range";
        let strace = Command::new("strace")
            .args(["-f", "-p", &id, "-o", "/dev/null", "-e", "signal=none"])
            .args(["-e", &format!("trace={syncs}"), "-e", &format!("inject={syncs}:error=EIO")])
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .spawn();
        let mut strace = match strace {
            Ok(strace) => strace,
            Err(error) => return skip(&format!("there is no strace ({error}): install strace")),
        };
        // It reports that it is attached, or why not.
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
        // On SIGTERM it detaches cleanly.
        let _ = kill_process(Pid::from_child(&self.strace), Signal::INT);
        let _ = self.strace.wait();
    }
}

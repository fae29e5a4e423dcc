//! A disk that fails, as far as a process can tell: strace answers its syncs in the kernel's place.

use super::Oasis;
use rustix::process::{Pid, Signal, kill_process};
use std::{
    io::{self, BufRead, BufReader, Write},
    process::{Child, ChildStderr, Command, Stdio},
};

/// As long as it lives, whatever a process syncs fails with EIO, and nothing is synced.
pub struct FailingSyncs {
    strace: Child,
    /// Kept open: what it says at its end has to go somewhere.
    _said: BufReader<ChildStderr>,
}

impl FailingSyncs {
    /// None where there is no strace, or it may not trace other processes: that is said.
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
        // It says that it is there, or why not.
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

/// Not by a macro, whose words are kept back for tests that fail.
fn skip(why: &str) -> Option<FailingSyncs> {
    let _ = writeln!(io::stderr(), "SKIPPED: {why}");
    None
}

impl Drop for FailingSyncs {
    fn drop(&mut self) {
        if let Ok(Some(_)) = self.strace.try_wait() {
            return;
        }
        // Asked to end, it lets go of what it traces in good order.
        let _ = kill_process(Pid::from_child(&self.strace), Signal::INT);
        let _ = self.strace.wait();
    }
}

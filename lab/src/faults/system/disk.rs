//! Bad disks: a small one that fills up, and syncs that fail or hang.

use anyhow::Context;
use rustix::process::{Pid, Signal, kill_process};
use std::{
    fs::{self, File},
    io::{BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{Child, ChildStderr, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

/// A `tmpfs`, mounted as long as it lives.
#[derive(Debug)]
pub struct SmallDisk(PathBuf);

impl SmallDisk {
    /// Mounts a disk of this size. Fails without root.
    pub fn mount(folder: &Path, mebibytes: u64) -> anyhow::Result<Self> {
        fs::create_dir_all(folder)?;
        let size = format!("size={mebibytes}m");
        let mounted =
            Command::new("mount").args(["-t", "tmpfs", "-o", &size, "tmpfs"]).arg(folder).output()?;
        let error = String::from_utf8_lossy(&mounted.stderr).trim().to_owned();
        mounted.status.success().then(|| Self(folder.to_owned())).context(error)
    }

    fn filler(&self) -> PathBuf {
        self.0.join("filler")
    }

    /// Another program takes all the room.
    pub fn fill(&self) -> anyhow::Result<()> {
        let mut filler = File::options().create(true).append(true).open(self.filler())?;
        while filler.write_all(&[1; 4_096]).is_ok() {}
        Ok(())
    }

    /// Removes the file that fills the disk.
    pub fn make_room(&self) -> anyhow::Result<()> {
        fs::remove_file(self.filler()).context("the disk is not full")
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // Lazily, in case that a process still ends.
        let _ = Command::new("umount").arg("--lazy").arg(&self.0).status();
    }
}

/// Effect of strace on each sync of a process.
#[derive(Debug, Clone, Copy)]
pub enum SyncFault {
    /// EIO.
    Fails,
    /// The sync takes an hour.
    Hangs,
}

/// Longest for strace to detach.
const DETACH_TIMEOUT: Duration = Duration::from_secs(5);

/// Until it is dropped, syncs of a process fail or hang.
#[derive(Debug)]
pub struct BadSyncs {
    strace: Child,
    /// Kept open for its last output.
    _said: BufReader<ChildStderr>,
}

impl BadSyncs {
    /// Attaches strace. Fails without it, or without permission to trace.
    pub fn inject(process: u32, fault: SyncFault) -> anyhow::Result<Self> {
        let syncs = "fsync,fdatasync,sync_file_range";
        let fault = match fault {
            SyncFault::Fails => "error=EIO",
            SyncFault::Hangs => "delay_enter=3600s",
        };
        let mut strace = Command::new("strace")
            .args(["-f", "-p", &process.to_string(), "-o", "/dev/null", "-e", "signal=none"])
            .args(["-e", &format!("trace={syncs}"), "-e", &format!("inject={syncs}:{fault}")])
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .context("there is no strace: install strace")?;
        // strace reports that it is attached, or why not.
        let mut said = BufReader::new(strace.stderr.take().context("a process without output")?);
        let mut line = String::new();
        said.read_line(&mut line)?;
        let bad = Self { strace, _said: said };
        line.contains("attached").then_some(bad).with_context(|| format!("strace may not trace: {line}"))
    }
}

impl Drop for BadSyncs {
    fn drop(&mut self) {
        // On SIGINT it detaches, unless a thread of an ended process is in a sync that hangs.
        let asked = Instant::now();
        let _ = kill_process(Pid::from_child(&self.strace), Signal::INT);
        while asked.elapsed() < DETACH_TIMEOUT {
            if let Ok(Some(_)) = self.strace.try_wait() {
                return;
            }
            thread::sleep(Duration::from_millis(10));
        }
        let _ = self.strace.kill();
        let _ = self.strace.wait();
    }
}

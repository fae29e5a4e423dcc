//! A process of the load.

use anyhow::Context;
use std::{
    env,
    os::unix::process::CommandExt,
    process::{Child, ChildStdout, Command, Stdio},
};

/// Ends when it is dropped.
#[derive(Debug)]
pub struct LoadProcess(Child);

impl LoadProcess {
    /// Starts the lab's binary with a command and its argument; returns what it prints, too.
    pub fn start(verb: &str, orders: &str) -> anyhow::Result<(Self, ChildStdout)> {
        let mut command = Command::new(env::current_exe()?);
        command.args([verb, orders]).stdin(Stdio::null()).stdout(Stdio::piped());
        // Ctrl-C is for the runner, which ends its processes.
        command.process_group(0);
        let mut process = Self(command.spawn().context("cannot start a process of the load")?);
        let stdout = process.0.stdout.take().context("a process without output")?;
        Ok((process, stdout))
    }

    /// Its number.
    pub fn pid(&self) -> u32 {
        self.0.id()
    }
}

impl Drop for LoadProcess {
    fn drop(&mut self) {
        // The process may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

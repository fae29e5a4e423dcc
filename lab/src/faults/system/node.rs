//! A node's process, seen from the lab.

use super::{journal, process, source::SourceSettings};
use anyhow::{Context, bail};
use rustix::process::Signal;
use std::{
    env,
    io::{BufRead, BufReader, Write},
    path::PathBuf,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

/// Longest for a clean end: a node waits two seconds for its DAC.
const STOP_TIMEOUT: Duration = Duration::from_secs(20);

/// A node that publishes.
#[derive(Debug)]
pub struct NodeProcess {
    settings: SourceSettings,
    child: Child,
    orders: Option<ChildStdin>,
    /// Kept open: a closed pipe would end the process.
    _stdout: BufReader<ChildStdout>,
}

impl NodeProcess {
    /// Starts one, in this network namespace if there is one, and waits until it publishes.
    pub fn start(
        settings: SourceSettings,
        variables: &[(&str, PathBuf)],
        namespace: Option<&str>,
    ) -> anyhow::Result<Self> {
        let program = env::current_exe()?;
        let mut command = match namespace {
            None => Command::new(program),
            Some(namespace) => {
                // The shell replaces itself with the program: signals reach the node.
                let mut ip = Command::new("ip");
                ip.args(["netns", "exec", namespace]).arg(program);
                ip
            }
        };
        let mut child = command
            .envs(variables.iter().cloned())
            .arg("source")
            .args(settings.arguments())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("cannot start a node")?;
        let orders = child.stdin.take();
        let mut stdout = BufReader::new(child.stdout.take().context("a process without output")?);
        let mut line = String::new();
        stdout.read_line(&mut line)?;
        if !line.starts_with("ready") {
            bail!("node {} did not start: {}", settings.name, child.wait()?);
        }
        Ok(Self { settings, child, orders, _stdout: stdout })
    }

    /// Returns the settings with which it was started.
    pub fn settings(&self) -> &SourceSettings {
        &self.settings
    }

    /// Samples that it has generated.
    pub fn generated(&self) -> u64 {
        journal::read(&self.settings.journal)
    }

    /// Sends a signal.
    pub fn signal(&self, signal: Signal) -> anyhow::Result<()> {
        process::signal(&self.child, signal)
    }

    /// Stops taking samples. The node's process keeps running.
    pub fn end_samples(&mut self) -> anyhow::Result<()> {
        let orders = self.orders.as_mut().context("the node ends already")?;
        writeln!(orders).context("the node has ended")
    }

    /// A clean end.
    pub fn stop(mut self) -> anyhow::Result<()> {
        self.orders = None;
        let asked = Instant::now();
        while asked.elapsed() < STOP_TIMEOUT {
            if let Some(status) = self.child.try_wait()? {
                return if status.success() { Ok(()) } else { bail!("a node failed: {status}") };
            }
            thread::sleep(Duration::from_millis(10));
        }
        bail!("node {} did not end within {} s", self.settings.name, STOP_TIMEOUT.as_secs())
    }

    /// `kill -9`, and gone when this returns.
    pub fn kill(self) {
        // Dropping does that.
    }
}

impl Drop for NodeProcess {
    fn drop(&mut self) {
        // The process may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

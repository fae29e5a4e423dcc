//! A process of the real binary: a DAC of the other scenarios, or any command on a machine of a network.

use super::{http, network::Machine, process};
use anyhow::{Context, bail};
use rustix::process::Signal;
use serde_json::Value;
use std::{
    env,
    fs::{self, File},
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, ChildStdout, Command, ExitStatus, Stdio},
    thread,
    time::{Duration, Instant},
};

/// Longest for a clean end.
const STOP_TIMEOUT: Duration = Duration::from_secs(75);

/// Command, folder and environment of a program.
#[derive(Debug, Clone)]
pub struct ProgramSettings {
    /// The machine.
    pub machine: Machine,
    /// The binary.
    pub oasis: PathBuf,
    /// Command and flags.
    pub arguments: Vec<String>,
    /// The file that its log goes to, of all its processes; accounts lie beside it.
    pub log: PathBuf,
}

impl ProgramSettings {
    fn command(&self) -> Command {
        let mut command = self.machine.command();
        clear_environment(&mut command);
        command.env("OASIS_ACCESS", self.log.with_extension("access")).env("OASIS_LOG", "info");
        command.arg(&self.oasis).args(&self.arguments).arg("--ready-json");
        command
    }
}

/// The environment of whoever runs the lab must not change a scenario.
pub fn clear_environment(command: &mut Command) {
    for (name, _) in env::vars_os().filter(|(name, _)| name.as_encoded_bytes().starts_with(b"OASIS_")) {
        command.env_remove(name);
    }
}

/// A program that is ready.
#[derive(Debug)]
pub struct Program {
    child: Child,
    /// Name for messages.
    name: String,
    /// Message that it printed when it was ready.
    ready: Value,
    /// Kept open: a closed pipe would end the process.
    _stdout: BufReader<ChildStdout>,
}

impl Program {
    /// Starts one and waits until it is ready.
    pub fn start(settings: &ProgramSettings) -> anyhow::Result<Self> {
        let name = format!("oasis {}", settings.arguments.join(" "));
        Self::run(settings.command(), name, &settings.log)
    }

    /// Starts a command and waits until it is ready. Its log is appended to this file.
    pub fn run(mut command: Command, name: String, log: &Path) -> anyhow::Result<Self> {
        let file = File::options().create(true).append(true).open(log)?;
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(file)
            .spawn()
            .with_context(|| format!("cannot start {}", command.get_program().display()))?;
        let mut stdout = BufReader::new(child.stdout.take().context("a process without output")?);
        let mut line = String::new();
        stdout.read_line(&mut line)?;
        let Ok(ready) = serde_json::from_str(&line) else {
            let (status, said) = (child.wait()?, last_lines(log));
            bail!("{name} did not start ({status}): {said}");
        };
        Ok(Self { child, name, ready, _stdout: stdout })
    }

    /// Returns the value of this name in the message that it printed when it was ready; empty if there is none.
    pub fn said(&self, name: &str) -> &str {
        self.ready[name].as_str().unwrap_or_default()
    }

    /// Host and port of API and doors.
    pub fn http(&self) -> &str {
        self.said("http").trim_start_matches("http://")
    }

    /// Its number.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// The JSON at `path`.
    pub fn get(&self, path: &str) -> anyhow::Result<Value> {
        http::get(self.http(), path)
    }

    /// Most memory it ever used, bytes.
    pub fn peak_memory(&self) -> u64 {
        process::peak_memory(self.child.id())
    }

    /// Sends a signal.
    pub fn signal(&self, signal: Signal) -> anyhow::Result<()> {
        process::signal(&self.child, signal)
    }

    /// `kill -9`, and gone when this returns.
    pub fn kill(self) {
        // Dropping does that.
    }

    /// Returns the exit status, if the process has ended.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().ok().flatten()
    }

    /// SIGTERM, and how it ended.
    pub fn stop(mut self) -> anyhow::Result<ExitStatus> {
        self.signal(Signal::TERM)?;
        let asked = Instant::now();
        while asked.elapsed() < STOP_TIMEOUT {
            if let Some(status) = self.child.try_wait()? {
                return Ok(status);
            }
            thread::sleep(Duration::from_millis(10));
        }
        bail!("{} did not end within {} s after SIGTERM", self.name, STOP_TIMEOUT.as_secs())
    }

    /// SIGTERM, and a clean end.
    pub fn finish(self) -> anyhow::Result<()> {
        let name = self.name.clone();
        let status = self.stop()?;
        if status.success() { Ok(()) } else { bail!("{name} failed: {status}") }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // The process may have ended by itself. SIGKILL ends a stopped process too.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The end of a log, for messages.
pub fn last_lines(log: &Path) -> String {
    let text = fs::read_to_string(log).unwrap_or_default();
    let lines: Vec<_> = text.lines().rev().take(3).collect();
    lines.into_iter().rev().collect::<Vec<_>>().join(" | ")
}

/// Returns the path of the log of a program.
pub fn log(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}.log"))
}

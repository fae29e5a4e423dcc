//! A process of the real binary on a machine of a network.

use super::{dac::last_lines, http, network::Machine, process};
use anyhow::{Context, bail};
use rustix::process::Signal;
use serde_json::Value;
use std::{
    env,
    fs::File,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, ChildStdout, Stdio},
    thread,
    time::{Duration, Instant},
};

/// Longest for a clean end.
const ENDING: Duration = Duration::from_secs(75);

/// What to start, and where.
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

/// A program that is ready.
#[derive(Debug)]
pub struct Program {
    child: Child,
    http: String,
    /// Kept open: a closed pipe would end the process.
    _stdout: BufReader<ChildStdout>,
}

impl Program {
    /// Starts one and waits until it is ready.
    pub fn start(settings: &ProgramSettings) -> anyhow::Result<Self> {
        let log = File::options().create(true).append(true).open(&settings.log)?;
        let mut command = settings.machine.command();
        // The environment of whoever runs the lab must not change a scenario.
        for (name, _) in env::vars_os().filter(|(name, _)| name.as_encoded_bytes().starts_with(b"OASIS_")) {
            command.env_remove(name);
        }
        command.env("OASIS_ACCESS", settings.log.with_extension("access")).env("OASIS_LOG", "info");
        command.arg(&settings.oasis).args(&settings.arguments).arg("--ready-json");
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .with_context(|| format!("cannot start {}", settings.oasis.display()))?;
        let mut stdout = BufReader::new(child.stdout.take().context("a process without output")?);
        let mut line = String::new();
        stdout.read_line(&mut line)?;
        let Ok(ready) = serde_json::from_str::<Value>(&line) else {
            let (status, said) = (child.wait()?, last_lines(&settings.log));
            bail!("oasis {} did not start ({status}): {said}", settings.arguments.join(" "));
        };
        let http = ready["http"].as_str().unwrap_or_default().trim_start_matches("http://").to_owned();
        Ok(Self { child, http, _stdout: stdout })
    }

    /// The JSON at `path`.
    pub fn get(&self, path: &str) -> anyhow::Result<Value> {
        http::get(&self.http, path)
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

    /// SIGTERM, and a clean end.
    pub fn stop(mut self) -> anyhow::Result<()> {
        self.signal(Signal::TERM)?;
        let asked = Instant::now();
        while asked.elapsed() < ENDING {
            if let Some(status) = self.child.try_wait()? {
                return if status.success() { Ok(()) } else { bail!("a process failed: {status}") };
            }
            thread::sleep(Duration::from_millis(10));
        }
        bail!("a process did not end within {} s after SIGTERM", ENDING.as_secs())
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // It may have ended by itself. SIGKILL ends a stopped process too.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Where the log of a program is.
pub fn log(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}.log"))
}

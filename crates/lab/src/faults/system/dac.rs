//! The DAC: its settings, and a process of the real binary.

use super::{
    http::{self, Answer},
    process,
};
use anyhow::{Context, bail};
use rustix::process::Signal;
use serde_json::Value;
use std::{
    fmt::Write as _,
    fs::{self, File},
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, ChildStdout, Command, ExitStatus, Stdio},
    thread,
    time::{Duration, Instant},
};

/// Longest for a clean end.
const ENDING: Duration = Duration::from_secs(75);

/// Where a DAC listens, and what it keeps.
#[derive(Debug, Clone)]
pub struct DacSettings {
    /// The binary.
    pub oasis: PathBuf,
    /// Configuration and log lie here.
    pub folder: PathBuf,
    /// Folder of the archive.
    pub archive: PathBuf,
    /// Address of API and doors.
    pub listen: String,
    /// Address of the data channel.
    pub channel: String,
    /// Memory that peers can cause, bytes.
    pub memory_bytes: u64,
    /// Memory for all topic logs, bytes.
    pub log_bytes: u64,
    /// Memory for one topic, bytes.
    pub topic_bytes: u64,
    /// Room left on the archive's disk, bytes.
    pub min_free_bytes: u64,
    /// Whether datagrams are accepted.
    pub udp: bool,
    /// Limit of open files; none is the system's.
    pub open_files: Option<u64>,
    /// More sections of the configuration.
    pub more: String,
    /// Variables of its environment.
    pub variables: Vec<(&'static str, PathBuf)>,
}

impl DacSettings {
    fn config(&self) -> String {
        let mut text = String::new();
        let _ = write!(
            text,
            "memory_bytes = {}\n\n[log]\ntotal_bytes = {}\ntopic_bytes = {}\n\n[channel]\nudp = {}\n\n[archive]\ndirectory = {:?}\nmin_free_bytes = {}\n\n{}",
            self.memory_bytes,
            self.log_bytes,
            self.topic_bytes,
            self.udp,
            self.archive,
            self.min_free_bytes,
            self.more
        );
        text
    }

    /// The command that starts it.
    pub fn command(&self) -> anyhow::Result<Command> {
        let config = self.folder.join("oasis.toml");
        fs::write(&config, self.config()).context("cannot write the configuration")?;
        let mut command = match self.open_files {
            // The limit holds from the first moment on.
            Some(files) => {
                let mut shell = Command::new("sh");
                let script = format!("ulimit -n {files} && exec \"$@\"");
                shell.args(["-c", &script, "sh"]).arg(&self.oasis);
                shell
            }
            None => Command::new(&self.oasis),
        };
        // The environment of whoever runs the lab must not change a scenario.
        for (name, _) in
            std::env::vars_os().filter(|(name, _)| name.as_encoded_bytes().starts_with(b"OASIS_"))
        {
            command.env_remove(name);
        }
        command.envs(self.variables.iter().cloned());
        command.env("OASIS_ACCESS", self.folder.join("access"));
        command.env("OASIS_LOG", "warn").args([
            "dac",
            "--listen",
            &self.listen,
            "--channel-listen",
            &self.channel,
            // Hosts of a scenario are network namespaces of this one.
            "--insecure",
        ]);
        command.arg("--config").arg(&config).arg("--ready-json").stdin(Stdio::null());
        Ok(command)
    }

    /// The file that its log goes to, of all its processes.
    pub fn log(&self) -> PathBuf {
        self.folder.join("dac.log")
    }
}

/// A DAC that is ready.
#[derive(Debug)]
pub struct DacProcess {
    child: Child,
    http: String,
    channel: String,
    /// Kept open: a closed pipe would end the process.
    _stdout: BufReader<ChildStdout>,
}

impl DacProcess {
    /// Starts one and waits until it is ready.
    pub fn start(settings: &DacSettings) -> anyhow::Result<Self> {
        let log = File::options().create(true).append(true).open(settings.log())?;
        let mut child = settings
            .command()?
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .with_context(|| format!("cannot start {}", settings.oasis.display()))?;
        let mut stdout = BufReader::new(child.stdout.take().context("a process without output")?);
        let mut line = String::new();
        stdout.read_line(&mut line)?;
        let ready: Value = serde_json::from_str(&line).unwrap_or_default();
        let (Some(http), Some(channel)) = (ready["http"].as_str(), ready["channel"].as_str()) else {
            let status = child.wait()?;
            bail!("the DAC did not start ({status}): {}", last_lines(&settings.log()));
        };
        let http = http.trim_start_matches("http://").to_owned();
        let channel = channel.to_owned();
        Ok(Self { child, http, channel, _stdout: stdout })
    }

    /// Host and port of API and doors.
    pub fn http(&self) -> &str {
        &self.http
    }

    /// Host and port for nodes.
    pub fn channel(&self) -> &str {
        &self.channel
    }

    /// Its number.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// The JSON at `path`.
    pub fn get(&self, path: &str) -> anyhow::Result<Value> {
        http::get(&self.http, path)
    }

    /// The answer to a request without a body.
    pub fn request(&self, method: &str, path: &str, deadline: Duration) -> anyhow::Result<Answer> {
        http::request(&self.http, method, path, deadline)
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

    /// How it ended, if it has.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().ok().flatten()
    }

    /// Whether it has ended, although a tracer may still keep one of its threads.
    pub fn is_over(&self) -> bool {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap_or_default();
        status.is_empty() || status.contains("State:\tZ")
    }

    /// SIGTERM, and how it ended.
    pub fn stop(mut self) -> anyhow::Result<ExitStatus> {
        self.signal(Signal::TERM)?;
        let asked = Instant::now();
        while asked.elapsed() < ENDING {
            if let Some(status) = self.child.try_wait()? {
                return Ok(status);
            }
            thread::sleep(Duration::from_millis(10));
        }
        bail!("the DAC did not end within {} s after SIGTERM", ENDING.as_secs())
    }
}

impl Drop for DacProcess {
    fn drop(&mut self) {
        // It may have ended by itself. SIGKILL ends a stopped process too.
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

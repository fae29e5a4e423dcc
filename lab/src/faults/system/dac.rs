//! The DAC: its settings, and a process of the real binary.

use super::{
    http::{self, Answer},
    program::{Program, clear_environment, last_lines},
};
use anyhow::{Context, bail};
use rustix::process::Signal;
use serde_json::Value;
use std::{
    fmt::Write as _,
    fs,
    path::PathBuf,
    process::{Command, ExitStatus, Stdio},
    time::Duration,
};

/// Addresses, limits and folders of a DAC.
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
        clear_environment(&mut command);
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
pub struct DacProcess(Program);

impl DacProcess {
    /// Starts one and waits until it is ready.
    pub fn start(settings: &DacSettings) -> anyhow::Result<Self> {
        let program = Program::run(settings.command()?, "the DAC".into(), &settings.log())?;
        if program.http().is_empty() || program.said("channel").is_empty() {
            bail!("the DAC did not say where it listens: {}", last_lines(&settings.log()));
        }
        Ok(Self(program))
    }

    /// Host and port of API and doors.
    pub fn http(&self) -> &str {
        self.0.http()
    }

    /// Host and port for nodes.
    pub fn channel(&self) -> &str {
        self.0.said("channel")
    }

    /// Returns a value of the message that it printed when it was ready.
    pub fn said(&self, name: &str) -> &str {
        self.0.said(name)
    }

    /// Its number.
    pub fn id(&self) -> u32 {
        self.0.id()
    }

    /// The JSON at `path`.
    pub fn get(&self, path: &str) -> anyhow::Result<Value> {
        self.0.get(path)
    }

    /// The answer to a request without a body.
    pub fn request(&self, method: &str, path: &str, deadline: Duration) -> anyhow::Result<Answer> {
        http::request(self.http(), method, path, deadline)
    }

    /// Most memory it ever used, bytes.
    pub fn peak_memory(&self) -> u64 {
        self.0.peak_memory()
    }

    /// Sends a signal.
    pub fn signal(&self, signal: Signal) -> anyhow::Result<()> {
        self.0.signal(signal)
    }

    /// `kill -9`, and gone when this returns.
    pub fn kill(self) {
        self.0.kill();
    }

    /// Returns the exit status, if the process has ended.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        self.0.ended()
    }

    /// Whether it has ended, although a tracer may still keep one of its threads.
    pub fn is_over(&self) -> bool {
        let status = fs::read_to_string(format!("/proc/{}/status", self.id())).unwrap_or_default();
        status.is_empty() || status.contains("State:\tZ")
    }

    /// SIGTERM, and how it ended.
    pub fn stop(self) -> anyhow::Result<ExitStatus> {
        self.0.stop()
    }
}

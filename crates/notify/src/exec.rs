//! A program of this host: it gets each notification as JSON on its standard input. No shell is involved, and one runs at a time.

use crate::{
    destination::{AtOnce, Destination, Scope, SendError},
    notification::Notification,
    notification::body::Body,
    setting::{ConfigError, Limits, TIMEOUT, Table},
};
use rustix::process::{Pid, Signal, kill_process_group};
use serde::{Deserialize, Serialize};
use std::{
    fs,
    io::{self, Read, Write},
    os::unix::{fs::MetadataExt, process::CommandExt},
    path::PathBuf,
    process::{Child, Command, ExitStatus, Stdio},
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

/// Most bytes of the standard error that are read, for the reason of a failure.
const LARGEST_ERROR: u64 = 4 << 10;
/// Interval of checks whether a program has ended.
const EXIT_POLL_INTERVAL: Duration = Duration::from_millis(5);
/// Variables that a program needs to find others; nothing else of the DAC's environment is passed to it.
const SEARCH_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// A table `[notify.NAME]` with `kind = "exec"`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ExecConfig {
    /// Absolute path of the program.
    pub program: PathBuf,
    /// Its arguments. Nothing of a notification gets into them.
    pub arguments: Vec<String>,
    /// Address of the page, for links.
    pub page: String,
    /// Runs a minute.
    pub per_minute: u32,
    /// Time in which a notification is tried, in seconds.
    pub give_up_after_seconds: u64,
}

impl Default for ExecConfig {
    fn default() -> Self {
        Self {
            program: PathBuf::new(),
            arguments: Vec::new(),
            page: String::new(),
            per_minute: crate::setting::PER_MINUTE,
            give_up_after_seconds: crate::setting::GIVE_UP_AFTER,
        }
    }
}

impl ExecConfig {
    pub(crate) fn limits(&self, table: Table<'_>) -> Result<Limits, ConfigError> {
        table.limits(self.per_minute, self.give_up_after_seconds)
    }

    pub(crate) fn open(&self, table: Table<'_>) -> Result<Exec, ConfigError> {
        let program = &self.program;
        if program.as_os_str().is_empty() {
            return Err(table.missing("program", "write the absolute path of a program"));
        }
        if !program.is_absolute() {
            let remedy = "write an absolute path, such as \"/usr/local/bin/page-somebody\"";
            return Err(table.value("program", &program.display().to_string(), remedy));
        }
        let bad =
            |why: String| ConfigError::File { setting: table.key("program"), path: program.clone(), why };
        let metadata = fs::metadata(program).map_err(|error| bad(error.to_string()))?;
        let mode = metadata.mode() & 0o777;
        if !metadata.is_file() || mode & 0o111 == 0 {
            return Err(bad("it is no program: run `chmod 755` on it".into()));
        }
        if mode & 0o022 != 0 {
            return Err(bad(format!(
                "others can change it (mode {mode:03o}): run `chmod 755 {}`",
                program.display()
            )));
        }
        let page = crate::url::page(table, &self.page)?;
        Ok(Exec { program: program.clone(), arguments: self.arguments.clone(), page, timeout: TIMEOUT })
    }
}

/// A program.
#[derive(Debug)]
pub struct Exec {
    program: PathBuf,
    arguments: Vec<String>,
    page: String,
    timeout: Duration,
}

impl Destination for Exec {
    fn send(&self, notifications: &[Notification]) -> Result<(), SendError> {
        notifications.iter().try_for_each(|notification| self.run(notification))
    }

    fn most_at_once(&self) -> AtOnce {
        AtOnce::One
    }
}

impl Exec {
    fn run(&self, notification: &Notification) -> Result<(), SendError> {
        let body = serde_json::to_vec(&Body::new(notification, &self.page))
            .map_err(|error| SendError::new(Scope::Final, error.to_string()))?;
        let failed =
            |error: io::Error| SendError::new(Scope::Place, format!("{}: {error}", self.program.display()));
        let mut child = Command::new(&self.program)
            .args(&self.arguments)
            .env_clear()
            .env("PATH", SEARCH_PATH)
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            // A process group of its own lets a timeout end its children too.
            .process_group(0)
            .spawn()
            .map_err(failed)?;
        let errors = talk(&mut child, body);
        let status = self.wait(&mut child).map_err(failed)?;
        // Something that it has started may keep the pipe open.
        let said = errors.recv_timeout(EXIT_POLL_INTERVAL).unwrap_or_default();
        match status {
            Some(status) if status.success() => Ok(()),
            Some(status) => {
                let why = format!("{} ended with {status}: {}", self.program.display(), said.trim());
                Err(SendError::new(Scope::Message, why.trim_end_matches(": ")))
            }
            None => {
                let seconds = self.timeout.as_secs();
                Err(SendError::new(
                    Scope::Place,
                    format!("{} still ran after {seconds} s", self.program.display()),
                ))
            }
        }
    }

    /// Waits until it has ended; kills it after the timeout, with all that it has started.
    fn wait(&self, child: &mut Child) -> io::Result<Option<ExitStatus>> {
        let deadline = Instant::now() + self.timeout;
        loop {
            if let Some(status) = child.try_wait()? {
                return Ok(Some(status));
            }
            if Instant::now() >= deadline {
                if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
                    let _ = kill_process_group(group, Signal::KILL);
                }
                child.wait()?;
                return Ok(None);
            }
            thread::park_timeout(EXIT_POLL_INTERVAL);
        }
    }
}

/// Writes its input and reads its errors, on threads of their own: it may do neither.
fn talk(child: &mut Child, body: Vec<u8>) -> mpsc::Receiver<String> {
    let (sender, errors) = mpsc::channel();
    let (input, output) = (child.stdin.take(), child.stderr.take());
    if let Some(mut input) = input {
        // A program that ends without reading is judged by its status.
        thread::spawn(move || input.write_all(&body));
    }
    if let Some(output) = output {
        thread::spawn(move || {
            let mut bytes = Vec::new();
            let _ = output.take(LARGEST_ERROR).read_to_end(&mut bytes);
            let _ = sender.send(String::from_utf8_lossy(&bytes).into_owned());
        });
    }
    errors
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notification::samples::{hostile, hot, with_text};
    use std::{os::unix::fs::PermissionsExt, path::Path};

    fn script(folder: &Path, text: &str, mode: u32) -> ExecConfig {
        let program = folder.join("program");
        // Not written by this process while another test forks: the system would call it busy.
        let made =
            Command::new("sh").arg("-c").arg("cat > \"$0\"").arg(&program).stdin(Stdio::piped()).spawn();
        let mut made = made.unwrap();
        made.stdin.take().unwrap().write_all(format!("#!/bin/sh\n{text}\n").as_bytes()).unwrap();
        assert!(made.wait().unwrap().success());
        fs::set_permissions(&program, fs::Permissions::from_mode(mode)).unwrap();
        ExecConfig { program, arguments: vec!["$(id)".into(), "a b".into()], ..ExecConfig::default() }
    }

    #[test]
    fn a_program_gets_json_and_its_arguments_as_they_are() {
        let folder = tempfile::tempdir().unwrap();
        let seen = folder.path().join("seen");
        let text = format!(
            "cat > '{0}'; printf '%s|' \"$@\" > '{0}.arguments'; env > '{0}.environment'",
            seen.display()
        );
        let exec = script(folder.path(), &text, 0o755).open(Table("a")).unwrap();
        for text in hostile() {
            exec.send(&[with_text(&text)]).unwrap();
            let json: serde_json::Value = serde_json::from_slice(&fs::read(&seen).unwrap()).unwrap();
            assert_eq!(json["node"], text);
        }
        assert_eq!(fs::read_to_string(folder.path().join("seen.arguments")).unwrap(), "$(id)|a b|");
        let environment = fs::read_to_string(folder.path().join("seen.environment")).unwrap();
        assert!(!environment.contains("CARGO") && environment.contains(SEARCH_PATH), "{environment}");
    }

    #[test]
    fn a_program_that_fails_is_run_again() {
        let folder = tempfile::tempdir().unwrap();
        let exec = script(folder.path(), "echo 'no modem' >&2; exit 3", 0o755).open(Table("a")).unwrap();
        let error = exec.send(&[hot()]).unwrap_err();
        assert_eq!(error.scope, Scope::Message);
        assert!(error.why.contains("exit status: 3"), "{error}");
    }

    #[test]
    fn a_program_that_hangs_is_killed_with_all_that_it_has_started() {
        let folder = tempfile::tempdir().unwrap();
        let exec = script(folder.path(), "sleep 1000 & sleep 1000", 0o755).open(Table("a")).unwrap();
        let exec = Exec { timeout: Duration::from_millis(100), ..exec };
        assert_eq!(exec.send(&[hot()]).unwrap_err().scope, Scope::Place);
    }

    #[test]
    fn a_program_must_be_one_that_only_its_owner_changes() {
        let folder = tempfile::tempdir().unwrap();
        let refused = |config: ExecConfig| config.open(Table("a")).unwrap_err().to_string();
        assert!(refused(ExecConfig::default()).contains("notify.a.program"));
        assert!(refused(ExecConfig { program: "sh".into(), ..ExecConfig::default() }).contains("absolute"));
        assert!(refused(script(folder.path(), "", 0o644)).contains("chmod 755"));
        assert!(refused(script(folder.path(), "", 0o757)).contains("others can change it"));
        assert!(refused(ExecConfig { program: "/none".into(), ..ExecConfig::default() }).contains("/none"));
    }
}

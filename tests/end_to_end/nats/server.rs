//! A NATS server with a folder and a port of its own.

use crate::harness::eventually;
use rustix::process::{Pid, Signal, kill_process};
use std::{
    env, fs,
    net::{TcpListener, TcpStream},
    path::PathBuf,
    process::{Child, Command, Stdio},
};
use tempfile::TempDir;

/// A server that ends with this value.
pub struct Nats {
    folder: TempDir,
    port: u16,
    child: Option<Child>,
}

/// Debian's place is not in the path of every user.
fn binary() -> PathBuf {
    env::var_os("OASIS_NATS_SERVER").map_or_else(|| "/usr/sbin/nats-server".into(), PathBuf::from)
}

impl Nats {
    pub fn start() -> Self {
        Self::with("")
    }

    /// With more lines in its configuration.
    pub fn with(settings: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        // Free a moment ago: another process may take it, and then the server says so.
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let store = folder.path().join("store");
        let config = format!(
            "host: 127.0.0.1\nport: {port}\njetstream {{ store_dir: {store:?}, max_file_store: 8GB }}\n{settings}"
        );
        fs::write(folder.path().join("nats.conf"), config).unwrap();
        let mut nats = Self { folder, port, child: None };
        nats.start_again();
        nats
    }

    pub fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    /// Starts it where it was.
    pub fn start_again(&mut self) {
        let log = fs::File::create(self.folder.path().join("log")).unwrap();
        let started = Command::new(binary())
            .arg("-c")
            .arg(self.folder.path().join("nats.conf"))
            .stdout(Stdio::null())
            .stderr(log)
            .spawn();
        let child =
            started.unwrap_or_else(|error| panic!("{}: {error}: run `make nats-server`", binary().display()));
        self.child = Some(child);
        eventually("NATS", || TcpStream::connect(("127.0.0.1", self.port)).ok().map(drop));
    }

    /// `kill -9`, and gone when this returns.
    pub fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }

    pub fn pause(&mut self) {
        self.signal(Signal::STOP);
    }

    pub fn resume(&mut self) {
        self.signal(Signal::CONT);
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(self.child.as_ref().expect("it runs")), signal).unwrap();
    }
}

impl Drop for Nats {
    fn drop(&mut self) {
        self.kill();
    }
}

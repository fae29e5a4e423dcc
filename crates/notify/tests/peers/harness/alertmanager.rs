//! Debian's Alertmanager, with a folder and a port of its own.

use super::{eventually, has};
use serde_json::Value;
use std::{
    fs,
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    path::Path,
    process::{Child, Command, Stdio},
};
use tempfile::TempDir;

const PROGRAM: &str = "/usr/bin/prometheus-alertmanager";

/// An Alertmanager that ends with this value.
pub struct Alertmanager {
    folder: TempDir,
    port: u16,
    child: Child,
}

impl Alertmanager {
    /// `None` if it is not installed.
    pub fn start() -> Option<Self> {
        if !has(Path::new(PROGRAM), "alertmanager") {
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let config = "route:\n  receiver: nobody\nreceivers:\n- name: nobody\n";
        fs::write(folder.path().join("config.yml"), config).unwrap();
        let child = spawn(&folder, port);
        let started = Self { folder, port, child };
        started.wait();
        Some(started)
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Ends it, and starts one that knows nothing.
    pub fn start_again(&mut self) {
        self.stop();
        fs::remove_dir_all(self.folder.path().join("data")).unwrap();
        self.child = spawn(&self.folder, self.port);
        self.wait();
    }

    pub fn stop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    fn wait(&self) {
        eventually("Alertmanager answers", || self.get("/-/ready").filter(|text| text.contains("200 OK")));
    }

    /// The alerts that it knows and that have not ended.
    pub fn alerts(&self) -> Vec<Value> {
        let answer = self.get("/api/v2/alerts").unwrap();
        let (_, body) = answer.split_once("\r\n\r\n").unwrap();
        serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {answer}"))
    }

    fn get(&self, path: &str) -> Option<String> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).ok()?;
        write!(stream, "GET {path} HTTP/1.0\r\nHost: localhost\r\n\r\n").ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).ok()?;
        Some(answer)
    }
}

fn spawn(folder: &TempDir, port: u16) -> Child {
    let log = fs::File::create(folder.path().join("log")).unwrap();
    let mut command = Command::new(PROGRAM);
    command
        .arg(format!("--config.file={}", folder.path().join("config.yml").display()))
        .arg(format!("--storage.path={}", folder.path().join("data").display()))
        .arg(format!("--web.listen-address=127.0.0.1:{port}"))
        .arg("--cluster.listen-address=")
        .stdout(Stdio::null())
        .stderr(log);
    command.spawn().unwrap()
}

impl Drop for Alertmanager {
    fn drop(&mut self) {
        self.stop();
    }
}

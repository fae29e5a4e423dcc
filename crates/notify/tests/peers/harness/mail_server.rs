//! A mail server: Debian's aiosmtpd.

use super::{TEST_TIMEOUT, has};
use oasis_tls::{Authority, Lifetime};
use serde_json::Value;
use std::{
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::mpsc::{self, Receiver},
    thread,
};
use tempfile::TempDir;

/// Debian's Python, which has Debian's packages.
const PYTHON: &str = "/usr/bin/python3";
const LIBRARY: &str = "/usr/lib/python3/dist-packages/aiosmtpd";

/// A mail server that ends with this value.
pub struct MailServer {
    pub port: u16,
    pub ca: PathBuf,
    pub folder: TempDir,
    lines: Receiver<String>,
    child: Child,
}

/// A mail that the server has taken.
#[derive(Debug)]
pub struct Mail {
    pub facts: Value,
    pub text: String,
}

impl Mail {
    /// A header, unfolded (RFC 5322 2.2.3).
    pub fn header(&self, name: &str) -> Option<String> {
        let (head, _) = self.text.split_once("\r\n\r\n").unwrap();
        let unfolded = head.replace("\r\n ", " ");
        let mut lines = unfolded.split("\r\n").filter_map(|line| line.split_once(": "));
        lines.find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.to_owned())
    }
}

impl MailServer {
    /// `None` if it is not installed. `mode` is `starttls`, `tls` or `none`.
    pub fn start(mode: &str) -> Option<Self> {
        if !has(Path::new(LIBRARY), "mail-server") {
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        let authority = Authority::create(folder.path()).unwrap();
        let issued = authority.issue_server(&["localhost".into()], Lifetime::days(2)).unwrap();
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/peers/harness/mail_server.py");
        let mut child = Command::new(PYTHON)
            .arg(script)
            .arg(mode)
            .args([&issued.certificate, &issued.key])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = mpsc::channel();
        thread::spawn(move || output.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
        let port = lines.recv_timeout(TEST_TIMEOUT).expect("the mail server has a port").parse().unwrap();
        Some(Self { port, ca: authority.certificate(), folder, lines, child })
    }

    /// The next mail.
    pub fn next(&self) -> Mail {
        let line = self.lines.recv_timeout(TEST_TIMEOUT).expect("no mail came");
        let facts: Value = serde_json::from_str(&line).unwrap();
        let text = facts["text"].as_str().unwrap().to_owned();
        Mail { facts, text }
    }
}

impl Drop for MailServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

//! The pages of experiments, served to be opened by hand.

use rustix::process::{Pid, Signal, kill_process};
use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    process::{Child, ChildStdout, Command, Stdio},
};

/// A program that serves pages.
struct PageServer {
    process: Child,
    lines: BufReader<ChildStdout>,
}

fn show(arguments: &[&str]) -> PageServer {
    let mut lab = Command::new(env!("CARGO_BIN_EXE_oasis-lab"));
    let mut process = lab.arg("show").args(arguments).stdout(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(process.stdout.take().unwrap());
    PageServer { process, lines }
}

impl PageServer {
    /// The address in its next line.
    fn address(&mut self) -> String {
        let mut line = String::new();
        self.lines.read_line(&mut line).unwrap();
        line.split_whitespace().last().unwrap_or_else(|| panic!("no address in {line:?}")).to_owned()
    }

    /// Presses Ctrl-C, and expects an end without an error.
    fn end(mut self) {
        let pid = Pid::from_raw(i32::try_from(self.process.id()).unwrap()).unwrap();
        kill_process(pid, Signal::INT).unwrap();
        assert!(self.process.wait().unwrap().success());
    }
}

/// The body at an address.
fn get(address: &str) -> String {
    let (host, path) = address.strip_prefix("http://").unwrap().split_once('/').unwrap();
    let mut server = TcpStream::connect(host).unwrap();
    write!(server, "GET /{path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    server.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    answer
}

#[test]
fn windcomm_has_a_page_for_each_door() {
    let mut shown = show(&["windcomm", "--set", "LINK=none"]);
    for door in
        ["/WindComm", "/LongPollingWindComm", "/PollingWindComm", "/EventsWindComm", "/StreamingWindComm"]
    {
        let address = shown.address();
        assert!(address.contains(&format!("{door}?")), "{address}");
        assert!(get(&address).contains("windcomm.js"));
    }
    shown.end();
}

#[test]
fn the_dashboard_of_2012_comes_with_its_outlet() {
    let mut shown = show(&["oasis-2013", "--set", "SERVER=ajax-file"]);
    let address = shown.address();
    assert!(get(&address).contains("dashboard.js"));
    let parameter = |name: &str| {
        let from = address.find(&format!("{name}=")).unwrap() + name.len() + 1;
        address[from..].split('&').next().unwrap().to_owned()
    };
    assert_ne!(parameter("outlet"), parameter("dac"));
    // The probes are at work: their newest record waits for each client.
    let mut outlet = TcpStream::connect(parameter("outlet")).unwrap();
    write!(outlet, "GET /ajax/MemoryProbe_SmokeTest HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
    let mut lines = BufReader::new(outlet).lines().map(|line| line.unwrap());
    let record = lines.find(|line| line.starts_with('{')).unwrap();
    assert!(record.contains("\"node\":\"host\"") && record.len() >= 255, "{record}");
    shown.end();
}

#[test]
fn an_experiment_without_pages_says_so() {
    let output = Command::new(env!("CARGO_BIN_EXE_oasis-lab")).args(["show", "frizelle"]).output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && error.contains("has no pages"), "{error}");
}

//! Load from two hosts over the data channel; a network namespace stands for each.

use crate::support::{archived, measure, results};
use oasis_store::History;
use std::{
    io::{BufRead, BufReader, Read},
    path::{Path, PathBuf},
    process::{self, Child, Command, Stdio},
};

const LAB: &str = env!("CARGO_BIN_EXE_oasis-lab");
const NAMES: [&str; 2] = ["alpha", "beta"];

/// A network namespace with a link to this one; it is removed when this is dropped.
struct Namespace(String);

impl Namespace {
    /// Fails, with the reason, if this user may not have one.
    fn new(number: u32, network: &str) -> Result<Self, String> {
        let name = format!("oasis-lab-{}-{number}", process::id());
        ip(&format!("netns add {name}"))?;
        let namespace = Self(name);
        let (name, link) = (&namespace.0, format!("ol{}x{number}", process::id()));
        ip(&format!("link add {link} type veth peer name eth0 netns {name}"))?;
        ip(&format!("address add {network}.{number}.1/24 dev {link}"))?;
        ip(&format!("link set {link} up"))?;
        ip(&format!("-n {name} address add {network}.{number}.2/24 dev eth0"))?;
        ip(&format!("-n {name} link set eth0 up"))?;
        ip(&format!("-n {name} link set lo up"))?;
        ip(&format!("-n {name} route add default via {network}.{number}.1"))?;
        Ok(namespace)
    }

    fn spawn(&self, arguments: &[&str]) -> Child {
        let inside = ["netns", "exec", &self.0, LAB].into_iter().chain(arguments.iter().copied());
        Command::new("ip").args(inside).stdin(Stdio::null()).spawn().unwrap()
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        // Its end of the link goes with it, and so does the other one.
        let _ = ip(&format!("netns delete {}", self.0));
    }
}

fn ip(arguments: &str) -> Result<(), String> {
    let output = Command::new("ip")
        .args(arguments.split(' '))
        .output()
        .map_err(|error| format!("ip cannot be run: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("ip {arguments}: {}", String::from_utf8_lossy(&output.stderr).trim()))
}

/// Runs a cell with load from two hosts; returns the run's folder, or none where there are no network namespaces.
fn run(experiment: &str, sets: &[&str], networks: u32, runs: &Path) -> Option<PathBuf> {
    let network = format!("10.{}", networks + process::id() % 64);
    let numbers = networks..networks + 2;
    let namespaces: Result<Vec<_>, _> = numbers.map(|number| Namespace::new(number, &network)).collect();
    let namespaces = match namespaces {
        Ok(namespaces) => namespaces,
        Err(why) => {
            println!("skipped: no network namespaces: {why}");
            return None;
        }
    };
    let address = format!("{network}.{networks}.1");
    let mut lab = Command::new(LAB)
        .args(["run", experiment, "--hosts", "2", "--listen", &address])
        .args(["--runs", runs.to_str().unwrap(), "--set", &format!("SERVER_HOST={address}")])
        .args(sets.iter().flat_map(|set| ["--set", set]))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stderr = BufReader::new(lab.stderr.take().unwrap());
    let command = loop {
        let mut line = String::new();
        assert_ne!(stderr.read_line(&mut line).unwrap(), 0, "the lab ended");
        if let Some((_, command)) = line.split_once("oasis-lab host ") {
            break command.to_owned();
        }
    };
    let [dac, channel] = command.split(' ').take(2).collect::<Vec<_>>()[..] else { panic!("{command}") };
    let hosts: Vec<Child> = namespaces
        .iter()
        .zip(NAMES)
        .map(|(namespace, name)| namespace.spawn(&["host", dac, channel, "--name", name]))
        .collect();
    let mut said = String::new();
    stderr.read_to_string(&mut said).unwrap();
    let output = lab.wait_with_output().unwrap();
    assert!(output.status.success(), "{said}");
    for mut host in hosts {
        assert!(host.wait().unwrap().success(), "a host ends with the run");
    }
    let report = String::from_utf8(output.stdout).unwrap();
    Some(Path::new(report.trim()).parent().unwrap().to_owned())
}

#[test]
fn two_hosts_put_load_on_a_server() {
    let runs = tempfile::tempdir().unwrap();
    let sets = ["SERVER=oasis", "WORKERS=2", "CLIENTS=2", "RATE=15", "RAMP=1", "HOLD=2", "PERIOD=300"];
    let Some(run) = run("mueller", &sets, 64, runs.path()) else { return };
    let result = results(&run).remove(0);
    assert!(measure(&result, "connections") == 30.0 && measure(&result, "errors") == 0.0, "{result}");
    assert_eq!(measure(&result, "responses"), measure(&result, "pings"), "{result}");
    let instances = History::open(&run.join("archive")).unwrap().instances().unwrap();
    for name in NAMES {
        assert!(instances.contains(&(format!("load-{name}"), "reports".to_owned())), "{instances:?}");
    }
}

#[test]
fn answers_come_back_from_another_host() {
    let (runs, archives) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let folder = format!("REQUEST_RESPONSE_LOG_DIR={}", archives.path().display());
    let sets = ["SERVER=bare", "NUMTHREADS=20", "RAMPUP=1", "TEST_DURATION=2", "EMIT_INTERVAL=250", &*folder];
    let Some(run) = run("frizelle", &sets, 128, runs.path()) else { return };
    let result = results(&run).remove(0);
    let lines = archived(archives.path(), result["cell"]["id"].as_str().unwrap());
    assert_eq!(lines.len() as f64, measure(&result, "responses"), "{result}");
}

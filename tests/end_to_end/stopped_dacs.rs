//! Command-line tools whose DAC, TEM or node is stopped or ends: they say so, and do not wait without a word.

use crate::harness::{Oasis, eventually, get, oasis};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::process::Output;
use tempfile::TempDir;

/// A process that is stopped until this value ends.
struct Stopped(Pid);

impl Stopped {
    fn new(process: &Oasis) -> Self {
        let pid = Pid::from_raw(i32::try_from(process.id()).unwrap()).unwrap();
        kill_process(pid, Signal::STOP).unwrap();
        Self(pid)
    }
}

impl Drop for Stopped {
    fn drop(&mut self) {
        // The process may have been killed.
        let _ = kill_process(self.0, Signal::CONT);
    }
}

fn run(arguments: &[&str]) -> Output {
    oasis().args(arguments).output().unwrap()
}

fn errors(done: &Output) -> String {
    String::from_utf8_lossy(&done.stderr).into_owned()
}

/// A TEM with two DACs, of which the first one has the node.
struct Halls {
    _folder: TempDir,
    tem: Oasis,
    dacs: [Oasis; 2],
}

impl Halls {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let tem = Oasis::tem(&[]);
        let dac = |name| {
            // A process that is stopped may keep the files of its accounts locked.
            let access = folder.path().join(name);
            Oasis::dac(&["--tem", tem.http(), "--dac-name", name, "--access", access.to_str().unwrap()])
        };
        let dacs = [dac("hall-1"), dac("hall-2")];
        Self { _folder: folder, tem, dacs }
    }

    fn until_has(&self, dac: &str, node: &str) {
        eventually("the node in the list of the TEM", || {
            let list = get(&self.tem, "/api/v1/tem");
            let found = list["dacs"].as_array()?.iter().find(|known| known["name"] == dac)?.clone();
            let has = |name: &Value| name == node;
            found["nodes"].as_array()?.iter().any(has).then_some(())
        });
    }
}

#[test]
fn every_tool_names_a_dac_that_is_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let dac = Oasis::dac(&["--access", folder.path().join("access").to_str().unwrap()]);
    let _stopped = Stopped::new(&dac);
    let tools: [&[&str]; 3] =
        [&["list"], &["tail", "plant/heartbeat"], &["command", "plant/heartbeat", "enable"]];
    for tool in tools {
        let done = run(&[tool, &["--url", dac.http()]].concat());
        let wanted = format!("no answer from {} within 3 s: is it stopped or overloaded?", dac.http());
        assert_eq!(done.status.code(), Some(1), "{tool:?}");
        assert!(errors(&done).contains(&wanted), "{tool:?}: {}", errors(&done));
    }
}

#[test]
fn a_dac_that_is_stopped_does_not_hide_the_instances_of_the_others() {
    let halls = Halls::new();
    let _node = Oasis::node(halls.dacs[0].channel(), &["--probe", "heartbeat"]);
    halls.until_has("hall-1", "plant");
    let _stopped = Stopped::new(&halls.dacs[1]);
    let done = run(&["list", "--tem", halls.tem.http()]);
    let said = errors(&done);
    assert_eq!(done.status.code(), Some(1), "{said}");
    assert!(String::from_utf8_lossy(&done.stdout).contains("plant/heartbeat"), "{said}");
    let wanted = format!("hall-2: no answer from {} within 3 s", halls.dacs[1].http());
    assert!(said.contains(&wanted), "{said}");
}

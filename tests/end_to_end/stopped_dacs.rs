//! Command-line tools whose DAC, TEM or node is stopped or ends: they say so, and do not wait without a word.

use crate::harness::{Oasis, eventually, eventually_shown, get, oasis};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::{
    fs::{self, File},
    process::{Child, Output},
};
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

/// A running `oasis tail` of the heartbeat of `plant`.
struct Tail {
    folder: TempDir,
    child: Child,
}

impl Tail {
    fn new(arguments: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = |name| File::create(folder.path().join(name)).unwrap();
        let mut command = oasis();
        command.args(["tail", "plant/heartbeat"]).args(arguments);
        let child = command.stdout(file("out")).stderr(file("err")).spawn().unwrap();
        Self { folder, child }
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.folder.path().join(name)).unwrap()
    }

    /// Waits for samples that are not there yet.
    fn until_samples(&self) {
        let before = self.read("out").len();
        eventually("samples", || (self.read("out").len() > before).then_some(()));
    }

    /// Waits until it has said this on standard error.
    fn until_said(&self, words: &str) {
        eventually_shown(words, || {
            let said = self.read("err");
            if said.contains(words) { Ok(()) } else { Err(said.into()) }
        });
    }
}

impl Drop for Tail {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A TEM with two DACs, of which the first one has the node.
struct Halls {
    tem: Oasis,
    dacs: [Oasis; 2],
    /// The last to go.
    _folder: TempDir,
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
        Self { tem, dacs, _folder: folder }
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

#[test]
fn a_list_from_before_is_not_shown_as_true() {
    let folder = tempfile::tempdir().unwrap();
    let tem = Oasis::tem(&["--access", folder.path().join("access").to_str().unwrap()]);
    let _dac = Oasis::dac(&["--tem", tem.http(), "--dac-name", "hall-1"]);
    let list = || {
        let mut command = oasis();
        command.env("XDG_STATE_HOME", folder.path()).args(["list", "--dacs", "--tem", tem.http()]);
        let done = command.output().unwrap();
        (String::from_utf8_lossy(&done.stdout).into_owned(), errors(&done))
    };
    eventually("a live DAC", || list().0.contains("live").then_some(()));
    let _stopped = Stopped::new(&tem);
    let (shown, said) = list();
    for words in [&format!("waiting for the TEM at {}", tem.http()), "does not answer; using its list of"] {
        assert!(said.contains(words), "{said}");
    }
    let row: Vec<&str> = shown.lines().nth(1).unwrap().split_whitespace().collect();
    assert_eq!(row[..3], ["hall-1", "dac", "?"], "{shown}");
    let heard: f64 = row[7].parse().unwrap();
    // The tool alone has waited for 5 s.
    assert!(heard >= 4.0, "{shown}");
}

#[test]
fn a_follower_leaves_a_dac_that_is_stopped_before_it_has_answered() {
    let halls = Halls::new();
    let [first, second] = &halls.dacs;
    let _node = Oasis::node(second.channel(), &["--probe", "heartbeat"]);
    halls.until_has("hall-2", "plant");
    let _stopped = Stopped::new(first);
    let tail = Tail::new(&["--url", first.http(), "--url", second.http()]);
    tail.until_said(&format!("no answer from {} within 1.2 s", first.http()));
    tail.until_samples();
}

#[test]
fn a_follower_asks_the_tem_again_if_the_dac_that_it_named_does_not_answer() {
    let halls = Halls::new();
    let [first, second] = &halls.dacs;
    let _node = Oasis::node(first.channel(), &["--dac", second.channel(), "--probe", "heartbeat"]);
    halls.until_has("hall-1", "plant");
    let _stopped = Stopped::new(first);
    // The TEM does not know it yet, or has just seen it.
    let tail = Tail::new(&["--tem", halls.tem.http()]);
    tail.until_samples();
}

#[test]
fn a_follower_leaves_a_dac_where_its_node_is_offline_for_one_that_has_it() {
    let halls = Halls::new();
    let [first, second] = &halls.dacs;
    let node = Oasis::node(first.channel(), &["--probe", "heartbeat"]);
    halls.until_has("hall-1", "plant");
    let by_url = Tail::new(&["--url", first.http(), "--url", second.http()]);
    let by_tem = Tail::new(&["--tem", halls.tem.http()]);
    let tails = [by_url, by_tem];
    tails.iter().for_each(Tail::until_samples);
    assert!(node.stop().success());
    tails.iter().for_each(|tail| tail.until_said("plant is offline since "));
    let _node = Oasis::node(second.channel(), &["--probe", "heartbeat"]);
    let left = format!("plant is offline at {}; going on at another DAC", first.http());
    tails.iter().for_each(|tail| tail.until_said(&left));
    tails.iter().for_each(|tail| tail.until_said(&format!("going on at {}", second.http())));
    tails.iter().for_each(Tail::until_samples);
    // One that begins now finds the node too.
    let late = Tail::new(&["--url", first.http(), "--url", second.http()]);
    late.until_samples();
}

#[test]
fn a_follower_says_when_node_and_dac_stop_and_go_on() {
    let halls = Halls::new();
    let dac = &halls.dacs[0];
    let node = Oasis::node(dac.channel(), &["--probe", "heartbeat"]);
    halls.until_has("hall-1", "plant");
    let tail = Tail::new(&["--url", dac.http()]);
    tail.until_samples();
    assert!(node.stop().success());
    tail.until_said("plant is offline since ");
    let _node = Oasis::node(dac.channel(), &["--probe", "heartbeat"]);
    tail.until_said("plant is online again");
    tail.until_samples();
    let stopped = Stopped::new(dac);
    tail.until_said(&format!("{} has said nothing for 1.2 s, waiting", dac.http()));
    drop(stopped);
    tail.until_said(&format!("{} answers again", dac.http()));
    tail.until_samples();
}

#[test]
fn a_follower_of_a_relay_says_when_the_upstream_has_ended() {
    let halls = Halls::new();
    let Halls { dacs: [dac, _other], _folder, .. } = halls;
    let _node = Oasis::node(dac.channel(), &["--probe", "heartbeat"]);
    let folder = tempfile::tempdir().unwrap();
    let log = File::create(folder.path().join("relay")).unwrap();
    let relay = Oasis::relay_at("127.0.0.1:0", log, &["--upstream", dac.http()]);
    eventually("the node at the relay", || crate::harness::instance(&relay, "plant", "heartbeat"));
    let tail = Tail::new(&["--url", relay.http()]);
    tail.until_samples();
    dac.kill();
    tail.until_said("plant is offline since ");
}

//! A watcher with several DACs: `oasis tail` continues at another one when its DAC is killed.

use super::{INSTANCE, KILLS, RECOVERY_TIMEOUT, Random, Site, number_in_environment, times};
use crate::harness::{eventually, oasis};
use oasis_dac::now;
use serde_json::Value;
use std::{
    fs,
    io::{BufRead, BufReader},
    path::PathBuf,
    process::{Child, Stdio},
    sync::{Arc, Mutex},
    thread,
    time::{Duration, Instant},
};

/// A sample as a watcher has received it.
struct Received {
    at: Instant,
    sequence: u64,
    /// Nanoseconds since 1970.
    time: u64,
}

/// A running `oasis tail`.
struct Watcher {
    child: Child,
    received: Arc<Mutex<Vec<Received>>>,
    log: PathBuf,
}

impl Watcher {
    fn start(site: &Site, arguments: &[&str]) -> Self {
        let log = site.folder.path().join("watcher.log");
        let mut child = oasis()
            .args(["tail", &format!("plant/{INSTANCE}"), "--format", "json"])
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(fs::File::create(&log).unwrap())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let received: Arc<Mutex<Vec<Received>>> = Arc::default();
        let to = received.clone();
        thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                let at = Instant::now();
                let sample: Value = serde_json::from_str(&line).unwrap();
                let field = |name: &str| sample[name].as_u64().unwrap();
                to.lock().unwrap().push(Received { at, sequence: field("sequence"), time: field("time") });
            }
        });
        Self { child, received, log }
    }

    /// Waits for a sample that was taken after a moment. Returns when it came.
    fn receives_after(&self, moment: u64) -> Instant {
        eventually("samples at the watcher", || {
            let received = self.received.lock().unwrap();
            received.iter().rev().take_while(|sample| sample.time > moment).last().map(|sample| sample.at)
        })
    }

    fn said(&self) -> String {
        fs::read_to_string(&self.log).unwrap()
    }

    /// Samples, those received twice or out of order, and those missing without a word.
    fn judge(&mut self) -> (usize, usize, u64) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        let received = self.received.lock().unwrap();
        let (mut wrong, mut missing) = (0, 0);
        for pair in received.windows(2) {
            match pair[1].sequence.checked_sub(pair[0].sequence + 1) {
                Some(between) => missing += between,
                None => wrong += 1,
            }
        }
        let said = self.said();
        let numbers = said.lines().filter(|line| line.contains("samples are missing before"));
        let declared = numbers.map(|line| {
            let count = line.split(": ").nth(1).and_then(|rest| rest.split(' ').next());
            count.and_then(|count| count.parse::<u64>().ok()).unwrap_or_default()
        });
        (received.len(), wrong, missing - declared.sum::<u64>())
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Kills the DAC of node and watcher, again and again.
fn kill_dacs_of_a_watcher(by_tem: bool) {
    let kills = number_in_environment("OASIS_FAILOVER_KILLS").unwrap_or(KILLS);
    let seed = number_in_environment("OASIS_FAILOVER_SEED").unwrap_or(1);
    let mut random = Random(seed as u64);
    let mut site = Site::relaying();
    let node = site.node_by_tem();
    let mut home = site.home();
    let urls = [0, 1].map(|number| format!("http://{}", site.addresses[number].0));
    let mut watcher = if by_tem {
        // The TEM must know where the node is.
        eventually("the node at the TEM", || {
            let list = crate::harness::get(&site.tem, "/api/v1/tem");
            let dacs = list["dacs"].as_array()?;
            dacs.iter().any(|dac| dac["nodes"][0] == "plant").then_some(())
        });
        Watcher::start(&site, &["--tem", site.tem.http()])
    } else {
        Watcher::start(&site, &["--url", &urls[0], "--url", &urls[1]])
    };
    watcher.receives_after(now().0);
    let mut recoveries = Vec::with_capacity(kills);
    for _ in 0..kills {
        thread::park_timeout(Duration::from_millis(random.below(700)));
        let dac = site.dacs[home].take().unwrap();
        let (killed, moment) = (Instant::now(), now().0);
        dac.kill();
        recoveries.push(watcher.receives_after(moment).saturating_duration_since(killed));
        site.until_receives(1 - home, killed);
        site.start_again(home);
        home = 1 - home;
    }
    let (samples, wrong, undeclared) = watcher.judge();
    println!(
        "{kills} kills, seed {seed}, a watcher: {samples} samples, {undeclared} undeclared, {wrong} twice or out of order; {}",
        times(recoveries.clone()).replace("at the other DAC", "again")
    );
    assert_eq!((wrong, undeclared), (0, 0), "{}", watcher.said());
    assert!(recoveries.iter().all(|recovery| *recovery < RECOVERY_TIMEOUT), "{recoveries:?}");
    drop(node);
}

#[test]
fn a_watcher_with_two_addresses_goes_on_at_the_other_dac() {
    kill_dacs_of_a_watcher(false);
}

#[test]
fn a_watcher_of_a_tem_goes_on_at_another_dac() {
    kill_dacs_of_a_watcher(true);
}

#[test]
fn one_address_is_all_that_other_commands_take() {
    let url = "http://127.0.0.1:1";
    let output = oasis().args(["list", "--url", url, "--url", url]).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && said.contains("talks to one DAC"), "{said}");
}

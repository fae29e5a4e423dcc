//! A node with several DACs: it goes to the next one when it loses one, and the archives of all DACs together have each sample.

mod watcher;

use crate::harness::{Native, Oasis, eventually, eventually_shown, get, oasis};
use oasis_history::{SampleOrMissing, Samples};
use oasis_store::{History, Missing};
use oasis_wire::loss::Cause;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::{
    collections::HashMap,
    env, fs,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};
use tempfile::TempDir;
use uuid::Uuid;

/// Kills in a usual run. `OASIS_FAILOVER_KILLS=1000` asks for more.
const KILLS: usize = 4;
/// Time in which a node is back after a kill. On a machine that also compiles it takes longer than the second that is promised.
const RECOVERY_TIMEOUT: Duration = Duration::from_secs(10);
/// Bytes of batches that one read returns.
const READ_CHUNK_BYTES: usize = 1024 * 1024;
const INSTANCE: &str = "heartbeat";

/// A TEM, two DACs with archives, and a node that finds them through the TEM.
struct Site {
    folder: TempDir,
    tem: Oasis,
    dacs: [Option<Oasis>; 2],
    /// Addresses of the page and of the data channel of each DAC.
    addresses: [(String, String); 2],
}

impl Site {
    fn new() -> Self {
        let (folder, tem) = (tempfile::tempdir().unwrap(), Oasis::tem(&[]));
        let dacs = [0, 1].map(|number| start(&folder, &tem, number, ("127.0.0.1:0", "127.0.0.1:0")));
        let addresses = [&dacs[0], &dacs[1]].map(|dac| (dac.listen().to_owned(), dac.channel().to_owned()));
        let site = Self { folder, tem, dacs: dacs.map(Some), addresses };
        eventually("both DACs at the TEM", || {
            (get(&site.tem, "/api/v1/tem")["dacs"].as_array()?.len() == 2).then_some(())
        });
        site
    }

    /// The same, and each DAC relays the other.
    fn relaying() -> Self {
        let mut site = Self::new();
        for number in 0..2 {
            site.dacs[number] = None;
            let upstream = &site.addresses[1 - number].0;
            let relay = format!("[relay]\nupstreams = [\"http://{upstream}\"]\n");
            fs::write(config(&site.folder, number), relay).unwrap();
        }
        (0..2).for_each(|number| site.start_again(number));
        site
    }

    /// Starts a DAC where it was.
    fn start_again(&mut self, number: usize) {
        let (listen, channel) = &self.addresses[number];
        self.dacs[number] = Some(start(&self.folder, &self.tem, number, (listen, channel)));
    }

    fn dac(&self, number: usize) -> &Oasis {
        self.dacs[number].as_ref().expect("it runs")
    }

    fn node(&self, arguments: &[&str]) -> Oasis {
        let log = fs::File::create(self.folder.path().join("node.log")).unwrap();
        let usual = ["--name", "plant", "--probe", "heartbeat@1000"];
        let mut command = oasis();
        command.env("OASIS_LOG", "info");
        Oasis::node_started_by(command, log, &[&usual, arguments].concat())
    }

    fn node_by_tem(&self) -> Oasis {
        self.node(&["--tem", self.tem.http()])
    }

    /// The DAC to which the node is connected and sends samples.
    fn home(&self) -> usize {
        eventually("a home of the node", || {
            (0..2).find(|&number| {
                self.dacs[number].as_ref().is_some_and(|dac| received(dac) > 0 && is_online(dac))
            })
        })
    }

    /// Waits until a DAC receives more samples. Returns when it did.
    fn until_receives(&self, number: usize, since: Instant) -> Duration {
        let before = received(self.dac(number));
        eventually_shown("samples at the other DAC", || {
            let dac = self.dac(number);
            let now = received(dac);
            // An instance that came from a relay before begins to count anew.
            if now > 0 && now != before && is_online(dac) { Ok(()) } else { Err(get(dac, "/api/v1/nodes")) }
        });
        since.elapsed()
    }

    /// Ends node and DACs in order, and compares what is in the archives.
    fn judge(mut self, node: Oasis) -> Union {
        assert!(node.stop().success());
        for dac in self.dacs.iter_mut().filter_map(Option::take) {
            assert!(dac.stop().success());
        }
        Union::of(&[0, 1].map(|number| archive(&self.folder, number)))
    }
}

fn config(folder: &TempDir, number: usize) -> PathBuf {
    folder.path().join(format!("hall-{number}.toml"))
}

fn archive(folder: &TempDir, number: usize) -> PathBuf {
    folder.path().join(format!("archive-{number}"))
}

fn start(folder: &TempDir, tem: &Oasis, number: usize, (listen, channel): (&str, &str)) -> Oasis {
    let (name, archive) = (format!("hall-{number}"), archive(folder, number));
    let mut arguments =
        vec!["--archive", archive.to_str().unwrap(), "--tem", tem.http(), "--dac-name", &name];
    let config = config(folder, number);
    if config.exists() {
        arguments.extend(["--config", config.to_str().unwrap()]);
    }
    Oasis::dac_at(listen, channel, &arguments)
}

/// Whether the node is connected to this DAC itself.
pub fn is_online(dac: &Oasis) -> bool {
    let node = &get(dac, "/api/v1/nodes")["nodes"][0];
    node["state"] == "online" && node["path"].is_null()
}

/// In one request: an instance that comes from a relay is another topic.
pub fn received(dac: &Oasis) -> u64 {
    let ledgers = get(dac, "/api/v1/ledger");
    let found = ledgers["instances"].as_array().unwrap().iter().find(|known| known["instance"] == INSTANCE);
    found.and_then(|known| known["ledger"]["received"].as_u64()).unwrap_or_default()
}

/// Union of several archives of the node.
#[derive(Debug, Default)]
pub struct Union {
    /// Times by run and sequence number.
    pub samples: HashMap<(Uuid, u64), u64>,
    /// Samples that more than one archive has.
    in_both: u64,
    /// Samples that one archive has twice, or that archives have with different times.
    pub wrong: u64,
    pub declared: Vec<Missing>,
}

impl Union {
    pub fn of(archives: &[PathBuf]) -> Self {
        let mut union = Self::default();
        archives.iter().for_each(|archive| union.add(archive));
        union
    }

    fn add(&mut self, archive: &Path) {
        let history = History::open(archive).unwrap();
        let mut samples = Samples::new(&history, ("plant", INSTANCE), 0, None, READ_CHUNK_BYTES);
        let mut own = HashMap::new();
        while let Some(found) = samples.next().unwrap() {
            match found {
                SampleOrMissing::Sample(series, _, sample) => {
                    let is_again = own.insert((series.run, sample.sequence), sample.time).is_some();
                    self.wrong += u64::from(is_again);
                }
                SampleOrMissing::Missing(missing) => self.declared.push(missing),
            }
        }
        for (number, time) in own {
            match self.samples.insert(number, time) {
                None => {}
                Some(other) => {
                    self.in_both += 1;
                    self.wrong += u64::from(other != time);
                }
            }
        }
    }

    /// The numbers that no archive has, and that no archive declares lost for a reason of their own: that they went to another DAC
    /// is no reason.
    pub fn undeclared(&self) -> Vec<(Uuid, u64)> {
        let mut last: HashMap<Uuid, u64> = HashMap::new();
        for &(run, sequence) in self.samples.keys() {
            let last = last.entry(run).or_default();
            *last = sequence.max(*last);
        }
        let elsewhere = [Cause::BeforeEpoch, Cause::OtherDac, Cause::Unexplained];
        let is_declared = |run: Uuid, number: u64| {
            self.declared.iter().any(|missing| {
                missing.run == run
                    && !elsewhere.contains(&missing.cause)
                    && missing.numbers.as_ref().is_some_and(|numbers| numbers.contains(&number))
            })
        };
        let all = last.into_iter().flat_map(|(run, last)| (1..=last).map(move |number| (run, number)));
        all.filter(|number| !self.samples.contains_key(number))
            .filter(|&(run, number)| !is_declared(run, number))
            .collect()
    }

    pub fn assert_whole(&self) {
        let undeclared = self.undeclared();
        assert!(
            undeclared.is_empty(),
            "{} undeclared: {:?}",
            undeclared.len(),
            &undeclared[..undeclared.len().min(20)]
        );
        assert_eq!(self.wrong, 0);
        assert!(
            self.declared.iter().all(|missing| missing.cause != Cause::Unexplained),
            "{:?}",
            self.declared
        );
    }
}

/// Numbers that look random and repeat with the seed (`SplitMix64`).
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % bound
    }
}

/// Percentiles of the times after which the node was at the other DAC.
pub fn times(mut times: Vec<Duration>) -> String {
    times.sort_unstable();
    let percent = |percent: usize| times[(times.len() - 1) * percent / 100].as_millis();
    format!("at the other DAC after p50 {} ms, p99 {} ms, most {} ms", percent(50), percent(99), percent(100))
}

pub fn number_in_environment(name: &str) -> Option<usize> {
    env::var(name).ok().map(|text| text.parse().expect("a number"))
}

/// Kills the DAC of the node, again and again, and starts it when the node is at the other one.
fn kill_homes(mut site: Site) {
    let kills = number_in_environment("OASIS_FAILOVER_KILLS").unwrap_or(KILLS);
    let seed = number_in_environment("OASIS_FAILOVER_SEED").unwrap_or(1);
    let mut random = Random(seed as u64);
    let node = site.node_by_tem();
    let mut home = site.home();
    let mut recoveries = Vec::with_capacity(kills);
    for _ in 0..kills {
        // Any moment of the archive's commits, and of the node's batches.
        thread::park_timeout(Duration::from_millis(random.below(700)));
        let dac = site.dacs[home].take().unwrap();
        let killed = Instant::now();
        dac.kill();
        recoveries.push(site.until_receives(1 - home, killed));
        site.start_again(home);
        home = 1 - home;
    }
    let union = site.judge(node);
    println!(
        "{kills} kills, seed {seed}: {} samples, {} in both archives, {} undeclared, {} twice or altered; {}",
        union.samples.len(),
        union.in_both,
        union.undeclared().len(),
        union.wrong,
        times(recoveries.clone())
    );
    union.assert_whole();
    assert!(recoveries.iter().all(|recovery| *recovery < RECOVERY_TIMEOUT), "{recoveries:?}");
}

#[test]
fn no_sample_is_lost_or_kept_twice_when_dacs_are_killed() {
    kill_homes(Site::new());
}

#[test]
fn dacs_that_relay_each_other_take_over_their_nodes() {
    kill_homes(Site::relaying());
}

#[test]
fn a_reader_comes_back_to_a_dac_that_alone_has_what_it_lacks() {
    let mut site = Site::relaying();
    let node = site.node_by_tem();
    let home = site.home();
    let mut reader = Native::connect(&site.dac(home).url());
    let run = reader.subscribe(INSTANCE, json!({}))["instance"]["run"].as_str().unwrap().to_owned();
    let epoch = reader.welcome["epoch"].as_str().unwrap().to_owned();
    let last = reader.samples(10).0.pop().unwrap();
    drop(reader);
    // The node does not send again what was stored a while ago.
    eventually("samples that the reader lacks", || {
        (received(site.dac(home)) > last.offset + 3_000).then_some(())
    });
    let killed = Instant::now();
    site.dacs[home].take().unwrap().kill();
    site.until_receives(1 - home, killed);
    site.start_again(home);
    eventually_shown("the node, relayed", || {
        let nodes = get(site.dac(home), "/api/v1/nodes");
        if nodes["nodes"][0]["path"].is_array() { Ok(()) } else { Err(nodes) }
    });
    let mut reader = Native::connect(&site.dac(home).url());
    let (mut position, mut next) = (format!("{epoch}:{}", last.offset + 1), last.sequence + 1);
    while next < last.sequence + 5_000 {
        reader.subscribe(INSTANCE, json!({ "resume": format!("{position} {run}@{next}") }));
        // Until another topic replaces this one, because the DAC has heard where the node is.
        let (samples, controls) = reader.samples(5_000);
        for sample in samples {
            assert_eq!(sample.sequence, next, "{controls:?}");
            next += 1;
        }
        assert!(controls.iter().all(|control| control["op"] != "gap"), "{controls:?}");
        let moved = controls.iter().rfind(|control| control["op"] == "epoch");
        let place = |control: &Value| format!("{}:{}", control["epoch"].as_str().unwrap(), control["offset"]);
        position = moved.map_or(position, place);
    }
    drop(reader);
    site.judge(node).assert_whole();
}

#[test]
fn a_dac_that_ends_in_order_hands_its_nodes_over() {
    let restarts = number_in_environment("OASIS_FAILOVER_RESTARTS").unwrap_or(2);
    let mut site = Site::new();
    let node = site.node_by_tem();
    let mut home = site.home();
    let mut moves = Vec::with_capacity(restarts);
    for _ in 0..restarts {
        let dac = site.dacs[home].take().unwrap();
        let asked = Instant::now();
        assert!(dac.stop().success());
        moves.push(site.until_receives(1 - home, asked));
        site.start_again(home);
        home = 1 - home;
    }
    let union = site.judge(node);
    println!(
        "{restarts} restarts in order: {} samples, {} in both archives; {}",
        union.samples.len(),
        union.in_both,
        times(moves)
    );
    union.assert_whole();
    assert_eq!(union.in_both, 0, "nothing is sent twice");
    let causes: Vec<Cause> = union.declared.iter().map(|missing| missing.cause).collect();
    let is_elsewhere =
        |cause: &Cause| matches!(cause, Cause::BeforeEpoch | Cause::OtherDac | Cause::NotTaken);
    assert!(causes.iter().all(is_elsewhere), "{causes:?}");
}

#[test]
fn a_node_leaves_a_dac_that_says_nothing() {
    let site = Site::new();
    let channels = [site.dac(0).channel(), site.dac(1).channel()];
    let node = site.node(&["--dac", channels[0], "--dac", channels[1]]);
    assert_eq!(site.home(), 0, "the first one is the first choice");
    let stopped = Pid::from_raw(i32::try_from(site.dac(0).id()).unwrap()).unwrap();
    kill_process(stopped, Signal::STOP).unwrap();
    let moved = site.until_receives(1, Instant::now());
    println!("the node was at the other DAC {moved:?} after the first one had stopped");
    kill_process(stopped, Signal::CONT).unwrap();
    eventually("a DAC that knows that the node has gone", || (!is_online(site.dac(0))).then_some(()));
    let union = site.judge(node);
    union.assert_whole();
}

#[test]
fn nodes_go_on_without_a_tem() {
    let mut site = Site::new();
    let node = site.node_by_tem();
    let home = site.home();
    let elsewhere = Oasis::tem(&[]);
    std::mem::replace(&mut site.tem, elsewhere).kill();
    site.dacs[home].take().unwrap().kill();
    site.until_receives(1 - home, Instant::now());
    let shown: Value = get(site.dac(1 - home), "/api/v1/nodes");
    assert_eq!(shown["nodes"][0]["state"], "online", "{shown}");
    site.judge(node).assert_whole();
}

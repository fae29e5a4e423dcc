//! Sums of `oasis loss` against an independent reader of the archive, for random traffic.

use super::reader::{self, Runs};
use crate::harness::{Oasis, eventually_shown, get, instance, oasis};
use oasis_channel::tcp::TcpConnector;
use oasis_probe::{Node, NodeBuilder, NodeConfig, PushedKind, RowProbe};
use oasis_wire::schema::ProbeType;
use serde_json::Value;
use std::{collections::BTreeMap, fs, path::Path, thread, time::Duration};

const INSTANCES: [&str; 2] = ["slow", "fast"];
const RING_BYTES: usize = 16 * 1024;

/// Numbers that a seed determines (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % end
    }
}

/// A node with its probes, and the last sequence number of each.
struct Plant {
    name: String,
    /// Absent between two runs.
    node: Option<Node>,
    probes: Vec<(RowProbe, u64)>,
}

impl Plant {
    fn start(name: &str, channel: &str) -> Self {
        let json = r#"{"name": "Level", "uuid": "0b3c9f0e-5d0c-4a7e-9a51-6f1c0e6a2d31", "version": "1.0",
            "metrics": [{"name": "level", "type": "uint64"}]}"#;
        let level: ProbeType = serde_json::from_str(json).unwrap();
        let mut builder = NodeBuilder::new(name, NodeConfig::default());
        let mut pushed = |instance: &&str| {
            let kind = PushedKind::Pushed;
            (builder.pushed_rows(*instance, level.clone(), kind, RING_BYTES).unwrap(), 0)
        };
        let probes = INSTANCES.iter().map(&mut pushed).collect();
        let node = builder.start(TcpConnector::new(channel)).unwrap();
        Self { name: name.into(), node: Some(node), probes }
    }

    fn restart(&mut self, channel: &str) {
        let failure = self.node.take().unwrap().shutdown();
        assert!(failure.is_none(), "{failure:?}");
        *self = Self::start(&self.name, channel);
    }

    /// Takes a sample. Returns whether the ring had room; otherwise it is declared lost.
    fn flush(&mut self, at: usize) -> bool {
        let (probe, sequence) = &mut self.probes[at];
        *sequence += 1;
        // Without a pattern, so that files fill.
        let level = sequence.wrapping_mul(0x9E37_79B9_7F4A_7C15).to_le_bytes();
        probe.flush_at(oasis_probe::now_ns(), |row| row.packed(&level))
    }

    fn flush_some(&mut self, at: usize, samples: u64) {
        for _ in 0..samples {
            self.flush(at);
        }
    }

    /// Counts samples that the program itself has lost.
    fn skip(&mut self, at: usize, samples: u64) {
        let (probe, sequence) = &mut self.probes[at];
        *sequence += samples;
        probe.skip(samples);
    }

    /// Ends each instance with a sample, and waits until the archive has all of them.
    fn settle(&mut self, dac: &Oasis) {
        for at in 0..INSTANCES.len() {
            while !self.flush(at) {
                thread::sleep(Duration::from_millis(2));
            }
        }
        for (name, (_, last)) in INSTANCES.iter().zip(&self.probes) {
            eventually_shown("the last sample is stored", || {
                let known = instance(dac, &self.name, name).unwrap_or_default();
                let audit = audited(dac, &self.name, name);
                let count = |key: &str| audit[key].as_u64();
                let is_settled = known["ledger"]["last_sequence"].as_u64() == Some(*last)
                    && (count("spooled"), count("in_flight")) == (Some(0), Some(0))
                    && audit["archive"]["waiting"].as_u64() == Some(0);
                if is_settled { Ok(()) } else { Err(audit) }
            });
        }
    }
}

/// The account of an instance.
fn audited(dac: &Oasis, node: &str, name: &str) -> Value {
    let report = get(dac, &format!("/api/v1/audit?node={node}&instance={name}"));
    report["instances"][0].clone()
}

/// Counts of an instance in one epoch.
#[derive(Debug, Default, PartialEq, Eq)]
struct Counts {
    generated: u64,
    lost: u64,
    stored: u64,
}

/// The accounts of `oasis loss`, and the epoch.
fn by_audit(dac: &Oasis) -> (u64, BTreeMap<String, Counts>) {
    let done = oasis().args(["audit", "--format", "json", "--url", dac.http()]).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let accounts = String::from_utf8(done.stdout).unwrap();
    let account = |line: &str| {
        let account: Value = serde_json::from_str(line).unwrap();
        let name = ["node", "instance"].map(|key| account[key].as_str().unwrap()).join("/");
        let lost =
            account["declared"].as_object().unwrap().values().map(|count| count.as_u64().unwrap()).sum();
        let generated = account["generated"].as_u64().unwrap();
        assert_eq!(account["received"], account["archive"]["stored"], "{account:#}");
        (name, Counts { generated, lost, stored: account["archive"]["stored"].as_u64().unwrap() })
    };
    let epoch = get(dac, "/api/v1/audit")["epoch"].as_str().unwrap().to_owned();
    (u64::from_str_radix(&epoch, 16).unwrap(), accounts.lines().map(account).collect())
}

/// The same from the files: the samples of an epoch, and the numbers between them that no file has.
fn by_files(runs: &Runs, epoch: u64) -> BTreeMap<String, Counts> {
    let mut counts: BTreeMap<_, Counts> = BTreeMap::new();
    for ((node, instance, _), epochs) in runs {
        let Some(numbers) = epochs.get(&epoch) else { continue };
        let earlier = epochs.range(..epoch).filter_map(|(_, numbers)| numbers.last()).max();
        let generated = numbers.last().unwrap() - earlier.unwrap_or(&0);
        let stored = numbers.len() as u64;
        let of = counts.entry(format!("{node}/{instance}")).or_default();
        *of = Counts {
            generated: of.generated + generated,
            lost: of.lost + generated - stored,
            stored: of.stored + stored,
        };
    }
    counts
}

/// A DAC with small files, and room for some of them if samples are to be evicted.
fn config(folder: &Path, evicts: bool) -> String {
    let bytes = if evicts { 16_384 } else { 0 };
    let retention = format!("retention = [{{ instances = \"*\", bytes = {bytes} }}]");
    let path = folder.join("oasis.toml");
    fs::write(&path, format!("[archive]\nsegment_bytes = 4096\nmin_free_bytes = 0\n{retention}\n")).unwrap();
    path.to_str().unwrap().to_owned()
}

/// Sends random traffic, and compares. `evicts`: retention evicts samples; otherwise the DAC is killed once.
fn compare(seed: u64, evicts: bool) {
    eprintln!("seed {seed}, evicts {evicts}");
    let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    let folder = tempfile::tempdir().unwrap();
    let archive = folder.path().join("archive");
    let arguments = ["--config", &config(folder.path(), evicts), "--archive", archive.to_str().unwrap()];
    let mut dac = Oasis::dac(&arguments);
    let (listen, channel) = (dac.listen().to_owned(), dac.channel().to_owned());
    let mut plants = ["east", "west"].map(|name| Plant::start(name, &channel));
    let steps = 15 + random.below(15);
    let killed_at = random.below(steps);
    for step in 0..steps {
        let plant = &mut plants[random.below(2) as usize];
        let at = random.below(INSTANCES.len() as u64) as usize;
        match random.below(8) {
            0 => plant.skip(at, 1 + random.below(50)),
            // More than the ring has room for.
            1 => plant.flush_some(at, 2_000),
            2 => {
                plant.settle(&dac);
                plant.restart(&channel);
            }
            _ => plant.flush_some(at, random.below(300)),
        }
        thread::sleep(Duration::from_millis(random.below(30)));
        if !evicts && step == killed_at {
            dac.kill();
            dac = Oasis::dac_at(&listen, &channel, &arguments);
        }
    }
    plants.iter_mut().for_each(|plant| plant.settle(&dac));
    let removed = || get(&dac, "/api/v1/archive")["removed_samples"].as_u64().unwrap();
    if evicts {
        eventually_shown("samples are evicted", || {
            plants[0].flush_some(0, 200);
            plants[0].settle(&dac);
            if removed() > 0 { Ok(()) } else { Err(Value::Null) }
        });
    }
    let (epoch, audited) = by_audit(&dac);
    let found = eventually_shown("no file is evicted while all are read", || {
        let before = removed();
        let found = reader::read(&archive);
        if removed() == before { Ok((found, before)) } else { Err(Value::Null) }
    });
    let (found, removed) = (by_files(&found.0, epoch), found.1);
    if !evicts {
        assert_eq!(found, audited, "seed {seed}");
        return;
    }
    let stored = |counts: &BTreeMap<String, Counts>| counts.values().map(|of| of.stored).sum::<u64>();
    assert_eq!(stored(&found) + removed, stored(&audited), "seed {seed}: {found:?}, {audited:?}");
}

fn seeds(fixed: [u64; 3]) -> Vec<u64> {
    let chosen = std::env::var("OASIS_TEST_SEED").ok().map(|seed| seed.parse().expect("a number"));
    chosen.map_or_else(|| fixed.to_vec(), |seed| vec![seed])
}

#[test]
fn an_independent_reader_counts_what_the_audit_says_over_kills_of_the_dac() {
    seeds([1, 2, 3]).into_iter().for_each(|seed| compare(seed, false));
}

#[test]
fn an_independent_reader_and_evicted_samples_add_up_to_the_audit() {
    seeds([4, 5, 6]).into_iter().for_each(|seed| compare(seed, true));
}

//! Several DACs that write to one PostgreSQL database: each sample is there once, positions are per writer, and nothing collides.

use crate::{
    harness::{Oasis, eventually, eventually_shown, get, ledger},
    postgresql::{Postgres, state, written},
};
use oasis_channel::{Connector, Failover, tcp::TcpConnector};
use oasis_probe::{Node, NodeBuilder, NodeConfig, PushedKind, RowProbe};
use oasis_wire::{
    schema::ProbeType,
    value::{self, Value},
};
use serde_json::{Value as Json, json};
use std::{collections::BTreeMap, path::PathBuf, thread};
use tempfile::TempDir;

const PROCESSOR: &str = "oasis_system_linux_processor_probe";
const DAY: u64 = 86_400_000_000_000;
/// 21 November 2025.
const START: u64 = 1_763_683_200_000_000_000;

/// DACs with archives, all of which write to one database.
struct Site {
    postgres: Postgres,
    folder: TempDir,
    config: String,
    /// Addresses of the page and of the data channel of each DAC.
    addresses: Vec<(String, String)>,
}

impl Site {
    /// `None` if the tests are skipped.
    fn new() -> Option<Self> {
        let postgres = Postgres::start()?;
        let config = postgres.config("");
        Some(Self { postgres, folder: tempfile::tempdir().unwrap(), config, addresses: Vec::new() })
    }

    fn archive(&self, number: usize) -> PathBuf {
        self.folder.path().join(format!("archive-{number}"))
    }

    /// Starts a DAC of this name; from the second time on where it was before.
    fn start(&mut self, number: usize, name: &str) -> Oasis {
        let anywhere = || ("127.0.0.1:0".to_owned(), "127.0.0.1:0".to_owned());
        let (listen, channel) = self.addresses.get(number).cloned().unwrap_or_else(anywhere);
        let archive = self.archive(number);
        let arguments =
            ["--config", &self.config, "--archive", archive.to_str().unwrap(), "--dac-name", name];
        let dac = Oasis::dac_at(&listen, &channel, &arguments);
        if number == self.addresses.len() {
            self.addresses.push((dac.listen().to_owned(), dac.channel().to_owned()));
        }
        dac
    }

    /// A node that goes from one DAC to the other.
    fn node(&self) -> Oasis {
        let [first, second] = [0, 1].map(|number| self.addresses[number].1.as_str());
        Oasis::node(first, &["--dac", second, "--probe", "processor@200"])
    }
}

/// Rows, distinct numbers, and the last number of a table.
fn figures(postgres: &Postgres, table: &str) -> [u64; 3] {
    let sql = format!(
        "SELECT count(*) || ' ' || count(DISTINCT (run, sequence)) || ' ' || coalesce(max(sequence), 0) FROM oasis.{table}"
    );
    let text = postgres.query(&sql);
    let mut figures = text.split(' ').map(|figure| figure.parse().unwrap());
    [(); 3].map(|()| figures.next().unwrap())
}

/// Waits until the database has all samples of a run that has ended: each number once.
fn until_whole(postgres: &Postgres, table: &str, at_least: u64) {
    eventually_shown("each sample once", || {
        let [rows, distinct, last] = figures(postgres, table);
        assert_eq!(rows, distinct, "no sample is there twice");
        if rows == last && last >= at_least { Ok(()) } else { Err(json!([rows, distinct, last])) }
    });
}

fn received(dac: &Oasis, at_least: u64) -> u64 {
    let has_enough = |ledger: &Json| ledger["received"].as_u64() >= Some(at_least);
    ledger(dac, "plant", "processor", "samples", has_enough)["last_sequence"].as_u64().unwrap()
}

#[test]
fn samples_of_a_node_that_changes_its_dac_are_in_the_database_once() {
    let Some(mut site) = Site::new() else { return };
    let mut dacs = [Some(site.start(0, "hall-1")), Some(site.start(1, "hall-2"))];
    let node = site.node();
    let names = ["hall-1", "hall-2"];
    for round in 0..4 {
        let home = round % 2;
        let last = received(dacs[home].as_ref().unwrap(), 60);
        if round == 0 {
            written(&site.postgres, 1);
        }
        dacs[home].take().unwrap().kill();
        // The other one continues after the last number that the first one had.
        let other = dacs[1 - home].as_ref().unwrap();
        ledger(other, "plant", "processor", "samples at the other DAC", |ledger| {
            ledger["last_sequence"].as_u64() > Some(last)
        });
        dacs[home] = Some(site.start(home, names[home]));
    }
    assert!(node.stop().success());
    let last = |dac: &Option<Oasis>| received(dac.as_ref().unwrap(), 0);
    let newest = dacs.iter().map(last).max().unwrap();
    until_whole(&site.postgres, PROCESSOR, newest);
    for dac in dacs.iter().flatten() {
        eventually("a handler without a problem", || {
            (state(dac)["condition"] == "storing" && state(dac)["behind"] == 0).then_some(())
        });
        assert_eq!((&state(dac)["missing"], &state(dac)["refused"]), (&json!(0), &json!(0)));
    }
    let writers = "SELECT string_agg(DISTINCT writer, ' ' ORDER BY writer) FROM oasis.oasis_writer_position";
    assert_eq!(site.postgres.query(writers), "hall-1 hall-2");
    let epochs = format!("SELECT count(DISTINCT epoch) FROM oasis.{PROCESSOR}");
    assert!(site.postgres.count(&epochs) >= 2);
}

#[test]
fn two_dacs_with_one_name_are_not_mixed_up() {
    let Some(mut site) = Site::new() else { return };
    let first = site.start(0, "hall");
    let node = Oasis::node(first.channel(), &["--probe", "processor@200"]);
    written(&site.postgres, 1);
    let second = site.start(1, "hall");
    let problem = eventually("a refusal", || {
        let state = state(&second);
        let detail = state["detail"].as_str()?.to_owned();
        (state["condition"] == "failing").then_some(detail)
    });
    assert!(problem.contains("\"hall\"") && problem.contains("postgresql.writer"), "{problem}");
    let process = format!("process {}", first.id());
    assert!(problem.contains(&process), "{problem}");
    // The first one is not disturbed.
    let before = received(&first, 0);
    received(&first, before + 100);
    written(&site.postgres, before + 50);
    assert_eq!((&state(&first)["condition"], &state(&first)["failures"]), (&json!("storing"), &json!(0)));
    // The name is free when its holder is killed.
    drop(node);
    first.kill();
    eventually("the name for the second", || (state(&second)["condition"] == "storing").then_some(()));
}

#[test]
fn a_dac_with_another_name_goes_on_where_it_was() {
    let Some(mut site) = Site::new() else { return };
    let dac = site.start(0, "old-name");
    let node = Oasis::node(dac.channel(), &["--probe", "processor@200"]);
    received(&dac, 100);
    written(&site.postgres, 100);
    site.postgres.kill();
    let last = received(&dac, 0);
    received(&dac, last + 100);
    // Samples that came while the database was away are in the archive alone.
    assert!(dac.stop().success());
    site.postgres.run();
    let dac = site.start(0, "new-name");
    let newest = received(&dac, 50);
    assert!(node.stop().success());
    until_whole(&site.postgres, PROCESSOR, newest);
    assert_eq!(state(&dac)["known"], 0, "nothing is written again");
    assert_eq!(state(&dac)["missing"], 0);
}

#[test]
fn positions_of_an_earlier_version_are_taken_over_and_left_to_it() {
    let Some(mut site) = Site::new() else { return };
    site.config = "/dev/null".into();
    let dac = site.start(0, "hall");
    let node = Oasis::node(dac.channel(), &["--probe", "processor@200"]);
    received(&dac, 200);
    let epoch = get(&dac, "/api/v1/ledger")["epoch"].as_str().unwrap().to_owned();
    assert!(node.stop().success());
    assert!(dac.stop().success());
    // As an earlier version has left the database, and as it writes.
    let writes = format!(
        "INSERT INTO oasis.oasis_position VALUES ('plant', 'processor', '{epoch}', 100)
         ON CONFLICT (node, instance) DO UPDATE SET epoch = excluded.epoch, next = excluded.next"
    );
    site.postgres.query(&format!(
        "CREATE SCHEMA oasis;
         CREATE TABLE oasis.oasis_table (name text PRIMARY KEY, description text NOT NULL);
         CREATE TABLE oasis.oasis_position (node text, instance text, epoch text NOT NULL, next numeric(20) NOT NULL,
             PRIMARY KEY (node, instance));
         {writes}"
    ));
    site.config = site.postgres.config("");
    let dac = site.start(0, "hall");
    let node = Oasis::node(dac.channel(), &["--probe", "processor@200"]);
    received(&dac, 10);
    let first = format!("SELECT coalesce(min(sequence), 0) FROM oasis.{PROCESSOR} WHERE epoch = '{epoch}'");
    written(&site.postgres, 100);
    assert_eq!(site.postgres.count(&first), 101, "the first hundred were written by the earlier version");
    // The earlier version, on another host, still writes its positions.
    site.postgres.query(&writes);
    let at = "SELECT next FROM oasis.oasis_position";
    assert_eq!(site.postgres.count(at), 100);
    assert_eq!((&state(&dac)["refused"], &state(&dac)["failures"]), (&json!(0), &json!(0)));
    drop(node);
}

fn probe_type(name: &str, number: usize, metrics: usize) -> ProbeType {
    let uuid = format!("0b3c9f0e-5d0c-4a7e-9a51-6f1c0e6a{number:04}");
    let metrics: Vec<Json> =
        (0..metrics).map(|number| json!({"name": format!("m{number}"), "type": "real64"})).collect();
    serde_json::from_value(json!({"name": name, "uuid": uuid, "version": "1.0", "metrics": metrics})).unwrap()
}

/// A node in this process.
struct OwnNode {
    running: Node,
    probes: Vec<(RowProbe, ProbeType)>,
}

impl OwnNode {
    fn start(name: &str, connector: impl Connector + 'static, types: Vec<ProbeType>, ring: usize) -> Self {
        let mut builder = NodeBuilder::new(name, NodeConfig::default());
        let probe = |(number, probe_type): (usize, ProbeType)| {
            let name = format!("it {number}");
            let probe = builder.pushed_rows(name, probe_type.clone(), PushedKind::Pushed, ring).unwrap();
            (probe, probe_type)
        };
        let probes = types.into_iter().enumerate().map(probe).collect();
        Self { running: builder.start(connector).unwrap(), probes }
    }

    /// Flushes a sample of each probe. Returns how many of them the rings took.
    fn flush(&mut self, time: u64) -> u64 {
        let mut row = Vec::new();
        let mut taken = 0;
        for (probe, probe_type) in &mut self.probes {
            value::write_row(probe_type, &vec![Value::Real64(1.0); probe_type.metrics.len()], &mut row);
            taken += u64::from(probe.flush_at(time, |to| to.packed(&row)));
        }
        taken
    }
}

#[test]
fn tables_and_partitions_that_several_dacs_create_at_once_do_not_collide() {
    const DACS: usize = 4;
    const TYPES: usize = 12;
    const DAYS: u64 = 15;
    let Some(mut site) = Site::new() else { return };
    let names: Vec<_> = (0..DACS).map(|number| format!("hall-{number}")).collect();
    // All of them wait for the database, and continue at the same moment.
    site.postgres.kill();
    let dacs: Vec<_> = names.iter().enumerate().map(|(number, name)| site.start(number, name)).collect();
    let mut nodes: Vec<_> = (0..DACS)
        .map(|dac| {
            let same = (0..TYPES).map(|number| probe_type(&format!("Plant::Pump{number}"), number, 2));
            // The same name with other columns at each DAC.
            let other = probe_type("Plant::Tank", 100 + dac, dac + 1);
            let connector = TcpConnector::new(dacs[dac].channel());
            OwnNode::start(&format!("node {dac}"), connector, same.chain([other]).collect(), 1 << 20)
        })
        .collect();
    for day in 0..DAYS {
        for node in &mut nodes {
            assert_eq!(node.flush(START + day * DAY), TYPES as u64 + 1);
        }
    }
    let samples = DAYS * (TYPES as u64 + 1);
    for dac in &dacs {
        eventually_shown("samples that wait for the database", || {
            let state = state(dac);
            let is_waiting = state["behind"].as_u64() == Some(samples) && state["condition"] == "failing";
            if is_waiting { Ok(()) } else { Err(state) }
        });
    }
    site.postgres.run();
    for dac in &dacs {
        eventually_shown("all rows", || {
            let state = state(dac);
            if state["rows"].as_u64() == Some(samples) { Ok(()) } else { Err(state) }
        });
        let state = state(dac);
        assert_eq!((&state["refused"], &state["missing"]), (&json!(0), &json!(0)), "{state:#}");
    }
    for number in 0..TYPES {
        let table = format!("plant_pump{number}");
        let rows = site.postgres.count(&format!("SELECT count(*) FROM oasis.{table}"));
        assert_eq!(rows, DAYS * DACS as u64);
        assert_eq!(site.postgres.count(&format!("SELECT count(*) FROM oasis.{table}_rest")), 0);
    }
    let tables = "SELECT count(*) || ' ' || count(DISTINCT description) FROM oasis.oasis_table";
    let all = TYPES + DACS;
    assert_eq!(site.postgres.query(tables), format!("{all} {all}"), "one table for each shape");
    let tanks = "SELECT count(*) FROM oasis.oasis_table WHERE starts_with(name, 'plant_tank')";
    assert_eq!(site.postgres.count(tanks), DACS as u64);
    nodes.into_iter().for_each(|node| drop(node.running.shutdown()));
}

#[test]
fn gaps_and_causes_are_those_of_all_dacs_together() {
    let Some(mut site) = Site::new() else { return };
    let first = site.start(0, "hall-1");
    let second = site.start(1, "hall-2");
    let dacs = site.addresses.iter().map(|(_, channel)| channel.clone()).collect();
    let connector = Failover::new(dacs, |dac, patience| {
        let connector: Box<dyn Connector> = Box::new(TcpConnector::new(dac).with_patience(patience));
        connector
    });
    // A ring for some fifty samples.
    let mut node = OwnNode::start("plant", connector, vec![probe_type("Plant::Tank", 1, 4)], 4 << 10);
    let mut taken = 0;
    let mut generated = 0;
    let mut burst = |node: &mut OwnNode, until_dropped: u64| {
        let before = generated - taken;
        while generated - taken < before + until_dropped {
            taken += node.flush(START + generated);
            generated += 1;
        }
        // The gap becomes known with the sample after it.
        loop {
            generated += 1;
            let is_taken = node.flush(START + generated) == 1;
            taken += u64::from(is_taken);
            if is_taken {
                return (taken, generated);
            }
            thread::yield_now();
        }
    };
    let reached = |dac: &Oasis, (_, generated): (u64, u64)| {
        ledger(dac, "plant", "it 0", "the last sample", |ledger| {
            ledger["last_sequence"].as_u64() == Some(generated)
        });
    };
    let at_first = burst(&mut node, 100);
    reached(&first, at_first);
    eventually("rows of the first DAC", || {
        let is_there = site.postgres.query("SELECT to_regclass('oasis.plant_tank') IS NOT NULL") == "t";
        (is_there && site.postgres.count("SELECT count(*) FROM oasis.plant_tank") == at_first.0).then_some(())
    });
    first.kill();
    let at_second = burst(&mut node, 100);
    reached(&second, at_second);
    let (taken, generated) = at_second;
    eventually("all rows", || {
        (site.postgres.count("SELECT count(*) FROM oasis.plant_tank") == taken).then_some(())
    });
    let guide = std::fs::read_to_string("../../docs/guides/keep-samples-in-postgresql.md").unwrap();
    let (_, query) = guide.split_once("```sql\nWITH").unwrap();
    let query = format!("WITH{}", query.split_once("```").unwrap().0);
    let causes = eventually_shown("causes of all gaps", || {
        let mut causes: BTreeMap<String, u64> = BTreeMap::new();
        for line in site.postgres.query(&query).lines() {
            let fields: Vec<_> = line.split('|').collect();
            let count: u64 = fields[4].parse().unwrap();
            *causes.entry(fields[5].to_owned()).or_default() += count;
        }
        if causes.keys().eq(["ring_full"]) { Ok(causes) } else { Err(json!(causes)) }
    });
    assert_eq!(causes["ring_full"], generated - taken, "each number is there, or has one cause");
    node.running.shutdown();
}

//! A DAC in memory with its rules, and a plant whose pumps send temperatures.

use oasis_alarms::{AlarmView, Alarms, Filter, JournalEntry, JournalFilter, Limits};
use oasis_channel::{InstanceState, NodeIdentity, NodeMessage, PROTOCOL, RegisteredInstance, frame::Frame};
use oasis_dac::{Config, Dac, now, session::NodeSession};
use oasis_handler::{Handler, Supervisor};
use oasis_rules::Standing;
use oasis_rules_handler::{RoundBounds, Rules, RulesConfig};
use oasis_wire::{
    batch::{Encoder, Fields},
    probe_kind::ProbeKind,
    quantity::Nanos,
    schema::ProbeType,
    value::RowWriter,
};
use std::{
    collections::HashMap,
    fs,
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};
use tempfile::TempDir;
use tokio::sync::mpsc;
use uuid::Uuid;

pub const MS: u64 = 1_000_000;

/// A DAC whose rules are those of `a.rules` in a folder.
pub struct Plant {
    pub folder: TempDir,
    pub dac: Arc<Dac>,
    pub alarms: Arc<Alarms>,
    pub rules: Arc<Rules>,
    config: RulesConfig,
    bounds: RoundBounds,
    supervisor: Supervisor,
}

/// A copy of the database of alarms.
const SNAPSHOT: &str = "snapshot.sqlite3";

impl Plant {
    pub fn new(rules: &str) -> Self {
        Self::configured(rules, RulesConfig::default())
    }

    /// A plant where limits of PDL are no rules.
    pub fn without_limits(rules: &str) -> Self {
        Self::configured(rules, RulesConfig { pdl_limits: false, ..RulesConfig::default() })
    }

    pub fn configured(rules: &str, config: RulesConfig) -> Self {
        Self::with_files(&[rules.to_owned()], config)
    }

    pub fn with_files(files: &[String], config: RulesConfig) -> Self {
        Self::bounded(files, config, RoundBounds::default())
    }

    /// A plant that evaluates rules on `threads` threads, also if there is little to do.
    pub fn on_threads(rules: &str, threads: usize) -> Self {
        let bounds = RoundBounds { of_thread: 1, ..RoundBounds::default() };
        Self::bounded(&[rules.to_owned()], RulesConfig { threads, ..RulesConfig::default() }, bounds)
    }

    pub fn bounded(files: &[String], config: RulesConfig, bounds: RoundBounds) -> Self {
        Self::limited(files, config, bounds, Limits::default())
    }

    pub fn limited(files: &[String], config: RulesConfig, bounds: RoundBounds, limits: Limits) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (name, rules) in ('a'..).zip(files) {
            fs::write(folder.path().join(format!("{name}.rules")), rules).unwrap();
        }
        let alarms = Arc::new(Alarms::open(&folder.path().join("state"), limits).unwrap());
        let dac = Dac::new(Config::default());
        let config = placed(config, folder.path());
        let rules = Arc::new(Rules::new(config.clone(), alarms.clone()).with_bounds(bounds));
        let supervisor = Supervisor::new(dac.clone(), None, vec![rules.clone()]);
        supervisor.start_all();
        Self { folder, dac, alarms, rules, config, bounds, supervisor }
    }

    /// Stops evaluating. All that has come is evaluated and kept before.
    pub fn stop(&self) {
        self.supervisor.stop("rules").unwrap();
    }

    pub fn start(&self) {
        self.supervisor.start("rules").unwrap();
    }

    /// Ends the handler as it wants, and begins another one.
    pub fn restart(&self) {
        self.stop();
        self.start();
    }

    /// Copies the database of alarms, as a crash at this moment would leave it.
    pub fn snapshot(&self) {
        let copy = self.folder.path().join(SNAPSHOT);
        drop(fs::remove_file(&copy));
        let database = rusqlite::Connection::open(self.folder.path().join("state/alarms.sqlite3")).unwrap();
        database.execute("VACUUM INTO ?1", [copy.to_str().unwrap()]).unwrap();
    }

    /// Ends all, as if it had crashed now, or (with `is_old`) at the last snapshot: a DAC whose disk has lost a part.
    pub fn kill(&mut self, is_old: bool) {
        let copy = self.folder.path().join(SNAPSHOT);
        if !is_old || !copy.exists() {
            self.snapshot();
        }
        self.stop();
        let state = self.folder.path().join("state");
        let nothing = self.folder.path().join("nothing");
        // The lock of the directory goes with the alarms.
        self.supervisor = Supervisor::new(self.dac.clone(), None, Vec::new());
        self.rules = Arc::new(Rules::new(self.config.clone(), open(&nothing)));
        self.alarms = open(&nothing.join("other"));
        for name in ["alarms.sqlite3-wal", "alarms.sqlite3-shm"] {
            drop(fs::remove_file(state.join(name)));
        }
        fs::copy(&copy, state.join("alarms.sqlite3")).unwrap();
        self.alarms = open(&state);
        let rules = Rules::new(self.config.clone(), self.alarms.clone());
        self.rules = Arc::new(rules.with_bounds(self.bounds));
        self.supervisor = Supervisor::new(self.dac.clone(), None, vec![self.rules.clone()]);
        self.supervisor.start_all();
    }

    /// All of the journal, newest first.
    pub fn entries(&self) -> Vec<JournalEntry> {
        let (mut entries, mut after) = (Vec::new(), None);
        loop {
            let filter = JournalFilter { most: 1_000, after, ..JournalFilter::default() };
            let page = self.alarms.journal(&filter).unwrap();
            entries.extend(page.entries);
            after = page.next;
            if after.is_none() {
                return entries;
            }
        }
    }

    pub fn write_rules(&self, rules: &str) {
        // The file is replaced as a whole: a half is never read.
        let (new, path) = (self.folder.path().join("new"), self.folder.path().join("a.rules"));
        fs::write(&new, rules).unwrap();
        fs::rename(new, path).unwrap();
        self.rules.rules_state().request_reload(None);
    }

    /// Waits until an alarm meets the condition.
    pub fn wait_for(&self, rule: &str, is_so: impl Fn(&AlarmView) -> bool) -> AlarmView {
        wait(&format!("the alarm {rule}"), || {
            let filter = Filter { rule: Some(rule.into()), ..Filter::default() };
            self.alarms.list(&filter).alarms.into_iter().find(|alarm| is_so(alarm))
        })
    }

    pub fn wait_for_standing(&self, rule: &str, standing: Standing) -> AlarmView {
        self.wait_for(rule, |alarm| alarm.state == standing)
    }

    /// Waits until `samples` samples were evaluated.
    pub fn wait_for_samples(&self, samples: u64) {
        wait(&format!("{samples} samples"), || {
            (self.rules.state()["samples"].as_u64().unwrap() >= samples).then_some(())
        });
    }

    /// Returns the journal, oldest first: rule, event, and sequence number.
    pub fn journal(&self) -> Vec<(String, String, Option<u64>)> {
        let page = self.alarms.journal(&JournalFilter { most: 10_000, ..JournalFilter::default() }).unwrap();
        let entries = page.entries.into_iter().rev();
        entries.map(|entry| (entry.rule, entry.kind.name().to_owned(), entry.sequence)).collect()
    }
}

fn open(directory: &Path) -> Arc<Alarms> {
    Arc::new(Alarms::open(directory, Limits::default()).unwrap())
}

fn placed(mut config: RulesConfig, folder: &Path) -> RulesConfig {
    config.files = vec![".".into()];
    config.directory = "state".into();
    config.relative_to(folder);
    config
}

/// Waits for something that another thread does.
pub fn wait<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let begin = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(begin.elapsed() < Duration::from_secs(60), "{what} has not come");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// A node with pumps.
pub struct Pumps {
    dac: Arc<Dac>,
    session: NodeSession,
    pub name: String,
    pump: ProbeType,
    next: HashMap<String, u64>,
    time: u64,
    /// Time from sample to sample.
    pub step: u64,
}

pub fn pump() -> ProbeType {
    let json = r#"{"name": "Pump", "uuid": "0b3c9f0e-5d0c-4a7e-9a51-6f1c0e6a2d11", "version": "1.0",
        "metrics": [{"name": "temperature", "type": "real64", "unit": "Cel", "alarm": {"above": 200.0}}]}"#;
    serde_json::from_str(json).unwrap()
}

impl Pumps {
    pub fn new(dac: &Arc<Dac>, name: &str, run: u128, instances: &[&str]) -> Self {
        Self::of_type(dac, name, run, instances, pump())
    }

    pub fn of_type(dac: &Arc<Dac>, name: &str, run: u128, instances: &[&str], pump: ProbeType) -> Self {
        let node = NodeIdentity {
            name: name.into(),
            uuid: Uuid::nil(),
            run: Uuid::from_u128(run),
            host: "h".into(),
            software: "test".into(),
            pid: 1,
        };
        let instance = |name: &&str| RegisteredInstance {
            name: (*name).into(),
            probe_type: pump.uuid,
            kind: ProbeKind::Pushed,
            demand: None,
            declared: None,
            state: InstanceState { hertz: None, enabled: true, recorder: None },
        };
        let instances = instances.iter().map(instance).collect();
        let mut session = NodeSession::new(dac.clone(), mpsc::channel(8).0);
        for message in [
            NodeMessage::Hello { protocol: PROTOCOL, node, secret: None, attach: None, drains: false },
            NodeMessage::Register { types: vec![pump.clone()], instances },
        ] {
            let json = serde_json::to_vec(&message).unwrap();
            session.handle(Frame::Control(&json), now(), &mut Vec::new()).unwrap();
        }
        let (dac, name) = (dac.clone(), name.to_owned());
        Self { dac, session, name, pump, next: HashMap::new(), time: 1_700_000_000_000 * MS, step: 100 * MS }
    }

    /// Sends a batch of temperatures, 100 ms apart.
    pub fn send(&mut self, instance: &str, temperatures: &[f64]) {
        self.send_at(instance, temperatures, now());
    }

    pub fn send_at(&mut self, instance: &str, temperatures: &[f64], dac_time: Nanos) {
        let rows: Vec<[f64; 1]> = temperatures.iter().map(|temperature| [*temperature]).collect();
        let rows: Vec<&[f64]> = rows.iter().map(|row| &row[..]).collect();
        self.send_rows_at(instance, &rows, dac_time);
    }

    pub fn send_rows(&mut self, instance: &str, rows: &[&[f64]]) {
        self.send_rows_at(instance, rows, now());
    }

    fn send_rows_at(&mut self, instance: &str, rows: &[&[f64]], dac_time: Nanos) {
        let topic = self.dac.registry.find(&self.name, instance).unwrap().topic.0;
        let next = self.next.entry(instance.into()).or_insert(1);
        let mut encoder = Encoder::new(&self.pump).unwrap();
        for values in rows {
            let mut row = Vec::new();
            let mut writer = RowWriter::new(&mut row);
            values.iter().for_each(|value| writer.f64(*value));
            self.time += self.step;
            encoder.push(self.time, &row).unwrap();
        }
        let first_sequence = *next;
        *next += rows.len() as u64;
        let fields = Fields { topic, state: 0, first_sequence, node_time: self.time, dropped_before: 0 };
        let mut batch = Vec::new();
        encoder.finish(fields, &mut batch);
        self.session.handle(Frame::Batch(&batch), dac_time, &mut Vec::new()).unwrap();
        // As the end of a read from the socket does.
        self.session.acknowledge(dac_time, &mut Vec::new());
    }

    /// Sets the clock of the node.
    pub fn set_clock(&mut self, time: u64) {
        self.time = time;
    }

    /// Says how the clock of the DAC differs from that of the node, in nanoseconds.
    pub fn measure_clock(&mut self, offset: i64, round_trip: u64) {
        let ping = NodeMessage::Ping {
            node_time: self.time,
            clock_offset_ns: Some(offset),
            round_trip_ns: Some(round_trip),
            overhead: None,
        };
        let json = serde_json::to_vec(&ping).unwrap();
        self.session.handle(Frame::Control(&json), now(), &mut Vec::new()).unwrap();
    }

    /// Sets the clock of the node back.
    pub fn set_clock_back(&mut self, by: u64) {
        self.time -= by;
    }

    /// Ends the connection.
    pub fn leave(mut self) {
        self.session.close(now());
    }

    /// Has sent samples to another DAC.
    pub fn skip(&mut self, instance: &str, count: u64) {
        self.lose(instance, count);
        self.time += count * 100 * MS;
    }

    /// Loses samples on the way.
    pub fn lose(&mut self, instance: &str, count: u64) {
        *self.next.entry(instance.into()).or_insert(1) += count;
    }
}

/// Random numbers: splitmix64.
pub struct Random(pub u64);

impl Random {
    /// A number below another one.
    pub fn next(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut number = self.0;
        number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (number ^ (number >> 31)) % below
    }
}

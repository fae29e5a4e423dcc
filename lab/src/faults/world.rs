//! The processes of one scenario, its faults' ends, and its judgement.

use super::{
    judge::{
        account::{Account, Life},
        outcome::Outcome,
        watch::Watch,
    },
    random::Random,
    system::{
        dac::{DacProcess, DacSettings},
        node::NodeProcess,
        source::{INSTANCE, SourceSettings},
    },
    waiting::{RECOVERY_TIMEOUT, until},
};
use anyhow::{Context, bail};
use serde_json::{Value, json};
use std::{
    path::{Path, PathBuf},
    process::ExitStatus,
    time::{Duration, Instant},
};
use tempfile::TempDir;

/// Longest until `/readyz` reports a fault, or its end.
const REPORT_TIMEOUT: Duration = Duration::from_secs(15);

/// The setting `memory_bytes`: what peers may cause.
const MEMORY_BYTES: u64 = 192 * 1024 * 1024;
/// Memory of a DAC without the memory of peers.
const PROGRAM_BYTES: u64 = 64 * 1024 * 1024;

/// Timeout of a scenario that has failed already.
const FAILED_TIMEOUT: Duration = Duration::from_secs(10);

/// A DAC with nodes.
pub struct World {
    /// The parameters of this scenario.
    pub random: Random,
    /// Factor of long times.
    pub scale: f64,
    /// Settings of the DAC; they take effect when it starts.
    pub settings: DacSettings,
    /// The result so far.
    pub outcome: Outcome,
    /// Whether the fault destroys the archive, so that samples cannot be compared.
    pub is_unaccountable: bool,
    /// Variables of the environment of nodes that start.
    pub node_variables: Vec<(&'static str, PathBuf)>,
    /// Network namespace of nodes that start.
    pub node_namespace: Option<String>,
    /// The nodes that run.
    pub nodes: Vec<NodeProcess>,
    dac: Option<DacProcess>,
    /// Processes that have ended.
    lives: Vec<Life>,
    is_judged: bool,
    /// Longest wait for a recovery.
    patience: Duration,
    folder: TempDir,
}

impl World {
    /// An empty world.
    pub fn new(oasis: PathBuf, scale: f64, random: Random, outcome: Outcome) -> anyhow::Result<Self> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().to_owned();
        let settings = DacSettings {
            oasis,
            archive: path.join("archive"),
            folder: path,
            listen: "127.0.0.1:0".into(),
            channel: "127.0.0.1:0".into(),
            memory_bytes: MEMORY_BYTES,
            log_bytes: 64 * 1024 * 1024,
            topic_bytes: 8 * 1024 * 1024,
            min_free_bytes: 1024 * 1024,
            udp: false,
            open_files: None,
            more: String::new(),
            variables: Vec::new(),
        };
        let outcome = Outcome { bound_bytes: MEMORY_BYTES + PROGRAM_BYTES, ..outcome };
        Ok(Self {
            random,
            scale,
            settings,
            outcome,
            is_unaccountable: false,
            node_variables: Vec::new(),
            node_namespace: None,
            nodes: Vec::new(),
            dac: None,
            lives: Vec::new(),
            is_judged: false,
            patience: RECOVERY_TIMEOUT,
            folder,
        })
    }

    /// A folder of this scenario, removed with it.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Keeps the folder when the world is dropped.
    pub fn keep(self) -> PathBuf {
        self.folder.keep()
    }

    /// The scenario has failed: what has not recovered is not waited for again.
    pub fn give_up(&mut self) {
        self.patience = FAILED_TIMEOUT;
    }

    /// A long time of the unscaled scenario.
    pub fn scaled(&self, seconds: f64) -> Duration {
        Duration::from_secs_f64(seconds * self.scale)
    }

    /// Returns the number of times that a fault is injected that the unscaled scenario injects `full` times: a fifth at a scale of 0.1.
    pub fn repeated(&self, full: u32) -> u32 {
        ((f64::from(full) * self.scale * 2.0) as u32).clamp(1, full)
    }

    /// The DAC that runs.
    pub fn dac(&self) -> anyhow::Result<&DacProcess> {
        self.dac.as_ref().context("no DAC runs")
    }

    /// Starts the DAC, from the second time on where it was before.
    pub fn start_dac(&mut self) -> anyhow::Result<()> {
        let dac = DacProcess::start(&self.settings)?;
        self.settings.listen = dac.http().to_owned();
        self.settings.channel = dac.channel().to_owned();
        self.dac = Some(dac);
        Ok(())
    }

    /// `kill -9` of the DAC.
    pub fn kill_dac(&mut self) -> anyhow::Result<()> {
        let dac = self.leave_dac()?;
        dac.kill();
        Ok(())
    }

    /// SIGTERM to the DAC, and how it ended.
    pub fn terminate_dac(&mut self) -> anyhow::Result<ExitStatus> {
        self.leave_dac()?.stop()
    }

    /// SIGTERM to the DAC, and its clean end.
    pub fn stop_dac(&mut self) -> anyhow::Result<()> {
        let status = self.terminate_dac()?;
        if !status.success() {
            self.outcome.failures.push(format!("the DAC ended with {status}"));
        }
        Ok(())
    }

    fn leave_dac(&mut self) -> anyhow::Result<DacProcess> {
        self.note_peak();
        self.dac.take().context("no DAC runs")
    }

    /// Notes the memory of the DAC so far.
    pub fn note_peak(&mut self) {
        let peak = self.dac.as_ref().map_or(0, DacProcess::peak_memory);
        self.outcome.peak_bytes = self.outcome.peak_bytes.max(peak);
    }

    /// The settings of another node that sends to the DAC, without a file spool.
    pub fn node_settings(&mut self, name: &str) -> SourceSettings {
        SourceSettings {
            name: name.into(),
            dac: self.settings.channel.clone(),
            life: 0,
            hertz: self.random.within(200..1_000) as u32,
            journal: PathBuf::new(),
            spool: None,
            spool_bytes: 16 * 1024 * 1024,
            periodic: false,
            udp: false,
        }
    }

    /// The same with a file spool of its own.
    pub fn spooling_settings(&mut self, name: &str) -> SourceSettings {
        let spool = Some(self.folder().join(format!("spool-{name}")));
        SourceSettings { spool, ..self.node_settings(name) }
    }

    /// Starts a node.
    pub fn start_node(&mut self, settings: SourceSettings) -> anyhow::Result<()> {
        let earlier = self.lives.iter().filter(|life| life.node == settings.name).count() as u64;
        let journal = self.folder().join(format!("journal-{}-{earlier}", settings.name));
        let settings = SourceSettings { life: earlier + 1, journal, ..settings };
        let namespace = self.node_namespace.as_deref();
        self.nodes.push(NodeProcess::start(settings, &self.node_variables, namespace)?);
        Ok(())
    }

    /// `kill -9` of a node. Returns what it was started with.
    pub fn kill_node(&mut self, index: usize) -> SourceSettings {
        let node = self.nodes.remove(index);
        let settings = node.settings().clone();
        node.kill();
        self.lives.push(life(&settings, true));
        settings
    }

    /// A DAC, and a node with a file spool that it stores samples of.
    pub fn start_pair(&mut self) -> anyhow::Result<()> {
        self.start_dac()?;
        let settings = self.spooling_settings("plant");
        self.start_node(settings)?;
        self.settle()
    }

    /// Waits until every node has generated another sample that is stored.
    pub fn settle(&mut self) -> anyhow::Result<()> {
        self.wait_until_stored()
    }

    /// The fault is over: waits until a sample that was generated after now is stored, of every node, and `/readyz` is true again.
    pub fn recover(&mut self) -> anyhow::Result<()> {
        let began = Instant::now();
        self.wait_until_stored()?;
        let took = began.elapsed();
        self.outcome.recovery = Some(self.outcome.recovery.unwrap_or_default().max(took));
        self.expect_ready()
    }

    fn wait_until_stored(&mut self) -> anyhow::Result<()> {
        let dac = self.dac.as_ref().context("no DAC runs")?;
        // Samples of all nodes at the same time: one after the other, each would wait for another commit.
        let generated: Vec<_> = self.nodes.iter().map(NodeProcess::generated).collect();
        for (node, before) in self.nodes.iter().zip(generated) {
            let settings = node.settings();
            // Offset of the first one that was seen: later ones come faster than they are stored.
            let mut new = None;
            until("a new sample is stored", self.patience, || {
                let shown = instance(dac, &settings.name).unwrap_or_default();
                let latest = &shown["latest"];
                let is_of_this = latest["metrics"]["system_time"].as_u64() == Some(settings.life);
                if is_of_this && latest["metrics"]["idle_time"].as_u64() > Some(before) {
                    new = new.or(latest["offset"].as_u64());
                }
                let stored = shown["ledger"]["archive"]["stored_offset"].as_u64();
                match new {
                    Some(new) if stored > Some(new) => Ok(()),
                    _ => Err(json!({"latest": latest, "after": before, "stored": stored})),
                }
            })?;
        }
        Ok(())
    }

    /// `/readyz` must answer 200 soon.
    pub fn expect_ready(&mut self) -> anyhow::Result<()> {
        let answer = self.readiness(|status, _| status == 200)?;
        if let Err(error) = answer {
            self.outcome.untrue_health += 1;
            self.outcome.failures.push(format!("health: {error:#}"));
        }
        Ok(())
    }

    /// `/readyz` must answer 503 soon, with a reason that contains these words.
    pub fn expect_not_ready(&mut self, words: &str) -> anyhow::Result<()> {
        let answer = self.readiness(|status, body| status == 503 && body.contains(words))?;
        if let Err(error) = answer {
            self.outcome.untrue_health += 1;
            self.outcome.failures.push(format!("health: {error:#}, expected 503 and {words:?}"));
        }
        Ok(())
    }

    fn readiness(&self, is_right: impl Fn(u16, &str) -> bool) -> anyhow::Result<anyhow::Result<()>> {
        let dac = self.dac()?;
        Ok(until("/readyz is true", REPORT_TIMEOUT, || match dac.request("GET", "/readyz", REPORT_TIMEOUT) {
            Ok(answer) if is_right(answer.status, &answer.body) => Ok(()),
            Ok(answer) => Err(format!("{} {}", answer.status, answer.body)),
            Err(error) => Err(format!("{error:#}")),
        }))
    }

    /// Adds what a watch has seen: a DAC that works must say so soon.
    pub fn add_watch(&mut self, watch: Watch) {
        let seen = watch.finish();
        self.outcome.notes.insert("health_requests", seen.asked);
        self.outcome.notes.insert("slowest_health_ms", seen.slowest.as_millis() as u64);
        self.outcome.untrue_health += seen.failed;
        self.outcome.failures.extend(seen.first_failure);
    }

    /// Generated samples of a node, according to the audit: received, declared, spooled or in flight.
    pub fn audited(&self, node: &str) -> anyhow::Result<u64> {
        let audit = self.dac()?.get(&format!("/api/v1/audit?node={node}"))?;
        audit["instances"][0]["generated"].as_u64().context("an audit without the instance")
    }

    /// Adds what the DAC's own audit finds of the nodes: before it ends, because it covers one epoch. Hostile peers lie about themselves only.
    pub fn note_audit(&mut self) -> anyhow::Result<()> {
        let audit = self.dac()?.get("/api/v1/audit")?;
        let instances = audit["instances"].as_array().context("an audit without instances")?;
        for instance in instances {
            let archived = instance["archive"]["undeclared"].as_u64().unwrap_or_default();
            let undeclared = instance["undeclared"].as_u64().context("an audit without a sum")?;
            if self.is_ours(&instance["node"]) {
                self.outcome.audit_undeclared += undeclared + archived;
            }
        }
        Ok(())
    }

    fn is_ours(&self, node: &Value) -> bool {
        let running = self.nodes.iter().map(|node| &node.settings().name);
        running.chain(self.lives.iter().map(|life| &life.node)).any(|name| node == name.as_str())
    }

    /// Ends all processes once every sample is where it belongs, and compares the archive with what was generated. A scenario calls it itself if its archive
    /// does not outlive it.
    pub fn judge(&mut self) -> anyhow::Result<()> {
        if std::mem::replace(&mut self.is_judged, true) || self.is_unaccountable {
            return Ok(());
        }
        if let Some(status) = self.dac.as_mut().and_then(DacProcess::ended) {
            self.outcome.failures.push(format!("the DAC ended by itself: {status}"));
            self.dac = None;
        }
        if self.dac.is_none() {
            self.start_dac()?;
        }
        self.finish_nodes()?;
        self.note_audit()?;
        self.stop_dac()?;
        self.outcome.account = Account::of(&self.settings.archive, &self.lives)?;
        Ok(())
    }

    /// Ends the nodes once every sample is received or declared lost. A scenario calls it while what nodes need still exists.
    pub fn finish_nodes(&mut self) -> anyhow::Result<()> {
        if let Err(error) = self.drain() {
            self.outcome.failures.push(format!("{error:#}"));
        }
        for node in std::mem::take(&mut self.nodes) {
            let settings = node.settings().clone();
            if let Err(error) = node.stop() {
                self.outcome.failures.push(format!("{error:#}"));
            }
            self.lives.push(life(&settings, false));
        }
        Ok(())
    }

    /// Waits until every sample is received or declared lost, and the archive has settled.
    fn drain(&mut self) -> anyhow::Result<()> {
        for node in &mut self.nodes {
            node.end_samples()?;
        }
        let dac = self.dac.as_ref().context("no DAC runs")?;
        for node in &self.nodes {
            let name = &node.settings().name;
            until("every sample is accounted for", self.patience, || {
                let audit = dac.get(&format!("/api/v1/audit?node={name}")).unwrap_or_default();
                let shown = instance(dac, name).unwrap_or_default();
                let audit = &audit["instances"][0];
                let on_the_way = audit["spooled"].as_u64().zip(audit["in_flight"].as_u64());
                let waiting = (on_the_way, audit["archive"]["waiting"].as_u64());
                let taken = shown["ledger"]["node"]["taken"].as_u64();
                // Numbered as well, although no sample was generated.
                let not_taken = audit["declared"]["not_taken"].as_u64().unwrap_or_default();
                let generated = node.generated() + not_taken;
                let is_newest = shown["latest"]["metrics"]["system_time"] == node.settings().life;
                match waiting {
                    (Some((0, 0)), Some(0)) if taken == Some(generated) && is_newest => Ok(()),
                    _ => Err(json!({"audit": audit, "taken": taken, "generated": generated})),
                }
            })?;
        }
        Ok(())
    }
}

fn life(settings: &SourceSettings, was_killed: bool) -> Life {
    Life {
        node: settings.name.clone(),
        instance: INSTANCE.into(),
        life: settings.life,
        generated: super::system::journal::read(&settings.journal),
        was_killed,
    }
}

/// The instance of a node as the API shows it.
pub fn instance(dac: &DacProcess, node: &str) -> anyhow::Result<Value> {
    let list = dac.get(&format!("/api/v1/instances?node={node}&instance={INSTANCE}"))?;
    let Some(id) = list["instances"][0]["id"].as_u64() else { bail!("no instance of {node}") };
    dac.get(&format!("/api/v1/instances/{id}"))
}

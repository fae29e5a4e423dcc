//! Several machines: a TEM, two DACs that relay each other, two relays of both, and a node that knows both DACs. A reader at each relay and
//! DAC checks what it receives.

use super::{
    judge::{
        account::Account,
        reader::{Reader, Received},
        union::Union,
    },
    system::{
        network::{Machine, Network},
        program::{Program, ProgramSettings, log},
    },
    waiting::{RECOVERY_TIMEOUT, until},
    world::World,
};
use anyhow::Context;
use serde_json::{Value, json};
use std::{
    fs,
    path::{Path, PathBuf},
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

const NODE: &str = "plant";
const INSTANCE: &str = "heartbeat";
/// Ports of API and doors, and of the data channel: each machine has its own.
const HTTP: u16 = 7070;
const CHANNEL: u16 = 7071;

/// A process that may be gone.
#[derive(Debug)]
pub struct Member {
    settings: ProgramSettings,
    program: Option<Program>,
}

/// All machines.
#[derive(Debug)]
pub struct Cluster {
    tem: Member,
    /// Two DACs.
    pub dacs: [Member; 2],
    /// Two relays.
    pub relays: [Member; 2],
    node: Member,
    readers: Vec<Reader>,
    folder: PathBuf,
    /// After the processes: it goes with its machines.
    _network: Network,
}

impl Member {
    fn start(&mut self) -> anyhow::Result<()> {
        self.program = Some(Program::start(&self.settings)?);
        Ok(())
    }

    /// Its machine.
    pub fn machine(&self) -> &Machine {
        &self.settings.machine
    }

    /// The process.
    pub fn program(&self) -> anyhow::Result<&Program> {
        self.program.as_ref().context("a process has ended")
    }

    /// Takes the process, to end it.
    pub fn take(&mut self) -> anyhow::Result<Program> {
        self.program.take().context("a process has ended")
    }

    fn url(&self) -> String {
        format!("http://{}:{HTTP}", self.settings.machine.address)
    }
}

impl Cluster {
    /// Starts all processes, and waits until each reader receives samples. Fails without network namespaces.
    pub fn start(world: &World, mut network: Network) -> anyhow::Result<Self> {
        let (oasis, folder) = (&world.settings.oasis, world.folder());
        let mut member = |name: &str| member(&mut network, oasis, folder, name);
        let (mut tem, mut node) = (member("tem")?, member("node")?);
        let (mut dacs, mut relays) =
            ([member("hall-1")?, member("hall-2")?], [member("relay-1")?, member("relay-2")?]);
        let urls = [dacs[0].url(), dacs[1].url()];
        tem.settings.arguments.insert(0, "tem".into());
        for (at, dac) in dacs.iter_mut().enumerate() {
            let name = format!("hall-{}", at + 1);
            let config = folder.join(format!("{name}.toml"));
            fs::write(&config, config_of(world, &urls[1 - at]))?;
            let flags = [
                ("--channel-listen", format!("{}:{CHANNEL}", dac.machine().address)),
                ("--archive", archive(folder, at).display().to_string()),
                ("--tem", tem.url()),
                ("--dac-name", name),
                ("--config", config.display().to_string()),
            ];
            add(dac, "dac", &flags);
        }
        for relay in &mut relays {
            add(relay, "relay", &urls.clone().map(|url| ("--upstream", url)));
        }
        let channels = [0, 1].map(|at| format!("{}:{CHANNEL}", dacs[at].machine().address));
        node.settings.arguments.clear();
        let flags = [
            ("--name", NODE.into()),
            ("--probe", format!("{INSTANCE}@1000")),
            ("--dac", channels[0].clone()),
            ("--dac", channels[1].clone()),
        ];
        add(&mut node, "node", &flags);
        tem.start()?;
        for each in dacs.iter_mut().chain(&mut relays).chain([&mut node]) {
            each.start()?;
        }
        let all = relays.iter().chain(&dacs).map(|each| format!("{}:{HTTP}", each.machine().address));
        let readers = all.map(|address| Reader::start(&address, NODE, INSTANCE)).collect();
        let folder = folder.to_owned();
        let cluster = Self { tem, dacs, relays, node, readers, folder, _network: network };
        cluster.until_read(&[0, 1, 2, 3], wall())?;
        cluster.until_equal()?;
        Ok(cluster)
    }

    /// Which DAC the node is connected to.
    pub fn home(&self) -> anyhow::Result<usize> {
        until("a home of the node", RECOVERY_TIMEOUT, || {
            (0..2).find(|&at| self.is_home(at)).ok_or_else(|| "none".to_owned())
        })
    }

    fn is_home(&self, at: usize) -> bool {
        let shown = self.dacs[at].program().and_then(node_at);
        shown.is_ok_and(|node| node["state"] == "online" && node["path"].is_null())
    }

    /// Starts a DAC where it was.
    pub fn start_dac(&mut self, at: usize) -> anyhow::Result<()> {
        self.dacs[at].start()
    }

    /// The machine of the TEM.
    pub fn tem_machine(&self) -> &Machine {
        self.tem.machine()
    }

    /// The machine of the node.
    pub fn node_machine(&self) -> &Machine {
        self.node.machine()
    }

    /// Waits until readers have a sample that its node sent after a moment: relays are 0 and 1, DACs 2 and 3. Returns how long
    /// that took.
    pub fn until_read(&self, readers: &[usize], moment: u64) -> anyhow::Result<Duration> {
        let began = Instant::now();
        until("readers receive new samples", RECOVERY_TIMEOUT, || {
            let late: Vec<_> =
                readers.iter().filter(|at| self.readers[**at].newest() <= moment).copied().collect();
            if late.is_empty() {
                Ok(())
            } else {
                Err(format!("readers {late:?} (relays 0 and 1, DACs 2 and 3)"))
            }
        })?;
        Ok(began.elapsed())
    }

    /// Waits until the node is connected to one of these DACs. Returns how long that took.
    pub fn until_home(&self, dacs: &[usize]) -> anyhow::Result<Duration> {
        let began = Instant::now();
        until("the node is connected", RECOVERY_TIMEOUT, || {
            if dacs.iter().any(|at| self.is_home(*at)) { Ok(()) } else { Err("it is not".to_owned()) }
        })?;
        Ok(began.elapsed())
    }

    /// Waits until both DACs and both relays say the same of the node. Returns how long that took.
    pub fn until_equal(&self) -> anyhow::Result<Duration> {
        let began = Instant::now();
        until("the registries are equal", RECOVERY_TIMEOUT, || {
            let all = self.dacs.iter().chain(&self.relays).map(|each| picture(each.program()?));
            match all.collect::<anyhow::Result<Vec<_>>>() {
                Ok(all) if all.windows(2).all(|pair| pair[0] == pair[1]) => Ok(()),
                Ok(all) => Err(json!(all).to_string()),
                Err(error) => Err(format!("{error:#}")),
            }
        })?;
        Ok(began.elapsed())
    }

    /// Ends everything in order, and adds what became of the samples.
    pub fn finish(mut self, world: &mut World) -> anyhow::Result<()> {
        self.node.take()?.stop()?;
        let taken = self.dacs.iter().map(|dac| taken(dac.program()?)).collect::<anyhow::Result<Vec<_>>>()?;
        let received: Vec<_> = std::mem::take(&mut self.readers).into_iter().map(Reader::finish).collect();
        let mut union = Union::default();
        for (at, dac) in self.dacs.iter_mut().enumerate() {
            let program = dac.take()?;
            world.outcome.peak_bytes = world.outcome.peak_bytes.max(program.peak_memory());
            program.finish()?;
            union.add(&archive(&self.folder, at), (NODE, INSTANCE))?;
        }
        let generated = taken.into_iter().max().unwrap_or_default();
        let (declared, undeclared) = union.missing(generated);
        let (duplicates, altered, stored) = (union.duplicates, union.altered, union.stored());
        world.outcome.account =
            Account { generated, stored, declared, undeclared, duplicates, altered, ..Account::default() };
        for (at, received) in received.iter().enumerate() {
            judge(world, at, received, &union);
        }
        Ok(())
    }
}

fn judge(world: &mut World, at: usize, received: &Received, union: &Union) {
    let (unannounced, announced) = received.missing(union);
    let outcome = &mut world.outcome;
    outcome.repeated_at_readers += received.repeated;
    outcome.unannounced_to_readers += unannounced;
    for (note, count) in [
        ("samples_read", received.samples),
        ("announced_to_readers", announced),
        ("subscriptions_ended", received.ended),
    ] {
        *outcome.notes.entry(note).or_default() += count;
    }
    if received.repeated + unannounced > 0 {
        let jumps = received.jumps.iter().filter(|(numbers, told)| numbers.end - numbers.start > *told);
        outcome.failures.push(format!(
            "reader {at}: {} again, first {:?}; {unannounced} missing without a gap, first {:?}",
            received.repeated,
            received.first_repeated,
            jumps.take(3).collect::<Vec<_>>()
        ));
    }
}

fn member(network: &mut Network, oasis: &Path, folder: &Path, name: &str) -> anyhow::Result<Member> {
    let machine = network.machine()?;
    // Machines of a scenario are network namespaces of this one.
    let arguments =
        vec!["--listen".to_owned(), format!("{}:{HTTP}", machine.address), "--insecure".to_owned()];
    let settings = ProgramSettings { machine, oasis: oasis.to_owned(), arguments, log: log(folder, name) };
    Ok(Member { settings, program: None })
}

fn add(member: &mut Member, command: &str, flags: &[(&str, String)]) {
    let arguments = &mut member.settings.arguments;
    arguments.insert(0, command.into());
    arguments.extend(flags.iter().flat_map(|(name, value)| [(*name).to_owned(), value.clone()]));
}

fn config_of(world: &World, upstream: &str) -> String {
    let settings = &world.settings;
    format!(
        "memory_bytes = {}\n\n[log]\ntotal_bytes = {}\ntopic_bytes = {}\n\n[relay]\nupstreams = [{upstream:?}]\n",
        settings.memory_bytes, settings.log_bytes, settings.topic_bytes
    )
}

fn archive(folder: &Path, at: usize) -> PathBuf {
    folder.join(format!("archive-{at}"))
}

fn node_at(program: &Program) -> anyhow::Result<Value> {
    let nodes = program.get("/api/v1/nodes")?;
    let mut all = nodes["nodes"].as_array().into_iter().flatten();
    all.find(|node| node["name"] == NODE).cloned().context("the node is not listed")
}

/// Returns the state of the node in a registry: its run, its connection, its state.
fn picture(program: &Program) -> anyhow::Result<Value> {
    let node = node_at(program)?;
    let instances = program.get(&format!("/api/v1/instances?node={NODE}"))?;
    let names: Vec<_> =
        instances["instances"].as_array().into_iter().flatten().map(|each| &each["instance"]).collect();
    Ok(json!([node["run"], node["attach"], node["state"], names]))
}

/// Returns the number of samples that the node has taken, as far as a DAC knows.
fn taken(program: &Program) -> anyhow::Result<u64> {
    let ledgers = program.get("/api/v1/ledger")?;
    let mut all = ledgers["instances"].as_array().into_iter().flatten();
    let found = all.find(|each| each["instance"] == INSTANCE);
    Ok(found.and_then(|each| each["ledger"]["node"]["taken"].as_u64()).unwrap_or_default())
}

/// Nanoseconds since 1970.
pub fn wall() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_nanos() as u64)
}

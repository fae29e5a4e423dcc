//! The server under test: started with the workers of the settings, in as many processes as its connections need.

use super::{super::monitor::Part, dialect::FILE, rival::Rival, settings::Settings};
use crate::{child::Child, cpu, dac_http, faults::random::Random, nodejs};
use anyhow::{Context, ensure};
use oasis_probe::{Node, NodeBuilder, NodeConfig, ProbeType, PushedKind, TcpConnector, now_ns};
use serde_json::json;
use std::{
    env,
    fs::File,
    net::SocketAddr,
    os::unix::process::CommandExt,
    path::Path,
    process::Command,
    thread,
    time::{Duration, Instant},
};

/// Room in the ring of the file besides the file.
const RING: usize = 64 * 1024;
/// Timeout of a DAC that starts.
const START_TIMEOUT: Duration = Duration::from_secs(30);
/// Interval between two polls of its state.
const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// Prefix of the names of the threads of shards.
const SHARD_THREAD_PREFIX: &str = "oasis-shard-";

/// A server that is ready.
#[derive(Debug)]
pub struct Servers {
    processes: Vec<Child>,
    /// Addresses for clients, one after the other.
    pub addresses: Vec<SocketAddr>,
    /// Processes or threads that serve connections.
    pub workers: Vec<Part>,
    /// Processes that do not, and are watched all the same.
    pub others: Vec<Part>,
    /// The nodes of DACs that have sent the file, if there is one.
    _files: Vec<Node>,
}

impl Servers {
    /// Starts the server of a cell; what it logs goes to a file in the folder.
    pub fn start(settings: &Settings, folder: &Path) -> anyhow::Result<Self> {
        let mut servers = Self {
            processes: Vec::new(),
            addresses: Vec::new(),
            workers: Vec::new(),
            others: Vec::new(),
            _files: Vec::new(),
        };
        match settings.rival.script() {
            Some((script, _)) => servers.start_node(settings, script, folder)?,
            None => {
                let processes = settings.connections().div_ceil(cpu::most_connections()).max(1);
                for process in 0..processes {
                    let shards =
                        settings.workers / processes + usize::from(process < settings.workers % processes);
                    servers.start_dac(settings, shards.max(1), folder)?;
                }
            }
        }
        Ok(servers)
    }

    /// Its processes, without those that they have started.
    pub fn pids(&self) -> Vec<u32> {
        self.processes.iter().map(Child::pid).collect()
    }

    /// Resident memory of all its processes, in bytes.
    pub fn resident(&self) -> anyhow::Result<u64> {
        self.family().map(cpu::resident).sum()
    }

    /// Processor time of all its processes so far.
    pub fn cpu(&self) -> anyhow::Result<Duration> {
        self.family().map(cpu::time).sum()
    }

    /// Processor time of each worker so far.
    pub fn worker_cpu(&self) -> anyhow::Result<Vec<Duration>> {
        self.workers.iter().map(Part::cpu).collect()
    }

    fn family(&self) -> impl Iterator<Item = u32> {
        self.processes.iter().flat_map(|process| cpu::family(process.pid()))
    }

    /// A program of `lab/node` for Node.js; it prints the numbers of its workers' processes.
    fn start_node(&mut self, settings: &Settings, script: &str, folder: &Path) -> anyhow::Result<()> {
        let mut command = Command::new("node");
        command.arg(Path::new(nodejs::FOLDER).join("mueller").join(script));
        command.args([
            settings.workers.to_string(),
            settings.file.to_string(),
            settings.server_host.to_string(),
        ]);
        let process = start(settings, command, folder)?;
        self.addresses.push(process.place(0)?.parse()?);
        let pids = process.place(1)?.split(',').map(str::parse).collect::<Result<Vec<u32>, _>>()?;
        let worker = |(number, pid)| Part { name: format!("worker_{number}"), pid, thread: None };
        self.workers.extend(pids.into_iter().enumerate().map(worker));
        self.others.push(Part { name: "primary".into(), pid: process.pid(), thread: None });
        self.processes.push(process);
        Ok(())
    }

    fn start_dac(&mut self, settings: &Settings, shards: usize, folder: &Path) -> anyhow::Result<()> {
        let mut command = Command::new(env::current_exe()?);
        command.args(["serve", "dac", "--shards", &shards.to_string()]);
        command.args(["--host", &settings.server_host.to_string()]);
        let process = start(settings, command, folder)?;
        let address = process.place(0)?;
        let view = dac_http::get(address, "/api/v1/shards").context("the DAC does not show its shards")?;
        ensure!(view["shards"] == shards, "the DAC has other shards than {shards}: {view}");
        self.addresses.push(address.parse()?);
        let threads = shard_threads(process.pid(), shards)?;
        let first = self.workers.len();
        self.workers.extend(threads.into_iter().enumerate().map(|(number, thread)| Part {
            name: format!("worker_{}", first + number),
            pid: process.pid(),
            thread: Some(thread),
        }));
        if settings.file > 0 {
            self._files.push(send_file(address, process.place(1)?, settings.file)?);
        }
        self.processes.push(process);
        Ok(())
    }
}

fn start(settings: &Settings, mut command: Command, folder: &Path) -> anyhow::Result<Child> {
    let log = File::options().create(true).append(true).open(folder.join("server.log"))?;
    command.stderr(log);
    // Ctrl-C is for the runner, which ends its processes.
    command.process_group(0);
    cpu::raise_open_files()?;
    Child::start_on(settings.server_cores.unwrap_or(usize::MAX), command)
}

/// The threads of a DAC's shards. A thread names itself, which a busy machine delays.
fn shard_threads(pid: u32, shards: usize) -> anyhow::Result<Vec<u32>> {
    let begun = Instant::now();
    loop {
        let mut threads = cpu::threads(pid)?;
        threads.retain(|(name, _)| name.starts_with(SHARD_THREAD_PREFIX));
        if threads.len() == shards {
            threads.sort();
            return Ok(threads.into_iter().map(|(_, thread)| thread).collect());
        }
        ensure!(begun.elapsed() < START_TIMEOUT, "{} threads of shards instead of {shards}", threads.len());
        thread::sleep(POLL_INTERVAL);
    }
}

/// Starts a node whose only sample is a file of `bytes` bytes, and waits until the DAC has it.
fn send_file(dac: &str, channel: &str, bytes: usize) -> anyhow::Result<Node> {
    let probe_type: ProbeType = serde_json::from_value(json!({
        "name": "Lab::File", "uuid": "6f2c7d0a-2b1e-4c55-9a1e-5f0c3b7d9e41", "version": "1.0",
        "metrics": [{"name": "content", "type": "string"}],
    }))?;
    let (name, instance) = FILE;
    let mut builder = NodeBuilder::new(name, NodeConfig::default());
    let mut probe = builder.pushed_rows(instance, probe_type, PushedKind::Pushed, 2 * bytes + RING)?;
    let node = builder.start(TcpConnector::new(channel))?;
    let content = Random::new(0, instance).bytes(bytes).into_iter();
    // Nothing that can be packed: the other servers do not try to.
    let content: String = content.map(|byte| char::from(b' ' + byte % 95)).collect();
    ensure!(probe.flush_at(now_ns(), |row| row.string(&content)), "the ring is too small");
    let begun = Instant::now();
    while dac_http::ledger(dac, instance)?.is_none_or(|ledger| ledger["received"] == 0) {
        ensure!(begun.elapsed() < START_TIMEOUT, "the DAC has not received the file");
        thread::sleep(POLL_INTERVAL);
    }
    Ok(node)
}

impl Rival {
    /// Why a cell of this server has several processes, or fewer connections.
    pub fn limit(self) -> &'static str {
        match self {
            Self::Oasis => "a DAC is one process, whose limit of open files bounds its connections",
            Self::EngineIo | Self::SocketCluster => {
                "the limit of open files bounds the connections of a worker"
            }
        }
    }
}

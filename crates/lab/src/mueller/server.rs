//! The server under test: started with so many workers, asked what each of them cost, ended.

use super::{
    dialect::FILE,
    plan::{Cell, Rival},
};
use crate::{cpu, dac_http, faults::random::Random};
use anyhow::{Context, bail};
use oasis_probe::{Node, NodeBuilder, NodeConfig, ProbeType, PushedKind, TcpConnector, now_ns};
use serde_json::{Value, json};
use std::{
    env,
    io::{BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpStream},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

/// Room in the ring of the file besides the file.
const RING: usize = 64 * 1024;
/// Timeout of a DAC that starts.
const PATIENCE: Duration = Duration::from_secs(30);
/// Pause before it is looked at again.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// A server that is ready.
pub struct Server {
    rival: Rival,
    process: Child,
    /// Kept open: its end ends the process.
    _orders: ChildStdin,
    /// Where clients connect.
    pub address: SocketAddr,
    /// Processes of Node's workers.
    workers: Vec<u32>,
    /// The node of a DAC that has sent the file, if there is one.
    _files: Option<Node>,
}

impl Server {
    /// Starts a rival as a cell wants it. `None` says that it is absent, and why.
    pub fn start(rival: Rival, cell: &Cell) -> anyhow::Result<Result<Self, String>> {
        let mut command = match rival {
            Rival::Oasis => oasis()?,
            Rival::EngineIo | Rival::SocketCluster => match node(rival, cell) {
                Ok(command) => command,
                Err(absent) => return Ok(Err(absent)),
            },
        };
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let orders = process.stdin.take().context("a process without input")?;
        let mut line = String::new();
        BufReader::new(process.stdout.take().context("a process without output")?).read_line(&mut line)?;
        let mut words = line.split_ascii_whitespace();
        let (Some("ready"), Some(address)) = (words.next(), words.next()) else {
            bail!("{} did not start: {}", rival.name(), process.wait()?);
        };
        // A DAC says where nodes connect, the others the processes of their workers.
        let last = words.next().unwrap_or_default();
        let workers = last.split(',').filter_map(|pid| pid.parse().ok()).collect();
        let address = address.parse()?;
        let mut server = Self { rival, process, _orders: orders, address, workers, _files: None };
        if rival == Rival::Oasis {
            server.set_shards(cell.workers)?;
            server._files = (cell.file > 0).then(|| files(address, last, cell.file)).transpose()?;
        }
        Ok(Ok(server))
    }

    /// Processor time of the whole server so far.
    pub fn cpu(&self) -> anyhow::Result<Duration> {
        let workers: Vec<Duration> =
            self.workers.iter().map(|pid| cpu::time(*pid)).collect::<Result<_, _>>()?;
        Ok(cpu::time(self.process.id())? + workers.iter().sum())
    }

    /// Processor time of each worker or shard so far.
    pub fn worker_cpu(&self) -> anyhow::Result<Vec<Duration>> {
        if self.rival != Rival::Oasis {
            return self.workers.iter().map(|pid| cpu::time(*pid)).collect();
        }
        let shards = dac_http::get(&self.address.to_string(), "/api/v1/shards")?;
        let threads = shards["threads"].as_array().context("no list of shards")?;
        let seconds = threads.iter().map(|shard| shard["cpu_seconds"].as_f64().unwrap_or_default());
        Ok(seconds.map(Duration::from_secs_f64).collect())
    }

    /// Changes the number of shards of a DAC.
    fn set_shards(&self, shards: usize) -> anyhow::Result<()> {
        let body = json!({"shards": shards}).to_string();
        let mut stream = TcpStream::connect(self.address)?;
        write!(
            stream,
            "PUT /api/v1/shards HTTP/1.0\r\nHost: {}\r\nContent-Length: {}\r\n\r\n{body}",
            self.address,
            body.len()
        )?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        let (_, body) = answer.split_once("\r\n\r\n").context("an answer without a body")?;
        let view: Value = serde_json::from_str(body)?;
        anyhow::ensure!(view["shards"] == shards, "the DAC has not changed its shards: {answer}");
        Ok(())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself. Node's workers end with it.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A node whose only sample is a file of so many bytes, once the DAC has it.
fn files(dac: SocketAddr, channel: &str, bytes: usize) -> anyhow::Result<Node> {
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
    anyhow::ensure!(probe.flush_at(now_ns(), |row| row.string(&content)), "the ring is too small");
    let begun = Instant::now();
    while dac_http::ledger(&dac.to_string(), instance)?.is_none_or(|ledger| ledger["received"] == 0) {
        anyhow::ensure!(begun.elapsed() < PATIENCE, "the DAC has not received the file");
        thread::sleep(LOOK_AGAIN);
    }
    Ok(node)
}

fn oasis() -> anyhow::Result<Command> {
    let mut command = Command::new(env::current_exe()?);
    command.args(["serve", "dac"]);
    Ok(command)
}

/// A server of `crates/lab/node`, or why it is absent.
fn node(rival: Rival, cell: &Cell) -> Result<Command, String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("node");
    let (script, package) = match rival {
        Rival::SocketCluster => ("socketcluster.js", "socketcluster-server"),
        _ => ("engine.io.js", "engine.io"),
    };
    let is_there = |root: PathBuf| root.join("node_modules").join(package).exists();
    if !folder.ancestors().any(|folder| is_there(folder.to_owned())) {
        return Err(format!("the npm package {package} is not installed: run `npm ci`"));
    }
    let mut command = Command::new("node");
    command.arg(folder.join("mueller").join(script)).arg(cell.workers.to_string()).arg(cell.file.to_string());
    Ok(command)
}

//! The server under test: started with so many workers, asked what each of them cost, ended.

use super::plan::{Cell, Rival};
use crate::{cpu, dac_http};
use anyhow::{Context, bail};
use serde_json::{Value, json};
use std::{
    env,
    io::{BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpStream},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, Command, Stdio},
    time::Duration,
};

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
}

impl Server {
    /// Starts a rival as a cell wants it. `None` says that it is absent, and why.
    pub fn start(rival: Rival, cell: &Cell) -> anyhow::Result<Result<Self, String>> {
        let mut command = match rival {
            Rival::Oasis if cell.file > 0 => {
                return Ok(Err("OASIS serves samples and no files".into()));
            }
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
        let workers = words.next().filter(|_| rival != Rival::Oasis).unwrap_or_default().split(',');
        let workers = workers.filter_map(|pid| pid.parse().ok()).collect();
        let server = Self { rival, process, _orders: orders, address: address.parse()?, workers };
        if rival == Rival::Oasis {
            server.set_shards(cell.workers)?;
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

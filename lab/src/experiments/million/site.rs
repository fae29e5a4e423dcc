//! The servers: a node, its DAC, and relays with a small memory.

use super::settings::Settings;
use crate::{child::Child, cpu, dac_http, experiment::Readiness, order::Order, program, servers::INSTANCE};
use anyhow::{Context, ensure};
use std::{
    fmt::Write,
    fs::{self, File},
    net::SocketAddr,
    os::unix::process::CommandExt,
    path::Path,
    process::Command,
    thread,
    time::{Duration, Instant},
};

/// Timeout of a server that starts.
const START_TIMEOUT: Duration = Duration::from_secs(30);
/// Interval between two polls of its state.
const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// Sockets of a DAC or a relay besides those of watchers.
const OTHER_SOCKETS: usize = 200;

/// Running servers; they end when this is dropped.
#[derive(Debug)]
pub struct Site {
    node: Child,
    dac: Child,
    relays: Vec<Child>,
}

/// Whether the program that becomes DAC and relays is there.
pub fn readiness() -> Readiness {
    match program::oasis() {
        Ok(_) => Readiness::Ready(oasis_dac::SOFTWARE.into()),
        Err(error) => Readiness::Absent(format!("{error:#}")),
    }
}

impl Site {
    /// Starts node, DAC and relays, and waits until each relay lists the node's instance. Their files go to a folder.
    pub fn start(settings: &Settings, folder: &Path) -> anyhow::Result<Self> {
        let dac = start("dac", &configuration(settings, ""), folder, &["--channel-listen", "127.0.0.1:0"])?;
        let node = Child::lab(cpu::CLIENTS, &["node", dac.place(1)?])?;
        wait_until_known(&dac)?;
        let mut site = Self { node, dac, relays: Vec::new() };
        let upstream = format!("[relay]\nupstreams = [\"http://{}\"]\n", site.dac.place(0)?);
        for number in 0..settings.parts().len() {
            let name = format!("relay-{number}");
            site.relays.push(start(&name, &configuration(settings, &upstream), folder, &[])?);
        }
        site.relays.iter().try_for_each(wait_until_known)?;
        Ok(site)
    }

    /// Returns the addresses to which watchers connect.
    pub fn relays(&self) -> anyhow::Result<Vec<SocketAddr>> {
        self.relays.iter().map(|relay| Ok(relay.place(0)?.parse()?)).collect()
    }

    /// Sends one sample.
    pub fn send(&mut self) -> anyhow::Result<()> {
        self.node.order(Order::Round { burst: 1 })
    }

    /// Memory of DAC and relays, bytes: what each has in use, and the same with shared pages divided by their users.
    pub fn memory(&self) -> anyhow::Result<(u64, u64)> {
        let mut sum = (0, 0);
        for process in self.processes() {
            sum.0 += process.resident()?;
            sum.1 += cpu::proportional(process.pid())?;
        }
        Ok(sum)
    }

    /// Processor time of DAC and relays.
    pub fn cpu(&self) -> anyhow::Result<Duration> {
        self.processes().map(Child::cpu).sum()
    }

    fn processes(&self) -> impl Iterator<Item = &Child> {
        self.relays.iter().chain([&self.dac])
    }
}

/// Returns the configuration with which a DAC or relay holds these WebSockets in little memory: docs/guides/relay-other-dacs.md.
fn configuration(settings: &Settings, upstream: &str) -> String {
    let Settings { sockets, log_mib, shards, .. } = settings;
    let mut text = String::new();
    let (connections, bytes) = (sockets + OTHER_SOCKETS, log_mib * 1024 * 1024);
    // Writing to a string cannot fail.
    let _ = write!(
        text,
        "[doors]\nmax_connections = {connections}\nmax_connections_per_address = {connections}\nmax_websockets = {connections}\n\
         max_per_address = {connections}\nrate_limit = 100000\nrate_limit_burst = 100000\nshards = {shards}\n\
         [log]\ntopic_bytes = {}\ntotal_bytes = {bytes}\n{upstream}",
        bytes.min(8 * 1024 * 1024),
    );
    text
}

/// Starts a DAC, or a relay if its configuration has upstreams.
fn start(name: &str, configuration: &str, folder: &Path, more: &[&str]) -> anyhow::Result<Child> {
    let folder = folder.join(name);
    fs::create_dir_all(&folder)?;
    let file = folder.join("oasis.toml");
    fs::write(&file, configuration)?;
    let verb = if configuration.contains("[relay]") { "relay" } else { "dac" };
    let mut command = Command::new(program::oasis()?);
    command.args([verb, "--listen", "127.0.0.1:0", "--ready-json"]).args(more);
    command.arg("--config").arg(&file).arg("--access").arg(folder.join("access"));
    command.stderr(File::create(folder.join("log"))?);
    // Ctrl-C is for the runner, which ends its processes.
    command.process_group(0);
    Child::start_on(usize::MAX, command).with_context(|| format!("{name}, see {}", folder.display()))
}

/// Waits until a DAC lists the node's instance.
fn wait_until_known(dac: &Child) -> anyhow::Result<()> {
    let begun = Instant::now();
    while dac_http::ledger(dac.place(0)?, INSTANCE)?.is_none() {
        ensure!(begun.elapsed() < START_TIMEOUT, "{} does not list the node", dac.place(0)?);
        thread::sleep(POLL_INTERVAL);
    }
    Ok(())
}

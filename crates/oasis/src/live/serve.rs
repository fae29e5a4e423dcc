//! `oasis up`, `oasis dac`, `oasis relay`, `oasis node`, `oasis tem`: DAC, node and TEM in one process or several.

mod devices;
mod handler_commands;
mod listing;
mod notify;
#[cfg(feature = "otlp")]
mod otlp_listener;
mod rules;
mod running;
mod sockets;
mod spare_memory;
mod sql_server;
mod stop;

pub use stop::Stop;

use super::{
    arguments,
    demo::{self, Plant},
    encryption,
    node::{
        dacs::find,
        state::{NamedOptions, NodeState},
    },
    remedy, systemd, through_dds, through_nats,
};
use crate::config::Config;
use devices::Devices;
use oasis_channel::{Connector, Failure};
use oasis_client::{NodeDacs, TemAddresses};
use oasis_dac::config::UrlList;
use oasis_ei_node::{Channel, NodeSettings};
use oasis_gateway::Gateway;
use oasis_health::Health;
use oasis_probe::Node;
use oasis_site::host_token;
use oasis_tem::DacName;
use running::{Parts, RunningDac};
use serde_json::{Value, json};
use std::{
    io::{self, Write},
    time::Duration,
};

/// Interval at which a node is asked whether it has taken all its samples.
const NODE_POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Everything in one process.
pub async fn up(arguments: arguments::Up) -> anyhow::Result<()> {
    let mut stop = Stop::listen()?;
    check_one_archive(&arguments)?;
    let mut config = Config::load_of_user(&arguments.common)?
        .with_addresses(arguments.addresses)
        .with_probes(arguments.probes)?;
    config.tem.mdns |= arguments.mdns;
    config.place_archive(arguments.no_archive);
    let archive = config.archive.directory.clone();
    let (mut section, gateway) = (config.node.clone(), config.gateway.clone());
    let dac = RunningDac::start_with_node(config, Parts::Dac, &section.name()).await?;
    // The same channel as for a remote node, so that samples always take the same path.
    section.dac = dac.channel.as_str().into();
    section.tem = TemAddresses::default();
    let (channel, tls) = (dac.channel.clone(), dac.tls.clone());
    let connectors = move || Ok(encryption::own_connector(&channel, tls.as_ref()));
    let mut node = section.builder(oasis_probes::PROBES)?;
    let devices = Devices { config: gateway, connectors: Box::new(connectors), state: devices::state(None) };
    let gateway = devices.start(&section, &mut node)?;
    let node = node.start(dac.own_connector())?;
    let mut facts = dac.facts()?;
    facts.push(("node", section.name(), "node"));
    facts.extend(gateway.as_ref().map(devices_of));
    facts.push(("archive", archive_or_none(archive), "archive"));
    announce(arguments.common.ready_json, &facts)?;
    stop.requested().await;
    systemd::stopping();
    let ending = async {
        let devices = tokio::task::spawn_blocking(move || gateway.map(Gateway::shutdown));
        tokio::task::spawn_blocking(move || node.shutdown()).await?;
        devices.await?;
        dac.stop().await
    };
    stop.unless_again(ending).await
}

/// `--no-archive` overrides the environment and the configuration file. With another flag it is a mistake.
fn check_one_archive(arguments: &arguments::Up) -> anyhow::Result<()> {
    let of_environment = std::env::var("OASIS_ARCHIVE").ok();
    let is_flag = arguments.addresses.archive.is_some() && arguments.addresses.archive != of_environment;
    anyhow::ensure!(
        !(arguments.no_archive && is_flag),
        "--no-archive and --archive exclude each other: leave out one of them"
    );
    Ok(())
}

/// Returns the addresses at which a gateway listens for devices.
fn devices_of(gateway: &Gateway) -> Fact {
    let lines: Vec<_> = gateway.lines().map(|(address, _)| address.to_string()).collect();
    ("devices", lines.join(" "), "devices at")
}

/// Everything in one process, with a simulated plant. What it stores is gone when it ends.
pub async fn demo(arguments: arguments::Demo) -> anyhow::Result<()> {
    let mut stop = Stop::listen()?;
    let folder = tempfile::Builder::new().prefix("oasis-demo-").tempdir()?;
    let mut config = Config::load_of_user(&arguments.common)?.with_addresses(arguments.addresses);
    config.rules.files.push(demo::write_rules(folder.path())?);
    // Simulated samples belong into no archive, and simulated alarms into no folder of rules.
    config.archive.directory = folder.path().join("archive").to_string_lossy().into_owned();
    config.rules.directory.clear();
    config.channel.settings_dir.clear();
    let dac = RunningDac::start(config, Parts::Dac).await?;
    let (channel, tls) = (dac.channel.clone(), dac.tls.clone());
    let plant = Plant::start(move || encryption::own_connector(&channel, tls.as_ref()))?;
    announce(arguments.common.ready_json, &dac.facts()?)?;
    stop.requested().await;
    systemd::stopping();
    let ending = async {
        tokio::task::spawn_blocking(move || plant.stop()).await?;
        dac.stop().await
    };
    stop.unless_again(ending).await
}

/// The folder of the archive, or that there is none.
fn archive_or_none(folder: String) -> String {
    if folder.is_empty() { "none: samples are kept in memory".into() } else { folder }
}

/// The DAC.
pub async fn dac(arguments: arguments::Dac) -> anyhow::Result<()> {
    let stop = Stop::listen()?;
    let config = Config::load(&arguments.common)?.with_addresses(arguments.addresses);
    run(&arguments.common, RunningDac::start(config, Parts::Dac).await?, stop).await
}

/// A TEM without a DAC.
pub async fn tem(arguments: arguments::Tem) -> anyhow::Result<()> {
    let stop = Stop::listen()?;
    let mut config = Config::load(&arguments.common)?.with_page(arguments.page);
    config.tem.mdns |= arguments.mdns;
    run(&arguments.common, RunningDac::start(config, Parts::Tem).await?, stop).await
}

/// A DAC without nodes of its own.
pub async fn relay(arguments: arguments::Relay) -> anyhow::Result<()> {
    let stop = Stop::listen()?;
    let arguments::Relay { common, page, upstreams, tem, dac_name, ca, token_file } = arguments;
    let mut config = Config::load(&common)?.with_page(page);
    if let Some(name) = dac_name {
        config.tem.name = name.to_string();
    }
    let relay = &mut config.relay;
    if !upstreams.is_empty() {
        relay.upstreams = upstreams.iter().map(ToString::to_string).collect();
    }
    let tems: UrlList = tem.iter().map(ToString::to_string).collect();
    if !tems.is_empty() {
        relay.tem = tems.clone();
    }
    relay.ca = ca.unwrap_or_else(|| relay.ca.clone());
    relay.token_file = token_file.unwrap_or_else(|| relay.token_file.clone());
    let section = &mut config.tem;
    if !tems.is_empty() || section.url.is_empty() {
        // The TEM whose DACs are relayed lists the relay too.
        section.url = relay.tem.clone();
        section.ca.clone_from(&relay.ca);
        section.token_file.clone_from(&relay.token_file);
    }
    if relay.upstreams.is_empty() && relay.tem.is_empty() {
        anyhow::bail!("nothing to relay: name a DAC (--upstream URL), or a TEM that knows them (--tem URL)");
    }
    run(&common, RunningDac::start(config, Parts::Relay).await?, stop).await
}

async fn run(common: &arguments::Common, dac: RunningDac, mut stop: Stop) -> anyhow::Result<()> {
    announce(common.ready_json, &dac.facts()?)?;
    stop.requested().await;
    systemd::stopping();
    stop.unless_again(dac.stop()).await
}

/// A node.
pub async fn node(arguments: arguments::Node) -> anyhow::Result<()> {
    let mut stop = Stop::listen()?;
    let mut config = Config::load(&arguments.common)?
        .with_probes(arguments.probes)?
        .with_devices(arguments.serial, arguments.device);
    config.nats.url = arguments.nats.unwrap_or(config.nats.url);
    config.dds.domain = arguments.dds.unwrap_or(config.dds.domain);
    let (gateway, state) = (config.gateway.clone(), devices::state(arguments.state.as_deref()));
    if let Some(connector) = carried(&config, arguments.dac_name.as_ref())? {
        let (again, name) = (config.clone(), arguments.dac_name);
        let connectors = move || {
            let connector = carried(&again, name.as_ref()).map_err(io::Error::other)?;
            connector.ok_or_else(|| io::Error::other("no transport carries the data channel"))
        };
        let devices = Devices { config: gateway, connectors: Box::new(connectors), state };
        return run_node(&arguments.common, &config.node, connector, devices, stop).await;
    }
    let mut section = config.node;
    // A gateway keeps its sessions there, enrolled or not.
    let is_enrolled = arguments.state.is_some() && gateway.devices.is_empty();
    let mut named = NamedOptions { state: is_enrolled, dac: !arguments.dac.is_empty() };
    let (mut updates, mut dacs_of_tems) = (None, None);
    if !arguments.tem.is_empty() {
        section.tem = TemAddresses::new(arguments.tem)?;
    }
    section.dac_name = arguments.dac_name.or(section.dac_name);
    if named.dac {
        section.dac = arguments.dac.iter().collect();
    } else if let Some(dacs) = section.node_dacs() {
        let dacs = NodeDacs { tems: dacs.tems.with_host_token(host_token::of), ..dacs };
        section.dac = tokio::select! {
            found = find(&dacs) => found?,
            () = stop.requested() => return Ok(()),
        };
        dacs_of_tems = Some(dacs.clone());
        updates = Some(dacs.follow()?);
        named.dac = true;
    } else if section.dac_name.is_some() && std::env::var_os("OASIS_DAC_NAME").is_none() {
        anyhow::bail!("--dac-name needs the TEM that knows this name: use --tem URL");
    }
    if let Some(state) = NodeState::find(arguments.state.as_deref()) {
        state.apply(&mut section, named)?;
    }
    let connectors = devices::connectors(&section, dacs_of_tems);
    let devices = Devices { config: gateway, connectors, state };
    let mut connector = section.failover(&section.dac);
    if let Some(updates) = updates {
        connector = connector.with_updates(updates);
    }
    run_node(&arguments.common, &section, Box::new(connector), devices, stop).await
}

/// Returns the connector of a node whose stream another transport carries.
fn carried(config: &Config, dac: Option<&DacName>) -> anyhow::Result<Option<Box<dyn Connector>>> {
    match config.node.channel {
        Channel::Nats => through_nats::connector(&config.nats, dac).map(Some),
        Channel::Dds => through_dds::connector(&config.dds, dac).map(Some),
        Channel::Tcp | Channel::Udp => Ok(None),
    }
}

async fn run_node(
    common: &arguments::Common,
    section: &NodeSettings,
    connector: Box<dyn Connector>,
    devices: Devices,
    mut stop: Stop,
) -> anyhow::Result<()> {
    let dac = match section.channel {
        Channel::Nats | Channel::Dds => connector.target(),
        Channel::Tcp | Channel::Udp => section.dac.to_string(),
    };
    let is_only_dac = section.dac.iter().count() < 2;
    let mut node = section.builder(oasis_probes::PROBES)?;
    let gateway = devices.start(section, &mut node)?;
    let node = node.start(connector)?;
    let _watchdog = systemd::watchdog(Health::default())?;
    let mut facts = vec![("node", section.name(), "node"), ("dac", dac.clone(), "sends to")];
    facts.extend(gateway.as_ref().map(devices_of));
    announce(common.ready_json, &facts)?;
    tokio::select! {
        () = stop.requested() => {}
        () = done(&node), if section.flushes.is_some() => {}
        refusal = misconfigured(&node), if is_only_dac => return Err(remedy::explained(refusal, &dac).await),
    }
    systemd::stopping();
    let ending = async {
        let devices = tokio::task::spawn_blocking(move || gateway.map(Gateway::shutdown));
        let refusal = tokio::task::spawn_blocking(move || node.shutdown()).await?;
        devices.await?;
        match refusal {
            Some(refusal) => anyhow::bail!("the DAC refuses this node: {refusal}"),
            None => Ok(()),
        }
    };
    stop.unless_again(ending).await
}

/// Waits until what answers at the address of the DAC can never take this node. Ends only before a DAC has taken it: a
/// node at work waits until the DAC is back.
async fn misconfigured(node: &Node) -> Failure {
    loop {
        match node.refusal().filter(|refusal| remedy::is_permanent(&refusal.code)) {
            Some(refusal) if !node.was_taken() => return refusal,
            _ => tokio::time::sleep(NODE_POLL_INTERVAL).await,
        }
    }
}

/// Waits until the node has taken all samples that it is limited to.
async fn done(node: &Node) {
    while !node.is_done() {
        tokio::time::sleep(NODE_POLL_INTERVAL).await;
    }
}

/// A key for scripts, a value, and a label for people.
type Fact = (&'static str, String, &'static str);

/// The link that signs in with a code. Browsers do not send what follows the `#`.
pub fn link_to(page: &str, code: &str) -> String {
    format!("{page}/#sign-in={code}")
}

/// Prints the addresses, as one line for scripts or as several for people.
fn announce(as_json: bool, facts: &[Fact]) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    if as_json {
        let mut line = json!({"ready": true});
        facts.iter().for_each(|(key, value, _)| line[*key] = Value::from(value.as_str()));
        writeln!(out, "{line}")?;
    } else {
        writeln!(out, "{} is running", oasis_dac::SOFTWARE)?;
        facts.iter().try_for_each(|(_, value, label)| writeln!(out, "  {label:<14}{value}"))?;
        writeln!(out, "Press Ctrl-C to stop.")?;
    }
    out.flush()?;
    systemd::ready();
    Ok(())
}

//! `oasis up`, `oasis dac`, `oasis node`: the pieces, together or apart.

use crate::{cli, config::Config};
use anyhow::Context;
use oasis_dac::Dac;
use oasis_doors::{Doors, DoorsConfig};
use oasis_probe::Node;
use oasis_probes::NodeSettings;
use serde_json::{Value, json};
use std::{io::Write, sync::Arc, time::Duration};
use tokio::{
    net::TcpListener,
    signal::unix::{Signal, SignalKind, signal},
    sync::watch,
    task::JoinHandle,
};

/// How long browsers may take to go when the DAC ends.
const LAST_CALL: Duration = Duration::from_secs(1);

/// Everything in one process.
pub async fn up(arguments: cli::Up) -> anyhow::Result<()> {
    let stop = Stop::listen()?;
    let config =
        Config::load(&arguments.common)?.with_addresses(arguments.addresses).with_probes(arguments.probes)?;
    let mut section = config.node.clone();
    let dac = RunningDac::start(config).await?;
    // The very channel that a node elsewhere would use: one way of a sample, however many processes.
    section.dac.clone_from(&dac.channel);
    let node = start_node(&section)?;
    announce(
        arguments.common.ready_json,
        &[
            ("http", format!("http://{}", dac.http), "page"),
            ("channel", dac.channel.clone(), "data channel"),
            ("node", section.name(), "node"),
        ],
    )?;
    stop.told().await;
    tokio::task::spawn_blocking(move || node.shutdown()).await?;
    dac.stop().await
}

/// The DAC.
pub async fn dac(arguments: cli::Dac) -> anyhow::Result<()> {
    let stop = Stop::listen()?;
    let config = Config::load(&arguments.common)?.with_addresses(arguments.addresses);
    let dac = RunningDac::start(config).await?;
    announce(
        arguments.common.ready_json,
        &[("http", format!("http://{}", dac.http), "page"), ("channel", dac.channel.clone(), "data channel")],
    )?;
    stop.told().await;
    dac.stop().await
}

/// A node.
pub async fn node(arguments: cli::Node) -> anyhow::Result<()> {
    let stop = Stop::listen()?;
    let mut section = Config::load(&arguments.common)?.with_probes(arguments.probes)?.node;
    if let Some(dac) = arguments.dac {
        section.dac = dac;
    }
    let node = start_node(&section)?;
    announce(
        arguments.common.ready_json,
        &[("node", section.name(), "node"), ("dac", section.dac.clone(), "sends to")],
    )?;
    stop.told().await;
    tokio::task::spawn_blocking(move || node.shutdown()).await?;
    Ok(())
}

struct RunningDac {
    http: String,
    channel: String,
    ending: watch::Sender<bool>,
    served: JoinHandle<std::io::Result<()>>,
}

impl RunningDac {
    async fn start(config: Config) -> anyhow::Result<Self> {
        let doors_listener = listen(&config.doors.listen, "page, API and doors (doors.listen)").await?;
        let channel_listener = listen(&config.channel.listen, "data channel (channel.listen)").await?;
        let (http, channel) =
            (doors_listener.local_addr()?.to_string(), channel_listener.local_addr()?.to_string());
        let dac = Dac::new(oasis_dac::Config { log: config.log, channel: config.channel });
        tokio::spawn(oasis_dac::ingest::serve(dac.clone(), channel_listener));
        let (ending, ended) = watch::channel(false);
        let served = tokio::spawn(serve_doors(dac, config.doors, doors_listener, ended));
        Ok(Self { http, channel, ending, served })
    }

    async fn stop(self) -> anyhow::Result<()> {
        self.ending.send_replace(true);
        // Open WebSockets never end by themselves.
        match tokio::time::timeout(LAST_CALL, self.served).await {
            Ok(served) => Ok(served??),
            Err(_) => Ok(()),
        }
    }
}

async fn serve_doors(
    dac: Arc<Dac>,
    config: DoorsConfig,
    listener: TcpListener,
    mut ended: watch::Receiver<bool>,
) -> std::io::Result<()> {
    let ended = async move {
        let _ = ended.wait_for(|&ended| ended).await;
    };
    oasis_doors::serve(Doors::new(dac, config)?, listener, ended).await
}

async fn listen(address: &str, what: &str) -> anyhow::Result<TcpListener> {
    TcpListener::bind(address)
        .await
        .with_context(|| format!("cannot listen on {address} for {what}: is another one running?"))
}

fn start_node(settings: &NodeSettings) -> anyhow::Result<Node> {
    Ok(settings.builder()?.start(settings.connector())?)
}

/// Says where everything is, as one line for scripts or as a few for people.
fn announce(as_json: bool, facts: &[(&str, String, &str)]) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    if as_json {
        let mut line = json!({"ready": true});
        facts.iter().for_each(|(key, value, _)| line[*key] = Value::from(value.as_str()));
        writeln!(out, "{line}")?;
    } else {
        writeln!(out, "{} is running", oasis_dac::SOFTWARE)?;
        facts.iter().try_for_each(|(_, value, label)| writeln!(out, "  {label:<14}{value}"))?;
        writeln!(out, "Ctrl-C ends it.")?;
    }
    Ok(out.flush()?)
}

/// The signals that end a process. Listened for before it says that it is ready: from then on somebody may send one.
struct Stop {
    terminate: Signal,
    interrupt: Signal,
}

impl Stop {
    fn listen() -> anyhow::Result<Self> {
        Ok(Self { terminate: signal(SignalKind::terminate())?, interrupt: signal(SignalKind::interrupt())? })
    }

    async fn told(mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

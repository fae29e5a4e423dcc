//! `oasis up`, `oasis dac`, `oasis node`: DAC and node in one process or two.

use super::{
    accounts, arguments,
    encryption::{self, DATAGRAMS},
    node::state::{Named, NodeState},
    own_node,
    revive::{beat, revive},
    systemd,
};
use crate::config::Config;
use anyhow::Context;
use oasis_access::{Access, Moment};
use oasis_api::Api;
use oasis_archive::Archive;
use oasis_dac::{
    Dac,
    ingest::Security,
    listener::{self, descriptors},
};
use oasis_doors::Doors;
use oasis_handler::{Handler, StoredSamples, Supervisor};
use oasis_health::{Health, Watchdog};
use oasis_instrument::NodeSettings;
use oasis_oidc::OpenId;
use oasis_probe::Node;
use oasis_store::ArchiveConfig;
use oasis_tls::ServerTls;
use serde_json::{Value, json};
use std::{io::Write, sync::Arc, time::Duration};
use tokio::{
    net::{TcpListener, UdpSocket},
    signal::unix::{Signal, SignalKind, signal},
    sync::watch,
    task::JoinHandle,
};

/// Timeout for browsers to disconnect when the DAC ends.
const LAST_CALL: Duration = Duration::from_secs(1);
/// Pause before a listener is tried again.
const RETRY: Duration = Duration::from_millis(200);
/// How often a node is asked whether it has taken all its samples.
const LOOK: Duration = Duration::from_millis(50);

/// Everything in one process.
pub async fn up(arguments: arguments::Up) -> anyhow::Result<()> {
    let mut stop = Stop::listen()?;
    let config =
        Config::load(&arguments.common)?.with_addresses(arguments.addresses).with_probes(arguments.probes)?;
    let mut section = config.node.clone();
    let dac = RunningDac::start(config).await?;
    // The same channel as for a remote node, so that samples always take the same path.
    section.dac.clone_from(&dac.channel);
    let connector = encryption::own_connector(&dac.channel, dac.tls.as_ref());
    let node = section.builder(oasis_probes::PROBES)?.start(connector)?;
    let mut facts = dac.facts()?;
    facts.push(("node", section.name(), "node"));
    announce(arguments.common.ready_json, &facts)?;
    stop.requested().await;
    systemd::stopping();
    let ending = async {
        tokio::task::spawn_blocking(move || node.shutdown()).await?;
        dac.stop().await
    };
    stop.unless_again(ending).await
}

/// The DAC.
pub async fn dac(arguments: arguments::Dac) -> anyhow::Result<()> {
    let mut stop = Stop::listen()?;
    let config = Config::load(&arguments.common)?.with_addresses(arguments.addresses);
    let dac = RunningDac::start(config).await?;
    announce(arguments.common.ready_json, &dac.facts()?)?;
    stop.requested().await;
    systemd::stopping();
    stop.unless_again(dac.stop()).await
}

/// A node.
pub async fn node(arguments: arguments::Node) -> anyhow::Result<()> {
    let mut stop = Stop::listen()?;
    let mut section = Config::load(&arguments.common)?.with_probes(arguments.probes)?.node;
    let named = Named { state: arguments.state.is_some(), dac: arguments.dac.is_some() };
    if let Some(dac) = arguments.dac {
        section.dac = dac;
    }
    if let Some(state) = NodeState::find(arguments.state.as_deref()) {
        state.apply(&mut section, named)?;
    }
    let node = start_node(&section)?;
    let _watchdog = systemd::watchdog(Health::default())?;
    announce(
        arguments.common.ready_json,
        &[("node", section.name(), "node"), ("dac", section.dac.clone(), "sends to")],
    )?;
    tokio::select! {
        () = stop.requested() => {}
        () = done(&node), if section.flushes.is_some() => {}
    }
    systemd::stopping();
    stop.unless_again(async { Ok(tokio::task::spawn_blocking(move || node.shutdown()).await?) }).await
}

/// Waits until the node has taken all samples that it was told to take.
async fn done(node: &Node) {
    while !node.is_done() {
        tokio::time::sleep(LOOK).await;
    }
}

/// A key for scripts, a value, and a label for people.
type Fact = (&'static str, String, &'static str);

/// The link that signs in with a code. Browsers do not send what follows the `#`.
pub fn link_to(page: &str, code: &str) -> String {
    format!("{page}/#sign-in={code}")
}

struct RunningDac {
    http: String,
    channel: String,
    tls: Option<Arc<ServerTls>>,
    ending: watch::Sender<bool>,
    served: JoinHandle<std::io::Result<()>>,
    archive: Option<Archiving>,
    handlers: Arc<Supervisor>,
    dac: Arc<Dac>,
    own_node: Option<Node>,
    access: Arc<Access>,
    _watchdog: Watchdog,
}

struct Archiving {
    archive: Arc<Archive>,
    /// With a handler for SIGXFSZ, a file at its limit (`ulimit -f`) is an error like a full disk, and does not end the process.
    _file_too_large: Signal,
}

/// SIGXFSZ, for which the library has no name.
const FILE_TOO_LARGE: i32 = 25;

impl RunningDac {
    async fn start(config: Config) -> anyhow::Result<Self> {
        raise_open_files(config.doors.max_connections + config.channel.max_connections);
        let tls = encryption::load(&config.tls)?;
        let doors_listener =
            listen(&config.doors.listen, "page, API and doors", "--listen or doors.listen").await?;
        let channel_listener =
            listen(&config.channel.listen, "data channel", "--channel-listen or channel.listen").await?;
        for (listener, what) in
            [(&doors_listener, "page, API and doors"), (&channel_listener, "the data channel")]
        {
            encryption::check(listener.local_addr()?, what, tls.is_some(), config.insecure)?;
        }
        let (http, channel) =
            (doors_listener.local_addr()?.to_string(), channel_listener.local_addr()?.to_string());
        if config.channel.udp {
            encryption::check(channel_listener.local_addr()?, DATAGRAMS, tls.is_some(), config.insecure)?;
        }
        let datagrams = match config.channel.udp {
            true => Some(UdpSocket::bind(&channel).await.with_context(|| {
                format!(
                    "cannot receive datagrams at {channel} (channel.udp): is another program using the port?"
                )
            })?),
            false => None,
        };
        let enrollment = encryption::enrollment(&config.tls, channel_listener.local_addr()?.port())?;
        // Invalid settings of a handler end the start before anything is written.
        let handlers = config.handlers()?;
        let openid = OpenId::new(config.access.oidc.clone()).context("in the section [access.oidc]")?;
        let permissions = accounts::open(&config.access, doors_listener.local_addr()?.port())?;
        let access = permissions.access.clone();
        let dac = Dac::new(oasis_dac::Config {
            memory_bytes: config.memory_bytes,
            log: config.log,
            channel: config.channel,
        });
        if let Some(socket) = datagrams {
            tokio::spawn(oasis_dac::datagrams::serve(dac.clone(), socket));
        }
        let archive = open_archive(config.archive, &dac)?;
        let archived = archive.as_ref().map(|archiving| archiving.archive.clone());
        let stored = archived.clone().map(|archive| -> Arc<dyn StoredSamples> { archive });
        let recorder = archived.clone().map(|archive| -> Arc<dyn Handler> { archive });
        let handlers = recorder.into_iter().chain(handlers).collect();
        let handlers = Arc::new(Supervisor::new(dac.clone(), stored, handlers));
        let doors = Doors::with_permissions(dac.clone(), config.doors, archived, permissions)?;
        let doors = doors.with_tls(tls.clone());
        let security = Security { tls: tls.clone(), guard: Some(doors.permissions.clone()) };
        let api = Api::new(doors, handlers.clone())?.enrolling(enrollment).with_openid(openid);
        handlers.start_all();
        let watchdog = systemd::watchdog(dac.health.clone())?;
        tokio::spawn(beat(dac.health.clone()));
        tls.iter().for_each(encryption::keep_current);
        tokio::spawn(serve_channel(dac.clone(), channel_listener.into_std()?, security));
        let (ending, ended) = watch::channel(false);
        let served = tokio::spawn(serve_doors(dac.health.clone(), api, doors_listener.into_std()?, ended));
        let own_node = (!config.own_node.is_empty()).then(|| {
            own_node::start(&config.own_node, &dac, encryption::own_connector(&channel, tls.as_ref()))
        });
        let own_node = own_node.transpose().context("the DAC's own node cannot be started (own_node)")?;
        let _watchdog = watchdog;
        Ok(Self { http, channel, tls, ending, served, archive, handlers, dac, own_node, access, _watchdog })
    }

    /// What is printed at the start.
    fn facts(&self) -> anyhow::Result<Vec<Fact>> {
        let mut facts = vec![("http", self.page(), "page"), ("channel", self.data_channel(), "data channel")];
        if let Some(code) = self.access.link(Moment::now())? {
            facts.push(("sign_in", link_to(&self.page(), code.reveal()), "sign in once"));
        }
        Ok(facts)
    }

    /// Address of the page.
    fn page(&self) -> String {
        format!("{}://{}", if self.tls.is_some() { "https" } else { "http" }, self.http)
    }

    /// Address for nodes, as they write it.
    fn data_channel(&self) -> String {
        format!("{}{}", if self.tls.is_some() { "tls://" } else { "" }, self.channel)
    }

    async fn stop(self) -> anyhow::Result<()> {
        if let Some(node) = self.own_node {
            tokio::task::spawn_blocking(move || node.shutdown()).await?;
        }
        // Samples received from now on would be acknowledged, but not stored.
        let _ = tokio::time::timeout(LAST_CALL, self.dac.release_nodes()).await;
        self.ending.send_replace(true);
        // Open WebSockets never end by themselves.
        if let Ok(served) = tokio::time::timeout(LAST_CALL, self.served).await {
            served??;
        }
        let handlers = self.handlers;
        tokio::task::spawn_blocking(move || handlers.stop_all()).await?;
        if let Some(archiving) = self.archive {
            let closing = tokio::task::spawn_blocking(move || archiving.archive.close());
            closing.await?.context("the archive could not store the last samples")?;
        }
        Ok(())
    }
}

/// Raises the limit of open files as far as the system allows, and says if that is less than the configured connections need.
fn raise_open_files(connections: usize) {
    match descriptors::raise_limit() {
        Ok(limit) if descriptors::usable(limit) < connections as u64 => tracing::info!(
            limit,
            connections,
            "the limit of open files is lower than the configured connections need: raise it (LimitNOFILE=, ulimit -Hn)"
        ),
        Ok(limit) => tracing::debug!(limit, "limit of open files"),
        Err(error) => tracing::warn!(%error, "cannot raise the limit of open files (RLIMIT_NOFILE)"),
    }
}

/// `None` without a configured folder.
fn open_archive(config: ArchiveConfig, dac: &Arc<Dac>) -> anyhow::Result<Option<Archiving>> {
    if config.directory.is_empty() {
        return Ok(None);
    }
    let opened = oasis_store::open(config)?;
    let left_out = oasis_archive::restore(&opened, &dac.registry)?.left_out;
    if left_out > 0 {
        tracing::warn!(
            left_out,
            "the limits on nodes, topics and schemas (channel.max_nodes, max_topics, max_schema_bytes) leave no room for all archived instances: \
             doors and page have those that were there last; `oasis sql` and `oasis export` read all"
        );
    }
    let archive = Arc::new(Archive::new(opened));
    let _file_too_large = signal(SignalKind::from_raw(FILE_TOO_LARGE))?;
    Ok(Some(Archiving { archive, _file_too_large }))
}

async fn serve_channel(dac: Arc<Dac>, listener: std::net::TcpListener, security: Security) {
    let listener = Arc::new(listener);
    let served = revive(dac.health.clone(), "data channel", || {
        let (dac, listener, security) = (dac.clone(), listener.clone(), security.clone());
        async move { oasis_dac::ingest::serve_with(dac, another(&listener).await, security).await }
    });
    if let Err(error) = served.await {
        tracing::error!(%error, "the data channel accepts no more nodes");
    }
}

async fn serve_doors(
    health: Health,
    api: Api,
    listener: std::net::TcpListener,
    ended: watch::Receiver<bool>,
) -> std::io::Result<()> {
    let listener = Arc::new(listener);
    revive(health, "http server", || {
        let (api, listener, mut ended) = (api.clone(), listener.clone(), ended.clone());
        let ended = async move {
            let _ = ended.wait_for(|&ended| ended).await;
        };
        async move { oasis_api::serve(api, another(&listener).await, ended).await }
    })
    .await
}

/// Another descriptor of a listener. Without free descriptors it waits: connections that end meanwhile give theirs back.
async fn another(listener: &std::net::TcpListener) -> TcpListener {
    loop {
        match listener.try_clone().and_then(TcpListener::from_std) {
            Ok(listener) => return listener,
            Err(error) => {
                tracing::warn!(%error, listener = ?listener.local_addr().ok(), "a listener cannot be served, retrying")
            }
        }
        tokio::time::sleep(RETRY).await;
    }
}

async fn listen(address: &str, what: &str, setting: &str) -> anyhow::Result<TcpListener> {
    listener::bind(address).await.with_context(|| {
        format!(
            "cannot listen on {address} for {what}: use a free HOST:PORT ({setting}); another one may be running there"
        )
    })
}

fn start_node(settings: &NodeSettings) -> anyhow::Result<Node> {
    Ok(settings.builder(oasis_probes::PROBES)?.start(settings.connector())?)
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

/// The signals that end a process, handled before it reports that it is ready.
pub struct Stop {
    terminate: Signal,
    interrupt: Signal,
}

impl Stop {
    pub fn listen() -> anyhow::Result<Self> {
        Ok(Self { terminate: signal(SignalKind::terminate())?, interrupt: signal(SignalKind::interrupt())? })
    }

    /// Completes at the next signal.
    pub async fn requested(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }

    /// Ends the process in order, unless another signal asks for its end at once.
    async fn unless_again(&mut self, ending: impl Future<Output = anyhow::Result<()>>) -> anyhow::Result<()> {
        tokio::select! {
            ended = ending => ended,
            () = self.requested() => {
                anyhow::bail!("ended at once by a second signal: the last samples may not be stored or sent")
            }
        }
    }
}

//! `oasis up`, `oasis dac`, `oasis node`, `oasis tem`: DAC, node and TEM in one process or several.

use super::{
    accounts,
    announcement::{Announced, Announcement},
    arguments,
    encryption::{self, DATAGRAMS},
    follow::Sources,
    host_token,
    node::{
        dacs::find,
        state::{Named, NodeState},
    },
    own_node, peers,
    registration::{self, Registrations},
    relay::Relays,
    revive::{beat, revive},
    systemd, through_nats,
};
use crate::config::Config;
use anyhow::Context;
use oasis_access::{Access, Moment};
use oasis_api::{Api, Registrant, Reporter, Tem};
use oasis_archive::Archive;
use oasis_channel::Connector;
use oasis_client::{NodeDacs, Server, TemAddresses};
use oasis_dac::{
    Dac,
    config::{RelayConfig, TemConfig, UrlList},
    ingest::Security,
    listener::{self, descriptors},
};
use oasis_doors::Doors;
use oasis_handler::{Handler, StoredSamples, Supervisor};
use oasis_health::{Health, Watchdog};
use oasis_instrument::{Channel, NodeSettings};
use oasis_oidc::OpenId;
use oasis_probe::Node;
use oasis_store::ArchiveConfig;
use oasis_tem::{Identity, Kind};
use oasis_tls::ServerTls;
use serde_json::{Value, json};
use std::{io::Write, net::SocketAddr, sync::Arc, time::Duration};
use tokio::{
    net::{TcpListener, UdpSocket},
    signal::unix::{Signal, SignalKind, signal},
    sync::watch,
    task::JoinHandle,
};

/// Timeout for browsers to disconnect when the DAC ends.
const LAST_CALL: Duration = Duration::from_secs(1);
/// How long nodes have to leave before the data channel closes.
const DRAIN: Duration = Duration::from_secs(2);
/// Timeout for the TEM to remove a DAC that ends.
const FAREWELL: Duration = Duration::from_secs(3);
/// Pause before a listener is tried again.
const RETRY: Duration = Duration::from_millis(200);
/// How often a node is asked whether it has taken all its samples.
const LOOK: Duration = Duration::from_millis(50);

/// Everything in one process.
pub async fn up(arguments: arguments::Up) -> anyhow::Result<()> {
    let mut stop = Stop::listen()?;
    let mut config =
        Config::load(&arguments.common)?.with_addresses(arguments.addresses).with_probes(arguments.probes)?;
    config.tem.mdns |= arguments.mdns;
    let mut section = config.node.clone();
    let dac = RunningDac::start(config, Parts::Dac).await?;
    // The same channel as for a remote node, so that samples always take the same path.
    section.dac = dac.channel.as_str().into();
    section.tem = TemAddresses::default();
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
    let stop = Stop::listen()?;
    let config = Config::load(&arguments.common)?.with_addresses(arguments.addresses);
    run(&arguments.common, RunningDac::start(config, Parts::Dac).await?, stop).await
}

/// A TEM without a DAC.
pub async fn tem(arguments: arguments::Tem) -> anyhow::Result<()> {
    let stop = Stop::listen()?;
    let mut config = Config::load(&arguments.common)?.with_page(arguments.page);
    if !arguments.peers.is_empty() {
        config.tem.peers = arguments.peers.iter().map(ToString::to_string).collect();
    }
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
    let config = Config::load(&arguments.common)?.with_probes(arguments.probes)?;
    let (mut section, mut nats) = (config.node, config.nats);
    if section.channel == Channel::Nats {
        nats.url = arguments.nats.unwrap_or(nats.url);
        let connector = through_nats::connector(&nats, arguments.dac_name.as_ref())?;
        return run_node(&arguments.common, &section, connector, stop).await;
    }
    let mut named = Named { state: arguments.state.is_some(), dac: !arguments.dac.is_empty() };
    let mut updates = None;
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
        updates = Some(dacs.follow()?);
        named.dac = true;
    } else if section.dac_name.is_some() && std::env::var_os("OASIS_DAC_NAME").is_none() {
        anyhow::bail!("--dac-name needs the TEM that knows this name: use --tem URL");
    }
    if let Some(state) = NodeState::find(arguments.state.as_deref()) {
        state.apply(&mut section, named)?;
    }
    let mut connector = section.failover(&section.dac);
    if let Some(updates) = updates {
        connector = connector.with_updates(updates);
    }
    run_node(&arguments.common, &section, Box::new(connector), stop).await
}

async fn run_node(
    common: &arguments::Common,
    section: &NodeSettings,
    connector: Box<dyn Connector>,
    mut stop: Stop,
) -> anyhow::Result<()> {
    let dac = match section.channel {
        Channel::Nats => connector.target(),
        Channel::Tcp | Channel::Udp => section.dac.to_string(),
    };
    let node = section.builder(oasis_probes::PROBES)?.start(connector)?;
    let _watchdog = systemd::watchdog(Health::default())?;
    announce(common.ready_json, &[("node", section.name(), "node"), ("dac", dac, "sends to")])?;
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
    registrations: Registrations,
    announcement: Option<Announcement>,
    _watchdog: Watchdog,
}

/// What runs besides page, API and doors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Parts {
    /// All of a DAC.
    Dac,
    /// Nothing: a TEM takes no samples.
    Tem,
    /// The nodes of other DACs.
    Relay,
}

impl Parts {
    /// How TEMs list it; a TEM itself is in no list.
    fn registrant(self, config: &TemConfig) -> anyhow::Result<Option<Arc<Registrant>>> {
        let kind = match self {
            Self::Dac => Kind::Dac,
            Self::Relay => Kind::Relay,
            Self::Tem => return Ok(None),
        };
        let name = registration::name(config, kind)?;
        registration::registrant(config, name, kind).map(Some)
    }
}

/// The sockets for nodes.
struct DataChannel {
    listener: TcpListener,
    datagrams: Option<UdpSocket>,
    address: SocketAddr,
}

impl DataChannel {
    async fn bind(config: &Config, is_encrypted: bool) -> anyhow::Result<Self> {
        let listener =
            listen(&config.channel.listen, "data channel", "--channel-listen or channel.listen").await?;
        let address = listener.local_addr()?;
        encryption::check(address, "the data channel", is_encrypted, config.insecure)?;
        if !config.channel.udp {
            return Ok(Self { listener, datagrams: None, address });
        }
        encryption::check(address, DATAGRAMS, is_encrypted, config.insecure)?;
        let datagrams = UdpSocket::bind(address).await.with_context(|| {
            format!("cannot receive datagrams at {address} (channel.udp): is another program using the port?")
        })?;
        Ok(Self { listener, datagrams: Some(datagrams), address })
    }
}

struct Archiving {
    archive: Arc<Archive>,
    /// With a handler for SIGXFSZ, a file at its limit (`ulimit -f`) is an error like a full disk, and does not end the process.
    _file_too_large: Signal,
}

/// SIGXFSZ, for which the library has no name.
const FILE_TOO_LARGE: i32 = 25;

impl RunningDac {
    async fn start(mut config: Config, parts: Parts) -> anyhow::Result<Self> {
        raise_open_files(config.doors.max_connections + config.channel.max_connections);
        let tls = encryption::load(&config.tls)?;
        let doors_listener =
            listen(&config.doors.listen, "page, API and doors", "--listen or doors.listen").await?;
        let doors_address = doors_listener.local_addr()?;
        encryption::check(doors_address, "page, API and doors", tls.is_some(), config.insecure)?;
        if parts == Parts::Tem {
            config.relay = RelayConfig::default();
        }
        if parts != Parts::Dac {
            config.switch_off_all_but_the_page();
        }
        let channel = match parts {
            Parts::Dac => Some(DataChannel::bind(&config, tls.is_some()).await?),
            Parts::Tem | Parts::Relay => None,
        };
        let channel_address = channel.as_ref().map(|channel| channel.address);
        let enrollment = channel_address.map(|address| encryption::enrollment(&config.tls, address.port()));
        let enrollment = enrollment.transpose()?.flatten();
        // Invalid settings of a handler or of the TEM end the start before anything is written.
        if config.postgresql.writer.is_empty() {
            let kind = if parts == Parts::Relay { Kind::Relay } else { Kind::Dac };
            config.postgresql.writer = registration::name(&config.tem, kind)?.to_string();
        }
        let handlers = config.handlers()?;
        let listing = parts.registrant(&config.tem)?;
        let tems = match listing {
            Some(_) => registration::remotes(&config.tem, config.insecure)?,
            None => Vec::new(),
        };
        let peers = match parts {
            Parts::Tem => peers::servers(&config.tem, config.insecure)?,
            Parts::Dac | Parts::Relay => Vec::new(),
        };
        let relays = Relays::new(&config.relay, config.insecure)?;
        let openid = OpenId::new(config.access.oidc.clone()).context("in the section [access.oidc]")?;
        let sources = Sources::new(&config.access, doors_address, config.insecure)?;
        let permissions = accounts::open(&config.access, doors_address.port())?;
        let access = permissions.access.clone();
        catch_up(&config).await?;
        let dac = Dac::new(oasis_dac::Config {
            memory_bytes: config.memory_bytes,
            log: config.log,
            channel: config.channel,
        });
        let archive = open_archive(config.archive, &dac)?;
        let archived = archive.as_ref().map(|archiving| archiving.archive.clone());
        let stored = archived.clone().map(|archive| -> Arc<dyn StoredSamples> { archive });
        let recorder = archived.clone().map(|archive| -> Arc<dyn Handler> { archive });
        let handlers = recorder.into_iter().chain(handlers).collect();
        let handlers = Arc::new(Supervisor::new(dac.clone(), stored, handlers));
        let names = config.doors.allowed_hosts.clone();
        let doors = Doors::with_permissions(dac.clone(), config.doors, archived, permissions)?;
        let doors = doors.with_tls(tls.clone());
        let security = Security { tls: tls.clone(), guard: Some(doors.permissions.clone()) };
        let own_tem = Arc::new(Tem::default());
        let api = Api::new(doors, handlers.clone())?.enrolling(enrollment).with_openid(openid);
        let api = api.with_tem(own_tem.clone());
        handlers.start_all();
        let watchdog = systemd::watchdog(dac.health.clone())?;
        tokio::spawn(beat(dac.health.clone()));
        tls.iter().for_each(encryption::keep_current);
        let (ending, ended) = watch::channel(false);
        let mut running = Self {
            http: doors_address.to_string(),
            channel: channel_address.map(|address| address.to_string()).unwrap_or_default(),
            tls,
            ending,
            served: tokio::spawn(serve_doors(
                dac.health.clone(),
                api.clone(),
                doors_listener.into_std()?,
                ended,
            )),
            archive,
            handlers,
            dac,
            own_node: None,
            access,
            registrations: Registrations::default(),
            announcement: None,
            _watchdog: watchdog,
        };
        if let Some(channel) = channel {
            running.take_samples(channel, security.clone())?;
            if let Some(listing) = &listing {
                let name = listing.name().clone();
                through_nats::accept(&config.nats, name, &running.dac, security)
                    .context("in the section [nats]")?;
            }
        }
        relays.start(&running.dac);
        if let Some(sources) = sources {
            sources.start(running.access.clone(), &running.dac.health)?;
        }
        #[cfg(feature = "nats")]
        running.share_tem((&config.nats, &config.tem), listing.as_ref(), &api, &own_tem)?;
        running.list(listing, &api, &own_tem, (&config.tem, tems, &names))?;
        let identity = running.identity(&config.tem, &names);
        own_tem.set_identity(identity.clone());
        running.announce(&config.tem, &identity)?;
        running.exchange(peers, &own_tem, &config.tem, &identity)?;
        running.start_own_node(&config.own_node)?;
        Ok(running)
    }

    /// Lets nodes connect.
    fn take_samples(&self, channel: DataChannel, security: Security) -> anyhow::Result<()> {
        if let Some(socket) = channel.datagrams {
            tokio::spawn(oasis_dac::datagrams::serve(self.dac.clone(), socket));
        }
        tokio::spawn(serve_channel(self.dac.clone(), channel.listener.into_std()?, security));
        Ok(())
    }

    /// Lists the DAC in its own TEM, and in others if it has any.
    fn list(
        &mut self,
        registrant: Option<Arc<Registrant>>,
        api: &Api,
        own_tem: &Arc<Tem>,
        (config, remotes, names): (&TemConfig, Vec<Server>, &[String]),
    ) -> anyhow::Result<()> {
        let reporter = |registrant: &Arc<Registrant>, host: Option<&str>, tem: Option<&Server>| {
            let at = |listen: &str| match listen {
                "" => String::new(),
                listen => registration::advertised(listen, host, tem),
            };
            let (http, channel) = (at(&self.http), at(&self.channel));
            let (s, tls) = if self.tls.is_some() { ("s", "tls://") } else { ("", "") };
            let channel = if channel.is_empty() { channel } else { format!("{tls}{channel}") };
            Reporter::new(api.clone(), registrant.clone(), format!("http{s}://{http}"), channel)
        };
        let own = registrant.clone().map(|registrant| {
            let reporter = reporter(&registrant, None, None);
            (registrant, reporter)
        });
        let (tem, health) = (own_tem.clone(), self.dac.health.clone());
        tokio::spawn(revive(health, "tem", move || registration::keep_own(tem.clone(), own.clone())));
        let host = self.known_host(config, names);
        let mut registrations = Registrations::default();
        for (registrant, remote) in
            registrant.iter().flat_map(|one| remotes.iter().map(move |tem| (one, tem)))
        {
            let listed = (registrant.clone(), reporter(registrant, host, Some(remote)));
            registrations.start(remote.clone(), config, listed, (own_tem.clone(), &self.dac.health))?;
        }
        self.registrations = registrations;
        Ok(())
    }

    /// The host that others reach this process at, if the settings say so.
    fn known_host<'a>(&self, config: &'a TemConfig, names: &'a [String]) -> Option<&'a str> {
        // A certificate rarely has the address of its host.
        let certified = names.first().filter(|_| self.tls.is_some() && self.is_anywhere());
        Some(config.host.as_str()).filter(|host| !host.is_empty()).or(certified.map(String::as_str))
    }

    /// Whether it listens on all addresses of this host.
    fn is_anywhere(&self) -> bool {
        self.http.parse().is_ok_and(|address: SocketAddr| address.ip().is_unspecified())
    }

    /// How the TEM of this process names itself to others.
    fn identity(&self, config: &TemConfig, names: &[String]) -> Identity {
        let host = self.known_host(config, names);
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        let doors = match host.is_some() || !self.is_anywhere() {
            true => format!("{scheme}://{}", registration::advertised(&self.http, host, None)),
            false => String::new(),
        };
        Identity { tem: self.dac.epoch(), doors }
    }

    /// Announces the TEM in the local network, if it shall. A host without multicast is no reason to fail.
    fn announce(&mut self, config: &TemConfig, identity: &Identity) -> anyhow::Result<()> {
        if !config.mdns {
            return Ok(());
        }
        let name = registration::name(config, Kind::Dac)?.to_string();
        let (doors, is_encrypted) = (identity.doors.clone(), self.tls.is_some());
        let announced = Announced { name, listen: self.http.parse()?, doors, is_encrypted };
        announced.check()?;
        match announced.announce() {
            Ok(announcement) => {
                tracing::info!(name = %announced.name, "this TEM is announced in the local network");
                self.announcement = Some(announcement);
            }
            Err(error) => tracing::warn!("this TEM is not announced in the local network: {error:#}"),
        }
        Ok(())
    }

    /// Exchanges the list with other TEMs.
    fn exchange(
        &self,
        peers: Vec<Server>,
        tem: &Arc<Tem>,
        config: &TemConfig,
        identity: &Identity,
    ) -> anyhow::Result<()> {
        let token_file = Some(config.token_file.clone()).filter(|file| !file.as_os_str().is_empty());
        peers::start(peers, token_file, identity, (tem, &self.dac.health))
    }

    /// Lists the DAC in NATS, and the DACs that are there in its own TEM, if that is configured.
    #[cfg(feature = "nats")]
    fn share_tem(
        &self,
        (nats, tem): (&oasis_nats::NatsConfig, &TemConfig),
        registrant: Option<&Arc<Registrant>>,
        api: &Api,
        own_tem: &Arc<Tem>,
    ) -> anyhow::Result<()> {
        let Some(registrant) = registrant.filter(|_| nats.tem) else { return Ok(()) };
        let host = Some(tem.host.as_str()).filter(|host| !host.is_empty());
        let advertised = |listen: &str| registration::advertised(listen, host, None);
        let (s, tls) = if self.tls.is_some() { ("s", "tls://") } else { ("", "") };
        let (doors, channel) = (advertised(&self.http), advertised(&self.channel));
        let (doors, channel) = (format!("http{s}://{doors}"), format!("{tls}{channel}"));
        let reporter = Reporter::new(api.clone(), registrant.clone(), doors, channel);
        let (name, health) = (registrant.name().clone(), self.dac.health.clone());
        super::tem_in_nats::share(nats, name, reporter, own_tem.clone(), health)
    }

    fn start_own_node(&mut self, name: &str) -> anyhow::Result<()> {
        if !name.is_empty() {
            let connector = encryption::own_connector(&self.channel, self.tls.as_ref());
            let node = own_node::start(name, &self.dac, connector);
            self.own_node = Some(node.context("the DAC's own node cannot be started (own_node)")?);
        }
        Ok(())
    }

    /// What is printed at the start.
    fn facts(&self) -> anyhow::Result<Vec<Fact>> {
        let mut facts = vec![("http", self.page(), "page")];
        if !self.channel.is_empty() {
            facts.push(("channel", self.data_channel(), "data channel"));
        }
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
        // Before nodes and readers are sent away: they look for another DAC. A TEM that hangs does not delay the end.
        let registrations = self.registrations;
        let farewell = tokio::task::spawn_blocking(move || registrations.stop());
        let _ = tokio::time::timeout(FAREWELL, farewell).await;
        if let Some(announcement) = self.announcement {
            tokio::task::spawn_blocking(move || announcement.end()).await?;
        }
        if let Some(node) = self.own_node {
            tokio::task::spawn_blocking(move || node.shutdown()).await?;
        }
        // What they have sent becomes safe first, so that nothing is sent twice when they go to another DAC.
        let _ = tokio::time::timeout(DRAIN, self.dac.draining.run()).await;
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

/// Fills the archive with copies that it lacks, if it has any: before nodes connect, and before its DAC opens it.
#[cfg(feature = "nats")]
async fn catch_up(config: &Config) -> anyhow::Result<()> {
    let target = oasis_nats::Target::new(&config.nats).context("in the section [nats]")?;
    if let Some(target) = target.filter(|_| config.nats.catch_up && !config.archive.directory.is_empty()) {
        crate::nats::catch_up(&target, &config.archive).await;
    }
    Ok(())
}

#[cfg(not(feature = "nats"))]
#[expect(clippy::unused_async, reason = "the other one waits for NATS")]
async fn catch_up(_: &Config) -> anyhow::Result<()> {
    Ok(())
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

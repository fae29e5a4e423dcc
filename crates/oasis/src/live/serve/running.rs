//! A DAC, a relay or a TEM that runs: its parts, in the order in which they start and end.

#[cfg(feature = "otlp")]
use super::otlp_listener::OtlpListeners;
use super::{
    Fact,
    handler_commands::HandlerCommands,
    link_to, notify, rules,
    sockets::{DataChannel, listen, serve_channel, serve_doors},
    spare_memory::give_back,
    sql_server::SqlDoor,
};
use crate::{
    config::Config,
    live::{accounts, encryption, own_connector::OwnConnector, own_node, systemd, through_dds, through_nats},
};
use anyhow::Context;
use oasis_access::{Access, Moment};
use oasis_api::{Api, Registrant, Tem};
use oasis_archive::Archive;
use oasis_channel::Connector;
use oasis_dac::{
    Dac,
    config::{RelayConfig, TemConfig},
    ingest::Security,
    listener::descriptors,
};
use oasis_doors::Doors;
use oasis_handler::{Handler, StoredSamples, Supervisor};
use oasis_health::Watchdog;
use oasis_http::permissions::Permissions;
use oasis_oidc::OpenId;
use oasis_probe::Node;
use oasis_site::{
    announcement::Announcement,
    copies::CopySources,
    follow::Sources,
    registration::{self, Registrations},
    relay::Relays,
    revive::beat,
};
use oasis_store::ArchiveConfig;
use oasis_tem::Kind;
use oasis_tls::ServerTls;
use std::{sync::Arc, time::Duration};
use tokio::{
    signal::unix::{Signal, SignalKind, signal},
    sync::watch,
    task::JoinHandle,
};

/// Timeout for browsers to disconnect when the DAC ends.
const RELEASE_TIMEOUT: Duration = Duration::from_secs(1);
/// Time that nodes have to leave before the data channel closes.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(2);
/// Timeout for the TEM to remove a DAC that ends.
const FAREWELL_TIMEOUT: Duration = Duration::from_secs(3);

/// A DAC, a relay or a TEM.
pub struct RunningDac {
    pub(super) http: String,
    pub(super) channel: String,
    sql: Option<String>,
    otlp: Vec<Fact>,
    pub(super) tls: Option<Arc<ServerTls>>,
    ending: watch::Sender<bool>,
    served: JoinHandle<std::io::Result<()>>,
    archive: Option<Archiving>,
    handlers: Arc<Supervisor>,
    pub(super) dac: Arc<Dac>,
    own_node: Option<Node>,
    access: Arc<Access>,
    pub(super) registrations: Registrations,
    pub(super) announcement: Option<Announcement>,
    _watchdog: Watchdog,
}

/// The parts that run besides page, API and doors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parts {
    /// All of a DAC.
    Dac,
    /// Nothing: a TEM takes no samples.
    Tem,
    /// The nodes of other DACs.
    Relay,
}

impl Parts {
    /// Returns its entry in the lists of TEMs; a TEM itself is in no list.
    fn registrant(self, config: &TemConfig, relay: &RelayConfig) -> anyhow::Result<Option<Arc<Registrant>>> {
        let kind = match self {
            Self::Dac => Kind::Dac,
            Self::Relay => Kind::Relay,
            Self::Tem => return Ok(None),
        };
        let name = registration::name(config, kind)?;
        let relays = !relay.upstreams.is_empty() || !relay.tem.is_empty();
        Ok(Some(Arc::new(Registrant::new(name, kind).relaying(relays))))
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
    pub async fn start(config: Config, parts: Parts) -> anyhow::Result<Self> {
        Self::start_with_node(config, parts, "").await
    }

    /// Starts one whose process has a node with this name too, empty for none: no other node may take it.
    pub async fn start_with_node(mut config: Config, parts: Parts, node: &str) -> anyhow::Result<Self> {
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
        config.check_features()?;
        #[cfg(all(feature = "mqtt", feature = "mqtt-publish"))]
        config.check_mqtt_sections()?;
        let sql = SqlDoor::open(&config, tls.is_some()).await?;
        #[cfg(feature = "otlp")]
        let otlp = OtlpListeners::open(&config, tls.is_some()).await?;
        let channel = match parts {
            Parts::Dac => Some(DataChannel::bind(&config, tls.is_some()).await?),
            Parts::Tem | Parts::Relay => None,
        };
        let channel_address = channel.as_ref().map(|channel| channel.address);
        let enrollment = channel_address.map(|address| encryption::enrollment(&config.tls, address.port()));
        let enrollment = enrollment.transpose()?.flatten();
        // Invalid settings of a handler or of the TEM end the start before anything is written.
        #[cfg(feature = "postgresql")]
        if config.postgresql.writer.is_empty() {
            let kind = if parts == Parts::Relay { Kind::Relay } else { Kind::Dac };
            config.postgresql.writer = registration::name(&config.tem, kind)?.to_string();
        }
        #[cfg(feature = "mqtt-publish")]
        config.place_published();
        #[cfg(feature = "mqtt")]
        config.place_received();
        let mut handlers = config.handlers()?;
        handlers.extend(sql.handler());
        let is_named = !config.rules.directory.is_empty();
        config.place_rules();
        config.doors.layouts_dir = config.layouts_directory().unwrap_or_default();
        config.rules.name_node(&config.tem.name);
        let destinations = config.notify.destinations().context("in the section [notify]")?;
        let rules = match parts {
            Parts::Dac => rules::open(&config.rules, is_named)?,
            // A relay shows the alarms of other DACs.
            Parts::Tem | Parts::Relay => None,
        };
        let notify = notify::open(destinations, &config.tem, rules.as_ref().map(|rules| &rules.alarms))?;
        handlers.extend(notify.clone().map(|notify| -> Arc<dyn Handler> { notify }));
        handlers.extend(rules.iter().map(|rules| -> Arc<dyn Handler> { rules.handler.clone() }));
        through_dds::check(&config.dds, &config.tls)?;
        let listing = parts.registrant(&config.tem, &config.relay)?;
        let tems = match listing {
            Some(_) => registration::remotes(&config.tem, config.insecure)?,
            None => Vec::new(),
        };
        let relays = Relays::new(&config.relay, config.insecure)?;
        let copies = CopySources::new(&config.rules.token_file, (&config.relay, &config.tem), &relays, &tems);
        let openid = OpenId::new(config.access.oidc.clone()).context("in the section [access.oidc]")?;
        let sources = Sources::new(&config.access, doors_address, config.insecure)?;
        let permissions = accounts::open(&config.access, doors_address.port())?;
        let access = permissions.access.clone();
        catch_up(&config).await?;
        let settings = config.settings_directory();
        let dac = Dac::new(oasis_dac::Config {
            memory_bytes: config.memory_bytes,
            log: config.log,
            channel: config.channel,
        });
        if parts == Parts::Relay {
            dac.upstreams.set_all();
        }
        // The data channel accepts no node before its own names are reserved.
        let node_of_rules = rules.as_ref().map_or("", |_| &config.rules.node);
        for name in [node, &config.own_node, node_of_rules].into_iter().filter(|name| !name.is_empty()) {
            dac.own_nodes.reserve(name);
        }
        if let Some(directory) = settings.filter(|_| parts == Parts::Dac) {
            let read = dac.settings.open(&directory);
            read.with_context(|| {
                format!(
                    "cannot use {} for settings of nodes (channel.settings_dir; otherwise beside the archive, --archive DIR)",
                    directory.display()
                )
            })?;
        }
        let archive = open_archive(config.archive, &dac)?;
        let archived = archive.as_ref().map(|archiving| archiving.archive.clone());
        let stored = archived.clone().map(|archive| -> Arc<dyn StoredSamples> { archive });
        let recorder = archived.clone().map(|archive| -> Arc<dyn Handler> { archive });
        let handlers = recorder.into_iter().chain(handlers).collect();
        let handlers = Arc::new(Supervisor::new(dac.clone(), stored, handlers));
        let names = config.doors.allowed_hosts.clone();
        let layouts = config.doors.layouts_dir.clone();
        let doors = Doors::with_permissions(dac.clone(), config.doors, archived, permissions)?;
        restore_commands(&doors.permissions, &dac);
        handlers.connect_commands(Arc::new(HandlerCommands::new(&dac, &doors.permissions)));
        let doors = doors.with_tls(tls.clone());
        let security = Security { tls: tls.clone(), guard: Some(doors.permissions.clone()) };
        let own_tem = Arc::new(Tem::default());
        let api = Api::new(doors, handlers.clone()).with_context(|| {
            format!(
                "cannot use {layouts} for dashboards (doors.layouts_dir; otherwise beside the archive, --archive DIR)"
            )
        })?;
        let api = api.enrolling(enrollment).with_openid(openid);
        let rules_state = rules.as_ref().map(|rules| rules.handler.rules_state());
        let alarms = rules.as_ref().map(|rules| rules.alarms.clone());
        let api = api.with_tem(own_tem.clone()).with_rules(rules_state).with_alarms(alarms.clone());
        let relayed_alarms = relays.alarms();
        let api = api.with_notifications(notify).with_relayed_alarms(relayed_alarms.clone());
        if let Some((rules, relayed)) = rules.as_ref().zip(relayed_alarms.clone()) {
            rules.handler.take_over_from(relayed);
        }
        let sql = sql.connect(&api, tls.clone());
        handlers.start_all();
        let watchdog = systemd::watchdog(dac.health.clone())?;
        tokio::spawn(beat(dac.health.clone()));
        tokio::spawn(give_back(dac.clone()));
        tls.iter().for_each(encryption::keep_current);
        let (ending, ended) = watch::channel(false);
        let mut running = Self {
            http: doors_address.to_string(),
            channel: channel_address.map(|address| address.to_string()).unwrap_or_default(),
            sql,
            #[cfg(feature = "otlp")]
            otlp: otlp.serve(&dac.health, &api, &ended)?,
            #[cfg(not(feature = "otlp"))]
            otlp: Vec::new(),
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
                through_nats::accept(&config.nats, name.clone(), &running.dac, security.clone())
                    .context("in the section [nats]")?;
                through_dds::accept(&config.dds, name, &running.dac, security)
                    .context("in the section [dds]")?;
            }
        }
        if let Some(alarms) = alarms {
            let started = copies.start(alarms, own_tem.clone(), running.dac.epoch());
            started.context("cannot start the threads for copies of alarms")?;
        }
        if let Some(alarms) = relayed_alarms {
            relays.start(&running.dac, alarms);
        }
        if let Some(sources) = sources {
            sources.start(running.access.clone(), &running.dac.health)?;
        }
        running.list(listing, &api, &own_tem, (&config.tem, tems, &names))?;
        running.announce(&config.tem, &names)?;
        running.start_own_node(&config.own_node)?;
        descriptors::note_start();
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

    /// Connects a node of this process.
    pub fn own_connector(&self) -> Box<dyn Connector> {
        let connector = encryption::own_connector(&self.channel, self.tls.as_ref());
        Box::new(OwnConnector::new(self.dac.clone(), connector))
    }

    fn start_own_node(&mut self, name: &str) -> anyhow::Result<()> {
        if !name.is_empty() {
            let node = own_node::start(name, &self.dac, self.own_connector());
            self.own_node = Some(node.context("the DAC's own node cannot be started (own_node)")?);
        }
        Ok(())
    }

    /// Returns the facts that are printed at the start.
    pub fn facts(&self) -> anyhow::Result<Vec<Fact>> {
        let mut facts = vec![("http", self.page(), "page")];
        if !self.channel.is_empty() {
            facts.push(("channel", self.data_channel(), "data channel"));
        }
        facts.extend(self.sql.iter().map(|address| ("postgresql", address.clone(), "PostgreSQL")));
        facts.extend(self.otlp.iter().cloned());
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

    pub async fn stop(self) -> anyhow::Result<()> {
        // Before nodes and readers are sent away: they look for another DAC. A TEM that hangs does not delay the end.
        let registrations = self.registrations;
        let farewell = tokio::task::spawn_blocking(move || registrations.stop());
        let _ = tokio::time::timeout(FAREWELL_TIMEOUT, farewell).await;
        if let Some(announcement) = self.announcement {
            tokio::task::spawn_blocking(move || announcement.end()).await?;
        }
        if let Some(node) = self.own_node {
            tokio::task::spawn_blocking(move || node.shutdown()).await?;
        }
        // The samples that they have sent are stored first, so that none is sent twice when they go to another DAC.
        let _ = tokio::time::timeout(DRAIN_TIMEOUT, self.dac.draining.run()).await;
        // Samples received from now on would be acknowledged, but not stored.
        let _ = tokio::time::timeout(RELEASE_TIMEOUT, self.dac.release_nodes()).await;
        self.ending.send_replace(true);
        // Open WebSockets never end by themselves.
        if let Ok(served) = tokio::time::timeout(RELEASE_TIMEOUT, self.served).await {
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

/// Gives the journal of commands those of earlier runs, which the audit log has. A long log takes a second, so the DAC starts meanwhile.
fn restore_commands(permissions: &Arc<Permissions>, dac: &Arc<Dac>) {
    let (permissions, dac) = (permissions.clone(), dac.clone());
    tokio::task::spawn_blocking(move || match permissions.earlier_commands() {
        Ok(earlier) => dac.commands.restore(earlier),
        Err(error) => tracing::warn!(%error, "the command history lacks earlier runs"),
    });
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

//! DAC and doors, with the same tasks and threads as `oasis dac`.

use super::{DacSettings, runtime};
use crate::{
    order::{Order, ready, run_orders},
    outlets, packet,
};
use anyhow::{Context, bail};
use oasis_access::{Access, AccessConfig, Moment, Name, NewToken};
use oasis_api::Api;
use oasis_archive::Archive;
use oasis_channel::{
    DacMessage, InstanceState, NodeIdentity, NodeMessage, PROTOCOL, RegisteredInstance, frame::Frame,
};
use oasis_dac::{Dac, now, session::NodeSession};
use oasis_doors::{Doors, DoorsConfig, ShardChoice};
use oasis_handler::{Handler, Supervisor};
use oasis_http::permissions::Permissions;
use oasis_probe::{RowWriter, Sample};
use oasis_probes::LinuxProcessorProbe;
use oasis_store::ArchiveConfig;
use oasis_tls::ServerTls;
use oasis_wire::{
    batch::{Encoder, Fields},
    eisa::ClientCommand,
    probe_kind::ProbeKind,
    quantity::TopicId,
    schema::ProbeType,
};
use std::{collections::BTreeSet, future, path::Path, sync::Arc};
use tokio::{net::TcpListener, sync::mpsc};
use uuid::Uuid;

/// The node that publishes.
pub const NODE: &str = "plant";
/// The instance that everybody subscribes to: a name with which a packet has the 136 bytes of the papers' frame.
pub const INSTANCE: &str = "processor of the measured host";

/// The 256 bytes with which a client of 2012 subscribes.
pub fn register() -> anyhow::Result<[u8; 256]> {
    Ok(ClientCommand::Register { node: NODE.into(), instance: INSTANCE.into() }.encode()?)
}

/// Counters that move as a processor's do.
pub fn sample(number: u64) -> LinuxProcessorProbe {
    LinuxProcessorProbe {
        idle_time: 8_011_350 + number,
        system_time: 93_120 + number / 7,
        user_time: 211_900 + number / 3,
        nice_time: 1_203,
        iowait_time: 10_220 + number / 50,
        irq_time: 0,
        soft_irq_time: 4_410 + number / 90,
    }
}

/// Random counters.
fn noise(number: u64) -> LinuxProcessorProbe {
    // SplitMix64: one step for each counter.
    let mut state = number.wrapping_mul(7);
    let mut next = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    };
    LinuxProcessorProbe {
        idle_time: next(),
        system_time: next(),
        user_time: next(),
        nice_time: next(),
        iowait_time: next(),
        irq_time: next(),
        soft_irq_time: next(),
    }
}

/// Serves; `is_fed` says whether orders are for this process, or a node sends samples.
pub fn serve(settings: &DacSettings, is_fed: bool) -> anyhow::Result<()> {
    let runtime = runtime()?;
    let dac = Dac::new(oasis_dac::Config::default());
    let archive = settings.archive.as_deref().map(open_archive).transpose()?;
    let recorder = archive.clone().map(|archive| -> Arc<dyn Handler> { archive });
    let outlet = settings.outlet.map(|kind| runtime.block_on(outlets::open(kind, settings.host, &dac)));
    let outlet = outlet.transpose()?;
    let records = outlet.as_ref().and_then(|outlet| outlet.handler.clone());
    let records = records.map(|records| -> Arc<dyn Handler> { records });
    let handlers =
        Arc::new(Supervisor::new(dac.clone(), None, recorder.into_iter().chain(records).collect()));
    handlers.start_all();
    let mut feed = is_fed.then(|| Feed::new(dac.clone())).transpose()?;
    let mut config = DoorsConfig {
        max_connections: 1_000_000,
        max_websockets: 1_000_000,
        max_per_address: 1_000_000,
        // Readers of a bench are one principal, and come at once.
        rate_limit: 1_000_000,
        rate_limit_burst: 1_000_000,
        shards: ShardChoice::Fixed(settings.shards),
        allowed_origins: settings.origins.clone(),
        ..DoorsConfig::default()
    };
    if let Some(flush) = settings.flush {
        config.flush_ms = u64::try_from(flush.as_millis())?;
    }
    let tls = settings.tls.clone().map(ServerTls::load).transpose()?.map(Arc::new);
    let accounts = settings.has_accounts.then(Accounts::new).transpose()?;
    let (permissions, credentials) = match accounts {
        Some(Accounts { permissions, credentials }) => (permissions, credentials.into()),
        // The load comes from other hosts, too, and measures no permissions.
        None => (Permissions::open_to_all(), Vec::new()),
    };
    let [doors, channel] = runtime.block_on(async {
        let bind = || TcpListener::bind((settings.host, 0));
        let listeners = [bind().await?, bind().await?];
        let mut places: Vec<_> = listeners.iter().map(TcpListener::local_addr).collect::<Result<_, _>>()?;
        places.extend(outlet.as_ref().map(|outlet| outlet.address));
        ready(&places.iter().map(ToString::to_string).chain(credentials).collect::<Vec<_>>())?;
        anyhow::Ok(listeners)
    })?;
    runtime.spawn(oasis_dac::ingest::serve(dac.clone(), channel));
    runtime.spawn(async move {
        let open = Doors::with_permissions(dac, config, archive, permissions)?.with_tls(tls);
        oasis_api::serve(Api::new(open, handlers)?, doors, future::pending()).await
    });
    run_orders(|order| match (order, &mut feed) {
        (Order::Round { burst }, Some(feed)) => feed.round(burst),
        _ => bail!("this server publishes rounds only, and those if it is fed"),
    })
}

/// Accounts of readers, in memory.
struct Accounts {
    permissions: Permissions,
    /// A token, and the cookie of a session.
    credentials: [String; 2],
}

impl Accounts {
    fn new() -> anyhow::Result<Self> {
        let access = Access::in_memory(&AccessConfig::default());
        let name: Name = "ada".parse()?;
        let roles: BTreeSet<Name> = ["admin".parse()?].into();
        let now = Moment::now().wall;
        access.change(|accounts| accounts.add_user(name.clone(), None, roles.clone(), now))?;
        let token = NewToken {
            name: "kiosk".parse()?,
            roles,
            owner: None,
            embed: false,
            scope: Vec::new(),
            expires: None,
        };
        let (_, token) = access.change(|accounts| accounts.create_token(token, now))?;
        let session = access.start_session(name.as_str(), Moment::now())?;
        let credentials = [token.reveal().to_owned(), session.cookie.reveal().to_owned()];
        Ok(Self { permissions: Permissions::open(access, None)?, credentials })
    }
}

fn open_archive(directory: &Path) -> anyhow::Result<Arc<Archive>> {
    let directory = directory.to_string_lossy().into_owned();
    let opened = oasis_store::open(ArchiveConfig { directory, ..ArchiveConfig::default() })?;
    Ok(Arc::new(Archive::new(opened)))
}

/// The first messages of the node, and the encoder of its batches.
pub fn greeting() -> anyhow::Result<(Encoder, [NodeMessage; 2])> {
    greeting_with::<LinuxProcessorProbe>(INSTANCE)
}

/// The same with an instance of any type.
fn greeting_with<T: Sample>(name: &str) -> anyhow::Result<(Encoder, [NodeMessage; 2])> {
    let probe_type: ProbeType = serde_json::from_str(T::SCHEMA)?;
    let encoder = Encoder::new(&probe_type)?;
    let instance = RegisteredInstance {
        name: name.into(),
        probe_type: probe_type.uuid,
        kind: ProbeKind::Pushed,
        demand: None,
        declared: None,
        state: InstanceState { hertz: None, enabled: true, recorder: None },
    };
    let hello = NodeMessage::Hello {
        protocol: PROTOCOL,
        node: identity(),
        secret: None,
        attach: None,
        drains: false,
    };
    Ok((encoder, [hello, NodeMessage::Register { types: vec![probe_type], instances: vec![instance] }]))
}

/// A node session without a socket: ledger, stamping and topic log work as for a node.
pub struct Feed {
    session: NodeSession,
    topic: TopicId,
    encoder: Encoder,
    sequence: u64,
    answers: Vec<DacMessage>,
    /// The receiver of commands: kept, otherwise the DAC would close the session.
    _commands: mpsc::Receiver<DacMessage>,
}

impl Feed {
    /// Registers a node and its instance.
    pub fn new(dac: Arc<Dac>) -> anyhow::Result<Self> {
        Self::of::<LinuxProcessorProbe>(dac, INSTANCE)
    }

    /// Registers a node with an instance of any type.
    pub fn of<T: Sample>(dac: Arc<Dac>, name: &str) -> anyhow::Result<Self> {
        let (encoder, greeting) = greeting_with::<T>(name)?;
        let (outbound, commands) = mpsc::channel(64);
        let mut session = NodeSession::new(dac, outbound);
        let mut answers = Vec::new();
        for message in greeting {
            session.handle(Frame::Control(&serde_json::to_vec(&message)?), now(), &mut answers)?;
        }
        let assigned = answers.drain(..).find_map(|answer| match answer {
            DacMessage::Registered { topics } => topics.first().map(|topic| topic.topic),
            _ => None,
        });
        let topic = assigned.context("the DAC assigned no topic to the instance")?;
        Ok(Self { session, topic, encoder, sequence: 0, answers, _commands: commands })
    }

    /// One batch of samples, taken when `time` says; with noise in them nothing compresses.
    pub fn batch(&mut self, count: u64, time: impl FnMut(u64) -> u64, is_noise: bool) -> anyhow::Result<()> {
        self.batch_of(count, time, |number| if is_noise { noise(number) } else { sample(number) })
    }

    /// One batch of these samples.
    pub fn batch_of<T: Sample>(
        &mut self,
        count: u64,
        mut time: impl FnMut(u64) -> u64,
        sample: impl Fn(u64) -> T,
    ) -> anyhow::Result<()> {
        let (mut row, mut batch) = (Vec::new(), Vec::new());
        let first_sequence = self.sequence + 1;
        let mut last = 0;
        for _ in 0..count {
            self.sequence += 1;
            row.clear();
            sample(self.sequence).write(&mut RowWriter::new(&mut row));
            last = time(self.sequence);
            self.encoder.push(last, &row)?;
        }
        let fields = Fields { topic: self.topic.0, first_sequence, node_time: last, ..Fields::default() };
        self.encoder.finish(fields, &mut batch);
        self.session.handle(Frame::Batch(&batch), now(), &mut self.answers)?;
        self.session.acknowledge(now(), &mut self.answers);
        self.answers.clear();
        Ok(())
    }

    /// Batches of one sample each, as fast as a node's frames come out of one read.
    fn round(&mut self, burst: usize) -> anyhow::Result<()> {
        let (mut row, mut batch) = (Vec::new(), Vec::new());
        for _ in 0..burst {
            self.sequence += 1;
            row.clear();
            sample(self.sequence).write(&mut RowWriter::new(&mut row));
            let time = packet::now();
            self.encoder.push(time, &row)?;
            batch.clear();
            let fields = Fields {
                topic: self.topic.0,
                state: 0,
                first_sequence: self.sequence,
                node_time: time,
                dropped_before: 0,
            };
            self.encoder.finish(fields, &mut batch);
            self.session.handle(Frame::Batch(&batch), now(), &mut self.answers)?;
        }
        self.session.acknowledge(now(), &mut self.answers);
        self.answers.clear();
        Ok(())
    }
}

fn identity() -> NodeIdentity {
    NodeIdentity {
        name: NODE.into(),
        uuid: Uuid::new_v4(),
        run: Uuid::new_v4(),
        host: "lab".into(),
        software: oasis_dac::SOFTWARE.into(),
        pid: std::process::id(),
    }
}

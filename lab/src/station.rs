//! One server under measurement, with its subscribers on the other core.

use crate::{
    child::Child,
    cpu,
    crowd::{Crowd, Dialect, Tally, Way},
    dac_http,
    entrance::Entrance,
    order::Order,
    program,
    servers::INSTANCE,
};
use anyhow::{Context, bail};
use std::{
    net::{IpAddr, SocketAddr},
    path::Path,
    process::Command,
    thread,
    time::{Duration, Instant},
};
use tempfile::TempDir;

/// Path of the server of Node.js.
const NODE_SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/node/server.js");
/// Timeout of a DAC to register its node.
const REGISTRATION_TIMEOUT: Duration = Duration::from_secs(10);

/// A server in a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Contender {
    /// In tables.
    pub name: &'static str,
    /// Its description.
    pub what: &'static str,
    make: Make,
    dialect: Dialect,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Make {
    /// A server of the lab's binary.
    Lab(&'static str),
    /// `ws` in Node.js.
    NodeJs,
    /// A DAC, and a node in another process whose probe is pushed, or periodic at this rate.
    Chain(Option<&'static str>),
    /// The same, read through a relay.
    Relayed,
}

impl Make {
    fn is_ours(self) -> bool {
        matches!(self, Self::Lab("oasis") | Self::Chain(_) | Self::Relayed)
    }
}

/// Everybody.
pub const CONTENDERS: [Contender; 7] = [
    BARE,
    AXUM,
    TUNGSTENITE,
    Contender {
        name: "ws",
        what: "ws 8.23 in Node.js: one `send` for each message",
        make: Make::NodeJs,
        dialect: Dialect::Plain,
    },
    OASIS,
    NATIVE,
    CHAIN,
];

/// The usual server in Rust.
pub const AXUM: Contender = Contender {
    name: "axum",
    what: "axum 0.8: a task for each connection, one `send` for each message",
    make: Make::Lab("axum"),
    dialect: Dialect::Plain,
};

/// The same library as under axum, used with more care.
pub const TUNGSTENITE: Contender = Contender {
    name: "tungstenite",
    what: "tokio-tungstenite 0.29: a task for each connection, `feed` for each message, one `flush` for each burst",
    make: Make::Lab("tungstenite"),
    dialect: Dialect::Plain,
};

/// The doors, fed in their own process.
pub const OASIS: Contender = Contender {
    name: "oasis",
    what: "DAC and doors, fed within their process with batches of one sample; EISA packets to subscribers",
    make: Make::Lab("oasis"),
    dialect: Dialect::Eisa,
};

/// The same for readers of today.
pub const NATIVE: Contender = Contender {
    name: "oasis native",
    what: "the same; native batches of one sample to subscribers",
    make: Make::Lab("oasis"),
    dialect: Dialect::Native,
};

/// The baseline.
pub const BARE: Contender = Contender {
    name: "bare",
    what: "an event loop that writes prepared bytes, a burst in one call: the baseline",
    make: Make::Lab("bare"),
    dialect: Dialect::Plain,
};

/// The complete path of a sample.
pub const CHAIN: Contender = Contender {
    name: "oasis node",
    what: "a node with a pushed probe in its own process, TCP, a DAC with its doors; EISA packets to subscribers",
    make: Make::Chain(None),
    dialect: Dialect::Eisa,
};

/// The same for readers of today.
pub const NATIVE_CHAIN: Contender = Contender {
    name: "oasis node, native",
    what: "the same; native batches to subscribers",
    make: Make::Chain(None),
    dialect: Dialect::Native,
};

/// The same with a relay between the DAC and the subscribers.
pub const RELAYED: Contender = Contender {
    name: "oasis node, relayed",
    what: "the same through a relay, which is what is measured",
    make: Make::Relayed,
    dialect: Dialect::Eisa,
};

/// The same with a probe that its node calls four times a second.
pub const PERIODIC: Contender = Contender {
    name: "oasis node, periodic",
    what: "the same with a periodic probe at 4 Hz",
    make: Make::Chain(Some("4")),
    dialect: Dialect::Eisa,
};

impl Contender {
    /// Whether it is the project's own server.
    pub fn is_ours(self) -> bool {
        self.make.is_ours()
    }

    /// Returns the protocol of its subscribers.
    pub fn dialect(self) -> Dialect {
        self.dialect
    }

    /// Starts the server, and the node if it has one. `flush` is the longest rest between its writes, if it is ours.
    pub fn serve(self, flush: Option<Duration>) -> anyhow::Result<RunningServer> {
        self.serve_with(flush, &[], |_| Ok(Entrance::default()))
    }

    /// The same, with more flags for a server of the lab's binary. `entrance` says how one gets in, once the server is ready.
    pub fn serve_with(
        self,
        flush: Option<Duration>,
        more: &[&str],
        entrance: impl FnOnce(&Child) -> anyhow::Result<Entrance>,
    ) -> anyhow::Result<RunningServer> {
        let millis = flush.map(|flush| flush.as_millis().to_string());
        let flush = millis.as_deref().filter(|_| self.is_ours());
        let lab = |server| {
            let mut arguments = vec!["serve", server];
            arguments.extend(flush.iter().flat_map(|&flush| ["--flush-ms", flush]));
            arguments.extend(more);
            Child::lab(cpu::SERVERS, &arguments)
        };
        let server = match self.make {
            Make::Lab(server) => lab(server)?,
            Make::NodeJs => {
                let mut command = Command::new("node");
                command.arg(NODE_SCRIPT);
                Child::start(cpu::SERVERS, command).context("Node.js with ws is needed: npm ci")?
            }
            Make::Chain(hertz) => {
                let dac = lab("dac")?;
                let entrance = entrance(&dac)?;
                return chain(dac, hertz, entrance);
            }
            Make::Relayed => return relayed(chain(lab("dac")?, None, Entrance::default())?),
        };
        let address = server.place(0)?.parse()?;
        let entrance = entrance(&server)?;
        Ok(RunningServer { server, node: None, _upstream: None, address, entrance })
    }
}

/// A DAC and a node of its own.
fn chain(dac: Child, hertz: Option<&str>, entrance: Entrance) -> anyhow::Result<RunningServer> {
    let mut arguments = vec!["node", dac.place(1)?];
    arguments.extend(hertz.iter().flat_map(|&hertz| ["--hertz", hertz]));
    let node = Child::lab(cpu::CLIENTS, &arguments)?;
    wait_until_known(dac.place(0)?, &entrance)?;
    let address = dac.place(0)?.parse()?;
    Ok(RunningServer { server: dac, node: Some(node), _upstream: None, address, entrance })
}

/// A relay of a DAC with a node.
fn relayed(chain: RunningServer) -> anyhow::Result<RunningServer> {
    let folder = tempfile::tempdir()?;
    let upstream = format!("http://{}", chain.address);
    let access = folder.path().join("access");
    let mut command = Command::new(program::oasis()?);
    command.args(["relay", "--upstream", &upstream, "--listen", "127.0.0.1:0", "--ready-json", "--access"]);
    command.arg(&access);
    let relay = Child::start(cpu::SERVERS, command)?;
    wait_until_known(relay.place(0)?, &chain.entrance)?;
    let address = relay.place(0)?.parse()?;
    let RunningServer { server, node, entrance, .. } = chain;
    Ok(RunningServer { server: relay, node, _upstream: Some((server, folder)), address, entrance })
}

/// A server without subscribers yet.
#[derive(Debug)]
pub struct RunningServer {
    /// The process that is measured.
    pub server: Child,
    /// The publishing process, if it is another one.
    node: Option<Child>,
    /// The DAC that a relay relays, and the folder of the relay: both end with this.
    _upstream: Option<(Child, TempDir)>,
    /// Address for subscriptions.
    pub address: SocketAddr,
    /// Access to it.
    entrance: Entrance,
}

impl RunningServer {
    /// A DAC with an archive in this folder, or without one, and its node.
    pub fn archiving(archive: Option<&Path>) -> anyhow::Result<RunningServer> {
        let mut arguments = vec!["serve".to_owned(), "dac".to_owned()];
        if let Some(archive) = archive {
            arguments.extend(["--archive".to_owned(), archive.to_string_lossy().into_owned()]);
        }
        let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
        chain(Child::lab(cpu::SERVERS, &arguments)?, None, Entrance::default())
    }

    /// Whether samples come from another process.
    pub fn has_node(&self) -> bool {
        self.node.is_some()
    }

    /// Sends an order to the publisher.
    pub fn order(&mut self, order: Order) -> anyhow::Result<()> {
        self.node.as_mut().unwrap_or(&mut self.server).order(order)
    }
}

/// A server and its subscribers.
#[derive(Debug)]
pub struct Station {
    /// The processes.
    pub served: RunningServer,
    /// The subscribers.
    pub crowd: Crowd,
}

impl Station {
    /// Starts all of it; every subscriber has had a message when this returns.
    pub fn start(contender: Contender, flush: Option<Duration>, subscribers: usize) -> anyhow::Result<Self> {
        Self::over(contender.serve(flush)?, contender.dialect, subscribers)
    }

    /// The same, for a running server.
    pub fn over(served: RunningServer, dialect: Dialect, subscribers: usize) -> anyhow::Result<Self> {
        let way = Way { server: served.address, source: None::<IpAddr>, tls: served.entrance.tls.as_ref() };
        let crowd = Crowd::enter(way, dialect, &served.entrance.header, subscribers)?;
        let mut station = Self { served, crowd };
        let deadline = Instant::now() + REGISTRATION_TIMEOUT;
        while !station.crowd.all_served() {
            if Instant::now() > deadline {
                bail!("some subscribers receive no messages");
            }
            station.served.order(Order::Round { burst: 1 })?;
            station.crowd.linger(Duration::from_millis(50))?;
        }
        station.crowd.settle()?;
        station.crowd.count_into(Tally::default());
        Ok(station)
    }
}

/// Waits until the DAC's list of instances has the node's.
fn wait_until_known(address: &str, entrance: &Entrance) -> anyhow::Result<()> {
    let deadline = Instant::now() + REGISTRATION_TIMEOUT;
    while Instant::now() < deadline {
        if dac_http::ledger_through(entrance, address, INSTANCE)?.is_some() {
            return Ok(());
        }
        thread::sleep(Duration::from_millis(20));
    }
    bail!("the DAC does not list its node")
}

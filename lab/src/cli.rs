//! Flags.

use crate::{
    attacks::Attacks,
    cpu,
    crowd::Dialect,
    experiment::{Compare, Host, Keep, List, Papers, Report, Run, Show, Unpack},
    experiments::{
        EXPERIMENTS,
        frizelle::{self, PushServer},
        million, mueller, oasis2013, windcomm,
    },
    faults::{Faults, SourceSettings},
    node,
    outlets::OutletKind,
    overhead::Overhead,
    report,
    scenarios::{Archive, Doors, Fanout, Flush, Idle, Latency, Probes, Relay, Slow, Tls},
    servers::{
        DacSettings, Server,
        archive::{self, ArchiveArguments},
    },
    subscribers,
};
use clap::{Args, Parser, Subcommand};
use oasis_tls::ServerFiles;
use std::{
    net::{IpAddr, SocketAddr},
    path::PathBuf,
    time::Duration,
};

/// Measures OASIS beside other programs, injects faults, and repeats experiments of publications. Servers run on core 0, their load on core 1.
#[derive(Debug, Parser)]
#[command(version)]
pub struct Cli {
    /// Also write the report to this file.
    #[arg(long, global = true, value_name = "FILE")]
    write: Option<PathBuf>,
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// List the experiments, their plans, servers and variables.
    List(List),
    /// Run an experiment, and report it: docs/evidence/lab.md.
    Run(Run),
    /// Report runs of an experiment: HTML, Markdown, figures and raw data.
    Report(Report),
    Show(Show),
    /// Compare two runs of an experiment.
    Compare(Compare),
    Keep(Keep),
    Unpack(Unpack),
    Papers(Papers),
    /// Put load on servers for a run on another host.
    Host(Host),
    /// Cost of probes for the watched threads: one flush, a million a second, a control loop.
    Probes(Probes),
    /// Cost of the archive for subscribers, its throughput, and the speed of reading history. Takes ten minutes, and disk space for the largest size.
    Archive(Archive),
    /// All measurements below with defaults, in about six minutes.
    All,
    /// Cost of a delivery for bursts of several sizes, for each server.
    Fanout(Fanout),
    /// The age of samples that come through node, channel and DAC.
    Latency(Latency),
    /// Memory for each subscriber while nothing is sent.
    Idle(Idle),
    /// The doors side by side: WebSocket, server-sent events, streaming, long poll, poll.
    Doors(Doors),
    /// Cost and added age of a relay beside a DAC: deliveries by processor time, and the age of samples.
    Relay(Relay),
    /// Effect of stopped readers on others.
    Slow(Slow),
    /// Cost of TLS, beside other servers with it: deliveries, handshakes, memory, and the age of samples with and without sign-in.
    Tls(Tls),
    /// Faults and what becomes of samples; --write records a line of JSON for each scenario.
    Faults(Faults),
    /// The age of samples at readers beside a client that attacks, and without it.
    Attacks(Attacks),
    /// Bytes that a message costs in WebSocket, TCP, TLS and HTTP, computed and captured; one message a frame against many in one.
    Overhead(Overhead),
    /// A node of the fault lab.
    #[command(hide = true)]
    Source(SourceSettings),
    /// A server to be measured; orders come on its standard input.
    #[command(hide = true)]
    Serve(Serve),
    /// A DAC with an archive that was filled.
    #[command(hide = true)]
    ServeArchive(ArchiveArguments),
    /// A node with one probe; orders come on its standard input.
    #[command(hide = true)]
    Node {
        /// Address of the data channel of the DAC.
        channel: String,
        /// Rate of a periodic probe; without it the probe is pushed.
        #[arg(long)]
        hertz: Option<f64>,
    },
    /// Flushes of one probe, for callgrind to count.
    #[command(hide = true)]
    Flush {
        /// Situation of the flushes.
        case: Flush,
        /// Number of flushes.
        count: u64,
    },
    /// Idle subscribers.
    #[command(hide = true)]
    Subscribe(Subscribe),
    /// A push server of an experiment; the end of its standard input ends it.
    #[command(hide = true)]
    PushServe {
        /// Which one.
        server: PushServer,
        /// Address to listen on.
        #[arg(long)]
        listen: SocketAddr,
        /// Its threads.
        #[arg(long, default_value_t = 1)]
        cores: usize,
    },
    /// Clients of a push server.
    #[command(hide = true)]
    PushLoad {
        /// Orders for the process, as JSON.
        orders: frizelle::Orders,
    },
    /// A node with a processor probe and a memory probe, which begin on command.
    #[command(hide = true)]
    Daemon(oasis2013::Daemon),
    /// A simulated anemometer with its node.
    #[command(hide = true)]
    Sensor(windcomm::Sensor),
    /// A simulated anemometer with a WebSocket server that does nothing else.
    #[command(hide = true)]
    BareWind(windcomm::BareServer),
    /// Clients of a relay.
    #[command(hide = true)]
    HoldLoad {
        /// Orders for the process, as JSON.
        orders: million::Orders,
    },
    /// Clients of a server that answers pings.
    #[command(hide = true)]
    PingLoad {
        /// Orders for the process, as JSON.
        orders: mueller::Orders,
    },
}

#[derive(Debug, Args)]
struct Serve {
    server: Server,
    /// Longest rest between two rounds of writes.
    #[arg(long)]
    flush_ms: Option<u64>,
    /// Folder of an archive.
    #[arg(long)]
    archive: Option<PathBuf>,
    /// Threads of a DAC that write to WebSockets.
    #[arg(long, default_value_t = 1)]
    shards: usize,
    /// Another way from a DAC to browsers, whose address is printed last.
    #[arg(long)]
    outlet: Option<OutletKind>,
    /// Origins whose pages may read a DAC, besides its own.
    #[arg(long)]
    origin: Vec<String>,
    /// Address at which a DAC listens.
    #[arg(long, default_value = "127.0.0.1")]
    host: IpAddr,
    /// Certificate, if the server speaks TLS.
    #[arg(long, requires = "tls_key")]
    tls_certificate: Option<PathBuf>,
    /// Its private key.
    #[arg(long, requires = "tls_certificate")]
    tls_key: Option<PathBuf>,
    /// Give a DAC accounts; a token and the cookie of a session are printed last.
    #[arg(long)]
    accounts: bool,
}

#[derive(Debug, Args)]
struct Subscribe {
    server: SocketAddr,
    #[arg(long)]
    source: IpAddr,
    #[arg(long)]
    dialect: Dialect,
    #[arg(long)]
    count: usize,
}

impl Serve {
    fn run(self) -> anyhow::Result<()> {
        let files = self.tls_certificate.zip(self.tls_key);
        self.server.serve(&DacSettings {
            tls: files.map(|(certificate, key)| ServerFiles { certificate, key, node_ca: None }),
            has_accounts: self.accounts,
            flush: self.flush_ms.map(Duration::from_millis),
            archive: self.archive,
            shards: self.shards,
            outlet: self.outlet,
            origins: self.origin,
            host: self.host,
        })
    }
}

/// Does what the flags say.
pub fn run(cli: Cli) -> anyhow::Result<()> {
    let title = match cli.verb {
        Verb::Probes(_) => report::PROBES,
        Verb::Archive(_) => report::ARCHIVE,
        Verb::Overhead(_) => report::MESSAGE_OVERHEAD,
        Verb::Tls(_) => report::TLS,
        _ => report::FANOUT,
    };
    let sections = match cli.verb {
        Verb::Serve(serve) => return serve.run(),
        Verb::ServeArchive(archived) => return archive::serve(&archived),
        Verb::Node { channel, hertz } => return node::run(&channel, hertz),
        Verb::Flush { case, count } => return case.run(count),
        Verb::Faults(faults) => return faults.run(cli.write.as_deref()),
        Verb::Attacks(attacks) => return attacks.run(),
        Verb::Overhead(overhead) => overhead.run()?,
        Verb::Source(settings) => return settings.run(),
        Verb::List(list) => return list.run(EXPERIMENTS),
        Verb::Run(run) => {
            cpu::prepare()?;
            return run.run(EXPERIMENTS);
        }
        Verb::Host(host) => return host.run(&[frizelle::LOAD, mueller::LOAD]),
        Verb::Report(report) => return report.run(EXPERIMENTS),
        Verb::Show(show) => return show.run(EXPERIMENTS),
        Verb::Compare(compare) => return compare.run(),
        Verb::Keep(keep) => return keep.run(),
        Verb::Unpack(unpack) => return unpack.run(),
        Verb::Papers(papers) => return papers.run(EXPERIMENTS, cli.write.as_deref()),
        Verb::PushServe { server, listen, cores } => return server.serve(listen, cores),
        Verb::PushLoad { orders } => return orders.run(),
        Verb::PingLoad { orders } => return orders.run(),
        Verb::HoldLoad { orders } => return orders.run(),
        Verb::Daemon(daemon) => return daemon.run(),
        Verb::Sensor(sensor) => return sensor.run(),
        Verb::BareWind(server) => return server.run(),
        Verb::Subscribe(Subscribe { server, source, dialect, count }) => {
            return subscribers::run(server, source, dialect, count);
        }
        measured => {
            cpu::prepare()?;
            measure(measured)?
        }
    };
    report::give(title, &sections, cli.write.as_deref())
}

fn measure(verb: Verb) -> anyhow::Result<Vec<String>> {
    match verb {
        Verb::Fanout(fanout) => Ok(vec![fanout.run()?]),
        Verb::Latency(latency) => Ok(vec![latency.run()?]),
        Verb::Idle(idle) => Ok(vec![idle.run()?]),
        Verb::Doors(doors) => Ok(vec![doors.run()?]),
        Verb::Relay(relay) => Ok(vec![relay.run()?]),
        Verb::Slow(slow) => Ok(vec![slow.run()?]),
        Verb::Tls(tls) => tls.run(),
        Verb::Probes(probes) => probes.run(),
        Verb::Archive(archive) => archive.run(),
        // Runs each scenario with the defaults of its flags.
        _ => ["fanout", "latency", "relay", "slow", "idle"]
            .into_iter()
            .map(|verb| measure(Cli::try_parse_from(["oasis-lab", verb])?.verb))
            .collect::<anyhow::Result<Vec<_>>>()
            .map(|sections| sections.concat()),
    }
}

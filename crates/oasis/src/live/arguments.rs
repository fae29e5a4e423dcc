//! The flags of commands that talk to a DAC, or are one.

use crate::{
    live::{locate::Located, node},
    output_format::OutputFlags,
    target::Target,
};
use clap::{Args, Subcommand};
use oasis_access::LocalAccess;
use oasis_client::{DacAddress, Server, TemAddress, data_channel};
use oasis_dac::{Delivery, Overflow};
use oasis_doors::ShardChoice;
use oasis_ei_node::Channel;
use oasis_format::visible::Visible;
use oasis_gateway::LineAddress;
use oasis_tem::DacName;
use oasis_wire::time;
use std::{env, path::PathBuf};
use uuid::Uuid;

/// Longest name of a node, bytes: that of the data channel.
const MAX_NODE_NAME_BYTES: usize = 1_024;

#[derive(Debug, Args)]
pub struct Up {
    #[command(flatten)]
    pub common: Common,
    #[command(flatten)]
    pub addresses: Addresses,
    #[command(flatten)]
    pub probes: Probes,
    /// Announce the TEM of this DAC in the local network, so that `--tem mdns:` finds it.
    #[arg(long, env = "OASIS_MDNS")]
    pub mdns: bool,
    /// Keep samples in bounded memory only. Without this and --archive, the archive is in ~/.local/share/oasis/archive.
    #[arg(long)]
    pub no_archive: bool,
}

#[derive(Debug, Args)]
pub struct Demo {
    #[command(flatten)]
    pub common: Common,
    #[command(flatten)]
    pub addresses: Addresses,
}

#[derive(Debug, Args)]
pub struct Dac {
    #[command(flatten)]
    pub common: Common,
    #[command(flatten)]
    pub addresses: Addresses,
}

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Node {
    #[command(subcommand)]
    pub verb: Option<node::Verb>,
    #[command(flatten)]
    pub common: Common,
    #[command(flatten)]
    pub probes: Probes,
    /// Data channel of the DAC; with tls:// in front if it has a certificate. May be repeated: the node goes to the next one when it loses one [default: 127.0.0.1:7071].
    #[arg(long, value_name = "[tls://]HOST:PORT", env = "OASIS_DAC", value_delimiter = ',', value_parser = data_channel)]
    pub dac: Vec<String>,
    /// TEM that knows the DACs, if no --dac is given: the node connects to the one that has it, or else to one of the others, and goes to another one when it loses that. http://HOST:PORT of its page, or https://. May be repeated: the first one that answers counts.
    #[arg(long, value_name = "URL", env = "OASIS_TEM", value_delimiter = ',')]
    pub tem: Vec<TemAddress>,
    /// Name of the DAC to connect to first, as the TEM lists it; with --channel nats or dds the only one [default: any].
    #[arg(long, value_name = "NAME", env = "OASIS_DAC_NAME")]
    pub dac_name: Option<DacName>,
    /// NATS that leads to the DACs, with --channel nats: nats://HOST:PORT or tls://HOST:PORT, several with commas; the configuration has the credentials (nats).
    #[arg(long, value_name = "URL", env = "OASIS_NATS")]
    pub nats: Option<String>,
    /// DDS domain of the DACs, 0 to 232, with --channel dds; the configuration has the interfaces (dds) [default: 0].
    #[arg(long, value_name = "DOMAIN", env = "OASIS_DDS", value_parser = clap::value_parser!(u16).range(..=232))]
    pub dds: Option<u16>,
    /// Folder of the key and the certificate of `oasis node enroll`, and of the sessions of devices [default: ~/.local/state/oasis/node].
    #[arg(long, value_name = "DIR", env = "OASIS_NODE_STATE")]
    pub state: Option<PathBuf>,
    /// Serial port of a device without an operating system, which becomes a node under its own name; 115200 baud by default. May be repeated.
    #[arg(long, value_name = "PORT[,BAUD]", value_parser = serial)]
    pub serial: Vec<LineAddress>,
    /// Address of this host that such devices send to. May be repeated.
    #[arg(long, value_name = "udp:HOST:PORT | tcp:HOST:PORT", env = "OASIS_DEVICE", value_delimiter = ',')]
    pub device: Vec<LineAddress>,
}

/// Parses a port with its rate.
fn serial(text: &str) -> Result<LineAddress, &'static str> {
    LineAddress::serial(text)
        .map_err(|_| "write the file of a port, and its rate after a comma, such as /dev/ttyUSB0,115200")
}

/// Refuses `--peer`: a TEM without it would silently lack DACs that it listed before.
fn removed_peer(_: &str) -> Result<String, &'static str> {
    Err(
        "TEMs no longer exchange their lists: name each TEM at each DAC instead (--tem URL --tem URL, tem.url)",
    )
}

#[derive(Debug, Args)]
pub struct Common {
    /// Configuration file; flags override it. docs/reference/oasis.toml documents its defaults [default: oasis/oasis.toml in ~/.config, if it exists].
    #[arg(long, value_name = "FILE", env = "OASIS_CONFIG")]
    pub config: Option<PathBuf>,
    /// Print one line of JSON with the addresses on standard output when ready, for scripts.
    #[arg(long)]
    pub ready_json: bool,
}

#[derive(Debug, Args)]
pub struct Tem {
    #[command(flatten)]
    pub common: Common,
    #[command(flatten)]
    pub page: PageAddress,
    /// Refuses the flag of earlier versions.
    #[arg(long = "peer", value_name = "URL", env = "OASIS_PEER", hide = true, value_parser = removed_peer)]
    pub peer: Option<String>,
    /// Announce this TEM in the local network, so that `--tem mdns:` finds it.
    #[arg(long, env = "OASIS_MDNS")]
    pub mdns: bool,
}

#[derive(Debug, Args)]
pub struct Relay {
    #[command(flatten)]
    pub common: Common,
    #[command(flatten)]
    pub page: PageAddress,
    /// A DAC to relay: http://HOST:PORT of its page, or https://; may be given several times.
    #[arg(long = "upstream", value_name = "URL", env = "OASIS_UPSTREAM", value_delimiter = ',', value_parser = upstream)]
    pub upstreams: Vec<DacAddress>,
    /// TEM whose DACs are all relayed, and that lists this relay: http://HOST:PORT of its page, or https://. May be repeated.
    #[arg(long, value_name = "URL", env = "OASIS_TEM", value_delimiter = ',')]
    pub tem: Vec<DacAddress>,
    /// Name of this relay in the TEM [default: the host's name with -relay].
    #[arg(long, value_name = "NAME", env = "OASIS_DAC_NAME")]
    pub dac_name: Option<DacName>,
    /// CA of their certificates, with https:// [default: those that this system trusts].
    #[arg(long, value_name = "FILE", env = "OASIS_CA")]
    pub ca: Option<PathBuf>,
    /// File with a token that they accept, which others cannot read [default: OASIS_TOKEN or OASIS_TOKEN_FILE].
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<PathBuf>,
}

/// Parses a name of a node as a DAC does. An empty variable has no effect, as that of a program that links the node.
fn node_name(text: &str) -> Result<String, String> {
    let is_variable = || env::var_os("OASIS_NODE_NAME").is_some_and(|value| value.is_empty());
    match text {
        "" if is_variable() => Ok(String::new()),
        "" => Err("the name of a node is not empty: leave out --name for that of the host".into()),
        text if text.len() > MAX_NODE_NAME_BYTES => Err(format!(
            "the name of a node has at most {MAX_NODE_NAME_BYTES} bytes, and this one {}",
            text.len()
        )),
        text if text.contains(char::is_control) => {
            Err(format!("the name of a node has no control characters: {}", Visible(text)))
        }
        text if text.contains(['/', '*']) => Err(format!(
            "the name of a node has no / and no *, which patterns such as NODE/* would take for theirs: {text}"
        )),
        text => Ok(text.into()),
    }
}

/// Clap names the option alone, also if the address is of the environment.
fn upstream(text: &str) -> Result<DacAddress, String> {
    text.parse().map_err(|remedy| format!("{remedy} (--upstream, OASIS_UPSTREAM)"))
}

#[derive(Debug, Args)]
pub struct PageAddress {
    /// Address of page, API and doors [default: 127.0.0.1:7070].
    #[arg(long, value_name = "HOST:PORT", env = "OASIS_LISTEN")]
    pub listen: Option<String>,
    /// Folder of accounts and audit log, created if it does not exist [default: ~/.local/state/oasis/access].
    #[arg(long, value_name = "DIR", env = "OASIS_ACCESS")]
    pub access: Option<String>,
    /// Requirement for users of this host: open (none), or token (a link that is printed, or the token in the access folder) [default: open].
    #[arg(long, value_name = "open | token", env = "OASIS_LOCAL", value_parser = local_access)]
    pub local: Option<LocalAccess>,
    /// Certificate of the DAC: page, API, doors and data channel speak TLS [default: none; needed beyond loopback].
    #[arg(long, value_name = "FILE", env = "OASIS_TLS_CERTIFICATE", requires = "tls_key")]
    pub tls_certificate: Option<PathBuf>,
    /// Private key of that certificate.
    #[arg(long, value_name = "FILE", env = "OASIS_TLS_KEY", requires = "tls_certificate")]
    pub tls_key: Option<PathBuf>,
    /// Listen beyond loopback without TLS too, and let everybody who can connect do everything without signing in.
    #[arg(long, env = "OASIS_INSECURE")]
    pub insecure: bool,
}

#[derive(Debug, Args)]
pub struct Addresses {
    #[command(flatten)]
    pub page: PageAddress,
    /// Address that nodes connect to [default: 127.0.0.1:7071].
    #[arg(long, value_name = "HOST:PORT", env = "OASIS_CHANNEL_LISTEN")]
    pub channel_listen: Option<String>,
    /// Folder of the archive, created if it does not exist [default: of oasis up ~/.local/share/oasis/archive; otherwise none: samples are kept in bounded memory].
    #[arg(long, value_name = "DIR", env = "OASIS_ARCHIVE")]
    pub archive: Option<String>,
    /// File of rules that the DAC evaluates, or a directory of *.rules; may be repeated. Their alarms lie beside the archive unless rules.directory says where [default: none].
    #[arg(long, value_name = "FILE", env = "OASIS_RULES", value_delimiter = ',')]
    pub rules: Vec<String>,
    /// NATS JetStream that gets a copy of each sample: nats://HOST:PORT or tls://HOST:PORT, several with commas; the configuration has the credentials (nats) [default: none].
    #[arg(long, value_name = "URL", env = "OASIS_NATS")]
    pub nats: Option<String>,
    /// DDS domain, 0 to 232, on whose topics samples are published; the configuration has the interfaces (dds) [default: none].
    #[arg(long, value_name = "DOMAIN", env = "OASIS_DDS", value_parser = clap::value_parser!(u16).range(..=232))]
    pub dds: Option<u16>,
    /// Name of a node of the DAC itself, which reports what the DAC's threads do, such as 'dac' [default: none].
    #[arg(long, value_name = "NAME", env = "OASIS_OWN_NODE")]
    pub own_node: Option<String>,
    /// Let nodes send samples as datagrams too, to the same port by UDP.
    #[arg(long, env = "OASIS_UDP")]
    pub udp: bool,
    /// CA of the nodes: each must show a certificate of it [default: none; nodes need no certificate].
    #[arg(long, value_name = "FILE", env = "OASIS_NODE_CA")]
    pub node_ca: Option<PathBuf>,
    /// Folder of a CA (oasis ca init): the DAC enrolls nodes with it, and requires a certificate of it [default: none].
    #[arg(long, value_name = "DIR", env = "OASIS_CA_DIR")]
    pub ca_dir: Option<PathBuf>,
    /// TEM that lists this DAC, so that tools find it by name: http://HOST:PORT of its page, or https://. May be repeated: each of them lists it [default: only the DAC's own].
    #[arg(long, value_name = "URL", env = "OASIS_TEM", value_delimiter = ',')]
    pub tem: Vec<DacAddress>,
    /// Name of this DAC in the TEM [default: the host's name].
    #[arg(long, value_name = "NAME", env = "OASIS_DAC_NAME")]
    pub dac_name: Option<DacName>,
}

/// Parses `access.local`.
fn local_access(text: &str) -> Result<LocalAccess, String> {
    match text {
        "open" => Ok(LocalAccess::Open),
        "token" => Ok(LocalAccess::Token),
        _ => Err("write open or token".into()),
    }
}

#[derive(Debug, Args)]
pub struct Probes {
    /// Name of the node [default: the host's name].
    #[arg(long, env = "OASIS_NODE_NAME", value_parser = node_name)]
    pub name: Option<String>,
    #[arg(long = "probe", value_name = "PROBE[(PARAMETER=VALUE,…)][=INSTANCE][@HERTZ]", help = crate::live::probe_choice::help())]
    pub probes: Vec<String>,
    /// Samples of each periodic probe; then `oasis node` sends them and ends [default: no end].
    #[arg(long, value_name = "N", env = "OASIS_FLUSHES")]
    pub flushes: Option<u64>,
    /// Identity of the node across restarts [default: derived from host and name].
    #[arg(long, env = "OASIS_NODE_UUID")]
    pub uuid: Option<Uuid>,
    /// Transport of samples to the DAC: tcp; udp, which may lose samples but never waits; or nats or dds (`oasis node` only) [default: tcp].
    #[arg(long, env = "OASIS_CHANNEL")]
    pub channel: Option<Channel>,
    /// CA of the DAC's certificate, with tls:// [default: those that this system trusts].
    #[arg(long, value_name = "FILE", env = "OASIS_CA")]
    pub ca: Option<PathBuf>,
    /// Certificate of the node, for a DAC that requires one.
    #[arg(long, value_name = "FILE", env = "OASIS_CERTIFICATE", requires = "key")]
    pub certificate: Option<PathBuf>,
    /// Private key of that certificate.
    #[arg(long, value_name = "FILE", env = "OASIS_KEY", requires = "certificate")]
    pub key: Option<PathBuf>,
    /// Folder for samples that are not safe at the DAC yet: they survive this process. Without it they are kept only in memory.
    #[arg(long, value_name = "DIR", alias = "spool-directory", env = "OASIS_SPOOL_DIRECTORY")]
    pub spool_dir: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct List {
    /// Only instances whose NODE/INSTANCE contains this text. Without it, the instances that rules compute are one row for each node.
    pub text: Option<String>,
    #[command(flatten)]
    pub located: Located,
    /// List DACs instead: those of the TEM, or those that have registered at the DAC of --url.
    #[arg(long, conflicts_with = "text")]
    pub dacs: bool,
    #[command(flatten)]
    pub output: OutputFlags,
}

#[derive(Debug, Args)]
pub struct Loss {
    /// Only instances whose NODE/INSTANCE contains this text.
    pub text: Option<String>,
    #[command(flatten)]
    pub located: Located,
    #[command(flatten)]
    pub output: OutputFlags,
}

#[derive(Debug, Args)]
pub struct SignInLink {
    #[command(flatten)]
    pub server: Server,
    /// Folder of accounts of the DAC [default: ~/.local/state/oasis/access].
    #[arg(long, value_name = "DIR", env = "OASIS_ACCESS")]
    pub access: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct Handlers {
    #[command(subcommand)]
    pub act: Option<HandlersAct>,
    #[command(flatten)]
    pub located: Located,
    #[command(flatten)]
    pub output: OutputFlags,
}

#[derive(Debug, Subcommand)]
pub enum HandlersAct {
    /// Start a handler; nothing happens if it runs.
    Start {
        /// Its name, as `oasis handlers` lists it.
        name: String,
    },
    /// Stop a handler until it is started again or the DAC restarts.
    Stop {
        /// Its name, as `oasis handlers` lists it.
        name: String,
    },
}

#[derive(Debug, Args)]
pub struct Notify {
    #[command(subcommand)]
    pub act: NotifyAct,
    #[command(flatten)]
    pub located: Located,
}

#[derive(Debug, Subcommand)]
pub enum NotifyAct {
    /// List the destinations: their state, what waits, and the last error.
    List {
        #[command(flatten)]
        output: OutputFlags,
    },
    /// Send a test to a destination and wait for its answer.
    Test {
        /// Its name, as `oasis notify list` shows it.
        name: String,
    },
}

#[derive(Debug, Args)]
pub struct Threads {
    /// From now on: a number from 1 to 256, 0 for one a core, or auto for as many as the load needs, up to one a core.
    #[arg(value_name = "N | auto", allow_negative_numbers = true)]
    pub choice: Option<ShardChoice>,
    #[command(flatten)]
    pub located: Located,
    #[command(flatten)]
    pub output: OutputFlags,
}

#[derive(Debug, Args)]
pub struct Tail {
    /// NODE/INSTANCE, where * matches any text ('plant-7/*') [default: all online instances; with --from or --last offline ones too].
    pub instances: Vec<Target>,
    #[command(flatten)]
    pub located: Located,
    #[command(flatten)]
    pub output: OutputFlags,
    /// Start with the oldest sample in the memory of the DAC.
    #[arg(long)]
    pub from_earliest: bool,
    #[arg(help = format!("Start at this time, from the archive if necessary: {}", time::FORMS), long, value_name = "TIME", allow_hyphen_values = true, conflicts_with = "from_earliest")]
    pub from: Option<String>,
    /// Stop at this time (exclusive).
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub to: Option<String>,
    /// Start with this many newest samples of each instance, from the archive if necessary; with --from or --to, of that time span.
    #[arg(short = 'n', long, value_name = "N", conflicts_with = "from_earliest")]
    pub last: Option<u32>,
    /// Delivery: every, latest (skip to the newest after lag), max_hz=N (at most N a second) or envelope=N (N a second, each with minimum and maximum).
    #[arg(long, value_name = "DELIVERY", default_value_t)]
    pub delivery: Delivery,
    /// Action if requested samples were evicted from the DAC's log: gap (continue with the oldest), latest (with the newest) or close.
    #[arg(long, value_name = "POLICY", default_value = "gap")]
    pub overflow: Overflow,
    /// Show the newest samples at once while a node has a backlog, out of order and marked. Each sample is printed once.
    #[arg(long, conflicts_with = "to")]
    pub ahead: bool,
    /// Stop after this many samples.
    #[arg(long, value_name = "N")]
    pub count: Option<u64>,
}

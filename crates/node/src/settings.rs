//! The configuration file of a node: name, identity, DAC, bounds and ready-made probes.
//!
//! The settings are section `[node]` of a TOML file; other programs may have other sections. Environment variables override the file, and
//! the program's own calls override both. `docs/reference/oasis.toml` documents every key.

use crate::{
    ChoiceError, ProbeChoice, ReadyMadeProbe,
    dac_addresses::{DacAddresses, TLS},
};
use oasis_channel::{Receiver, Sender};
use oasis_client::{NodeDacs, TemAddress, TemAddressError, TemAddresses, Tems};
use oasis_probe::{
    Connector, DEFAULT_DATAGRAM, Failover, NodeBuilder, NodeConfig, NodeError, Patience, RealTime,
    TcpConnector, TlsConnector, UdpConnector, host_name, process,
};
use oasis_tem::{DacName, DacNameError};
use oasis_tls::{ClientFiles, TlsError};
use serde::{Deserialize, Serialize};
use std::{
    env, fs, io,
    path::{Path, PathBuf},
    str::FromStr,
    time::Duration,
};
use uuid::Uuid;

/// The default address of a DAC's data channel.
pub const DEFAULT_DAC: &str = "127.0.0.1:7071";

/// `[node]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct NodeSettings {
    /// Unique among the nodes of a DAC. The host's name if empty.
    pub name: String,
    /// As [`NodeConfig::uuid`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uuid: Option<Uuid>,
    /// Data channel of the DAC, `HOST:PORT`, or `tls://HOST:PORT` of one with certificates. With several, the node goes to the
    /// next one when it loses one.
    pub dac: DacAddresses,
    /// Page of a TEM, `http://HOST:PORT` or `https://HOST:PORT`, or of several: they know the DACs, and `dac` is not used.
    #[serde(skip_serializing_if = "TemAddresses::is_empty")]
    pub tem: TemAddresses,
    /// Name of the DAC to connect to first, as the TEM lists it. If absent, the one that has the node, or the first in the TEM's order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dac_name: Option<DacName>,
    /// Authorities of the DAC's certificate, with `tls://`; those of the system if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ca: Option<PathBuf>,
    /// The node's own certificate, for a DAC that requires one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub certificate: Option<PathBuf>,
    /// Its private key, which others must not be able to read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<PathBuf>,
    /// Transport to the DAC.
    pub channel: Channel,
    /// Maximum bytes of a datagram, for [`Channel::Udp`].
    pub datagram_bytes: usize,
    /// As [`NodeConfig::spool_bytes`].
    pub spool_bytes: usize,
    /// As [`NodeConfig::spool_directory`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spool_directory: Option<PathBuf>,
    /// As [`NodeConfig::spool_directory_bytes`].
    pub spool_directory_bytes: u64,
    /// As [`NodeConfig::max_bytes_per_second`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_bytes_per_second: Option<u64>,
    /// As [`NodeConfig::batch_samples`].
    pub batch_samples: usize,
    /// As [`NodeConfig::linger`], in milliseconds.
    pub linger_ms: u64,
    /// As [`NodeConfig::demand`].
    pub demand: bool,
    /// As [`NodeConfig::overhead_budget`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overhead_budget: Option<f64>,
    /// As [`RealTime::cores`], for the collector thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub collector_cores: Option<Vec<usize>>,
    /// As [`RealTime::priority`], for the collector thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub collector_priority: Option<u8>,
    /// As [`RealTime::lock_memory`].
    pub lock_memory: bool,
    /// As [`RealTime::polls`], for the collector thread.
    pub collector_polls: bool,
    /// Samples of each periodic probe ([`NodeBuilder::flushes`]). If absent, there is no end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flushes: Option<u64>,
    /// The ready-made probes. If absent, the program chooses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probes: Option<Vec<ProbeChoice>>,
}

/// The transport between a node and its DAC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Channel {
    /// All samples in one stream.
    Tcp,
    /// Datagrams. A lost one is counted and never sent again.
    Udp,
    /// Messages of NATS, which know the way to the DAC. Only `oasis node` has it, not a node inside another program.
    Nats,
    /// Messages on topics of DDS. The same is true for it.
    Dds,
}

impl FromStr for Channel {
    type Err = &'static str;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "tcp" => Ok(Self::Tcp),
            "udp" => Ok(Self::Udp),
            "nats" => Ok(Self::Nats),
            "dds" => Ok(Self::Dds),
            _ => Err("write tcp, udp, nats or dds"),
        }
    }
}

/// An error in the configuration file, in the environment, or in a chosen probe.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// The file cannot be read.
    #[error("cannot read the configuration {}: {error}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The cause.
        error: io::Error,
    },
    /// The file is not valid TOML, or has unknown keys or wrong values.
    #[error("in the configuration {}: {error}", path.display())]
    Toml {
        /// The file.
        path: PathBuf,
        /// Position and cause.
        error: Box<toml::de::Error>,
    },
    /// An environment variable has an invalid value.
    #[error("the environment variable {variable} is {value:?}: write {wanted}")]
    Variable {
        /// Its name.
        variable: &'static str,
        /// Its value.
        value: String,
        /// The valid values.
        wanted: &'static str,
    },
    /// A text that names no TEM.
    #[error(transparent)]
    Tem(#[from] TemAddressError),
    /// A text that names no DAC.
    #[error(transparent)]
    DacName(#[from] DacNameError),
    /// The settings of the encrypted channel cannot be used.
    #[error("in the settings of the data channel (node.dac, ca, certificate, key): {0}")]
    Tls(#[from] TlsError),
    /// A probe refuses its choice.
    #[error("in probe {probe:?}: {error}")]
    Probe {
        /// The chosen probe.
        probe: String,
        /// The cause.
        error: ChoiceError,
    },
    /// A probe that has no number of flushes.
    #[error("flushes: {0}")]
    Flushes(NodeError),
    /// The program has no ready-made probe of this name.
    #[error("there is no ready-made probe {probe:?} in this program: choose from {known}")]
    UnknownProbe {
        /// The chosen probe.
        probe: String,
        /// The names of the probes that the program has.
        known: String,
    },
}

impl Default for NodeSettings {
    fn default() -> Self {
        let bounds = NodeConfig::default();
        Self {
            name: String::new(),
            uuid: bounds.uuid,
            dac: DEFAULT_DAC.into(),
            tem: TemAddresses::default(),
            dac_name: None,
            ca: None,
            certificate: None,
            key: None,
            channel: Channel::Tcp,
            datagram_bytes: DEFAULT_DATAGRAM,
            spool_bytes: bounds.spool_bytes,
            spool_directory: bounds.spool_directory,
            spool_directory_bytes: bounds.spool_directory_bytes,
            max_bytes_per_second: bounds.max_bytes_per_second,
            batch_samples: bounds.batch_samples,
            linger_ms: bounds.linger.as_millis() as u64,
            demand: bounds.demand,
            overhead_budget: bounds.overhead_budget,
            collector_cores: bounds.real_time.cores,
            collector_priority: bounds.real_time.priority,
            lock_memory: bounds.real_time.lock_memory,
            collector_polls: bounds.real_time.polls,
            flushes: None,
            probes: None,
        }
    }
}

/// The section of the file that a node reads.
#[derive(Default, Deserialize)]
#[serde(default)]
struct File {
    node: NodeSettings,
}

impl NodeSettings {
    /// Reads `file`, or else the file that `OASIS_CONFIG` names, or else the defaults. Then applies the environment variables.
    ///
    /// # Errors
    /// The file cannot be read or parsed, or a variable has an invalid value.
    pub fn load(file: Option<&Path>) -> Result<Self, SettingsError> {
        let named = env::var_os("OASIS_CONFIG").filter(|path| !path.is_empty()).map(PathBuf::from);
        let settings = match file.or(named.as_deref()) {
            Some(path) => Self::read(path)?,
            None => Self::default(),
        };
        settings.with_environment(|variable| env::var(variable).ok())
    }

    fn read(path: &Path) -> Result<Self, SettingsError> {
        let path_buf = || path.to_owned();
        let text =
            fs::read_to_string(path).map_err(|error| SettingsError::File { path: path_buf(), error })?;
        let file: File = toml::from_str(&text)
            .map_err(|error| SettingsError::Toml { path: path_buf(), error: Box::new(error) })?;
        Ok(file.node)
    }

    /// Applies `OASIS_NODE_NAME`, `OASIS_NODE_UUID`, `OASIS_DAC`, `OASIS_TEM`, `OASIS_DAC_NAME`, `OASIS_CA`, `OASIS_CERTIFICATE`, `OASIS_KEY`,
    /// `OASIS_CHANNEL` and `OASIS_SPOOL_DIRECTORY`. An empty variable has no effect. `OASIS_DAC` wins over `OASIS_TEM`.
    fn with_environment(
        mut self,
        variable: impl Fn(&'static str) -> Option<String>,
    ) -> Result<Self, SettingsError> {
        let variable = |name| variable(name).filter(|value| !value.is_empty());
        self.name = variable("OASIS_NODE_NAME").unwrap_or(self.name);
        if let Some(addresses) = variable("OASIS_DAC") {
            (self.dac, self.tem) = (addresses.as_str().into(), TemAddresses::default());
        } else if let Some(addresses) = variable("OASIS_TEM") {
            self.tem = addresses.parse()?;
        }
        if let Some(name) = variable("OASIS_DAC_NAME") {
            self.dac_name = Some(name.parse()?);
        }
        let file = |name| variable(name).map(PathBuf::from);
        self.ca = file("OASIS_CA").or(self.ca);
        self.certificate = file("OASIS_CERTIFICATE").or(self.certificate);
        self.key = file("OASIS_KEY").or(self.key);
        self.spool_directory = file("OASIS_SPOOL_DIRECTORY").or(self.spool_directory);
        if let Some(value) = variable("OASIS_CHANNEL") {
            let invalid =
                |wanted| SettingsError::Variable { variable: "OASIS_CHANNEL", value: value.clone(), wanted };
            self.channel = value.parse().map_err(invalid)?;
        }
        if let Some(value) = variable("OASIS_NODE_UUID") {
            let wanted = "a UUID such as 6f1b7c1e-3a55-4d5e-8c57-2f6e4f1f9d01";
            let invalid =
                |_| SettingsError::Variable { variable: "OASIS_NODE_UUID", value: value.clone(), wanted };
            self.uuid = Some(value.parse().map_err(invalid)?);
        }
        Ok(self)
    }

    /// Lets TEMs name the DACs: `http://HOST:PORT` of a page, or several with commas between them.
    ///
    /// ```
    /// # use oasis_ei_node::NodeSettings;
    /// let settings = NodeSettings { name: "pump".into(), ..NodeSettings::default() }.with_tem("http://192.0.2.1:7000")?;
    /// let node = settings.builder(oasis_ei_node::PROBES)?;
    /// let connector = settings.connector();
    /// # Ok::<(), oasis_ei_node::SettingsError>(())
    /// ```
    ///
    /// # Errors
    /// If one of them is no address.
    pub fn with_tem(self, addresses: &str) -> Result<Self, SettingsError> {
        let tem: TemAddresses = addresses.parse()?;
        match tem.is_empty() {
            true => Err(TemAddressError::Invalid(addresses.into()).into()),
            false => Ok(Self { tem, ..self }),
        }
    }

    /// Chooses the DAC to connect to first by its name in the TEM.
    ///
    /// # Errors
    /// If it is no name of a DAC.
    pub fn with_dac_name(self, name: &str) -> Result<Self, SettingsError> {
        Ok(Self { dac_name: Some(name.parse()?), ..self })
    }

    /// Returns the settings of a child process that inherits them: its name is `NAME-PID`, and its identity follows from that.
    #[must_use]
    pub fn in_child(self) -> Self {
        Self { name: process::name_in_child(&self.name()), uuid: None, ..self }
    }

    /// Returns the configured name, or the host's name.
    pub fn name(&self) -> String {
        if self.name.is_empty() { host_name() } else { self.name.clone() }
    }

    /// Returns the configuration of the node: its bounds and its real-time options.
    pub fn bounds(&self) -> NodeConfig {
        let bounds = NodeConfig::default();
        NodeConfig {
            spool_bytes: self.spool_bytes,
            spool_directory: self.spool_directory.clone(),
            spool_directory_bytes: self.spool_directory_bytes,
            max_bytes_per_second: self.max_bytes_per_second,
            batch_samples: self.batch_samples,
            batch_bytes: match self.channel {
                Channel::Tcp | Channel::Nats | Channel::Dds => bounds.batch_bytes,
                // Columns take less room than rows, except in a batch of few samples. A batch that exceeds a datagram goes by TCP.
                Channel::Udp => self.datagram_bytes.saturating_sub(200),
            },
            linger: Duration::from_millis(self.linger_ms),
            uuid: self.uuid,
            demand: self.demand,
            overhead_budget: self.overhead_budget,
            real_time: RealTime {
                cores: self.collector_cores.clone(),
                priority: self.collector_priority,
                lock_memory: self.lock_memory,
                polls: self.collector_polls,
            },
        }
    }

    /// Returns the builder of a node with the chosen probes, looked up in `probes`. The program adds its own probes.
    ///
    /// # Errors
    /// A chosen probe is not in `probes`, or refuses its parameters. The files of an encrypted channel cannot be used.
    pub fn builder(&self, probes: &[ReadyMadeProbe]) -> Result<NodeBuilder, SettingsError> {
        self.check_channel()?;
        let mut builder = NodeBuilder::new(self.name(), self.bounds());
        self.probes.iter().flatten().try_for_each(|choice| choice.add_to(&mut builder, probes))?;
        if let Some(count) = self.flushes {
            let instances: Vec<_> = builder.instances().map(str::to_owned).collect();
            for instance in instances {
                builder.flushes(&instance, count).map_err(SettingsError::Flushes)?;
            }
        }
        Ok(builder)
    }

    /// Returns the connector to the configured DACs, or to those that the configured TEMs know. It asks these when the node has started, on a
    /// thread of its own.
    pub fn connector(&self) -> Box<dyn Connector> {
        match self.node_dacs() {
            Some(dacs) => Box::new(self.failover(&"".into()).following(move || dacs.clone().follow())),
            None => Box::new(self.failover(&self.dac)),
        }
    }

    /// Returns where the node looks for its DACs; none if no TEM is configured.
    pub fn node_dacs(&self) -> Option<NodeDacs> {
        let tems = Tems::new(self.tem.clone(), self.ca.clone());
        let dacs = NodeDacs { tems, named: self.dac_name.clone(), node: self.name() };
        Some(dacs).filter(|_| !self.tem.is_empty())
    }

    /// Returns the connector to another DAC, or to several, with commas between their addresses.
    pub fn connector_to(&self, dac: &str) -> Box<dyn Connector> {
        Box::new(self.failover(&dac.into()))
    }

    /// Returns the connector to these DACs, the first one first. It goes to the next one when an attempt fails or a connection is lost.
    pub fn failover(
        &self,
        dacs: &DacAddresses,
    ) -> Failover<impl FnMut(&str, Patience) -> Box<dyn Connector> + Send + use<>> {
        let (files, channel, datagram_bytes) = (self.client_files(), self.channel, self.datagram_bytes);
        Failover::new(dacs.iter().map(str::to_owned).collect(), move |dac, patience| {
            if let Some(address) = dac.strip_prefix(TLS) {
                let tls = TlsConnector::new(address, files.clone()).with_patience(patience);
                return match channel {
                    Channel::Tcp => Box::new(tls),
                    Channel::Udp => Box::new(UdpConnector::encrypted(tls, datagram_bytes)),
                    Channel::Nats | Channel::Dds => Box::new(Elsewhere),
                };
            }
            let tcp = TcpConnector::new(dac).with_patience(patience);
            match channel {
                Channel::Tcp => Box::new(tcp),
                Channel::Udp => Box::new(UdpConnector::plain(tcp, datagram_bytes)),
                Channel::Nats | Channel::Dds => Box::new(Elsewhere),
            }
        })
    }

    /// Finds at the start what would otherwise fail at each attempt to connect.
    fn check_channel(&self) -> Result<(), SettingsError> {
        let files = self.client_files();
        let is_encrypted = match self.tem.is_empty() {
            true => self.dac.iter().any(|address| address.starts_with(TLS)),
            false => self.tem.iter().any(TemAddress::is_encrypted),
        };
        if !is_encrypted {
            // Variables such as OASIS_CA may be set for other programs; the file is for this one.
            return Ok(());
        }
        files.load()?;
        Ok(())
    }

    fn client_files(&self) -> ClientFiles {
        ClientFiles { ca: self.ca.clone(), certificate: self.certificate.clone(), key: self.key.clone() }
    }
}

/// The connector of a channel that this library does not have.
struct Elsewhere;

impl Connector for Elsewhere {
    fn connect(&mut self) -> io::Result<(Box<dyn Sender>, Box<dyn Receiver>)> {
        let why =
            "the channels nats and dds are for `oasis node`: write tcp or udp (node.channel, OASIS_CHANNEL)";
        Err(io::Error::new(io::ErrorKind::InvalidInput, why))
    }

    fn target(&self) -> String {
        "NATS or DDS".into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PROBES;
    use oasis_probe::Ended;

    fn in_file(text: &str) -> Result<NodeSettings, SettingsError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("node.toml");
        fs::write(&path, text).unwrap();
        NodeSettings::read(&path)
    }

    #[test]
    fn a_file_sets_the_identity_the_dac_and_the_probes_of_a_node() {
        let settings = in_file(
            "[doors]\nlisten = \"0.0.0.0:80\"\n[node]\nname = \"plant-7\"\nuuid = \"6f1b7c1e-3a55-4d5e-8c57-2f6e4f1f9d01\"\n\
             dac = \"192.0.2.7:7071\"\nprobes = [{ probe = \"heartbeat\", instance = \"p\", hertz = 2 }]\n",
        )
        .unwrap();
        assert_eq!((settings.name().as_str(), settings.dac.first()), ("plant-7", "192.0.2.7:7071"));
        assert_eq!(settings.bounds().uuid, settings.uuid);
        settings.builder(PROBES).unwrap();
    }

    #[test]
    fn an_error_in_a_file_names_the_file_and_the_place() {
        for (text, wanted) in [
            ("[node]\nnmae = \"x\"\n", "line 2"),
            ("[node]\nuuid = \"x\"\n", "uuid"),
            ("[node]\nprobes = [{ probe = \"process\", pid = [1] }]\n", "pid"),
        ] {
            let message = in_file(text).unwrap_err().to_string();
            assert!(message.contains(wanted) && message.contains("node.toml"), "{message}");
        }
        let unknown = in_file("[node]\nprobes = [{ probe = \"dance\" }]\n").unwrap();
        let message = unknown.builder(PROBES).err().unwrap().to_string();
        assert!(message.contains("dance") && message.contains("heartbeat"), "{message}");
        assert!(
            NodeSettings::read(Path::new("/nowhere.toml")).unwrap_err().to_string().contains("/nowhere.toml")
        );
    }

    #[test]
    fn environment_variables_override_the_file() {
        let uuid = "6f1b7c1e-3a55-4d5e-8c57-2f6e4f1f9d01";
        let variables = |name| match name {
            "OASIS_NODE_NAME" => Some("b".to_owned()),
            "OASIS_NODE_UUID" => Some(uuid.to_owned()),
            "OASIS_DAC" => Some(String::new()),
            "OASIS_SPOOL_DIRECTORY" => Some("/var/spool/oasis".to_owned()),
            "OASIS_CA" => Some("/etc/oasis/ca.pem".to_owned()),
            _ => None,
        };
        let file = NodeSettings { name: "a".into(), dac: "192.0.2.7:7071".into(), ..NodeSettings::default() };
        let settings = file.with_environment(variables).unwrap();
        assert_eq!((settings.name.as_str(), settings.dac.first()), ("b", "192.0.2.7:7071"));
        assert_eq!(settings.uuid, Some(uuid.parse().unwrap()));
        assert_eq!(settings.spool_directory.as_deref(), Some(Path::new("/var/spool/oasis")));
        assert_eq!(settings.ca.as_deref(), Some(Path::new("/etc/oasis/ca.pem")));
        let wrong = |name| (name == "OASIS_NODE_UUID").then(|| "x".to_owned());
        let message = NodeSettings::default().with_environment(wrong).unwrap_err().to_string();
        assert!(message.contains("OASIS_NODE_UUID"), "{message}");
    }

    #[test]
    fn several_dacs_are_named_in_a_file_in_a_variable_and_by_a_program() {
        let file = in_file("[node]\ndac = [\"a:1\", \"tls://b:2\"]\n").unwrap();
        assert_eq!(file.dac.iter().collect::<Vec<_>>(), ["a:1", "tls://b:2"]);
        let variable = |name| (name == "OASIS_DAC").then(|| "c:3,d:4".to_owned());
        let settings = file.with_environment(variable).unwrap();
        assert_eq!(settings.dac.iter().collect::<Vec<_>>(), ["c:3", "d:4"]);
        let mut connector = settings.connector_to("e:5, tls://f:6");
        assert_eq!((connector.target(), connector.patience()), ("tcp://e:5".into(), Patience::SEVERAL_DACS));
        connector.turn(&Ended::Failed);
        assert_eq!(connector.target(), "tls://f:6");
        assert_eq!(settings.connector_to("e:5").patience(), Patience::ONE_DAC);
        assert!(in_file("[node]\ndac = []\n").unwrap_err().to_string().contains("address"));
    }

    #[test]
    fn tems_are_named_in_a_file_in_a_variable_and_by_a_program() {
        let file = in_file(
            "[node]\nname = \"pump\"\ntem = [\"http://a:1\", \"https://b:2\"]\ndac_name = \"hall-1\"\n",
        )
        .unwrap();
        assert_eq!(file.connector().target(), "TEM");
        let dacs = file.node_dacs().unwrap();
        assert_eq!(
            (dacs.node.as_str(), dacs.tems.addresses().to_string().as_str()),
            ("pump", "http://a:1,https://b:2")
        );
        assert_eq!(dacs.named.unwrap().as_str(), "hall-1");
        let with = |settings: &NodeSettings, variables: &[(&str, &str)]| {
            let value = |name| {
                variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
            };
            settings.clone().with_environment(value).unwrap()
        };
        let other = with(&file, &[("OASIS_TEM", "http://c:3"), ("OASIS_DAC_NAME", "hall-2")]);
        assert_eq!(
            (other.tem.to_string(), other.dac_name.unwrap().to_string()),
            ("http://c:3".into(), "hall-2".into())
        );
        let direct = with(&file, &[("OASIS_TEM", "http://c:3"), ("OASIS_DAC", "d:4")]);
        assert_eq!(direct.connector().target(), "tcp://d:4", "an address wins over a TEM");
        let program =
            NodeSettings::default().with_tem("http://e:5").unwrap().with_dac_name("hall-3").unwrap();
        assert_eq!(program.connector().target(), "TEM");
        assert_eq!(program.connector_to("f:6").target(), "tcp://f:6");
        for wrong in ["127.0.0.1:7071", "http://", "", ","] {
            let refused = NodeSettings::default().with_tem(wrong).unwrap_err().to_string();
            assert!(refused.contains("http://127.0.0.1:7000"), "{refused}");
        }
        let missing = NodeSettings { ca: Some("/nowhere/ca.pem".into()), ..file };
        assert!(missing.builder(PROBES).err().unwrap().to_string().contains("/nowhere/ca.pem"));
    }

    #[test]
    fn an_address_with_tls_is_encrypted_and_its_files_are_checked_at_the_start() {
        let settings = NodeSettings { dac: "tls://dac.example.org:7071".into(), ..NodeSettings::default() };
        assert_eq!(settings.connector().target(), "tls://dac.example.org:7071");
        assert_eq!(settings.connector_to("127.0.0.1:1").target(), "tcp://127.0.0.1:1");
        let refused = |settings: NodeSettings| settings.builder(PROBES).err().unwrap().to_string();
        let missing = NodeSettings { ca: Some("/nowhere/ca.pem".into()), ..settings.clone() };
        assert!(refused(missing).contains("/nowhere/ca.pem"));
        let datagrams = NodeSettings { channel: Channel::Udp, ..settings };
        assert_eq!(datagrams.connector().target(), "udp+tls://dac.example.org:7071");
    }
}

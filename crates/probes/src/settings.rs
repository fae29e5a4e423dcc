//! The configuration file of a node: its name and identity, its DAC, its bounds, its ready-made probes.
//!
//! Section `[node]` of a TOML file that may have others, for other programs. Environment variables win over it, and what a program says itself
//! wins over both. `docs/reference/oasis.toml` documents every key.

use crate::choice::{Choice, ChoiceError, Parameters};
use crate::ready_made::{PROBES, ready_made};
use crate::recorder_choice::RecorderChoice;
use oasis_probe::{
    Connector, DEFAULT_DATAGRAM, Hertz, Importance, NodeBuilder, NodeConfig, RealTime, TcpConnector,
    UdpConnector, host_name,
};
use serde::{Deserialize, Deserializer, Serialize};
use std::{
    collections::BTreeMap,
    env, fs, io,
    path::{Path, PathBuf},
    str::FromStr,
    time::Duration,
};
use uuid::Uuid;

/// Where a DAC listens for nodes unless told otherwise.
pub const DEFAULT_DAC: &str = "127.0.0.1:7071";

/// `[node]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct NodeSettings {
    /// Unique among the nodes of a DAC; empty: the host's name.
    pub name: String,
    /// As [`NodeConfig::uuid`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uuid: Option<Uuid>,
    /// Data channel of the DAC, `HOST:PORT`.
    pub dac: String,
    /// How samples get there.
    pub channel: Channel,
    /// Bytes of a datagram at most, for [`Channel::Udp`].
    pub datagram_bytes: usize,
    /// As [`NodeConfig::spool_bytes`].
    pub spool_bytes: usize,
    /// As [`NodeConfig::spool_directory`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spool_directory: Option<PathBuf>,
    /// As [`NodeConfig::spool_directory_bytes`].
    pub spool_directory_bytes: u64,
    /// As [`NodeConfig::batch_samples`].
    pub batch_samples: usize,
    /// As [`NodeConfig::linger`], in milliseconds.
    pub linger_ms: u64,
    /// As [`NodeConfig::demand`].
    pub demand: bool,
    /// As [`NodeConfig::overhead_budget`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overhead_budget: Option<f64>,
    /// As [`RealTime::cores`], for the thread that collects samples.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub collector_cores: Option<Vec<usize>>,
    /// As [`RealTime::priority`], for the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub collector_priority: Option<u8>,
    /// As [`RealTime::lock_memory`].
    pub lock_memory: bool,
    /// The ready-made probes; when absent, what the program thinks right.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probes: Option<Vec<ProbeChoice>>,
}

/// How samples get from a node to its DAC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Channel {
    /// In one stream, all of them.
    Tcp,
    /// As datagrams: one that is lost is counted, and nothing waits for it.
    Udp,
}

impl FromStr for Channel {
    type Err = &'static str;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "tcp" => Ok(Self::Tcp),
            "udp" => Ok(Self::Udp),
            _ => Err("write tcp or udp"),
        }
    }
}

/// One chosen probe.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProbeChoice {
    /// Which ready-made probe.
    pub probe: String,
    /// Instance name; the probe's own name when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instance: Option<String>,
    /// Rate.
    #[serde(default = "once_a_second")]
    pub hertz: Hertz,
    /// How much it matters when rates have to be lowered ([`NodeBuilder::importance`]).
    #[serde(default, skip_serializing_if = "is_zero")]
    pub importance: u8,
    /// Its flight recorder, if it has one ([`NodeBuilder::record`]).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub record: Option<RecorderChoice>,
    /// What else the probe wants to be told. It refuses what it does not know.
    #[serde(flatten, deserialize_with = "texts")]
    pub parameters: Parameters,
}

/// Why a node cannot be made as its file or the environment says.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// No file, or not a readable one.
    #[error("cannot read the configuration {}: {error}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// The file is not what it should be.
    #[error("in the configuration {}: {error}", path.display())]
    Toml {
        /// The file.
        path: PathBuf,
        /// Where, and what.
        error: Box<toml::de::Error>,
    },
    /// A variable that means nothing.
    #[error("the environment variable {variable} is {value:?}: write {wanted}")]
    Variable {
        /// Its name.
        variable: &'static str,
        /// What it is.
        value: String,
        /// What it can be.
        wanted: &'static str,
    },
    /// A probe that cannot be had.
    #[error("in probe {probe:?}: {error}")]
    Probe {
        /// As it was chosen.
        probe: String,
        /// Why.
        error: ChoiceError,
    },
    /// A name that no probe has.
    #[error("there is no ready-made probe {probe:?}: choose from {}", PROBES.map(|probe| probe.name).join(", "))]
    UnknownProbe {
        /// As it was chosen.
        probe: String,
    },
}

impl Default for NodeSettings {
    fn default() -> Self {
        let bounds = NodeConfig::default();
        Self {
            name: String::new(),
            uuid: bounds.uuid,
            dac: DEFAULT_DAC.into(),
            channel: Channel::Tcp,
            datagram_bytes: DEFAULT_DATAGRAM,
            spool_bytes: bounds.spool_bytes,
            spool_directory: bounds.spool_directory,
            spool_directory_bytes: bounds.spool_directory_bytes,
            batch_samples: bounds.batch_samples,
            linger_ms: bounds.linger.as_millis() as u64,
            demand: bounds.demand,
            overhead_budget: bounds.overhead_budget,
            collector_cores: bounds.real_time.cores,
            collector_priority: bounds.real_time.priority,
            lock_memory: bounds.real_time.lock_memory,
            probes: None,
        }
    }
}

/// The file as far as it concerns a node.
#[derive(Default, Deserialize)]
#[serde(default)]
struct File {
    node: NodeSettings,
}

impl NodeSettings {
    /// What the file says, or without one that of `OASIS_CONFIG`, or the defaults; and then what the environment says.
    pub fn load(file: Option<&Path>) -> Result<Self, SettingsError> {
        let named = env::var_os("OASIS_CONFIG").map(PathBuf::from);
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

    /// Variables win: `OASIS_NODE_NAME`, `OASIS_NODE_UUID`, `OASIS_DAC`, `OASIS_CHANNEL`, `OASIS_SPOOL_DIRECTORY`. An empty one counts as none.
    fn with_environment(
        mut self,
        variable: impl Fn(&'static str) -> Option<String>,
    ) -> Result<Self, SettingsError> {
        let variable = |name| variable(name).filter(|value| !value.is_empty());
        self.name = variable("OASIS_NODE_NAME").unwrap_or(self.name);
        self.dac = variable("OASIS_DAC").unwrap_or(self.dac);
        self.spool_directory = variable("OASIS_SPOOL_DIRECTORY").map(PathBuf::from).or(self.spool_directory);
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

    /// The configured name, or the host's.
    pub fn name(&self) -> String {
        if self.name.is_empty() { host_name() } else { self.name.clone() }
    }

    /// Bounds for the node.
    pub fn bounds(&self) -> NodeConfig {
        let bounds = NodeConfig::default();
        NodeConfig {
            spool_bytes: self.spool_bytes,
            spool_directory: self.spool_directory.clone(),
            spool_directory_bytes: self.spool_directory_bytes,
            batch_samples: self.batch_samples,
            batch_bytes: match self.channel {
                Channel::Tcp => bounds.batch_bytes,
                // Columns take less than rows, but for a batch of few: then the larger ones go by TCP.
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
            },
        }
    }

    /// A node with the ready-made probes; the program adds its own.
    pub fn builder(&self) -> Result<NodeBuilder, SettingsError> {
        let mut builder = NodeBuilder::new(self.name(), self.bounds());
        self.probes.iter().flatten().try_for_each(|choice| choice.add_to(&mut builder))?;
        Ok(builder)
    }

    /// The way to its DAC.
    pub fn connector(&self) -> Box<dyn Connector> {
        self.connector_to(&self.dac)
    }

    /// The way to another DAC.
    pub fn connector_to(&self, dac: &str) -> Box<dyn Connector> {
        match self.channel {
            Channel::Tcp => Box::new(TcpConnector::new(dac)),
            Channel::Udp => Box::new(UdpConnector::new(dac, self.datagram_bytes)),
        }
    }
}

impl ProbeChoice {
    /// A probe as it is when nothing is said about it.
    pub fn of(probe: &str) -> Self {
        Self {
            probe: probe.into(),
            instance: None,
            hertz: once_a_second(),
            importance: 0,
            record: None,
            parameters: Parameters::default(),
        }
    }

    fn add_to(&self, node: &mut NodeBuilder) -> Result<(), SettingsError> {
        let named = || self.probe.clone();
        let probe = ready_made(&self.probe).ok_or_else(|| SettingsError::UnknownProbe { probe: named() })?;
        let choice =
            Choice { instance: self.instance.as_deref(), hertz: self.hertz, parameters: &self.parameters };
        let refused = |error| SettingsError::Probe { probe: named(), error };
        let before = node.instances().count();
        probe.add(node, &choice).map_err(refused)?;
        // One choice may be several instances: a disk each, a network interface each.
        let added: Vec<_> = node.instances().skip(before).map(str::to_owned).collect();
        for instance in added {
            self.refine(node, &instance).map_err(refused)?;
        }
        Ok(())
    }

    fn refine(&self, node: &mut NodeBuilder, instance: &str) -> Result<(), ChoiceError> {
        node.importance(instance, Importance(self.importance))?;
        if let Some(record) = &self.record {
            node.record(instance, &record.recorder()?)?;
        }
        Ok(())
    }
}

/// A number means what it looks like: `pid = 4711` is as good as `pid = "4711"`.
fn texts<'de, D: Deserializer<'de>>(from: D) -> Result<Parameters, D::Error> {
    let values = BTreeMap::<String, toml::Value>::deserialize(from)?;
    let text = |(name, value)| match value {
        toml::Value::String(text) => Ok((name, text)),
        toml::Value::Integer(_) | toml::Value::Float(_) | toml::Value::Boolean(_) => {
            Ok((name, value.to_string()))
        }
        _ => Err(serde::de::Error::custom(format!("parameter {name} is neither a text nor a number"))),
    };
    values.into_iter().map(text).collect()
}

fn is_zero(importance: &u8) -> bool {
    *importance == 0
}

fn once_a_second() -> Hertz {
    Hertz::ONE
}

#[cfg(test)]
mod tests {
    use super::*;

    fn in_file(text: &str) -> Result<NodeSettings, SettingsError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("node.toml");
        fs::write(&path, text).unwrap();
        NodeSettings::read(&path)
    }

    #[test]
    fn a_file_says_who_the_node_is_and_what_it_watches() {
        let settings = in_file(
            "[doors]\nlisten = \"0.0.0.0:80\"\n[node]\nname = \"plant-7\"\nuuid = \"6f1b7c1e-3a55-4d5e-8c57-2f6e4f1f9d01\"\n\
             dac = \"192.0.2.7:7071\"\nprobes = [{ probe = \"processor\", instance = \"p\", hertz = 2 }]\n",
        )
        .unwrap();
        assert_eq!((settings.name().as_str(), settings.dac.as_str()), ("plant-7", "192.0.2.7:7071"));
        assert_eq!(settings.bounds().uuid, settings.uuid);
        settings.builder().unwrap();
    }

    #[test]
    fn a_file_says_what_matters_and_what_only_a_trigger_sends() {
        let probe = |record: &str| {
            let text = format!(
                "[node]\noverhead_budget = 0.02\nprobes = [{{ probe = \"memory\", importance = 5, record = {record} }}]\n"
            );
            let settings = in_file(&text)?;
            assert_eq!(settings.bounds().overhead_budget, Some(0.02));
            settings.builder().map(drop)
        };
        probe("{ before_s = 2, after_s = 0.5, triggers = [\"physical_memory_avail < 100000\"] }").unwrap();
        for (record, wanted) in [
            ("{ before = 2 }", "before"),
            ("{ before_s = -1 }", "before_s"),
            ("{ triggers = [\"free is low\"] }", "free is low"),
            ("{ triggers = [\"nothing < 1\"] }", "nothing"),
        ] {
            let message = probe(record).unwrap_err().to_string();
            assert!(message.contains(wanted), "{message}");
        }
    }

    #[test]
    fn what_is_wrong_with_a_file_is_said_with_its_place() {
        for (text, wanted) in [
            ("[node]\nnmae = \"x\"\n", "line 2"),
            ("[node]\nuuid = \"x\"\n", "uuid"),
            ("[node]\nprobes = [{ probe = \"process\", pid = [1] }]\n", "pid"),
        ] {
            let message = in_file(text).unwrap_err().to_string();
            assert!(message.contains(wanted) && message.contains("node.toml"), "{message}");
        }
        let unknown = in_file("[node]\nprobes = [{ probe = \"dance\" }]\n").unwrap();
        let message = unknown.builder().err().unwrap().to_string();
        assert!(message.contains("dance") && message.contains("processor"), "{message}");
        assert!(
            NodeSettings::read(Path::new("/nowhere.toml")).unwrap_err().to_string().contains("/nowhere.toml")
        );
    }

    #[test]
    fn the_environment_wins_over_the_file() {
        let uuid = "6f1b7c1e-3a55-4d5e-8c57-2f6e4f1f9d01";
        let variables = |name| match name {
            "OASIS_NODE_NAME" => Some("b".to_owned()),
            "OASIS_NODE_UUID" => Some(uuid.to_owned()),
            "OASIS_DAC" => Some(String::new()),
            "OASIS_SPOOL_DIRECTORY" => Some("/var/spool/oasis".to_owned()),
            _ => None,
        };
        let file = NodeSettings { name: "a".into(), dac: "192.0.2.7:7071".into(), ..NodeSettings::default() };
        let settings = file.with_environment(variables).unwrap();
        assert_eq!((settings.name.as_str(), settings.dac.as_str()), ("b", "192.0.2.7:7071"));
        assert_eq!(settings.uuid, Some(uuid.parse().unwrap()));
        assert_eq!(settings.spool_directory.as_deref(), Some(Path::new("/var/spool/oasis")));
        let wrong = |name| (name == "OASIS_NODE_UUID").then(|| "x".to_owned());
        let message = NodeSettings::default().with_environment(wrong).unwrap_err().to_string();
        assert!(message.contains("OASIS_NODE_UUID"), "{message}");
    }

    #[test]
    fn a_file_gives_parameters_beside_name_and_rate() {
        let choice: ProbeChoice = toml::from_str("probe = \"process\"\npid = 4711\nhertz = 2\n").unwrap();
        assert_eq!(choice.parameters, Parameters::from([("pid".into(), "4711".into())]));
        assert_eq!(toml::from_str::<ProbeChoice>(&toml::to_string(&choice).unwrap()).unwrap(), choice);
    }
}

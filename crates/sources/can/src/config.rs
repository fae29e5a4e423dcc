//! The section `[can]` of the configuration file.

use serde::{Deserialize, Serialize};
use std::{fmt, path::PathBuf};

/// Most interfaces.
const MAX_INTERFACES: usize = 16;
/// Longest name of an interface, in bytes: `IFNAMSIZ` without its zero.
const MAX_INTERFACE_BYTES: usize = 15;
/// Most databases.
const MAX_DATABASES: usize = 64;
const INTERFACE: &str = "{interface}";
/// The word before the path of a socket.
const SOCKET: &str = "socket:";

/// The settings of the source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CanConfig {
    /// The interfaces, such as `can0`; `socket:PATH` listens at a Unix socket for datagrams that are frames.
    pub interfaces: Vec<String>,
    /// CAN databases (DBC); the first one that describes a frame counts.
    pub dbc: Vec<PathBuf>,
    /// The node of an interface; `{interface}` stands for its name.
    pub node: String,
    /// Whether each frame is kept as bytes too, in the instance `frames`.
    pub frames: bool,
    /// Bits a second of the buses, from which their load follows; 0 for unknown.
    pub bit_rate: u64,
    /// The same in the data phase of CAN FD; 0 for `bit_rate`.
    pub data_bit_rate: u64,
    /// Most series: each is an instance.
    pub max_series: usize,
}

impl Default for CanConfig {
    fn default() -> Self {
        Self {
            interfaces: Vec::new(),
            dbc: Vec::new(),
            node: "can-{interface}".into(),
            frames: true,
            bit_rate: 0,
            data_bit_rate: 0,
            max_series: 10_000,
        }
    }
}

/// The place that frames come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FrameOrigin {
    /// An interface.
    Interface(String),
    /// A Unix socket.
    Socket(PathBuf),
}

/// A section that cannot work.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadConfig {
    /// A name that no interface has.
    #[error(
        "can.interfaces: {0:?} is no interface of 1 to {MAX_INTERFACE_BYTES} letters such as can0, and no socket:PATH"
    )]
    Interface(String),
    /// More interfaces than are opened.
    #[error("can.interfaces has {0} interfaces, more than {MAX_INTERFACES}")]
    Interfaces(usize),
    /// An interface is named twice.
    #[error("can.interfaces has {0} twice")]
    Repeated(String),
    /// A database cannot be read.
    #[error("can.dbc: {0}")]
    Database(String),
    /// More databases than are read.
    #[error("can.dbc has {0} files, more than {MAX_DATABASES}")]
    Databases(usize),
    /// Two interfaces would have one name.
    #[error("can.node is {0:?}: it needs {{interface}}, and neither / nor *")]
    Node(String),
    /// Nothing could be taken.
    #[error("can.{0} is 0: nothing could be taken")]
    Zero(&'static str),
}

impl fmt::Display for FrameOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Interface(name) => f.write_str(name),
            Self::Socket(path) => write!(f, "{SOCKET}{}", path.display()),
        }
    }
}

impl FrameOrigin {
    fn parse(text: &str) -> Result<Self, BadConfig> {
        let is_letter =
            |letter: char| letter.is_ascii_graphic() && letter != '/' && letter != ':' && letter != '*';
        match text.strip_prefix(SOCKET) {
            Some(path) if !path.is_empty() && !path.contains('\0') => Ok(Self::Socket(path.into())),
            None if (1..=MAX_INTERFACE_BYTES).contains(&text.len()) && text.chars().all(is_letter) => {
                Ok(Self::Interface(text.into()))
            }
            _ => Err(BadConfig::Interface(text.chars().take(200).collect())),
        }
    }

    /// The name of its node.
    pub(crate) fn node_name(&self, template: &str) -> String {
        let name = match self {
            Self::Interface(name) => name.clone(),
            Self::Socket(path) => path.file_stem().unwrap_or_default().to_string_lossy().replace('*', "-"),
        };
        template.replace(INTERFACE, &name)
    }
}

impl CanConfig {
    /// Checks the settings but for the databases.
    pub(crate) fn origins(&self) -> Result<Vec<FrameOrigin>, BadConfig> {
        if self.interfaces.len() > MAX_INTERFACES {
            return Err(BadConfig::Interfaces(self.interfaces.len()));
        }
        if self.dbc.len() > MAX_DATABASES {
            return Err(BadConfig::Databases(self.dbc.len()));
        }
        if !self.node.contains(INTERFACE)
            || self.node.contains(['/', '*'])
            || self.node.chars().any(char::is_control)
        {
            return Err(BadConfig::Node(self.node.clone()));
        }
        if self.max_series == 0 {
            return Err(BadConfig::Zero("max_series"));
        }
        let mut origins = Vec::new();
        for interface in &self.interfaces {
            let origin = FrameOrigin::parse(interface)?;
            let is_known = |known: &FrameOrigin| known.node_name(&self.node) == origin.node_name(&self.node);
            if origins.iter().any(is_known) {
                return Err(BadConfig::Repeated(interface.clone()));
            }
            origins.push(origin);
        }
        Ok(origins)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_that_cannot_work_are_refused_with_a_remedy() {
        let config =
            CanConfig { interfaces: vec!["can0".into(), "socket:/run/a.can".into()], ..CanConfig::default() };
        let nodes: Vec<_> =
            config.origins().unwrap().iter().map(|origin| origin.node_name(&config.node)).collect();
        assert_eq!(nodes, ["can-can0", "can-a"]);
        let refused = |change: fn(&mut CanConfig)| {
            let mut config = config.clone();
            change(&mut config);
            config.origins().unwrap_err().to_string()
        };
        for (error, part) in [
            (refused(|config| config.interfaces.push("a/b".into())), "such as can0"),
            (refused(|config| config.interfaces.push("x".repeat(16))), "such as can0"),
            (refused(|config| config.interfaces.push("can0".into())), "twice"),
            (refused(|config| config.interfaces = vec!["a".into(); 17]), "more than 16"),
            (refused(|config| config.dbc = vec!["a".into(); 65]), "more than 64"),
            (refused(|config| config.node = "can".into()), "{interface}"),
            (refused(|config| config.max_series = 0), "max_series"),
        ] {
            assert!(error.contains(part), "{error}");
        }
    }
}

//! The servers of the experiment: which are ready on this machine.

use crate::experiment::Readiness;
use crate::nodejs;
use anyhow::bail;
use serde::{Deserialize, Serialize};
use std::str::FromStr;

/// A server under test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Rival {
    /// DAC and doors: a shard is a worker.
    Oasis,
    /// engine.io under Node's cluster.
    EngineIo,
    /// socketcluster-server under Node's cluster.
    SocketCluster,
}

impl FromStr for Rival {
    type Err = anyhow::Error;

    fn from_str(server: &str) -> anyhow::Result<Self> {
        match server {
            "oasis" => Ok(Self::Oasis),
            "engineio" => Ok(Self::EngineIo),
            "socketcluster" => Ok(Self::SocketCluster),
            other => bail!("no server {other}"),
        }
    }
}

impl Rival {
    /// Its program for Node.js, and the package that it needs.
    pub fn script(self) -> Option<(&'static str, &'static str)> {
        match self {
            Self::Oasis => None,
            Self::EngineIo => Some(("engine.io.js", "engine.io")),
            Self::SocketCluster => Some(("socketcluster.js", "socketcluster-server")),
        }
    }

    /// Whether it is ready, and its version.
    pub fn readiness(self) -> Readiness {
        let version = match self.script() {
            None => Ok(format!("of oasis-lab {}", env!("CARGO_PKG_VERSION"))),
            Some((program, package)) => nodejs::program(&format!("mueller/{program}"))
                .and_then(|()| nodejs::package(package))
                .and_then(|package| Ok(format!("{package}, {}", nodejs::version()?))),
        };
        version.map_or_else(|error| Readiness::Absent(format!("{error:#}")), Readiness::Ready)
    }
}

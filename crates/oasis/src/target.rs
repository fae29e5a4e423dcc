//! `NODE/INSTANCE` as typed on the command line.

use crate::visible::Visible;
use anyhow::bail;
use oasis_archive::History;
use std::{fmt, str::FromStr};

/// A probe instance by its names.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Target {
    /// Node name.
    pub node: String,
    /// Instance name.
    pub instance: String,
}

impl FromStr for Target {
    type Err = String;
    /// The node ends at the first slash: instance names such as `network/eth0` contain some.
    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once('/') {
            Some((node, instance)) if !node.is_empty() && !instance.is_empty() => {
                Ok(Self { node: node.into(), instance: instance.into() })
            }
            _ => Err("write NODE/INSTANCE, such as my-host/processor".into()),
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", Visible(&self.node), Visible(&self.instance))
    }
}

/// Refuses names that an archive has nothing of.
pub fn known(history: &History, targets: &[Target]) -> anyhow::Result<Vec<Target>> {
    let names = history.instances()?;
    let is_known = |target: &&Target| {
        names.iter().any(|(node, instance)| *node == target.node && *instance == target.instance)
    };
    match targets.iter().find(|target| !is_known(target)) {
        Some(unknown) => {
            bail!("the archive has nothing of {unknown}: `oasis export` without names writes all it has")
        }
        None => Ok(targets.to_vec()),
    }
}

/// Where a DAC takes samples, as it is typed.
pub fn data_channel(text: &str) -> Result<String, String> {
    let is_address =
        |(host, port): (&str, &str)| !host.is_empty() && !host.contains('/') && port.parse::<u16>().is_ok();
    match text.rsplit_once(':').is_some_and(is_address) {
        true => Ok(text.into()),
        false => Err("write HOST:PORT of the data channel, such as 127.0.0.1:7071; the addresses of page and WebSocket, http:// and ws://, are others".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_data_channel_is_no_url() {
        for address in ["127.0.0.1:7071", "dac.local:1", "[::1]:7071"] {
            assert_eq!(data_channel(address).as_deref(), Ok(address));
        }
        for other in ["", "127.0.0.1", ":7071", "dac:port", "ws://127.0.0.1:7070/ws", "http://127.0.0.1:7070"]
        {
            assert!(data_channel(other).unwrap_err().contains("HOST:PORT"), "{other}");
        }
    }

    #[test]
    fn the_node_ends_at_the_first_slash() {
        let target = Target { node: "plant".into(), instance: "network/eth0".into() };
        assert_eq!("plant/network/eth0".parse(), Ok(target));
        assert!(
            "plant".parse::<Target>().is_err()
                && "/x".parse::<Target>().is_err()
                && "x/".parse::<Target>().is_err()
        );
    }
}

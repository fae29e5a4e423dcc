//! The file of nodes: who was enrolled, with which keys, and what was revoked.

use crate::{secret::Digest, time_text::Time};
use oasis_wire::quantity::Nanos;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeMap;

/// Version of the format.
const VERSION: u32 = 1;
/// Most nodes in the file.
const MAX_NODES: usize = 10_000;
/// Certificates of a node that are remembered, newest last.
const MAX_CERTIFICATES: usize = 4;
/// Longest name of a node, bytes.
const MAX_NAME_BYTES: usize = 1_024;

/// The content of `nodes.toml`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NodeRegister {
    version: u32,
    #[serde(default)]
    nodes: BTreeMap<String, EnrolledNode>,
}

/// A node by the name of its certificates.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EnrolledNode {
    /// Certificates that became valid until then are refused, unless they were enrolled later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revoked: Option<Time>,
    /// Certificates that the DAC has issued, newest last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub certificates: Vec<EnrolledCertificate>,
}

/// A certificate that the DAC has issued.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EnrolledCertificate {
    /// SHA-256 of the certificate.
    #[serde(with = "digest")]
    pub sha256: Digest,
    /// SHA-256 of its public key.
    #[serde(with = "digest")]
    pub key: Digest,
    /// When it was issued.
    pub enrolled: Time,
    /// When it becomes valid.
    pub begins: Time,
    /// When it expires.
    pub ends: Time,
    /// Principal that permitted it: `program:enroll-plant-7`.
    pub by: String,
    /// When it was revoked; absent if it was not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revoked: Option<Time>,
}

/// A certificate that a node has shown.
#[derive(Debug, Clone, Copy)]
pub struct ShownCertificate<'a> {
    /// Its common name.
    pub name: &'a str,
    /// SHA-256 of it.
    pub sha256: Digest,
    /// SHA-256 of its public key.
    pub key: Digest,
    /// When it became valid.
    pub begins: Nanos,
}

/// Why a certificate is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NodeRefusal {
    /// The certificate was revoked.
    #[error("this node's certificate was revoked at {0}: enroll the node again (oasis node enroll)")]
    Revoked(Time),
    /// The name was enrolled with another key, later than this certificate was issued.
    #[error(
        "the node was enrolled with another key at {0}: use that one, or revoke it (oasis node revoke) and enroll again"
    )]
    AnotherKey(Time),
    /// The certificate may have been revoked meanwhile.
    #[error("this DAC has a copy of the accounts that was not renewed for too long: see its health")]
    Outdated,
}

/// Why nodes cannot be as they would be.
#[derive(Debug, thiserror::Error)]
pub enum NodeChangeError {
    /// A version of the file that this program does not know.
    #[error("version {0} of the file is unknown: this program knows version {VERSION}")]
    Version(u32),
    /// The node has a key that is not revoked.
    #[error(
        "node {name:?} was enrolled at {at} with another key: revoke it first (oasis node revoke {name:?})"
    )]
    Enrolled {
        /// Its name.
        name: String,
        /// When.
        at: Time,
    },
    /// Whoever has copied a revoked key must not get a certificate for it.
    #[error(
        "the key of node {name:?} was revoked at {at}: remove the node's folder (its node.key), so that enrolling makes another key"
    )]
    RevokedKey {
        /// Its name.
        name: String,
        /// When.
        at: Time,
    },
    /// A name that no node can have.
    #[error("the name of a node has 1 to {MAX_NAME_BYTES} bytes and no control characters")]
    Name,
    /// A bound is reached.
    #[error("there are {MAX_NODES} nodes, as many as are allowed: remove some from nodes.toml")]
    TooMany,
}

impl Default for NodeRegister {
    fn default() -> Self {
        Self { version: VERSION, nodes: BTreeMap::new() }
    }
}

impl NodeRegister {
    /// Returns the nodes by name.
    pub fn nodes(&self) -> &BTreeMap<String, EnrolledNode> {
        &self.nodes
    }

    /// Decides about a certificate of an authority that the DAC trusts.
    ///
    /// # Errors
    /// If it, or all certificates of its name until then, were revoked; or if the name was enrolled with another key since.
    pub fn check(&self, shown: ShownCertificate<'_>) -> Result<(), NodeRefusal> {
        let Some(node) = self.nodes.get(shown.name) else { return Ok(()) };
        if let Some(known) = node.certificates.iter().find(|known| known.sha256 == shown.sha256) {
            return known.revoked.map_or(Ok(()), |time| Err(NodeRefusal::Revoked(time)));
        }
        if let Some(time) = node.revoked.filter(|time| shown.begins <= time.0) {
            return Err(NodeRefusal::Revoked(time));
        }
        let is_later =
            |known: &&EnrolledCertificate| known.key != shown.key && known.begins.0 >= shown.begins;
        match node.active().find(is_later) {
            Some(known) => Err(NodeRefusal::AnotherKey(known.enrolled)),
            None => Ok(()),
        }
    }

    /// Checks that a name may be enrolled with a key.
    ///
    /// # Errors
    /// If the key was revoked; if the name has another key that is neither revoked nor expired, or cannot be one.
    pub fn check_new(&self, name: &str, key: Digest, now: Nanos) -> Result<(), NodeChangeError> {
        if !is_node_name(name) {
            return Err(NodeChangeError::Name);
        }
        let Some(node) = self.nodes.get(name) else { return Ok(()) };
        let revoked =
            node.certificates.iter().filter(|known| known.key == key).find_map(|known| known.revoked);
        if let Some(at) = revoked {
            return Err(NodeChangeError::RevokedKey { name: name.into(), at });
        }
        match node.active().find(|known| known.key != key && known.ends.0 > now) {
            Some(known) => Err(NodeChangeError::Enrolled { name: name.into(), at: known.enrolled }),
            None => Ok(()),
        }
    }

    /// Adds a certificate of a node.
    ///
    /// # Errors
    /// As [`NodeRegister::check_new`], or if there are too many nodes.
    pub fn enroll(&mut self, name: &str, certificate: EnrolledCertificate) -> Result<(), NodeChangeError> {
        self.check_new(name, certificate.key, certificate.enrolled.0)?;
        let certificates = &mut self.nodes.entry(name.into()).or_default().certificates;
        let surplus = (certificates.len() + 1).saturating_sub(MAX_CERTIFICATES);
        certificates.drain(..surplus);
        certificates.push(certificate);
        self.validate()
    }

    /// Revokes all certificates of a name, also those that another tool has issued until now. Returns how many of the DAC's own there were.
    ///
    /// # Errors
    /// If the name cannot be one, or there are too many nodes.
    pub fn revoke(&mut self, name: &str, now: Nanos) -> Result<usize, NodeChangeError> {
        if !is_node_name(name) {
            return Err(NodeChangeError::Name);
        }
        // Whole seconds, as in the file and in certificates.
        let time = Time(Nanos(now.0 - now.0 % 1_000_000_000));
        let node = self.nodes.entry(name.into()).or_default();
        node.revoked = Some(time);
        let mut count = 0;
        for certificate in node.certificates.iter_mut().filter(|known| known.revoked.is_none()) {
            certificate.revoked = Some(time);
            count += 1;
        }
        self.validate()?;
        Ok(count)
    }

    /// Checks bounds. Whatever was read or changed passes this.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn validate(&self) -> Result<(), NodeChangeError> {
        if self.version != VERSION {
            return Err(NodeChangeError::Version(self.version));
        }
        if self.nodes.len() > MAX_NODES { Err(NodeChangeError::TooMany) } else { Ok(()) }
    }

    /// The same, and checks each name and the number of certificates: for a register from another process.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub(crate) fn validate_strictly(&self) -> Result<(), NodeChangeError> {
        self.validate()?;
        for (name, node) in &self.nodes {
            let is_text = |by: &str| by.len() <= MAX_NAME_BYTES && !by.contains(char::is_control);
            if !is_node_name(name) || !node.certificates.iter().all(|known| is_text(&known.by)) {
                return Err(NodeChangeError::Name);
            }
            if node.certificates.len() > MAX_CERTIFICATES {
                return Err(NodeChangeError::TooMany);
            }
        }
        Ok(())
    }
}

fn is_node_name(name: &str) -> bool {
    !name.is_empty() && name.len() <= MAX_NAME_BYTES && !name.contains(char::is_control)
}

impl EnrolledNode {
    /// Returns the certificates that are not revoked, newest last.
    pub fn active(&self) -> impl Iterator<Item = &EnrolledCertificate> {
        self.certificates.iter().filter(|known| known.revoked.is_none())
    }
}

/// A digest in the file.
mod digest {
    use super::{Deserialize, Deserializer, Digest, Serializer};
    use serde::de::Error as _;

    pub(super) fn serialize<S: Serializer>(digest: &Digest, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(digest)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Digest, D::Error> {
        let text = String::deserialize(from)?;
        Digest::parse(&text).ok_or_else(|| D::Error::custom("not a SHA-256 of 64 hexadecimal digits"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NANOS_PER_SECOND: u64 = 1_000_000_000;

    fn time(second: u64) -> Time {
        Time(Nanos(second * NANOS_PER_SECOND))
    }

    fn enrolled(key: &str, at: u64) -> EnrolledCertificate {
        let sha256 = Digest::of(&format!("{key} {at}"));
        EnrolledCertificate {
            sha256,
            key: Digest::of(key),
            enrolled: time(at),
            begins: time(at - 5),
            ends: time(at + 1_000),
            by: "program:enroll".into(),
            revoked: None,
        }
    }

    fn shown(certificate: &EnrolledCertificate) -> ShownCertificate<'_> {
        let EnrolledCertificate { sha256, key, begins, .. } = *certificate;
        ShownCertificate { name: "plant", sha256, key, begins: begins.0 }
    }

    #[test]
    fn a_name_has_one_key_until_it_is_revoked_or_expires() {
        let mut nodes = NodeRegister::default();
        let (first, renewed, other) = (enrolled("a", 100), enrolled("a", 200), enrolled("b", 300));
        nodes.enroll("plant", first.clone()).unwrap();
        nodes.enroll("plant", renewed.clone()).unwrap();
        assert!(matches!(nodes.enroll("plant", other.clone()), Err(NodeChangeError::Enrolled { .. })));
        nodes.enroll("mill", other.clone()).unwrap();
        nodes.clone().enroll("plant", enrolled("b", 2_000)).unwrap();
        assert_eq!(nodes.revoke("plant", Nanos(250 * NANOS_PER_SECOND + 7)).unwrap(), 2);
        assert_eq!(nodes.check(shown(&first)), Err(NodeRefusal::Revoked(time(250))));
        let again = nodes.enroll("plant", enrolled("a", 400));
        assert!(
            matches!(again, Err(NodeChangeError::RevokedKey { .. })),
            "a copy of the key would be good again"
        );
        nodes.enroll("plant", other.clone()).unwrap();
        assert_eq!(nodes.check(shown(&other)), Ok(()));
        assert_eq!(nodes.check(shown(&renewed)), Err(NodeRefusal::Revoked(time(250))));
    }

    #[test]
    fn certificates_of_other_tools_are_revoked_by_name_and_time() {
        let mut nodes = NodeRegister::default();
        let (before, after) = (enrolled("a", 100), enrolled("a", 300));
        assert_eq!(nodes.check(shown(&before)), Ok(()));
        assert_eq!(nodes.revoke("plant", Nanos(200 * NANOS_PER_SECOND)).unwrap(), 0);
        assert_eq!(nodes.check(shown(&before)), Err(NodeRefusal::Revoked(time(200))));
        assert_eq!(nodes.check(shown(&after)), Ok(()));
    }

    #[test]
    fn an_enrolled_key_is_not_replaced_by_an_older_certificate() {
        let mut nodes = NodeRegister::default();
        nodes.enroll("plant", enrolled("a", 200)).unwrap();
        let [older, later] = [enrolled("b", 100), enrolled("b", 300)];
        assert_eq!(nodes.check(shown(&older)), Err(NodeRefusal::AnotherKey(time(200))));
        assert_eq!(nodes.check(shown(&later)), Ok(()));
    }

    #[test]
    fn what_is_written_is_read_and_bounded() {
        let mut nodes = NodeRegister::default();
        for at in 0..10 {
            nodes.enroll("plant 7", enrolled("a", 100 + at)).unwrap();
        }
        nodes.revoke("replay:*", Nanos(NANOS_PER_SECOND)).unwrap();
        assert_eq!(nodes.nodes()["plant 7"].certificates.len(), MAX_CERTIFICATES);
        let text = toml::to_string(&nodes).unwrap();
        assert_eq!(toml::from_str::<NodeRegister>(&text).unwrap(), nodes, "{text}");
        assert!(matches!(nodes.revoke("", Nanos(0)), Err(NodeChangeError::Name)));
        assert!(matches!(nodes.revoke("a\nb", Nanos(0)), Err(NodeChangeError::Name)));
        for at in 0..MAX_NODES - 2 {
            nodes.nodes.insert(at.to_string(), EnrolledNode::default());
        }
        nodes.validate().unwrap();
        assert!(matches!(nodes.revoke("one more", Nanos(0)), Err(NodeChangeError::TooMany)));
    }
}

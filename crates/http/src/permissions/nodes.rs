//! Nodes: what the accounts say of their certificates, and refusals in the audit log.

use super::Permissions;
use oasis_access::{Digest, Event, Moment, ShownCertificate};
use oasis_channel::Failure;
use oasis_dac::{NodeGuard, RefusedNode};
use oasis_tls::NodeCertificate;
use oasis_wire::quantity::Nanos;
use serde_json::json;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

impl NodeGuard for Permissions {
    fn generation(&self) -> u64 {
        self.access.generation()
    }

    fn check(&self, certificate: &NodeCertificate) -> Result<(), Failure> {
        let shown = ShownCertificate {
            name: &certificate.name,
            sha256: Digest::from_bytes(certificate.fingerprint),
            key: Digest::from_bytes(certificate.key),
            begins: nanos(certificate.begins),
        };
        self.access.check_node(shown).map_err(|refusal| {
            let code = match refusal {
                oasis_access::NodeRefusal::Revoked(_) => "certificate_revoked",
                oasis_access::NodeRefusal::AnotherKey(_) => "key_wrong",
                oasis_access::NodeRefusal::Outdated => "accounts_outdated",
            };
            Failure::new(code, refusal.to_string())
        })
    }

    fn note_seen(&self, certificate: &NodeCertificate) {
        let sha256 = Digest::from_bytes(certificate.fingerprint);
        self.access.note_node(&certificate.name, sha256, Moment::now().wall);
    }

    /// Records a refusal as one of a user: within a budget for each minute, and without waiting for the disk.
    fn note_refused(&self, refused: RefusedNode) {
        let Some(audit) = self.audit.clone() else { return };
        let Some(left_out) = self.refused_nodes.admit(Instant::now()) else { return };
        if let Some(others) = left_out.others() {
            tracing::info!(others, "refused nodes are not in the audit log, because there were too many");
        }
        let event = event(refused);
        tokio::task::spawn_blocking(move || {
            if let Err(error) = audit.append(event) {
                tracing::warn!(%error, "a refused node is not in the audit log");
            }
        });
    }
}

fn event(refused: RefusedNode) -> Event {
    let RefusedNode { address, certificate, name, failure } = refused;
    let principal = match &certificate {
        Some(name) => format!("node:{name}"),
        None => "node".into(),
    };
    Event {
        address: address.to_canonical().to_string(),
        target: name,
        arguments: json!({"code": failure.code, "reason": failure.message}),
        ..Event::new(principal, "node:refused", "refused")
    }
}

/// Nanoseconds since 1970; a time before that is 1970.
pub fn nanos(time: SystemTime) -> Nanos {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    Nanos(u64::try_from(since.as_nanos()).unwrap_or(u64::MAX))
}

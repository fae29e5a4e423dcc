//! Identity of nodes: their certificates, the guard that decides about them, and the nodes that the DAC has refused.

use oasis_channel::Failure;
use oasis_tls::{NodeCertificate, Peer};
use std::{
    collections::VecDeque,
    fmt,
    net::IpAddr,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant, SystemTime},
};

/// Refusals that are remembered, one for each name and code.
const MAX_REFUSALS: usize = 64;
/// Time for which a refusal is reported after it happened last.
const REPORT_TIME: Duration = Duration::from_secs(3_600);

/// Decides about certificates of nodes while they are connected, and records refusals.
pub trait NodeGuard: fmt::Debug + Send + Sync {
    /// Returns a number that changes whenever a decision may have changed.
    fn generation(&self) -> u64;

    /// Decides whether the holder of a certificate may be connected.
    ///
    /// # Errors
    /// Why not, as the node receives it.
    fn check(&self, certificate: &NodeCertificate) -> Result<(), Failure>;

    /// Notes that the holder of a certificate is connected.
    fn note_seen(&self, certificate: &NodeCertificate);

    /// Records a refusal. Must not block.
    fn note_refused(&self, refused: RefusedNode);
}

/// A node that was refused for what it claimed to be.
#[derive(Debug, Clone)]
pub struct RefusedNode {
    /// From where it came.
    pub address: IpAddr,
    /// The name of its certificate, if it has shown one.
    pub certificate: Option<String>,
    /// The name that it claimed; empty if it came to no claim.
    pub name: String,
    /// Why.
    pub failure: Failure,
}

/// Codes of refusals that concern the identity of a node.
const CODES: [&str; 11] = [
    "name_reserved",
    "name_not_certified",
    "key_in_use",
    "key_wrong",
    "run_secret_wrong",
    "certificate_revoked",
    "certificate_expired",
    "certificate_unnamed",
    "certificate_refused",
    "accounts_outdated",
    "tls_required",
];

impl RefusedNode {
    /// Whether the reason is what the node claimed to be, rather than what it sent.
    pub fn is_of_identity(failure: &Failure) -> bool {
        CODES.contains(&failure.code.as_str())
    }
}

/// Checks the name of a node against its certificate.
///
/// # Errors
/// `name_not_certified` for another name.
pub(crate) fn check_name(peer: &Peer, name: &str) -> Result<(), Failure> {
    match peer {
        Peer::Node(certificate) if !certificate.is_for(name) => {
            let message = format!(
                "this node says that it is {name:?}, but its certificate is for {:?}: use the certificate of {name:?}, or set node.name",
                certificate.name
            );
            Err(Failure::new("name_not_certified", message))
        }
        _ => Ok(()),
    }
}

/// Checks that a certificate has not expired while its holder is connected.
///
/// # Errors
/// `certificate_expired`
pub(crate) fn check_time(certificate: &NodeCertificate, now: SystemTime) -> Result<(), Failure> {
    if now <= certificate.ends {
        return Ok(());
    }
    let message = "this node's certificate has expired: enroll the node again (oasis node enroll), or issue another one (oasis ca issue node)";
    Err(Failure::new("certificate_expired", message))
}

/// Decides whether the holder of a key may take the name of a node that is known, or its run.
///
/// # Errors
/// `name_taken` if a part of this process has the name, `key_wrong` if it belongs to another key. A certificate that the authority has issued later replaces the key of a node that is away.
pub(crate) fn check_key(known: &Peer, peer: &Peer, is_alive: bool, name: &str) -> Result<(), Failure> {
    let is_right = match (known, peer) {
        (Peer::Anonymous, _) | (_, Peer::Itself) => true,
        (Peer::Itself, _) => !is_alive,
        (Peer::Node(_), Peer::Anonymous) => false,
        (Peer::Node(known), Peer::Node(shown)) => {
            known.key == shown.key || (!is_alive && shown.begins > known.begins)
        }
    };
    if is_right {
        return Ok(());
    }
    if matches!(known, Peer::Itself) {
        let message = format!(
            "name {name:?} is in use by a source or a rule of the DAC: give this node another name, or that one another prefix"
        );
        return Err(Failure::new("name_taken", message));
    }
    let message = format!(
        "node {name:?} belongs to another key: use the newest certificate of {name:?}, and stop the node that has the other one"
    );
    Err(Failure::new("key_wrong", message))
}

/// The refusals of the last hour.
#[derive(Debug, Default)]
pub struct RefusedNodes {
    /// Held for a look or a change.
    recent: Mutex<VecDeque<Recent>>,
}

#[derive(Debug)]
struct Recent {
    name: String,
    code: String,
    reason: String,
    address: IpAddr,
    count: u64,
    last: Instant,
}

impl RefusedNodes {
    /// Notes a refusal.
    pub(crate) fn note(&self, refused: &RefusedNode, now: Instant) {
        let mut recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        let is_same = |entry: &Recent| entry.name == refused.name && entry.code == refused.failure.code;
        let known = recent.iter().position(is_same).and_then(|at| recent.remove(at));
        let count = known.map_or(0, |entry| entry.count) + 1;
        if recent.len() >= MAX_REFUSALS {
            recent.pop_front();
        }
        recent.push_back(Recent {
            name: refused.name.clone(),
            code: refused.failure.code.clone(),
            reason: refused.failure.message.clone(),
            address: refused.address,
            count,
            last: now,
        });
    }

    /// Returns a sentence for each name and reason of the last hour: name, and what happened.
    pub fn report(&self, now: Instant) -> Vec<(String, String)> {
        let mut recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        recent.retain(|entry| now.saturating_duration_since(entry.last) < REPORT_TIME);
        let sentence = |entry: &Recent| {
            let Recent { code, reason, address, count, .. } = entry;
            let minutes = now.saturating_duration_since(entry.last).as_secs() / 60;
            let times = if *count == 1 { String::new() } else { format!(", {count} times") };
            format!("refused a node from {address}{times}, the last one {minutes} min ago: {reason} ({code})")
        };
        recent.iter().map(|entry| (entry.name.clone(), sentence(entry))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn certificate(key: u8, begins: u64) -> Peer {
        let begins = SystemTime::UNIX_EPOCH + Duration::from_secs(begins);
        let ends = begins + Duration::from_secs(10);
        Peer::Node(NodeCertificate {
            name: "plant".into(),
            fingerprint: [key; 32],
            key: [key; 32],
            begins,
            ends,
        })
    }

    #[test]
    fn a_name_belongs_to_a_key_until_the_authority_issues_a_later_certificate() {
        let check = |known: &Peer, peer: &Peer, is_alive| check_key(known, peer, is_alive, "plant").is_ok();
        let (known, later) = (certificate(1, 5), certificate(2, 6));
        assert!(check(&known, &certificate(1, 9), true), "renewed with the same key");
        assert!(!check(&known, &later, true) && check(&known, &later, false));
        assert!(!check(&known, &certificate(2, 5), false), "no later one");
        assert!(!check(&known, &Peer::Anonymous, false));
        assert!(check(&Peer::Anonymous, &known, true) && check(&known, &Peer::Itself, true));
        assert!(!check(&Peer::Itself, &known, true));
    }

    #[test]
    fn a_certificate_is_for_one_name_and_a_time() {
        let known = certificate(1, 5);
        assert!(check_name(&known, "plant").is_ok() && check_name(&Peer::Anonymous, "x").is_ok());
        assert_eq!(check_name(&known, "mill").unwrap_err().code, "name_not_certified");
        let Peer::Node(known) = known else { return };
        assert!(check_time(&known, known.ends).is_ok());
        let after = known.ends + Duration::from_secs(1);
        assert_eq!(check_time(&known, after).unwrap_err().code, "certificate_expired");
    }

    #[test]
    fn refusals_are_counted_bounded_and_forgotten() {
        let refused = RefusedNodes::default();
        let now = Instant::now();
        let of = |name: String| RefusedNode {
            address: [192, 0, 2, 7].into(),
            certificate: None,
            name,
            failure: Failure::new("key_in_use", "the key is in use"),
        };
        refused.note(&of("plant".into()), now);
        refused.note(&of("plant".into()), now);
        let report = refused.report(now);
        assert_eq!(report[0].0, "plant");
        assert!(report[0].1.contains("192.0.2.7, 2 times") && report[0].1.contains("key_in_use"));
        (0..2 * MAX_REFUSALS).for_each(|at| refused.note(&of(format!("n{at}")), now));
        assert_eq!(refused.report(now).len(), MAX_REFUSALS);
        assert!(refused.report(now + REPORT_TIME).is_empty());
    }
}

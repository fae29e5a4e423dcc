//! Nodes with certificates: whose name a key may have, and when a certificate ends a connection.

use super::*;
use oasis_dac::{NodeGuard, RefusedNode};
use oasis_tls::{NodeCertificate, Peer as Holder};
use std::{
    net::IpAddr,
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, SystemTime},
};

/// A guard that revokes one key on request.
#[derive(Debug, Default)]
struct Guard {
    generation: AtomicU64,
    revoked: AtomicU64,
    refused: Mutex<Vec<RefusedNode>>,
}

impl NodeGuard for Guard {
    fn generation(&self) -> u64 {
        self.generation.load(Ordering::Relaxed) + 1
    }

    fn check(&self, certificate: &NodeCertificate) -> Result<(), Failure> {
        if u64::from(certificate.key[0]) == self.revoked.load(Ordering::Relaxed) {
            return Err(Failure::new("certificate_revoked", "it was revoked"));
        }
        Ok(())
    }

    fn note_seen(&self, _: &NodeCertificate) {}

    fn note_refused(&self, refused: RefusedNode) {
        self.refused.lock().unwrap().push(refused);
    }
}

fn certificate(name: &str, key: u8, days: u64) -> Holder {
    let day = Duration::from_secs(86_400);
    let begins = SystemTime::now() - day * 10 + day * days as u32;
    let ends = SystemTime::now() + day;
    Holder::Node(NodeCertificate { name: name.into(), fingerprint: [key; 32], key: [key; 32], begins, ends })
}

/// A connection from an address, by the holder of a certificate.
fn connection(dac: &Arc<Dac>, guard: &Arc<Guard>, address: u8, holder: Holder) -> Peer {
    let (outbound, commands) = mpsc::channel(8);
    let address = IpAddr::from([192, 0, 2, address]);
    let session = NodeSession::new(dac.clone(), outbound).at(address);
    Peer { session: session.known_as(holder, Some(guard.clone())), commands }
}

fn says(peer: &mut Peer, message: &NodeMessage, now: u64) -> String {
    let said = peer.send_message(message, now);
    if let Err(failure) = &said {
        peer.session.note_refused(failure);
    }
    said.err().map_or_else(|| "welcome".into(), |failure| failure.code)
}

#[test]
fn a_key_that_is_in_use_is_reported_and_its_owner_goes_on() {
    let (dac, guard) = (dac(), Arc::new(Guard::default()));
    let mut owner = connection(&dac, &guard, 1, certificate("a", 1, 1));
    assert_eq!(says(&mut owner, &hello("a", 1), 0), "welcome");
    let mut copy = connection(&dac, &guard, 2, certificate("a", 1, 1));
    assert_eq!(says(&mut copy, &hello("a", 2), NANOS_PER_SECOND), "key_in_use");
    assert!(!owner.commands.is_closed());
    let refused = guard.refused.lock().unwrap();
    assert_eq!(refused.len(), 1, "{refused:?}");
    assert_eq!((refused[0].name.as_str(), refused[0].certificate.as_deref()), ("a", Some("a")));
    assert_eq!(dac.refused_nodes.report(std::time::Instant::now())[0].0, "a");
}

#[test]
fn a_second_process_with_the_key_on_the_same_host_is_reported_once_it_cannot_be_a_restart() {
    let (dac, guard) = (dac(), Arc::new(Guard::default()));
    let mut owner = connection(&dac, &guard, 1, certificate("a", 1, 1));
    assert_eq!(says(&mut owner, &hello("a", 1), 0), "welcome");
    let tries = |run, now| {
        let mut second = connection(&dac, &guard, 1, certificate("a", 1, 1));
        assert_eq!(says(&mut second, &hello("a", run), now), "name_taken");
    };
    let reports = || guard.refused.lock().unwrap().len();
    tries(2, NANOS_PER_SECOND);
    // Samples that a process has sent may arrive after its end.
    owner.session.acknowledge(Nanos(3 * NANOS_PER_SECOND), &mut Vec::new());
    tries(2, 3 * NANOS_PER_SECOND);
    assert_eq!(reports(), 0);
    owner.session.acknowledge(Nanos(4 * NANOS_PER_SECOND), &mut Vec::new());
    owner.session.acknowledge(Nanos(5 * NANOS_PER_SECOND), &mut Vec::new());
    assert_eq!(reports(), 1);
    // The node is there still; a run of its own does not hide it.
    tries(3, 5 * NANOS_PER_SECOND);
    owner.session.acknowledge(Nanos(8 * NANOS_PER_SECOND), &mut Vec::new());
    let refused = guard.refused.lock().unwrap();
    assert_eq!(refused.len(), 2, "{refused:?}");
    assert_eq!((refused[0].name.as_str(), refused[0].certificate.as_deref()), ("a", Some("a")));
    assert_eq!((refused[0].failure.code.as_str(), refused[0].address), ("key_in_use", [192, 0, 2, 1].into()));
    let (name, reason) = &dac.refused_nodes.report(std::time::Instant::now())[0];
    assert!(name == "a" && reason.contains("two processes") && reason.contains("2 times"), "{reason}");
    assert!(!owner.commands.is_closed());
}

#[test]
fn a_restart_of_a_node_before_the_dac_knows_its_end_is_not_reported() {
    let (dac, guard) = (dac(), Arc::new(Guard::default()));
    let mut before = connection(&dac, &guard, 1, certificate("a", 1, 1));
    assert_eq!(says(&mut before, &hello("a", 1), 0), "welcome");
    let restarted = || connection(&dac, &guard, 1, certificate("a", 1, 1));
    assert_eq!(says(&mut restarted(), &hello("a", 2), NANOS_PER_SECOND), "name_taken");
    before.session.acknowledge(Nanos(2 * NANOS_PER_SECOND), &mut Vec::new());
    let mut after = restarted();
    assert_eq!(says(&mut after, &hello("a", 2), 6 * NANOS_PER_SECOND), "welcome");
    // Samples that the process before had sent do not count for it any more, nor does its successor.
    before.session.acknowledge(Nanos(7 * NANOS_PER_SECOND), &mut Vec::new());
    after.session.acknowledge(Nanos(9 * NANOS_PER_SECOND), &mut Vec::new());
    assert!(guard.refused.lock().unwrap().is_empty());
    assert!(dac.refused_nodes.report(std::time::Instant::now()).is_empty());
}

#[test]
fn another_name_and_another_key_are_refused_whatever_run_they_claim() {
    let (dac, guard) = (dac(), Arc::new(Guard::default()));
    let mut owner = connection(&dac, &guard, 1, certificate("a", 1, 2));
    assert_eq!(says(&mut owner, &hello("a", 1), 0), "welcome");
    let say = |holder, now| says(&mut connection(&dac, &guard, 1, holder), &hello("a", 1), now);
    assert_eq!(say(certificate("b", 2, 3), NANOS_PER_SECOND), "name_not_certified");
    assert_eq!(say(certificate("a", 2, 1), NANOS_PER_SECOND), "key_wrong");
    assert_eq!(say(certificate("a", 2, 3), NANOS_PER_SECOND), "key_wrong", "while it is connected");
    assert!(!owner.commands.is_closed());
    owner.session.close(Nanos(2 * NANOS_PER_SECOND));
    assert_eq!(say(certificate("a", 2, 1), 3 * NANOS_PER_SECOND), "key_wrong", "an older certificate");
    assert_eq!(say(certificate("a", 2, 3), 3 * NANOS_PER_SECOND), "welcome", "a later one");
    assert_eq!(say(certificate("a", 1, 2), 9 * NANOS_PER_SECOND), "key_wrong", "the one before");
    assert_eq!(say(Holder::Itself, 9 * NANOS_PER_SECOND), "welcome", "the DAC's own process");
}

#[test]
fn a_revoked_or_expired_certificate_ends_its_connection() {
    let (dac, guard) = (dac(), Arc::new(Guard::default()));
    let mut node = connection(&dac, &guard, 1, certificate("a", 1, 1));
    assert_eq!(says(&mut node, &hello("a", 1), 0), "welcome");
    node.session.check_certificate().unwrap();
    guard.revoked.store(1, Ordering::Relaxed);
    node.session.check_certificate().unwrap();
    guard.generation.fetch_add(1, Ordering::Relaxed);
    assert_eq!(node.session.check_certificate().unwrap_err().code, "certificate_revoked");
    let mut again = connection(&dac, &guard, 1, certificate("a", 1, 1));
    assert_eq!(says(&mut again, &hello("a", 1), NANOS_PER_SECOND), "certificate_revoked");

    let Holder::Node(mut old) = certificate("b", 2, 1) else { return };
    old.ends = SystemTime::now() - Duration::from_secs(1);
    let old = connection(&dac, &guard, 1, Holder::Node(old)).session.check_certificate();
    assert_eq!(old.unwrap_err().code, "certificate_expired");
}

#[test]
fn a_name_of_the_dac_itself_is_refused_to_others_from_the_start() {
    let (dac, guard) = (dac(), Arc::new(Guard::default()));
    dac.own_nodes.reserve("dac");
    let mut foreign = connection(&dac, &guard, 1, Holder::Anonymous);
    assert_eq!(says(&mut foreign, &hello("dac", 1), 0), "name_reserved");
    let mut certified = connection(&dac, &guard, 2, certificate("dac", 1, 1));
    assert_eq!(says(&mut certified, &hello("dac", 2), 0), "name_reserved");
    let report = dac.refused_nodes.report(std::time::Instant::now());
    assert!(report[0].1.contains("give this node another name"), "{report:?}");
    let mut own = connection(&dac, &guard, 1, Holder::Itself);
    assert_eq!(says(&mut own, &hello("dac", 3), 0), "welcome");

    // Without certificates the own node is known by the secret of its run.
    let secret = oasis_channel::ResumeSecret::random();
    let NodeMessage::Hello { protocol, mut node, .. } = hello("dac", 4) else {
        unreachable!("it is a hello")
    };
    node.run = secret.run();
    let hello = NodeMessage::Hello { protocol, node, secret: Some(secret), attach: None, drains: false };
    drop(own);
    let mut next = connection(&dac, &guard, 1, Holder::Anonymous);
    assert_eq!(says(&mut next, &hello, 60 * NANOS_PER_SECOND), "name_reserved");
    dac.own_nodes.expect("dac", secret);
    let mut next = connection(&dac, &guard, 1, Holder::Anonymous);
    assert_eq!(says(&mut next, &hello, 60 * NANOS_PER_SECOND), "welcome");
}

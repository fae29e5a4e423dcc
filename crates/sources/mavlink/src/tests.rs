use crate::{MavlinkConfig, Receiver, Way, encode};
use oasis_dac::{Config, Dac, Instance};
use oasis_wire::{batch::Batch, loss::Cause, value::Value};
use std::{net::SocketAddr, sync::Arc};

const SECOND_NANOS: u64 = 1_000_000_000;
const HEARTBEAT: [u8; 9] = [0, 0, 0, 0, 2, 3, 0x51, 4, 3];
const LINE: Way = Way { link: 0, peer: None };

fn receiver(dac: &Arc<Dac>) -> Receiver {
    let config = MavlinkConfig { max_nodes: 3, max_series: 20, ..MavlinkConfig::default() };
    Receiver::new(&config, dac.clone())
}

fn instance(dac: &Dac, node: &str, name: &str) -> Arc<Instance> {
    let mut all = dac.registry.instances().into_iter();
    all.find(|one| &*one.name == name && &*one.node == node).expect("the instance")
}

fn heartbeat(system: u8, sequence: u8) -> Vec<u8> {
    encode((system, 1), sequence, 0, &HEARTBEAT, 50)
}

/// SYSTEM_TIME with milliseconds since the start.
fn system_time(sequence: u8, milliseconds: u32) -> Vec<u8> {
    let payload = [&[0; 8][..], &milliseconds.to_le_bytes()].concat();
    encode((1, 1), sequence, 2, &payload, 137)
}

#[test]
fn messages_are_samples_of_their_vehicle_and_losses_are_gaps() {
    let dac = Dac::new(Config::default());
    let mut receiver = receiver(&dac);
    let frames =
        [heartbeat(1, 254), system_time(255, 9_000), heartbeat(1, 4), system_time(5, 9_100), heartbeat(1, 6)];
    receiver.receive(LINE, &frames.concat(), SECOND_NANOS);
    receiver.flush();
    let heartbeats = instance(&dac, "mavlink-1-1", "HEARTBEAT");
    assert_eq!(heartbeats.ledger().received, 3);
    let newest = heartbeats.log.newest(&heartbeats.probe_type).unwrap();
    let sample = Batch::parse(newest.batch(), &heartbeats.probe_type).unwrap().get(0).unwrap();
    assert_eq!(sample.values[0], Value::Uint(2));
    let messages = instance(&dac, "mavlink-1-1", "messages");
    let gaps: Vec<_> =
        messages.ledger().gaps.iter().map(|gap| (gap.from_sequence, gap.to_sequence, gap.cause)).collect();
    assert_eq!(gaps, [(3, 6, Cause::Network)]);
    assert_eq!((receiver.counters().missing_frames, receiver.counters().samples), (4, 5));
}

#[test]
fn a_vehicle_that_restarts_or_was_away_has_no_loss() {
    let dac = Dac::new(Config::default());
    let mut receiver = receiver(&dac);
    receiver.receive(LINE, &system_time(200, 90_000), SECOND_NANOS);
    receiver.receive(LINE, &[heartbeat(1, 0), system_time(1, 300)].concat(), SECOND_NANOS);
    receiver.poll(3 * SECOND_NANOS, 5 * SECOND_NANOS);
    assert_eq!(receiver.counters().missing_frames, 0);
    receiver.poll(7 * SECOND_NANOS, 5 * SECOND_NANOS);
    receiver.flush();
    assert_eq!((receiver.counters().nodes, receiver.counters().restarts), (0, 1), "it is offline");
    receiver.receive(LINE, &heartbeat(1, 99), 8 * SECOND_NANOS);
    receiver.flush();
    assert_eq!((receiver.counters().nodes, receiver.counters().missing_frames), (1, 0));
    assert_eq!(instance(&dac, "mavlink-1-1", "messages").ledger().missing, 0);
}

#[test]
fn a_component_is_taken_from_one_way_at_a_time() {
    let dac = Dac::new(Config::default());
    let mut receiver = receiver(&dac);
    let other = Way { link: 1, peer: Some(SocketAddr::from(([127, 0, 0, 1], 1))) };
    receiver.receive(LINE, &heartbeat(1, 1), SECOND_NANOS);
    receiver.receive(other, &heartbeat(1, 1), SECOND_NANOS + 1);
    receiver.receive(LINE, &heartbeat(1, 2), 2 * SECOND_NANOS);
    assert_eq!((receiver.counters().frames, receiver.counters().frames_of_other_ways), (2, 1));
    receiver.receive(other, &heartbeat(1, 9), 4 * SECOND_NANOS);
    receiver.flush();
    assert_eq!((receiver.counters().frames, receiver.counters().missing_frames), (3, 0));
}

#[test]
fn floods_of_systems_and_of_unknown_messages_are_bounded() {
    let dac = Dac::new(Config::default());
    let mut receiver = receiver(&dac);
    for system in 0..=255 {
        receiver.receive(LINE, &heartbeat(system, 0), SECOND_NANOS);
    }
    for message in 0..1_000 {
        let unknown = encode((1, 1), (message % 256 + 1) as u8, 60_000 + message, &[1], 0);
        receiver.receive(LINE, &unknown, SECOND_NANOS);
    }
    // An unknown message waits for the next frame.
    receiver.receive(LINE, &heartbeat(1, (1_001 % 256) as u8), SECOND_NANOS);
    receiver.flush();
    let counters = receiver.counters();
    assert_eq!((counters.nodes, counters.refused_messages), (3, 253));
    assert_eq!(counters.unknown_messages.len(), 64);
    assert_eq!(counters.unknown_messages.values().sum::<u64>() + counters.more_unknown_messages, 1_000);
    assert_eq!(counters.missing_frames, 0, "unknown messages have numbers too");
    // An unknown message makes no node.
    receiver.receive(LINE, &encode((200, 1), 0, 60_000, &[1], 0), SECOND_NANOS);
    assert_eq!(receiver.counters().unknown_messages.values().sum::<u64>(), 64);
}

#[test]
fn a_key_is_never_kept() {
    let dac = Dac::new(Config::default());
    let mut receiver = receiver(&dac);
    receiver.receive(LINE, &encode((1, 1), 0, 256, &[7; 42], 71), SECOND_NANOS);
    receiver.flush();
    assert_eq!((receiver.counters().secret_messages, receiver.counters().samples), (1, 0));
    assert!(dac.registry.instances().iter().all(|one| &*one.name == "messages"));
}

//! `vectors/eisa.json`, and the one packet that is known from 2012.

use super::{
    cases::{Case, cases, probe_type},
    check_file,
    exact::{exact, hex},
    row::row,
};
use oasis_wire::{
    batch::{Batch, Encoder, Fields},
    cdr::{ByteOrder, Writer},
    eisa::{Packet, PacketError, write_members, write_sample},
    reader::Malformed,
    schema::ProbeType,
    value::Value,
};
use serde_json::{Value as Json, json};
use uuid::uuid;

/// Server to browser, as captured for the thesis (appendix D): a WebSocket header of four bytes, then the packet.
const CAPTURED: &[u8] = b"\x82\x7e\x00\x88\
    EISA\x01\x01\x6c\x44\x0b\x99\x49\xb0\xaa\x17\xa2\x4c\x88\x06\xe8\x93\x29\x96\x37\x88\
    \x59\x59\x00\x00\x8c\x31\x03\x00\x01\x00\x00\x00\x00\x00\x00\x00\x38\x00\x00\x00\x19\x00\x00\x00\
    ProcessorProbe_SmokeTest\x00\x00\x00\x00\x00\x00\x00\x00\
    \x56\x3e\x7a\x00\x00\x00\x00\x00\x81\x0e\x01\x00\x00\x00\x00\x00\x02\x4c\x01\x00\x00\x00\x00\x00\
    \x1c\x00\x00\x00\x00\x00\x00\x00\xc8\x29\x00\x00\x00\x00\x00\x00\x99\x36\x00\x00\x00\x00\x00\x00\
    \xee\x33\x00\x00\x00\x00\x00\x00";
/// Idle, system, user, nice, I/O wait, IRQ, soft IRQ.
const CAPTURED_METRICS: [u64; 7] = [8_011_350, 69_249, 84_994, 28, 10_696, 13_977, 13_294];

fn captured() -> &'static [u8] {
    let (header, packet) = CAPTURED.split_at(4);
    assert_eq!((header, packet.len()), (&[0x82, 0x7e, 0, 136][..], 136));
    packet
}

fn processor() -> ProbeType {
    let metrics: Vec<Json> = ["idle", "system", "user", "nice", "iowait", "irq", "soft_irq"]
        .iter()
        .map(|name| json!({"name": name, "type": "uint64"}))
        .collect();
    serde_json::from_value(json!({
        "name": "OASIS::System::LinuxProcessorProbe", "uuid": "b049990b-17aa-4ca2-8806-e89329963788", "version": "1.1", "metrics": metrics
    }))
    .unwrap()
}

fn data_of(probe_type: &ProbeType, values: &[Value], order: ByteOrder) -> Vec<u8> {
    let mut data = Vec::new();
    write_members(&probe_type.metrics, values, &mut Writer::new(&mut data, order));
    data
}

fn swapped(packet: &Packet<'_>, probe_type: &ProbeType) -> Vec<u8> {
    let data = data_of(probe_type, &CAPTURED_METRICS.map(Value::Uint), ByteOrder::Big);
    let mut out = Vec::new();
    Packet { data: &data, ..packet.clone() }.encode(ByteOrder::Big, &mut out);
    out
}

#[test]
fn every_field_of_the_captured_packet_is_read() {
    let packet = Packet::decode(captured(), ByteOrder::Little).unwrap();
    assert_eq!(packet.version, (1, 1));
    assert_eq!(packet.uuid, uuid!("b049990b-17aa-4ca2-8806-e89329963788"));
    assert_eq!((packet.seconds, packet.microseconds), (22_873, 209_292));
    assert_eq!((packet.sequence, packet.state), (1, 0));
    assert_eq!(packet.instance, "ProcessorProbe_SmokeTest");
    assert_eq!(packet.data.len(), 56);
    assert_eq!(packet.data, CAPTURED_METRICS.map(u64::to_le_bytes).concat());
}

#[test]
fn the_captured_packet_is_made_again_with_its_padding_zeroed() {
    let mut made = Vec::new();
    Packet::decode(captured(), ByteOrder::Little).unwrap().encode(ByteOrder::Little, &mut made);
    let mut expected = captured().to_vec();
    expected[6..8].fill(0);
    assert_eq!(made, expected);
}

#[test]
fn a_sample_becomes_the_captured_packet() {
    let sample = oasis_wire::batch::Sample {
        time: 22_873_209_292_999,
        sequence: 1,
        offset: 0,
        values: CAPTURED_METRICS.map(Value::Uint).into(),
    };
    let mut made = Vec::new();
    write_sample(&processor(), "ProcessorProbe_SmokeTest", 0, &sample, &mut made);
    assert_eq!(made[8..], captured()[8..]);
}

#[test]
fn the_captured_packet_is_read_and_made_in_the_other_byte_order() {
    let packet = Packet::decode(captured(), ByteOrder::Little).unwrap();
    let big = swapped(&packet, &processor());
    assert_eq!(big.len(), captured().len());
    assert_eq!(
        big[8..24],
        *uuid!("b049990b-17aa-4ca2-8806-e89329963788").as_bytes(),
        "a UUID is big-endian by itself"
    );
    assert_eq!(big[24..28], 22_873_u32.to_be_bytes());
    let read = Packet::decode(&big, ByteOrder::Big).unwrap();
    assert_eq!(
        (read.seconds, read.sequence, read.instance),
        (packet.seconds, packet.sequence, packet.instance)
    );
    assert_eq!(read.data, CAPTURED_METRICS.map(u64::to_be_bytes).concat());
}

#[test]
fn a_packet_that_ends_early_is_refused_at_every_byte() {
    for end in 0..captured().len() {
        let error = Packet::decode(&captured()[..end], ByteOrder::Little).unwrap_err();
        assert!(matches!(error, PacketError::Malformed(Malformed::Truncated { .. })), "{end}: {error}");
    }
}

fn corrupted(at: usize, bytes: &[u8]) -> Result<(), PacketError> {
    let mut packet = captured().to_vec();
    packet[at..at + bytes.len()].copy_from_slice(bytes);
    Packet::decode(&packet, ByteOrder::Little).map(|_| ())
}

#[test]
fn invalid_packets_are_refused_with_their_error() {
    assert_eq!(corrupted(0, b"AISA"), Err(PacketError::Magic(*b"AISA")));
    assert_eq!(corrupted(4, &[1, 2]), Err(PacketError::Version(1, 2)));
    assert_eq!(corrupted(4, &[2, 0]), Err(PacketError::Version(2, 0)));
    assert_eq!(corrupted(4, &[1, 0]), Ok(()));
    assert_eq!(corrupted(6, &[0xff, 0xff]), Ok(()), "padding carries no meaning");
    assert_eq!(corrupted(40, &[48]), Err(PacketError::Leftover(8)));
    assert!(matches!(corrupted(40, &[0xff; 4]), Err(PacketError::Malformed(Malformed::Truncated { .. }))));
    assert!(matches!(corrupted(44, &[0xff; 4]), Err(PacketError::Malformed(Malformed::Truncated { .. }))));
    assert_eq!(corrupted(44, &[0]), Err(PacketError::Malformed(Malformed::Terminator { at: 48 })));
    assert_eq!(corrupted(72, b"x"), Err(PacketError::Malformed(Malformed::Terminator { at: 48 })));
    assert_eq!(corrupted(50, &[0xff]), Err(PacketError::Malformed(Malformed::Text { at: 48 })));
}

/// The samples of a case as packets in one byte order.
fn packets(case: &Case, order: ByteOrder) -> Vec<String> {
    let probe_type = probe_type(case);
    let packet = |(index, (time, values)): (usize, &(u64, Vec<Value>))| {
        let (data, mut out) = (data_of(&probe_type, values, order), Vec::new());
        Packet {
            version: (1, 1),
            uuid: probe_type.uuid,
            seconds: (time / 1_000_000_000) as u32,
            microseconds: (time / 1_000 % 1_000_000) as u32,
            sequence: 41 + index as u32,
            state: 2,
            instance: case.name,
            data: &data,
        }
        .encode(order, &mut out);
        hex(&out)
    };
    shown(case).iter().enumerate().map(packet).collect()
}

/// The first samples: packets need fewer than native batches.
fn shown(case: &Case) -> &[(u64, Vec<Value>)] {
    &case.samples[..case.samples.len().min(5)]
}

#[test]
fn the_encoder_makes_the_vectors() {
    let case_to_json = |case: &Case| {
        let sample = |(time, values): &(u64, Vec<Value>)| json!({"time": time.to_string(), "values": values.iter().map(exact).collect::<Vec<_>>()});
        json!({
            "name": case.name,
            "schema": probe_type(case),
            "packet": {"version": [1, 1], "state": 2, "first_sequence": 41, "instance": case.name},
            "samples": shown(case).iter().map(sample).collect::<Vec<_>>(),
            "little": packets(case, ByteOrder::Little),
            "big": packets(case, ByteOrder::Big),
        })
    };
    let cases: Vec<Json> = cases().iter().map(case_to_json).collect();
    check_file("eisa.json", &json!({"captured": hex(captured()), "cases": cases}));
}

#[test]
fn every_packet_decodes_in_both_byte_orders() {
    for case in cases() {
        let probe_type = probe_type(&case);
        for order in [ByteOrder::Little, ByteOrder::Big] {
            for (text, (_, values)) in packets(&case, order).iter().zip(&case.samples) {
                let bytes: Vec<u8> = (0..text.len())
                    .step_by(2)
                    .map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap())
                    .collect();
                let packet = Packet::decode(&bytes, order).unwrap();
                assert_eq!((packet.instance, packet.state), (case.name, 2));
                assert_eq!(packet.data, data_of(&probe_type, values, order), "{}", case.name);
            }
        }
    }
}

#[test]
fn a_batch_goes_to_a_client_of_2012_as_the_same_packets() {
    for case in cases() {
        let probe_type = probe_type(&case);
        let mut encoder = Encoder::new(&probe_type).unwrap();
        shown(&case)
            .iter()
            .for_each(|(time, values)| encoder.push(*time, &row(values, &probe_type)).unwrap());
        let mut bytes = Vec::new();
        encoder.finish(
            Fields { topic: 3, state: 2, first_sequence: 41, node_time: 0, dropped_before: 0 },
            &mut bytes,
        );
        let batch = Batch::parse(&bytes, &probe_type).unwrap();
        let made: Vec<String> = batch
            .samples()
            .map(|sample| {
                let mut out = Vec::new();
                write_sample(&probe_type, case.name, 2, &sample, &mut out);
                hex(&out)
            })
            .collect();
        assert_eq!(made, packets(&case, ByteOrder::Little), "{}", case.name);
    }
}

//! A client of 2012, written from the description of its protocol alone (`docs/reference/eisa.md`): no code of ours reads its bytes.

use crate::harness::{Oasis, eventually, instance, ledger, open, read};
use std::net::TcpStream;
use tungstenite::{Message, WebSocket};

const REGISTER: u8 = 1;
const UNREGISTER: u8 = 2;
const HERTZ: u8 = 3;
const SCHEMA: u8 = 4;
const PROCESSOR_UUID: [u8; 16] =
    [0x0b, 0x99, 0x49, 0xb0, 0xaa, 0x17, 0xa2, 0x4c, 0x88, 0x06, 0xe8, 0x93, 0x29, 0x96, 0x37, 0x88];

fn command(opcode: u8, texts: &[&str]) -> Vec<u8> {
    let mut bytes = vec![opcode];
    for text in texts {
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes.extend_from_slice(&(text.len() as u32 + 1).to_le_bytes());
        bytes.extend_from_slice(text.as_bytes());
        bytes.push(0);
    }
    bytes.resize(256, 0);
    bytes
}

struct Client(WebSocket<TcpStream>);

struct Packet {
    uuid: [u8; 16],
    sequence: u32,
    name: String,
    microseconds: u64,
    data: Vec<u64>,
}

impl Client {
    fn send(&mut self, opcode: u8, texts: &[&str]) {
        self.0.send(Message::binary(command(opcode, texts))).unwrap();
    }

    /// The next packet, which is the whole message.
    fn packet(&mut self) -> Packet {
        let bytes = self.message();
        let (packet, rest) = Packet::parse(&bytes);
        assert_eq!(rest.len(), 0, "the data size is what follows");
        packet
    }

    fn message(&mut self) -> Vec<u8> {
        let message = read(&mut self.0).unwrap();
        let Message::Binary(bytes) = message else { panic!("no packet: {message:?}") };
        bytes.to_vec()
    }
}

impl Packet {
    /// Parses a packet by hand, and returns what follows it.
    fn parse(bytes: &[u8]) -> (Self, &[u8]) {
        let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        assert_eq!(&bytes[..6], b"EISA\x01\x01");
        let length = word(44) as usize;
        let data_at = (48 + length).next_multiple_of(8);
        let (bytes, rest) = bytes.split_at(data_at + word(40) as usize);
        assert_eq!(bytes[48 + length - 1], 0, "the name ends with NUL");
        assert!(word(28) < 1_000_000, "microseconds");
        let packet = Self {
            uuid: bytes[8..24].try_into().unwrap(),
            sequence: word(32),
            name: String::from_utf8(bytes[48..48 + length - 1].to_vec()).unwrap(),
            microseconds: u64::from(word(24)) * 1_000_000 + u64::from(word(28)),
            data: bytes[data_at..]
                .chunks_exact(8)
                .map(|eight| u64::from_le_bytes(eight.try_into().unwrap()))
                .collect(),
        };
        (packet, rest)
    }
}

/// Names as the papers' node and probe had them.
fn plant() -> Oasis {
    let up = Oasis::up(&[
        "--name",
        "smoke node",
        "--probe",
        "processor=ProcessorProbe_SmokeTest@20",
        "--probe",
        "heartbeat=pulse@50",
    ]);
    let node = "smoke%20node";
    ledger(&up, node, "pulse", "a sample", |ledger| ledger["received"] != 0);
    ledger(&up, node, "ProcessorProbe_SmokeTest", "a sample", |ledger| ledger["received"] != 0);
    up
}

const PROBE: [&str; 2] = ["smoke node", "ProcessorProbe_SmokeTest"];

#[test]
fn gets_well_formed_packets_on_both_paths() {
    let up = plant();
    for path in ["/ws", "/"] {
        let mut client = Client(open(&format!("ws://{}{path}", up.listen()), None));
        client.send(REGISTER, &PROBE);
        let packets: Vec<Packet> = (0..5).map(|_| client.packet()).collect();
        for pair in packets.windows(2) {
            assert_eq!(pair[1].sequence, pair[0].sequence + 1);
            assert!(pair[1].microseconds > pair[0].microseconds);
            assert!(pair[1].data[0] >= pair[0].data[0], "idle time never goes back");
        }
        assert!(packets.iter().all(|packet| {
            (packet.uuid, packet.name.as_str(), packet.data.len()) == (PROCESSOR_UUID, PROBE[1], 7)
        }));
    }
}

#[test]
fn takes_several_packets_in_a_message_if_it_wants() {
    let up = Oasis::up(&["--name", "smoke node", "--probe", "processor=ProcessorProbe_SmokeTest@1000"]);
    ledger(&up, "smoke%20node", PROBE[1], "a sample", |ledger| ledger["received"] != 0);
    let mut client = Client(open(&format!("{}?packets=many", up.url()), None));
    client.send(REGISTER, &PROBE);
    let (mut last, mut has_several) = (None, false);
    while !has_several || last < Some(100) {
        let message = client.message();
        let (mut rest, mut packets) = (&message[..], 0);
        while !rest.is_empty() {
            let (packet, behind) = Packet::parse(rest);
            assert!(
                last.is_none_or(|last| packet.sequence == last + 1),
                "{} after {last:?}",
                packet.sequence
            );
            (last, rest, packets) = (Some(packet.sequence), behind, packets + 1);
        }
        has_several |= packets > 1;
    }
}

#[test]
fn changes_a_rate() {
    let up = plant();
    let mut client = Client(open(&up.url(), None));
    client.send(REGISTER, &PROBE);
    client.packet();
    client.send(HERTZ, &[PROBE[0], PROBE[1], "62.5"]);
    eventually("the rate is 62.5 Hz", || {
        (instance(&up, "smoke%20node", PROBE[1])?["hertz"] == 62.5).then_some(())
    });
    let times: Vec<u64> = (0..40).map(|_| client.packet().microseconds).collect();
    let mut spacings: Vec<u64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    spacings.sort_unstable();
    assert!((10_000..25_000).contains(&spacings[spacings.len() / 2]), "us between samples: {spacings:?}");
}

#[test]
fn gets_a_schema_and_nothing_of_what_it_unregistered() {
    let up = plant();
    let mut client = Client(open(&up.url(), None));
    client.send(SCHEMA, &PROBE);
    let Message::Text(text) = read(&mut client.0).unwrap() else { panic!("a schema is text") };
    let schema: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(schema["uuid"], "b049990b-17aa-4ca2-8806-e89329963788");
    assert_eq!(schema["metrics"].as_array().unwrap().len(), 7);

    client.send(REGISTER, &PROBE);
    client.packet();
    client.send(UNREGISTER, &PROBE);
    // Packets in flight arrive before the response to a later request.
    client.send(SCHEMA, &PROBE);
    while !matches!(read(&mut client.0).unwrap(), Message::Text(_)) {}
    client.send(REGISTER, &["smoke node", "pulse"]);
    assert!((0..50).all(|_| client.packet().name == "pulse"));
}

#[test]
fn invalid_commands_have_no_effect_and_no_response() {
    let up = plant();
    let mut client = Client(open(&up.url(), None));
    client.send(REGISTER, &["no such node", "processor"]);
    client.send(SCHEMA, &["smoke node", "no such probe"]);
    client.send(HERTZ, &[PROBE[0], PROBE[1], "fast"]);
    client.send(HERTZ, &[PROBE[0], PROBE[1], "5000"]);
    client.send(REGISTER, &PROBE);
    assert_eq!(client.packet().name, PROBE[1]);
    assert_eq!(instance(&up, "smoke%20node", PROBE[1]).unwrap()["hertz"], 20.0);
    let counted = crate::harness::get(&up, "/api/v1/ledger")["doors"]["refused"].clone();
    assert_eq!(
        (&counted["unknown_instance"], &counted["hertz_out_of_range"]),
        (&2.into(), &2.into()),
        "{counted}"
    );
}

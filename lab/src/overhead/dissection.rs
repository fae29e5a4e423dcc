//! One captured frame, field by field, as in appendix D of the thesis of 2012.

use super::{model, packet::Segment};
use crate::table::Table;
use anyhow::{Context, ensure};
use oasis_wire::{cdr::ByteOrder, eisa::Packet};
use uuid::Uuid;

/// Appendix D: seven counters of its processor probe.
const COUNTERS: [u64; 7] = [8_011_350, 69_249, 84_994, 28, 10_696, 13_977, 13_294];
/// Bytes before the payload of a frame of 126 to 65,535 bytes to a client.
const FRAME: usize = 4;

/// The payload of the frame in appendix D: a packet.
pub fn packet() -> Vec<u8> {
    let data: Vec<u8> = COUNTERS.iter().flat_map(|counter| counter.to_le_bytes()).collect();
    let packet = Packet {
        version: (1, 1),
        uuid: Uuid::from_u128(0xb049_990b_17aa_4ca2_8806_e893_2996_3788),
        seconds: 22_873,
        microseconds: 209_292,
        sequence: 1,
        state: 0,
        instance: "ProcessorProbe_SmokeTest",
        data: &data,
    };
    let mut bytes = Vec::new();
    packet.encode(ByteOrder::Little, &mut bytes);
    bytes
}

/// A table of the fields of a captured Ethernet frame with a packet in one WebSocket frame.
pub fn dissect(captured: &[u8]) -> anyhow::Result<String> {
    let segment = Segment::parse(captured).context("no TCP segment was captured")?;
    let tcp = segment.headers.checked_sub(model::IPV4).context("an IP header is cut")?;
    let stream = captured.get(model::ETHERNET + segment.headers..).context("a segment is cut")?;
    let (frame, payload) = stream.split_at_checked(FRAME).context("a frame is cut")?;
    ensure!(frame[..2] == [0x82, 126], "this is not one binary frame of 126 to 65,535 bytes: {frame:02x?}");
    let packet = Packet::decode(payload, ByteOrder::Little)?;
    let [major, minor] = [packet.version.0, packet.version.1];
    let name = packet.instance.len() + 1;
    let padding = payload.len() - packet.data.len() - 44 - 4 - name;
    let fields = [
        (model::ETHERNET, "Ethernet II", "two addresses, type 0x0800".to_owned()),
        (model::IPV4, "IPv4", format!("total length {}", segment.headers + segment.payload)),
        (tcp, "TCP", format!("{} bytes of options, {} of payload", tcp - model::TCP, segment.payload)),
        (2, "WebSocket", "final, binary; not masked, length follows".to_owned()),
        (2, "WebSocket: length", payload.len().to_string()),
        (4, "EISA: magic", "`EISA`".to_owned()),
        (4, "EISA: version", format!("{major}.{minor}, 2 bytes of padding")),
        (16, "EISA: probe type", packet.uuid.to_string()),
        (8, "EISA: time", format!("{} s, {} us", packet.seconds, packet.microseconds)),
        (4, "EISA: sequence number", packet.sequence.to_string()),
        (4, "EISA: state", format!("{}, 2 bytes of padding", packet.state)),
        (4, "EISA: data size", packet.data.len().to_string()),
        (4 + name, "EISA: instance", format!("`{}`", packet.instance)),
        (padding, "EISA: padding", "to a multiple of 8".to_owned()),
        (packet.data.len(), "EISA: metrics", metrics(packet.data)),
    ];
    let mut table = Table::new(["offset", "bytes", "field", "value"]);
    let mut offset = 0;
    for (bytes, field, value) in fields {
        table.row(vec![offset.to_string(), bytes.to_string(), field.into(), value]);
        offset += bytes;
    }
    ensure!(offset == captured.len(), "{offset} of {} captured bytes are explained", captured.len());
    Ok(table.to_string())
}

fn metrics(data: &[u8]) -> String {
    let counters = data.chunks_exact(8).map(|bytes| {
        let mut counter = [0; 8];
        counter.copy_from_slice(bytes);
        u64::from_le_bytes(counter).to_string()
    });
    counters.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use oasis_websocket::{Opcode, frame};

    /// Appendix D: Ethernet, IP and TCP without options, and 140 bytes of stream.
    fn captured() -> Vec<u8> {
        let mut bytes = vec![0; 12];
        bytes.extend([8, 0]);
        bytes.extend([0x45, 0, 0, 180, 0xbf, 0x4a, 0x40, 0, 64, 6, 0, 0, 134, 68, 136, 11, 192, 168, 1, 143]);
        bytes.extend([0, 80, 0xc0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x50, 0x18, 0, 0, 0, 0, 0, 0]);
        frame::write_message(Opcode::Binary, &packet(), &mut bytes);
        bytes
    }

    #[test]
    fn the_frame_of_the_thesis_has_194_bytes_that_are_all_explained() {
        let captured = captured();
        assert_eq!(captured.len(), 194);
        let table = dissect(&captured).expect("its fields");
        for value in
            ["total length 180", "b049990b-17aa-4ca2-8806-e89329963788", "22873 s, 209292 us", "8011350"]
        {
            assert!(table.contains(value), "{value} in\n{table}");
        }
    }

    #[test]
    fn a_frame_that_is_cut_is_an_error_at_each_length() {
        let captured = captured();
        for length in 0..captured.len() {
            assert!(dissect(&captured[..length]).is_err(), "{length}");
        }
    }
}

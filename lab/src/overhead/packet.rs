//! The headers of a captured IPv4 packet with TCP.

/// A TCP segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Segment {
    /// Port of the sender.
    pub from: u16,
    /// Port of the receiver.
    pub to: u16,
    /// Bytes of the IP and TCP headers.
    pub headers: usize,
    /// Bytes of the stream.
    pub payload: usize,
}

impl Segment {
    /// Parses an Ethernet frame; `None` for anything but IPv4 with TCP, and for a frame that was cut.
    pub fn parse(frame: &[u8]) -> Option<Self> {
        let (ethernet, ip) = frame.split_at_checked(super::model::ETHERNET)?;
        if ethernet.get(12..)? != [8, 0] || *ip.get(9)? != 6 {
            return None;
        }
        let ip_header = usize::from(ip.first()? & 0x0f) * 4;
        // 0 stands for a packet that the system has not cut into segments yet (BIG TCP).
        let total = usize::from(u16::from_be_bytes(ip.get(2..4)?.try_into().ok()?));
        let total = if total == 0 { ip.len() } else { total };
        let tcp = ip.get(ip_header..)?;
        let port = |at: usize| Some(u16::from_be_bytes(tcp.get(at..at + 2)?.try_into().ok()?));
        let headers = ip_header + usize::from(tcp.get(12)? >> 4) * 4;
        Some(Self { from: port(0)?, to: port(2)?, headers, payload: total.checked_sub(headers)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// An Ethernet frame with `payload` bytes in a segment with timestamps.
    fn frame(payload: u8) -> Vec<u8> {
        let mut frame = vec![0; 12];
        frame.extend([8, 0]);
        frame.extend([0x45, 0, 0, 52 + payload, 0, 0, 0, 0, 64, 6, 0, 0, 127, 0, 0, 1, 127, 0, 0, 1]);
        frame.extend([0x1b, 0x9e, 0xc0, 0x00, 0, 0, 0, 0, 0, 0, 0, 0, 0x80, 0x18, 0, 0, 0, 0, 0, 0]);
        frame.extend([1, 1, 8, 10, 0, 0, 0, 0, 0, 0, 0, 0]);
        frame.resize(frame.len() + usize::from(payload), 0);
        frame
    }

    #[test]
    fn a_segment_has_ports_headers_and_payload() {
        let segment = Segment::parse(&frame(13));
        assert_eq!(segment, Some(Segment { from: 7_070, to: 49_152, headers: 52, payload: 13 }));
        let mut datagram = frame(13);
        datagram[23] = 17;
        assert_eq!(Segment::parse(&datagram), None);
    }

    proptest! {
        #[test]
        fn any_bytes_are_parsed_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..80), cut in 0_usize..80) {
            let _ = Segment::parse(&bytes);
            let whole = frame(20);
            let _ = Segment::parse(&whole[..cut.min(whole.len())]);
        }
    }
}

//! Cost of a message on each layer, computed from the specifications.

/// Ethernet II: two addresses and a type, without the checksum, as captures show it.
pub const ETHERNET: usize = 14;
/// RFC 791 3.1: without options.
pub const IPV4: usize = 20;
/// RFC 9293 3.1: without options.
pub const TCP: usize = 20;
/// RFC 7323 3.2, with its padding; Linux sends it in each segment.
pub const TIMESTAMPS: usize = 12;
/// Most bytes of IP packets on Ethernet.
pub const MTU: usize = 1_500;
/// RFC 8446 5.1, RFC 5246 6.2.1: plaintext of one record.
pub const RECORD: usize = 16 * 1024;

/// Direction of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Frames are masked.
    ToServer,
    /// Frames are not masked.
    ToClient,
}

/// The versions of TLS that browsers speak, with AES-GCM.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tls {
    /// RFC 5246, RFC 5288: header, explicit nonce, tag.
    V1_2,
    /// RFC 8446 5.2: header, content type, tag.
    V1_3,
}

impl Tls {
    /// Bytes that a record adds to its plaintext.
    pub const fn of_record(self) -> usize {
        match self {
            Self::V1_2 => 5 + 8 + 16,
            Self::V1_3 => 5 + 1 + 16,
        }
    }

    /// Bytes that records add to what is written at once.
    pub const fn of_write(self, bytes: usize) -> usize {
        self.of_record() * bytes.div_ceil(RECORD)
    }
}

/// RFC 6455 5.2: bytes before a payload.
pub const fn frame(payload: usize, direction: Direction) -> usize {
    let length = match payload {
        0..126 => 2,
        126..65_536 => 4,
        _ => 10,
    };
    match direction {
        Direction::ToServer => length + 4,
        Direction::ToClient => length,
    }
}

/// Returns the bytes that the paper prints in its figure 1.5.
pub const fn frame_as_printed(payload: usize, direction: Direction) -> usize {
    match (payload, direction) {
        (0..126, Direction::ToServer) => 6,
        (0..126, Direction::ToClient) => 2,
        (126..65_536, Direction::ToServer) => 8,
        (126..65_536, Direction::ToClient) => 4,
        (_, Direction::ToServer) => 12,
        (_, Direction::ToClient) => 8,
    }
}

/// Headers of the segments that a stream of bytes takes, each filled up.
pub const fn segments(bytes: usize, options: usize) -> usize {
    bytes.div_ceil(MTU - IPV4 - TCP - options) * (ETHERNET + IPV4 + TCP + options)
}

/// Bytes on the wire of messages that are written one by one: a segment, or more, each.
pub fn one_by_one(
    messages: usize,
    payload: usize,
    direction: Direction,
    tls: Option<Tls>,
    options: usize,
) -> usize {
    let frame = frame(payload, direction) + payload;
    let stream = frame + tls.map_or(0, |tls| tls.of_write(frame));
    messages * (stream + segments(stream, options))
}

/// Bytes on the wire of the same messages in one frame.
pub fn in_one_frame(
    messages: usize,
    payload: usize,
    direction: Direction,
    tls: Option<Tls>,
    options: usize,
) -> usize {
    one_by_one(1, messages * payload, direction, tls, options)
}

#[cfg(test)]
mod tests {
    use super::*;
    use oasis_websocket::{Opcode, frame as codec};

    #[test]
    fn frames_are_those_of_the_codec_and_the_paper_is_wrong_about_large_ones() {
        for payload in [0, 13, 125, 126, 1_000, 65_535, 65_536, 500_000] {
            let bytes = vec![0; payload];
            let (mut plain, mut masked) = (Vec::new(), Vec::new());
            codec::write_message(Opcode::Binary, &bytes, &mut plain);
            codec::write_masked(Opcode::Binary, &bytes, [1, 2, 3, 4], &mut masked);
            assert_eq!(plain.len() - payload, frame(payload, Direction::ToClient), "{payload}");
            assert_eq!(masked.len() - payload, frame(payload, Direction::ToServer), "{payload}");
            let is_printed = |direction| frame(payload, direction) == frame_as_printed(payload, direction);
            assert_eq!(is_printed(Direction::ToClient), payload < 65_536, "{payload}");
            assert_eq!(is_printed(Direction::ToServer), payload < 65_536, "{payload}");
        }
    }

    /// Figures 1.6 and 1.7: eight messages of 13 bytes, sent in a segment each by a browser, and answered in one segment.
    #[test]
    fn the_captures_that_the_paper_quotes_follow_from_the_model() {
        assert_eq!(one_by_one(8, 13, Direction::ToServer, None, 0), 584);
        assert_eq!(one_by_one(8, 13, Direction::ToServer, Some(Tls::V1_2), 0), 816);
        let answered = 8 * (13 + frame(13, Direction::ToClient));
        assert_eq!(answered + segments(answered, 0), 174);
        let records = 8 * Tls::V1_2.of_record();
        assert_eq!(answered + records + segments(answered + records, 0), 406);
    }
}

//! Frames of HTTP/2 of a client of gRPC that keeps no rules (RFC 9113, RFC 7541).

/// The first bytes of a client: preface, settings, and acknowledgement of the settings of the server.
pub const GREETING: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0\0\0\0\x04\x01\0\0\0\0";
/// Kinds of frames.
const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const END_HEADERS: u8 = 4;
/// The error of a client that needs no answer.
const CANCEL: [u8; 4] = [0, 0, 0, 8];

/// Returns the metadata of a call with metrics. No header is compressed.
pub fn call(stream: u32) -> Vec<u8> {
    let mut block = Vec::new();
    for (name, value) in [
        (":method", "POST"),
        (":scheme", "http"),
        (":authority", "127.0.0.1"),
        (":path", "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export"),
        ("content-type", "application/grpc"),
    ] {
        block.extend([0, name.len() as u8]);
        block.extend(name.bytes());
        block.push(value.len() as u8);
        block.extend(value.bytes());
    }
    frame(HEADERS, END_HEADERS, stream, &block)
}

/// Returns a part of the body of a call.
pub fn data(stream: u32, bytes: &[u8]) -> Vec<u8> {
    frame(DATA, 0, stream, bytes)
}

/// Returns the cancellation of a call.
pub fn cancel(stream: u32) -> Vec<u8> {
    frame(RST_STREAM, 0, stream, &CANCEL)
}

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let [_, length @ ..] = (payload.len() as u32).to_be_bytes();
    [&length[..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

//! Bounds on what a peer can make this side keep (RFC 6455 10.4).

/// Bounds of one connection, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Payload of one frame.
    pub frame: usize,
    /// Payload of one message, all its fragments together.
    pub message: usize,
    /// Output that waits for the peer to read it, shared pieces not counted.
    pub output: usize,
}

impl Limits {
    /// The same bound for frames and messages; output as by default.
    pub fn of_messages(message: usize) -> Self {
        Self { frame: message, message, ..Self::default() }
    }
}

/// Fragments that a message may have however short they are.
const FRAGMENTS: usize = 1_024;
/// Bytes that allow for one fragment more.
const BYTES_A_FRAGMENT: usize = 16;

/// Returns how many fragments a message may have of which this many bytes have arrived. Without a bound, empty fragments would cost their sender six
/// bytes each, and a message would never end.
pub(crate) fn fragments(bytes: usize) -> usize {
    FRAGMENTS + bytes / BYTES_A_FRAGMENT
}

impl Default for Limits {
    /// 64 KiB a message, 1 MiB of output.
    fn default() -> Self {
        Self { frame: 64 * 1024, message: 64 * 1024, output: 1024 * 1024 }
    }
}

//! Readers that measure how old samples are when they arrive.

use crate::{
    crowd::Frames,
    faults::{open, subscribed},
};
use anyhow::{Context, bail};
use oasis_thread_priority::{use_short_slices, use_usual_slices};
use oasis_wire::batch::Header;
use std::{
    io::{ErrorKind, Read},
    net::TcpStream,
    time::{Duration, Instant, SystemTime},
};

/// Key of the time at which the DAC received the samples of a line of the stream.
const DAC_TIME: &str = "\"dac_time\":";
const STREAM: &str =
    "GET /api/v1/samples/stream?node=plant&instance=counter HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
/// Interval between two polls of the sockets: less than all that is measured.
const POLL_INTERVAL: Duration = Duration::from_micros(100);
/// Most bytes of a message that is not complete yet.
const MAX_PENDING_BYTES: usize = 4 * 1024 * 1024;

/// Ages in nanoseconds, from the DAC's receipt to the reader.
#[derive(Debug, Default)]
pub struct Ages(Vec<u64>);

impl Ages {
    /// The age that this share of samples does not exceed; none without samples.
    pub fn percentile(&mut self, percent: usize) -> Option<u64> {
        self.0.sort_unstable();
        self.0.get((self.0.len() * percent / 100).min(self.0.len().saturating_sub(1))).copied()
    }

    fn note(&mut self, received: u64) {
        self.0.push(now().saturating_sub(received));
    }
}

/// A WebSocket and a stream of lines, read by this thread.
pub struct Readers {
    sockets: [TcpStream; 2],
    pending: [Vec<u8>; 2],
}

impl Readers {
    /// Connects and subscribes both.
    pub fn start(address: &str) -> anyhow::Result<Self> {
        let sockets = [subscribed(address)?, open(address, STREAM.as_bytes())?];
        sockets.iter().try_for_each(|socket| socket.set_nonblocking(true))?;
        let mut readers = Self { sockets, pending: Default::default() };
        // Samples that the log has already, and the answers to the requests.
        readers.measure(Duration::from_millis(500), &mut Default::default())?;
        Ok(readers)
    }

    /// Reads for some time, and adds the ages of what arrives.
    pub fn measure(&mut self, length: Duration, ages: &mut [Ages; 2]) -> anyhow::Result<()> {
        // The figure is about the threads of the DAC: this one must not wait for a processor either.
        use_short_slices();
        let until = Instant::now() + length;
        while Instant::now() < until {
            let has_read = [self.read(0)?, self.read(1)?];
            Self::websocket(&mut self.pending[0], &mut ages[0])?;
            Self::lines(&mut self.pending[1], &mut ages[1]);
            if has_read == [false, false] {
                std::thread::sleep(POLL_INTERVAL);
            }
        }
        // Threads and processes that this one starts would have short slices too.
        use_usual_slices();
        Ok(())
    }

    fn read(&mut self, reader: usize) -> anyhow::Result<bool> {
        let mut buffer = [0; 64 * 1024];
        match self.sockets[reader].read(&mut buffer) {
            Ok(0) => bail!("the DAC closed a reader that did nothing wrong"),
            Ok(count) if self.pending[reader].len() + count > MAX_PENDING_BYTES => {
                bail!("a message without an end")
            }
            Ok(count) => {
                self.pending[reader].extend_from_slice(&buffer[..count]);
                Ok(true)
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(false),
            Err(error) => Err(error).context("a reader that did nothing wrong"),
        }
    }

    fn websocket(pending: &mut Vec<u8>, ages: &mut Ages) -> anyhow::Result<()> {
        // The answer to the handshake comes first.
        if pending.starts_with(b"HTTP/") {
            let Some(end) = pending.windows(4).position(|bytes| bytes == b"\r\n\r\n") else { return Ok(()) };
            pending.drain(..end + 4);
        }
        let mut frames = Frames::new(pending);
        for message in frames.by_ref() {
            ages.note(Header::parse(message?).context("no batch")?.dac_time);
        }
        let taken = frames.taken();
        pending.drain(..taken);
        Ok(())
    }

    fn lines(pending: &mut Vec<u8>, ages: &mut Ages) {
        let Some(end) = pending.iter().rposition(|&byte| byte == b'\n') else { return };
        let whole: Vec<u8> = pending.drain(..=end).collect();
        for line in String::from_utf8_lossy(&whole).lines() {
            let digits = line.split_once(DAC_TIME).map(|(_, rest)| rest);
            let digits = digits.and_then(|rest| rest.split(|c: char| !c.is_ascii_digit()).next());
            if let Some(received) = digits.and_then(|digits| digits.parse().ok()) {
                ages.note(received);
            }
        }
    }
}

fn now() -> u64 {
    let since_1970 = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since_1970.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_of_ages() {
        let mut ages = Ages((1..=200).rev().collect());
        assert_eq!((ages.percentile(50), ages.percentile(99)), (Some(101), Some(199)));
        assert_eq!(Ages::default().percentile(99), None);
    }

    #[test]
    fn whole_lines_are_measured_and_the_rest_waits() {
        let (mut ages, line) = (Ages::default(), format!("{{\"event\":\"samples\",{DAC_TIME}{}}}\n", now()));
        let mut pending = [line.as_bytes(), b"{\"event\":\"sam"].concat();
        Readers::lines(&mut pending, &mut ages);
        assert_eq!((ages.0.len(), &pending[..]), (1, &b"{\"event\":\"sam"[..]));
    }
}

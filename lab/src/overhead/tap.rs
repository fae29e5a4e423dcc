//! Counts the packets of some ports on the loopback interface while others use them.

use super::{capture, packet::Segment};
use std::{
    io::{ErrorKind, Read},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

/// Read timeout, after which it checks whether it should end.
const READ_TIMEOUT: Duration = Duration::from_millis(100);
/// Time for packets that wait when it should end.
const DRAIN_TIME: Duration = Duration::from_millis(500);

/// Packets on the wire in one direction.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counted {
    /// Packets.
    pub packets: u64,
    /// Their bytes, IP and TCP headers included.
    pub bytes: u64,
    /// The bytes of the streams alone.
    pub payload: u64,
}

/// Both directions, as the ports see them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Traffic {
    /// To the ports.
    pub received: Counted,
    /// From the ports.
    pub sent: Counted,
}

/// Counts until it is stopped.
#[derive(Debug)]
pub struct Tap {
    is_over: Arc<AtomicBool>,
    thread: JoinHandle<anyhow::Result<Traffic>>,
}

impl Tap {
    /// Counts packets from and to these ports.
    ///
    /// # Errors
    /// Without the permission to capture (CAP_NET_RAW).
    pub fn start(ports: Vec<u16>) -> anyhow::Result<Self> {
        let mut packets = capture::packets()?;
        packets.set_read_timeout(Some(READ_TIMEOUT))?;
        let is_over = Arc::new(AtomicBool::new(false));
        let told = is_over.clone();
        let thread = thread::Builder::new().name("tap".into()).spawn(move || {
            let (mut traffic, mut buffer) = (Traffic::default(), vec![0; capture::PACKET]);
            let mut until = None;
            loop {
                // Packets of others may never leave the interface silent.
                if told.load(Ordering::Relaxed)
                    && *until.get_or_insert_with(|| Instant::now() + DRAIN_TIME) < Instant::now()
                {
                    return Ok(traffic);
                }
                match packets.read(&mut buffer) {
                    Ok(length) => {
                        let segment = buffer.get(..length).and_then(Segment::parse);
                        segment.iter().for_each(|segment| traffic.add(segment, &ports));
                    }
                    Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {
                        // Only once nothing waits any more.
                        if told.load(Ordering::Relaxed) {
                            return Ok(traffic);
                        }
                    }
                    Err(error) => return Err(error.into()),
                }
            }
        })?;
        Ok(Self { is_over, thread })
    }

    /// Ends, and returns what was counted.
    pub fn stop(self) -> anyhow::Result<Traffic> {
        self.is_over.store(true, Ordering::Relaxed);
        self.thread.join().map_err(|_| anyhow::anyhow!("the capture panicked"))?
    }
}

impl Traffic {
    fn add(&mut self, segment: &Segment, ports: &[u16]) {
        let direction = if ports.contains(&segment.from) {
            &mut self.sent
        } else if ports.contains(&segment.to) {
            &mut self.received
        } else {
            return;
        };
        direction.packets += 1;
        direction.bytes += (segment.headers + segment.payload) as u64;
        direction.payload += segment.payload as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{io::Write, net::UdpSocket};

    #[test]
    fn it_ends_although_others_send_all_the_time() {
        let Ok(tap) = Tap::start(vec![1]) else {
            let _ = writeln!(std::io::stderr(), "SKIPPED: packets cannot be captured here");
            return;
        };
        let is_over = Arc::new(AtomicBool::new(false));
        let told = is_over.clone();
        let others = thread::spawn(move || {
            let socket = UdpSocket::bind("127.0.0.1:0").expect("a port");
            let itself = socket.local_addr().expect("an address");
            while !told.load(Ordering::Relaxed) {
                // The receiver's buffer fills up: packets pass the interface all the same.
                let _ = socket.send_to(&[7; 8], itself);
                thread::sleep(Duration::from_millis(1));
            }
        });
        let traffic = tap.stop().expect("a count");
        is_over.store(true, Ordering::Relaxed);
        others.join().expect("no panic");
        assert_eq!(traffic, Traffic::default());
    }

    #[test]
    fn segments_count_in_their_direction() {
        let mut traffic = Traffic::default();
        for (from, to) in [(80, 5_000), (5_000, 80), (5_000, 81), (80, 5_001)] {
            traffic.add(&Segment { from, to, headers: 52, payload: 8 }, &[80]);
        }
        assert_eq!(traffic.sent, Counted { packets: 2, bytes: 120, payload: 16 });
        assert_eq!(traffic.received, Counted { packets: 1, bytes: 60, payload: 8 });
    }
}

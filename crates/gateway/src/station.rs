//! One line of a gateway, without its socket or port: bytes and time in, bytes out. It knows which devices are heard over the line.

use crate::{
    device::{FrameRefusal, Moment},
    frame::{Damage, Deframer, Frame, write},
    message::{FromDevice, ToDevice, parse},
    registry::{Caller, LineNumber, Registry, SharedDevice, lock},
    stats::LineStats,
};
use std::{
    net::{IpAddr, SocketAddr},
    sync::{Arc, atomic::Ordering},
    time::{Duration, Instant},
};

/// A device that must announce itself is asked at most so often.
const ASK_AGAIN: Duration = Duration::from_millis(100);
/// Noise is logged once in this time.
const LOG_AGAIN: Duration = Duration::from_secs(3_600);
/// Number of damaged frames, or bytes without a frame, without a whole frame: the speed may be wrong.
const ONLY_DAMAGED: u64 = 10;
const ONLY_NOISE: u64 = 4_096;

/// Peer that bytes come from, and go to: an address of datagrams; none for a stream.
pub type Peer = Option<SocketAddr>;

/// A line, or a connection of one.
pub struct Station {
    /// As the log names it.
    what: String,
    number: LineNumber,
    is_datagrams: bool,
    /// Address of the other end of a connection.
    source: Option<IpAddr>,
    registry: Arc<Registry>,
    stats: Arc<LineStats>,
    deframer: Deframer,
    devices: Vec<LineDevice>,
    asked: Option<Instant>,
    /// Devices that are part of the counter.
    counted: u32,
    log: Log,
}

/// A device that is heard over this line.
struct LineDevice {
    name: String,
    device: SharedDevice,
    peer: Peer,
    /// Number of its next frame.
    next: Option<u8>,
}

/// Events of the line that were logged, and their times.
#[derive(Default)]
struct Log {
    /// Since the line was opened.
    frames: u64,
    damaged: u64,
    bytes: u64,
    noise: Option<Instant>,
    refused: Option<Instant>,
    has_guessed: bool,
}

/// Bytes for a peer.
pub type Out = Vec<(Peer, Vec<u8>)>;

impl Station {
    /// A line that opens. `what` names it in the log.
    pub fn new(what: &str, is_datagrams: bool, registry: Arc<Registry>, stats: Arc<LineStats>) -> Self {
        Self {
            what: what.into(),
            number: registry.open_line(),
            is_datagrams,
            source: None,
            registry,
            stats,
            deframer: Deframer::default(),
            devices: Vec::new(),
            asked: None,
            counted: 0,
            log: Log::default(),
        }
    }

    /// Names the other end of a connection.
    pub fn of(mut self, source: IpAddr) -> Self {
        self.source = Some(source);
        self
    }

    /// Takes bytes that have arrived.
    pub fn receive(&mut self, bytes: &[u8], peer: Peer, now: Moment, out: &mut Out) {
        LineStats::add(&self.stats.received, bytes.len() as u64);
        self.log.bytes += bytes.len() as u64;
        let mut deframer = std::mem::take(&mut self.deframer);
        if self.is_datagrams {
            deframer.reset();
        }
        deframer.push(bytes, |found| match found {
            Ok(frame) => self.frame(&frame, peer, now, out),
            Err(damage) => self.damaged(damage, now.steady),
        });
        self.deframer = deframer;
        self.guess_why();
    }

    /// Whether no device is heard on it.
    pub fn is_empty(&self) -> bool {
        self.devices.is_empty()
    }

    /// Does what is due. Called at least every 100 ms.
    pub fn tick(&mut self, now: Moment, out: &mut Out) {
        let (registry, number) = (&self.registry, self.number);
        self.devices.retain(|heard| registry.is_of(&heard.name, &heard.device, number));
        let mut is_heard = 0;
        for heard in &self.devices {
            let mut bytes = Vec::new();
            let mut device = lock(&heard.device);
            device.tick(now, &mut bytes);
            is_heard += u32::from(device.is_heard(now.steady));
            drop(device);
            send(heard.peer, bytes, out);
        }
        self.count_devices(is_heard);
    }

    /// Connections of one address share its counters.
    fn count_devices(&mut self, count: u32) {
        let before = std::mem::replace(&mut self.counted, count);
        self.stats.devices.fetch_add(count.wrapping_sub(before), Ordering::Relaxed);
    }

    fn frame(&mut self, frame: &Frame<'_>, peer: Peer, now: Moment, out: &mut Out) {
        LineStats::add(&self.stats.frames, 1);
        self.log.frames += 1;
        let mut bytes = Vec::new();
        match parse(frame) {
            Ok(FromDevice::Announce(announce)) => {
                let source = peer.map(|peer| peer.ip()).or(self.source);
                let caller = Caller { line: self.number, is_datagrams: self.is_datagrams, source };
                match self.registry.claim(&announce.name, caller, now.steady) {
                    Ok(device) => {
                        self.hear(&announce.name, &device, peer, frame.number);
                        lock(&device).announce(announce, now, &self.stats, &mut bytes);
                    }
                    Err(error) => self.refuse(&format!("device {:?}: {error}", announce.name), now.steady),
                }
            }
            Ok(message) => self.message(frame, message, peer, now, &mut bytes),
            Err(error) => self.refuse(&error.to_string(), now.steady),
        }
        send(peer, bytes, out);
    }

    fn message(
        &mut self,
        frame: &Frame<'_>,
        message: FromDevice<'_>,
        peer: Peer,
        now: Moment,
        bytes: &mut Vec<u8>,
    ) {
        let result = match self.sender_of(frame, peer) {
            Some(index) => {
                let heard = &mut self.devices[index];
                heard.peer = peer;
                let lost = heard.next.map_or(0, |next| frame.number.wrapping_sub(next));
                // Datagrams overtake each other: a small step back is none forward.
                let lost = if lost > 128 && self.is_datagrams { 0 } else { lost };
                heard.next = Some(frame.number.wrapping_add(1));
                LineStats::add(&self.stats.lost_frames, lost.into());
                let device = heard.device.clone();
                lock(&device).receive(frame, message, now, &self.stats, bytes)
            }
            None => Err(FrameRefusal::OtherSession),
        };
        match result {
            Ok(()) => {}
            Err(FrameRefusal::OtherSession) => {
                LineStats::add(&self.stats.refused_frames, 1);
                self.ask_to_announce(frame.session, now.steady, bytes);
            }
            Err(FrameRefusal::Contents) => LineStats::add(&self.stats.refused_frames, 1),
        }
    }

    /// The device that has sent a frame. A stream has one, the last that has announced itself; datagrams have an address and a session.
    fn sender_of(&self, frame: &Frame<'_>, peer: Peer) -> Option<usize> {
        if !self.is_datagrams {
            return self.devices.len().checked_sub(1);
        }
        let of_peer = self.devices.iter().position(|heard| heard.peer == peer);
        of_peer
            .or_else(|| self.devices.iter().position(|heard| lock(&heard.device).has_session(frame.session)))
    }

    fn hear(&mut self, name: &str, device: &SharedDevice, peer: Peer, number: u8) {
        let next = Some(number.wrapping_add(1));
        if !self.is_datagrams {
            // Another device at the end of the line.
            self.devices.retain(|heard| heard.name == name);
        } else {
            // Another device at this address.
            self.devices.retain(|heard| heard.name == name || heard.peer != peer);
        }
        match self.devices.iter_mut().find(|heard| heard.name == name) {
            Some(heard) => (heard.device, heard.peer, heard.next) = (device.clone(), peer, next),
            None => self.devices.push(LineDevice { name: name.into(), device: device.clone(), peer, next }),
        }
    }

    fn ask_to_announce(&mut self, session: u32, now: Instant, bytes: &mut Vec<u8>) {
        if self.asked.is_some_and(|asked| now.saturating_duration_since(asked) < ASK_AGAIN) {
            return;
        }
        self.asked = Some(now);
        let (kind, body) = ToDevice::AskAnnounce.to_body();
        write(Frame { kind, number: 0, session, body: &body }, bytes);
    }

    fn refuse(&mut self, error: &str, now: Instant) {
        LineStats::add(&self.stats.refused_frames, 1);
        // Each connection has a station: their refusals together are logged once.
        if is_due(&mut self.log.refused, now) && self.stats.is_refusal_due(now, LOG_AGAIN) {
            tracing::warn!(line = %self.what, error, "a device is refused: this is counted, and logged once an hour");
        }
    }

    fn damaged(&mut self, damage: Damage, now: Instant) {
        LineStats::add(&self.stats.damaged_frames, 1);
        self.log.damaged += 1;
        if self.log.frames > 0 && is_due(&mut self.log.noise, now) {
            let damaged = self.log.damaged;
            tracing::warn!(line = %self.what, ?damage, damaged,
                "damaged frames: noise or lost bytes on the line. This is counted, and logged once an hour");
        }
    }

    /// Says once what it may be if nothing but noise arrives.
    fn guess_why(&mut self) {
        let Log { frames, damaged, bytes, has_guessed, .. } = &mut self.log;
        if *frames > 0 || *has_guessed || (*damaged < ONLY_DAMAGED && *bytes < ONLY_NOISE) {
            return;
        }
        *has_guessed = true;
        tracing::warn!(line = %self.what, damaged, bytes,
            "only damaged frames arrive: is the speed right (--serial PORT,BAUD), and does a device of OASIS send here?");
    }
}

impl Drop for Station {
    fn drop(&mut self) {
        self.registry.close_line(self.number);
        self.count_devices(0);
    }
}

fn send(peer: Peer, bytes: Vec<u8>, out: &mut Out) {
    if !bytes.is_empty() {
        out.push((peer, bytes));
    }
}

/// Whether something may be logged now.
/// Whether something that was logged at this time is to be logged again.
pub fn is_due(logged: &mut Option<Instant>, now: Instant) -> bool {
    let is_due = logged.is_none_or(|logged| now.saturating_duration_since(logged) >= LOG_AGAIN);
    if is_due {
        *logged = Some(now);
    }
    is_due
}

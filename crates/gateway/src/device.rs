//! The gateway's side of the link to one device, without its line: messages and time in, messages and calls of its [`Uplink`] out.
//!
//! `docs/reference/embedded.md` is the specification. A device announces itself; the gateway asks for schemas that it does not know, and accepts the
//! device in a session, which is a run of the device's node at the DAC. What a session has counted and the gateway has not received is declared.

mod commands;
mod instance;
mod schema_request;

use crate::{
    frame::Frame,
    message::{Announce, AnnouncedInstance, FromDevice, InstanceCounters, SchemaPiece, ToDevice},
    schemas::Schemas,
    sessions::{KnownSession, Sessions, SharedSessions},
    stats::LineStats,
    uplink::{Uplink, secret_of},
};
use commands::Commands;
use instance::DeviceInstance;
use oasis_channel::{InstanceState, RegisteredInstance};
use oasis_probe::{
    NodeError,
    forward::{Missing, Session},
};
use oasis_wire::{probe_kind::ProbeKind, quantity::Hertz, schema::ProbeType};
use schema_request::SchemaRequest;
use std::{
    sync::{Arc, MutexGuard, PoisonError},
    time::{Duration, Instant},
};
use uuid::Uuid;

/// A device that was not heard for so long is away.
pub const SILENT: Duration = Duration::from_secs(5);

/// When a message arrived.
#[derive(Debug, Clone, Copy)]
pub struct Moment {
    /// By the steady clock.
    pub steady: Instant,
    /// By the clock of this host, nanoseconds since 1970.
    pub wall: u64,
}

/// State that devices of a gateway share.
#[derive(Debug, Default)]
pub struct SharedDevices {
    /// Schemas.
    pub schemas: Schemas,
}

/// The gateway's side of a device.
pub struct Device {
    name: String,
    uplink: Box<dyn Uplink>,
    known: Arc<SharedDevices>,
    sessions: SharedSessions,
    /// Frames may overtake each other, or come twice.
    is_datagrams: bool,
    /// Number of the next frame to the device.
    number: u8,
    heard: Option<Instant>,
    is_present: bool,
    /// An announcement that is not answered yet, because schemas are missing.
    asking: Option<SchemaRequest>,
    accepted: Option<Accepted>,
    offered: Option<Offered>,
    commands: Commands,
    /// A failure to begin a session was logged.
    has_failed: bool,
}

/// The session of a device.
struct Accepted {
    session: u32,
    instances: Vec<DeviceInstance>,
    kinds: Vec<AnnouncedInstance>,
}

/// A session that begins with the first frame of it that comes.
struct Offered {
    session: u32,
    /// The last announcement that it answers.
    announce: Announce,
    types: Vec<Arc<ProbeType>>,
}

/// A frame that was not used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrameRefusal {
    /// The frame is of another session: the device must announce itself.
    OtherSession,
    /// The frame has contents that no device sends.
    Contents,
}

impl Device {
    /// The device with this name.
    pub fn new(
        name: &str,
        uplink: Box<dyn Uplink>,
        known: Arc<SharedDevices>,
        sessions: SharedSessions,
        is_datagrams: bool,
    ) -> Self {
        Self {
            name: name.into(),
            uplink,
            known,
            sessions,
            is_datagrams,
            number: 0,
            heard: None,
            is_present: false,
            asking: None,
            accepted: None,
            offered: None,
            commands: Commands::default(),
            has_failed: false,
        }
    }

    /// The session that is offered, or that has begun last; 0 before that.
    #[cfg(feature = "simulation")]
    pub fn session(&self) -> u32 {
        let offered = self.offered.as_ref().map(|offered| offered.session);
        offered.or(self.accepted.as_ref().map(|accepted| accepted.session)).unwrap_or(0)
    }

    /// Whether this is the session that has begun last, or the one that is offered.
    pub fn has_session(&self, session: u32) -> bool {
        let is_accepted = self.accepted.as_ref().is_some_and(|accepted| accepted.session == session);
        is_accepted || self.offered.as_ref().is_some_and(|offered| offered.session == session)
    }

    /// Whether the device was heard lately.
    pub fn is_heard(&self, now: Instant) -> bool {
        self.heard.is_some_and(|heard| now.saturating_duration_since(heard) < SILENT)
    }

    /// Whether the device is away, and nothing of it is left to send.
    pub fn is_idle(&self, now: Instant) -> bool {
        !self.is_heard(now) && self.uplink.is_idle()
    }

    /// Handles an announcement. Appends frames for the device to `out`.
    pub fn announce(&mut self, announce: Announce, now: Moment, stats: &LineStats, out: &mut Vec<u8>) {
        // The device has taken the session that was offered: only what it sent in it was lost.
        self.begin_if_offered(announce.session, now, stats);
        self.hear(now);
        let is_same = self.asking.as_ref().is_some_and(|asking| asking.announce == announce);
        if !is_same {
            self.asking = Some(SchemaRequest::new(announce));
        }
        self.ask_or_accept(now, out);
    }

    /// Handles any other frame. Appends frames for the device to `out`.
    ///
    /// # Errors
    /// If the frame is of another session, or has contents that no device sends.
    pub fn receive(
        &mut self,
        frame: &Frame<'_>,
        message: FromDevice<'_>,
        now: Moment,
        stats: &LineStats,
        out: &mut Vec<u8>,
    ) -> Result<(), FrameRefusal> {
        if let FromDevice::Schema(piece) = message {
            self.hear(now);
            return self.schema(piece, now, out);
        }
        self.begin_if_offered(frame.session, now, stats);
        if self.accepted.as_ref().is_none_or(|accepted| accepted.session != frame.session) {
            return Err(FrameRefusal::OtherSession);
        }
        self.hear(now);
        match message {
            FromDevice::Batch(bytes) => self.batch(bytes, now.steady, stats),
            FromDevice::Counters(counters) => self.counters(&counters, now.steady, stats),
            FromDevice::TimeRequest(uptime) => {
                if let Some(offset) = self.uplink.clock_offset() {
                    let time = now.wall.saturating_add_signed(offset);
                    self.send(ToDevice::Time { uptime, time }, frame.session, out);
                }
                Ok(())
            }
            FromDevice::Result(result) => {
                self.commands.answered(result, &mut *self.uplink);
                self.give_command(now.steady, out);
                Ok(())
            }
            FromDevice::Announce(_) | FromDevice::Schema(_) | FromDevice::Unknown => Ok(()),
        }
    }

    /// Does what is due. Called at least every 100 ms. Appends frames for the device to `out`.
    pub fn tick(&mut self, now: Moment, out: &mut Vec<u8>) {
        if self.is_present && !self.is_heard(now.steady) {
            tracing::warn!(node = %self.name, "device is silent: its node is offline until it is heard again");
            self.leave();
        }
        if self.asking.as_ref().is_some_and(|asking| asking.is_due(now.steady)) {
            self.ask_or_accept(now, out);
        }
        if self.is_present {
            self.give_command(now.steady, out);
        }
    }

    /// Notes that the device's line is closed.
    pub fn lose_line(&mut self) {
        if self.is_present {
            tracing::warn!(node = %self.name, "the line of a device is closed: its node is offline until it is heard again");
            self.leave();
        }
    }

    fn leave(&mut self) {
        self.is_present = false;
        self.heard = None;
        self.asking = None;
        self.uplink.set_present(false);
        self.commands.refuse_all(
            &mut *self.uplink,
            "device_silent",
            "the device is not connected to its gateway",
        );
    }

    /// Sends what is left to the DAC, and remembers up to where the gateway has the session.
    pub fn shutdown(&mut self) {
        if let Some(accepted) = &self.accepted {
            let last = accepted.instances.iter().map(DeviceInstance::last).collect();
            self.remember(KnownSession { session: accepted.session, last });
        }
        self.uplink.shutdown();
    }

    /// Notes that something of the device has arrived.
    pub fn hear(&mut self, now: Moment) {
        self.heard = Some(now.steady);
        if !self.is_present && self.accepted.is_some() {
            self.is_present = true;
            self.uplink.set_present(true);
        }
    }

    fn send(&mut self, message: ToDevice, session: u32, out: &mut Vec<u8>) {
        let (kind, body) = message.to_body();
        crate::frame::write(Frame { kind, number: self.number, session, body: &body }, out);
        self.number = self.number.wrapping_add(1);
    }

    fn give_command(&mut self, now: Instant, out: &mut Vec<u8>) {
        let Some(accepted) = &self.accepted else { return };
        let session = accepted.session;
        if let Some(command) = self.commands.due(now, &accepted.kinds, &mut *self.uplink) {
            self.send(command, session, out);
        }
    }

    fn schema(&mut self, piece: SchemaPiece<'_>, now: Moment, out: &mut Vec<u8>) -> Result<(), FrameRefusal> {
        let Some(asking) = &mut self.asking else { return Ok(()) };
        match asking.take(piece, &self.known.schemas) {
            Ok(()) => {
                self.ask_or_accept(now, out);
                Ok(())
            }
            Err(error) => {
                if !std::mem::replace(&mut self.has_failed, true) {
                    let (instance, error) = (piece.instance, error.to_string());
                    tracing::warn!(node = %self.name, instance, error, "device sent a schema that cannot be used");
                }
                Err(FrameRefusal::Contents)
            }
        }
    }

    /// Asks for the next piece of a schema, or accepts the device.
    fn ask_or_accept(&mut self, now: Moment, out: &mut Vec<u8>) {
        let Some(asking) = &mut self.asking else { return };
        let session = asking.announce.session;
        match asking.next(now.steady, &self.known.schemas) {
            Some(question) => self.send(question, session, out),
            None if asking.is_complete() => {
                if let Some(asking) = self.asking.take() {
                    self.accept(asking.announce, now, out);
                }
            }
            None => {}
        }
    }

    /// Answers an announcement with the present session, or offers another one.
    fn accept(&mut self, announce: Announce, now: Moment, out: &mut Vec<u8>) {
        let types: Option<Vec<Arc<ProbeType>>> = announce
            .instances
            .iter()
            .map(|known| self.known.schemas.get((known.probe_type, known.schema_crc)))
            .collect();
        // Others may have made the memory of schemas forget some: the device announces itself again.
        let Some(types) = types else { return };
        let (announced, starts) = (announce.session, announce.starts);
        let session = match self.is_continued(&announce) {
            true => match self.go_on(announce, types, now) {
                Ok(()) => announced,
                Err(error) => return self.log_failure(&error),
            },
            false => self.offer(announce, types),
        };
        self.send(ToDevice::Accept { session, starts }, announced, out);
    }

    /// The session that has begun last: of this process, or of one before it.
    fn current(&self) -> u32 {
        let remembered = || self.lock().of(&self.name).map_or(0, |known| known.session);
        self.accepted.as_ref().map_or_else(remembered, |accepted| accepted.session)
    }

    /// Whether nothing has happened to the device.
    fn is_continued(&self, announce: &Announce) -> bool {
        let is_alike = self.accepted.as_ref().is_none_or(|accepted| is_alike(&accepted.kinds, announce));
        announce.session != 0 && announce.session == self.current() && !announce.has_started && is_alike
    }

    fn go_on(
        &mut self,
        announce: Announce,
        types: Vec<Arc<ProbeType>>,
        now: Moment,
    ) -> Result<(), NodeError> {
        self.offered = None;
        if self.accepted.is_none() {
            // The gateway has restarted, not the device.
            let session = announce.session;
            self.begin(session, &announce, &types)?;
            self.set_accepted(session, announce, types, now.steady);
            tracing::info!(node = %self.name, session, "device continues its session");
        } else if let Some(accepted) = &mut self.accepted {
            accepted.kinds = announce.instances;
            for (index, known) in accepted.kinds.iter().enumerate() {
                self.uplink.state(index, state_of(known));
            }
        }
        self.hear(now);
        Ok(())
    }

    /// Returns the session that is offered to a device: it begins with its first frame.
    fn offer(&mut self, announce: Announce, types: Vec<Arc<ProbeType>>) -> u32 {
        let is_repeated = |offered: &Offered| {
            (offered.announce.session, offered.announce.starts) == (announce.session, announce.starts)
        };
        let same =
            self.offered.as_ref().filter(|offered| is_repeated(offered)).map(|offered| offered.session);
        let session = same.unwrap_or_else(|| new_session(self.current(), announce.session));
        // The last announcement's statement about the end of the session before it counts.
        self.offered = Some(Offered { session, announce, types });
        session
    }

    /// Begins this session if it was offered.
    fn begin_if_offered(&mut self, session: u32, now: Moment, stats: &LineStats) {
        if let Some(offered) = self.offered.take_if(|offered| offered.session == session)
            && let Err(error) = self.begin_offered(offered, now, stats)
        {
            self.log_failure(&error);
        }
    }

    /// Begins the session that was offered, because a frame of it has come. The present one ends.
    fn begin_offered(&mut self, offered: Offered, now: Moment, stats: &LineStats) -> Result<(), NodeError> {
        let Offered { session, announce, types } = offered;
        let current = self.current();
        if current != 0 && announce.session == current {
            if self.accepted.is_none() {
                // The gateway has restarted too: the session that has ended gets its counts.
                self.begin(current, &announce, &types)?;
            }
            self.end_session(&announce, now.steady);
            LineStats::add(&stats.restarts, 1);
            tracing::warn!(node = %self.name, starts = announce.starts, "device restarted: what it had not sent is lost, and counted");
        } else if let Some(accepted) = &self.accepted {
            LineStats::add(&stats.restarts, 1);
            LineStats::add(&stats.unknown_restarts, 1);
            for (known, instance) in accepted.kinds.iter().zip(&accepted.instances) {
                let since = instance.taken();
                tracing::warn!(node = %self.name, instance = %known.name, since, "device restarted, samples since N are unknown");
            }
        }
        if announce.session == 0 && announce.instances.iter().any(|known| known.ended > 0) {
            // The device has started before, and no session came of that: what it took then gets a run of its own.
            self.begin(new_session(current, session), &announce, &types)?;
            for (index, known) in announce.instances.iter().enumerate() {
                self.uplink.taken(index, known.ended.min(instance::MAX_SEQUENCE), Missing::default());
            }
        }
        self.begin(session, &announce, &types)?;
        self.commands.begin_again(&mut *self.uplink);
        tracing::info!(node = %self.name, software = %announce.software, session, instances = types.len(), "device accepted");
        self.set_accepted(session, announce, types, now.steady);
        Ok(())
    }

    fn set_accepted(&mut self, session: u32, announce: Announce, types: Vec<Arc<ProbeType>>, now: Instant) {
        let instances = self.instances_of(session, types, now);
        self.accepted = Some(Accepted { session, instances, kinds: announce.instances });
        // The file says up to where the samples are known only while no process continues from there.
        self.remember(KnownSession { session, last: Vec::new() });
        self.has_failed = false;
    }

    fn log_failure(&mut self, error: &NodeError) {
        if !std::mem::replace(&mut self.has_failed, true) {
            tracing::error!(node = %self.name, %error, "cannot begin the node of a device");
        }
    }

    /// Gives the present session its last counts: what the device has not sent is lost.
    fn end_session(&mut self, announce: &Announce, now: Instant) {
        for (index, known) in announce.instances.iter().enumerate() {
            let (index, most) = match &self.accepted {
                Some(accepted) => {
                    let before = accepted.kinds.iter().position(|before| before.name == known.name);
                    // A new program may have other instances.
                    let Some(index) = before else { continue };
                    (index, accepted.instances.get(index).map_or(0, |instance| instance.most(now)))
                }
                None => (index, instance::MAX_SEQUENCE),
            };
            self.uplink.taken(index, known.ended.min(most), Missing::default());
        }
    }

    fn begin(
        &mut self,
        session: u32,
        announce: &Announce,
        types: &[Arc<ProbeType>],
    ) -> Result<(), NodeError> {
        let secret = secret_of(self.lock().secret(), &self.name, session);
        let mut unique: Vec<ProbeType> = Vec::new();
        for probe_type in types {
            if unique.iter().all(|known| known.uuid != probe_type.uuid) {
                unique.push((**probe_type).clone());
            }
        }
        let instances =
            announce.instances.iter().zip(types).map(|(known, probe_type)| registered(known, probe_type));
        let software = match announce.software.as_str() {
            "" => "oasis embedded",
            given => given,
        };
        self.uplink.begin(Session {
            secret,
            software: software.into(),
            types: unique,
            instances: instances.collect(),
        })
    }

    /// The instances at the beginning of a session, or where a gateway before this one has left them.
    fn instances_of(&self, session: u32, types: Vec<Arc<ProbeType>>, now: Instant) -> Vec<DeviceInstance> {
        let remembered = self.lock().of(&self.name).filter(|known| known.session == session).cloned();
        let last = |index: usize| remembered.as_ref().and_then(|known| known.last.get(index).copied());
        let is_continued = remembered.is_some();
        let new = |(index, probe_type)| {
            DeviceInstance::new(index, probe_type, last(index).unwrap_or(0), is_continued, now)
        };
        types.into_iter().enumerate().map(new).collect()
    }

    fn batch(&mut self, bytes: &[u8], now: Instant, stats: &LineStats) -> Result<(), FrameRefusal> {
        let Some(accepted) = &mut self.accepted else { return Ok(()) };
        // The topic of the link: the number of the instance plus 1.
        let topic = bytes.get(4..8).and_then(|topic| topic.try_into().ok()).map(u32::from_le_bytes);
        let index = topic.and_then(|topic| usize::try_from(topic).ok()?.checked_sub(1));
        let instance =
            index.and_then(|index| accepted.instances.get_mut(index)).ok_or(FrameRefusal::Contents)?;
        match instance.batch(bytes, now) {
            Ok(taken) => {
                LineStats::add(&stats.lost_samples, taken.lost);
                if let Some(batch) = taken.batch {
                    self.uplink.push(batch);
                }
                Ok(())
            }
            Err(error) => {
                if !std::mem::replace(&mut self.has_failed, true) {
                    tracing::warn!(node = %self.name, error, "device sent a batch that cannot be used: it is counted as refused");
                }
                Err(FrameRefusal::Contents)
            }
        }
    }

    fn counters(
        &mut self,
        counters: &[InstanceCounters],
        now: Instant,
        stats: &LineStats,
    ) -> Result<(), FrameRefusal> {
        let Some(accepted) = &mut self.accepted else { return Ok(()) };
        for (index, (instance, counters)) in accepted.instances.iter_mut().zip(counters).enumerate() {
            let lost = instance.counters(counters, self.is_datagrams, now).ok_or(FrameRefusal::Contents)?;
            LineStats::add(&stats.lost_samples, lost);
            self.uplink.taken(index, instance.taken(), instance.missing());
        }
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, Sessions> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn remember(&self, session: KnownSession) {
        self.lock().set(&self.name, session);
    }
}

/// A number that is neither 0 nor one of these.
fn new_session(current: u32, announced: u32) -> u32 {
    loop {
        // Random bits: bits of the version and the variant lie elsewhere.
        let [a, b, c, d, ..] = *Uuid::new_v4().as_bytes();
        let session = u32::from_le_bytes([a, b, c, d]);
        if ![0, current, announced].contains(&session) {
            return session;
        }
    }
}

/// Whether a device has the instances that it had.
fn is_alike(before: &[AnnouncedInstance], announce: &Announce) -> bool {
    let key =
        |known: &AnnouncedInstance| (known.name.clone(), known.probe_type, known.schema_crc, known.kind);
    before.iter().map(key).eq(announce.instances.iter().map(key))
}

fn registered(known: &AnnouncedInstance, probe_type: &ProbeType) -> RegisteredInstance {
    let state = state_of(known);
    // A DAC expects a rate of a periodic probe.
    let kind = if known.kind == ProbeKind::Periodic && state.hertz.is_none() {
        ProbeKind::Pushed
    } else {
        known.kind
    };
    RegisteredInstance {
        name: known.name.clone(),
        probe_type: known.probe_type,
        kind,
        demand: probe_type.demand().filter(|_| kind == ProbeKind::Periodic),
        state,
        // A device says what it does now, and not what its program declared.
        declared: None,
    }
}

fn state_of(known: &AnnouncedInstance) -> InstanceState {
    InstanceState { hertz: hertz(known.millihertz), enabled: known.enabled, recorder: None }
}

/// A rate; none for 0 or one that no node has.
fn hertz(millihertz: u32) -> Option<Hertz> {
    Hertz::new(f64::from(millihertz) / 1_000.0).ok()
}

#[cfg(test)]
mod tests;

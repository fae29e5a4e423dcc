//! The devices of a gateway by name. A name belongs to the line over which its device is heard.

use crate::{
    device::{Device, SharedDevices},
    sessions::{Sessions, SharedSessions},
    uplink::{DacUplink, Nodes},
};
use oasis_wire::pattern::matches;
use std::{
    collections::BTreeMap,
    fmt,
    net::IpAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread,
    time::Instant,
};

/// Most devices of a gateway.
pub const MAX_DEVICES: usize = 256;
/// Places among them that only known devices get. Who reaches the port can announce any number of others.
const RESERVED: usize = 64;
/// Most devices of one address that are not known.
const MOST_OF_SOURCE: usize = 64;

/// A device, locked for a message at a time.
pub type SharedDevice = Arc<Mutex<Device>>;

/// Number of a line, or of a connection of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineNumber(pub u64);

/// Origin of an announcement.
#[derive(Debug, Clone, Copy)]
pub struct Caller {
    /// The line, or the connection.
    pub line: LineNumber,
    /// Whether its frames are datagrams.
    pub is_datagrams: bool,
    /// Its address; none of a serial line.
    pub source: Option<IpAddr>,
}

/// The devices.
pub struct Registry {
    own_name: String,
    /// Names, with `*` for any text, of devices that always get a place.
    known_names: Vec<String>,
    nodes: Arc<Nodes>,
    known: Arc<SharedDevices>,
    sessions: SharedSessions,
    held: Mutex<DeviceTable>,
}

#[derive(Default)]
struct DeviceTable {
    devices: BTreeMap<String, Claimed>,
    lines: u64,
}

struct Claimed {
    device: SharedDevice,
    /// None once the line is closed.
    line: Option<LineNumber>,
    source: Option<IpAddr>,
    is_known: bool,
}

impl DeviceTable {
    /// Whether one more device has a place.
    fn check_room(&self, is_known: bool, source: Option<IpAddr>) -> Result<(), ClaimError> {
        if self.devices.len() >= MAX_DEVICES {
            return Err(ClaimError::TooMany);
        }
        if is_known {
            return Ok(());
        }
        let strangers = || self.devices.values().filter(|claimed| !claimed.is_known);
        if strangers().count() >= MAX_DEVICES - RESERVED {
            return Err(ClaimError::TooManyStrangers);
        }
        let of_source = || strangers().filter(|claimed| claimed.source == source).count();
        if source.is_some() && of_source() >= MOST_OF_SOURCE {
            return Err(ClaimError::TooManyOfSource);
        }
        Ok(())
    }

    /// Takes the places of devices that are away and have nothing left to send.
    fn free(&mut self, now: Instant) {
        self.devices.retain(|_, claimed| !lock(&claimed.device).is_idle(now));
    }
}

/// Why a device cannot have its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ClaimError {
    /// Another device has it.
    #[error("a device with this name is heard over another line: give each device a name of its own")]
    InUse,
    /// The gateway's node has it.
    #[error("the node of this gateway has this name: give the device another one, or the gateway (--name)")]
    OwnName,
    /// There are too many devices.
    #[error("a gateway has at most {MAX_DEVICES} devices")]
    TooMany,
    /// There are too many devices that it has not known before.
    #[error(
        "{RESERVED} of {MAX_DEVICES} places are for known devices, and the others are taken: name the device in gateway.known"
    )]
    TooManyStrangers,
    /// One address announces too many of them.
    #[error("its address has {MOST_OF_SOURCE} devices that are not known: name the device in gateway.known")]
    TooManyOfSource,
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registry").field("own_name", &self.own_name).finish_non_exhaustive()
    }
}

impl Registry {
    /// No devices yet. The gateway's own node has a name, too.
    pub fn new(own_name: &str, known_names: Vec<String>, nodes: Nodes, sessions: Sessions) -> Self {
        Self {
            own_name: own_name.into(),
            known_names,
            nodes: Arc::new(nodes),
            known: Arc::default(),
            sessions: Arc::new(Mutex::new(sessions)),
            held: Mutex::default(),
        }
    }

    /// Returns the number of a line that opens.
    pub fn open_line(&self) -> LineNumber {
        let mut held = self.held();
        held.lines += 1;
        LineNumber(held.lines)
    }

    /// Notes that a line is closed: other lines may have its devices.
    pub fn close_line(&self, line: LineNumber) {
        for claimed in self.held().devices.values_mut().filter(|claimed| claimed.line == Some(line)) {
            claimed.line = None;
            lock(&claimed.device).lose_line();
        }
    }

    /// Returns the device of a name that was announced over a line.
    ///
    /// # Errors
    /// If the device cannot have the name.
    pub fn claim(&self, name: &str, caller: Caller, now: Instant) -> Result<SharedDevice, ClaimError> {
        let Caller { line, is_datagrams, source } = caller;
        if name == self.own_name {
            return Err(ClaimError::OwnName);
        }
        let mut held = self.held();
        if let Some(claimed) = held.devices.get_mut(name) {
            let is_free = claimed.line.is_none_or(|owner| owner == line);
            if !is_free && lock(&claimed.device).is_heard(now) {
                return Err(ClaimError::InUse);
            }
            claimed.line = Some(line);
            return Ok(claimed.device.clone());
        }
        let is_known = self.is_known(name);
        if held.check_room(is_known, source).is_err() {
            held.free(now);
            held.check_room(is_known, source)?;
        }
        let uplink = Box::new(DacUplink::new(name, self.nodes.clone()));
        let device = Device::new(name, uplink, self.known.clone(), self.sessions.clone(), is_datagrams);
        let device = Arc::new(Mutex::new(device));
        let claimed = Claimed { device: device.clone(), line: Some(line), source, is_known };
        held.devices.insert(name.into(), claimed);
        Ok(device)
    }

    /// Whether the configuration names a device, or a run of the gateway before this one has carried it.
    fn is_known(&self, name: &str) -> bool {
        let sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.is_of_before(name) || self.known_names.iter().any(|pattern| matches(pattern, name))
    }

    /// Whether a device still belongs to a line.
    pub fn is_of(&self, name: &str, device: &SharedDevice, line: LineNumber) -> bool {
        let held = self.held();
        let claimed = held.devices.get(name);
        claimed.is_some_and(|claimed| claimed.line == Some(line) && Arc::ptr_eq(&claimed.device, device))
    }

    /// Sends what is left of all devices, waiting a few seconds at most.
    pub fn shutdown(&self) {
        let devices = std::mem::take(&mut self.held().devices);
        thread::scope(|scope| {
            for claimed in devices.values() {
                scope.spawn(|| lock(&claimed.device).shutdown());
            }
        });
    }

    fn held(&self) -> MutexGuard<'_, DeviceTable> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Locks a device. A thread that has panicked has left it between two messages.
pub fn lock(device: &SharedDevice) -> MutexGuard<'_, Device> {
    device.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::Moment;
    use oasis_probe::{Connector, NodeConfig, TcpConnector};
    use std::time::Duration;

    fn registry(known: &[&str], sessions: Sessions) -> Registry {
        let connector = || Ok(Box::new(TcpConnector::new("127.0.0.1:1")) as Box<dyn Connector>);
        let nodes = Nodes::new(NodeConfig::default(), Box::new(connector));
        Registry::new("gateway", known.iter().map(|name| (*name).into()).collect(), nodes, sessions)
    }

    fn caller(registry: &Registry, last: u8) -> Caller {
        Caller { line: registry.open_line(), is_datagrams: true, source: Some([192, 0, 2, last].into()) }
    }

    #[test]
    fn invented_devices_leave_places_to_known_ones_and_to_other_addresses() {
        let folder = tempfile::tempdir().unwrap();
        let mut before = Sessions::open(Some(folder.path()));
        before.set("pump", crate::sessions::KnownSession { session: 3, last: vec![] });
        drop(before);
        let registry = registry(&["valve *"], Sessions::open(Some(folder.path())));
        let now = Instant::now();
        let claim = |name: &str, last: u8, now| {
            let claimed = registry.claim(name, caller(&registry, last), now);
            // As its announcement does.
            claimed.map(|device| lock(&device).hear(Moment { steady: now, wall: 0 }))
        };
        for number in 0..MOST_OF_SOURCE {
            claim(&format!("invented {number}"), 1, now).unwrap();
        }
        assert_eq!(claim("one more", 1, now), Err(ClaimError::TooManyOfSource));
        claim("another address", 2, now).unwrap();
        for number in MOST_OF_SOURCE + 1..MAX_DEVICES - RESERVED {
            claim(&format!("invented {number}"), 2 + u8::try_from(number / 32).unwrap(), now).unwrap();
        }
        assert_eq!(claim("one more", 99, now), Err(ClaimError::TooManyStrangers));
        claim("pump", 1, now).unwrap();
        claim("valve 7", 1, now).unwrap();
        // Once the invented ones are silent, their places are free.
        claim("one more", 1, now + Duration::from_secs(6)).unwrap();
    }
}

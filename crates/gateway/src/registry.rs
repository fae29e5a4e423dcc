//! The devices of a gateway by name. A name belongs to the line over which its device is heard.

use crate::{
    device::{Device, Known},
    sessions::{Sessions, SharedSessions},
    uplink::{DacUplink, Nodes},
};
use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread,
    time::Instant,
};

/// Most devices of a gateway.
pub const MOST: usize = 256;

/// A device, locked for a message at a time.
pub type SharedDevice = Arc<Mutex<Device>>;

/// Number of a line, or of a connection of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineNumber(pub u64);

/// The devices.
pub struct Registry {
    own_name: String,
    nodes: Arc<Nodes>,
    known: Arc<Known>,
    sessions: SharedSessions,
    held: Mutex<Held>,
}

#[derive(Default)]
struct Held {
    devices: BTreeMap<String, Claimed>,
    lines: u64,
}

struct Claimed {
    device: SharedDevice,
    /// None once the line is closed.
    line: Option<LineNumber>,
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
    #[error("a gateway has at most {MOST} devices")]
    TooMany,
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registry").field("own_name", &self.own_name).finish_non_exhaustive()
    }
}

impl Registry {
    /// No devices yet. The gateway's own node has a name, too.
    pub fn new(own_name: &str, nodes: Nodes, sessions: Sessions) -> Self {
        Self {
            own_name: own_name.into(),
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
    pub fn claim(
        &self,
        name: &str,
        line: LineNumber,
        is_datagrams: bool,
        now: Instant,
    ) -> Result<SharedDevice, ClaimError> {
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
        if held.devices.len() >= MOST {
            held.devices.retain(|_, claimed| !lock(&claimed.device).is_idle(now));
        }
        if held.devices.len() >= MOST {
            return Err(ClaimError::TooMany);
        }
        let uplink = Box::new(DacUplink::new(name, self.nodes.clone()));
        let device = Device::new(name, uplink, self.known.clone(), self.sessions.clone(), is_datagrams);
        let device = Arc::new(Mutex::new(device));
        held.devices.insert(name.into(), Claimed { device: device.clone(), line: Some(line) });
        Ok(device)
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

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Locks a device. A thread that has panicked has left it between two messages.
pub fn lock(device: &SharedDevice) -> MutexGuard<'_, Device> {
    device.lock().unwrap_or_else(PoisonError::into_inner)
}

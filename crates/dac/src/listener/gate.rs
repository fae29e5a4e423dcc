//! Which connections of a listener are served.

use super::{
    addresses::{AddressPermit, Addresses},
    descriptors,
};
use crate::{Admission, log_limit::LogLimit};
use std::{
    net::IpAddr,
    os::fd::AsRawFd,
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::sync::OwnedSemaphorePermit;

/// At most one refusal is logged in this time.
const PERIOD: Duration = Duration::from_secs(1);

/// Admits the connections of one listener: up to a total and a number for each address, and none that uses a descriptor reserved for
/// files.
#[derive(Debug)]
pub struct Gate {
    /// Section of the configuration, for messages.
    section: &'static str,
    addresses: Arc<Addresses>,
    /// Whether peers on this host count too.
    limits_loopback: bool,
    log: LogLimit,
}

/// An admitted connection; its place is free again when this is dropped.
#[derive(Debug)]
pub struct Connection {
    _total: OwnedSemaphorePermit,
    _address: Option<AddressPermit>,
}

/// Why a connection is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The listener has all connections that it may have.
    #[error("connection limit reached ({section}.max_connections): try again later")]
    TooMany {
        /// Section of the configuration.
        section: &'static str,
    },
    /// The peer's address has all connections that it may have.
    #[error("{most} connections have this address ({section}.max_connections_per_address)")]
    TooManyFromAddress {
        /// Section of the configuration.
        section: &'static str,
        /// The limit.
        most: usize,
    },
    /// The other descriptors are reserved for files.
    #[error("open file limit reached (LimitNOFILE, ulimit -n): try again later")]
    OutOfDescriptors,
}

impl Refusal {
    /// Returns the code for counters and messages.
    pub fn code(self) -> &'static str {
        match self {
            Self::TooMany { .. } => "too_many_connections",
            Self::TooManyFromAddress { .. } => "too_many_from_address",
            Self::OutOfDescriptors => "out_of_descriptors",
        }
    }
}

impl Gate {
    /// A gate with the limit of `section`.max_connections_per_address. If that is 0, the limit is `usual`, and connections from this
    /// host have none.
    pub fn new(section: &'static str, max_per_address: usize, usual: usize) -> Self {
        let limits_loopback = max_per_address > 0;
        let most = if limits_loopback { max_per_address } else { usual };
        Self { section, addresses: Addresses::new(most), limits_loopback, log: LogLimit::new(1, PERIOD) }
    }

    /// Admits a connection, if there is a place among `all` of the listener.
    ///
    /// # Errors
    /// The limit that is reached.
    pub fn admit(&self, all: &Admission, socket: &impl AsRawFd, peer: IpAddr) -> Result<Connection, Refusal> {
        let section = self.section;
        if descriptors::is_reserved(socket) {
            return Err(Refusal::OutOfDescriptors);
        }
        let address = if self.limits_loopback || !peer.to_canonical().is_loopback() {
            let most = self.addresses.most();
            let permit = self.addresses.try_admit(peer);
            Some(permit.ok_or(Refusal::TooManyFromAddress { section, most })?)
        } else {
            None
        };
        let total = all.try_admit().ok_or(Refusal::TooMany { section })?;
        Ok(Connection { _total: total, _address: address })
    }

    /// Counts a refusal and logs it, unless another one was logged in the same second.
    pub fn note_refused(&self, counts: &Admission, peer: IpAddr, refusal: Refusal) {
        counts.count_refused(refusal.code());
        if let Some(left_out) = self.log.admit(Instant::now()) {
            let (listener, others) = (self.section, left_out.others());
            tracing::warn!(%peer, listener, others, "connection refused: {refusal}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{fs::File, net::Ipv4Addr};

    const HERE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
    const THERE: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 7));

    fn admit(gate: &Gate, all: &Admission, peer: IpAddr) -> Result<Connection, &'static str> {
        let socket = File::open("/dev/null").unwrap();
        gate.admit(all, &socket, peer).map_err(Refusal::code)
    }

    #[test]
    fn this_host_has_no_limit_of_its_own_unless_one_is_set() {
        let (gate, all) = (Gate::new("doors", 0, 1), Admission::new(4));
        let admit = |peer| admit(&gate, &all, peer);
        let _places = (admit(HERE).unwrap(), admit(HERE).unwrap(), admit(THERE).unwrap());
        assert_eq!(admit(THERE).unwrap_err(), "too_many_from_address");
        let _last = admit(HERE).unwrap();
        assert_eq!(admit(HERE).unwrap_err(), "too_many_connections");
    }

    #[test]
    fn a_limit_that_is_set_is_for_every_address() {
        let (gate, all) = (Gate::new("doors", 1, 100), Admission::new(4));
        let admit = |peer| admit(&gate, &all, peer);
        let here = admit(HERE).unwrap();
        assert_eq!(admit(HERE).unwrap_err(), "too_many_from_address");
        drop(here);
        assert!(admit(HERE).is_ok());
    }
}

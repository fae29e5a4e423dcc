//! Limits of concurrent readers: per text door, per address and in total.

use crate::DoorsConfig;
use axum::http::StatusCode;
use oasis_dac::{
    Admission,
    listener::{AddressPermit, Addresses},
};
use oasis_http::Problem;
use std::{collections::BTreeMap, net::IpAddr, sync::Arc};
use tokio::sync::OwnedSemaphorePermit;

/// A text door.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Door {
    /// Server-sent events.
    Events,
    /// JSON lines without end.
    Stream,
    /// Answers that wait.
    LongPoll,
    /// Answers at once.
    Poll,
}

impl Door {
    const ALL: [Self; 4] = [Self::Events, Self::Stream, Self::LongPoll, Self::Poll];

    /// Its name in the ledger.
    fn name(self) -> &'static str {
        match self {
            Self::Events => "sse",
            Self::Stream => "stream",
            Self::LongPoll => "long_poll",
            Self::Poll => "poll",
        }
    }

    fn bound(self, config: &DoorsConfig) -> (usize, &'static str) {
        match self {
            Self::Events => (config.max_sse, "doors.max_sse"),
            Self::Stream => (config.max_streams, "doors.max_streams"),
            Self::LongPoll => (config.max_long_polls, "doors.max_long_polls"),
            Self::Poll => (config.max_polls, "doors.max_polls"),
        }
    }
}

/// All places.
#[derive(Debug)]
pub struct Places {
    total: Admission,
    doors: BTreeMap<Door, (Admission, &'static str)>,
    addresses: Arc<Addresses>,
}

/// A place at one door; free again when dropped.
#[derive(Debug)]
pub struct DoorPermit {
    _total: OwnedSemaphorePermit,
    _door: OwnedSemaphorePermit,
    _address: AddressPermit,
}

impl Places {
    /// Places as configured.
    pub fn new(config: &DoorsConfig) -> Self {
        let door = |door: Door| {
            let (most, key) = door.bound(config);
            (door, (Admission::new(most), key))
        };
        Self {
            total: Admission::new(config.max_readers),
            doors: Door::ALL.map(door).into(),
            addresses: Addresses::new(config.max_per_address),
        }
    }

    /// A place for a peer, or which bound is in the way.
    ///
    /// # Errors
    /// Status 503 for a bound that all share, 429 for the peer's own.
    pub fn enter(&self, door: Door, peer: IpAddr) -> Result<DoorPermit, (&'static str, Problem)> {
        let full = |key: &str| {
            let detail = format!("{key} is reached: try again later");
            ("too_many_readers", Problem::new(StatusCode::SERVICE_UNAVAILABLE, "too_many_readers", detail))
        };
        let address = self.resident(peer)?;
        let total = self.total.try_admit().ok_or_else(|| full("doors.max_readers"))?;
        let (admission, key) = self.doors.get(&door).ok_or_else(|| full(door.name()))?;
        let door = admission.try_admit().ok_or_else(|| full(key))?;
        Ok(DoorPermit { _total: total, _door: door, _address: address })
    }

    /// Takes a place of the peer's address. WebSockets and readers by text doors count together.
    ///
    /// # Errors
    /// Status 429 if all of them are taken.
    pub fn resident(&self, peer: IpAddr) -> Result<AddressPermit, (&'static str, Problem)> {
        self.addresses.try_admit(peer).ok_or_else(|| {
            let detail = format!(
                "{} readers and WebSockets have the address {peer} (doors.max_per_address)",
                self.addresses.most()
            );
            let problem = Problem::new(StatusCode::TOO_MANY_REQUESTS, "too_many_from_address", detail);
            ("too_many_from_address", problem)
        })
    }

    /// Readers at each door now.
    pub fn open(&self) -> BTreeMap<&'static str, usize> {
        self.doors.iter().map(|(door, (admission, _))| (door.name(), admission.counters().open)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);
    const THERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(127, 0, 0, 2));

    #[test]
    fn each_bound_is_kept_and_a_place_left_is_free_again() {
        let config = DoorsConfig { max_sse: 2, max_per_address: 3, max_readers: 4, ..DoorsConfig::default() };
        let places = Places::new(&config);
        let enter = |door, peer| places.enter(door, peer).map_err(|(code, _)| code);
        let first = enter(Door::Events, HERE).unwrap();
        let _second = enter(Door::Events, HERE).unwrap();
        assert_eq!(enter(Door::Events, HERE).unwrap_err(), "too_many_readers");
        let _third = enter(Door::Poll, HERE).unwrap();
        assert_eq!(enter(Door::Poll, HERE).unwrap_err(), "too_many_from_address");
        let _fourth = enter(Door::Poll, THERE).unwrap();
        assert_eq!(enter(Door::Poll, THERE).unwrap_err(), "too_many_readers");
        assert_eq!(places.open()["sse"], 2);
        drop(first);
        assert!(enter(Door::Events, HERE).is_ok());
    }
}

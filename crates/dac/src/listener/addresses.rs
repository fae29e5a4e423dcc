//! Limits what one address may have at the same time.

use std::{
    collections::HashMap,
    net::{IpAddr, Ipv6Addr},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// Bits of an IPv6 address that name its network. A host has all addresses of such a network, so they count together.
const NETWORK: u32 = 64;

/// Counts by address, with a limit for each. Contains only addresses that have permits.
#[derive(Debug)]
pub struct Addresses {
    most: usize,
    permits: Mutex<HashMap<IpAddr, usize>>,
}

impl Addresses {
    /// At most `most` permits an address.
    pub fn new(most: usize) -> Arc<Self> {
        Arc::new(Self { most, permits: Mutex::default() })
    }

    /// The limit.
    pub fn most(&self) -> usize {
        self.most
    }

    /// Returns a permit, or `None` if the address has all of its permits. Dropping the permit frees it.
    pub fn try_admit(self: &Arc<Self>, address: IpAddr) -> Option<AddressPermit> {
        let address = counted(address);
        let mut permits = self.lock();
        let count = permits.get(&address).copied().unwrap_or(0);
        if count >= self.most {
            return None;
        }
        permits.insert(address, count + 1);
        drop(permits);
        Some(AddressPermit { addresses: self.clone(), address })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<IpAddr, usize>> {
        self.permits.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the address that another one counts as: an IPv4 address as itself however it is written, an IPv6 address as its network.
pub fn counted(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) if !address.is_loopback() => {
            Ipv6Addr::from_bits(address.to_bits() >> NETWORK << NETWORK).into()
        }
        address => address,
    }
}

/// A permit of one address; free again when dropped.
#[derive(Debug)]
pub struct AddressPermit {
    addresses: Arc<Addresses>,
    address: IpAddr,
}

impl Drop for AddressPermit {
    fn drop(&mut self) {
        let mut permits = self.addresses.lock();
        match permits.get_mut(&self.address) {
            Some(count) if *count > 1 => *count -= 1,
            _ => drop(permits.remove(&self.address)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn a_permit_that_is_dropped_is_free_again_and_nothing_stays() {
        let addresses = Addresses::new(2);
        let (first, second) = (addresses.try_admit(address("::1")), addresses.try_admit(address("::1")));
        assert!(first.is_some() && second.is_some());
        assert!(addresses.try_admit(address("::1")).is_none());
        assert!(addresses.try_admit(address("127.0.0.1")).is_some());
        drop(first);
        assert!(addresses.try_admit(address("::1")).is_some());
        drop(second);
        assert!(addresses.lock().is_empty());
    }

    #[test]
    fn the_addresses_of_one_host_count_together() {
        assert_eq!(counted(address("::ffff:192.0.2.7")), address("192.0.2.7"));
        assert_eq!(counted(address("2001:db8:1:2:3:4:5:6")), address("2001:db8:1:2::"));
        assert_eq!(counted(address("::1")), address("::1"));
    }
}

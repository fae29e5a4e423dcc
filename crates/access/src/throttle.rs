//! Slows down whoever guesses passwords, per account and per address.
//!
//! Each account and each address has a bucket of attempts that refills with time (GCRA). The tables have a fixed size:
//! keys are hashed with a random key, and the few that share a bucket share its attempts. So no flood of names or
//! addresses makes the DAC forget whom it slows down, which a table that evicts would (`governor` keeps every key, and
//! does not give an attempt back).

use oasis_wire::quantity::Nanos;
use std::{
    hash::{BuildHasher, Hash, RandomState},
    net::{IpAddr, Ipv6Addr},
    sync::{Mutex, PoisonError},
    time::Duration,
};

/// Buckets of a table: 64 KiB.
const BUCKETS: usize = 8_192;

/// Number of attempts allowed at once, and the time after which one more is.
#[derive(Debug, Clone, Copy)]
struct Pace {
    burst: u64,
    refill: u64,
}

const NANOS_PER_SECOND: u64 = 1_000_000_000;
/// An account: 14,400 guesses a day at most.
const ACCOUNT: Pace = Pace { burst: 10, refill: 6 * NANOS_PER_SECOND };
/// An address, which several people may share.
const ADDRESS: Pace = Pace { burst: 30, refill: 2 * NANOS_PER_SECOND };

/// The attempts of accounts and addresses.
#[derive(Debug)]
pub(crate) struct Throttle {
    hasher: RandomState,
    /// Guards both tables; held for arithmetic.
    tables: Mutex<Tables>,
}

/// For each bucket, the time at which it is full again, on the steady clock.
#[derive(Debug)]
struct Tables {
    accounts: Box<[u64]>,
    addresses: Box<[u64]>,
}

/// An attempt that was counted.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Attempt {
    account: usize,
    address: usize,
}

impl Throttle {
    pub(crate) fn new() -> Self {
        let table = || vec![0; BUCKETS].into_boxed_slice();
        Self {
            hasher: RandomState::new(),
            tables: Mutex::new(Tables { accounts: table(), addresses: table() }),
        }
    }

    /// Counts an attempt before its password is checked.
    ///
    /// # Errors
    /// The time until the next attempt.
    pub(crate) fn count(&self, account: &str, address: IpAddr, now: Nanos) -> Result<Attempt, Duration> {
        let attempt = Attempt { account: self.bucket(account), address: self.bucket(network(address)) };
        let mut tables = self.tables.lock().unwrap_or_else(PoisonError::into_inner);
        let account = ACCOUNT.next(tables.accounts[attempt.account], now.0);
        let address = ADDRESS.next(tables.addresses[attempt.address], now.0);
        match (account, address) {
            (Ok(account), Ok(address)) => {
                tables.accounts[attempt.account] = account;
                tables.addresses[attempt.address] = address;
                Ok(attempt)
            }
            (account, address) => {
                let wait = account.err().unwrap_or_default().max(address.err().unwrap_or_default());
                Err(Duration::from_nanos(wait))
            }
        }
    }

    /// Gives an attempt back: the password was right, or was not checked.
    pub(crate) fn give_back(&self, attempt: Attempt) {
        let mut tables = self.tables.lock().unwrap_or_else(PoisonError::into_inner);
        let Tables { accounts, addresses } = &mut *tables;
        accounts[attempt.account] = accounts[attempt.account].saturating_sub(ACCOUNT.refill);
        addresses[attempt.address] = addresses[attempt.address].saturating_sub(ADDRESS.refill);
    }

    fn bucket(&self, key: impl Hash) -> usize {
        self.hasher.hash_one(key) as usize % BUCKETS
    }
}

impl Pace {
    /// When the bucket is full again after one more attempt, or how long to wait for it.
    fn next(self, full: u64, now: u64) -> Result<u64, u64> {
        let next = full.max(now) + self.refill;
        match (next - now).checked_sub(self.burst * self.refill) {
            None | Some(0) => Ok(next),
            Some(wait) => Err(wait),
        }
    }
}

/// One host can have all addresses of an IPv6 network of 64 bits.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            IpAddr::V6(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0))
        }
        v4 => v4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: IpAddr = IpAddr::V6(Ipv6Addr::LOCALHOST);

    #[test]
    fn guesses_at_an_account_are_slowed_down_from_any_address() {
        let throttle = Throttle::new();
        let address = |at: u64| IpAddr::from([10, 0, (at / 250) as u8, (at % 250) as u8]);
        let day = (0..86_400)
            .filter(|at| throttle.count("ada", address(*at), Nanos(at * NANOS_PER_SECOND)).is_ok());
        assert!((14_400..14_420).contains(&day.count()));
    }

    #[test]
    fn an_address_is_slowed_down_whatever_names_it_tries() {
        let throttle = Throttle::new();
        let tried =
            (0..1_000).filter(|at| throttle.count(&format!("user {at}"), HERE, Nanos(0)).is_ok()).count();
        assert_eq!(tried, 30);
        let wait = throttle.count("x", HERE, Nanos(0)).unwrap_err();
        assert_eq!(wait, Duration::from_secs(2));
        assert!(throttle.count("x", HERE, Nanos(2 * NANOS_PER_SECOND)).is_ok());
        let neighbour = "2001:db8::1".parse().unwrap();
        assert!(throttle.count("x", neighbour, Nanos(0)).is_ok());
        assert_eq!(network("2001:db8::1:2".parse().unwrap()), network(neighbour));
        assert_eq!(network("::ffff:192.0.2.7".parse().unwrap()), IpAddr::from([192, 0, 2, 7]));
    }

    #[test]
    fn right_passwords_cost_nothing() {
        let throttle = Throttle::new();
        for _ in 0..1_000 {
            throttle.give_back(throttle.count("ada", HERE, Nanos(0)).unwrap());
        }
    }

    #[test]
    fn a_flood_of_names_frees_nobody() {
        let throttle = Throttle::new();
        let address = |at: u64| IpAddr::from((u128::from(at) << 64).to_be_bytes());
        while throttle.count("ada", address(1), Nanos(0)).is_ok() {}
        for at in 0..50_000 {
            let _ = throttle.count(&format!("user {at}"), address(at + 2), Nanos(0));
        }
        assert!(throttle.count("ada", address(1 << 40), Nanos(0)).is_err());
    }
}

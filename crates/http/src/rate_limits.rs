//! Rate limits of the requests of a principal: a burst, and a rate in the long run (GCRA, by `governor`).
//!
//! Each principal has a bucket, and strangers have one for each address. The tables have a fixed size: a key is hashed with a random key, and the few that
//! share a bucket share its requests. So no flood of addresses takes memory, or makes the DAC forget whom it limits; and strangers cannot take the buckets
//! of principals, which have a table of their own. This host is not limited. Messages on a WebSocket are limited by their bytes (`websocket::read_allowance`).

use crate::{config::HttpConfig, problem::Problem};
use axum::{
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use governor::{
    Quota, RateLimiter,
    clock::{Clock, MonotonicClock},
    middleware::NoOpMiddleware,
    state::{InMemoryState, NotKeyed},
};
use oasis_access::{Kind, Principal};
use oasis_dac::listener::counted;
use std::{
    hash::{BuildHasher, Hash, RandomState},
    net::IpAddr,
    num::NonZeroU32,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

/// Buckets of a table.
const BUCKET_COUNT: usize = 4_096;
/// Time for which refusals are reported in the health of the DAC.
const REPORT_TIME: Duration = Duration::from_secs(60);
/// Code of refused requests.
pub const CODE: &str = "rate_limit";

/// Routes whose requests cost much: they read the archive, the journal, or all instances.
const EXPENSIVE: [&str; 10] = [
    "/api/v1/alarms/statistics",
    "/api/v1/archive/instances",
    "/api/v1/audit-log/check",
    "/api/v1/history.arrow",
    "/api/v1/history.mcap",
    "/api/v1/history.parquet",
    "/api/v1/search",
    "/api/v1/sql",
    "/api/v1/test-runs/{test_run}/comparison",
    "/metrics",
];
/// Monitors must be answered whatever else their address asks for, and so must the pages of a DAC that has ended. The answers are small.
const FREE: [&str; 3] = ["/healthz", "/readyz", "/alive"];

/// Cost class of the requests of a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cost {
    /// Not at all.
    Free,
    /// As all others.
    Usual,
    /// Also in a class with narrower limits.
    Expensive,
}

impl Cost {
    /// Returns the cost of the route with this path.
    pub fn of(path: &str) -> Self {
        if FREE.contains(&path) {
            Self::Free
        } else if EXPENSIVE.contains(&path) {
            Self::Expensive
        } else {
            Self::Usual
        }
    }
}

type Bucket<C> = RateLimiter<NotKeyed, InMemoryState, C, NoOpMiddleware<<C as Clock>::Instant>>;

/// The limits of all principals.
#[derive(Debug)]
pub struct RateLimits<C: Clock = MonotonicClock> {
    hasher: RandomState,
    clock: C,
    usual: Option<Class<C>>,
    expensive: Option<Class<C>>,
    /// RefusalSeries requests, and when the first and the last one of a series was.
    refused: Mutex<RefusalSeries>,
}

/// Requests of one kind.
#[derive(Debug)]
struct Class<C: Clock> {
    setting: &'static str,
    principals: Box<[Bucket<C>]>,
    addresses: Box<[Bucket<C>]>,
}

#[derive(Debug, Default)]
struct RefusalSeries {
    series: u64,
    last: Option<Instant>,
}

/// A request came too soon.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooSoon {
    setting: &'static str,
    wait: Duration,
}

impl RateLimits {
    /// As configured.
    pub fn new(config: &HttpConfig) -> Self {
        Self::with_clock(config, MonotonicClock)
    }
}

impl<C: Clock + Clone> RateLimits<C> {
    fn with_clock(config: &HttpConfig, clock: C) -> Self {
        let class = |setting, a_second, burst| {
            // 0 for no limit; a burst of 0 is one of 1.
            let a_second = NonZeroU32::new(a_second)?;
            let quota =
                Quota::per_second(a_second).allow_burst(NonZeroU32::new(burst).unwrap_or(NonZeroU32::MIN));
            let table =
                || (0..BUCKET_COUNT).map(|_| RateLimiter::direct_with_clock(quota, clock.clone())).collect();
            Some(Class { setting, principals: table(), addresses: table() })
        };
        Self {
            hasher: RandomState::new(),
            usual: class("doors.rate_limit", config.rate_limit, config.rate_limit_burst),
            expensive: class(
                "doors.rate_limit_expensive",
                config.rate_limit_expensive,
                config.rate_limit_expensive_burst,
            ),
            refused: Mutex::default(),
            clock,
        }
    }
}

impl<C: Clock> RateLimits<C> {
    /// Counts a request of a principal; without a principal, of this address.
    ///
    /// # Errors
    /// The time to wait.
    pub fn count(&self, principal: Option<&Principal>, address: IpAddr, cost: Cost) -> Result<(), TooSoon> {
        if cost == Cost::Free || principal.is_some_and(|principal| principal.kind() == Kind::Local) {
            return Ok(());
        }
        let known = principal.filter(|principal| principal.kind() != Kind::Stranger);
        self.usual.as_ref().map_or(Ok(()), |class| self.check_class(class, known, address))?;
        let expensive = self.expensive.as_ref().filter(|_| cost == Cost::Expensive);
        expensive.map_or(Ok(()), |class| self.check_class(class, known, address))
    }

    fn check_class(
        &self,
        class: &Class<C>,
        known: Option<&Principal>,
        address: IpAddr,
    ) -> Result<(), TooSoon> {
        let bucket = match known {
            Some(principal) => self.bucket(&class.principals, (principal.kind().word(), principal.name())),
            None => self.bucket(&class.addresses, counted(address)),
        };
        let Some(Err(too_soon)) = bucket.map(Bucket::check) else { return Ok(()) };
        self.note_refused();
        Err(TooSoon { setting: class.setting, wait: too_soon.wait_time_from(self.clock.now()) })
    }

    fn bucket<'a>(&self, table: &'a [Bucket<C>], key: impl Hash) -> Option<&'a Bucket<C>> {
        table.get(self.hasher.hash_one(key) as usize % BUCKET_COUNT)
    }

    fn note_refused(&self) {
        let mut refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        if refused.last.is_none_or(|last| last.elapsed() > REPORT_TIME) {
            refused.series = 0;
        }
        refused.series += 1;
        refused.last = Some(Instant::now());
    }

    /// Requests of the series of refusals that is not over for a minute yet.
    pub fn refused_lately(&self) -> Option<u64> {
        let refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        refused.last.filter(|last| last.elapsed() <= REPORT_TIME).map(|_| refused.series)
    }
}

impl IntoResponse for TooSoon {
    fn into_response(self) -> Response {
        let seconds = self.wait.as_secs() + 1;
        let detail = format!("too many requests: try again in {seconds} s ({})", self.setting);
        let mut response = Problem::new(StatusCode::TOO_MANY_REQUESTS, CODE, detail).into_response();
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::permissions::Permissions;
    use governor::clock::FakeRelativeClock;
    use oasis_access::{Moment, NewToken};

    fn limits() -> (RateLimits<FakeRelativeClock>, FakeRelativeClock) {
        let config = HttpConfig {
            rate_limit: 10,
            rate_limit_burst: 20,
            rate_limit_expensive: 1,
            rate_limit_expensive_burst: 2,
            ..HttpConfig::default()
        };
        let clock = FakeRelativeClock::default();
        (RateLimits::with_clock(&config, clock.clone()), clock)
    }

    fn address(at: u64) -> IpAddr {
        IpAddr::from((u128::from(at + 1) << 64).to_be_bytes())
    }

    fn program(permissions: &Permissions, name: &str) -> Principal {
        let (name, roles) = (name.parse().unwrap(), ["viewer".parse().unwrap()].into());
        let new = NewToken { name, roles, owner: None, embed: false, scope: Vec::new(), expires: None };
        let made = permissions.access.change(|accounts| accounts.create_token(new, Moment::now().wall));
        permissions.access.token(made.unwrap().1.reveal(), Moment::now()).unwrap()
    }

    #[test]
    fn a_burst_is_allowed_and_then_a_rate() {
        let (limits, clock) = limits();
        let allowed = |cost| (0..100).take_while(|_| limits.count(None, address(0), cost).is_ok()).count();
        assert_eq!(allowed(Cost::Usual), 20);
        clock.advance(Duration::from_secs(1));
        assert_eq!(allowed(Cost::Usual), 10);
        clock.advance(Duration::from_secs(60));
        assert_eq!(allowed(Cost::Expensive), 2);
        let refused = limits.count(None, address(0), Cost::Expensive).unwrap_err();
        assert_eq!(refused.setting, "doors.rate_limit_expensive");
        assert_eq!(refused.wait, Duration::from_secs(1));
        assert!(limits.count(None, address(0), Cost::Usual).is_ok(), "others are allowed meanwhile");
        assert!(limits.count(None, address(0), Cost::Free).is_ok());
        assert_eq!(limits.refused_lately(), Some(4));
    }

    #[test]
    fn each_principal_has_its_own_limit_wherever_it_asks_from() {
        let (limits, _) = limits();
        let permissions = Permissions::in_memory();
        let [kiosk, grafana] = ["kiosk", "grafana"].map(|name| program(&permissions, name));
        let count = |principal, at| {
            (0..100).take_while(|_| limits.count(principal, address(at), Cost::Usual).is_ok()).count()
        };
        assert_eq!(count(Some(&kiosk), 0), 20);
        assert_eq!(count(Some(&kiosk), 1), 0);
        assert_eq!(count(Some(&grafana), 0), 20);
        assert_eq!(count(None, 0), 20, "strangers of the same address");
    }

    #[test]
    fn this_host_is_not_limited_and_0_is_no_limit() {
        let (limits, _) = limits();
        let permissions = Permissions::in_memory();
        let local = permissions.access.local();
        assert!((0..100).all(|_| limits.count(Some(&local), address(0), Cost::Expensive).is_ok()));
        let config = HttpConfig { rate_limit: 0, rate_limit_expensive: 0, ..HttpConfig::default() };
        let limits = RateLimits::new(&config);
        assert!((0..10_000).all(|_| limits.count(None, address(0), Cost::Expensive).is_ok()));
        assert_eq!(limits.refused_lately(), None);
    }

    #[test]
    fn a_flood_of_addresses_frees_nobody_and_takes_nothing_from_principals() {
        let (limits, _) = limits();
        let permissions = Permissions::in_memory();
        let kiosk = program(&permissions, "kiosk");
        while limits.count(None, address(0), Cost::Usual).is_ok() {}
        for at in 1..200_000 {
            let _ = limits.count(None, address(at), Cost::Usual);
        }
        assert!(limits.count(None, address(0), Cost::Usual).is_err());
        assert!(limits.count(Some(&kiosk), address(0), Cost::Usual).is_ok());
    }

    #[test]
    fn a_refused_client_learns_when_to_come_again() {
        let answer =
            TooSoon { setting: "doors.rate_limit", wait: Duration::from_millis(1_500) }.into_response();
        assert_eq!(
            (answer.status().as_u16(), &answer.headers()["retry-after"]),
            (429, &HeaderValue::from(2))
        );
    }
}

//! Tickets: a browser cannot send a header with a WebSocket, so it fetches a ticket and puts that into the URL. A ticket
//! is good for one use within 30 s by pages of one origin, so a URL in a log opens nothing.

use crate::{
    principal::Principal,
    secret::{Digest, Secret},
};
use oasis_wire::quantity::Nanos;
use std::{
    collections::{HashMap, VecDeque},
    io,
};

/// Lifetime of a ticket, nanoseconds.
const TICKET_LIFETIME_NANOS: u64 = 30_000_000_000;
/// Most unused tickets: of all principals, and of one.
const MAX_TICKETS: usize = 4_096;
const MAX_TICKETS_OF_ONE: usize = 64;

/// Why there is no ticket.
#[derive(Debug, thiserror::Error)]
pub enum TicketError {
    /// This principal fetches tickets and does not use them.
    #[error("{MAX_TICKETS_OF_ONE} tickets are unused: use them, or wait 30 s")]
    TooManyOfOne,
    /// All principals together do.
    #[error("{MAX_TICKETS} tickets are unused: wait 30 s")]
    TooMany,
    /// No random numbers.
    #[error("no ticket can be made: {0}")]
    Random(#[from] io::Error),
}

/// A ticket that was not used yet.
#[derive(Debug)]
struct UnusedTicket {
    principal: Principal,
    /// Digest of the origin whose page fetched it; none for a program.
    origin: Option<Digest>,
}

/// Unused tickets.
#[derive(Debug, Default)]
pub(crate) struct Tickets {
    unused: HashMap<Digest, UnusedTicket>,
    /// When each was made, oldest first; used ones included until they are 30 s old.
    by_age: VecDeque<(Nanos, Digest)>,
}

impl Tickets {
    /// Makes a ticket for pages of an origin, or for a program. Tickets of others are never evicted for it.
    pub(crate) fn make(
        &mut self,
        principal: &Principal,
        origin: Option<&str>,
        now: Nanos,
    ) -> Result<Secret, TicketError> {
        self.purge(now);
        // Used ones count until they are old: the list is bounded too.
        if self.by_age.len() >= MAX_TICKETS {
            return Err(TicketError::TooMany);
        }
        let is_same = |other: &&UnusedTicket| {
            let other = &other.principal;
            other.kind() == principal.kind() && other.name() == principal.name()
        };
        if self.unused.values().filter(is_same).count() >= MAX_TICKETS_OF_ONE {
            return Err(TicketError::TooManyOfOne);
        }
        let ticket = Secret::random()?;
        let digest = Digest::of(ticket.reveal());
        self.unused
            .insert(digest, UnusedTicket { principal: principal.clone(), origin: origin_digest(origin) });
        self.by_age.push_back((now, digest));
        Ok(ticket)
    }

    /// Takes a ticket, which cannot be used again. None also if a page of another origin shows it.
    pub(crate) fn take(&mut self, ticket: &str, origin: Option<&str>, now: Nanos) -> Option<Principal> {
        self.purge(now);
        let unused = self.unused.remove(&Digest::of(ticket))?;
        (unused.origin == origin_digest(origin)).then_some(unused.principal)
    }

    fn purge(&mut self, now: Nanos) {
        while let Some((made, digest)) = self.by_age.front() {
            if now.0.saturating_sub(made.0) < TICKET_LIFETIME_NANOS {
                return;
            }
            self.unused.remove(digest);
            self.by_age.pop_front();
        }
    }
}

/// Scheme and host of an origin have no case.
fn origin_digest(origin: Option<&str>) -> Option<Digest> {
    origin.map(|origin| Digest::of(&origin.to_ascii_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{principal::Kind, rights::Rights};

    fn principal(name: &str) -> Principal {
        Principal::with_rights(Kind::Person, name, Rights::default())
    }

    #[test]
    fn a_ticket_is_good_once_and_for_30_s() {
        let mut tickets = Tickets::default();
        let [used, old] = [0, 1].map(|_| tickets.make(&principal("ada"), None, Nanos(5)).unwrap());
        assert_eq!(
            tickets.take(used.reveal(), None, Nanos(TICKET_LIFETIME_NANOS + 4)).unwrap().name(),
            "ada"
        );
        assert!(tickets.take(used.reveal(), None, Nanos(TICKET_LIFETIME_NANOS + 4)).is_none());
        assert!(tickets.take(old.reveal(), None, Nanos(TICKET_LIFETIME_NANOS + 5)).is_none());
        assert!(tickets.take("", None, Nanos(0)).is_none());
    }

    #[test]
    fn a_ticket_is_dead_after_a_page_of_another_origin_has_shown_it() {
        let mut tickets = Tickets::default();
        let mut make = || {
            let ticket = tickets.make(&principal("ada"), Some("https://Ops.example"), Nanos(0)).unwrap();
            ticket.reveal().to_owned()
        };
        let [own, stolen, other] = [make(), make(), make()];
        assert!(tickets.take(&own, Some("https://ops.example"), Nanos(1)).is_some());
        for origin in [None, Some("https://evil.example"), Some("http://ops.example"), Some("")] {
            assert!(tickets.take(&stolen, origin, Nanos(1)).is_none());
        }
        assert!(tickets.take(&stolen, Some("https://ops.example"), Nanos(1)).is_none());
        assert!(tickets.take(&other, None, Nanos(1)).is_none());
    }

    #[test]
    fn unused_tickets_are_bounded() {
        let mut tickets = Tickets::default();
        for _ in 0..MAX_TICKETS_OF_ONE {
            tickets.make(&principal("ada"), None, Nanos(0)).unwrap();
        }
        assert!(matches!(tickets.make(&principal("ada"), None, Nanos(0)), Err(TicketError::TooManyOfOne)));
        for at in 0..MAX_TICKETS - MAX_TICKETS_OF_ONE {
            tickets.make(&principal(&format!("user-{at}")), None, Nanos(1)).unwrap();
        }
        assert!(matches!(tickets.make(&principal("eve"), None, Nanos(1)), Err(TicketError::TooMany)));
        assert!(tickets.make(&principal("eve"), None, Nanos(TICKET_LIFETIME_NANOS + 1)).is_ok());
    }
}

//! Sessions of people: a cookie, and a CSRF token beside it. They end with the process.

use crate::{
    config::SessionLimits,
    name::Name,
    secret::{Digest, Secret},
};
use oasis_wire::quantity::Nanos;
use std::{collections::HashMap, io, time::Duration};

/// Most sessions: of all users, and of one. Beyond it the one that was not used for the longest time ends.
const MAX_SESSIONS: usize = 10_000;
const MAX_SESSIONS_OF_ONE: usize = 100;

/// Sessions by the digest of their cookie.
#[derive(Debug)]
pub(crate) struct Sessions {
    limits: SessionLimits,
    by_cookie: HashMap<Digest, Session>,
}

/// A session, with times of the steady clock.
#[derive(Debug, Clone)]
pub(crate) struct Session {
    pub(crate) user: Name,
    pub(crate) stamp: Digest,
    csrf: Digest,
    started: Nanos,
    used: Nanos,
}

/// Values that the browser receives.
#[derive(Debug)]
pub struct NewSession {
    /// For the cookie: `HttpOnly`, `SameSite=Lax`, and `Secure` with TLS.
    pub cookie: Secret,
    /// For the page, which sends it with each request that changes something.
    pub csrf_token: Secret,
}

impl Sessions {
    pub(crate) fn new(limits: SessionLimits) -> Self {
        Self { limits, by_cookie: HashMap::new() }
    }

    /// Starts a session. Whether others had to end for it is counted in none of the returned values: they were unused.
    pub(crate) fn start(&mut self, user: &Name, stamp: Digest, now: Nanos) -> io::Result<NewSession> {
        let (cookie, csrf_token) = (Secret::random()?, Secret::random()?);
        self.purge(now);
        if self.by_cookie.values().filter(|session| session.user == *user).count() >= MAX_SESSIONS_OF_ONE {
            self.end_oldest(|session| session.user == *user);
        }
        if self.by_cookie.len() >= MAX_SESSIONS {
            self.end_oldest(|_| true);
        }
        let csrf = Digest::of(csrf_token.reveal());
        let session = Session { user: user.clone(), stamp, csrf, started: now, used: now };
        self.by_cookie.insert(Digest::of(cookie.reveal()), session);
        Ok(NewSession { cookie, csrf_token })
    }

    /// Returns the session of a cookie and notes that it was used.
    pub(crate) fn touch(&mut self, cookie: &Digest, now: Nanos) -> Option<Session> {
        if self.by_cookie.get(cookie).is_some_and(|session| self.limits.is_over(session, now)) {
            self.by_cookie.remove(cookie);
        }
        let session = self.by_cookie.get_mut(cookie)?;
        session.used = now;
        Some(session.clone())
    }

    /// Whether the CSRF token is that of the session.
    pub(crate) fn is_csrf_token(&self, cookie: &Digest, token: &str) -> bool {
        let shown = Digest::of(token);
        self.by_cookie.get(cookie).is_some_and(|session| session.csrf.matches(&shown))
    }

    /// Makes another CSRF token, for a page that was loaded again.
    pub(crate) fn renew_csrf_token(&mut self, cookie: &Digest) -> io::Result<Option<Secret>> {
        let token = Secret::random()?;
        let Some(session) = self.by_cookie.get_mut(cookie) else { return Ok(None) };
        session.csrf = Digest::of(token.reveal());
        Ok(Some(token))
    }

    /// Ends a session. Whether there was one.
    pub(crate) fn end(&mut self, cookie: &Digest) -> bool {
        self.by_cookie.remove(cookie).is_some()
    }

    /// Returns how many a user has.
    pub(crate) fn count_of(&self, user: &str) -> usize {
        self.by_cookie.values().filter(|session| session.user.as_str() == user).count()
    }

    /// Ends all of a user. Returns how many there were.
    pub(crate) fn end_all_of(&mut self, user: &str) -> usize {
        let before = self.by_cookie.len();
        self.by_cookie.retain(|_, session| session.user.as_str() != user);
        before - self.by_cookie.len()
    }

    /// Ends all that have expired.
    pub(crate) fn purge(&mut self, now: Nanos) {
        let limits = self.limits;
        self.by_cookie.retain(|_, session| !limits.is_over(session, now));
    }

    fn end_oldest(&mut self, of: impl Fn(&Session) -> bool) {
        let candidates = self.by_cookie.iter().filter(|(_, session)| of(session));
        if let Some(cookie) = candidates.min_by_key(|(_, session)| session.used).map(|(cookie, _)| *cookie) {
            self.by_cookie.remove(&cookie);
        }
    }
}

impl SessionLimits {
    fn is_over(&self, session: &Session, now: Nanos) -> bool {
        let since = |time: Nanos| Duration::from_nanos(now.0.saturating_sub(time.0));
        since(session.used) >= self.idle || since(session.started) >= self.absolute
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NANOS_PER_SECOND: u64 = 1_000_000_000;

    fn sessions() -> Sessions {
        Sessions::new(SessionLimits { idle: Duration::from_secs(10), absolute: Duration::from_secs(25) })
    }

    fn start(sessions: &mut Sessions, user: &str, now: u64) -> Digest {
        let stamp = Digest::of("stamp");
        let new = sessions.start(&user.parse().unwrap(), stamp, Nanos(now)).unwrap();
        Digest::of(new.cookie.reveal())
    }

    #[test]
    fn a_session_ends_when_it_is_unused_or_old() {
        let mut sessions = sessions();
        let cookie = start(&mut sessions, "ada", 0);
        let mut used = |at: u64| sessions.touch(&cookie, Nanos(at * NANOS_PER_SECOND)).is_some();
        assert!(used(9) && used(18) && used(24) && !used(25));
        let cookie = start(&mut sessions, "ada", 0);
        assert!(sessions.touch(&cookie, Nanos(10 * NANOS_PER_SECOND)).is_none());
        assert_eq!(sessions.by_cookie.len(), 0);
    }

    #[test]
    fn one_user_cannot_have_all_sessions() {
        let mut sessions = sessions();
        let other = start(&mut sessions, "eve", 0);
        let first = start(&mut sessions, "ada", 0);
        for _ in 0..MAX_SESSIONS_OF_ONE {
            start(&mut sessions, "ada", 1);
        }
        assert_eq!(sessions.by_cookie.len(), MAX_SESSIONS_OF_ONE + 1);
        assert!(sessions.touch(&first, Nanos(1)).is_none() && sessions.touch(&other, Nanos(1)).is_some());
    }

    #[test]
    fn the_number_of_sessions_is_bounded() {
        let mut sessions = sessions();
        for at in 0..=MAX_SESSIONS as u64 {
            let name = format!("user-{}", at / 50);
            start(&mut sessions, &name, at);
        }
        assert_eq!(sessions.by_cookie.len(), MAX_SESSIONS);
    }

    #[test]
    fn a_csrf_token_belongs_to_one_session() {
        let mut sessions = sessions();
        let [one, other] = ["ada", "eve"].map(|user| {
            let new = sessions.start(&user.parse().unwrap(), Digest::of("stamp"), Nanos(0)).unwrap();
            (Digest::of(new.cookie.reveal()), new.csrf_token)
        });
        assert!(sessions.is_csrf_token(&one.0, one.1.reveal()));
        assert!(!sessions.is_csrf_token(&one.0, other.1.reveal()) && !sessions.is_csrf_token(&one.0, ""));
        let renewed = sessions.renew_csrf_token(&one.0).unwrap().unwrap();
        assert!(sessions.is_csrf_token(&one.0, renewed.reveal()));
        assert!(!sessions.is_csrf_token(&one.0, one.1.reveal()));
        assert!(sessions.end(&one.0) && !sessions.end(&one.0));
        assert!(!sessions.is_csrf_token(&one.0, renewed.reveal()));
    }
}

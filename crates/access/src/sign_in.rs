//! Sign-in of people, by password or by another provider of identity.

use crate::{
    access::{Access, of_host, of_user},
    document::{LOCAL, VouchedUser},
    moment::Moment,
    password::{PasswordError, StoredPassword},
    principal::{Credential, Principal},
    secret::{Digest, Secret},
    store::StoreError,
};
use std::{io, net::IpAddr, time::Duration};

/// Longest user name that is checked, bytes.
const MAX_NAME_BYTES: usize = 64;

/// The signed-in user, and the values that the browser receives.
#[derive(Debug)]
pub struct SignedIn {
    /// The user with its rights.
    pub principal: Principal,
    /// For a cookie: `HttpOnly`, `SameSite=Lax`, and `Secure` with TLS.
    pub cookie: Secret,
    /// For the page, which sends it with each request that changes something.
    pub csrf_token: Secret,
}

/// Reason why a sign-in failed. The message does not say whether the user exists.
#[derive(Debug, thiserror::Error)]
pub enum SignInError {
    /// No such user, or another password.
    #[error("user name or password is wrong")]
    Wrong,
    /// Too many attempts for this account or from this address.
    #[error("too many attempts: try again in {} s", .0.as_secs() + 1)]
    Slow(Duration),
    /// Too many people sign in at once.
    #[error("too many people sign in: try again in a few seconds")]
    Busy,
    /// The code of a link is not good, or not any more.
    #[error(
        "this link was used, or is older than 10 minutes: make another one with `oasis user sign-in-link`"
    )]
    Link,
    /// The new password is refused.
    #[error(transparent)]
    Password(#[from] PasswordError),
    /// The account of a user whom a provider of identity vouches for cannot be used.
    #[error(transparent)]
    Vouched(#[from] StoreError),
    /// No random numbers.
    #[error("no session can be made: {0}")]
    Random(#[from] io::Error),
}

impl Access {
    /// Checks a password and starts a session. Blocks for tens of milliseconds, as long for a user that does not exist;
    /// an async caller runs it where blocking is allowed.
    ///
    /// # Errors
    /// If user or password are wrong, or there were too many attempts.
    pub fn sign_in(
        &self,
        name: &str,
        password: &str,
        address: IpAddr,
        now: Moment,
    ) -> Result<SignedIn, SignInError> {
        self.check_password(name, password, address, now)?;
        self.start_session(name, now)
    }

    /// Gives a user another password, after a check of the present one. Its sessions end. Blocks as [`sign_in`](Self::sign_in).
    ///
    /// # Errors
    /// If the present password is wrong, there were too many attempts, or the new password is refused.
    pub fn change_password(
        &self,
        name: &str,
        (present, new): (&str, &str),
        address: IpAddr,
        now: Moment,
    ) -> Result<(), SignInError> {
        self.check_password(name, present, address, now)?;
        let stored = StoredPassword::new(name, new, self.cost())?;
        Ok(self.change(|document| document.set_password(name, stored))?)
    }

    /// Checks a password, slowly for whoever guesses.
    fn check_password(
        &self,
        name: &str,
        password: &str,
        address: IpAddr,
        now: Moment,
    ) -> Result<(), SignInError> {
        if !self.is_trusted(now) {
            return Err(StoreError::Outdated.into());
        }
        let name = name.get(..MAX_NAME_BYTES.min(name.len())).unwrap_or_default();
        let attempt = self.throttle.count(name, address, now.steady).map_err(SignInError::Slow)?;
        let Some(pass) = self.gate.enter() else {
            self.throttle.give_back(attempt);
            return Err(SignInError::Busy);
        };
        let policy = self.policy();
        let stored = policy.users.get(name).and_then(|account| account.password.as_ref());
        // Made for known users as well, so that the first sign-in takes as long for both.
        let decoy = self.decoy()?;
        let is_match = stored.unwrap_or(decoy).matches(password);
        drop(pass);
        if stored.is_none() || !is_match {
            return Err(SignInError::Wrong);
        }
        self.throttle.give_back(attempt);
        Ok(())
    }

    /// Takes the code of a link and starts a session of the DAC's own user.
    ///
    /// # Errors
    /// [`SignInError::Link`] if the code is not good.
    pub fn sign_in_by_link(&self, code: &str, now: Moment) -> Result<SignedIn, SignInError> {
        let generation = self.generation();
        if !self.take_link(code, now) {
            return Err(SignInError::Link);
        }
        let local = LOCAL.parse().map_err(|_| SignInError::Link)?;
        let session = self.sessions().start(&local, Digest::ZERO, now.steady)?;
        let credential = Credential::Session(Digest::of(session.cookie.reveal()));
        let principal = of_host(&self.policy(), credential, generation, now);
        Ok(SignedIn { principal, cookie: session.cookie, csrf_token: session.csrf_token })
    }

    /// Starts a session for a user whom a provider of identity vouches for. Its account is added or changed, if the
    /// provider says so.
    ///
    /// # Errors
    /// [`SignInError::Vouched`] if the account is not there and may not be added, or belongs to another subject.
    pub fn sign_in_vouched(&self, who: VouchedUser, now: Moment) -> Result<SignedIn, SignInError> {
        let name = who.name.clone();
        // Most sign-ins change nothing, and then nothing is written.
        let is_change = self.document().vouch(who.clone(), now.wall).map_err(StoreError::from)?;
        if is_change {
            self.change(|document| document.vouch(who, now.wall))?;
        }
        self.start_session(name.as_str(), now)
    }

    /// Starts a session for a user whose identity was checked.
    ///
    /// # Errors
    /// [`SignInError::Wrong`] if there is no such user.
    pub fn start_session(&self, name: &str, now: Moment) -> Result<SignedIn, SignInError> {
        if !self.is_trusted(now) {
            return Err(StoreError::Outdated.into());
        }
        let generation = self.generation();
        let policy = self.policy();
        let (user, account) = policy.users.get_key_value(name).ok_or(SignInError::Wrong)?;
        let session = self.sessions().start(user, account.stamp, now.steady)?;
        let principal = of_user(account, Digest::of(session.cookie.reveal()), generation, now);
        Ok(SignedIn { principal, cookie: session.cookie, csrf_token: session.csrf_token })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        AccessConfig, Ended, HashCost, Kind, NewToken, StoreError, StoredPassword, Target, Verb, decide,
        password::checks,
    };
    use oasis_wire::quantity::Nanos;
    use std::{collections::BTreeSet, fs};

    const QUICK: HashCost = HashCost { memory_kib: 8, passes: 1 };
    const PASSWORD: &str = "correct horse battery";
    const HERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);
    const NANOS_PER_SECOND: u64 = 1_000_000_000;
    const PUMP: Target<'_> = Target::Instance { node: "plant", instance: "pump" };

    /// Returns a moment at which both clocks show this many seconds.
    fn at(seconds: u64) -> Moment {
        Moment { wall: Nanos(seconds * NANOS_PER_SECOND), steady: Nanos(seconds * NANOS_PER_SECOND) }
    }

    fn names(names: &[&str]) -> BTreeSet<crate::Name> {
        names.iter().map(|name| name.parse().unwrap()).collect()
    }

    fn access(cost: HashCost) -> (tempfile::TempDir, Access) {
        let folder = tempfile::tempdir().unwrap();
        let access =
            Access::open_with(&folder.path().join("access"), &AccessConfig::default(), cost).unwrap();
        let password = StoredPassword::new("ada", PASSWORD, cost).unwrap();
        let name = "ada".parse().unwrap();
        let add = |document: &mut crate::Document| {
            document.add_user(name, Some(password), names(&["operator"]), Nanos(0))
        };
        access.change(add).unwrap();
        (folder, access)
    }

    fn token(expires: Option<Nanos>, embed: bool) -> NewToken {
        let (name, roles) = ("grafana".parse().unwrap(), names(&["operator"]));
        let scope = vec!["* plant/*".parse().unwrap()];
        NewToken { name, roles, owner: Some("ada".parse().unwrap()), embed, scope, expires }
    }

    #[test]
    fn a_person_signs_in_and_out() {
        let (_folder, access) = access(QUICK);
        let signed_in = access.sign_in("ada", PASSWORD, HERE, at(0)).unwrap();
        assert_eq!(signed_in.principal.to_string(), "person:ada");
        let cookie = signed_in.cookie.reveal();
        let mut principal = access.session(cookie, at(1)).unwrap();
        assert!(decide(&principal, Verb::Enable, PUMP).is_allowed() && principal.needs_csrf_token());
        assert!(!decide(&principal, Verb::Administration, Target::Dac).is_allowed());
        assert!(access.is_csrf_token(cookie, signed_in.csrf_token.reveal()));
        access.check(&mut principal, at(1)).unwrap();
        assert!(access.sign_out(cookie) && !access.sign_out(cookie));
        assert_eq!(access.check(&mut principal, at(1)), Err(Ended::Session));
        assert_eq!(access.session(cookie, at(1)).unwrap_err(), Ended::Session);
    }

    #[test]
    fn a_wrong_name_and_a_wrong_password_are_refused_alike() {
        let (_folder, access) = access(QUICK);
        let said =
            |name: &str, password: &str| access.sign_in(name, password, HERE, at(0)).unwrap_err().to_string();
        assert_eq!(said("ada", "wrong"), said("eve", PASSWORD));
        assert_eq!(said(&"ä".repeat(100), ""), said("", PASSWORD));
    }

    #[test]
    fn a_name_that_does_not_exist_costs_as_much() {
        let cost = HashCost { memory_kib: 64, passes: 2 };
        let (_folder, access) = access(cost);
        let costs = |name: &str, at: u64| {
            checks::take();
            let refused = access.sign_in(name, "a wrong password", HERE, self::at(at));
            assert!(matches!(refused, Err(SignInError::Wrong)), "{refused:?}");
            checks::take()
        };
        // `make measure-timing` measures the time of both.
        assert_eq!(costs("ada", 0), [cost]);
        assert_eq!(costs("eve", 100), [cost]);
    }

    #[test]
    fn guesses_are_slowed_down_and_then_forgiven() {
        let (_folder, access) = access(QUICK);
        let mut tried = 0;
        let error = loop {
            match access.sign_in("ada", "guess", HERE, at(0)) {
                Err(SignInError::Wrong) => tried += 1,
                other => break other.unwrap_err(),
            }
        };
        assert!(tried == 10 && matches!(error, SignInError::Slow(_)), "{tried} {error}");
        assert!(matches!(access.sign_in("ada", PASSWORD, HERE, at(0)), Err(SignInError::Slow(_))));
        access.sign_in("ada", PASSWORD, HERE, at(7)).unwrap();
    }

    #[test]
    fn a_token_has_the_roles_of_its_owner_within_its_scope() {
        let (_folder, access) = access(QUICK);
        let (id, secret) = access
            .change(|document| {
                document.create_token(token(Some(Nanos(9 * NANOS_PER_SECOND)), false), Nanos(0))
            })
            .unwrap();
        let mut program = access.token(secret.reveal(), at(1)).unwrap();
        assert_eq!((program.kind(), program.to_string()), (Kind::Program, "program:grafana".into()));
        assert!(decide(&program, Verb::Enable, PUMP).is_allowed() && !program.needs_csrf_token());
        let elsewhere = Target::Instance { node: "other", instance: "pump" };
        assert!(!decide(&program, Verb::ReadLive, elsewhere).is_allowed());
        // The owner loses its role.
        access.change(|document| document.set_roles("ada", names(&[]))).unwrap();
        access.check(&mut program, at(2)).unwrap();
        assert!(!decide(&program, Verb::ReadLive, PUMP).is_allowed());
        assert_eq!(access.check(&mut program, at(9)), Err(Ended::TokenExpired));
        assert_eq!(access.token(secret.reveal(), at(9)).unwrap_err(), Ended::TokenExpired);
        let other = format!("{}x", &secret.reveal()[..secret.reveal().len() - 1]);
        assert_eq!(access.token(&other, at(1)).unwrap_err(), Ended::TokenUnknown);
        access.change(|document| document.revoke_token(&id.to_string())).unwrap();
        assert_eq!(access.token(secret.reveal(), at(1)).unwrap_err(), Ended::TokenUnknown);
        let file = fs::read_to_string(access.store.as_ref().unwrap().file()).unwrap();
        assert!(!file.contains(secret.reveal()));
    }

    #[test]
    fn a_token_for_embedding_only_reads() {
        let (_folder, access) = access(QUICK);
        let (_, secret) =
            access.change(|document| document.create_token(token(None, true), Nanos(0))).unwrap();
        let page = access.token(secret.reveal(), at(1)).unwrap();
        assert!(page.is_embedded() && decide(&page, Verb::ReadPast, PUMP).is_allowed());
        for verb in Verb::ALL.iter().filter(|verb| !verb.word().starts_with("read-")) {
            assert!(!decide(&page, *verb, PUMP).is_allowed(), "{verb:?}");
        }
    }

    #[test]
    fn what_another_process_changes_is_noticed() {
        let (_folder, access) = access(QUICK);
        let command_line = crate::Store::open(access.store.as_ref().unwrap().directory()).unwrap();
        let signed_in = access.sign_in("ada", PASSWORD, HERE, at(0)).unwrap();
        let mut stream = signed_in.principal;
        assert!(!access.reload().unwrap());
        command_line.change(|document| document.set_roles("ada", names(&["viewer"]))).unwrap();
        access.check(&mut stream, at(1)).unwrap();
        assert!(decide(&stream, Verb::Enable, PUMP).is_allowed(), "not noticed yet");
        assert!(access.reload().unwrap());
        access.check(&mut stream, at(1)).unwrap();
        assert!(!decide(&stream, Verb::Enable, PUMP).is_allowed());
        // Another password ends the sessions.
        let password = StoredPassword::new("ada", "another horse battery", QUICK).unwrap();
        command_line.change(|document| document.set_password("ada", password)).unwrap();
        access.reload().unwrap();
        assert_eq!(access.check(&mut stream, at(1)), Err(Ended::Session));
        // A damaged file takes and gives no rights.
        fs::write(access.store.as_ref().unwrap().file(), "version = 1\nlocal = [").unwrap();
        assert!(matches!(access.reload(), Err(StoreError::Format { .. })));
        fs::remove_file(access.store.as_ref().unwrap().file()).unwrap();
        assert!(matches!(access.reload(), Err(StoreError::Gone { .. })));
        let added = command_line.change(|document| document.set_roles("ada", names(&["viewer"])));
        assert!(
            matches!(added, Err(StoreError::Gone { .. })),
            "a change makes no new file with its defaults"
        );
        assert!(access.sign_in("ada", "another horse battery", HERE, at(1)).is_ok());
    }

    #[test]
    fn an_open_stream_keeps_its_session_alive_until_it_is_too_old() {
        let (_folder, access) = access(QUICK);
        let mut stream = access.sign_in("ada", PASSWORD, HERE, at(0)).unwrap().principal;
        let last = (0..100_000).step_by(60).find(|second| access.check(&mut stream, at(*second)).is_err());
        assert_eq!(last, Some(24 * 3_600));
    }

    #[test]
    fn a_link_makes_a_session_of_the_own_user() {
        let (folder, mut access) = access(QUICK);
        assert!(access.link(at(0)).unwrap().is_none() && access.from_this_host().kind() == Kind::Local);
        access.close_to_host(7070).unwrap();
        assert_eq!(access.from_this_host().kind(), Kind::Stranger);
        let link = access.link(at(0)).unwrap().unwrap();
        let mut signed_in = access.sign_in_by_link(link.reveal(), at(1)).unwrap();
        assert_eq!(
            access.sign_in_by_link(link.reveal(), at(1)).unwrap_err().to_string().split(':').next(),
            Some("this link was used, or is older than 10 minutes")
        );
        assert!(signed_in.principal.to_string() == "local" && signed_in.principal.needs_csrf_token());
        let by_cookie = access.session(signed_in.cookie.reveal(), at(2)).unwrap();
        assert!(decide(&by_cookie, Verb::Administration, Target::Dac).is_allowed());
        let file = folder.path().join("access/host-7070.token");
        let token = fs::read_to_string(&file).unwrap();
        let mut by_token = access.token(token.trim(), at(1)).unwrap();
        assert!(by_token.has_host_token() && !by_token.needs_csrf_token());
        // The roles of `local` are theirs, and change with them.
        access.change(|document| document.set_roles("local", names(&["viewer"]))).unwrap();
        for principal in [&mut signed_in.principal, &mut by_token] {
            access.check(principal, at(3)).unwrap();
            assert!(!decide(principal, Verb::Administration, Target::Dac).is_allowed());
        }
        let other = format!("oasis_00000000_{}", "x".repeat(43));
        assert_eq!(access.token(&other, at(1)).unwrap_err(), Ended::TokenUnknown);
        access.open_to_host(7070).unwrap();
        assert!(!file.exists());
    }

    #[test]
    fn a_ticket_is_worth_what_its_principal_is() {
        let (_folder, access) = access(QUICK);
        let signed_in = access.sign_in("ada", PASSWORD, HERE, at(0)).unwrap();
        let [one, other] = [0, 1].map(|_| access.ticket(&signed_in.principal, None, at(0)).unwrap());
        assert_eq!(access.redeem(one.reveal(), None, at(1)).unwrap().name(), "ada");
        assert!(access.redeem(one.reveal(), None, at(1)).is_none());
        access.sign_out(signed_in.cookie.reveal());
        assert!(access.redeem(other.reveal(), None, at(1)).is_none());
    }

    #[test]
    fn accounts_in_memory_are_written_nowhere() {
        let mut access = Access::in_memory(&AccessConfig::default());
        let (_, secret) = access
            .change(|document| {
                document.create_token(NewToken { owner: None, ..token(None, false) }, Nanos(0))
            })
            .unwrap();
        assert_eq!(access.token(secret.reveal(), at(1)).unwrap().to_string(), "program:grafana");
        assert!(!access.reload().unwrap());
        access.clean_up(at(10_000)).unwrap();
        let mut stranger = access.stranger();
        assert!(!decide(&stranger, Verb::ReadLive, PUMP).is_allowed());
        access.trust_strangers();
        stranger = access.stranger();
        assert!(decide(&stranger, Verb::Administration, Target::Dac).is_allowed());
        access.change(|document| document.set_roles("stranger", names(&[]))).unwrap();
        access.check(&mut stranger, at(1)).unwrap();
        assert!(decide(&stranger, Verb::Administration, Target::Dac).is_allowed());
    }

    #[test]
    fn without_accounts_this_host_may_do_everything_and_others_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let access =
            Access::open_with(folder.path().join("x").as_path(), &AccessConfig::default(), QUICK).unwrap();
        let mut local = access.local();
        assert!(Verb::ALL.iter().all(|verb| decide(&local, *verb, Target::Dac).is_allowed()));
        assert!(Verb::ALL.iter().all(|verb| !decide(&access.stranger(), *verb, PUMP).is_allowed()));
        access.change(|document| document.set_roles("local", names(&["viewer"]))).unwrap();
        access.check(&mut local, at(0)).unwrap();
        assert!(!decide(&local, Verb::Enable, PUMP).is_allowed());
    }
}

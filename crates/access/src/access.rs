//! The rights of everybody, in one place: what doors ask before they serve a request.

use crate::{
    config::AccessConfig,
    document::{Document, LOCAL},
    follow::{Follower, NumberedState},
    gate::Gate,
    host::Host,
    last_use::LastUses,
    moment::Moment,
    nodes::{NodeRegister, SeenNodes},
    password::{HashCost, StoredPassword},
    policy::{Account, Policy, TokenAccount},
    principal::{Credential, Kind, Principal},
    rights::Rights,
    role::BuiltIn,
    secret::{Digest, Secret},
    sessions::Sessions,
    store::{Fingerprint, Store, StoreError},
    throttle::Throttle,
    tickets::{TicketError, Tickets},
    time_text::Time,
    token::{self, TokenId},
    verb::VerbSet,
};
use arc_swap::ArcSwap;
use oasis_wire::quantity::Nanos;
use std::{
    io,
    path::Path,
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

/// Longest time that a stream keeps its rights without a look-up, nanoseconds: expiry of sessions is noticed by then.
const MAX_RIGHTS_AGE: u64 = 5_000_000_000;
/// Shortest time between two checks of the file for unknown tokens, nanoseconds.
const MIN_TOKEN_CHECK_INTERVAL: u64 = 10_000_000;
/// Passwords hashed at the same time, and callers that wait for that.
const MAX_CONCURRENT_HASHES: usize = 4;
const MAX_WAITING_HASHES: usize = 64;

/// Accounts, sessions and tickets of a DAC. Shared by all its threads.
#[derive(Debug)]
pub struct Access {
    /// None if everything is in memory.
    pub(crate) store: Option<Store>,
    /// Rights of strangers regardless of the accounts.
    strangers: Option<Arc<Rights>>,
    policy: ArcSwap<Policy>,
    /// Changes with the policy, and when a session ends.
    pub(crate) generation: AtomicU64,
    /// Time at which an unknown token last caused a check of the file, by the steady clock; 0 for never.
    looked: AtomicU64,
    /// Guards what the policy was read from; one reload at a time.
    seen: Mutex<Option<Fingerprint>>,
    pub(crate) nodes: ArcSwap<NodeRegister>,
    /// Guards what the nodes were read from; one reload at a time. Locked after `seen`, if both are.
    pub(crate) seen_nodes_file: Mutex<Option<Fingerprint>>,
    /// Held for a look or a change.
    pub(crate) seen_nodes: Mutex<SeenNodes>,
    /// Held for a look or a change.
    sessions: Mutex<Sessions>,
    /// Held for a look or a change.
    tickets: Mutex<Tickets>,
    /// Held for a look or a change. None if this host needs no token.
    host: Option<Mutex<Host>>,
    /// Held for a look or a change.
    last_uses: Mutex<LastUses>,
    /// The problem of the files that the watch found.
    problem: Mutex<Option<String>>,
    pub(crate) throttle: Throttle,
    pub(crate) gate: Gate,
    /// Checked in place of a password that does not exist; made before the first sign-in, because that takes a while.
    decoy: OnceLock<StoredPassword>,
    cost: HashCost,
    /// None if the accounts are kept here.
    pub(crate) follower: Option<Follower>,
    pub(crate) numbered: NumberedState,
}

/// Why a principal has no rights any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Ended {
    /// Signed out, expired, or the account was removed or got another password.
    #[error("the session has ended: sign in again")]
    Session,
    /// Expired.
    #[error("the token has expired: create another one")]
    TokenExpired,
    /// Revoked, or never made.
    #[error("the token is unknown or was revoked")]
    TokenUnknown,
    /// The DAC follows another one, and has heard nothing of it for too long.
    #[error("the accounts of this DAC are a copy that was not renewed for too long: see its health")]
    Outdated,
}

impl Access {
    /// Opens the folder of the settings, created if it does not exist.
    ///
    /// # Errors
    /// If the folder or the accounts in it cannot be read, or are open to others.
    pub fn open(directory: &Path, config: &AccessConfig) -> Result<Self, StoreError> {
        Self::open_with(directory, config, HashCost::default())
    }

    pub(crate) fn open_with(
        directory: &Path,
        config: &AccessConfig,
        cost: HashCost,
    ) -> Result<Self, StoreError> {
        let store = Store::open(directory)?;
        let follower = Follower::open(&store, config)?;
        let (document, seen) = store.read_marked()?;
        let (nodes, seen_nodes_file) = store.read_nodes_marked()?;
        let last_uses = Mutex::new(LastUses::read(directory));
        let seen_nodes = Mutex::new(SeenNodes::read(directory));
        let (nodes, seen_nodes_file) = (ArcSwap::from_pointee(nodes), Mutex::new(seen_nodes_file));
        let (store, seen) = (Some(store), Mutex::new(seen));
        let base = Self::with_document(document, config, cost);
        Ok(Self { store, seen, last_uses, nodes, seen_nodes_file, seen_nodes, follower, ..base })
    }

    /// Makes accounts that are in no folder and end with the process: at first there are none.
    pub fn in_memory(config: &AccessConfig) -> Self {
        Self::with_document(Document::default(), config, HashCost::default())
    }

    fn with_document(document: Document, config: &AccessConfig, cost: HashCost) -> Self {
        Self {
            store: None,
            strangers: None,
            policy: ArcSwap::from_pointee(Policy::new(document)),
            generation: AtomicU64::new(1),
            looked: AtomicU64::new(0),
            seen: Mutex::default(),
            nodes: ArcSwap::default(),
            seen_nodes_file: Mutex::default(),
            seen_nodes: Mutex::default(),
            sessions: Mutex::new(Sessions::new(config.session_limits())),
            tickets: Mutex::default(),
            host: None,
            last_uses: Mutex::default(),
            problem: Mutex::default(),
            throttle: Throttle::new(),
            gate: Gate::new(MAX_CONCURRENT_HASHES, MAX_WAITING_HASHES),
            decoy: OnceLock::new(),
            cost,
            follower: None,
            numbered: NumberedState::default(),
        }
    }

    /// Returns what is checked in place of a password that does not exist.
    ///
    /// # Errors
    /// If the system has no random numbers.
    pub(crate) fn decoy(&self) -> io::Result<&StoredPassword> {
        if let Some(decoy) = self.decoy.get() {
            return Ok(decoy);
        }
        let made = StoredPassword::decoy(self.cost)?;
        Ok(self.decoy.get_or_init(|| made))
    }

    /// Returns what a new password costs.
    pub(crate) fn cost(&self) -> HashCost {
        self.cost
    }

    /// Permits everything to strangers, whatever the accounts say: for networks without other users.
    pub fn trust_strangers(&mut self) {
        let rules: Vec<_> = BuiltIn::find("admin").map(BuiltIn::rules).unwrap_or_default();
        self.strangers = Some(Arc::new(Rights::new(&rules, VerbSet::ALL, &[])));
    }

    /// Closes a DAC whose page is at this port to the other users of its host: from now on `local` is whoever has a link,
    /// or can read the file of the host's token.
    ///
    /// # Errors
    /// If accounts are in memory, or the file cannot be written.
    pub fn close_to_host(&mut self, port: u16) -> io::Result<()> {
        let folder = self.store.as_ref().map(Store::directory);
        let folder = folder.ok_or_else(|| io::Error::other("there is no folder for the host's token"))?;
        self.host = Some(Mutex::new(Host::create(folder, port)?));
        Ok(())
    }

    /// Opens it to all users of the host again: removes what an earlier DAC at this port has left.
    ///
    /// # Errors
    /// If the file is there and cannot be removed.
    pub fn open_to_host(&mut self, port: u16) -> io::Result<()> {
        self.store.as_ref().map_or(Ok(()), |store| Host::remove(store.directory(), port))
    }

    /// Makes the code of a link that signs in once within [`LINK_SECONDS`](crate::LINK_SECONDS); none if this host needs
    /// no token.
    ///
    /// # Errors
    /// If the system has no random numbers.
    pub fn link(&self, now: Moment) -> io::Result<Option<Secret>> {
        self.host().map(|mut host| host.link(now.steady)).transpose()
    }

    /// Takes the code of a link. Whether it was good.
    pub(crate) fn take_link(&self, code: &str, now: Moment) -> bool {
        self.host().is_some_and(|mut host| host.take(code, now.steady))
    }

    /// Returns the present state of the accounts, for lists.
    pub fn document(&self) -> Document {
        self.policy().document.clone()
    }

    /// Returns a number that changes whenever rights may have changed. One atomic read.
    pub fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    /// Returns who comes from this host without signing in.
    pub fn local(&self) -> Principal {
        self.implicit(Kind::Local)
    }

    /// Returns who comes from this host and has shown nothing: `local`, unless this host needs a token.
    pub fn from_this_host(&self) -> Principal {
        if self.host.is_some() { self.stranger() } else { self.local() }
    }

    /// Returns who comes from elsewhere without signing in.
    pub fn stranger(&self) -> Principal {
        self.implicit(Kind::Stranger)
    }

    /// Returns a stranger who may do nothing, whatever strangers may do: for credentials that are wrong.
    pub fn nobody(&self) -> Principal {
        Principal { rights: Arc::default(), ..self.implicit(Kind::Stranger) }
    }

    fn implicit(&self, kind: Kind) -> Principal {
        let generation = self.generation();
        let policy = self.policy();
        let rights = match (kind, &self.strangers) {
            (Kind::Local, _) => &policy.local,
            (_, Some(everything)) => everything,
            (_, None) => &policy.stranger,
        };
        let is_trusted = kind == Kind::Local || self.strangers.is_some() || self.is_trusted(Moment::now());
        Principal {
            kind,
            name: Arc::default(),
            rights: if is_trusted { rights.clone() } else { Arc::default() },
            credential: Credential::None,
            is_embedded: false,
            generation,
            expires: Nanos(u64::MAX),
            look_again: Nanos(u64::MAX),
        }
    }

    /// Returns the principal of an API token. Notes that the token was used.
    ///
    /// # Errors
    /// If it is unknown, was revoked or has expired.
    pub fn token(&self, text: &str, now: Moment) -> Result<Principal, Ended> {
        let (id, shown) = token::parse(text).ok_or(Ended::TokenUnknown)?;
        if id == TokenId::HOST {
            return self.host_token(&shown, now);
        }
        if !self.is_trusted(now) {
            return Err(Ended::Outdated);
        }
        if !self.policy().tokens.contains_key(&id) {
            self.look_for_new(now);
        }
        let generation = self.generation();
        let policy = self.policy();
        let account = policy.tokens.get(&id);
        // Compared even if there is none: the time says nothing about which numbers exist.
        let kept = account.map_or(Digest::ZERO, |account| account.digest);
        let is_match = kept.matches(&shown);
        let account = account.filter(|_| is_match).ok_or(Ended::TokenUnknown)?;
        let principal = of_token(id, account, generation, now)?;
        self.last_uses().note(id, now.wall);
        Ok(principal)
    }

    /// Reads the accounts if they have changed, a hundred times a second at most: a token works as soon as it was made.
    fn look_for_new(&self, now: Moment) {
        let last = self.looked.load(Ordering::Relaxed);
        let is_due = last == 0 || now.steady.0.saturating_sub(last) >= MIN_TOKEN_CHECK_INTERVAL;
        if !is_due {
            return;
        }
        let next = now.steady.0.max(1);
        if self.looked.compare_exchange(last, next, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
            // The watch reports what is wrong with the file.
            let _ = self.reload();
        }
    }

    fn host_token(&self, shown: &Digest, now: Moment) -> Result<Principal, Ended> {
        let generation = self.generation();
        let is_match = self.host().is_some_and(|host| host.is_token(shown));
        let principal = of_host(&self.policy(), Credential::Host, generation, now);
        is_match.then_some(principal).ok_or(Ended::TokenUnknown)
    }

    /// Returns the principal of a session's cookie. Notes that the session was used.
    ///
    /// # Errors
    /// If it has ended.
    pub fn session(&self, cookie: &str, now: Moment) -> Result<Principal, Ended> {
        self.of_session(Digest::of(cookie), now)
    }

    fn of_session(&self, cookie: Digest, now: Moment) -> Result<Principal, Ended> {
        let generation = self.generation();
        let policy = self.policy();
        let session = self.sessions().touch(&cookie, now.steady).ok_or(Ended::Session)?;
        if session.user.as_str() == LOCAL {
            return Ok(of_host(&policy, Credential::Session(cookie), generation, now));
        }
        if !self.is_trusted(now) {
            return Err(Ended::Outdated);
        }
        let account = policy.users.get(&session.user).filter(|account| account.stamp == session.stamp);
        let Some(account) = account else {
            self.sessions().end(&cookie);
            return Err(Ended::Session);
        };
        Ok(of_user(account, cookie, generation, now))
    }

    /// Whether the CSRF token is that of the session. Requests that change something need it, if the principal
    /// [needs it](Principal::needs_csrf_token).
    pub fn is_csrf_token(&self, cookie: &str, token: &str) -> bool {
        self.sessions().is_csrf_token(&Digest::of(cookie), token)
    }

    /// Makes another CSRF token for a session, as for a page that was loaded again; none if the session has ended. The
    /// one before is not valid any more.
    ///
    /// # Errors
    /// If the system has no random numbers.
    pub fn renew_csrf_token(&self, cookie: &str) -> io::Result<Option<Secret>> {
        self.sessions().renew_csrf_token(&Digest::of(cookie))
    }

    /// Ends a session and, within 5 s, its streams. Whether there was one.
    pub fn sign_out(&self, cookie: &str) -> bool {
        let was_there = self.sessions().end(&Digest::of(cookie));
        self.generation.fetch_add(1, Ordering::AcqRel);
        was_there
    }

    /// Returns the number of sessions of a user, or of `local`.
    pub fn sessions_of(&self, user: &str) -> usize {
        self.sessions().count_of(user)
    }

    /// Ends all sessions of a user, or of `local`, and within 5 s their streams. Returns how many there were.
    pub fn end_sessions_of(&self, user: &str) -> usize {
        let ended = self.sessions().end_all_of(user);
        self.generation.fetch_add(1, Ordering::AcqRel);
        ended
    }

    /// Returns when a token was used last.
    pub fn last_use(&self, token: TokenId) -> Option<Time> {
        self.last_uses().of(token)
    }

    /// Makes a ticket with which this principal opens one WebSocket within 30 s, from a page of this origin; without an
    /// origin it is for a program.
    ///
    /// # Errors
    /// If too many are unused.
    pub fn ticket(
        &self,
        principal: &Principal,
        origin: Option<&str>,
        now: Moment,
    ) -> Result<Secret, TicketError> {
        self.tickets().make(principal, origin, now.steady)
    }

    /// Takes a ticket. None if it was used, is too old, never was, is of another origin, or its principal has no rights
    /// any more.
    pub fn redeem(&self, ticket: &str, origin: Option<&str>, now: Moment) -> Option<Principal> {
        let mut principal = self.tickets().take(ticket, origin, now.steady)?;
        principal.look_again = Nanos(0);
        self.check(&mut principal, now).is_ok().then_some(principal)
    }

    /// Brings the rights of an open stream up to date. Streams call this once a second, or before each round: it is two
    /// comparisons and an atomic read as long as nothing has changed.
    ///
    /// # Errors
    /// If the principal has no rights any more: the stream must end.
    pub fn check(&self, principal: &mut Principal, now: Moment) -> Result<(), Ended> {
        let is_same = principal.generation == self.generation();
        if is_same && now.wall < principal.expires && now.steady < principal.look_again {
            return Ok(());
        }
        *principal = match principal.credential {
            Credential::None => self.implicit(principal.kind),
            Credential::Session(cookie) => self.of_session(cookie, now)?,
            Credential::Host => {
                let generation = self.generation();
                of_host(&self.policy(), Credential::Host, generation, now)
            }
            Credential::Token(_) if !self.is_trusted(now) => return Err(Ended::Outdated),
            Credential::Token(id) => {
                let generation = self.generation();
                let policy = self.policy();
                let account = policy.tokens.get(&id).ok_or(Ended::TokenUnknown)?;
                of_token(id, account, generation, now)?
            }
        };
        Ok(())
    }

    /// Reads the accounts again if another process has changed them. Whether they have changed. If the file is damaged
    /// or gone, the rights stay as they were.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn reload(&self) -> Result<bool, StoreError> {
        let nodes = self.reload_nodes();
        let accounts = self.reload_accounts();
        Ok(nodes? | accounts?)
    }

    fn reload_accounts(&self) -> Result<bool, StoreError> {
        let Some(store) = &self.store else { return Ok(false) };
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let present = Store::fingerprint(&store.file())?;
        if present == *seen {
            return Ok(false);
        }
        let (document, present) = store.read_marked()?;
        if present.is_none() {
            return Err(StoreError::Gone { path: store.file() });
        }
        *seen = present;
        self.follow(document);
        Ok(true)
    }

    fn follow(&self, document: Document) {
        self.policy.store(Arc::new(Policy::new(document)));
        // After the policy: whoever sees the number sees the rights.
        self.generation.fetch_add(1, Ordering::AcqRel);
    }

    /// Changes the accounts in the file, if there is a folder, and the rights at once.
    ///
    /// # Errors
    /// As [`Store::change`]; nothing has changed then.
    pub fn change<T>(
        &self,
        change: impl FnOnce(&mut Document) -> Result<T, crate::ChangeError>,
    ) -> Result<T, StoreError> {
        if let Some(store) = &self.store {
            let changed = store.change(change)?;
            self.reload()?;
            return Ok(changed);
        }
        // One change at a time.
        let _seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let mut document = self.document();
        let changed = change(&mut document)?;
        document.check()?;
        self.follow(document);
        Ok(changed)
    }

    /// Takes a token that is good for one enrollment; it cannot be used again. Other credentials stay.
    ///
    /// # Errors
    /// If the token was taken before, or the file cannot be written.
    pub fn spend(&self, principal: &Principal) -> Result<(), StoreError> {
        let Credential::Token(id) = principal.credential else { return Ok(()) };
        if self.policy().document.tokens().get(&id).is_some_and(|token| !token.once) {
            return Ok(());
        }
        self.change(|document| document.revoke_token(&id.to_string())).map(drop)
    }

    /// Ends expired sessions, and writes when tokens were last used. To be called now and then.
    ///
    /// # Errors
    /// If the file of last uses cannot be written.
    pub fn clean_up(&self, now: Moment) -> io::Result<()> {
        self.sessions().purge(now.steady);
        if self.store.is_none() {
            return Ok(());
        }
        let seen = self.seen_nodes.lock().unwrap_or_else(PoisonError::into_inner).take_due(now.steady);
        seen.map_or(Ok(()), crate::nodes::write_seen)?;
        let policy = self.policy();
        let file = self.last_uses().take_due(|token| policy.tokens.contains_key(token), now.steady);
        file.map_or(Ok(()), |file| file.write())
    }

    /// Returns why changes of the accounts do not take effect, if [`Watch`](crate::Watch) has found something wrong with the files.
    pub fn problem(&self) -> Option<String> {
        self.problem.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn note_problem(&self, problem: Option<String>) {
        *self.problem.lock().unwrap_or_else(PoisonError::into_inner) = problem;
    }

    pub(crate) fn policy(&self) -> Arc<Policy> {
        self.policy.load_full()
    }

    pub(crate) fn sessions(&self) -> MutexGuard<'_, Sessions> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tickets(&self) -> MutexGuard<'_, Tickets> {
        self.tickets.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn host(&self) -> Option<MutexGuard<'_, Host>> {
        self.host.as_ref().map(|host| host.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn last_uses(&self) -> MutexGuard<'_, LastUses> {
        self.last_uses.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the principal of a user. The generation is from before the policy was read: a change since then is seen
/// later.
pub(crate) fn of_user(account: &Account, cookie: Digest, generation: u64, now: Moment) -> Principal {
    let (name, rights) = (account.name.clone(), account.rights.clone());
    let credential = Credential::Session(cookie);
    signed_in(Kind::Person, name, rights, credential, generation, Nanos(u64::MAX), now)
}

/// The DAC's own user, who has shown that it is.
pub(crate) fn of_host(policy: &Policy, credential: Credential, generation: u64, now: Moment) -> Principal {
    signed_in(Kind::Local, "".into(), policy.local.clone(), credential, generation, Nanos(u64::MAX), now)
}

fn of_token(id: TokenId, account: &TokenAccount, generation: u64, now: Moment) -> Result<Principal, Ended> {
    if now.wall >= account.expires {
        return Err(Ended::TokenExpired);
    }
    let (name, rights) = (account.name.clone(), account.rights.clone());
    let credential = Credential::Token(id);
    let principal = signed_in(Kind::Program, name, rights, credential, generation, account.expires, now);
    Ok(Principal { is_embedded: account.is_embed, ..principal })
}

fn signed_in(
    kind: Kind,
    name: Arc<str>,
    rights: Arc<Rights>,
    credential: Credential,
    generation: u64,
    expires: Nanos,
    now: Moment,
) -> Principal {
    let look_again = Nanos(now.steady.0.saturating_add(MAX_RIGHTS_AGE));
    Principal { kind, name, rights, credential, is_embedded: false, generation, expires, look_again }
}

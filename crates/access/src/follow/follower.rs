//! The state of a follower's copy, and the time for which it is trusted.

use super::{
    copy::{AccountsCopy, CopyError, Position},
    files::Marker,
};
use crate::{
    access::Access,
    config::AccessConfig,
    moment::Moment,
    store::{Store, StoreError},
    time_text::Time,
};
use oasis_wire::quantity::Nanos;
use std::sync::{
    Mutex, MutexGuard, PoisonError,
    atomic::{AtomicBool, AtomicU64, Ordering},
};

/// Shortest time between two notes that the copy was confirmed, nanoseconds.
const MIN_NOTE_INTERVAL_NANOS: u64 = 60_000_000_000;
/// A source that was not heard for this time is reported, nanoseconds.
const SOURCE_TIMEOUT_NANOS: u64 = 10_000_000_000;

/// The copy of a follower.
#[derive(Debug)]
pub(crate) struct Follower {
    /// Nanoseconds that a copy is trusted without being confirmed.
    max_age: u64,
    /// Until when it is trusted, by the steady clock.
    trusted_until: AtomicU64,
    /// The last answer to that question, so that open streams learn of a change.
    was_trusted: AtomicBool,
    /// Held for a look or a change.
    state: Mutex<State>,
}

#[derive(Debug, Default)]
pub(super) struct State {
    position: Option<Position>,
    pub(super) source: String,
    /// When the copy was confirmed last, by both clocks.
    confirmed: Option<Moment>,
    /// When that was written.
    noted: Nanos,
    problem: Option<String>,
}

/// State of a copy, for display.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CopyState {
    /// Address that the copy is from, or would be.
    pub source: String,
    /// When it was confirmed last; none if there is no copy.
    pub confirmed: Option<Time>,
    /// Why it is not confirmed now; none if all is well.
    pub problem: Option<String>,
    /// Whether it is in force.
    pub is_trusted: bool,
}

/// Why an answer changed nothing.
#[derive(Debug, thiserror::Error)]
pub enum FollowError {
    /// The answer is refused.
    #[error("the copy of the accounts was refused: {0}")]
    Refused(#[from] CopyError),
    /// The copy cannot be kept.
    #[error("the copy of the accounts cannot be kept: {0}")]
    Store(#[from] StoreError),
    /// The settings have no source.
    #[error("this DAC follows no other one")]
    NoFollower,
}

impl Follower {
    /// Reads what is in the folder of a DAC with these settings; none if it keeps its own accounts.
    ///
    /// # Errors
    /// If the folder has accounts that are no copy, or a copy and there is no source.
    pub(crate) fn open(store: &Store, config: &AccessConfig) -> Result<Option<Self>, StoreError> {
        let marker = store.marker()?;
        let path = store.directory().to_owned();
        let Some(source) = config.follow.first() else {
            return match marker {
                Some(marker) => Err(StoreError::CopyWithoutSource { path, from: marker.source }),
                None => Ok(None),
            };
        };
        if store.has_own()? {
            return Err(StoreError::NotACopy { path });
        }
        let now = Moment::now();
        let max_age = config.follow_max_age_seconds.saturating_mul(1_000_000_000);
        let mut state = State { source: source.clone(), ..State::default() };
        let mut trusted_until = 0;
        if let Some(Marker { source, position, confirmed }) = marker {
            // A clock that was set back makes it no older.
            let age = now.wall.0.saturating_sub(confirmed.0.0);
            trusted_until = now.steady.0.saturating_add(max_age).saturating_sub(age);
            let steady = Nanos(now.steady.0.saturating_sub(age));
            state.confirmed = Some(Moment { wall: confirmed.0, steady });
            (state.source, state.position) = (source, Some(position));
        }
        let was_trusted = AtomicBool::new(now.steady.0 < trusted_until);
        let (trusted_until, state) = (AtomicU64::new(trusted_until), Mutex::new(state));
        Ok(Some(Self { max_age, trusted_until, was_trusted, state }))
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_trusted(&self, now: Moment) -> bool {
        now.steady.0 < self.trusted_until.load(Ordering::Acquire)
    }
}

impl Access {
    /// Whether the accounts may be used: always, unless they are a copy that was not confirmed for too long. One atomic read.
    pub fn is_trusted(&self, now: Moment) -> bool {
        self.follower.as_ref().is_none_or(|follower| follower.is_trusted(now))
    }

    /// Returns the state that a follower has, for the next request; none without a copy.
    pub fn copy_position(&self) -> Option<Position> {
        self.follower.as_ref()?.state().position.clone()
    }

    /// Returns what people should know of the copy; none if this DAC keeps its own accounts.
    pub fn copy_state(&self, now: Moment) -> Option<CopyState> {
        let follower = self.follower.as_ref()?;
        let is_trusted = follower.is_trusted(now);
        let state = follower.state();
        let silence = state.confirmed.map(|last| now.steady.0.saturating_sub(last.steady.0));
        let is_late = silence.is_none_or(|silence| silence > SOURCE_TIMEOUT_NANOS);
        let problem = is_late.then(|| state.problem.clone().unwrap_or_else(|| "it does not answer".into()));
        Some(CopyState {
            source: state.source.clone(),
            confirmed: state.confirmed.map(|last| Time(last.wall)),
            problem: problem.or_else(|| state.problem.clone()),
            is_trusted,
        })
    }

    /// Takes an answer of a source: checks it, writes what has changed, and puts it in force. Whether anything has changed.
    ///
    /// # Errors
    /// If it is refused or cannot be written; the copy before stays in force.
    pub fn take_copy(&self, source: &str, copy: &AccountsCopy, now: Moment) -> Result<bool, FollowError> {
        let (Some(follower), Some(store)) = (&self.follower, &self.store) else {
            return Err(FollowError::NoFollower);
        };
        let own = self.process_name()?;
        let known = follower.state().position.clone();
        let folder = store.directory().display().to_string();
        let position = copy.check(own, known.as_ref(), &folder)?;
        let is_change = known.as_ref() != Some(&position);
        let is_noted = {
            let state = follower.state();
            !is_change
                && state.source == source
                && now.wall.0.saturating_sub(state.noted.0) < MIN_NOTE_INTERVAL_NANOS
        };
        if !is_noted {
            let marker =
                Marker { source: source.into(), position: position.clone(), confirmed: Time(now.wall) };
            let accounts = copy.accounts.as_ref().filter(|_| is_change);
            let nodes = copy.nodes.as_ref().filter(|_| is_change);
            store.take_copy(accounts, nodes, &marker)?;
            if is_change {
                self.reload()?;
            }
        }
        let mut state = follower.state();
        if !is_noted {
            state.noted = now.wall;
        }
        (state.source, state.position, state.problem) = (source.into(), Some(position), None);
        state.confirmed = Some(now);
        drop(state);
        follower.trusted_until.store(now.steady.0.saturating_add(follower.max_age), Ordering::Release);
        self.note_trust(now);
        Ok(is_change)
    }

    /// Notes why the copy was not confirmed.
    pub fn note_copy_problem(&self, problem: String) {
        if let Some(follower) = &self.follower {
            follower.state().problem = Some(problem);
        }
    }

    /// Lets open streams and connected nodes notice that a copy has become too old, or is trusted again.
    pub(crate) fn note_trust(&self, now: Moment) {
        let Some(follower) = &self.follower else { return };
        let is_trusted = follower.is_trusted(now);
        if follower.was_trusted.swap(is_trusted, Ordering::AcqRel) != is_trusted {
            self.generation.fetch_add(1, Ordering::AcqRel);
        }
    }
}

//! The directory of this process, with its clock and its lock.

use axum::http::StatusCode;
use oasis_doors::Problem;
use oasis_tem::{Accepted, Changes, DacName, DacView, Directory, Heartbeat, Limits, Refusal, TemView};
use oasis_wire::quantity::Epoch;
use std::{
    sync::{Mutex, MutexGuard, OnceLock, PoisonError},
    time::{Duration, Instant},
};

/// The TEM of a process.
#[derive(Debug)]
pub struct Tem {
    directory: Mutex<Directory>,
    /// Zero of the directory's clock.
    began: Instant,
    /// The DAC of this process, if it has one.
    own: OnceLock<DacName>,
    /// Why this DAC is not listed in the TEM that it was told to use.
    problem: Mutex<Option<String>>,
}

impl Default for Tem {
    fn default() -> Self {
        Self {
            directory: Mutex::new(Directory::new(Limits::default())),
            began: Instant::now(),
            own: OnceLock::new(),
            problem: Mutex::default(),
        }
    }
}

impl Tem {
    /// Takes a heartbeat of the DAC of this process.
    ///
    /// # Errors
    /// If it is refused.
    pub fn beat_own(&self, name: &DacName, heartbeat: Heartbeat) -> Result<Accepted, Refusal> {
        let _ = self.own.set(name.clone());
        self.beat(name, heartbeat)
    }

    /// Takes a heartbeat.
    ///
    /// # Errors
    /// If it is refused.
    pub(super) fn beat(&self, name: &DacName, heartbeat: Heartbeat) -> Result<Accepted, Refusal> {
        self.directory().beat(name, heartbeat, self.clock())
    }

    /// Removes a DAC that ends. Returns whether it was there.
    pub(super) fn leave(&self, name: &DacName, epoch: Epoch, beat: u64) -> bool {
        self.directory().leave(name, epoch, beat, self.clock())
    }

    /// Lets members become late. To be called four times a second.
    pub fn advance(&self) {
        self.directory().advance(self.clock());
    }

    /// Reports why this DAC is not listed in its TEM, or that it is.
    pub fn set_problem(&self, problem: Option<String>) {
        *self.problem.lock().unwrap_or_else(PoisonError::into_inner) = problem;
    }

    /// Why this DAC is not listed in its TEM.
    pub(crate) fn problem(&self) -> Option<String> {
        self.problem.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns what changed after a position `EPOCH:REVISION`; everything without one, or after one of another process.
    ///
    /// # Errors
    /// If it is no position.
    pub(super) fn view(&self, epoch: Epoch, after: Option<&str>) -> Result<TemView, Problem> {
        let after = after.map(position).transpose()?;
        let after = after.filter(|(of, _)| *of == epoch).map(|(_, revision)| revision);
        let mut directory = self.directory();
        directory.advance(self.clock());
        let (now, counters) = (directory.now(), directory.counters());
        let Changes { revision, complete, members, removed } = directory.changes(after);
        let own = self.own.get();
        let dac = |member| {
            let view = DacView::new(member, now);
            DacView { is_tem: own == Some(&view.name), ..view }
        };
        Ok(TemView {
            position: format!("{epoch}:{revision}"),
            complete,
            dacs: members.into_iter().map(dac).collect(),
            removed: removed.into_iter().cloned().collect(),
            counters: Some(counters),
        })
    }

    fn clock(&self) -> Duration {
        self.began.elapsed()
    }

    fn directory(&self) -> MutexGuard<'_, Directory> {
        self.directory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn position(text: &str) -> Result<(Epoch, u64), Problem> {
    let parsed = text
        .split_once(':')
        .and_then(|(epoch, revision)| Some((epoch.parse().ok()?, revision.parse().ok()?)));
    parsed.ok_or_else(|| {
        let detail =
            format!("after: {text:?} is no position: write `position` of the last answer as it came");
        Problem::new(StatusCode::BAD_REQUEST, "bad_parameter", detail)
    })
}

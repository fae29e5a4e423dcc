//! The directory of this process, with its clock and its lock.

use super::others::Others;
use axum::http::StatusCode;
use oasis_http::Problem;
use oasis_tem::{
    Accepted, Beat, Changes, DacName, DacView, Directory, Double, Heartbeat, Kind, Limits, MAX_OTHER_PAGES,
    OtherPage, Refusal, TemView,
};
use oasis_wire::quantity::Epoch;
use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, OnceLock, PoisonError},
    time::{Duration, Instant},
};

/// Names of different nodes that health reports at once.
const MAX_DOUBLES: usize = 100;

/// The TEM of a process.
#[derive(Debug)]
pub struct Tem {
    directory: Mutex<Directory>,
    /// Zero of the directory's clock.
    began: Instant,
    /// The DAC of this process, if it has one.
    own: OnceLock<DacName>,
    /// The TEMs that list the DAC of this process.
    others: Mutex<Others>,
    /// Pages where readers of this DAC can continue, by the address of the TEM that listed them.
    pages: Mutex<BTreeMap<String, Vec<OtherPage>>>,
}

impl Default for Tem {
    fn default() -> Self {
        Self {
            directory: Mutex::new(Directory::new(Limits::default())),
            began: Instant::now(),
            own: OnceLock::new(),
            others: Mutex::default(),
            pages: Mutex::default(),
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

    /// Takes a heartbeat of which only the number has changed.
    ///
    /// # Errors
    /// If it is refused.
    pub(super) fn beat_again(&self, name: &DacName, epoch: Epoch, beat: Beat) -> Result<Accepted, Refusal> {
        self.directory().beat_again(name, epoch, beat, self.clock())
    }

    /// Removes a DAC that ends. Returns whether it was there.
    pub(super) fn leave(&self, name: &DacName, last: (Epoch, u64)) -> bool {
        self.directory().leave(name, last, self.clock())
    }

    /// The other DACs in the list that have nodes of their own: name and address of the page.
    pub fn other_dacs(&self, own: Epoch) -> Vec<(String, String)> {
        let directory = self.directory();
        let others = directory.members().filter(|member| member.kind() == Kind::Dac && member.epoch() != own);
        others.map(|member| (member.name().to_string(), member.doors().to_owned())).collect()
    }

    /// Lets members become late. To be called four times a second.
    pub fn advance(&self) {
        self.directory().advance(self.clock());
    }

    /// Sets the pages where readers of the DAC of this process can continue, as a TEM of its settings has answered.
    pub fn set_other_pages(&self, tem: &str, mut pages: Vec<OtherPage>) {
        pages.truncate(MAX_OTHER_PAGES);
        self.pages().insert(tem.to_owned(), pages);
    }

    /// Returns the pages where readers of the DAC of this process can continue, as this TEM and others know.
    pub(crate) fn own_other_pages(&self) -> Vec<OtherPage> {
        let own = self.own.get().map(|own| self.directory().other_pages(own)).unwrap_or_default();
        own.into_iter().chain(self.pages().values().flatten().cloned()).collect()
    }

    /// Returns the pages where readers of another DAC can continue, and the revision of the list; none if that is still
    /// `known`.
    pub(super) fn other_pages_since(
        &self,
        name: &DacName,
        known: Option<u64>,
    ) -> Option<(u64, Vec<OtherPage>)> {
        let directory = self.directory();
        let revision = directory.revision();
        (known != Some(revision)).then(|| (revision, directory.other_pages(name)))
    }

    /// Reports why another TEM is of no use, or that it is.
    pub fn set_problem(&self, tem: &str, problem: Option<String>) {
        self.others().set_problem(tem, problem);
    }

    /// Why other TEMs are of no use.
    pub(crate) fn problems(&self) -> Vec<String> {
        self.others().problems()
    }

    /// Names that different nodes have at several DACs: a name, and a sentence for people.
    pub(crate) fn doubles(&self) -> Vec<(String, String)> {
        let directory = self.directory();
        let sentence = |Double { node, dacs }: Double| {
            let dacs: Vec<_> = dacs.iter().map(DacName::as_str).collect();
            let at = dacs.join(" and ");
            (
                node,
                format!(
                    "different nodes have this name, connected to {at}: give one of them another (--name, node.name)"
                ),
            )
        };
        directory.doubles().take(MAX_DOUBLES).map(sentence).collect()
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
        let view = TemView {
            position: format!("{epoch}:{revision}"),
            complete,
            dacs: members.into_iter().map(dac).collect(),
            removed: removed.into_iter().cloned().collect(),
            tems: Vec::new(),
            counters: Some(counters),
        };
        drop(directory);
        Ok(TemView { tems: self.others().list(), ..view })
    }

    fn clock(&self) -> Duration {
        self.began.elapsed()
    }

    fn pages(&self) -> MutexGuard<'_, BTreeMap<String, Vec<OtherPage>>> {
        self.pages.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn others(&self) -> MutexGuard<'_, Others> {
        self.others.lock().unwrap_or_else(PoisonError::into_inner)
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

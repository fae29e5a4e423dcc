//! The exchange with another TEM: each side reports what changed since the place that the other one has.
//!
//! The TEM with a peer in its settings asks ([`Peer`]), and the other one answers ([`answer`]). A request that gets no answer is repeated with the same
//! places, so nothing is lost, and what comes twice changes nothing.

use crate::{
    directory::Directory,
    hearsay::is_address,
    limits::EXCHANGE,
    name::DacName,
    report::{ChangePosition, Report},
};
use oasis_wire::quantity::Epoch;
use std::{sync::Arc, time::Duration};

/// Why a peer is of no use.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PeerError {
    /// The address is this TEM's own.
    #[error("this is the TEM itself: leave it out of its own peers (--peer, tem.peers)")]
    Itself,
    /// The value is not an address.
    #[error("doors is no http://HOST:PORT or https://HOST:PORT")]
    Doors,
}

/// This TEM, as it names itself to peers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// The life of its process.
    pub tem: Epoch,
    /// Address of its page; empty if it has none that others could open.
    pub doors: String,
}

/// Another TEM that this one exchanges its directory with.
#[derive(Debug)]
pub struct Peer {
    identity: Identity,
    /// Its address, as DACs that it reports are marked.
    via: Arc<str>,
    /// Up to where its reports are here.
    theirs: Option<ChangePosition>,
    /// Up to where it has the reports from here.
    ours: Option<ChangePosition>,
    /// Position that the report under way goes up to, and whether it left out some changes.
    sent: Option<(ChangePosition, bool)>,
    /// DACs that it must report in full.
    wants: Vec<DacName>,
    /// DACs that it has asked for.
    asked: Vec<DacName>,
    /// When the next report is due.
    due: Duration,
}

impl Peer {
    /// A peer at this address, of which nothing is known.
    pub fn new(identity: Identity, address: &str) -> Self {
        Self {
            identity,
            via: address.into(),
            theirs: None,
            ours: None,
            sent: None,
            wants: Vec::new(),
            asked: Vec::new(),
            due: Duration::ZERO,
        }
    }

    /// Its address.
    pub fn address(&self) -> &str {
        &self.via
    }

    /// The life of its process, once it has answered.
    pub fn tem(&self) -> Option<Epoch> {
        self.theirs.map(|place| place.tem)
    }

    /// Time until the next report is due.
    pub fn pause(&self, clock: Duration) -> Duration {
        self.due.saturating_sub(clock)
    }

    /// Makes the next report. The answer goes to [`Self::on_answer`]; if none comes, call [`Self::on_failure`].
    pub fn request(&mut self, directory: &Directory) -> Report {
        let report = directory.report((self.identity.tem, &self.identity.doors), self.ours, &self.asked);
        self.sent = Some((report.place, report.more));
        Report { known: self.theirs, wants: self.wants.clone(), ..report }
    }

    /// Takes the report that came as an answer.
    ///
    /// # Errors
    /// If the peer is this TEM itself.
    pub fn on_answer(
        &mut self,
        answer: Report,
        directory: &mut Directory,
        clock: Duration,
    ) -> Result<(), PeerError> {
        self.due = clock + EXCHANGE;
        check(&answer, &self.identity)?;
        let is_another = self.tem() != Some(answer.tem);
        // A process that has just started has nothing of what was sent to the one before, except for the last report.
        let (place, has_more) = self.sent.take().unzip();
        self.ours = if is_another && self.theirs.is_some() { None } else { place };
        if answer.more || has_more == Some(true) || !answer.wants.is_empty() {
            self.due = clock;
        }
        (self.theirs, self.asked) = (Some(answer.place), answer.wants.clone());
        self.wants = directory.hear_of(answer, &self.via, |_| true, clock);
        if !self.wants.is_empty() {
            self.due = clock.max(self.due.saturating_sub(EXCHANGE / 2));
        }
        Ok(())
    }

    /// No answer has come.
    pub fn on_failure(&mut self, clock: Duration) {
        self.due = clock + EXCHANGE;
        // The peer may have taken the report or not: it comes again, and changes nothing the second time.
        self.sent = None;
    }
}

/// Answers the report of a peer at this address, as far as it `may` name the DACs.
///
/// # Errors
/// If it is this TEM itself, or its address is none.
pub fn answer(
    request: Report,
    identity: &Identity,
    directory: &mut Directory,
    (via, may): (&Arc<str>, impl Fn(&DacName) -> bool),
    clock: Duration,
) -> Result<Report, PeerError> {
    check(&request, identity)?;
    let (known, asked) = (request.known, request.wants.clone());
    let wants = directory.hear_of(request, via, may, clock);
    let report = directory.report((identity.tem, &identity.doors), known, &asked);
    Ok(Report { wants, ..report })
}

fn check(report: &Report, identity: &Identity) -> Result<(), PeerError> {
    if report.tem == identity.tem {
        return Err(PeerError::Itself);
    }
    if !is_address(&report.doors) {
        return Err(PeerError::Doors);
    }
    Ok(())
}

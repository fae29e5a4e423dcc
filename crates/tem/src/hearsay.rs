//! Rules by which a directory believes reports of a peer.
//!
//! - A member that is heard here itself is not changed by any peer; only its own signature removes it.
//! - A report says how long ago the number has moved, and that time counts: a DAC that is reported for the first time is late as soon as elsewhere.
//! - A number that moves counts only with the signature of the DAC, if the DAC signs. A DAC that was heard here itself without one moves here alone.
//! - Another process takes over a name that was heard here itself only with the same key, until that name is forgotten.
//! - What was removed comes back only with a later number, or as another process.

use crate::{
    directory::Directory,
    heartbeat::{Heartbeat, is_page},
    limits::{FORGET_AFTER, MAX_WANTS},
    member::Member,
    name::DacName,
    report::{EndedDac, Pulse, Record, Report},
    seal::{Content, PublicKey, Seal, Sealed, Signature},
};
use std::{sync::Arc, time::Duration};

impl Directory {
    /// Takes the report of a peer, as far as it `may` name the DACs. Returns the DACs that the peer must report in full.
    pub fn hear_of(
        &mut self,
        report: Report,
        via: &Arc<str>,
        may: impl Fn(&DacName) -> bool,
        clock: Duration,
    ) -> Vec<DacName> {
        self.advance(clock);
        for left in report.left {
            if self.is_permitted(&left.name, &may) {
                self.hear_of_end(&left);
            }
        }
        for record in report.members {
            if self.is_permitted(&record.name, &may) {
                self.hear_of_member(record, via);
            }
        }
        let mut wants = Vec::new();
        for pulse in report.pulses {
            let is_wanted = self.is_permitted(&pulse.name, &may) && self.hear_of_pulse(&pulse, via);
            if is_wanted && wants.len() < MAX_WANTS {
                wants.push(pulse.name);
            }
        }
        wants
    }

    fn is_permitted(&mut self, name: &DacName, may: impl Fn(&DacName) -> bool) -> bool {
        let is_permitted = may(name);
        self.counters.bad_reports += u64::from(!is_permitted);
        is_permitted
    }

    fn hear_of_end(&mut self, left: &EndedDac) {
        let is_later = |member: &&Member| member.epoch == left.epoch && left.beat > member.beat;
        let Some(member) = self.members.get(&left.name).filter(is_later) else { return };
        let sealed = Sealed { name: &left.name, epoch: left.epoch, beat: left.beat, content: Content::Leave };
        match is_true(member.key, left.signature, sealed, member.own.is_some()) {
            true => self.remove_left(&left.name, left.beat, left.signature),
            false => self.counters.forged += 1,
        }
    }

    fn hear_of_member(&mut self, record: Record, via: &Arc<str>) {
        let Record { name, silent_ms, heartbeat } = record;
        if heartbeat.check().is_err() {
            self.counters.bad_reports += 1;
            return;
        }
        let silence = Duration::from_millis(silent_ms);
        match self.members.get(&name).map(|member| member.epoch) {
            None => self.hear_of_new(&name, heartbeat, via, silence),
            Some(epoch) if epoch == heartbeat.epoch => self.hear_of_known(&name, heartbeat, via, silence),
            Some(_) => self.hear_of_other(&name, heartbeat, via, silence),
        }
    }

    /// A member that no peer has named so far.
    fn hear_of_new(&mut self, name: &DacName, heartbeat: Heartbeat, via: &Arc<str>, silence: Duration) {
        if self.removals.is_old(name, heartbeat.epoch, heartbeat.beat) || silence >= FORGET_AFTER {
            return;
        }
        if !self.is_own_seal(name, &heartbeat) {
            return;
        }
        if !self.has_room() {
            self.counters.reports_full += 1;
            return;
        }
        self.members.insert(name.clone(), Member::new(name.clone(), &heartbeat));
        self.adopt(name, heartbeat, via, silence);
    }

    /// Another process under the name of a member.
    fn hear_of_other(&mut self, name: &DacName, heartbeat: Heartbeat, via: &Arc<str>, silence: Duration) {
        let now = self.time.passed();
        let Some(member) = self.members.get(name) else { return };
        if !member.is_late(now) {
            // One of both will be late, unless two DACs have one name.
            self.counters.conflicts += 1;
            return;
        }
        let is_old = member.is_old(heartbeat.epoch, heartbeat.beat)
            || self.removals.is_old(name, heartbeat.epoch, heartbeat.beat);
        if is_old || silence >= member.silence(now) {
            return;
        }
        let has_other_key = member.own.is_some() && heartbeat.seal.map(|seal| seal.key) != member.key;
        let is_unsealed = member.own.is_some() && member.key.is_none();
        if has_other_key || is_unsealed || !self.is_own_seal(name, &heartbeat) {
            self.counters.forged += u64::from(has_other_key || is_unsealed);
            return;
        }
        if let Some(member) = self.members.get_mut(name) {
            member.replace(heartbeat.epoch);
        }
        self.adopt(name, heartbeat, via, silence);
    }

    /// Lists members that were not named here before.
    fn adopt(&mut self, name: &DacName, mut heartbeat: Heartbeat, via: &Arc<str>, silence: Duration) {
        let now = self.time.passed();
        let names = heartbeat.names.take();
        if let Some(member) = self.members.get_mut(name) {
            member.heard = now.saturating_sub(silence);
            member.hear(&heartbeat, now, silence);
            member.via = Some(via.clone());
        }
        if let Some(names) = names {
            self.take_names(name, heartbeat.names_revision, names);
        }
        self.touch(name);
    }

    /// A member that is known, of the same process.
    fn hear_of_known(&mut self, name: &DacName, mut heartbeat: Heartbeat, via: &Arc<str>, silence: Duration) {
        let now = self.time.passed();
        let Some(member) = self.members.get_mut(name).filter(|member| !member.is_heard_here(now)) else {
            return;
        };
        let is_later = |known| heartbeat.names_revision > known;
        let has_names = member.names_revision.is_none_or(is_later);
        let names = heartbeat.names.take().filter(|_| has_names);
        let mut is_new = false;
        if heartbeat.beat > member.beat {
            let signature = heartbeat.seal.map(|seal| seal.signature);
            if !is_true(member.key, signature, heartbeat.sealed(name), member.own.is_some()) {
                self.counters.forged += 1;
                return;
            }
            // A process has the key with which it began.
            heartbeat.seal = member.key.zip(signature).map(|(key, signature)| Seal { key, signature });
            is_new = member.hear(&heartbeat, now, silence);
            self.moved_by(name, via);
        }
        if let Some(names) = names {
            is_new |= self.take_names(name, heartbeat.names_revision, names);
        }
        if is_new {
            self.touch(name);
        }
    }

    /// Takes a heartbeat without what rarely changes. Returns whether the peer must report the DAC in full.
    fn hear_of_pulse(&mut self, pulse: &Pulse, via: &Arc<str>) -> bool {
        let now = self.time.passed();
        let Pulse { name, epoch, beat, silent_ms, signature, health, load, names_revision } = pulse;
        let Some(member) = self.members.get(name) else {
            return self.has_room() && !self.removals.is_old(name, *epoch, *beat);
        };
        if member.is_heard_here(now) {
            return false;
        }
        if member.epoch != *epoch {
            return member.is_late(now) && !member.is_old(*epoch, *beat);
        }
        let lacks_names =
            names_revision.is_some_and(|theirs| member.names_revision.is_none_or(|own| own < theirs));
        if *beat <= member.beat {
            return lacks_names && *beat == member.beat;
        }
        let content = Content::Beat { kind: member.kind, doors: &member.doors, channel: &member.channel };
        let sealed = Sealed { name, epoch: *epoch, beat: *beat, content };
        if !is_true(member.key, *signature, sealed, member.own.is_some()) {
            // Its addresses may be others by now.
            return true;
        }
        let Some(member) = self.members.get_mut(name) else { return false };
        let silence = Duration::from_millis(*silent_ms);
        let is_new = member.move_on(*beat, *signature, (*health, *load), (now, silence));
        self.moved_by(name, via);
        if is_new {
            self.touch(name);
        }
        lacks_names
    }

    fn moved_by(&mut self, name: &DacName, via: &Arc<str>) {
        self.pulses += 1;
        self.counters.reported += 1;
        if let Some(member) = self.members.get_mut(name) {
            member.moved = self.pulses;
            if member.via.as_deref() != Some(via) {
                member.via = Some(via.clone());
            }
        }
    }

    /// Whether the seal of a heartbeat fits itself, or there is none.
    fn is_own_seal(&mut self, name: &DacName, heartbeat: &Heartbeat) -> bool {
        let (key, signature) = heartbeat.seal.map(|seal| (seal.key, seal.signature)).unzip();
        let fits = is_true(key, signature, heartbeat.sealed(name), false);
        self.counters.forged += u64::from(!fits);
        fits
    }
}

/// Whether a DAC with this key has said this. One without a key is believed, unless it was heard here itself.
fn is_true(key: Option<PublicKey>, signature: Option<Signature>, sealed: Sealed<'_>, is_own: bool) -> bool {
    match (key, signature) {
        (Some(key), Some(signature)) => sealed.is_signed(&key, &signature),
        (None, None) => !is_own,
        _ => false,
    }
}

/// Whether this is the address of a page, as a TEM may name its own.
pub(crate) fn is_address(doors: &str) -> bool {
    doors.is_empty() || is_page(doors)
}

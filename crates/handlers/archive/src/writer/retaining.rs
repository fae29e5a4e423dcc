//! Evicts sealed files by age and size.

use super::{
    Writer,
    lanes::{Lane, Names},
    remove,
};
use oasis_store::{
    RetentionRule, RuleState, Warning, alarm,
    catalogue::{CatalogueError, Segment},
    fair_share::{FileShare, Usage},
    retention::{self, Harm},
    segment_file::{self, SegmentFile},
    store::Store,
    words,
};
use oasis_wire::quantity::Nanos;
use std::{
    cell::Cell,
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
    ops::Range,
    sync::{Arc, atomic::Ordering},
};

/// Shares of instances in files that are read to choose files: beyond that the best of those that were read is evicted.
const MAX_SCANNED_SHARES: usize = 200_000;

/// State of retention by size.
#[derive(Debug, Default)]
pub struct Retaining {
    /// Bytes of instances in sealed files, by pattern of the rule; `None` before they were read.
    usage: Option<BTreeMap<String, Usage>>,
    /// Instances with more than their share.
    pub large: HashSet<Names>,
    /// Rules that have sealed a full file since their instances were divided.
    pub full: BTreeSet<usize>,
    /// Number of times that files had been replaced by smaller ones when the bytes were read.
    resized: u64,
}

impl Retaining {
    /// Reads the bytes of all instances again: files were written again without some.
    pub fn read_again(&mut self) {
        self.usage = None;
    }

    /// Returns the bytes of the instances of a rule, if there are any.
    pub fn usage_of(&self, rule: &str) -> Option<&Usage> {
        self.usage.as_ref()?.get(rule)
    }

    /// Counts a file that was listed.
    pub fn note_sealed(&mut self, store: &Store, rule: &str, number: u64) {
        let Some(usage) = &mut self.usage else { return };
        match store.catalogue().file_shares(number) {
            Ok(shares) => {
                let of_rule = usage.entry(rule.to_owned()).or_default();
                shares.iter().for_each(|share| of_rule.add(share));
            }
            // Read again, all of it.
            Err(_) => self.usage = None,
        }
    }

    fn note_evicted(&mut self, rule: &str, shares: &[FileShare]) {
        let of_rule = self.usage.as_mut().and_then(|usage| usage.get_mut(rule));
        of_rule.into_iter().for_each(|usage| shares.iter().for_each(|share| usage.remove(share)));
    }

    /// Reads the bytes of all instances, unless they are known. Returns whether it read them.
    fn read(&mut self, store: &Store) -> Result<bool, CatalogueError> {
        let resized = store.resized.load(Ordering::Relaxed);
        let is_unknown = self.usage.is_none() || self.resized != resized;
        self.resized = resized;
        if is_unknown {
            self.usage = Some(store.catalogue().usage()?);
        }
        Ok(is_unknown)
    }
}

impl Writer {
    /// Evicts segments by retention.
    pub(super) fn retain(&mut self) -> Result<(), Box<dyn std::error::Error>> {
        let (segments, pinned) = {
            let catalogue = self.store.catalogue();
            (catalogue.segments()?, catalogue.pinned()?)
        };
        self.read_usage()?;
        let now = if self.config.evicts_by_age() { self.store.clock.trusted() } else { None };
        let mut left: BTreeSet<u64> = segments.iter().map(|segment| segment.number).collect();
        let (mut states, mut warnings) = (Vec::new(), Vec::new());
        for rule in 0..self.config.retention.len() {
            let pattern = &self.config.retention[rule].instances;
            let own: Vec<_> = segments.iter().filter(|segment| segment.rule == *pattern).collect();
            let (gone, state) = self.retain_rule(rule, &own, &pinned, now)?;
            left.retain(|number| !gone.contains(number));
            let usage = self.retaining.usage_of(&state.instances);
            warnings.extend(alarm::warnings(&self.config.retention[rule], &own, usage, &state));
            states.push(state);
        }
        self.warn(states, warnings);
        // Losses before the oldest file were recorded before it was created. Once it has roll-ups, they contain the cause.
        let is_rolled = left.first().is_none_or(|oldest| self.store.rollups.has_tried(*oldest));
        if left.len() < segments.len() {
            // Losses are compared by the wall clock, too.
            if is_rolled && self.store.clock.jump().is_none() {
                self.store.catalogue().forget_losses()?;
            }
            self.store.remove_unreferenced()?;
        }
        Ok(())
    }

    /// Reads the bytes of all instances, unless they are known, and divides the instances.
    pub(super) fn read_usage(&mut self) -> Result<(), CatalogueError> {
        if self.retaining.read(&self.store)? {
            self.retaining.full = (0..self.config.retention.len()).collect();
            self.divide();
        }
        Ok(())
    }

    /// Evicts files of a rule, all of which are `own`. Returns their numbers, and the state of the rule before.
    fn retain_rule(
        &mut self,
        rule: usize,
        own: &[&Segment],
        pinned: &[Range<u64>],
        now: Option<Nanos>,
    ) -> Result<(Vec<u64>, RuleState), Box<dyn std::error::Error>> {
        let of_rule = self.config.retention[rule].clone();
        let open = &self.files[rule * 2..rule * 2 + 2];
        let open: u64 = open.iter().flatten().map(SegmentFile::length).sum();
        let mut bytes = open + own.iter().map(|segment| segment.bytes).sum::<u64>();
        let most_pinned = self.most_pinned(&of_rule, bytes);
        let protected = retention::protect(own, pinned, most_pinned);
        let mut state = RuleState::new(&of_rule, bytes, &protected, most_pinned);
        let mut left: BTreeMap<u64, &Segment> =
            own.iter().map(|segment| (segment.number, *segment)).collect();
        left.retain(|number, _| !protected.files.contains(number));
        let mut gone = Vec::new();
        // Without its roll-ups a file cannot go yet.
        let can_go = |segment: &&&Segment| {
            retention::is_too_old(&of_rule, segment, now) && self.store.rollups.has_tried(segment.number)
        };
        let old: Vec<_> = left.values().filter(can_go).copied().collect();
        let copies = self.store.copies.safe();
        let free = self.store.free_bytes().unwrap_or(u64::MAX);
        let reserve = self.copy_reserve();
        let goes = retention::too_old_to_wait(&old, &copies, free, reserve);
        let old_bytes = |of: &[&Segment]| of.iter().map(|segment| segment.bytes).sum::<u64>();
        state.awaiting_copy_bytes = old_bytes(&old) - old_bytes(&goes);
        for segment in goes {
            left.remove(&segment.number);
            bytes -= segment.bytes;
            if self.evict(segment, None)? {
                gone.push(segment.number);
            }
        }
        let mut shares = FileShares::default();
        while of_rule.bytes > 0 && bytes > of_rule.bytes {
            let capacity = of_rule.bytes.saturating_sub(open);
            let has_copy = |number: &u64| !copies.is_awaited(*number);
            let copied = left.keys().copied().filter(has_copy);
            let mut next = self.next_by_size(&of_rule.instances, copied, capacity, &mut shares)?;
            if next.is_none() {
                // The limit is what the disk has for them, so that it comes before copies.
                next = self.next_by_size(&of_rule.instances, left.keys().copied(), capacity, &mut shares)?;
            }
            let Some((harm, number)) = next else { break };
            // A file that is ended now has no copy for some time.
            if harm != Harm::None && !copies.are_required() && self.end_large_file(rule) {
                // The file can be evicted in the next round, without harm to others.
                break;
            }
            let Some(segment) = left.remove(&number) else { break };
            bytes -= segment.bytes;
            if !self.evict(segment, shares.known.get(&segment.number))? {
                // Its roll-ups are made first.
                break;
            }
            gone.push(segment.number);
        }
        Ok((gone, state))
    }

    /// Shows the state of the rules, and logs what is new in the warnings.
    fn warn(&self, rules: Vec<RuleState>, warnings: Vec<Warning>) {
        let is_in = |all: &[Warning], one: &Warning| {
            all.iter().any(|other| (other.code, &other.instances) == (one.code, &one.instances))
        };
        let mut counters = self.store.counters.lock();
        counters.rules = rules;
        let before = std::mem::replace(&mut counters.warnings, warnings.clone());
        drop(counters);
        for warning in warnings.iter().filter(|warning| !is_in(&before, warning)) {
            tracing::warn!(code = warning.code, "{}", warning.detail);
        }
        for warning in before.iter().filter(|warning| !is_in(&warnings, warning)) {
            tracing::info!(code = warning.code, rule = warning.instances, "a warning of the archive is over");
        }
    }

    /// Returns the free bytes below which files that are too old do not wait for their copies: the archive itself waits below
    /// `min_free_bytes`, and needs room for some files until then.
    fn copy_reserve(&self) -> u64 {
        let least = self.config.min_free_bytes;
        least.saturating_add(least.max(self.config.segment_bytes.saturating_mul(4)))
    }

    /// Returns how many bytes of a rule pins can protect. A rule without a limit could use all free space.
    fn most_pinned(&self, rule: &RetentionRule, bytes: u64) -> u64 {
        let limit = match rule.bytes {
            0 => bytes.saturating_add(self.store.free_bytes().unwrap_or_default()),
            limit => limit,
        };
        // Whole files are protected: of a small limit at least two.
        (limit / 100).saturating_mul(self.config.pinned_percent.min(100)).max(2 * self.config.segment_bytes)
    }

    /// Ends the file that is being written of the large instances. Returns whether there was one of some size.
    fn end_large_file(&mut self, rule: usize) -> bool {
        let lane = Lane { rule, is_large: true };
        let least = self.config.segment_bytes / 4;
        let is_worth_it = self.files[lane.slot()].as_ref().is_some_and(|file| file.length() >= least);
        if is_worth_it {
            self.end_files(|other| other == lane);
        }
        is_worth_it
    }

    fn next_by_size(
        &self,
        rule: &str,
        files: impl Iterator<Item = u64>,
        capacity: u64,
        shares: &mut FileShares,
    ) -> Result<Option<(Harm, u64)>, CatalogueError> {
        let nothing = Usage::default();
        let usage = self.retaining.usage_of(rule).unwrap_or(&nothing);
        // Something has to go: files take more than the batches in them, so these may all fit.
        let fair = usage.shares_of(capacity.min(usage.bytes().saturating_sub(1)));
        let looked = Cell::new(0);
        let files = files.take_while(|_| looked.get() < MAX_SCANNED_SHARES);
        retention::next_by_size(files, &fair, |number| {
            let of_file = shares.of(number, &self.store)?;
            looked.set(looked.get() + of_file.len());
            Ok(of_file)
        })
    }

    /// Evicts a file, unless its roll-ups have to be made first. Returns whether it did.
    fn evict(
        &mut self,
        segment: &Segment,
        shares: Option<&Arc<[FileShare]>>,
    ) -> Result<bool, Box<dyn std::error::Error>> {
        let number = segment.number;
        if !self.store.rollups.has_tried(number) {
            return Ok(false);
        }
        let shares = match shares {
            Some(shares) => shares.clone(),
            None => self.store.catalogue().file_shares(number)?,
        };
        // In this order: the next start finds a file that is not listed; one that is listed and missing would be damage.
        self.store.catalogue().expire(number)?;
        self.retaining.note_evicted(&segment.rule, &shares);
        remove(&segment_file::path(&self.store.directory, number))?;
        words::remove(&self.store.directory, number)?;
        let is_lost = self.store.rollups.forget_segment(number);
        let mut counters = self.store.counters.lock();
        counters.rollup_failures += u64::from(is_lost);
        counters.removed_files += 1;
        counters.removed_samples += segment.samples;
        counters.segments = counters.segments.saturating_sub(1);
        counters.segment_bytes = counters.segment_bytes.saturating_sub(segment.bytes);
        Ok(true)
    }
}

/// Shares of files that were read in a round.
#[derive(Debug, Default)]
struct FileShares {
    known: HashMap<u64, Arc<[FileShare]>>,
}

impl FileShares {
    fn of(&mut self, number: u64, store: &Store) -> Result<Arc<[FileShare]>, CatalogueError> {
        if let Some(known) = self.known.get(&number) {
            return Ok(known.clone());
        }
        let shares = store.catalogue().file_shares(number)?;
        self.known.insert(number, shares.clone());
        Ok(shares)
    }
}

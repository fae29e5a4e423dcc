//! Counts losses while the archive cannot store samples, and lists them when the DAC ends in that state.

use super::{Came, TopicProgress, Writer};
use oasis_dac::now;
use oasis_store::{
    account::Condition,
    catalogue::{CatalogueError, LossRow},
    gap::Gap,
};
use oasis_wire::quantity::Offset;
use std::ops::RangeInclusive;
use uuid::Uuid;

/// Ranges of different causes kept of a topic, and runs of its node. Later losses are added to the last one.
const MAX_RANGES: usize = 64;

impl TopicProgress {
    /// After the last offset that was stored or is known to be lost.
    fn settled(&self) -> Offset {
        self.lost.last().map_or(self.next, |gap| gap.to)
    }

    fn lose(&mut self, gap: Gap) {
        let is_full = self.lost.len() >= MAX_RANGES;
        match self.lost.last_mut().filter(|last| is_full || last.cause == gap.cause) {
            Some(last) => last.to = gap.to,
            None => self.lost.push(gap),
        }
    }

    /// Records the last sequence number of the node's present run. Its ledger forgets that number when another run begins.
    fn note_came(&mut self) {
        if self.next >= self.instance.log.next() {
            return;
        }
        let ledger = self.instance.ledger();
        let Some(run) = ledger.run() else { return };
        let (first, last) = (ledger.first_sequence.max(1), ledger.last_sequence);
        // Under the ledger's lock: a session appends under it.
        let end = self.instance.log.next();
        drop(ledger);
        if let Some(came) = self.received.last_mut().filter(|came| came.run == run) {
            came.numbers = *came.numbers.start()..=last;
            came.end = end;
            return;
        }
        // A run that continued after another one has samples from before and after it.
        let before = self.received.iter().rev().find(|came| came.run == run).map(|came| *came.numbers.end());
        let before = before.or(self.stored_of(run));
        if self.received.len() < MAX_RANGES {
            let first = before.map_or(first, |before| first.max(before.saturating_add(1)));
            self.received.push(Came { run, numbers: first..=last, end });
        }
    }

    /// Received numbers that were not stored, by run. Numbers that were never received may be among them.
    fn unstored(&self) -> Vec<(Uuid, RangeInclusive<u64>)> {
        let unstored = self.received.iter().filter(|came| came.end > self.next).map(|came| {
            let stored = self.stored_of(came.run).map_or(0, |number| number.saturating_add(1));
            (came.run, stored.max(*came.numbers.start())..=*came.numbers.end())
        });
        unstored.filter(|(_, numbers)| !numbers.is_empty()).collect()
    }

    /// The number of the last stored sample, if it is of this run.
    fn stored_of(&self, run: Uuid) -> Option<u64> {
        self.last.filter(|(last, _)| *last == run).map(|(_, number)| number)
    }
}

impl Writer {
    /// Records that everything received is stored.
    pub(super) fn forget_lost(&mut self) {
        self.tracked.iter_mut().for_each(|tracked| tracked.received.clear());
    }

    /// Counts the samples that the topic logs have evicted since storing failed.
    pub(super) fn note_lost(&mut self) {
        let cause = self.store.counters.lock().condition.cause();
        let mut missing = 0;
        for tracked in &mut self.tracked {
            tracked.note_came();
            let Some((from, to)) = tracked.instance.log.read(tracked.settled(), 0).missed else { continue };
            let gap = Gap { from, to, cause, time: now() };
            tracked.lose(gap);
            self.store
                .with_accounts(|accounts| accounts.entry(tracked.instance.topic).or_default().lose(gap));
            missing += to.0 - from.0;
        }
        self.store.counters.lock().missing += missing;
    }

    /// Lists the samples that could not be stored before the DAC stopped.
    pub(super) fn list_unstored(&mut self) -> Result<(), CatalogueError> {
        let condition = self.store.counters.lock().condition;
        if condition == Condition::Storing {
            return Ok(());
        }
        let (cause, time) = (condition.cause(), now());
        self.tracked.iter_mut().for_each(TopicProgress::note_came);
        let mut catalogue = self.store.catalogue();
        for tracked in &self.tracked {
            let (node, instance) = (&*tracked.instance.node, &*tracked.instance.name);
            for (run, numbers) in tracked.unstored() {
                let row = LossRow { node, instance, run, numbers, cause, time };
                let forgotten = catalogue.add_losses([row].into_iter())?;
                self.store.counters.lock().losses_forgotten += forgotten;
            }
        }
        Ok(())
    }
}

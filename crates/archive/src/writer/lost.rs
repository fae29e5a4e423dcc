//! What is lost while nothing can be stored: it is counted at once, and known when the DAC ends so.

use super::{Tracked, Writer};
use crate::{
    account::Condition,
    catalogue::{CatalogueError, LossRow},
    index::Gap,
};
use oasis_dac::now;
use oasis_wire::quantity::Offset;
use std::ops::RangeInclusive;
use uuid::Uuid;

/// Stretches of different causes kept of a topic; what follows goes with the last.
const MOST: usize = 64;

impl Tracked {
    /// Behind what was stored or is known to be lost.
    fn settled(&self) -> Offset {
        self.lost.last().map_or(self.next, |gap| gap.to)
    }

    fn lose(&mut self, gap: Gap) {
        let is_full = self.lost.len() >= MOST;
        match self.lost.last_mut().filter(|last| is_full || last.cause == gap.cause) {
            Some(last) => last.to = gap.to,
            None => self.lost.push(gap),
        }
    }

    /// Numbers of the present run that came and were not stored; those that never came may be among them.
    fn unstored(&self) -> Option<(Uuid, RangeInclusive<u64>)> {
        if self.next >= self.instance.log.next() {
            return None;
        }
        let ledger = self.instance.ledger();
        let run = ledger.run()?;
        let stored = self.last.filter(|(last, _)| *last == run);
        let first = stored.map_or(ledger.first_sequence.max(1), |(_, number)| number.saturating_add(1));
        Some((run, first..=ledger.last_sequence)).filter(|(_, numbers)| !numbers.is_empty())
    }
}

impl Writer {
    /// Counts what the topic logs have let go of since nothing can be stored.
    pub(super) fn note_lost(&mut self) {
        let cause = self.store.book.open().condition.cause();
        let mut missing = 0;
        for tracked in &mut self.tracked {
            let Some((from, to)) = tracked.instance.log.read(tracked.settled(), 0).missed else { continue };
            let gap = Gap { from, to, cause, time: now() };
            tracked.lose(gap);
            self.store
                .with_accounts(|accounts| accounts.entry(tracked.instance.topic).or_default().lose(gap));
            missing += to.0 - from.0;
        }
        self.store.book.open().missing += missing;
    }

    /// Lists what could not be stored up to the end: nobody has it any more.
    pub(super) fn list_unstored(&self) -> Result<(), CatalogueError> {
        let condition = self.store.book.open().condition;
        if condition == Condition::Storing {
            return Ok(());
        }
        let (cause, time) = (condition.cause().word(), now());
        let mut catalogue = self.store.catalogue();
        for tracked in &self.tracked {
            let Some((run, numbers)) = tracked.unstored() else { continue };
            let (node, instance) = (&*tracked.instance.node, &*tracked.instance.name);
            let unstored = catalogue.without_cause(node, instance, run, numbers)?;
            let rows =
                unstored.into_iter().map(|numbers| LossRow { node, instance, run, numbers, cause, time });
            let forgotten = catalogue.add_losses(rows)?;
            self.store.book.open().losses_forgotten += forgotten;
        }
        Ok(())
    }
}

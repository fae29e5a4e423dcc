//! The spooler: the only thread of a node that accesses the file spool. It writes batches from the collector, queues
//! them, and reads them again after the DAC was unreachable for longer than the memory lasts, or for a new DAC.
//!
//! While the file cannot be written, batches stay in memory only; the write is retried.

use crate::{
    file_spool::Journal,
    outbox::Outbox,
    spool::{FilePlace, QueuedBatch},
    survive,
};
use std::{
    io,
    ops::Deref,
    time::{Duration, Instant},
};

/// Interval in which segments that are not needed any more are removed, and a failed write is retried.
const SPOOL_CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// The thread's state.
#[derive(Debug)]
pub struct Spooler<O: Deref<Target = Outbox>> {
    outbox: O,
    journal: Journal,
    /// While the file cannot be written: when to retry.
    retry: Option<Instant>,
    /// While the segments cannot be listed: when to retry.
    retry_read: Option<Instant>,
    /// Whether the eviction of the oldest segments was logged.
    is_full: bool,
    /// [`Spool::rewinds`](crate::spool::Spool::rewinds) when the journal was last read.
    rewinds: u64,
}

/// Runs until the outbox has ended; by then all batches that are not safe are in the file.
pub fn run(outbox: &Outbox, journal: Journal) {
    let mut spooler = Spooler::new(outbox, journal);
    let mut next_look = Instant::now() + SPOOL_CHECK_INTERVAL;
    let mut time = outbox.cpu.this_thread();
    loop {
        let turn = survive::turn("write the file spool", || {
            let has_ended = spooler.turn(next_look);
            if Instant::now() >= next_look || has_ended {
                spooler.settle();
                time.settle();
                next_look = Instant::now() + SPOOL_CHECK_INTERVAL;
            }
            has_ended
        });
        match turn {
            Some(true) => break,
            Some(false) => {}
            None => spooler.begin_again(),
        }
    }
    spooler.end();
}

impl<O: Deref<Target = Outbox>> Spooler<O> {
    /// Creates the state for a journal of this outbox.
    pub fn new(outbox: O, journal: Journal) -> Self {
        Self { outbox, journal, retry: None, retry_read: None, is_full: false, rewinds: 0 }
    }

    /// Waits for work until `deadline`, and does it. Returns whether it was the last time.
    pub fn turn(&mut self, deadline: Instant) -> bool {
        let may_write = |now: Instant| self.retry.is_none_or(|retry| now >= retry);
        let wait = deadline.saturating_duration_since(Instant::now());
        let could_write = may_write(Instant::now());
        let may_read = self.retry_read.is_none_or(|retry| Instant::now() >= retry);
        let (mut held, _) = self.outbox.wait(wait, |held| {
            let takes = could_write || !held.spool.is_lagging();
            held.ended
                || (takes && held.spool.has_intake())
                || (may_read && held.spool.is_lagging() && held.spool.wants_more())
        });
        let has_ended = held.ended;
        let is_lagging = held.spool.is_lagging();
        let can_write = may_write(Instant::now()) || has_ended;
        let takes = can_write || !is_lagging;
        let batches = if takes { held.spool.take_intake() } else { Vec::new() };
        drop(held);
        if !batches.is_empty() {
            self.place(batches, can_write, is_lagging);
        }
        if !has_ended && may_read {
            self.refill();
        }
        has_ended
    }

    /// Places each batch: in the file and, unless others wait there before it, in the queue as well.
    fn place(&mut self, mut batches: Vec<QueuedBatch>, can_write: bool, mut is_lagging: bool) {
        if can_write {
            self.write(&mut batches);
        }
        let mut begin = None;
        self.outbox.with(|held| {
            let mut rest = Vec::new();
            // A new DAC may have made it lag meanwhile.
            is_lagging |= held.spool.is_lagging();
            for batch in batches {
                match batch.stored {
                    Some(_) if is_lagging => {}
                    Some(place) if !held.spool.has_room_for(&batch) => {
                        begin = Some(place);
                        is_lagging = true;
                    }
                    Some(_) => held.spool.admit(batch),
                    // The batch must not overtake batches that are only in the file.
                    None if is_lagging => rest.push(batch),
                    None => held.spool.keep(batch),
                }
            }
            held.spool.settle_intake(rest, is_lagging);
        });
        if let Some(place) = begin {
            self.journal.read_from(place);
        }
    }

    /// Writes to the file, and logs a failure or a recovery once.
    fn write(&mut self, batches: &mut [QueuedBatch]) {
        let announced = self.outbox.with(|held| held.announced(&self.journal.head().announcement));
        self.journal.announce(announced);
        let (removed, outcome) = self.journal.append(batches);
        if removed > 0 && !std::mem::replace(&mut self.is_full, true) {
            tracing::warn!("file spool is full: its oldest samples are dropped and counted");
        }
        match outcome {
            Ok(()) if self.retry.take().is_some() => tracing::info!("file spool is writable again"),
            Ok(()) => {}
            Err(error) => {
                if self.retry.replace(Instant::now() + SPOOL_CHECK_INTERVAL).is_none() {
                    tracing::warn!(%error, "cannot write the file spool: samples wait in memory until it is writable");
                }
            }
        }
    }

    /// Fills the queue from the file with batches that it lacks.
    fn refill(&mut self) {
        let (is_lagging, mut room, rewinds) = self.outbox.with(|held| {
            let spool = &held.spool;
            (spool.is_lagging() && spool.wants_more(), spool.room(), spool.rewinds())
        });
        if !is_lagging {
            return;
        }
        if rewinds != self.rewinds {
            self.journal.read_from(FilePlace::BEGIN);
            self.rewinds = rewinds;
        }
        let mut batches = Vec::new();
        let mut has_more = true;
        while room > 0 && has_more {
            match self.journal.read() {
                Ok(Some(batch)) => {
                    self.retry_read = None;
                    room = room.saturating_sub(batch.cost());
                    batches.push(batch);
                }
                Ok(None) => (has_more, self.retry_read) = (false, None),
                Err(error) => {
                    self.postpone_reading(&error);
                    break;
                }
            }
        }
        self.is_full &= has_more;
        self.outbox.with(|held| {
            // Otherwise the next turn reads from the beginning.
            if held.spool.rewinds() == rewinds {
                batches.into_iter().for_each(|batch| held.spool.admit(batch));
                held.spool.set_lagging(has_more);
            }
        });
    }

    /// Reads later: what the file has is not forgotten because it cannot be listed now.
    fn postpone_reading(&mut self, error: &io::Error) {
        if self.retry_read.replace(Instant::now() + SPOOL_CHECK_INTERVAL).is_none() {
            tracing::warn!(%error, "cannot read the file spool: its samples wait until it is readable");
        }
    }

    /// Removes the run if nothing of it can be lost any more.
    pub fn end(self) {
        if self.outbox.with(|held| held.spool.is_finished())
            && let Err(error) = self.journal.remove()
        {
            tracing::warn!(%error, "cannot remove the file spool of a run that is safe");
        }
    }

    /// After a panic: reads the file again, because some batches may be lost. Those that no file has are
    /// missing in the numbers of their samples, and so are counted.
    fn begin_again(&mut self) {
        self.journal.begin_another_segment();
        self.outbox.with(|held| {
            held.spool.settle_intake(Vec::new(), true);
            self.journal.read_from(FilePlace::BEGIN);
        });
    }

    /// Records what has left the spool and removes segments that are no longer needed.
    pub fn settle(&mut self) {
        let (released, in_queue, is_lagging) = self
            .outbox
            .with(|held| (held.spool.released(), held.spool.oldest_segment(), held.spool.is_lagging()));
        let unread = if is_lagging { self.journal.reading() } else { u64::MAX };
        let needed = in_queue.unwrap_or(u64::MAX).min(unread);
        if let Err(error) = self.journal.settle(released, needed) {
            // The rest costs space, and after a crash some samples are sent twice, which the DAC detects.
            tracing::debug!(%error, "cannot remove old segments of the file spool");
        }
    }
}

#[cfg(test)]
mod tests;

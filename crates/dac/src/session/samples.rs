//! Batches of a session: each goes to its ledger and topic log, in order also if datagrams have overtaken one another.

use super::{NodeSession, foreign, hello_expected};
use crate::{
    instance::Instance,
    ledger::{Ledger, Verdict},
    moment::Moment,
    reorder::{Reorder, WaitingBatch},
};
use oasis_channel::Failure;
use oasis_wire::{
    batch,
    quantity::{Nanos, TopicId},
};
use uuid::Uuid;

/// Most bytes of batches that may wait for their predecessors in one connection.
const MAX_WAITING_BYTES: usize = 4 * 1024 * 1024;

impl NodeSession {
    /// Handles a batch that arrived as a datagram. An invalid one must only be counted, because the connection is not
    /// at fault.
    pub fn datagram(&mut self, bytes: &[u8], now: impl Into<Moment>) -> Result<(), Failure> {
        if self.reorders.is_none() {
            return Err(Failure::new(
                "datagram_unexpected",
                "datagram received, but the node has not announced datagrams",
            ));
        }
        self.batch(bytes, now.into())
    }

    /// Gives up waiting for batches that did not arrive in time.
    pub fn overdue(&mut self, now: impl Into<Moment>) {
        let now = now.into();
        let (Some(node), Some(mut reorders)) = (&self.node, self.reorders.take()) else { return };
        let run = node.run;
        for (topic, reorder) in &mut reorders {
            let Some(instance) = self.topics.get(topic).cloned() else { continue };
            loop {
                let last = instance.ledger().last_sequence;
                let Some(lost) = reorder.lost(last, now.steady) else { break };
                if !instance.ledger().lost_on_the_way(lost, now.wall) {
                    self.waiting_bytes -= reorder.discard_first();
                    continue;
                }
                self.unacknowledged.insert(*topic);
                self.waiting_bytes -= append_waiting(&instance, run, reorder, now.wall);
            }
        }
        self.reorders = Some(reorders);
    }

    /// Handles a batch in its turn, or one that may have overtaken others.
    pub(super) fn batch(&mut self, bytes: &[u8], now: Moment) -> Result<(), Failure> {
        let Some(node) = &self.node else { return Err(hello_expected()) };
        self.has_begun = true;
        let run = node.run;
        let invalid = |error: batch::BatchError| Failure::new("batch_invalid", error.to_string());
        let topic = TopicId(batch::Header::parse(bytes).map_err(invalid)?.topic);
        let Some(instance) = self.topics.get(&topic) else {
            return Err(foreign(topic));
        };
        let header = batch::check(bytes, &instance.probe_type).map_err(invalid)?;
        if let Some(reorders) = &mut self.reorders {
            let reorder = reorders.entry(topic).or_default();
            let (first, dropped_before) = (header.first_sequence, header.dropped_before.into());
            let batch = WaitingBatch { first, dropped_before, since: now.steady, bytes: bytes.to_vec() };
            let (last, highest) = {
                let ledger = instance.ledger();
                (ledger.last_sequence, ledger.highest_plausible(now.wall))
            };
            if first > highest {
                return Err(jump(instance, first, last));
            }
            if !batch.follows(last) {
                self.waiting_bytes += if reorder.keep(batch) { bytes.len() } else { 0 };
                if self.waiting_bytes > MAX_WAITING_BYTES {
                    reorders.values_mut().for_each(Reorder::stop_waiting);
                    self.overdue(now);
                }
                return Ok(());
            }
            append(instance, run, bytes, header, now.wall)?;
            self.waiting_bytes -= append_waiting(instance, run, reorder, now.wall);
        } else {
            append(instance, run, bytes, header, now.wall)?;
        }
        let last = header.first_sequence.saturating_add(u64::from(header.count).saturating_sub(1));
        self.ahead.discard(topic, last);
        instance.ahead.forget(last);
        self.unacknowledged.insert(topic);
        Ok(())
    }
}

/// Appends a batch of this run to the topic's log if the ledger reports it as new.
fn append(
    instance: &Instance,
    run: Uuid,
    bytes: &[u8],
    header: batch::Header,
    now: Nanos,
) -> Result<(), Failure> {
    let (first, dropped) = (header.first_sequence, header.dropped_before.into());
    // Kept until the samples are appended, so that ledger and log always agree.
    let mut ledger = instance.ledger();
    check_run(instance, &ledger, run)?;
    match ledger.batch(first, header.count.into(), dropped, now) {
        Verdict::New => {
            let dac_time = ledger.stamp(now);
            let appended = (bytes.to_vec(), ledger.take_gaps_before());
            instance.log.append_without_wake(appended, header.count, |batch, offset| {
                batch::stamp(batch, offset.0, dac_time.0);
            });
        }
        Verdict::Duplicate => {}
        Verdict::Overlap => {
            let message =
                format!("samples from {first} of {:?} overlap samples received before", instance.name);
            return Err(Failure::new("sequence_overlap", message));
        }
        Verdict::Jump => return Err(jump(instance, first, ledger.last_sequence)),
    }
    Ok(())
}

/// Fails unless batches of this run belong to the topic.
pub(super) fn check_run(instance: &Instance, ledger: &Ledger, run: Uuid) -> Result<(), Failure> {
    if ledger.run() != Some(run) {
        let message = format!("another run of the node has registered {:?} meanwhile", instance.name);
        return Err(Failure::new("run_replaced", message));
    }
    // The samples of the run at this DAC were remembered when the topic was replaced: they must not become more.
    if instance.is_retired() {
        let message = format!("a later connection of the node has replaced the topic of {:?}", instance.name);
        return Err(Failure::new("node_moved", message));
    }
    Ok(())
}

/// Appends the waiting batches whose predecessors have arrived. Returns their bytes.
fn append_waiting(instance: &Instance, run: Uuid, reorder: &mut Reorder, now: Nanos) -> usize {
    let mut bytes = 0;
    loop {
        let last = instance.ledger().last_sequence;
        let Some(waiting) = reorder.next(last) else { return bytes };
        bytes += waiting.bytes.len();
        if let Ok(header) = batch::Header::parse(&waiting.bytes) {
            // The batch was checked on arrival. One that overlaps breaks the protocol and is ignored.
            let _ = append(instance, run, &waiting.bytes, header, now);
        }
    }
}

/// The failure of a sequence number that no probe can have reached.
pub(super) fn jump(instance: &Instance, to: u64, last: u64) -> Failure {
    let message = format!(
        "sequence number {to} of {:?} is too far ahead of {last}: no probe takes so many samples in this time",
        instance.name
    );
    Failure::new("sequence_jump", message)
}

//! The samples of one message, by which the message is recognized when its sender repeats it after a restart of the DAC.

use oasis_wire::stored::StoredRun;
use uuid::Uuid;

/// Consecutive samples that a message has made of an instance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SampleReference {
    /// The digest of the names of node and instance.
    pub instance: Uuid,
    /// The run of the node.
    pub run: Uuid,
    /// The number of the last sample.
    pub last_sequence: u64,
    /// The number of samples.
    pub count: u16,
}

/// The samples of a message.
#[derive(Debug, Default)]
pub struct MessageSamples {
    /// Samples of an earlier delivery of the message. They have no numbers once they are compared.
    earlier: Vec<SampleReference>,
    /// Samples that the DAC has: pushed, or found from an earlier delivery.
    pub references: Vec<SampleReference>,
    /// Samples that were pushed.
    pub pushed: u64,
    /// Samples that the DAC had from an earlier delivery.
    pub repeated: u64,
}

impl MessageSamples {
    /// Begins a message. `earlier` are the samples of its earlier delivery, in their order.
    pub(crate) fn begin(&mut self, earlier: Vec<SampleReference>) {
        *self = Self { earlier, ..Self::default() };
    }

    /// Returns the digest of the names of node and instance.
    pub(crate) fn digest(node: &str, instance: &str) -> Uuid {
        Uuid::new_v5(&Uuid::new_v5(&Uuid::NAMESPACE_OID, node.as_bytes()), instance.as_bytes())
    }

    /// Returns whether the next sample of an instance was taken from an earlier delivery, and counts it. `known_runs` returns the runs of the instance
    /// that have samples.
    pub(crate) fn skip_known(&mut self, instance: Uuid, known_runs: impl Fn() -> Vec<StoredRun>) -> bool {
        let earlier = self.earlier.iter_mut();
        for reference in earlier.filter(|one| one.instance == instance && one.count > 0) {
            let sequence = reference.last_sequence.saturating_sub(u64::from(reference.count) - 1);
            let is_known = |known: &StoredRun| known.run == reference.run && known.last_sequence >= sequence;
            if known_runs().iter().any(is_known) {
                reference.count -= 1;
                let run = reference.run;
                self.repeated += 1;
                self.add(instance, run, sequence);
                return true;
            }
            // Samples are stored in the order of their numbers: the later ones are not stored either.
            reference.count = 0;
        }
        false
    }

    /// Notes a sample that was pushed.
    pub(crate) fn note_pushed(&mut self, instance: Uuid, run: Uuid, sequence: u64) {
        self.pushed += 1;
        self.add(instance, run, sequence);
    }

    fn add(&mut self, instance: Uuid, run: Uuid, sequence: u64) {
        if let Some(last) = self.references.last_mut()
            && (last.instance, last.run) == (instance, run)
            && last.last_sequence.checked_add(1) == Some(sequence)
            && let Some(count) = last.count.checked_add(1)
        {
            (last.last_sequence, last.count) = (sequence, count);
            return;
        }
        self.references.push(SampleReference { instance, run, last_sequence: sequence, count: 1 });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUN: Uuid = Uuid::from_u128(1);
    const OTHER_RUN: Uuid = Uuid::from_u128(2);

    fn stored(run: Uuid, last_sequence: u64) -> Vec<StoredRun> {
        vec![StoredRun { run, last_sequence, taken: 0 }]
    }

    #[test]
    fn samples_up_to_the_last_stored_one_are_known_and_the_others_are_not() {
        let tank = MessageSamples::digest("plant", "tank");
        assert_ne!(tank, MessageSamples::digest("plantt", "ank"));
        let mut message = MessageSamples::default();
        message.begin(vec![SampleReference { instance: tank, run: RUN, last_sequence: 9, count: 3 }]);
        let other = MessageSamples::digest("plant", "pump");
        assert!(!message.skip_known(other, || stored(RUN, 100)), "the samples of another instance");
        let known: Vec<_> = (0..4).map(|_| message.skip_known(tank, || stored(RUN, 8))).collect();
        assert_eq!(known, [true, true, false, false], "7 and 8 are stored, 9 is not");
        message.note_pushed(tank, OTHER_RUN, 1);
        assert_eq!((message.repeated, message.pushed), (2, 1));
        let of = |run, last_sequence, count| SampleReference { instance: tank, run, last_sequence, count };
        assert_eq!(message.references, [of(RUN, 8, 2), of(OTHER_RUN, 1, 1)], "for a third delivery");
    }

    #[test]
    fn samples_of_a_run_without_stored_samples_are_not_known() {
        let tank = MessageSamples::digest("plant", "tank");
        let mut message = MessageSamples::default();
        message.begin(vec![SampleReference { instance: tank, run: RUN, last_sequence: 1, count: 1 }]);
        assert!(!message.skip_known(tank, || stored(OTHER_RUN, 100)));
    }
}

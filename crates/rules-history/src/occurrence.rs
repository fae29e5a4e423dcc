//! An event, and where it comes from.

use oasis_rules::{Event, EventKind, RESTART, Rows};
use std::{cmp::Ordering, collections::HashMap, sync::Arc};
use uuid::Uuid;

/// An event of an instance. Rule, instance, run, DAC time, sequence number, kind and index identify it, in every reading of the same past.
#[derive(Debug, Clone, PartialEq)]
pub struct Occurrence {
    /// The node of the samples.
    pub node: Arc<str>,
    /// The instance of the samples.
    pub instance: Arc<str>,
    /// The node's run that the sample belongs to; none for a silence.
    pub run: Option<Uuid>,
    /// The topic of the batch.
    pub topic: u32,
    /// The event.
    pub event: Event,
    /// Its number among events of one rule, kind and sequence number in one batch.
    pub index: u32,
}

impl Occurrence {
    /// The order of results: DAC time, topic, sequence number, rule.
    pub fn in_order(&self, other: &Self) -> Ordering {
        let key = |one: &Self| (one.event.dac_time, one.topic, one.event.sequence, one.event.rule, one.index);
        key(self).cmp(&key(other))
    }
}

/// The last sample of an instance before a batch: its run, sequence number and time. An alarm reports there that its condition is unknown, and that sample may
/// be of another run than the batch.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LastSample(pub Option<(Uuid, u64, u64)>);

impl LastSample {
    /// Finds the run of each event of a batch, and numbers those that have rule, kind and sequence number in common. A silence has no run.
    pub fn identify(
        self,
        run: Option<Uuid>,
        events: impl IntoIterator<Item = Event>,
    ) -> impl Iterator<Item = (Event, Option<Uuid>, u32)> {
        let mut seen: HashMap<(usize, EventKind, Option<Uuid>, Option<u64>), u32> = HashMap::new();
        events.into_iter().map(move |event| {
            let run = event.sequence.and_then(|sequence| self.run_of(run, sequence, &event));
            let next = seen.entry((event.rule, event.kind, run, event.sequence)).or_default();
            let index = *next;
            *next += 1;
            (event, run, index)
        })
    }

    fn run_of(self, run: Option<Uuid>, sequence: u64, event: &Event) -> Option<Uuid> {
        let of_last = self.0.filter(|(_, last, time)| {
            event.kind == EventKind::Unknown && sequence == *last && event.time == *time
        });
        of_last.map(|(run, ..)| run).or(run)
    }

    /// Counts the samples that are missing before one of this run and number; [`RESTART`] if the number is unknown.
    pub fn missing(self, run: Uuid, sequence: u64) -> u64 {
        let of_run = self.0.filter(|(last, ..)| *last == run);
        let next = of_run.and_then(|(_, last, _)| last.checked_add(1));
        next.and_then(|next| sequence.checked_sub(next)).unwrap_or(RESTART)
    }

    /// Follows the samples of a batch.
    pub fn follow(&mut self, run: Uuid, rows: &Rows) {
        if let (Some(sequence), Some(time)) = (rows.sequences.last(), rows.times.last()) {
            self.0 = Some((run, *sequence, *time));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oasis_rules::Standing;

    fn event(kind: EventKind, sequence: Option<u64>, time: u64) -> Event {
        Event {
            rule: 0,
            kind,
            standing: Some(Standing::Normal),
            is_known: true,
            value: None,
            limit: None,
            sequence,
            time,
            dac_time: 0,
            since: None,
            missing: None,
        }
    }

    #[test]
    fn an_event_at_the_sample_before_a_restart_is_of_the_run_before() {
        let [before, now] = [1, 2].map(Uuid::from_u128);
        let mut last = LastSample::default();
        last.follow(before, &Rows { sequences: vec![6, 7], times: vec![60, 70], ..Rows::default() });
        let events = [
            event(EventKind::Raised, None, 75),
            event(EventKind::Unknown, Some(7), 70),
            event(EventKind::Violated, Some(7), 90),
            event(EventKind::Violated, Some(7), 90),
            event(EventKind::Unknown, Some(7), 90),
        ];
        let found: Vec<_> = last.identify(Some(now), events).map(|(_, run, index)| (run, index)).collect();
        assert_eq!(found, [(None, 0), (Some(before), 0), (Some(now), 0), (Some(now), 1), (Some(now), 0)]);
    }
}

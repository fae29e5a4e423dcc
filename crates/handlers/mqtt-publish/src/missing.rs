//! Samples that are missing between two samples that are published.

use oasis_wire::{gap::Gap, loss::Cause};
use uuid::Uuid;

/// Missing samples of one cause.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    /// The run of their node; unknown if nothing of it is known.
    pub run: Option<Uuid>,
    /// Their number, if it is known.
    pub samples: Option<u64>,
    /// The first and the last sequence number, if they are known.
    pub numbers: Option<(u64, u64)>,
    /// The reason.
    pub cause: Cause,
}

impl Missing {
    /// Samples of consecutive numbers.
    pub fn of_numbers(run: Uuid, first: u64, last: u64, cause: Cause) -> Self {
        let samples = Some(last.saturating_sub(first).saturating_add(1));
        Self { run: Some(run), samples, numbers: Some((first, last)), cause }
    }

    /// Returns the gaps before the sample of this run and number. `last` is the sample before it, `gaps` are those that came with the batch, and
    /// `skipped` is what the reader has skipped.
    pub fn before(
        (run, first): (Uuid, u64),
        last: Option<(Uuid, u64)>,
        gaps: &[Gap],
        skipped: Option<Self>,
    ) -> Vec<Self> {
        let last = last.filter(|(of, _)| *of == run).map(|(_, number)| number);
        let mut all = Vec::new();
        // The next number of this run that is neither published nor declared.
        let mut next = last.map(|last| last.saturating_add(1));
        let mut skipped = skipped;
        let mut declare_between = |from: Option<u64>, until: u64, all: &mut Vec<Self>| {
            let Some(from) = from.filter(|from| *from < until) else { return };
            let cause = skipped.take().map_or(Cause::Unexplained, |skipped| skipped.cause);
            all.push(Self::of_numbers(run, from, until - 1, cause));
        };
        for gap in gaps {
            if gap.run != run {
                all.push(Self::of_gap(gap, gap.from_sequence));
                continue;
            }
            let from = gap.from_sequence.max(next.unwrap_or(0));
            if from > gap.to_sequence || gap.from_sequence >= first {
                continue;
            }
            declare_between(next, from, &mut all);
            all.push(Self::of_gap(gap, from));
            next = next.map(|next| next.max(gap.to_sequence.saturating_add(1)));
        }
        declare_between(next, first, &mut all);
        // The numbers of skipped samples are unknown at the beginning, and after another run.
        all.extend(skipped);
        all
    }

    fn of_gap(gap: &Gap, from: u64) -> Self {
        let is_whole = from == gap.from_sequence;
        let samples = if is_whole { gap.count } else { gap.to_sequence - from + 1 };
        let numbers = Some((from, gap.to_sequence));
        Self { run: Some(gap.run), samples: Some(samples), numbers, cause: gap.cause }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUN: Uuid = Uuid::from_u128(7);
    const OTHER: Uuid = Uuid::from_u128(8);

    fn gap(run: Uuid, from_sequence: u64, to_sequence: u64, cause: Cause) -> Gap {
        Gap { from_sequence, to_sequence, count: to_sequence - from_sequence + 1, cause, run }
    }

    fn shown(last: Option<(Uuid, u64)>, first: u64, gaps: &[Gap], skipped: Option<Missing>) -> Vec<String> {
        let all = Missing::before((RUN, first), last, gaps, skipped);
        all.iter().map(|one| format!("{:?} {}", one.numbers, one.cause.word())).collect()
    }

    #[test]
    fn each_number_between_two_samples_has_a_cause() {
        let last = Some((RUN, 10));
        assert_eq!(shown(last, 11, &[], None), [""; 0]);
        assert_eq!(shown(last, 15, &[], None), ["Some((11, 14)) unexplained"]);
        let skipped = Missing { run: None, samples: Some(4), numbers: None, cause: Cause::LogRetention };
        assert_eq!(shown(last, 15, &[], Some(skipped.clone())), ["Some((11, 14)) log_retention"]);
        let gaps = [gap(RUN, 12, 13, Cause::RingFull)];
        let expected =
            ["Some((11, 11)) log_retention", "Some((12, 13)) ring_full", "Some((14, 14)) unexplained"];
        assert_eq!(shown(last, 15, &gaps, Some(skipped.clone())), expected);
        assert_eq!(shown(None, 15, &gaps, Some(skipped)), ["Some((12, 13)) ring_full", "None log_retention"]);
    }

    #[test]
    fn gaps_that_were_declared_are_not_declared_again() {
        let gaps = [gap(RUN, 5, 12, Cause::Network), gap(OTHER, 90, 92, Cause::NodeRestart)];
        let expected = ["Some((11, 12)) network", "Some((90, 92)) node_restart"];
        assert_eq!(shown(Some((RUN, 10)), 13, &gaps, None), expected);
        assert_eq!(shown(Some((RUN, 12)), 13, &gaps[..1], None), [""; 0]);
        assert_eq!(shown(Some((OTHER, 3)), 13, &gaps[..1], None), ["Some((5, 12)) network"]);
        // A sample that a node sends again.
        assert_eq!(shown(Some((RUN, 20)), 13, &[], None), [""; 0]);
    }
}

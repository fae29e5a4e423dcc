//! Resume points: the position at which a subscription continues, and the new samples of a batch there. Pure: positions
//! and headers in, counts out.

use oasis_wire::{
    batch::Header,
    quantity::{Epoch, Offset, PortablePosition, Position},
};
use uuid::Uuid;

/// Position at which a subscription continues.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ResumePoint {
    /// The next sample at the upstream.
    next: Option<Position>,
    /// The upstream's topic that this position is in. Another one has other samples at the same offsets.
    topic: u32,
    /// The last sample.
    last: Option<LastSample>,
    /// Whether there was no reader for a while: samples of that time are left out.
    has_paused: bool,
}

/// A topic in one life of an upstream: its offsets say which samples are new.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Source {
    /// Life of the upstream.
    pub epoch: Epoch,
    /// The upstream's number of the topic.
    pub topic: u32,
}

/// The last sample of a topic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct LastSample {
    /// Nil while the registry has not told of the run.
    run: Uuid,
    sequence: u64,
    /// The run in the registry, if it is known to be over.
    ended: Option<Uuid>,
}

impl ResumePoint {
    /// Returns the place of an instance that was not relayed before. It continues where its readers are, if it has any.
    pub fn of_new(continues: Option<PortablePosition>) -> Self {
        let last = continues.map(|PortablePosition { run, sequence }| LastSample {
            run,
            sequence: sequence.saturating_sub(1),
            ended: None,
        });
        Self { last, ..Self::default() }
    }

    /// Returns whether the next topic of the instance continues here. Not if its readers are elsewhere: the node may have been connected to this
    /// DAC between two times in which it was relayed.
    pub fn leads_to(&self, continues: Option<PortablePosition>) -> bool {
        let last = self.last.map(|last| (last.run, last.sequence.saturating_add(1)));
        continues.is_none_or(|at| last == Some((at.run, at.sequence)))
    }

    /// Notes that there is no reader for a while.
    pub(crate) fn pause(&mut self) {
        self.has_paused = true;
    }

    /// Returns whether there was no reader since the last sample.
    pub(crate) fn has_paused(&self) -> bool {
        self.has_paused
    }

    /// Returns whether samples of a pause are missing before a batch.
    pub fn misses_pause(&self, from: Source, header: &Header) -> bool {
        self.has_paused && self.continues(from).is_some_and(|at| at.0 < header.offset)
    }

    /// Returns the position that an upstream in this epoch continues at; none for the newest sample.
    pub fn resume(&self, epoch: Epoch) -> Option<String> {
        if let Some(at) = self.next.filter(|at| at.epoch == epoch) {
            return (!self.has_paused).then(|| at.to_string());
        }
        // The samples of a pause come too: the position of another DAC is needed to find the new ones.
        let last = self.last.filter(|last| !last.run.is_nil());
        let portable =
            last.map(|last| PortablePosition { run: last.run, sequence: last.sequence.saturating_add(1) });
        // The archive of an upstream that was started again knows the old position.
        let positions =
            self.next.map(|at| at.to_string()).into_iter().chain(portable.map(|at| at.to_string()));
        Some(positions.collect::<Vec<_>>().join(" ")).filter(|positions| !positions.is_empty())
    }

    /// Returns the offset of the next sample, if the last one came from this topic of the upstream: its offsets say what is new.
    pub fn continues(&self, from: Source) -> Option<Offset> {
        let at = self.next.filter(|at| at.epoch == from.epoch && self.topic == from.topic)?;
        Some(at.offset)
    }

    /// Returns how many samples at the beginning of a batch are here already. They come again after a pause, from an upstream that did not
    /// know the position, and from one that the node has moved to. `run` is the run in the registry here.
    pub fn already_here(&self, from: Source, run: Option<Uuid>, header: &Header) -> u64 {
        if let Some(at) = self.continues(from) {
            return at.0.saturating_sub(header.offset);
        }
        // A DAC that was started again knows from its archive what there is, and not in which run its node is.
        let last = self.last.filter(|last| run.is_none_or(|run| run == last.run));
        last.map_or(0, |last| last.sequence.saturating_add(1).saturating_sub(header.first_sequence))
    }

    /// Returns how many samples are missing between the last one and the first one of another topic: only the numbers say that, and
    /// without a sample before it what the upstream has `missed`.
    pub fn missing_before(&self, from: Source, run: Option<Uuid>, missed: u64, header: &Header) -> u64 {
        if self.continues(from).is_some() {
            return 0;
        }
        let last = self.last.filter(|last| run == Some(last.run));
        let missing =
            |last: LastSample| header.first_sequence.saturating_sub(last.sequence.saturating_add(1));
        last.map_or(missed, missing)
    }

    /// Returns the place after a batch.
    pub fn after(&self, from: Source, run: Option<Uuid>, header: &Header) -> Self {
        let offset = Offset(header.offset.saturating_add(header.count.into()));
        let next = Some(Position { epoch: from.epoch, offset });
        let last = Some(LastSample::after(self.last, run, header));
        Self { next, topic: from.topic, last, has_paused: false }
    }

    /// Returns the run of the last sample; nil if it is not known.
    pub(crate) fn run(&self) -> Uuid {
        self.last.map_or(Uuid::nil(), |last| last.run)
    }
}

impl LastSample {
    /// Returns the last sample of a batch that follows another sample. The registry may report a new run after its first batch
    /// comes: until then it has no name.
    fn after(before: Option<Self>, registered: Option<Uuid>, header: &Header) -> Self {
        let sequence = header.first_sequence.saturating_add(header.count.into()).saturating_sub(1);
        let ended = match before {
            Some(before) if Some(before.run) == registered && header.first_sequence <= before.sequence => {
                registered
            }
            Some(before) if before.ended.is_some() && before.ended == registered => registered,
            _ => None,
        };
        let known = registered.or(before.map(|before| before.run));
        let run = known.filter(|_| ended.is_none()).unwrap_or_default();
        Self { run, sequence, ended }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: Source = Source { epoch: Epoch(1), topic: 3 };

    fn header(first_sequence: u64) -> Header {
        Header {
            state: 0,
            topic: SOURCE.topic,
            first_sequence,
            offset: 0,
            node_time: 0,
            dac_time: 0,
            dropped_before: 0,
            count: 2,
            columns: 1,
        }
    }

    #[test]
    fn a_place_from_before_the_node_was_connected_here_is_not_where_readers_continue() {
        let run = Uuid::from_u128(7);
        let at = |sequence| Some(PortablePosition { run, sequence });
        let before = ResumePoint::default();
        assert!(before.leads_to(None) && !before.leads_to(at(3)));
        let relayed = before.after(SOURCE, Some(run), &header(1));
        assert!(relayed.leads_to(at(3)) && relayed.leads_to(None));
        assert!(!relayed.leads_to(at(9)), "3 to 8 came while the node was here");
    }
}

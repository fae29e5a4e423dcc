//! A relay of both DACs, with a reader. What it knows of the node and where it continues are decided by the real rules; its log is restated:
//! the reader reads each sample, and each gap, as soon as it is there.

use super::{
    hashed::Hashed,
    home::{HomeDac, Numbers, RUN, lose, replaced},
    planted::Planted,
};
use oasis_dac::Standing;
use oasis_relay::{ResumePoint, Source};
use oasis_wire::{batch::Header, quantity::Epoch};

/// A connection to a DAC, as far as it carries samples.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Leg {
    Idle,
    /// A subscription, with the next sample at the DAC.
    Reads {
        epoch: Epoch,
        next: usize,
    },
}

#[derive(Debug, Clone, Hash)]
pub struct Relay {
    pub known: Option<Standing>,
    place: Hashed<ResumePoint>,
    legs: [Leg; 2],
    /// The last number that the reader has received.
    pub last: u64,
    /// Samples that gaps have announced since.
    announced: u64,
}

impl Relay {
    pub fn new() -> Self {
        Self {
            known: None,
            place: Hashed::new(ResumePoint::of_new(None)),
            legs: [Leg::Idle, Leg::Idle],
            last: 0,
            announced: 0,
        }
    }

    /// Learns of the node from a DAC (`Mirror`, `Registry::relay_node`).
    pub fn list(&mut self, listed: Standing) {
        if let Some(known) = replaced(self.known, listed) {
            self.known = Some(known);
        }
    }

    /// The connection to a DAC is gone.
    pub fn lose(&mut self, at: usize) {
        lose(&mut self.known, at);
        self.legs[at] = Leg::Idle;
    }

    fn has_node_from(&self, at: usize) -> bool {
        self.known.is_some_and(|known| known.upstream == Some(at as u64))
    }

    /// Whether a subscription at this DAC begins or ends.
    pub fn wants_change(&self, at: usize) -> bool {
        self.has_node_from(at) == (self.legs[at] == Leg::Idle)
    }

    /// Whether this DAC has a sample for a subscription.
    pub fn has_unread(&self, at: usize, home: &HomeDac) -> bool {
        matches!(self.legs[at], Leg::Reads { next, .. } if next < home.log.len())
    }

    /// A subscription is given up because the node has moved, or asked for and answered (`Feed::abandon`, `Feed::subscribe`). Both at once: what
    /// comes from the other DAC between question and answer may come after the answer too.
    pub fn follow(&mut self, at: usize, home: &HomeDac) {
        let resume = self.place.resume(home.epoch());
        self.legs[at] = match self.has_node_from(at) {
            true => Leg::Reads { epoch: home.epoch(), next: home.start(resume.as_deref()) },
            false => Leg::Idle,
        };
    }

    /// The next sample of a DAC comes (`Feed::batch`). Returns whether the reader has received one.
    pub fn read(
        &mut self,
        at: usize,
        home: &HomeDac,
        dropped: Numbers,
        planted: Option<Planted>,
    ) -> Result<bool, String> {
        let Leg::Reads { epoch, next } = &mut self.legs[at] else { return Ok(false) };
        let Some(&number) = home.log.get(*next) else { return Ok(false) };
        let source = Source { epoch: *epoch, topic: home.topic().0 };
        let header = header(source.topic, *next as u64, number);
        *next += 1;
        if self.place.already_here(source, Some(RUN), &header) > 0 {
            return Ok(false);
        }
        if planted != Some(Planted::GapDropped) {
            self.announced += self.place.missing_before(source, Some(RUN), 0, &header);
        }
        self.place.change(|place| *place = place.after(source, Some(RUN), &header));
        self.receive(number, dropped).map(|()| true)
    }

    /// The reader receives a sample. Those that the node has dropped have no gap: ledgers have them.
    fn receive(&mut self, number: u64, dropped: Numbers) -> Result<(), String> {
        let (last, announced) = (self.last, self.announced);
        if number <= last {
            return Err(format!("the reader receives {number} again, or out of order, after {last}"));
        }
        let missing = (last + 1..number).filter(|number| !dropped.has(*number)).count() as u64;
        if last > 0 && missing > announced {
            return Err(format!("{missing} missing before {number}, {announced} announced"));
        }
        (self.last, self.announced) = (number, 0);
        Ok(())
    }
}

/// The header of a batch of one sample.
fn header(topic: u32, offset: u64, first_sequence: u64) -> Header {
    Header {
        state: 0,
        topic,
        first_sequence,
        offset,
        node_time: 0,
        dac_time: 0,
        dropped_before: 0,
        count: 1,
        columns: 1,
    }
}

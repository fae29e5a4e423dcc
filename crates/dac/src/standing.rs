//! Which of two connections of a node counts. Pure: a node is at home where it connected last, by its own count of connections.

use oasis_wire::quantity::Nanos;
use uuid::Uuid;

/// Properties that decide between a known connection of a node and another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Standing {
    /// Run of the node.
    pub run: Uuid,
    /// Number of the connection in the run, if the node counts them.
    pub attach: Option<u64>,
    /// Whether it is open.
    pub is_online: bool,
    /// When it came or went.
    pub since: Nanos,
    /// The upstream that lists it; none for a connection to this DAC.
    pub upstream: Option<u64>,
    /// DACs between the node and this one.
    pub hops: usize,
}

impl Standing {
    /// Returns whether a connection of this run and number is not later than this one.
    pub fn refuses(&self, run: Uuid, attach: Option<u64>) -> bool {
        self.run == run && self.attach.zip(attach).is_some_and(|(known, attach)| attach <= known)
    }

    /// Returns the number of a relayed connection that this one yields to. An upstream that was started again knows its nodes from its archive, which
    /// has no numbers: those of earlier connections of the run are not forgotten for that.
    pub fn attach_of(&self, relayed: &Self) -> Option<u64> {
        relayed.attach.or(self.attach.filter(|_| self.run == relayed.run))
    }

    /// Returns whether a known connection gives its name to a relayed one.
    pub fn yields_to(&self, relayed: &Self) -> bool {
        let is_relayed = self.upstream.is_some();
        if is_relayed && self.upstream == relayed.upstream {
            return true;
        }
        // The later of two connections of a run counts; the other DAC may not have noticed its end.
        let is_same_run = self.run == relayed.run;
        if let Some((known, relayed)) =
            self.attach.zip(relayed.attach).filter(|(known, relayed)| is_same_run && known != relayed)
        {
            return known < relayed;
        }
        // The same connection, known in two ways: the shorter one stays, or the two would take turns.
        let is_same_connection = is_same_run && self.attach.is_some() && self.attach == relayed.attach;
        match (self.is_online, relayed.is_online) {
            (false, true) => true,
            (true, true) if is_same_connection => relayed.hops < self.hops,
            (true, true) => is_relayed && self.since < relayed.since,
            (_, false) => false,
        }
    }
}

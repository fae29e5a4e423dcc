//! The offsets of the clocks of nodes: measured by the nodes, and published as samples, so that a replay aligns instances of several nodes as it was done live.

use super::Work;
use oasis_dac::{Dac, MeasuredClock};
use oasis_rules::ClockOffset;
use std::{
    collections::{BTreeMap, BTreeSet},
    time::{Duration, Instant},
};

/// Interval at which the measurements are polled: a node measures twice a second.
const POLL_INTERVAL: Duration = Duration::from_millis(500);
/// Longest time between two samples while a node is connected. Rules use a measurement for [`CLOCK_VALIDITY_NANOS`](oasis_rules::CLOCK_VALIDITY_NANOS).
const MAX_SAMPLE_INTERVAL: Duration = Duration::from_secs(60);
/// A change of an offset is published beyond its uncertainty, and beyond this. In nanoseconds.
const MIN_CHANGE: u64 = 100_000;
/// Additional uncertainty of a relayed node's offset for each DAC on the way: smaller changes are not reported. In nanoseconds.
const MAX_UNREPORTED_CHANGE: u64 = 2_000_000;
/// Most nodes whose clocks are published.
const MAX_CLOCKS: usize = 5_000;
/// Longest name of such a node, in bytes: that of its instance has at most 1,024.
const MAX_NAME: usize = 1_000;

/// Published measurements.
#[derive(Default)]
pub struct Clocks {
    looked: Option<Instant>,
    published: BTreeMap<String, (ClockOffset, Instant)>,
    /// Nodes beyond the bound.
    pub left_out: usize,
}

impl Work<'_> {
    /// The nodes whose clocks are published: those of rules over several nodes, or all.
    pub(super) fn nodes_with_clocks(&mut self) -> BTreeSet<String> {
        let mut nodes: BTreeSet<String> =
            self.joints.all.iter().flat_map(|joint| joint.clocks()).map(str::to_owned).collect();
        if self.config.all_clocks {
            nodes.extend(self.dac.registry.clocks().into_iter().map(|(node, _)| node));
            nodes.remove(&self.config.node);
        }
        let wanted = nodes.len();
        let nodes: BTreeSet<String> =
            nodes.into_iter().filter(|node| has_room(node)).take(MAX_CLOCKS).collect();
        self.clocks.left_out = wanted - nodes.len();
        nodes
    }

    /// Publishes the offsets that have changed, and those that were not published for a while.
    pub(super) fn publish_clocks(&mut self) {
        if self.clocks.looked.is_some_and(|looked| looked.elapsed() < POLL_INTERVAL) {
            return;
        }
        self.clocks.looked = Some(Instant::now());
        self.register_all_clocks();
        let Some(output) = &mut self.output else { return };
        let published = &mut self.clocks.published;
        for node in output.clocks() {
            let Some(measured) = measured(&self.dac, &node) else {
                // The next measurement counts, whatever it is.
                published.remove(&node);
                continue;
            };
            let is_known = published.get(&node).is_some_and(|known| is_covered(*known, measured));
            if !is_known {
                output.clock(&node, measured);
                published.insert(node, (measured, Instant::now()));
            }
        }
        output.flush();
    }
}

impl Work<'_> {
    /// Makes instances for nodes that have measured their clocks meanwhile, if those of all nodes are wanted.
    fn register_all_clocks(&mut self) {
        let Some(output) = self.output.as_ref().filter(|_| self.config.all_clocks) else { return };
        let known = output.clocks();
        let measured = self.dac.registry.clocks();
        let is_new =
            |(node, _): &(String, MeasuredClock)| has_room(node) && known.binary_search(node).is_err();
        if known.len() < MAX_CLOCKS && measured.iter().any(is_new) {
            self.register_output();
        }
    }
}

/// Whether the name of a node leaves room for more.
fn has_room(node: &str) -> bool {
    node.len() <= MAX_NAME
}

/// Returns the offset of a node's clock from that of this DAC. Relays add up the measurements on the way, and their
/// uncertainties.
fn measured(dac: &Dac, node: &str) -> Option<ClockOffset> {
    let ClockOffset { offset, uncertainty } = offset(dac.registry.clock(node)?);
    let hops = dac.registry.node(node).map_or(0, |node| node.path().len() as u64);
    Some(ClockOffset {
        offset,
        uncertainty: uncertainty.saturating_add(hops.saturating_mul(MAX_UNREPORTED_CHANGE)),
    })
}

fn offset(MeasuredClock { offset_ns, round_trip_ns }: MeasuredClock) -> ClockOffset {
    ClockOffset { offset: offset_ns, uncertainty: round_trip_ns.unwrap_or_default() / 2 }
}

/// Whether a measurement adds nothing to the one that was published at a moment.
fn is_covered((published, at): (ClockOffset, Instant), measured: ClockOffset) -> bool {
    let change = published.offset.abs_diff(measured.offset);
    at.elapsed() < MAX_SAMPLE_INTERVAL && change <= measured.uncertainty.max(MIN_CHANGE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_measurement_is_published_if_it_says_more() {
        let of = |offset, uncertainty| ClockOffset { offset, uncertainty };
        let before = (of(5_000_000, 300_000), Instant::now());
        assert!(is_covered(before, of(5_090_000, 0)));
        assert!(is_covered(before, of(4_800_000, 300_000)));
        assert!(!is_covered(before, of(4_800_000, 10_000)), "more accurate");
        assert!(!is_covered(before, of(5_400_000, 300_000)));
        assert!(
            oasis_rules::CLOCK_VALIDITY_NANOS
                > 2 * u64::try_from(MAX_SAMPLE_INTERVAL.as_nanos()).unwrap_or(u64::MAX)
        );
    }
}

//! The DAC's own node: it reports what the DAC's threads do, as any other node reports its program.

use super::generated::oasis::dac::{Shard, ShardsProbe};
use oasis_channel::Connector;
use oasis_dac::{Dac, ShardFigures};
use oasis_probe::{Hertz, Node, NodeBuilder, NodeConfig, Probe};
use std::{io, sync::Arc, time::Duration};

/// Starts the node. It connects to the data channel as a remote node would, so that its samples take the same path.
pub fn start(name: &str, dac: &Arc<Dac>, connector: Box<dyn Connector>) -> anyhow::Result<Node> {
    let mut builder = NodeBuilder::new(name, NodeConfig::default());
    builder.periodic("shards", Hertz::ONE, Shards { dac: dac.clone(), totals: Totals::default() })?;
    Ok(builder.start(connector)?)
}

/// The threads that write to WebSockets.
struct Shards {
    dac: Arc<Dac>,
    totals: Totals,
}

impl Probe for Shards {
    type Sample = ShardsProbe;

    fn sample(&mut self) -> io::Result<ShardsProbe> {
        let shards = self.dac.shards.figures();
        self.totals.take(&shards);
        Ok(self.totals.summary(&shards))
    }
}

/// Sums that only grow, although counters disappear with their shards.
#[derive(Default)]
struct Totals {
    cpu_time: u64,
    bytes: u64,
    wakeups: u64,
    before: Vec<ShardFigures>,
}

impl Totals {
    /// Adds what each shard has done since the previous call; for a new shard, all of it.
    fn take(&mut self, shards: &[ShardFigures]) {
        let new = ShardFigures::default();
        for now in shards {
            // Counters that decrease belong to a new shard with the same number.
            let same = |old: &&ShardFigures| old.number == now.number && old.wakeups <= now.wakeups;
            let old = self.before.iter().find(same).unwrap_or(&new);
            self.cpu_time += nanoseconds(now.cpu.saturating_sub(old.cpu));
            self.bytes += now.bytes.saturating_sub(old.bytes);
            self.wakeups += now.wakeups.saturating_sub(old.wakeups);
        }
        self.before = shards.to_vec();
    }

    fn summary(&self, shards: &[ShardFigures]) -> ShardsProbe {
        let each: Vec<Shard> = shards.iter().map(shard).collect();
        ShardsProbe {
            shards: count(shards.iter().filter(|shard| !shard.is_leaving).count()),
            connections: each.iter().map(|shard| shard.connections).sum(),
            fullest: each.iter().map(|shard| shard.connections).max().unwrap_or_default(),
            cpu_time: self.cpu_time,
            bytes: self.bytes,
            wakeups: self.wakeups,
            longest_lag: each.iter().map(|shard| shard.longest_lag).max().unwrap_or_default(),
            each,
        }
    }
}

fn shard(figures: &ShardFigures) -> Shard {
    Shard {
        number: count(figures.number),
        connections: count(figures.connections),
        cpu_time: nanoseconds(figures.cpu),
        bytes: figures.bytes,
        wakeups: figures.wakeups,
        deliveries: figures.deliveries,
        lag: nanoseconds(figures.lag),
        longest_lag: nanoseconds(figures.longest_lag),
    }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_has_each_shard_and_the_sums_of_all() {
        let open = ShardFigures {
            connections: 3,
            bytes: 10,
            cpu: Duration::from_nanos(7),
            ..ShardFigures::default()
        };
        let longest_lag = Duration::from_nanos(9);
        let leaving = ShardFigures { number: 1, is_leaving: true, connections: 1, longest_lag, ..open };
        let mut totals = Totals::default();
        totals.take(&[open, leaving]);
        let sample = totals.summary(&[open, leaving]);
        assert_eq!((sample.shards, sample.connections, sample.fullest), (1, 4, 3));
        assert_eq!((sample.bytes, sample.cpu_time, sample.longest_lag), (20, 14, 9));
        assert_eq!(sample.each.iter().map(|shard| shard.number).collect::<Vec<_>>(), [0, 1]);
    }
    #[test]
    fn totals_go_on_when_shards_end_and_their_numbers_are_used_again() {
        let shard =
            |number, bytes, wakeups| ShardFigures { number, bytes, wakeups, ..ShardFigures::default() };
        let mut totals = Totals::default();
        totals.take(&[shard(0, 100, 10), shard(1, 50, 5)]);
        totals.take(&[shard(0, 130, 12)]);
        assert_eq!((totals.bytes, totals.wakeups), (180, 17));
        totals.take(&[shard(0, 130, 12), shard(1, 7, 1)]);
        totals.take(&[shard(0, 2, 1), shard(1, 7, 1)]);
        assert_eq!((totals.bytes, totals.wakeups), (189, 19));
    }
}

//! The DAC's own node: it reports what the DAC's threads do, as any other node reports its program.

use generated::oasis::dac::{Shard, ShardsProbe};
use oasis_dac::{Dac, ShardFigures};
use oasis_probe::{Hertz, Node, NodeBuilder, NodeConfig, Probe, TcpConnector};
use std::{io, sync::Arc};

/// The probe types, generated from `pdl/dac/` at build time.
mod generated {
    include!(concat!(env!("OUT_DIR"), "/probes.rs"));
}

/// Starts the node. It connects to the data channel as a remote node would, so that its samples take the same path.
pub fn start(name: &str, dac: &Arc<Dac>, channel: &str) -> anyhow::Result<Node> {
    let mut builder = NodeBuilder::new(name, NodeConfig::default());
    builder.periodic("shards", Hertz::ONE, Shards(dac.clone()))?;
    Ok(builder.start(TcpConnector::new(channel))?)
}

/// The threads that write to WebSockets.
struct Shards(Arc<Dac>);

impl Probe for Shards {
    type Sample = ShardsProbe;

    fn sample(&mut self) -> io::Result<ShardsProbe> {
        Ok(summary(&self.0.shards.figures()))
    }
}

fn summary(shards: &[ShardFigures]) -> ShardsProbe {
    let each: Vec<Shard> = shards.iter().map(shard).collect();
    ShardsProbe {
        shards: count(shards.iter().filter(|shard| !shard.is_leaving).count()),
        connections: each.iter().map(|shard| shard.connections).sum(),
        fullest: each.iter().map(|shard| shard.connections).max().unwrap_or_default(),
        cpu_time: each.iter().map(|shard| shard.cpu_time).sum(),
        bytes: each.iter().map(|shard| shard.bytes).sum(),
        wakeups: each.iter().map(|shard| shard.wakeups).sum(),
        longest_lag: each.iter().map(|shard| shard.longest_lag).max().unwrap_or_default(),
        each,
    }
}

fn shard(figures: &ShardFigures) -> Shard {
    let nanoseconds = |time: std::time::Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
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

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

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
        let sample = summary(&[open, leaving]);
        assert_eq!((sample.shards, sample.connections, sample.fullest), (1, 4, 3));
        assert_eq!((sample.bytes, sample.cpu_time, sample.longest_lag), (20, 14, 9));
        assert_eq!(sample.each.iter().map(|shard| shard.number).collect::<Vec<_>>(), [0, 1]);
    }
}

//! Decisions of a seed before a run: the nodes, the limits, and the faults with their times.

use crate::system::NANOS_PER_SECOND;
use fastrand::Rng;

const NANOS_PER_MILLISECOND: u64 = 1_000_000;

/// The plan of a run.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The nodes.
    pub nodes: Vec<NodePlan>,
    /// Time during which probes take samples and faults occur, in nanoseconds.
    pub duration: u64,
    /// The faults, by time.
    pub faults: Vec<(u64, Fault)>,
    /// Interval of commits, in nanoseconds.
    pub commit: u64,
    /// Size at which a segment file is sealed.
    pub segment_bytes: u64,
    /// Age at which it is.
    pub segment_seconds: u64,
    /// Limit of each topic log.
    pub topic_bytes: usize,
    /// Shortest and longest delay of a message, in nanoseconds.
    pub delay: (u64, u64),
    /// Lost datagrams, in percent.
    pub lost: u8,
}

/// A node.
#[derive(Debug, Clone)]
pub struct NodePlan {
    /// Mean nanoseconds between the samples of each instance.
    pub periods: Vec<u64>,
    /// Most samples in a batch.
    pub batch_samples: usize,
    /// Limit of the spool in memory.
    pub spool_bytes: usize,
    /// Limit of the file spool, if it has one.
    pub directory_bytes: Option<u64>,
    /// Whether it sends datagrams.
    pub udp: bool,
    /// By how many nanoseconds its wall clock is ahead.
    pub ahead: i64,
    /// Samples that the ring drops, in per mille.
    pub dropped: u32,
}

/// A fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// `kill -9` of the DAC.
    KillDac {
        /// Changes of the disk before.
        after: u64,
    },
    /// The DAC's host loses its power.
    CutDac {
        /// Changes of the disk before.
        after: u64,
    },
    /// The DAC stops, and a new one starts.
    StopDac,
    /// `kill -9` of a node.
    KillNode {
        /// Its number.
        node: usize,
        /// Changes of its disk before.
        after: u64,
    },
    /// A node's host loses its power.
    CutNode {
        /// Its number.
        node: usize,
        /// Changes of its disk before.
        after: u64,
    },
    /// A node stops, and a new process starts.
    StopNode {
        /// Its number.
        node: usize,
    },
    /// The connection of a node breaks.
    BreakLink {
        /// Its number.
        node: usize,
    },
    /// Nothing passes between a node and the DAC.
    Partition {
        /// Its number.
        node: usize,
        /// Duration in nanoseconds.
        length: u64,
    },
    /// A disk is full.
    FullDisk {
        /// A node's, or the DAC's.
        node: Option<usize>,
        /// Duration in nanoseconds.
        length: u64,
    },
    /// Syncs of the DAC's disk fail.
    FailingSyncs {
        /// Duration in nanoseconds.
        length: u64,
    },
    /// A peer claims to be a node.
    Liar {
        /// Its number.
        node: usize,
        /// With the run of the node, or with one of its own.
        claims_run: bool,
    },
}

impl Fault {
    /// Returns whether the DAC ends.
    pub fn ends_dac(&self) -> bool {
        matches!(self, Self::KillDac { .. } | Self::CutDac { .. } | Self::StopDac)
    }

    /// Returns whether it makes disks fail.
    pub fn is_of_disk(&self) -> bool {
        matches!(self, Self::FullDisk { .. } | Self::FailingSyncs { .. })
    }
}

impl Plan {
    /// Decides everything for a seed.
    pub fn of(seed: u64) -> Self {
        let mut random = Rng::with_seed(seed);
        let duration = random.u64(4..20) * NANOS_PER_SECOND;
        let nodes: Vec<_> = (0..random.usize(1..=3)).map(|_| NodePlan::of(&mut random)).collect();
        let kinds = Kinds::of(&mut random);
        let count = random.usize(1..10);
        let mut faults: Vec<_> = (0..count)
            .map(|_| (random.u64(NANOS_PER_SECOND / 10..duration), kinds.fault(nodes.len(), &mut random)))
            .collect();
        faults.sort_by_key(|(at, _)| *at);
        let fastest = random.u64(1..20) * NANOS_PER_MILLISECOND / 10;
        Self {
            duration,
            faults,
            nodes,
            commit: random.u64(10..300) * NANOS_PER_MILLISECOND,
            segment_bytes: 1 << random.u32(12..18),
            segment_seconds: random.u64(1..20),
            topic_bytes: if random.u8(0..6) == 0 { 32 * 1024 } else { 8 * 1024 * 1024 },
            delay: (fastest, fastest * random.u64(1..40)),
            lost: random.u8(0..30),
        }
    }

    /// Returns whether any fault matches.
    pub fn has(&self, is_it: impl Fn(&Fault) -> bool) -> bool {
        self.faults.iter().any(|(_, fault)| is_it(fault))
    }
}

impl NodePlan {
    fn of(random: &mut Rng) -> Self {
        let period = random.u64(3..60) * NANOS_PER_MILLISECOND;
        let is_tight = random.u8(0..4) == 0;
        let directory = if is_tight { 256 * 1024 } else { 64 * 1024 * 1024 };
        Self {
            periods: (0..random.usize(1..=2)).map(|_| period * random.u64(1..4)).collect(),
            batch_samples: random.usize(1..40),
            spool_bytes: if is_tight { random.usize(4..64) * 1024 } else { 4 * 1024 * 1024 },
            directory_bytes: random.bool().then_some(directory),
            udp: random.u8(0..4) == 0,
            ahead: random.i64(-3_600..3_600) * NANOS_PER_SECOND as i64,
            dropped: if random.u8(0..3) == 0 { random.u32(1..50) } else { 0 },
        }
    }

    /// Returns whether it can run out of room.
    pub fn is_tight(&self) -> bool {
        self.spool_bytes < 1024 * 1024
    }
}

/// Which kinds of faults a run has: a few at a time find more than all at once.
struct Kinds(Vec<u8>);

impl Kinds {
    fn of(random: &mut Rng) -> Self {
        let mut kinds: Vec<u8> = (0..11).collect();
        random.shuffle(&mut kinds);
        kinds.truncate(random.usize(1..=4));
        Self(kinds)
    }

    fn fault(&self, nodes: usize, random: &mut Rng) -> Fault {
        let node = random.usize(0..nodes);
        let after = if random.bool() { 0 } else { random.u64(0..60) };
        let length = random.u64(1..80) * NANOS_PER_SECOND / 10;
        match self.0[random.usize(0..self.0.len())] {
            0 => Fault::KillDac { after },
            1 => Fault::CutDac { after },
            2 => Fault::StopDac,
            3 => Fault::KillNode { node, after },
            4 => Fault::CutNode { node, after },
            5 => Fault::StopNode { node },
            6 => Fault::BreakLink { node },
            7 => Fault::Partition { node, length },
            8 => Fault::FullDisk { node: random.bool().then_some(node), length },
            9 => Fault::FailingSyncs { length },
            _ => Fault::Liar { node, claims_run: random.bool() },
        }
    }
}

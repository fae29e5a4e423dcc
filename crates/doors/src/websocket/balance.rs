//! Which shard gets a connection, and how many idle ones move. Pure functions of the shards' loads.

/// Loads of processors that differ by less are equal, in thousandths of a core.
const MIN_CPU_DIFFERENCE: u32 = 50;
/// A difference of processor time that is worth moving connections, in thousandths of a core.
const CPU_GAP: u32 = 200;
/// A difference in connections that is never worth moving them.
const COUNT_GAP: usize = 8;

/// The load of one shard.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Load {
    /// Processor time of the last second, in thousandths of a core.
    pub cpu: u32,
    /// Connections, those on their way included.
    pub connections: usize,
    /// Connections that it was sent since its processor time was measured.
    pub taken: usize,
}

/// Idle connections that a shard should give to others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shift {
    /// Index of the shard.
    pub from: usize,
    /// Number of connections.
    pub count: usize,
}

impl Load {
    /// The smaller the better for the next connection: steps of processor time, then connections. A connection that came after the
    /// measurement counts with `cost`.
    pub fn rank(self, cost: f64) -> (u32, usize) {
        let expected = f64::from(self.cpu) + self.taken as f64 * cost;
        ((expected / f64::from(MIN_CPU_DIFFERENCE)) as u32, self.connections)
    }

    /// Processor time of this many of its connections, if all cost the same.
    fn of(self, connections: usize) -> u32 {
        let share = connections as f64 / self.connections.max(1) as f64;
        (f64::from(self.cpu) * share) as u32
    }
}

/// Returns the average cost of a connection, in thousandths of a core.
pub fn cost(loads: &[Load]) -> f64 {
    let cpu: f64 = loads.iter().map(|load| f64::from(load.cpu)).sum();
    let connections: usize = loads.iter().map(|load| load.connections.saturating_sub(load.taken)).sum();
    cpu / connections.max(1) as f64
}

/// Returns what should move, if anything: half of a large difference in processor time, otherwise half of a large difference in
/// connections, unless that would make the other shard the busier one.
pub fn plan(loads: &[Load]) -> Option<Shift> {
    by_cpu(loads).or_else(|| by_count(loads))
}

fn by_cpu(loads: &[Load]) -> Option<Shift> {
    let (from, busiest) = loads.iter().enumerate().max_by_key(|(_, load)| load.cpu)?;
    let least = loads.iter().map(|load| load.cpu).min()?;
    let gap = busiest.cpu - least;
    let share = f64::from(gap) / 2.0 / f64::from(busiest.cpu.max(1));
    let count = (busiest.connections as f64 * share) as usize;
    (gap >= CPU_GAP && count > 0).then_some(Shift { from, count })
}

fn by_count(loads: &[Load]) -> Option<Shift> {
    let (from, fullest) = loads.iter().enumerate().max_by_key(|(_, load)| load.connections)?;
    let emptiest = loads.iter().min_by_key(|load| load.connections)?;
    let count = (fullest.connections - emptiest.connections) / 2;
    let moved = fullest.of(count);
    let is_uneven = fullest.connections > 2 * emptiest.connections + COUNT_GAP;
    let stays_cooler = emptiest.cpu.saturating_add(moved)
        <= fullest.cpu.saturating_sub(moved).saturating_add(MIN_CPU_DIFFERENCE);
    (is_uneven && stays_cooler).then_some(Shift { from, count })
}

/// Returns how many connections each shard should give so that all have the same number.
pub fn surplus(connections: &[usize]) -> Vec<usize> {
    let even = connections.iter().sum::<usize>().div_ceil(connections.len().max(1));
    connections.iter().map(|count| count.saturating_sub(even)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn load(cpu: u32, connections: usize) -> Load {
        Load { cpu, connections, taken: 0 }
    }

    #[test]
    fn the_next_connection_goes_to_the_idle_shard_and_among_equals_to_the_emptier_one() {
        let ranks = |loads: &[Load]| loads.iter().map(|load| load.rank(cost(loads))).collect::<Vec<_>>();
        let of = ranks(&[load(700, 3), load(20, 90), load(40, 80)]);
        assert!(of[2] < of[1] && of[1] < of[0], "{of:?}");
        // A crowd within one second spreads, although the processor time is still that of the second before.
        let crowd = Load { cpu: 0, connections: 390, taken: 290 };
        let of = ranks(&[crowd, load(200, 100)]);
        assert!(of[1] < of[0], "{of:?}");
    }

    #[test]
    fn half_of_a_difference_moves() {
        assert_eq!(plan(&[load(900, 100), load(100, 100)]), Some(Shift { from: 0, count: 44 }));
        assert_eq!(plan(&[load(10, 0), load(10, 100)]), Some(Shift { from: 1, count: 50 }));
        assert_eq!(plan(&[load(500, 100), load(400, 90)]), None);
        // One connection that takes a whole core has to stay.
        assert_eq!(plan(&[load(1_000, 1), load(0, 0)]), None);
        // Few busy connections weigh as much as many idle ones.
        assert_eq!(plan(&[load(440, 10), load(400, 500)]), None);
        assert_eq!(plan(&[]), None);
    }

    #[test]
    fn a_surplus_is_what_exceeds_an_even_share() {
        assert_eq!(surplus(&[10, 0, 0]), [6, 0, 0]);
        assert_eq!(surplus(&[4, 4]), [0, 0]);
        assert_eq!(surplus(&[]), [] as [usize; 0]);
    }

    proptest! {
        #[test]
        fn any_loads_have_a_plan_without_a_panic(loads in prop::collection::vec((any::<u32>(), 0_usize..100_000), 0..5)) {
            let loads: Vec<Load> = loads.into_iter().map(|(cpu, connections)| load(cpu, connections)).collect();
            if let Some(Shift { from, count }) = plan(&loads) {
                prop_assert!(count <= loads[from].connections);
            }
        }

        /// Moving as planned ends, with connections that cost the same.
        #[test]
        fn shards_settle(connections in prop::collection::vec(0_usize..2_000, 1..9), cost in 0_u32..3) {
            let mut connections = connections;
            let total: usize = connections.iter().sum();
            let loads = |connections: &[usize]| -> Vec<Load> {
                connections.iter().map(|&count| load(count as u32 * cost, count)).collect()
            };
            for _ in 0..200 {
                let Some(Shift { from, count }) = plan(&loads(&connections)) else { return Ok(()) };
                prop_assert!(count <= connections[from]);
                for _ in 0..count {
                    connections[from] -= 1;
                    let to = (0..connections.len()).filter(|to| *to != from).min_by_key(|&to| connections[to]);
                    connections[to.unwrap()] += 1;
                }
                prop_assert_eq!(connections.iter().sum::<usize>(), total);
            }
            prop_assert!(false, "it never settles: {connections:?}");
        }
    }
}

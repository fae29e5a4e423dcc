//! Number of shards that the load needs. Pure: takes a measurement a second.
//!
//! The two thresholds leave room between them, and each must be passed for some time, so a load that stays the same never makes shards come and go.

/// A shard more if all together are busier than this, in thousandths of a core each.
const BUSY_LOAD: u32 = 700;
/// For this many seconds.
const BUSY_SECONDS: u32 = 3;
/// A shard fewer if the others would not be busier than this with its load.
const CALM_LOAD: u32 = 400;
/// For this many seconds.
const CALM_SECONDS: u32 = 30;

/// Decides, from second to second.
#[derive(Debug, Default)]
pub struct Autoscaler {
    busy_for: u32,
    calm_for: u32,
}

impl Autoscaler {
    /// Returns the number of shards for a load: thousandths of a core that all `shards` together used in the last second. At most `most`.
    pub fn next(&mut self, shards: usize, load: u32, most: usize) -> usize {
        let each = |shards: usize| load / u32::try_from(shards.max(1)).unwrap_or(u32::MAX);
        self.busy_for = if each(shards) > BUSY_LOAD { self.busy_for + 1 } else { 0 };
        self.calm_for = if shards > 1 && each(shards - 1) < CALM_LOAD { self.calm_for + 1 } else { 0 };
        let wanted = if self.busy_for >= BUSY_SECONDS {
            shards + 1
        } else if self.calm_for >= CALM_SECONDS {
            shards - 1
        } else {
            shards
        };
        let wanted = wanted.clamp(1, most.max(1));
        if wanted != shards {
            *self = Self::default();
        }
        wanted
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_load_that_lasts_brings_a_shard_and_its_end_takes_it_away() {
        let mut scaler = Autoscaler::default();
        assert_eq!([900; 3].map(|load| scaler.next(1, load, 4)), [1, 1, 2]);
        // One calm second begins the count anew.
        assert_eq!([1_500, 100, 1_500, 1_500].map(|load| scaler.next(2, load, 4)), [2; 4]);
        let calm: Vec<_> = (0..31).map(|_| scaler.next(2, 100, 4)).collect();
        assert_eq!(calm.iter().position(|&shards| shards == 1), Some(29), "{calm:?}");
    }

    #[test]
    fn the_bounds_hold() {
        let mut scaler = Autoscaler::default();
        assert!((0..100).all(|_| scaler.next(2, 2_000, 2) == 2));
        assert!((0..100).all(|_| scaler.next(1, 0, 2) == 1));
        assert_eq!(scaler.next(9, 0, 4), 4, "more than allowed are too many at once");
    }

    proptest! {
        /// A load that does not change leads to a number of shards that does not change.
        #[test]
        fn a_steady_load_settles(load in 0_u32..20_000, begin in 1_usize..32, most in 1_usize..32) {
            let (mut scaler, mut shards) = (Autoscaler::default(), begin);
            for _ in 0..32 * CALM_SECONDS {
                shards = scaler.next(shards, load, most);
            }
            let settled = shards;
            for _ in 0..10 * CALM_SECONDS {
                shards = scaler.next(shards, load, most);
                prop_assert_eq!(shards, settled);
            }
            prop_assert!((1..=most).contains(&shards));
        }
    }
}

//! Statistics of one number: minimum, maximum, mean, first and last value, and the increase of a counter.
//!
//! Summaries of parts add up to the summary of the whole, wherever it was split.

use super::number::{Number, Scalar};
use std::cmp::Ordering;

/// Statistics of one number over samples in the order of their arrival.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Summary {
    /// Number of values without NaN.
    pub numbers: u64,
    /// Minimum; NaN without numbers.
    pub min: Number,
    /// Maximum.
    pub max: Number,
    /// Sum of the numbers, for the mean.
    pub sum: f64,
    /// The first value, possibly NaN.
    pub first: Number,
    /// The last value.
    pub last: Number,
    /// The increase from the first value to the last, if it is a counter.
    pub increase: Option<Number>,
}

impl Summary {
    /// Summarizes one value.
    pub fn of(value: Number, is_counter: bool) -> Self {
        let is_number = !value.real().is_nan();
        Self {
            numbers: is_number.into(),
            min: value,
            max: value,
            sum: if is_number { value.real() } else { 0.0 },
            first: value,
            last: value,
            increase: is_counter.then(|| Number::counted(value, value)),
        }
    }

    /// Summarizes values of a column, 64 bits each; `None` without values.
    pub fn of_column<T: Scalar>(bits: &[u64], is_counter: bool) -> Option<Self> {
        let first = T::from_bits(*bits.first()?);
        let (mut min, mut max, mut last, mut sum, mut numbers) =
            (first, first, first, T::Sum::default(), 0_u64);
        let mut only_grows = !first.is_nan();
        for &bits in bits {
            let value = T::from_bits(bits);
            only_grows &= value >= last;
            last = value;
            if value.is_nan() {
                continue;
            }
            numbers += 1;
            value.add_to(&mut sum);
            if value < min || min.is_nan() {
                min = value;
            }
            if value > max || max.is_nan() {
                max = value;
            }
        }
        let (first, last) = (first.number(), last.number());
        let increase = is_counter.then(|| match only_grows {
            true => Number::counted(first, last),
            false => Self::counted::<T>(bits),
        });
        let sum = T::real_of(sum);
        Some(Self { numbers, min: min.number(), max: max.number(), sum, first, last, increase })
    }

    /// Returns the increase of a counter that was reset between the values.
    fn counted<T: Scalar>(bits: &[u64]) -> Number {
        let number = |bits: &u64| T::from_bits(*bits).number();
        let steps = bits.windows(2).map(|pair| Number::counted(number(&pair[0]), number(&pair[1])));
        steps.fold(Number::counted(number(&bits[0]), number(&bits[0])), Number::plus)
    }

    /// Appends later values.
    pub fn append(&mut self, later: &Self) {
        if let (Some(increase), Some(more)) = (self.increase, later.increase) {
            let between = Number::counted(self.last, later.first);
            self.increase = Some(increase.plus(between).plus(more));
        }
        if later.numbers > 0 {
            let takes = |order| order == Some(Ordering::Less) || self.numbers == 0;
            let (takes_min, takes_max) = (takes(later.min.order(self.min)), takes(self.max.order(later.max)));
            if takes_min {
                self.min = later.min;
            }
            if takes_max {
                self.max = later.max;
            }
            self.sum += later.sum;
            self.numbers = self.numbers.saturating_add(later.numbers);
        }
        self.last = later.last;
    }

    /// The increase of a counter in each interval, from the last value before it; in the first interval from its first value.
    pub fn increases(stretches: &[Option<Self>]) -> impl Iterator<Item = Option<Number>> {
        let mut before: Option<Number> = None;
        stretches.iter().map(move |stretch| {
            let stretch = stretch.as_ref()?;
            let between = Number::counted(before.unwrap_or(stretch.first), stretch.first);
            before = Some(stretch.last);
            Some(between.plus(stretch.increase?))
        })
    }

    /// The mean; NaN without numbers.
    pub fn mean(&self) -> f64 {
        self.sum / self.numbers as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn close(one: f64, other: f64) -> bool {
        one.to_bits() == other.to_bits()
            || (one.is_nan() && other.is_nan())
            || (one - other).abs() <= 1e-9 * one.abs().max(other.abs()).max(1.0)
    }

    fn same(one: Number, other: Number) -> bool {
        one == other || (one.real().is_nan() && other.real().is_nan())
    }

    proptest! {
        #[test]
        fn parts_add_up_to_the_whole_wherever_they_are_cut(
            values in proptest::collection::vec(prop_oneof![4 => -1e6..1e6_f64, 1 => Just(f64::NAN)], 1..40),
            cut in any::<prop::sample::Index>(), is_counter: bool,
        ) {
            let bits: Vec<u64> = values.iter().map(|value| value.to_bits()).collect();
            let whole = Summary::of_column::<f64>(&bits, is_counter).unwrap();
            let cut = cut.index(bits.len());
            let (before, after) = bits.split_at(cut);
            let parts = [Summary::of_column::<f64>(before, is_counter), Summary::of_column::<f64>(after, is_counter)];
            let joined = parts.into_iter().flatten().reduce(|mut joined, part| { joined.append(&part); joined }).unwrap();
            prop_assert_eq!(joined.numbers, whole.numbers);
            for (one, other) in [(joined.min, whole.min), (joined.max, whole.max), (joined.first, whole.first), (joined.last, whole.last)] {
                prop_assert!(same(one, other), "{one:?} {other:?}");
            }
            prop_assert!(close(joined.mean(), whole.mean()));
            let counted = |summary: &Summary| summary.increase.map_or(0.0, Number::real);
            prop_assert!(close(counted(&joined), counted(&whole)));
        }
    }

    #[test]
    fn integers_of_64_bits_are_not_rounded() {
        let bits = [u64::MAX - 2, u64::MAX, u64::MAX - 1];
        let summary = Summary::of_column::<u64>(&bits, false).unwrap();
        assert_eq!(
            (summary.min, summary.max, summary.last),
            (Number::Uint(bits[0]), Number::Uint(bits[1]), Number::Uint(bits[2]))
        );
        let bits = [i64::MIN + 1, i64::MAX].map(|value| value as u64);
        let summary = Summary::of_column::<i64>(&bits, true).unwrap();
        assert_eq!((summary.min, summary.max), (Number::Int(i64::MIN + 1), Number::Int(i64::MAX)));
        assert_eq!(summary.increase, Some(Number::Uint(u64::MAX - 1)));
    }

    #[test]
    fn a_counter_that_decreases_was_reset() {
        let counted = |bits: &[u64]| Summary::of_column::<u64>(bits, true).unwrap().increase;
        assert_eq!(counted(&[10, 15, 15, 3, 4]), Some(Number::Uint(5 + 3 + 1)));
        assert_eq!(counted(&[7]), Some(Number::Uint(0)));
    }

    #[test]
    fn the_increase_between_intervals_belongs_to_the_later_one() {
        let of = |bits: &[u64]| Summary::of_column::<u64>(bits, true);
        let stretches = [of(&[5, 7]), None, of(&[10, 11]), of(&[2])];
        let increases: Vec<_> = Summary::increases(&stretches).collect();
        assert_eq!(increases, [Some(Number::Uint(2)), None, Some(Number::Uint(4)), Some(Number::Uint(2))]);
    }

    #[test]
    fn nan_counts_only_without_numbers() {
        let bits = [f32::NAN, 2.0, f32::NAN].map(|value| u64::from(value.to_bits()));
        let summary = Summary::of_column::<f32>(&bits, false).unwrap();
        assert_eq!(
            (summary.numbers, summary.min, summary.max, summary.mean()),
            (1, Number::Real32(2.0), Number::Real32(2.0), 2.0)
        );
        assert!(summary.last.real().is_nan());
        assert!(Summary::of_column::<f32>(&bits[..1], false).unwrap().mean().is_nan());
    }
}

//! A sum of numbers that is exact, so that it is the same in whatever order they came and went.
//!
//! A finite number is a whole multiple of 2^-1074. The sum is kept as such a multiple, with digits of 32 bits that have a sign: each is at least -2^31
//! and less than 2^31. A sum has one such form alone, and its uppermost digit that is not zero has its sign. Adding a number changes the digits that it
//! overlaps, and a carry seldom goes further. (The crate xsum 0.1.6 does the same, but rounds negative sums wrongly.)

/// Enough for 2^32 of the greatest numbers: 2^1024 is the bit 2,098.
const DIGITS: usize = 67;
const BITS: usize = 32;
/// The lowest bit of the first digit is 2^-1074.
const LOWEST: i32 = -1_074;
const MANTISSA_BITS: u32 = 52;

/// The exact sum of some numbers.
#[derive(Debug, Clone)]
pub struct ExactSum {
    digits: [i32; DIGITS],
    /// All digits before this one are zero.
    first: usize,
    /// All digits after this one are zero.
    last: usize,
}

impl ExactSum {
    pub fn new() -> Self {
        Self { digits: [0; DIGITS], first: DIGITS - 1, last: 0 }
    }

    /// Adds a finite number. The negative of a number that was added removes it.
    pub fn add(&mut self, number: f64) {
        let bits = number.to_bits();
        let exponent = (bits >> MANTISSA_BITS) as usize & 0x7FF;
        let fraction = bits & ((1 << MANTISSA_BITS) - 1);
        let mantissa = if exponent == 0 { fraction } else { fraction | 1 << MANTISSA_BITS };
        if mantissa == 0 || !number.is_finite() {
            return;
        }
        let lowest_bit = exponent.max(1) - 1;
        let at = lowest_bit / BITS;
        let mut rest = u128::from(mantissa) << (lowest_bit % BITS);
        self.first = self.first.min(at);
        let mut carry = 0;
        for (index, digit) in self.digits.iter_mut().enumerate().skip(at) {
            let part = i64::from(rest as u32);
            rest >>= BITS;
            let part = if number < 0.0 { -part } else { part };
            let total = i64::from(*digit) + part + carry;
            // The digit in its range that leaves a whole carry.
            *digit = total as i32;
            carry = (total - i64::from(*digit)) >> BITS;
            self.last = self.last.max(index);
            if rest == 0 && carry == 0 {
                break;
            }
        }
        self.trim();
    }

    fn trim(&mut self) {
        while self.last > self.first && self.digits[self.last] == 0 {
            self.last -= 1;
        }
        while self.first < self.last && self.digits[self.first] == 0 {
            self.first += 1;
        }
        if self.digits[self.last] == 0 {
            (self.first, self.last) = (DIGITS - 1, 0);
        }
    }

    /// The nearest number; of two equally near ones the even one. Zero has no sign, and what is too great is infinite.
    pub fn value(&self) -> f64 {
        let top = self.digits[self.last];
        let sign = if top < 0 { -1 } else { 1 };
        let digit = |below: usize| {
            let digit = self.last.checked_sub(below).map_or(0, |at| self.digits[at]);
            i128::from(sign * i64::from(digit))
        };
        // At least 62 bits: more than a number has, and one to round with.
        let mut upper = (digit(0) << (2 * BITS)) + (digit(1) << BITS) + digit(2);
        let below = self.digits.get(self.first..self.last.saturating_sub(2)).unwrap_or_default();
        let lower = below.iter().rev().find(|digit| **digit != 0).map_or(0, |digit| sign * i64::from(*digit));
        if lower < 0 {
            upper -= 1;
        }
        // The last bit says that there is more, which decides between two numbers.
        let upper = (upper as u128) << 1 | u128::from(lower != 0);
        let exponent = (self.last * BITS) as i32 - 2 * BITS as i32 - 1 + LOWEST;
        // In two steps, because the power alone could be too small for a number. Where bits would be lost there are none.
        let half = exponent / 2;
        sign as f64 * (upper as f64) * power_of_two(half) * power_of_two(exponent - half)
    }
}

/// For exponents from -1022 to 1023.
fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1_023) as u64) << MANTISSA_BITS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sum(numbers: &[f64]) -> f64 {
        let mut sum = ExactSum::new();
        numbers.iter().for_each(|number| sum.add(*number));
        sum.value()
    }

    /// A number that is this multiple of a power of two.
    fn scaled(multiple: i64, power: i32) -> f64 {
        let half = power / 2;
        multiple as f64 * power_of_two(half) * power_of_two(power - half)
    }

    /// The multiple of 2^`unit` that a number is.
    fn multiple(number: f64, unit: i32) -> i128 {
        let bits = number.abs().to_bits();
        let exponent = (bits >> MANTISSA_BITS) as i32;
        let fraction = i128::from(bits & ((1 << MANTISSA_BITS) - 1));
        let mantissa = if exponent == 0 { fraction } else { fraction | 1 << MANTISSA_BITS };
        let magnitude = mantissa << (exponent.max(1) - 1 + LOWEST - unit);
        if number < 0.0 { -magnitude } else { magnitude }
    }

    /// Whether a number is the nearest one to a multiple of 2^`unit`, and even if another one is as near.
    fn is_nearest(number: f64, exact: i128, unit: i32) -> bool {
        if exact.abs() <= 1 << 53 {
            return number == scaled(exact as i64, unit);
        }
        // In quarters, so that halves between neighbors are whole.
        let distance = |other: f64| (4 * exact - multiple(other, unit - 2)).abs();
        let is_even = number.to_bits() & 1 == 0;
        [number.next_down(), number.next_up()].into_iter().all(|other| {
            distance(number) < distance(other) || (distance(number) == distance(other) && is_even)
        })
    }

    /// Multiples of powers of two near one another, so that their sum fits 128 bits; their unit; and how many leave again.
    fn numbers() -> impl Strategy<Value = (i32, Vec<(i64, u8)>, usize)> {
        let unit = prop_oneof![Just(-1_072), -1_072..-1_000, -200..200, 850..900];
        let mantissa = prop_oneof![-3..4_i64, -(1_i64 << 53)..=1 << 53, Just(1 << 53), Just((1 << 53) - 1)];
        // Powers 0 and 53 meet at a half of the last bit.
        let power = prop_oneof![0..60_u8, Just(0), Just(1), Just(53), Just(52)];
        (unit, prop::collection::vec((mantissa, power), 1..40), 0..40_usize)
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 5_000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn the_sum_of_those_that_are_left_is_the_nearest_number((unit, numbers, gone) in numbers()) {
            let value = |(mantissa, power): &(i64, u8)| scaled(*mantissa, unit + i32::from(*power));
            let gone = gone.min(numbers.len());
            let mut sum = ExactSum::new();
            for (at, number) in numbers.iter().enumerate() {
                sum.add(value(number));
                if let Some(number) = at.checked_sub(3).filter(|at| *at < gone).map(|at| &numbers[at]) {
                    sum.add(-value(number));
                }
            }
            for number in &numbers[gone.min(numbers.len().saturating_sub(3))..gone] {
                sum.add(-value(number));
            }
            let exact: i128 = numbers[gone..].iter().map(|(mantissa, power)| i128::from(*mantissa) << power).sum();
            prop_assert!(is_nearest(sum.value(), exact, unit), "{} is not {} * 2^{}", sum.value(), exact, unit);
            let mut fresh = ExactSum::new();
            numbers[gone..].iter().for_each(|number| fresh.add(value(number)));
            prop_assert_eq!(fresh.digits, sum.digits);
            prop_assert_eq!((fresh.first, fresh.last), (sum.first, sum.last));
        }

        #[test]
        fn nothing_is_left_of_numbers_that_are_gone(numbers in prop::collection::vec(any::<f64>().prop_filter("finite", |number| number.is_finite()), 1..50)) {
            let mut sum = ExactSum::new();
            numbers.iter().for_each(|number| sum.add(*number));
            numbers.iter().for_each(|number| sum.add(-number));
            prop_assert_eq!(sum.digits, [0; DIGITS]);
            prop_assert_eq!(sum.value().to_bits(), 0);
            for number in numbers {
                sum.add(number);
                prop_assert_eq!(sum.value(), number);
                sum.add(-number);
            }
        }
    }

    #[test]
    fn sums_at_the_ends_of_the_range() {
        assert_eq!(sum(&[]).to_bits(), 0);
        assert_eq!(sum(&[-0.0, -0.0]).to_bits(), 0);
        assert_eq!(sum(&[-1.0]), -1.0);
        assert_eq!(sum(&[0.1, -0.3]), -0.199_999_999_999_999_98);
        assert_eq!(sum(&[5e-324, 5e-324]), 1e-323);
        assert_eq!(sum(&[f64::MIN_POSITIVE, -5e-324]), f64::MIN_POSITIVE.next_down());
        assert_eq!(sum(&[1e300, 1.0, -1e300, 5e-324]), 1.0);
        assert_eq!(sum(&[f64::MAX, f64::MAX]), f64::INFINITY);
        assert_eq!(sum(&[f64::MIN, f64::MIN]), f64::NEG_INFINITY);
        assert_eq!(sum(&[f64::MAX, f64::MAX, f64::MIN]), f64::MAX);
        // Half of the last bit of the greatest number rounds up, and less does not.
        let half = power_of_two(970);
        assert_eq!(sum(&[f64::MAX, half]), f64::INFINITY);
        assert_eq!(sum(&[f64::MAX, half, -5e-324]), f64::MAX);
    }

    #[test]
    fn half_of_the_last_bit_rounds_to_even_unless_there_is_more() {
        let half = f64::EPSILON / 2.0;
        for sign in [1.0, -1.0] {
            let rounded = |numbers: &[f64]| sign * sum(&numbers.iter().map(|n| sign * n).collect::<Vec<_>>());
            assert_eq!(rounded(&[1.0, half]), 1.0);
            assert_eq!(rounded(&[1.0, half, 1e-300]), 1.0 + f64::EPSILON);
            assert_eq!(rounded(&[1.0 + f64::EPSILON, half]), 1.0 + 2.0 * f64::EPSILON);
            assert_eq!(rounded(&[1.0 + f64::EPSILON, half, -1e-300]), 1.0 + f64::EPSILON);
        }
    }

    #[test]
    fn a_million_numbers_are_added_as_exactly_as_one() {
        let mut sum = ExactSum::new();
        (0..1_000_000).for_each(|_| sum.add(f64::MAX));
        (0..999_999).for_each(|_| sum.add(f64::MIN));
        assert_eq!(sum.value(), f64::MAX);
    }
}

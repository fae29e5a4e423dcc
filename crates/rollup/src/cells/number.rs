//! Numbers in the type of their metric: integers stay integers, so that 64 bits are not rounded.

use oasis_wire::schema::MetricType;
use std::cmp::Ordering;

/// One number of a sample.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Number {
    /// A value of a signed type.
    Int(i64),
    /// A value of an unsigned type, or a boolean (0 and 1).
    Uint(u64),
    /// A value of `real32`.
    Real32(f32),
    /// A value of `real64`.
    Real64(f64),
}

impl Number {
    /// Converts the 64 bits of a column of this type.
    pub fn from_bits(bits: u64, kind: &MetricType) -> Self {
        match kind {
            MetricType::Int8 | MetricType::Int16 | MetricType::Int32 | MetricType::Int64 => {
                Self::Int(bits as i64)
            }
            MetricType::Real32 => Self::Real32(f32::from_bits(bits as u32)),
            MetricType::Real64 => Self::Real64(f64::from_bits(bits)),
            MetricType::Uint8
            | MetricType::Uint16
            | MetricType::Uint32
            | MetricType::Uint64
            | MetricType::Boolean
            | MetricType::String
            | MetricType::Vector(_)
            | MetricType::Struct(_)
            | MetricType::Blob(_) => Self::Uint(bits),
        }
    }

    /// The nearest `real64`.
    pub fn real(self) -> f64 {
        match self {
            Self::Int(value) => value as f64,
            Self::Uint(value) => value as f64,
            Self::Real32(value) => value.into(),
            Self::Real64(value) => value,
        }
    }

    /// Compares two numbers; exactly if they have the same type.
    pub fn order(self, other: Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Int(one), Self::Int(other)) => Some(one.cmp(&other)),
            (Self::Uint(one), Self::Uint(other)) => Some(one.cmp(&other)),
            (one, other) => one.real().partial_cmp(&other.real()),
        }
    }

    /// The increase of a counter between two readings. A counter that decreased was reset to 0.
    pub fn counted(from: Self, to: Self) -> Self {
        match (from, to) {
            (Self::Uint(from), Self::Uint(to)) => Self::Uint(if to >= from { to - from } else { to }),
            (Self::Int(from), Self::Int(to)) => {
                Self::Uint(if to >= from { to.abs_diff(from) } else { to.max(0).unsigned_abs() })
            }
            (from, to) => {
                let (from, to) = (from.real(), to.real());
                let counted = if to >= from { to - from } else { to };
                Self::Real64(if counted.is_finite() { counted } else { 0.0 })
            }
        }
    }

    /// Adds increases of a counter.
    pub fn plus(self, more: Self) -> Self {
        match (self, more) {
            (Self::Uint(some), Self::Uint(more)) => Self::Uint(some.saturating_add(more)),
            (some, more) => Self::Real64(some.real() + more.real()),
        }
    }
}

/// The four types that a column of numbers can have.
pub trait Scalar: Copy + PartialOrd {
    /// The type of sums: integers are not rounded.
    type Sum: Copy + Default;
    /// Converts the 64 bits of a column.
    fn from_bits(bits: u64) -> Self;
    /// As a number.
    fn number(self) -> Number;
    /// Adds it to a sum.
    fn add_to(self, sum: &mut Self::Sum);
    /// The `real64` nearest to a sum.
    fn real_of(sum: Self::Sum) -> f64;
    /// Whether it is NaN.
    fn is_nan(self) -> bool {
        false
    }
}

impl Scalar for i64 {
    type Sum = i128;
    fn from_bits(bits: u64) -> Self {
        bits as Self
    }
    fn number(self) -> Number {
        Number::Int(self)
    }
    fn add_to(self, sum: &mut i128) {
        *sum += i128::from(self);
    }
    fn real_of(sum: i128) -> f64 {
        sum as f64
    }
}

impl Scalar for u64 {
    type Sum = u128;
    fn from_bits(bits: u64) -> Self {
        bits
    }
    fn number(self) -> Number {
        Number::Uint(self)
    }
    fn add_to(self, sum: &mut u128) {
        *sum += u128::from(self);
    }
    fn real_of(sum: u128) -> f64 {
        sum as f64
    }
}

impl Scalar for f32 {
    type Sum = f64;
    fn from_bits(bits: u64) -> Self {
        Self::from_bits(bits as u32)
    }
    fn number(self) -> Number {
        Number::Real32(self)
    }
    fn add_to(self, sum: &mut f64) {
        *sum += f64::from(self);
    }
    fn real_of(sum: f64) -> f64 {
        sum
    }
    fn is_nan(self) -> bool {
        self.is_nan()
    }
}

impl Scalar for f64 {
    type Sum = f64;
    fn from_bits(bits: u64) -> Self {
        Self::from_bits(bits)
    }
    fn number(self) -> Number {
        Number::Real64(self)
    }
    fn add_to(self, sum: &mut f64) {
        *sum += self;
    }
    fn real_of(sum: f64) -> f64 {
        sum
    }
    fn is_nan(self) -> bool {
        self.is_nan()
    }
}

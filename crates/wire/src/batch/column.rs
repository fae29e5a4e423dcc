//! The content of a column, and the encodings that suit it.

use crate::schema::MetricType;
use alloc::vec::Vec;

/// The encoding of a column's bytes. The codes are those of the directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Encoding {
    /// Values in their memory layout.
    Plain = 0,
    /// Runs of zero deltas, varint deltas.
    Delta = 1,
    /// Deltas from the mean step, Golomb-Rice.
    Rice = 2,
    /// Runs of equal reals, varint XORs.
    Xor = 3,
    /// Packed values one after another.
    Rows = 4,
    /// One integer that all samples share.
    Constant = 5,
}

impl Encoding {
    pub(super) fn from_code(code: u8) -> Option<Self> {
        Some(match code {
            0 => Self::Plain,
            1 => Self::Delta,
            2 => Self::Rice,
            3 => Self::Xor,
            4 => Self::Rows,
            5 => Self::Constant,
            _ => return None,
        })
    }

    /// Whether a column of this type may be encoded so; `None` is the time column.
    pub(super) fn suits(self, kind: Option<&MetricType>) -> bool {
        matches!(
            (self, kind.map_or(Shape::TIME, Shape::of)),
            (Self::Plain, Shape::Integer { .. } | Shape::Real { .. })
                | (Self::Delta | Self::Rice | Self::Constant, Shape::Integer { .. })
                | (Self::Xor, Shape::Real { .. })
                | (Self::Rows, Shape::Rows)
        )
    }
}

/// The three kinds of columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// 64 bits, widened by sign or by zeros.
    Integer { width: u8, signed: bool, boolean: bool },
    /// IEEE 754 bits.
    Real { width: u8 },
    /// Packed bytes.
    Rows,
}

impl Shape {
    pub(super) const TIME: Self = Self::Integer { width: 8, signed: true, boolean: false };

    pub(super) fn of(kind: &MetricType) -> Self {
        let integer = |width, signed| Self::Integer { width, signed, boolean: false };
        match kind {
            MetricType::Int8 => integer(1, true),
            MetricType::Int16 => integer(2, true),
            MetricType::Int32 => integer(4, true),
            MetricType::Int64 => integer(8, true),
            MetricType::Uint8 => integer(1, false),
            MetricType::Uint16 => integer(2, false),
            MetricType::Uint32 => integer(4, false),
            MetricType::Uint64 => integer(8, false),
            MetricType::Boolean => Self::Integer { width: 1, signed: false, boolean: true },
            MetricType::Real32 => Self::Real { width: 4 },
            MetricType::Real64 => Self::Real { width: 8 },
            MetricType::String | MetricType::Vector(_) | MetricType::Struct(_) | MetricType::Blob(_) => {
                Self::Rows
            }
        }
    }

    /// Bytes of one plain value; 0 for rows.
    pub(super) fn width(self) -> usize {
        match self {
            Self::Integer { width, .. } | Self::Real { width } => width.into(),
            Self::Rows => 0,
        }
    }

    /// Whether a widened value fits this type.
    pub(super) fn holds(self, value: u64) -> bool {
        match self {
            Self::Integer { boolean: true, .. } => value <= 1,
            Self::Integer { width: 8, .. } | Self::Real { .. } | Self::Rows => true,
            Self::Integer { width, signed: false, .. } => value >> (u32::from(width) * 8) == 0,
            Self::Integer { width, signed: true, .. } => {
                let unused = 64 - u32::from(width) * 8;
                ((value << unused) as i64 >> unused) as u64 == value
            }
        }
    }

    /// Widens little-endian bytes of this width.
    #[inline]
    pub(super) fn widen(self, bytes: &[u8]) -> u64 {
        let mut wide = [0; 8];
        wide[..bytes.len()].copy_from_slice(bytes);
        let value = u64::from_le_bytes(wide);
        match self {
            Self::Integer { signed: true, .. } => {
                let unused = 64 - bytes.len() as u32 * 8;
                ((value << unused) as i64 >> unused) as u64
            }
            _ => value,
        }
    }

    /// Widens one column of samples that lie one after another, `stride` bytes each. Appends nothing for rows.
    pub(super) fn gather(self, samples: &[u8], stride: usize, place: usize, values: &mut Vec<u64>) {
        values.clear();
        match self {
            Self::Integer { width: 1, signed: true, .. } => {
                pick(samples, stride, place, values, |bytes| i8::from_le_bytes(bytes) as u64);
            }
            Self::Integer { width: 2, signed: true, .. } => {
                pick(samples, stride, place, values, |bytes| i16::from_le_bytes(bytes) as u64);
            }
            Self::Integer { width: 4, signed: true, .. } => {
                pick(samples, stride, place, values, |bytes| i32::from_le_bytes(bytes) as u64);
            }
            Self::Integer { width: 1, .. } => pick(samples, stride, place, values, |[byte]| byte.into()),
            Self::Integer { width: 2, .. } => {
                pick(samples, stride, place, values, |bytes| u16::from_le_bytes(bytes).into());
            }
            Self::Integer { width: 4, .. } | Self::Real { width: 4 } => {
                pick(samples, stride, place, values, |bytes| u32::from_le_bytes(bytes).into());
            }
            Self::Integer { .. } | Self::Real { .. } => {
                pick(samples, stride, place, values, u64::from_le_bytes)
            }
            Self::Rows => {}
        }
    }
}

#[inline(always)]
fn pick<const W: usize>(
    samples: &[u8],
    stride: usize,
    place: usize,
    values: &mut Vec<u64>,
    widen: impl Fn([u8; W]) -> u64,
) {
    let value = |sample: &[u8]| sample[place..].first_chunk().map_or(0, |bytes| widen(*bytes));
    values.extend(samples.chunks_exact(stride).map(value));
}

//! Types of fields that can be metrics: what `#[derive(Probe)]` builds on.

use crate::{Malformed, Reader, RowWriter};
use oasis_wire::{
    primitive::{Class, Primitive},
    schema::{DEFAULT_BLOB_BYTES, MediaType},
};
use std::borrow::Cow;

pub use crate::schema_text::{Text, text};
pub use oasis_wire::identity;

/// A field of a struct with `#[derive(Probe)]` or `#[derive(ProbeStruct)]`.
///
/// Derived by `ProbeEnum` and `ProbeStruct`, and implemented for the types that PDL has.
#[diagnostic::on_unimplemented(
    message = "a field of type `{Self}` cannot be a metric",
    label = "not a metric",
    note = "metrics are `bool`, `i8` to `i64`, `u8` to `u64`, `f32`, `f64`, `String`, and a `Vec` or an array of them",
    note = "an image is an `oasis_probe::Jpeg` or `oasis_probe::Png`",
    note = "an enum needs `#[derive(ProbeEnum)]`, a struct inside a probe `#[derive(ProbeStruct)]`",
    note = "leave the field out of the samples with `#[probe(skip)]`"
)]
pub trait Field: Sized {
    /// The type in the schema, as JSON.
    const TYPE: Text;
    /// The member `enum` of a metric of this type with a comma before it, or nothing.
    const ENUM: Text = Text::Str("");
    /// Which limits a metric of this type can have.
    const LIMITS: LimitKind = LimitKind::None;

    /// Appends the value to a row.
    fn write(&self, row: &mut RowWriter<'_>);

    /// Reads a value from a row.
    ///
    /// # Errors
    /// Any error of [`Reader`]; [`Malformed::Range`] for an undeclared number of an enum, and for an array of another length.
    fn read(row: &mut Reader<'_>) -> Result<Self, Malformed>;
}

/// The limits that a metric can have.
#[derive(Debug, Clone, Copy)]
pub enum LimitKind {
    /// None: a text, a boolean, a struct.
    None,
    /// Whole numbers in this range.
    Integers(i128, i128),
    /// Numbers up to this one.
    Reals(f64),
    /// Enumerators.
    Enumerators,
}

impl LimitKind {
    /// Returns whether a whole number can be a limit.
    pub const fn fits_integer(self, limit: i128) -> bool {
        match self {
            Self::Integers(min, max) => min <= limit && limit <= max,
            Self::Reals(_) => true,
            Self::None | Self::Enumerators => false,
        }
    }

    /// Returns whether a number with a point or an exponent can be a limit.
    pub const fn fits_real(self, limit: f64) -> bool {
        match self {
            Self::Reals(max) => -max <= limit && limit <= max,
            Self::None | Self::Integers(..) | Self::Enumerators => false,
        }
    }

    /// Returns whether enumerators can be limits.
    pub const fn is_enum(self) -> bool {
        matches!(self, Self::Enumerators)
    }

    const fn of(primitive: Primitive, max: f64) -> Self {
        match primitive.row().class {
            Class::Integer { min, max } => Self::Integers(min, max),
            Class::Real => Self::Reals(max),
            Class::Boolean | Class::Text => Self::None,
        }
    }
}

macro_rules! numbers {
    ($($kind:ident: $row:ident, $max:expr;)*) => {$(
        impl Field for $kind {
            const TYPE: Text = Text::Quoted(Primitive::$row.name());
            const LIMITS: LimitKind = LimitKind::of(Primitive::$row, $max);

            #[inline]
            fn write(&self, row: &mut RowWriter<'_>) {
                row.$kind(*self);
            }

            #[inline]
            fn read(row: &mut Reader<'_>) -> Result<Self, Malformed> {
                row.array().map(Self::from_le_bytes)
            }
        }
    )*};
}

numbers! {
    i8: Int8, 0.0;
    i16: Int16, 0.0;
    i32: Int32, 0.0;
    i64: Int64, 0.0;
    u8: Uint8, 0.0;
    u16: Uint16, 0.0;
    u32: Uint32, 0.0;
    u64: Uint64, 0.0;
    f32: Real32, f32::MAX as f64;
    f64: Real64, f64::MAX;
}

impl Field for bool {
    const TYPE: Text = Text::Quoted(Primitive::Boolean.name());

    #[inline]
    fn write(&self, row: &mut RowWriter<'_>) {
        row.boolean(*self);
    }

    #[inline]
    fn read(row: &mut Reader<'_>) -> Result<Self, Malformed> {
        row.boolean()
    }
}

impl Field for String {
    const TYPE: Text = Text::Quoted(Primitive::String.name());

    #[inline]
    fn write(&self, row: &mut RowWriter<'_>) {
        row.string(self);
    }

    #[inline]
    fn read(row: &mut Reader<'_>) -> Result<Self, Malformed> {
        row.text().map(Cow::into_owned)
    }
}

macro_rules! images {
    ($($(#[$doc:meta])* $name:ident: $format:ident;)*) => {$(
        $(#[$doc])*
        ///
        /// A sample with a larger file is dropped, counted and logged. Only a whole metric can be one, not the element of a vector or the member of a
        /// struct.
        #[derive(Debug, Clone, Default, PartialEq, Eq)]
        pub struct $name<const MAX_BYTES: u32 = DEFAULT_BLOB_BYTES>(pub Vec<u8>);

        impl<const MAX_BYTES: u32> Field for $name<MAX_BYTES> {
            const TYPE: Text = Text::All(&[
                Text::Str(r#"{"blob":{"media_type":"#),
                Text::Quoted(MediaType::$format.name()),
                Text::Str(r#","max_bytes":"#),
                Text::Integer(MAX_BYTES as i64),
                Text::Str("}}"),
            ]);

            #[inline]
            fn write(&self, row: &mut RowWriter<'_>) {
                row.blob(&self.0);
            }

            #[inline]
            fn read(row: &mut Reader<'_>) -> Result<Self, Malformed> {
                row.blob(MAX_BYTES).map(|bytes| Self(bytes.into()))
            }
        }
    )*};
}

images! {
    /// The bytes of a JPEG file, at most `MAX_BYTES`: a metric of the type `blob<image/jpeg>`.
    Jpeg: Jpeg;
    /// The bytes of a PNG file, at most `MAX_BYTES`: a metric of the type `blob<image/png>`.
    Png: Png;
}

impl<T: Field> Field for Vec<T> {
    const TYPE: Text = Text::All(&[Text::Str(r#"{"vector":"#), T::TYPE, Text::Str("}")]);
    const ENUM: Text = T::ENUM;
    const LIMITS: LimitKind = T::LIMITS;

    #[inline]
    fn write(&self, row: &mut RowWriter<'_>) {
        row.vector(self.len());
        self.iter().for_each(|element| element.write(row));
    }

    #[inline]
    fn read(row: &mut Reader<'_>) -> Result<Self, Malformed> {
        (0..row.count()?).map(|_| T::read(row)).collect()
    }
}

/// A vector that always has the same number of elements: PDL has no arrays of fixed size.
impl<T: Field, const N: usize> Field for [T; N] {
    const TYPE: Text = <Vec<T> as Field>::TYPE;
    const ENUM: Text = T::ENUM;
    const LIMITS: LimitKind = T::LIMITS;

    #[inline]
    fn write(&self, row: &mut RowWriter<'_>) {
        row.vector(N);
        self.iter().for_each(|element| element.write(row));
    }

    #[inline]
    fn read(row: &mut Reader<'_>) -> Result<Self, Malformed> {
        let at = row.at();
        if row.count()? != N {
            return Err(Malformed::Range { at });
        }
        let elements = (0..N).map(|_| T::read(row)).collect::<Result<Vec<_>, _>>()?;
        elements.try_into().map_err(|_| Malformed::Range { at })
    }
}

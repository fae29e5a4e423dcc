//! The values of a row.

use super::plan::Plan;
use crate::input::json::values::{AbsentValue, Differences, Step};
use arrow_array::{
    Array, ArrowPrimitiveType,
    cast::AsArray,
    types::{
        Decimal128Type, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
        UInt8Type, UInt16Type, UInt32Type, UInt64Type,
    },
};
use arrow_schema::{DataType, TimeUnit};
use oasis_wire::{
    schema::{EnumType, MetricType},
    value::RowWriter,
};

/// Largest magnitude of a decimal whose digits a real keeps.
const MAX_EXACT: u128 = 1 << 53;

/// Whether a row has a value.
pub fn is_present(array: &dyn Array, at: usize) -> bool {
    text(array, at).is_some() || integer(array, at).is_some() || real(array, at).is_some()
}

/// Returns a text; `None` if it is absent, or no text.
pub fn text(array: &dyn Array, at: usize) -> Option<&str> {
    if array.is_null(at) {
        return None;
    }
    match array.data_type() {
        DataType::Utf8 => Some(array.as_string::<i32>().value(at)),
        DataType::LargeUtf8 => Some(array.as_string::<i64>().value(at)),
        DataType::Utf8View => Some(array.as_string_view().value(at)),
        DataType::Dictionary(..) => {
            let (values, at) = dictionary(array, at)?;
            text(values, at)
        }
        _ => None,
    }
}

/// Returns the values of a dictionary, and the place of one.
fn dictionary(array: &dyn Array, at: usize) -> Option<(&dyn Array, usize)> {
    let of = array.as_any_dictionary_opt()?;
    let key = usize::try_from(integer(of.keys(), at)?).ok()?;
    let values = &**of.values();
    (key < values.len()).then_some((values, key))
}

/// Returns a whole number; `None` if it is absent, or of another type.
pub fn integer(array: &dyn Array, at: usize) -> Option<i128> {
    if array.is_null(at) {
        return None;
    }
    Some(match array.data_type() {
        DataType::Int8 => primitive::<Int8Type>(array, at)?.into(),
        DataType::Int16 => primitive::<Int16Type>(array, at)?.into(),
        DataType::Int32 => primitive::<Int32Type>(array, at)?.into(),
        DataType::Int64 => primitive::<Int64Type>(array, at)?.into(),
        DataType::UInt8 => primitive::<UInt8Type>(array, at)?.into(),
        DataType::UInt16 => primitive::<UInt16Type>(array, at)?.into(),
        DataType::UInt32 => primitive::<UInt32Type>(array, at)?.into(),
        DataType::UInt64 => primitive::<UInt64Type>(array, at)?.into(),
        DataType::Dictionary(..) => {
            let (values, at) = dictionary(array, at)?;
            return integer(values, at);
        }
        _ => return temporal(array, at).map(Into::into),
    })
}

/// Returns the number of a date, a time or a duration.
fn temporal(array: &dyn Array, at: usize) -> Option<i64> {
    use arrow_array::types as of;
    Some(match array.data_type() {
        DataType::Date32 => primitive::<of::Date32Type>(array, at)?.into(),
        DataType::Date64 => primitive::<of::Date64Type>(array, at)?,
        DataType::Time32(TimeUnit::Second) => primitive::<of::Time32SecondType>(array, at)?.into(),
        DataType::Time32(_) => primitive::<of::Time32MillisecondType>(array, at)?.into(),
        DataType::Time64(TimeUnit::Microsecond) => primitive::<of::Time64MicrosecondType>(array, at)?,
        DataType::Time64(_) => primitive::<of::Time64NanosecondType>(array, at)?,
        DataType::Timestamp(unit, _) => match unit {
            TimeUnit::Second => primitive::<of::TimestampSecondType>(array, at)?,
            TimeUnit::Millisecond => primitive::<of::TimestampMillisecondType>(array, at)?,
            TimeUnit::Microsecond => primitive::<of::TimestampMicrosecondType>(array, at)?,
            TimeUnit::Nanosecond => primitive::<of::TimestampNanosecondType>(array, at)?,
        },
        DataType::Duration(unit) => match unit {
            TimeUnit::Second => primitive::<of::DurationSecondType>(array, at)?,
            TimeUnit::Millisecond => primitive::<of::DurationMillisecondType>(array, at)?,
            TimeUnit::Microsecond => primitive::<of::DurationMicrosecondType>(array, at)?,
            TimeUnit::Nanosecond => primitive::<of::DurationNanosecondType>(array, at)?,
        },
        _ => return None,
    })
}

/// Returns a real; `None` if it is absent, or of another type.
pub fn real(array: &dyn Array, at: usize) -> Option<f64> {
    if array.is_null(at) {
        return None;
    }
    match array.data_type() {
        DataType::Float16 => primitive::<Float16Type>(array, at).map(Into::into),
        DataType::Float32 => primitive::<Float32Type>(array, at).map(Into::into),
        DataType::Float64 => primitive::<Float64Type>(array, at),
        DataType::Dictionary(..) => dictionary(array, at).and_then(|(values, at)| real(values, at)),
        _ => None,
    }
}

fn primitive<T: ArrowPrimitiveType>(array: &dyn Array, at: usize) -> Option<T::Native> {
    array.as_primitive_opt::<T>().map(|array| array.value(at))
}

/// Returns a decimal, and whether it is exact.
fn decimal(array: &dyn Array, at: usize) -> Option<(f64, bool)> {
    if array.is_null(at) {
        return None;
    }
    let (digits, scale) = match array.data_type() {
        DataType::Decimal128(_, scale) => (primitive::<Decimal128Type>(array, at)?, i32::from(*scale)),
        DataType::Dictionary(..) => {
            let (values, at) = dictionary(array, at)?;
            return decimal(values, at);
        }
        _ => return None,
    };
    // The parser rounds once, a division of a rounded number twice.
    let real = format!("{digits}e{}", -scale).parse().unwrap_or(f64::NAN);
    Some((real, digits.unsigned_abs() <= MAX_EXACT))
}

/// Writes values of rows, and collects the absent ones.
#[derive(Debug, Default)]
pub struct Cells {
    pub differences: Differences,
    /// Names of enumerators that the type does not have.
    pub unknown_names: u64,
    place: Vec<Step>,
}

impl Cells {
    /// Empties the differences for the next row.
    pub fn begin(&mut self) {
        self.differences.absent.clear();
        self.differences.rounded.clear();
    }

    /// Writes the value of the metric with this index.
    pub fn metric(
        &mut self,
        metric: usize,
        kind: &MetricType,
        column: Option<(&dyn Array, &Plan)>,
        at: usize,
        to: &mut RowWriter<'_>,
    ) {
        self.place.clear();
        self.place.push(Step::Member(metric));
        match column {
            Some((array, plan)) => self.value(kind, plan, array, at, to),
            None => empty(kind, to),
        }
    }

    fn value(
        &mut self,
        kind: &MetricType,
        plan: &Plan,
        array: &dyn Array,
        at: usize,
        to: &mut RowWriter<'_>,
    ) {
        if array.is_null(at) {
            return self.absent(kind, to);
        }
        match (plan, kind) {
            (Plan::Enum(of), kind) => match text(array, at) {
                Some(name) => self.enumerator(of, name, kind, to),
                None => self.absent(kind, to),
            },
            (Plan::Struct(plans), MetricType::Struct(of)) => {
                let columns = array.as_struct_opt().map(|array| array.columns()).unwrap_or_default();
                for (index, (member, plan)) in of.members.iter().zip(plans).enumerate() {
                    self.place.push(Step::Member(index));
                    match plan.as_ref().and_then(|(column, plan)| Some((columns.get(*column)?, plan))) {
                        Some((column, plan)) => self.value(&member.kind, plan, &**column, at, to),
                        None => empty(&member.kind, to),
                    }
                    self.place.pop();
                }
            }
            (Plan::List(plan), MetricType::Vector(kind)) => match elements(array, at) {
                Some((elements, from, end)) => {
                    to.vector(end - from);
                    for at in from..end {
                        self.place.push(Step::Element(at - from));
                        self.value(kind, plan, elements, at, to);
                        self.place.pop();
                    }
                }
                None => to.vector(0),
            },
            (_, kind) => self.plain(kind, array, at, to),
        }
    }

    fn plain(&mut self, kind: &MetricType, array: &dyn Array, at: usize, to: &mut RowWriter<'_>) {
        match kind {
            MetricType::String => match text(array, at) {
                Some(text) => to.string(text),
                None => self.absent(kind, to),
            },
            MetricType::Blob(of) => match blob(array, at).filter(|bytes| of.holds(bytes.len())) {
                Some(bytes) => to.blob(bytes),
                None => self.absent(kind, to),
            },
            MetricType::Boolean => match array.as_boolean_opt() {
                Some(array) => to.boolean(array.value(at)),
                None => self.absent(kind, to),
            },
            MetricType::Real32 => match real(array, at) {
                Some(real) => to.f32(real as f32),
                None => self.absent(kind, to),
            },
            MetricType::Real64 => {
                match real(array, at).map(|real| (real, true)).or_else(|| decimal(array, at)) {
                    Some((real, is_exact)) => {
                        to.f64(real);
                        if !is_exact {
                            self.differences.rounded.push(self.place.clone());
                        }
                    }
                    None => self.absent(kind, to),
                }
            }
            MetricType::Int8
            | MetricType::Int16
            | MetricType::Int32
            | MetricType::Int64
            | MetricType::Uint8
            | MetricType::Uint16
            | MetricType::Uint32
            | MetricType::Uint64 => match integer(array, at) {
                Some(number) => write_integer(kind, number, to),
                None => self.absent(kind, to),
            },
            // Their plans have elements and members.
            MetricType::Vector(_) | MetricType::Struct(_) => self.absent(kind, to),
        }
    }

    fn enumerator(&mut self, of: &EnumType, name: &str, kind: &MetricType, to: &mut RowWriter<'_>) {
        let known = of.values.iter().find(|known| known.name == name).map(|known| i128::from(known.value));
        match known.or_else(|| name.parse().ok()) {
            Some(number) => write_integer(kind, number, to),
            None => {
                self.unknown_names += 1;
                write_integer(kind, 0, to);
            }
        }
    }

    /// Writes a placeholder.
    fn absent(&mut self, kind: &MetricType, to: &mut RowWriter<'_>) {
        if let MetricType::Struct(of) = kind {
            for (index, member) in of.members.iter().enumerate() {
                self.place.push(Step::Member(index));
                self.absent(&member.kind, to);
                self.place.pop();
            }
            return;
        }
        let is_nan = matches!(kind, MetricType::Real32 | MetricType::Real64);
        self.differences.absent.push(AbsentValue { place: self.place.clone(), is_nan });
        empty(kind, to);
    }
}

/// Writes NaN, zero, false or an empty value.
fn empty(kind: &MetricType, to: &mut RowWriter<'_>) {
    match kind {
        MetricType::Real32 => to.f32(f32::NAN),
        MetricType::Real64 => to.f64(f64::NAN),
        MetricType::Boolean => to.boolean(false),
        MetricType::String => to.string(""),
        MetricType::Blob(_) => to.blob(&[]),
        MetricType::Vector(_) => to.vector(0),
        MetricType::Struct(of) => of.members.iter().for_each(|member| empty(&member.kind, to)),
        MetricType::Int8
        | MetricType::Int16
        | MetricType::Int32
        | MetricType::Int64
        | MetricType::Uint8
        | MetricType::Uint16
        | MetricType::Uint32
        | MetricType::Uint64 => write_integer(kind, 0, to),
    }
}

fn write_integer(kind: &MetricType, number: i128, to: &mut RowWriter<'_>) {
    match kind {
        MetricType::Int8 => to.i8(number as i8),
        MetricType::Int16 => to.i16(number as i16),
        MetricType::Int32 => to.i32(number as i32),
        MetricType::Uint8 => to.u8(number as u8),
        MetricType::Uint16 => to.u16(number as u16),
        MetricType::Uint32 => to.u32(number as u32),
        MetricType::Uint64 => to.u64(number as u64),
        MetricType::Int64
        | MetricType::Real32
        | MetricType::Real64
        | MetricType::Boolean
        | MetricType::String
        | MetricType::Vector(_)
        | MetricType::Struct(_)
        | MetricType::Blob(_) => to.i64(number as i64),
    }
}

/// Returns the bytes of a value. Other programs write exports anew with other binary types.
fn blob(array: &dyn Array, at: usize) -> Option<&[u8]> {
    if array.is_null(at) {
        return None;
    }
    match array.data_type() {
        DataType::Binary => Some(array.as_binary_opt::<i32>()?.value(at)),
        DataType::LargeBinary => Some(array.as_binary_opt::<i64>()?.value(at)),
        DataType::BinaryView => Some(array.as_binary_view_opt()?.value(at)),
        _ => None,
    }
}

/// Returns the array of a list's elements, and their places in it.
fn elements(array: &dyn Array, at: usize) -> Option<(&dyn Array, usize, usize)> {
    let (values, from, end) = match array.data_type() {
        DataType::List(_) => {
            let list = array.as_list_opt::<i32>()?;
            let ends = list.value_offsets();
            (list.values(), usize::try_from(*ends.get(at)?).ok()?, usize::try_from(*ends.get(at + 1)?).ok()?)
        }
        DataType::LargeList(_) => {
            let list = array.as_list_opt::<i64>()?;
            let ends = list.value_offsets();
            (list.values(), usize::try_from(*ends.get(at)?).ok()?, usize::try_from(*ends.get(at + 1)?).ok()?)
        }
        DataType::FixedSizeList(..) => {
            let list = array.as_fixed_size_list_opt()?;
            let length = usize::try_from(list.value_length()).ok()?;
            (list.values(), at * length, (at + 1) * length)
        }
        _ => return None,
    };
    (from <= end && end <= values.len()).then_some((&**values, from, end))
}

/// Whether values of an array are absent that cannot be NaN.
pub fn needs_absent(kind: &MetricType, array: &dyn Array) -> bool {
    let has_null = array.logical_null_count() > 0;
    match kind {
        MetricType::Real32 | MetricType::Real64 => false,
        MetricType::Struct(of) => {
            let columns = array.as_struct_opt().map(|array| array.columns()).unwrap_or_default();
            // Members without a metric only make the answer cautious.
            has_null || of.members.len() != columns.len() || {
                of.members.iter().zip(columns).any(|(member, column)| needs_absent(&member.kind, &**column))
            }
        }
        MetricType::Vector(element) => {
            has_null || {
                let values = match array.data_type() {
                    DataType::List(_) => array.as_list_opt::<i32>().map(|list| list.values()),
                    DataType::LargeList(_) => array.as_list_opt::<i64>().map(|list| list.values()),
                    _ => array.as_fixed_size_list_opt().map(|list| list.values()),
                };
                values.is_some_and(|values| needs_absent(element, &**values))
            }
        }
        MetricType::Int8
        | MetricType::Int16
        | MetricType::Int32
        | MetricType::Int64
        | MetricType::Uint8
        | MetricType::Uint16
        | MetricType::Uint32
        | MetricType::Uint64
        | MetricType::Boolean
        | MetricType::String
        | MetricType::Blob(_) => has_null,
    }
}

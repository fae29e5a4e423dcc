//! One column of a record batch while it grows.

use super::schema::{element, fields, has_values};
use arrow_array::{
    ArrayRef, ListArray, StructArray,
    builder::{
        BinaryBuilder, BooleanBuilder, Float32Builder, Float64Builder, Int8Builder, Int16Builder,
        Int32Builder, Int64Builder, StringBuilder, StringDictionaryBuilder, UInt8Builder, UInt16Builder,
        UInt32Builder, UInt64Builder,
    },
    types::Int32Type,
};
use arrow_buffer::{NullBufferBuilder, OffsetBuffer, ScalarBuffer};
use arrow_schema::{ArrowError, Field, Fields};
use oasis_wire::{
    absence::Within,
    schema::{EnumType, MetricType},
    value::Value,
};
use std::sync::Arc;

/// Values of one type.
pub enum Column {
    Int8(Int8Builder),
    Int16(Int16Builder),
    Int32(Int32Builder),
    Int64(Int64Builder),
    Uint8(UInt8Builder),
    Uint16(UInt16Builder),
    Uint32(UInt32Builder),
    Uint64(UInt64Builder),
    Real32(Float32Builder),
    Real64(Float64Builder),
    Boolean(BooleanBuilder),
    Text(StringBuilder),
    Blob(BinaryBuilder),
    Enum(Box<(EnumType, StringDictionaryBuilder<Int32Type>)>),
    List {
        field: Arc<Field>,
        element: Box<Column>,
        ends: Vec<i32>,
        elements: usize,
        present: NullBufferBuilder,
    },
    Struct {
        fields: Fields,
        members: Vec<(usize, Column)>,
        length: usize,
        present: NullBufferBuilder,
    },
}

impl Column {
    /// Creates an empty column. `is_nullable` says whether samples can lack values.
    pub fn new(kind: &MetricType, enumeration: Option<&EnumType>, is_nullable: bool) -> Self {
        match (kind, enumeration) {
            (MetricType::Vector(of), _) => Self::List {
                field: element(of, enumeration, is_nullable),
                element: Box::new(Self::new(of, enumeration, is_nullable)),
                ends: vec![0],
                elements: 0,
                present: NullBufferBuilder::new(0),
            },
            (MetricType::Struct(of), _) => {
                let with_values =
                    of.members.iter().enumerate().filter(|(_, member)| has_values(&member.kind));
                let members = with_values.map(|(at, member)| {
                    (at, Self::new(&member.kind, member.enumeration.as_ref(), is_nullable))
                });
                Self::Struct {
                    fields: fields(&of.members, is_nullable),
                    members: members.collect(),
                    length: 0,
                    present: NullBufferBuilder::new(0),
                }
            }
            (integer, Some(of)) if integer.is_integer() => {
                Self::Enum(Box::new((of.clone(), StringDictionaryBuilder::new())))
            }
            (MetricType::Int8, _) => Self::Int8(Int8Builder::new()),
            (MetricType::Int16, _) => Self::Int16(Int16Builder::new()),
            (MetricType::Int32, _) => Self::Int32(Int32Builder::new()),
            (MetricType::Int64, _) => Self::Int64(Int64Builder::new()),
            (MetricType::Uint8, _) => Self::Uint8(UInt8Builder::new()),
            (MetricType::Uint16, _) => Self::Uint16(UInt16Builder::new()),
            (MetricType::Uint32, _) => Self::Uint32(UInt32Builder::new()),
            (MetricType::Uint64, _) => Self::Uint64(UInt64Builder::new()),
            (MetricType::Real32, _) => Self::Real32(Float32Builder::new()),
            (MetricType::Real64, _) => Self::Real64(Float64Builder::new()),
            (MetricType::Boolean, _) => Self::Boolean(BooleanBuilder::new()),
            (MetricType::String, _) => Self::Text(StringBuilder::new()),
            (MetricType::Blob(_), _) => Self::Blob(BinaryBuilder::new()),
        }
    }

    /// Appends a value of its type, or null if it is absent. Returns its approximate size in bytes.
    pub fn append(&mut self, value: &Value, absent: Within<'_>) -> usize {
        if absent.is_absent() {
            return self.append_null();
        }
        let int = if let Value::Int(value) = value { *value } else { 0 };
        let uint = if let Value::Uint(value) = value { *value } else { 0 };
        match self {
            Self::Int8(column) => column.append_value(int as i8),
            Self::Int16(column) => column.append_value(int as i16),
            Self::Int32(column) => column.append_value(int as i32),
            Self::Int64(column) => column.append_value(int),
            Self::Uint8(column) => column.append_value(uint as u8),
            Self::Uint16(column) => column.append_value(uint as u16),
            Self::Uint32(column) => column.append_value(uint as u32),
            Self::Uint64(column) => column.append_value(uint),
            Self::Real32(column) => {
                column.append_value(if let Value::Real32(value) = value { *value } else { f32::NAN })
            }
            Self::Real64(column) => {
                column.append_value(if let Value::Real64(value) = value { *value } else { f64::NAN })
            }
            Self::Boolean(column) => column.append_value(*value == Value::Boolean(true)),
            Self::Text(column) => {
                let text = if let Value::String(text) = value { text.as_str() } else { "" };
                column.append_value(text);
                return 4 + text.len();
            }
            Self::Blob(column) => {
                let bytes = if let Value::Blob(bytes) = value { bytes.as_slice() } else { &[] };
                column.append_value(bytes);
                return 4 + bytes.len();
            }
            Self::Enum(column) => {
                let (of, column) = &mut **column;
                // Names are few, and the unknown numbers of one batch cannot fill a dictionary.
                column.append_value(crate::table::enumerator(of, value).as_ref());
            }
            Self::List { element, ends, elements, present, .. } => {
                let of = if let Value::Vector(of) = value { of.as_slice() } else { &[] };
                let values = of.iter().enumerate();
                let bytes: usize = values.map(|(index, value)| element.append(value, absent.at(index))).sum();
                present.append_non_null();
                *elements += of.len();
                ends.push(i32::try_from(*elements).unwrap_or(i32::MAX));
                return 4 + bytes;
            }
            Self::Struct { members, length, present, .. } => {
                let of = if let Value::Struct(of) = value { of.as_slice() } else { &[] };
                *length += 1;
                present.append_non_null();
                let missing = Value::Boolean(false);
                return members
                    .iter_mut()
                    .map(|(at, member)| member.append(of.get(*at).unwrap_or(&missing), absent.at(*at)))
                    .sum();
            }
        }
        8
    }

    fn append_null(&mut self) -> usize {
        match self {
            Self::Int8(column) => column.append_null(),
            Self::Int16(column) => column.append_null(),
            Self::Int32(column) => column.append_null(),
            Self::Int64(column) => column.append_null(),
            Self::Uint8(column) => column.append_null(),
            Self::Uint16(column) => column.append_null(),
            Self::Uint32(column) => column.append_null(),
            Self::Uint64(column) => column.append_null(),
            Self::Real32(column) => column.append_null(),
            Self::Real64(column) => column.append_null(),
            Self::Boolean(column) => column.append_null(),
            Self::Text(column) => column.append_null(),
            Self::Blob(column) => column.append_null(),
            Self::Enum(column) => column.1.append_null(),
            Self::List { ends, elements, present, .. } => {
                ends.push(i32::try_from(*elements).unwrap_or(i32::MAX));
                present.append_null();
            }
            Self::Struct { members, length, present, .. } => {
                *length += 1;
                present.append_null();
                return members.iter_mut().map(|(_, member)| member.append_null()).sum();
            }
        }
        8
    }

    /// Returns the appended values, and empties the column.
    pub fn finish(&mut self) -> Result<ArrayRef, ArrowError> {
        Ok(match self {
            Self::Int8(column) => Arc::new(column.finish()),
            Self::Int16(column) => Arc::new(column.finish()),
            Self::Int32(column) => Arc::new(column.finish()),
            Self::Int64(column) => Arc::new(column.finish()),
            Self::Uint8(column) => Arc::new(column.finish()),
            Self::Uint16(column) => Arc::new(column.finish()),
            Self::Uint32(column) => Arc::new(column.finish()),
            Self::Uint64(column) => Arc::new(column.finish()),
            Self::Real32(column) => Arc::new(column.finish()),
            Self::Real64(column) => Arc::new(column.finish()),
            Self::Boolean(column) => Arc::new(column.finish()),
            Self::Text(column) => Arc::new(column.finish()),
            Self::Blob(column) => Arc::new(column.finish()),
            Self::Enum(column) => Arc::new(column.1.finish()),
            Self::List { field, element, ends, elements, present } => {
                *elements = 0;
                let ends = OffsetBuffer::new(ScalarBuffer::from(std::mem::replace(ends, vec![0])));
                Arc::new(ListArray::try_new(field.clone(), ends, element.finish()?, present.finish())?)
            }
            Self::Struct { fields, members, length, present } => {
                let arrays =
                    members.iter_mut().map(|(_, member)| member.finish()).collect::<Result<_, _>>()?;
                let length = std::mem::take(length);
                Arc::new(StructArray::try_new_with_length(fields.clone(), arrays, present.finish(), length)?)
            }
        })
    }
}

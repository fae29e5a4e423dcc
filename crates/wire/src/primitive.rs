//! The one table of primitive types, shared by PDL, the schema, the codecs and every generator.
//!
//! A new type is one row here and one variant of [`MetricType`]. The compiler then names every match that must handle it, because no match on
//! [`Primitive`] or [`MetricType`] has a wildcard. `crates/pdl-gen/tests/integration/primitive_types.rs` lists the places that the compiler cannot see.

use crate::schema::MetricType;

/// Kinds of values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// Whole numbers from `min` to `max`, inclusive.
    Integer {
        /// Least value.
        min: i128,
        /// Greatest value.
        max: i128,
    },
    /// IEEE 754 numbers.
    Real,
    /// True or false.
    Boolean,
    /// UTF-8 text.
    Text,
}

/// A row of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    /// Name in PDL and in the schema.
    pub name: &'static str,
    /// Kind and range of its values.
    pub class: Class,
    /// Bytes of a value in a packed row, or `None` if values differ in length.
    pub bytes: Option<usize>,
    /// Alignment in CDR; that of a text is the alignment of its length.
    pub alignment: usize,
    /// Type in Rust.
    pub rust: &'static str,
    /// Method of [`RowWriter`](crate::value::RowWriter) that appends a value.
    pub row_method: &'static str,
    /// Type in C.
    pub c: &'static str,
    /// Type in C++.
    pub cpp: &'static str,
    /// Initial value in C++, or empty if the type has a default constructor.
    pub cpp_initial: &'static str,
    /// Annotation in Python.
    pub python: &'static str,
    /// Initial value in Python.
    pub python_initial: &'static str,
    /// Type in TypeScript.
    pub typescript: &'static str,
    /// Initial value in TypeScript.
    pub typescript_initial: &'static str,
}

/// Declares [`Primitive`] and its table from one list of rows.
macro_rules! primitives {
    ($($variant:ident: $row:expr;)*) => {
        /// A primitive type.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[allow(missing_docs)]
        pub enum Primitive { $($variant),* }

        impl Primitive {
            /// All primitive types, in the order of the table.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// Returns the row of the table.
            #[inline]
            pub const fn row(self) -> Row {
                match self { $(Self::$variant => $row),* }
            }
        }

        impl MetricType {
            /// Returns the primitive type, or `None` for vectors, structs and blobs.
            #[inline]
            pub const fn primitive(&self) -> Option<Primitive> {
                match self {
                    $(Self::$variant => Some(Primitive::$variant),)*
                    Self::Vector(_) | Self::Struct(_) | Self::Blob(_) => None,
                }
            }
        }

        impl From<Primitive> for MetricType {
            fn from(primitive: Primitive) -> Self {
                match primitive { $(Primitive::$variant => Self::$variant),* }
            }
        }
    };
}

primitives! {
    Int8: integer("int8", 1, i8::MIN as i128, i8::MAX as i128, "i8", "int8_t", "std::int8_t");
    Int16: integer("int16", 2, i16::MIN as i128, i16::MAX as i128, "i16", "int16_t", "std::int16_t");
    Int32: integer("int32", 4, i32::MIN as i128, i32::MAX as i128, "i32", "int32_t", "std::int32_t");
    Int64: wide(integer("int64", 8, i64::MIN as i128, i64::MAX as i128, "i64", "int64_t", "std::int64_t"));
    Uint8: integer("uint8", 1, 0, u8::MAX as i128, "u8", "uint8_t", "std::uint8_t");
    Uint16: integer("uint16", 2, 0, u16::MAX as i128, "u16", "uint16_t", "std::uint16_t");
    Uint32: integer("uint32", 4, 0, u32::MAX as i128, "u32", "uint32_t", "std::uint32_t");
    Uint64: wide(integer("uint64", 8, 0, u64::MAX as i128, "u64", "uint64_t", "std::uint64_t"));
    Real32: real("real32", 4, "f32", "float");
    Real64: real("real64", 8, "f64", "double");
    Boolean: Row {
        name: "boolean",
        class: Class::Boolean,
        bytes: Some(1),
        alignment: 1,
        rust: "bool",
        row_method: "boolean",
        c: "bool",
        cpp: "bool",
        cpp_initial: "false",
        python: "bool",
        python_initial: "False",
        typescript: "boolean",
        typescript_initial: "false",
    };
    String: Row {
        name: "string",
        class: Class::Text,
        bytes: None,
        alignment: 4,
        rust: "String",
        row_method: "string",
        c: "oasis_text",
        cpp: "std::string",
        cpp_initial: "",
        python: "str",
        python_initial: "\"\"",
        typescript: "string",
        typescript_initial: "''",
    };
}

const fn integer(
    name: &'static str,
    bytes: usize,
    min: i128,
    max: i128,
    rust: &'static str,
    c: &'static str,
    cpp: &'static str,
) -> Row {
    Row {
        name,
        class: Class::Integer { min, max },
        bytes: Some(bytes),
        alignment: bytes,
        rust,
        row_method: rust,
        c,
        cpp,
        cpp_initial: "0",
        python: "int",
        python_initial: "0",
        typescript: "number",
        typescript_initial: "0",
    }
}

/// An integer that a JavaScript number cannot hold exactly.
const fn wide(row: Row) -> Row {
    Row { typescript: "bigint", typescript_initial: "0n", ..row }
}

const fn real(name: &'static str, bytes: usize, rust: &'static str, c: &'static str) -> Row {
    Row {
        name,
        class: Class::Real,
        bytes: Some(bytes),
        alignment: bytes,
        rust,
        row_method: rust,
        c,
        cpp: c,
        cpp_initial: "0",
        python: "float",
        python_initial: "0.0",
        typescript: "number",
        typescript_initial: "0",
    }
}

impl Primitive {
    /// Returns the type with this name in PDL.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|primitive| primitive.name() == name)
    }

    /// Returns the name in PDL and in the schema.
    #[inline]
    pub const fn name(self) -> &'static str {
        self.row().name
    }

    /// Returns the least and the greatest value of an integer type.
    pub const fn integers(self) -> Option<(i128, i128)> {
        match self.row().class {
            Class::Integer { min, max } => Some((min, max)),
            Class::Real | Class::Boolean | Class::Text => None,
        }
    }

    /// Whether values are numbers.
    pub const fn is_number(self) -> bool {
        match self.row().class {
            Class::Integer { .. } | Class::Real => true,
            Class::Boolean | Class::Text => false,
        }
    }

    /// Whether the type can carry an enum: an integer of at most 32 bits, which is exact in every JSON reader.
    pub const fn can_carry_enum(self) -> bool {
        let row = self.row();
        matches!(row.class, Class::Integer { .. }) && matches!(row.bytes, Some(1..=4))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schema_writes_the_names_of_the_table() {
        for &primitive in Primitive::ALL {
            let kind = MetricType::from(primitive);
            assert_eq!(serde_json::to_value(&kind).unwrap(), primitive.name());
            assert_eq!(kind.primitive(), Some(primitive));
            assert_eq!(Primitive::named(primitive.name()), Some(primitive));
        }
    }

    #[test]
    fn an_integer_has_the_range_of_its_bytes() {
        for row in Primitive::ALL.iter().map(|primitive| primitive.row()) {
            if let (Class::Integer { min, max }, Some(bytes)) = (row.class, row.bytes) {
                assert_eq!(max - min, (1 << (8 * bytes)) - 1, "{}", row.name);
            }
        }
    }
}

//! Size of a value in a packed row, in bytes (`docs/reference/pdl.md`).

use oasis_pdl::{
    Model,
    model::{Metric, Primitive, Type},
};
use std::collections::HashMap;

/// A minimum size in bytes, and whether it is exact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    pub bytes: u64,
    pub is_fixed: bool,
}

impl Size {
    const NOTHING: Self = Self { bytes: 0, is_fixed: true };
    /// A length, and nothing of that length.
    const COUNTED: Self = Self { bytes: 1, is_fixed: false };

    fn and(self, other: Self) -> Self {
        let bytes = self.bytes.saturating_add(other.bytes);
        Self { bytes, is_fixed: self.is_fixed && other.is_fixed }
    }

    /// Text for people.
    pub fn words(self) -> String {
        let unit = if self.bytes == 1 { "byte" } else { "bytes" };
        let least = if self.is_fixed { "" } else { "at least " };
        format!("{least}{} {unit}", self.bytes)
    }
}

/// Sizes of structs, each computed once: many structs can use the same one.
pub struct Sizes<'a> {
    model: &'a Model,
    known: HashMap<&'a str, Size>,
}

impl<'a> Sizes<'a> {
    pub fn new(model: &'a Model) -> Self {
        Self { model, known: HashMap::new() }
    }

    /// Returns the size of a value of this type.
    pub fn of(&mut self, kind: &'a Type) -> Size {
        match kind {
            Type::Primitive(primitive) => self::primitive(*primitive),
            Type::Vector(_) | Type::Blob(_) => Size::COUNTED,
            Type::Enum(name) => self::primitive(self.model.base_of(name)),
            Type::Struct(name) => self.of_struct(name),
        }
    }

    /// Returns the size of all metrics or members together.
    pub fn of_all(&mut self, metrics: &'a [Metric]) -> Size {
        metrics.iter().fold(Size::NOTHING, |size, metric| size.and(self.of(&metric.kind)))
    }

    /// Inner structs first, without recursion: a chain of structs can be long.
    fn of_struct(&mut self, name: &'a str) -> Size {
        let mut open = vec![(name, false)];
        while let Some((name, are_members_known)) = open.pop() {
            let Some(declared) = self.model.struct_named(name) else { continue };
            if are_members_known {
                let size = declared.members.iter().fold(Size::NOTHING, |size, member| {
                    size.and(match &member.kind {
                        Type::Struct(inner) => {
                            self.known.get(inner.as_str()).copied().unwrap_or(Size::NOTHING)
                        }
                        simple => self.of(simple),
                    })
                });
                self.known.insert(name, size);
            } else if !self.known.contains_key(name) {
                // Size of a struct inside itself, which is reported as an error elsewhere.
                self.known.insert(name, Size::NOTHING);
                open.push((name, true));
                let inner = declared.members.iter().filter_map(|member| match &member.kind {
                    Type::Struct(inner) => Some((inner.as_str(), false)),
                    _ => None,
                });
                open.extend(inner);
            }
        }
        self.known.get(name).copied().unwrap_or(Size::NOTHING)
    }
}

fn primitive(primitive: Primitive) -> Size {
    match primitive.row().bytes {
        Some(bytes) => Size { bytes: bytes as u64, is_fixed: true },
        None => Size::COUNTED,
    }
}

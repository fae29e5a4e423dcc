//! Names of the PDL as C can write them: modules in front with underscores between, as C has one scope for all.

use crate::{
    cpp::reserved::{is_global, is_word},
    names::{free_names, last},
    order::Declaration,
};
use oasis_pdl::model::Type;
use std::collections::HashMap;

/// The suffix of a type's name, once for each vector around it.
pub const VECTOR: &str = "_vector";

/// The identifiers of a header.
pub struct Names(HashMap<(String, String), String>);

impl Names {
    /// Creates the names of these declarations, with at most this many vectors around each, and of the parts of each probe.
    pub fn new(
        declarations: &[Declaration<'_>],
        depth_of: impl Fn(&str) -> usize,
        of_probe: &[&str],
    ) -> Self {
        let mut parts: Vec<(String, String)> = Vec::new();
        for declaration in declarations {
            let scoped = declaration.name();
            let own = |what: &str| (scoped.to_owned(), what.to_owned());
            parts.extend((0..=depth_of(scoped)).map(|depth| own(&VECTOR.repeat(depth))));
            match declaration {
                Declaration::Enum(declared) => {
                    parts.extend(declared.enumerators.iter().map(|value| own(&format!("_{}", value.name))));
                }
                Declaration::Struct(_) => parts.push(own("_put")),
                Declaration::Probe(_) => parts.extend(of_probe.iter().map(|what| own(what))),
            }
        }
        let wanted: Vec<String> =
            parts.iter().map(|(scoped, what)| scoped.replace("::", "_") + what).collect();
        let free = free_names(&wanted, |name| is_taken(name) || is_global(name));
        Self(parts.into_iter().zip(free).collect())
    }

    /// A declaration.
    pub fn of<'a>(&'a self, scoped: &'a str) -> &'a str {
        self.part(scoped, "")
    }

    /// Something that belongs to a declaration.
    pub fn part<'a>(&'a self, scoped: &'a str, what: &str) -> &'a str {
        let key = (scoped.to_owned(), what.to_owned());
        self.0.get(&key).map_or(last(scoped), String::as_str)
    }

    /// A type.
    pub fn kind(&self, kind: &Type) -> String {
        let (element, depth) = element(kind);
        match element {
            Type::Struct(name) | Type::Enum(name) => self.part(name, &VECTOR.repeat(depth)).to_owned(),
            Type::Primitive(primitive) if depth > 0 => {
                format!("oasis_{}{}", primitive.name(), VECTOR.repeat(depth))
            }
            Type::Primitive(primitive) => primitive.row().c.to_owned(),
            Type::Blob(_) => "oasis_uint8_vector".to_owned(),
            Type::Vector(_) => String::new(),
        }
    }
}

/// Returns the innermost element type, and the number of vectors around it.
pub fn element(kind: &Type) -> (&Type, usize) {
    match kind {
        Type::Vector(inner) => {
            let (element, depth) = element(inner);
            (element, depth + 1)
        }
        Type::Primitive(_) | Type::Struct(_) | Type::Enum(_) | Type::Blob(_) => (kind, 0),
    }
}

/// Names of members.
pub fn members<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let names: Vec<String> = names.into_iter().map(String::from).collect();
    free_names(&names, is_taken)
}

/// A word of C++ is taken as well, so that most headers can be included there.
fn is_taken(name: &str) -> bool {
    is_word(name) || name == "restrict"
}

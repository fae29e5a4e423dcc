//! Names of the PDL as Python can write them: a trailing underscore if the name is already taken.

use crate::names::{distinct_names, free_names, is_in, last};
use oasis_pdl::{
    Model,
    model::{Enum, Metric},
};
use std::collections::HashMap;

const KEYWORDS: &str = "False None True and as assert async await break class continue def del elif else except finally for from global if \
    import in is lambda nonlocal not or pass raise return try while with yield";

/// The names that a generated module uses itself, including parameters of its methods.
const MODULE: &str = "annotations bool classmethod cls dataclass enum field float int list oasis range self source str to uuid";

/// The members of every generated class.
const MEMBERS: &str = "NAME SCHEMA UUID VERSION from_row read to_row write";

/// The members of every enumerator, as an integer.
const INTEGER: &str = "as_integer_ratio bit_count bit_length conjugate denominator from_bytes imag is_integer mro name numerator real \
    to_bytes value";

/// Modules that generated code or the package that it needs imports: a file of such a name would hide them.
const IMPORTED: &str =
    "__future__ abc collections dataclasses enum math oasis operator struct typing typing_extensions uuid";

/// Names of the classes.
pub struct Classes(HashMap<String, String>);

impl Classes {
    /// The last name of each declaration. Equal ones get as many of their modules in front as distinguish them.
    pub fn new(model: &Model) -> Self {
        let enums = model.enums.iter().map(|declared| &declared.name);
        let structs = model.structs.iter().map(|declared| &declared.name);
        let probes = model.probes.iter().filter(|probe| !probe.is_abstract).map(|probe| &probe.name);
        let scoped: Vec<&String> = enums.chain(structs).chain(probes).collect();
        let names = free_names(&distinct_names(&scoped), |name| is_in(name, &[KEYWORDS, MODULE]));
        Self(scoped.into_iter().cloned().zip(names).collect())
    }

    /// The class of a scoped PDL name.
    pub fn named<'a>(&'a self, scoped: &'a str) -> &'a str {
        self.0.get(scoped).map_or(last(scoped), String::as_str)
    }

    /// Names of fields. A field with the name of a class would hide the class.
    pub fn fields(&self, metrics: &[Metric]) -> Vec<String> {
        let names: Vec<String> = metrics.iter().map(|metric| metric.name.clone()).collect();
        free_names(&names, |name| is_in(name, &[KEYWORDS, MODULE, MEMBERS]) || self.has(name))
    }

    /// A name for the elements of a field, in loops `depth` deep.
    pub fn element(&self, field: &str, depth: usize) -> String {
        let mut name = format!("{field}_item");
        if depth > 0 {
            name += &(depth + 1).to_string();
        }
        while self.has(&name) {
            name.push('_');
        }
        name
    }

    fn has(&self, name: &str) -> bool {
        self.0.values().any(|class| class == name)
    }
}

/// Names of enumerators.
pub fn enumerators(declared: &Enum) -> Vec<String> {
    let names: Vec<String> = declared.enumerators.iter().map(|value| value.name.clone()).collect();
    free_names(&names, |name| is_in(name, &[KEYWORDS, INTEGER]))
}

/// A name that Python can import.
pub fn module(stem: &str) -> String {
    let mut name: String = stem
        .chars()
        .map(|character| if character.is_ascii_alphanumeric() { character } else { '_' })
        .collect();
    if name.starts_with(|character: char| character.is_ascii_digit()) || name.is_empty() {
        name.insert(0, '_');
    }
    if is_in(&name, &[KEYWORDS, IMPORTED]) {
        name.push('_');
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_can_be_imported() {
        let stems = ["engine", "my-engine.v2", "7up", "class", "enum", "größe", ""].map(module);
        assert_eq!(stems, ["engine", "my_engine_v2", "_7up", "class_", "enum_", "gr__e", "_"]);
    }
}

//! Names of the PDL as IDL writes them. Those of types stay as they are, because both ends of a DDS topic must have the same.

use super::reserved::{escaped, is_taken_in_c};
use crate::names::last;
use std::collections::HashSet;

/// The suffix of the type of a probe's samples.
pub const SAMPLE: &str = "Sample";

/// A type, from the root.
pub fn path(scoped: &str) -> String {
    scoped.split("::").map(|part| format!("::{}", escaped(part))).collect()
}

/// A type at its declaration.
pub fn declared(scoped: &str) -> String {
    escaped(last(scoped))
}

/// The enumerators of an enum. IDL puts them into the scope of their enum, so each has the name of the enum in front.
pub fn enumerators<'a>(scoped_enum: &str, names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let names: Vec<String> = names.map(|name| format!("{}_{name}", last(scoped_enum))).collect();
    distinct(names.iter().map(String::as_str), "")
}

/// The members of a struct. Words of C get an underscore after them.
pub fn members<'a>(scoped_struct: &str, names: impl Iterator<Item = &'a str> + Clone) -> Vec<String> {
    // A member must not have the name of its struct (IDL 4.2, 7.5.2).
    distinct(names, last(scoped_struct)).iter().map(|name| escaped(name)).collect()
}

/// Names that differ by more than case from each other and from one more: underscores follow those that do not.
fn distinct<'a>(names: impl Iterator<Item = &'a str> + Clone, other: &str) -> Vec<String> {
    let given: HashSet<String> = names.clone().map(str::to_ascii_lowercase).collect();
    let mut used = HashSet::from([other.to_ascii_lowercase()]);
    let mut distinct = Vec::new();
    for name in names {
        let mut free = name.to_owned();
        let is_taken = |free: &str| is_taken_in_c(free) || used.contains(&free.to_ascii_lowercase());
        if is_taken(&free) {
            free.push('_');
            while is_taken(&free) || given.contains(&free.to_ascii_lowercase()) {
                free.push('_');
            }
        }
        used.insert(free.to_ascii_lowercase());
        distinct.push(free);
    }
    distinct
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_differ_by_more_than_case_and_are_no_words_of_c() {
        let names = ["class", "class_", "Mode", "mode", "sequence", "switch", "link"];
        let expected = ["class__", "class_", "Mode", "mode_", "_sequence", "switch_", "link_"];
        assert_eq!(members("Plant::Link", names.into_iter()), expected);
        assert_eq!(enumerators("Plant::Link", ["UP", "Up"].into_iter()), ["Link_UP", "Link_Up_"]);
    }

    #[test]
    fn a_type_keeps_its_name() {
        assert_eq!(path("Plant::Sequence::Switch"), "::Plant::_Sequence::_Switch");
        assert_eq!(declared("Plant::Port"), "_Port");
    }
}

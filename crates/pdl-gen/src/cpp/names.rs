//! Names of the PDL as C++ can write them: a trailing underscore if the name is reserved in C++.

use super::reserved::{NameScope, is_reserved};
use crate::names::{free_names, split};
use oasis_pdl::Model;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// The names of modules and types.
pub struct Scopes {
    /// By scoped PDL name: the scoped C++ name.
    spelled: HashMap<String, String>,
    /// All scoped C++ names.
    declared: HashSet<String>,
}

impl Scopes {
    pub fn new(model: &Model) -> Self {
        let types = model.enums.iter().map(|declared| &declared.name);
        let types = types.chain(model.structs.iter().map(|declared| &declared.name));
        let types = types.chain(model.probes.iter().map(|probe| &probe.name));
        let mut scopes: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for name in types {
            let mut inner = name.as_str();
            while !inner.is_empty() {
                let (scope, last) = split(inner);
                scopes.entry(scope).or_default().insert(last);
                inner = scope;
            }
        }
        let mut spelled = HashMap::new();
        // In this order a scope comes before its content.
        for (scope, names) in &scopes {
            let place = if scope.is_empty() { NameScope::Root } else { NameScope::Namespace };
            let outer: String = spelled.get(*scope).cloned().unwrap_or_default();
            for (name, cpp) in names.iter().zip(spell(names.iter().copied(), place, "")) {
                spelled.insert(join(scope, name), join(&outer, &cpp));
            }
        }
        let declared = spelled.values().cloned().collect();
        Self { spelled, declared }
    }

    /// The scoped C++ name of a declaration.
    pub fn spelled<'a>(&'a self, scoped: &'a str) -> &'a str {
        self.spelled.get(scoped).map_or(scoped, String::as_str)
    }

    /// The shortest way to write the name of a declaration inside a struct of namespace `from` that has these `members`.
    pub fn reference(&self, from: &str, members: &[String], to: &str) -> String {
        let path = self.spelled(to);
        let mut scope = path;
        while !scope.is_empty() {
            scope = split(scope).0;
            let relative = path.strip_prefix(scope).unwrap_or(path).trim_start_matches("::");
            let first = relative.split("::").next().unwrap_or_default();
            if !members.iter().any(|member| member == first) && self.find(from, first) == Some(scope) {
                return relative.to_owned();
            }
        }
        format!("::{path}")
    }

    /// The innermost scope around `from` that has something of this name.
    fn find<'a>(&self, from: &'a str, name: &str) -> Option<&'a str> {
        let mut scope = from;
        while !self.declared.contains(&join(scope, name)) {
            if scope.is_empty() {
                return None;
            }
            scope = split(scope).0;
        }
        Some(scope)
    }
}

/// The names, none of them a word that C++, or a struct called `owner`, has for itself there.
pub fn spell<'a>(names: impl IntoIterator<Item = &'a str>, place: NameScope, owner: &str) -> Vec<String> {
    let names: Vec<String> = names.into_iter().map(String::from).collect();
    free_names(&names, |name| is_reserved(name, place) || name == owner)
}

/// A name for a parameter or a variable that none of the members has.
pub fn fresh(wanted: &str, members: &[String]) -> String {
    let mut name = wanted.to_owned();
    while members.contains(&name) {
        name.push('_');
    }
    name
}

fn join(scope: &str, name: &str) -> String {
    if scope.is_empty() { name.to_owned() } else { format!("{scope}::{name}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_of_the_language_moves_out_of_the_way_of_every_other_name() {
        let names = spell(["class", "class_", "Words", "read", "type"], NameScope::Struct, "Words");
        assert_eq!(names, ["class__", "class_", "Words_", "read_", "type"]);
    }

    #[test]
    fn a_name_is_as_short_as_its_scope_allows() {
        let scopes = Scopes {
            spelled: HashMap::new(),
            declared: ["A", "A::T", "A::B", "A::B::C", "A::B::T", "A::B::A", "T"].map(String::from).into(),
        };
        let reference = |from, members: &[&str], to| {
            scopes.reference(from, &members.iter().map(|&name| name.to_owned()).collect::<Vec<_>>(), to)
        };
        assert_eq!(reference("A::B::C", &[], "A::B::T"), "T");
        assert_eq!(reference("A::B::C", &[], "A::T"), "::A::T");
        assert_eq!(reference("A", &[], "A::B::T"), "B::T");
        assert_eq!(reference("A", &["T"], "A::T"), "A::T");
        assert_eq!(reference("", &["T"], "T"), "::T");
    }
}

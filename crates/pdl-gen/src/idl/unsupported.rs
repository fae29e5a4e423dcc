//! Features that IDL cannot express.

use super::names::{SAMPLE, enumerators};
use crate::{
    cpp::reserved::{is_global, is_word},
    names::{last, split},
};
use oasis_pdl::{
    Code, Diagnostic, Model,
    model::{Metric, NameSpan, Type},
};
use std::collections::{BTreeMap, HashMap};

/// Returns a diagnostic for each declaration that IDL, or C made from it, cannot express.
pub fn check(model: &Model) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let declared = declared(model);
    for declaration in &declared {
        let (scope, name) = split(declaration.name);
        if split(scope).1.eq_ignore_ascii_case(name) {
            found.push(diagnostic(
                declaration.place,
                format!("IDL cannot express `{}`: it has the name of its module", declaration.name),
                "the module has this name too",
                "rename one of them",
            ));
        }
        if scope.is_empty() && (is_word(name) || is_global(name)) {
            found.push(diagnostic(
                declaration.place,
                format!("C made from IDL cannot express `{name}`: the language or its library has this name"),
                "taken in C",
                "put it into a module, or rename it",
            ));
        }
    }
    found.extend(colliding(model, &declared));
    found.extend(empty_structs(model));
    found
}

/// A name of the scope of its module, and where it is from.
struct Declared<'a> {
    name: &'a str,
    place: NameSpan,
}

fn declared(model: &Model) -> Vec<Declared<'_>> {
    let enums = model.enums.iter().map(|known| Declared { name: &known.name, place: known.place });
    let structs = model.structs.iter().map(|known| Declared { name: &known.name, place: known.place });
    let probes = model.probes.iter().filter(|probe| !probe.is_abstract);
    let probes = probes.map(|known| Declared { name: &known.name, place: known.place });
    enums.chain(structs).chain(probes).collect()
}

/// Names of one scope that IDL takes for one: they differ only by case, or by what the back end adds.
fn colliding(model: &Model, declared: &[Declared<'_>]) -> Vec<Diagnostic> {
    let mut names: Vec<(String, NameSpan)> =
        declared.iter().map(|known| (known.name.to_owned(), known.place)).collect();
    for probe in model.probes.iter().filter(|probe| !probe.is_abstract) {
        names.push((format!("{}{SAMPLE}", probe.name), probe.place));
    }
    for known in &model.enums {
        let given = known.enumerators.iter().map(|value| value.name.as_str());
        let scope = known.name.strip_suffix(last(&known.name)).unwrap_or_default();
        let declared = enumerators(&known.name, given).into_iter().zip(&known.enumerators);
        names.extend(declared.map(|(name, value)| (format!("{scope}{name}"), value.place)));
    }
    // Modules reopen under one name; only another case is another module.
    let mut modules: BTreeMap<&str, NameSpan> = BTreeMap::new();
    for known in declared {
        let mut scope = split(known.name).0;
        while !scope.is_empty() {
            modules.entry(scope).or_insert(known.place);
            scope = split(scope).0;
        }
    }
    names.extend(modules.into_iter().map(|(module, place)| (module.to_owned(), place)));
    let mut first: HashMap<String, String> = HashMap::new();
    let mut found = Vec::new();
    for (name, place) in names {
        match first.get(&name.to_ascii_lowercase()) {
            Some(other) => found.push(diagnostic(
                place,
                format!("IDL cannot express `{name}` beside `{other}`: it ignores case, and needs a name for the samples of a probe and for each enumerator"),
                "the same name in IDL",
                "rename one of them",
            )),
            None => drop(first.insert(name.to_ascii_lowercase(), name)),
        }
    }
    found
}

/// Members of structs without members: C has no such structs.
fn empty_structs(model: &Model) -> Vec<Diagnostic> {
    let structs = model.structs.iter().flat_map(|known| &known.members);
    let probes = model.probes.iter().filter(|probe| !probe.is_abstract).flat_map(|probe| &probe.metrics);
    let is_empty = |metric: &&Metric| {
        struct_of(&metric.kind)
            .and_then(|name| model.struct_named(name))
            .is_some_and(|known| known.members.is_empty())
    };
    let explain = |metric: &Metric| {
        diagnostic(
            metric.place,
            format!("IDL cannot express `{}`: its struct has no members", metric.name),
            "takes no bytes",
            "add a member to the struct, or remove this one",
        )
    };
    structs.chain(probes).filter(is_empty).map(explain).collect()
}

fn struct_of(kind: &Type) -> Option<&str> {
    match kind {
        Type::Vector(element) => struct_of(element),
        Type::Struct(name) => Some(name),
        Type::Primitive(_) | Type::Enum(_) | Type::Blob(_) => None,
    }
}

fn diagnostic(place: NameSpan, message: String, label: &str, help: &str) -> Diagnostic {
    Diagnostic {
        code: Code::NotInIdl,
        message,
        place: Some(place.0),
        label: label.to_owned(),
        related: Vec::new(),
        note: None,
        help: Some(help.to_owned()),
    }
}

//! Sorts declarations: C and C++ require a type to be declared before its use, PDL does not.

use crate::names::split;
use oasis_pdl::{
    Model,
    model::{Enum, Metric, Probe, Struct, Type},
};
use std::collections::{HashMap, HashSet};

/// A declaration that becomes a type in the target language.
#[derive(Clone, Copy)]
pub enum Declaration<'a> {
    Enum(&'a Enum),
    Struct(&'a Struct),
    Probe(&'a Probe),
}

impl<'a> Declaration<'a> {
    /// Scoped PDL name.
    pub fn name(self) -> &'a str {
        match self {
            Self::Enum(declared) => &declared.name,
            Self::Struct(declared) => &declared.name,
            Self::Probe(probe) => &probe.name,
        }
    }

    /// Its metrics or members.
    pub fn metrics(self) -> &'a [Metric] {
        match self {
            Self::Enum(_) => &[],
            Self::Struct(declared) => &declared.members,
            Self::Probe(probe) => &probe.metrics,
        }
    }
}

/// Enums, structs and concrete probes, each after all that it uses and otherwise module by module.
pub fn in_order(model: &Model) -> Vec<Declaration<'_>> {
    let enums = model.enums.iter().map(Declaration::Enum);
    let structs = model.structs.iter().map(Declaration::Struct);
    let probes = model.probes.iter().filter(|probe| !probe.is_abstract).map(Declaration::Probe);
    let all: Vec<Declaration<'_>> = enums.chain(structs).chain(probes).collect();
    let mut modules: Vec<&str> = Vec::new();
    for declaration in &all {
        let (module, _) = split(declaration.name());
        if !modules.contains(&module) {
            modules.push(module);
        }
    }
    let by_name = all.iter().map(|declaration| (declaration.name(), *declaration)).collect();
    let mut order = Order { by_name, seen: HashSet::new(), done: Vec::new() };
    for module in modules {
        for declaration in all.iter().filter(|declaration| split(declaration.name()).0 == module) {
            order.visit(*declaration);
        }
    }
    order.done
}

struct Order<'a> {
    by_name: HashMap<&'a str, Declaration<'a>>,
    seen: HashSet<&'a str>,
    done: Vec<Declaration<'a>>,
}

impl<'a> Order<'a> {
    fn visit(&mut self, declaration: Declaration<'a>) {
        if !self.seen.insert(declaration.name()) {
            return;
        }
        for metric in declaration.metrics() {
            let used = named(&metric.kind).and_then(|name| self.by_name.get(name)).copied();
            if let Some(used) = used {
                self.visit(used);
            }
        }
        self.done.push(declaration);
    }
}

fn named(kind: &Type) -> Option<&str> {
    match kind {
        Type::Primitive(_) | Type::Blob(_) => None,
        Type::Vector(element) => named(element),
        Type::Struct(name) | Type::Enum(name) => Some(name),
    }
}

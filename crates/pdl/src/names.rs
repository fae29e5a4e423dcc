//! Declarations to model: every name looked up from where it stands outwards, bases laid before what inherits from them.

use crate::{
    ast::{self, Declaration, File},
    diagnostic::{Code, Diagnostic, nearest, with_article},
    enums, limits,
    model::{Enum, Metric, Model, Place, Probe, Struct, Type},
    source::Span,
};
use std::{
    collections::{BTreeMap, HashMap, HashSet, VecDeque, hash_map::Entry},
    iter,
};
use uuid::Uuid;

/// Most metrics of a probe: a batch numbers its columns with 16 bits.
const MAX_METRICS: usize = 65_534;

#[derive(Clone, Copy)]
enum Declared<'a> {
    Module,
    Struct(&'a ast::Struct),
    Enum(&'a ast::Enum),
    Probe(&'a ast::Probe),
}

impl Declared<'_> {
    fn noun(self) -> &'static str {
        match self {
            Self::Module => "module",
            Self::Struct(_) => "struct",
            Self::Enum(_) => "enum",
            Self::Probe(_) => "probe",
        }
    }
}

/// Looks up everything in the files, which come in the order of inclusion.
pub fn resolve<'a>(files: impl Iterator<Item = &'a File>, wrong: &mut Vec<Diagnostic>) -> Model {
    let mut names = Names { table: BTreeMap::new(), order: Vec::new(), enums: HashMap::new(), wrong };
    for file in files {
        names.collect("", &file.declarations);
    }
    names.model()
}

struct Names<'a, 'w> {
    /// By scoped name: what it is and where it was first declared.
    table: BTreeMap<String, (Declared<'a>, Span)>,
    /// Structs, enums and probes in declaration order.
    order: Vec<String>,
    /// By scoped name, before anything that uses them.
    enums: HashMap<String, Enum>,
    wrong: &'w mut Vec<Diagnostic>,
}

impl<'a> Names<'a, '_> {
    fn collect(&mut self, scope: &str, declarations: &'a [Declaration]) {
        for declaration in declarations {
            let (name, declared) = match declaration {
                Declaration::Module(module) => (&module.name, Declared::Module),
                Declaration::Struct(declared) => (&declared.name, Declared::Struct(declared)),
                Declaration::Enum(declared) => (&declared.name, Declared::Enum(declared)),
                Declaration::Probe(probe) => (&probe.name, Declared::Probe(probe)),
            };
            let scoped = join(scope, &name.text);
            self.declare(scoped.clone(), name, declared);
            if let Declaration::Module(module) = declaration {
                self.collect(&scoped, &module.declarations);
            }
        }
    }

    fn declare(&mut self, scoped: String, name: &ast::Name, declared: Declared<'a>) {
        match self.table.get(&scoped) {
            // Modules reopen.
            Some((Declared::Module, _)) if matches!(declared, Declared::Module) => {}
            Some((known, first)) => {
                let message = format!("`{scoped}` is declared twice");
                let label = format!("{} of the same name", with_article(declared.noun()));
                let first_label = format!("the {} is declared here", known.noun());
                self.wrong.push(
                    Diagnostic::new(Code::DuplicateName, name.span, message, label)
                        .related(*first, first_label),
                );
            }
            None => {
                if !matches!(declared, Declared::Module) {
                    self.order.push(scoped.clone());
                }
                self.table.insert(scoped, (declared, name.span));
            }
        }
    }

    fn model(mut self) -> Model {
        let mut model = Model::default();
        let mut flattened = HashMap::new();
        self.number_enums();
        for scoped in self.order.clone() {
            match self.table[&scoped].0 {
                Declared::Struct(declared) => {
                    let members = self.metrics(&scoped, &declared.members);
                    self.check_names(&declared.members, &[]);
                    model.structs.push(Struct {
                        name: scoped,
                        doc: declared.doc.clone(),
                        members,
                        place: Place(declared.name.span),
                    });
                }
                Declared::Probe(probe) => model.probes.push(self.probe(&scoped, probe, &mut flattened)),
                Declared::Enum(_) | Declared::Module => {}
            }
        }
        model.enums = self.order.iter().filter_map(|scoped| self.enums.remove(scoped)).collect();
        self.check_struct_cycles(&model);
        self.check_uuids(&model);
        model
    }

    fn number_enums(&mut self) {
        for scoped in &self.order {
            if let Declared::Enum(declared) = self.table[scoped].0 {
                self.enums.insert(scoped.clone(), enums::resolve(scoped.clone(), declared, self.wrong));
            }
        }
    }

    fn probe(
        &mut self,
        scoped: &str,
        probe: &'a ast::Probe,
        flattened: &mut HashMap<String, Vec<Metric>>,
    ) -> Probe {
        let base = probe.base.as_ref().and_then(|path| self.base(scoped, path));
        let metrics = self.flatten(scoped, flattened);
        if metrics.len() > MAX_METRICS {
            let message =
                format!("probe `{scoped}` has {} metrics, {MAX_METRICS} are allowed", metrics.len());
            self.wrong.push(Diagnostic::new(
                Code::TooManyMetrics,
                probe.name.span,
                message,
                "too many metrics",
            ));
        }
        Probe {
            name: scoped.into(),
            doc: probe.doc.clone(),
            is_abstract: probe.is_abstract,
            uuid: probe.uuid.map(|(uuid, _)| uuid),
            version: probe.version.clone().unwrap_or_else(|| "1.0".into()),
            base,
            metrics,
            place: Place(probe.name.span),
        }
    }

    /// The metrics of a probe and of all its bases, the farthest base first. A chain is walked, not recursed, so that its length does not matter.
    fn flatten(&mut self, scoped: &str, flattened: &mut HashMap<String, Vec<Metric>>) -> Vec<Metric> {
        let mut chain: Vec<(String, &'a ast::Probe)> = Vec::new();
        let mut next = Some(scoped.to_owned());
        let mut metrics = Vec::new();
        while let Some(name) = next.take() {
            if let Some(known) = flattened.get(&name) {
                metrics = known.clone();
                break;
            }
            let Some(&(Declared::Probe(probe), span)) = self.table.get(&name) else { break };
            if let Some(first) = chain.iter().position(|(seen, _)| *seen == name) {
                let message = format!("probe `{name}` is its own base");
                let diagnostic =
                    Diagnostic::new(Code::InheritanceCycle, span, message, "inherits from itself");
                let cycle = chain[first..].iter().map(|(name, _)| name.as_str());
                self.wrong.push(over_others(diagnostic, cycle, "inherits from"));
                break;
            }
            chain.push((name.clone(), probe));
            next = probe.base.as_ref().and_then(|path| self.lookup(&name, path));
        }
        for (name, probe) in chain.into_iter().rev() {
            self.check_names(&probe.metrics, &metrics);
            let own = self.metrics(&name, &probe.metrics);
            metrics.extend(own);
            flattened.insert(name, metrics.clone());
        }
        metrics
    }

    fn metrics(&mut self, scope: &str, metrics: &[ast::Metric]) -> Vec<Metric> {
        let resolved = metrics.iter().filter_map(|metric| {
            let kind = self.kind(scope, &metric.kind)?;
            Some(Metric {
                name: metric.name.text.clone(),
                limits: limits::resolve(&metric.limits, &kind, &self.enums, self.wrong),
                kind,
                doc: metric.doc.clone(),
                unit: metric.unit.clone(),
                behaviour: metric.behaviour,
                label: metric.label.clone(),
                place: Place(metric.name.span),
            })
        });
        resolved.collect()
    }

    fn kind(&mut self, scope: &str, kind: &ast::Type) -> Option<Type> {
        match kind {
            ast::Type::Simple(simple) => Some(Type::Simple(*simple)),
            ast::Type::Vector(element) => Some(Type::Vector(Box::new(self.kind(scope, element)?))),
            ast::Type::Named(path) => {
                let Some(found) = self.lookup(scope, path) else {
                    self.unknown(path, "type");
                    return None;
                };
                match self.table[&found].0 {
                    Declared::Struct(_) => Some(Type::Struct(found)),
                    Declared::Enum(_) => Some(Type::Enum(found)),
                    other => {
                        self.wrong_kind(path, other, "a type");
                        None
                    }
                }
            }
        }
    }

    fn base(&mut self, scoped: &str, path: &ast::Path) -> Option<String> {
        let Some(found) = self.lookup(scoped, path) else {
            self.unknown(path, "probe");
            return None;
        };
        match self.table[&found].0 {
            Declared::Probe(_) => Some(found),
            other => {
                self.wrong_kind(path, other, "a probe");
                None
            }
        }
    }

    /// From the innermost scope outwards; a rooted path only at the root.
    fn lookup(&self, scope: &str, path: &ast::Path) -> Option<String> {
        let wanted = spelled(path);
        let mut scope = if path.rooted { "" } else { scope };
        loop {
            let candidate = join(scope, &wanted);
            if self.table.contains_key(&candidate) {
                return Some(candidate);
            }
            if scope.is_empty() {
                return None;
            }
            scope = scope.rsplit_once("::").map_or("", |(outer, _)| outer);
        }
    }

    fn unknown(&mut self, path: &ast::Path, what: &str) {
        let wanted = spelled(path);
        let message = format!("there is no {what} `{wanted}`");
        let mut diagnostic = Diagnostic::new(Code::UnknownName, path.span, message, "not declared");
        let last = wanted.rsplit("::").next().unwrap_or_default();
        let simple = crate::model::Simple::ALL.iter().map(|(name, _)| *name).filter(|_| what == "type");
        let declared = self.order.iter().map(|scoped| scoped.rsplit("::").next().unwrap_or_default());
        diagnostic.help =
            nearest(last, simple.chain(declared)).map(|known| format!("did you mean `{known}`?"));
        self.wrong.push(diagnostic);
    }

    fn wrong_kind(&mut self, path: &ast::Path, found: Declared<'_>, wanted: &str) {
        let message = format!("`{}` is {}, not {wanted}", spelled(path), with_article(found.noun()));
        self.wrong.push(Diagnostic::new(Code::WrongKind, path.span, message, format!("expected {wanted}")));
    }

    /// No metric may have the name of another one, inherited ones included.
    fn check_names(&mut self, metrics: &[ast::Metric], inherited: &[Metric]) {
        let mut seen: HashMap<&str, Option<Span>> =
            inherited.iter().map(|metric| (metric.name.as_str(), None)).collect();
        for metric in metrics {
            let name = &metric.name;
            let message = || format!("`{}` is declared twice", name.text);
            match seen.insert(&name.text, Some(name.span)) {
                None => {}
                Some(Some(first)) => {
                    let diagnostic = Diagnostic::new(Code::DuplicateName, name.span, message(), "again here");
                    self.wrong.push(diagnostic.related(first, "first here"));
                }
                Some(None) => {
                    let diagnostic = Diagnostic::new(
                        Code::DuplicateName,
                        name.span,
                        message(),
                        "the base probe has it already",
                    );
                    self.wrong.push(diagnostic);
                }
            }
        }
    }

    /// A struct that contains itself, whether directly or in a vector, has no size and no end of nesting.
    fn check_struct_cycles(&mut self, model: &Model) {
        let structs: HashMap<&str, &Struct> =
            model.structs.iter().map(|declared| (declared.name.as_str(), declared)).collect();
        // A cycle is one mistake, however many structs it leads over.
        let mut told = HashSet::new();
        for declared in &model.structs {
            let name = declared.name.as_str();
            if told.contains(name) {
                continue;
            }
            if let Some(cycle) = way_back(name, &structs) {
                let message = format!("struct `{name}` contains itself");
                let diagnostic =
                    Diagnostic::new(Code::StructCycle, self.table[name].1, message, "this struct");
                self.wrong.push(over_others(diagnostic, cycle.iter().copied(), "contains"));
                told.extend(cycle);
            }
        }
    }

    fn check_uuids(&mut self, model: &Model) {
        let mut seen: HashMap<Uuid, (&str, Span)> = HashMap::new();
        for probe in &model.probes {
            let Some(&(Declared::Probe(declared), _)) = self.table.get(&probe.name) else { continue };
            let Some((uuid, span)) = declared.uuid else { continue };
            if let Some((other, first)) = seen.insert(uuid, (&probe.name, span)) {
                let message = format!("probes `{other}` and `{}` have the same UUID", probe.name);
                let diagnostic = Diagnostic::new(Code::DuplicateUuid, span, message, "the same UUID");
                let help = "give one of them a UUID of its own: `uuidgen` makes one";
                self.wrong.push(diagnostic.related(first, format!("`{other}` has it")).help(help));
            }
        }
    }
}

/// The structs on the shortest way from a struct's members back to it, itself first.
fn way_back<'a>(start: &'a str, structs: &HashMap<&'a str, &'a Struct>) -> Option<Vec<&'a str>> {
    let mut reached_from = HashMap::new();
    let mut open = VecDeque::from([start]);
    while let Some(name) = open.pop_front() {
        for inner in structs.get(name).into_iter().flat_map(|declared| uses(declared)) {
            if inner == start {
                let mut way: Vec<&str> =
                    iter::successors(Some(name), |name| reached_from.get(name).copied()).collect();
                way.reverse();
                return Some(way);
            }
            if let Entry::Vacant(new) = reached_from.entry(inner) {
                new.insert(name);
                open.push_back(inner);
            }
        }
    }
    None
}

/// Says how a cycle runs, if it runs over more than one declaration.
fn over_others<'a>(diagnostic: Diagnostic, cycle: impl Iterator<Item = &'a str>, verb: &str) -> Diagnostic {
    let mut names: Vec<String> = cycle.map(|name| format!("`{name}`")).collect();
    if names.len() == 1 {
        return diagnostic;
    }
    names.extend(names.first().cloned());
    diagnostic.note(names.join(&format!(" {verb} ")))
}

/// The structs that a struct's members are made of.
fn uses(declared: &Struct) -> impl Iterator<Item = &str> {
    declared.members.iter().filter_map(|member| {
        let mut kind = &member.kind;
        while let Type::Vector(element) = kind {
            kind = element;
        }
        if let Type::Struct(name) = kind { Some(name.as_str()) } else { None }
    })
}

fn join(scope: &str, name: &str) -> String {
    if scope.is_empty() { name.into() } else { format!("{scope}::{name}") }
}

fn spelled(path: &ast::Path) -> String {
    path.names.iter().map(|name| name.text.as_str()).collect::<Vec<_>>().join("::")
}

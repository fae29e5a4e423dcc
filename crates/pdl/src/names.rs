//! Resolves declarations to the model: looks up every name from its scope outwards, and puts the metrics of bases first.

use crate::{
    ast::{self, Declaration, File},
    cycles,
    diagnostic::{Code, Diagnostic, distance, nearest, other_types, simple_for, with_article},
    enums::{self, EnumIndex},
    expansion, limits,
    model::{Demand, Metric, Model, NameSpan, Primitive, Probe, Struct, Type},
    scope::{find, join, last, spelled},
    source::{Reference, Span},
};
use std::collections::{HashMap, HashSet};
use uuid::Uuid;

/// Most metrics of a probe: a batch numbers its columns with 16 bits.
const MAX_METRICS: usize = 65_534;

/// Most metrics that all probes together have from their bases. Each has its own copy: without a bound a file's memory would grow with its square.
const MAX_INHERITED: usize = 1_000_000;

/// Most unknown names that get a suggestion.
const MAX_SUGGESTIONS: usize = 64;

#[derive(Clone, Copy)]
enum DeclaredItem<'a> {
    Module,
    Struct(&'a ast::Struct),
    Enum(&'a ast::Enum),
    Probe(&'a ast::Probe),
}

impl DeclaredItem<'_> {
    fn noun(self) -> &'static str {
        match self {
            Self::Module => "module",
            Self::Struct(_) => "struct",
            Self::Enum(_) => "enum",
            Self::Probe(_) => "probe",
        }
    }
}

/// Text up everything in the files, which come in the order of inclusion.
pub fn resolve<'a>(
    files: impl Iterator<Item = &'a File>,
    wrong: &mut Vec<Diagnostic>,
) -> (Model, Vec<Reference>) {
    let mut names = Names {
        table: HashMap::new(),
        order: Vec::new(),
        enums: HashMap::new(),
        inherited: 0,
        suggestions: MAX_SUGGESTIONS,
        references: Vec::new(),
        wrong,
    };
    for file in files {
        names.collect("", &file.declarations);
    }
    let model = names.model();
    (model, names.references)
}

struct Names<'a, 'w> {
    /// By scoped name: the kind of declaration, and the place of the first one.
    table: HashMap<String, (DeclaredItem<'a>, Span)>,
    /// Structs, enums and probes in declaration order.
    order: Vec<String>,
    /// By scoped name, before anything that uses them.
    enums: HashMap<String, EnumIndex>,
    /// Metrics that probes have from their bases, so far.
    inherited: usize,
    /// Unknown names that may still be compared with all known ones.
    suggestions: usize,
    references: Vec<Reference>,
    wrong: &'w mut Vec<Diagnostic>,
}

impl<'a> Names<'a, '_> {
    fn collect(&mut self, scope: &str, declarations: &'a [Declaration]) {
        for declaration in declarations {
            let (name, declared) = match declaration {
                Declaration::Module(module) => (&module.name, DeclaredItem::Module),
                Declaration::Struct(declared) => (&declared.name, DeclaredItem::Struct(declared)),
                Declaration::Enum(declared) => (&declared.name, DeclaredItem::Enum(declared)),
                Declaration::Probe(probe) => (&probe.name, DeclaredItem::Probe(probe)),
            };
            let scoped = join(scope, &name.text);
            self.declare(scoped.clone(), name, declared);
            if let Declaration::Module(module) = declaration {
                self.collect(&scoped, &module.declarations);
            }
        }
    }

    fn declare(&mut self, scoped: String, name: &ast::Name, declared: DeclaredItem<'a>) {
        match self.table.get(&scoped) {
            // Modules reopen.
            Some((DeclaredItem::Module, _)) if matches!(declared, DeclaredItem::Module) => {}
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
                if !matches!(declared, DeclaredItem::Module) {
                    self.order.push(scoped.clone());
                }
                self.table.insert(scoped, (declared, name.span));
            }
        }
    }

    fn model(&mut self) -> Model {
        let (mut probes, mut structs) = (Vec::new(), Vec::new());
        let mut flattened = HashMap::new();
        self.number_enums();
        for scoped in self.order.clone() {
            match self.table[&scoped].0 {
                DeclaredItem::Struct(declared) => structs.push(self.struct_(scoped, declared)),
                DeclaredItem::Probe(probe) => probes.push(self.probe(&scoped, probe, &mut flattened)),
                DeclaredItem::Enum(_) | DeclaredItem::Module => {}
            }
        }
        for probe in &mut probes {
            probe.metrics = flattened.remove(&probe.name).unwrap_or_default();
        }
        let enums = self
            .order
            .iter()
            .filter_map(|scoped| self.enums.remove(scoped))
            .map(|known| known.declared)
            .collect();
        let reported = self.wrong.len();
        cycles::check(&structs, self.wrong);
        if self.wrong.len() == reported {
            expansion::check(&structs, &probes, self.wrong);
        }
        self.check_uuids(&probes);
        Model::new(probes, structs, enums)
    }

    fn struct_(&mut self, scoped: String, declared: &'a ast::Struct) -> Struct {
        let members = self.metrics(&scoped, &declared.members);
        self.check_blobs(&members);
        self.check_names(&declared.members, &[]);
        let (doc, place) = (declared.doc.clone(), NameSpan(declared.name.span));
        Struct { name: scoped, doc, members, place }
    }

    fn number_enums(&mut self) {
        for scoped in &self.order {
            if let DeclaredItem::Enum(declared) = self.table[scoped].0 {
                self.enums.insert(scoped.clone(), enums::resolve(scoped.clone(), declared, self.wrong));
            }
        }
    }

    /// All but its metrics, which are in `flattened` until no probe needs them as its base's any more.
    fn probe(
        &mut self,
        scoped: &str,
        probe: &'a ast::Probe,
        flattened: &mut HashMap<String, Vec<Metric>>,
    ) -> Probe {
        let base = probe.base.as_ref().and_then(|path| self.base(scoped, path));
        self.flatten(scoped, flattened);
        let metrics = flattened.get(scoped).map_or(0, Vec::len);
        if metrics > MAX_METRICS {
            let message =
                format!("probe `{scoped}` has {metrics} metrics: at most {MAX_METRICS} are allowed");
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
            demand: probe.demand.as_deref().map(demand),
            base,
            metrics: Vec::new(),
            place: NameSpan(probe.name.span),
        }
    }

    /// Finds the metrics of a probe and of all its bases, the farthest base first. A chain is walked, not recursed, so that its length does not matter.
    fn flatten(&mut self, scoped: &str, flattened: &mut HashMap<String, Vec<Metric>>) {
        let mut chain: Vec<(String, &'a ast::Probe)> = Vec::new();
        let mut on_the_way = HashSet::new();
        let mut next = Some(scoped.to_owned());
        let mut metrics = Vec::new();
        while let Some(name) = next.take() {
            if let Some(known) = flattened.get(&name) {
                metrics = known.clone();
                break;
            }
            let Some(&(DeclaredItem::Probe(probe), span)) = self.table.get(&name) else { break };
            if !on_the_way.insert(name.clone()) {
                let first = chain.iter().position(|(seen, _)| *seen == name).unwrap_or_default();
                let message = format!("probe `{name}` is its own base");
                let diagnostic =
                    Diagnostic::new(Code::InheritanceCycle, span, message, "inherits from itself");
                let cycle = chain[first..].iter().map(|(name, _)| name.as_str());
                self.wrong.push(diagnostic.cycle_note(cycle, "inherits from"));
                break;
            }
            chain.push((name.clone(), probe));
            next = probe.base.as_ref().and_then(|path| self.lookup(&name, path));
        }
        for (name, probe) in chain.into_iter().rev() {
            self.check_names(&probe.metrics, &metrics);
            let own = self.metrics(&name, &probe.metrics);
            self.account(probe, &mut metrics);
            metrics.extend(own);
            flattened.insert(name, metrics.clone());
        }
    }

    /// Counts inherited metrics, and drops them above the limit: otherwise a small file could fill the memory.
    fn account(&mut self, probe: &ast::Probe, inherited: &mut Vec<Metric>) {
        if self.inherited <= MAX_INHERITED && self.inherited + inherited.len() > MAX_INHERITED {
            let message = format!("all probes together inherit more than {MAX_INHERITED} metrics");
            let diagnostic =
                Diagnostic::new(Code::TooManyMetrics, probe.name.span, message, "exceeds the limit");
            self.wrong.push(diagnostic.help("inherit from fewer or smaller probes"));
        }
        self.inherited += inherited.len();
        if self.inherited > MAX_INHERITED {
            inherited.clear();
        }
    }

    fn metrics(&mut self, scope: &str, metrics: &[ast::Metric]) -> Vec<Metric> {
        let resolved = metrics.iter().filter_map(|metric| {
            let kind = self.kind(scope, &metric.kind)?;
            self.refer_to_enumerators(&metric.limits, &kind);
            Some(Metric {
                name: metric.name.text.clone(),
                limits: limits::resolve(&metric.limits, &kind, &self.enums, self.wrong),
                kind,
                doc: metric.doc.clone(),
                unit: metric.unit.clone(),
                behavior: metric.behavior,
                label: metric.label.clone(),
                place: NameSpan(metric.name.span),
            })
        });
        resolved.collect()
    }

    /// Reports members of a struct that are blobs.
    fn check_blobs(&mut self, members: &[Metric]) {
        for member in members.iter().filter(|member| matches!(member.kind, Type::Blob(_))) {
            let message = format!("member `{}` of a struct cannot be a blob", member.name);
            let wrong = Diagnostic::new(Code::BadBlob, member.place.0, message, "within a struct");
            self.wrong.push(wrong.help("declare it as a metric of the probe: one image a sample"));
        }
    }

    fn kind(&mut self, scope: &str, kind: &ast::Type) -> Option<Type> {
        match kind {
            ast::Type::Primitive(simple) => Some(Type::Primitive(*simple)),
            ast::Type::Vector(element) => Some(Type::Vector(Box::new(self.kind(scope, element)?))),
            ast::Type::Blob(of) => Some(Type::Blob(*of)),
            ast::Type::Named(path) => {
                let Some(found) = self.lookup(scope, path) else {
                    self.unknown(scope, path, "type");
                    return None;
                };
                self.refer(path, &found);
                match self.table[&found].0 {
                    DeclaredItem::Struct(_) => Some(Type::Struct(found)),
                    DeclaredItem::Enum(_) => Some(Type::Enum(found)),
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
            self.unknown(scoped, path, "probe");
            return None;
        };
        self.refer(path, &found);
        match self.table[&found].0 {
            DeclaredItem::Probe(_) => Some(found),
            other => {
                self.wrong_kind(path, other, "a probe");
                None
            }
        }
    }

    fn refer(&mut self, path: &ast::Path, found: &str) {
        let reference = Reference { place: path.span, target: self.table[found].1 };
        // `Port a, b;` has one path but two metrics.
        if self.references.last() != Some(&reference) {
            self.references.push(reference);
        }
    }

    /// Enumerators that limits name.
    fn refer_to_enumerators(&mut self, limits: &ast::Limits, kind: &Type) {
        let mut element = kind;
        while let Type::Vector(inner) = element {
            element = inner;
        }
        let Type::Enum(name) = element else { return };
        let Some(declared) = self.enums.get(name) else { return };
        for condition in limits.warn.iter().chain(&limits.alarm) {
            let ast::Condition::Is(wanted) = condition else { continue };
            let found = declared.enumerator(&wanted.text);
            let reference = found.map(|known| Reference { place: wanted.span, target: known.place.0 });
            self.references.extend(reference);
        }
    }

    /// From the innermost scope outwards; a rooted path only at the root.
    fn lookup(&self, scope: &str, path: &ast::Path) -> Option<String> {
        find(&self.table, if path.rooted { "" } else { scope }, &spelled(path))
    }

    fn unknown(&mut self, scope: &str, path: &ast::Path, what: &str) {
        let wanted = spelled(path);
        let message = format!("unknown {what} `{wanted}`");
        let mut diagnostic = Diagnostic::new(Code::UnknownName, path.span, message, "not declared");
        let help = self.suggestion(scope, &wanted, what);
        diagnostic.help = help.map(|known| format!("did you mean `{known}`?"));
        self.wrong.push(diagnostic);
    }

    /// Returns the known name that is most similar to an unknown one. Each search compares all names, so their number is limited.
    fn suggestion(&mut self, scope: &str, wanted: &str, what: &str) -> Option<String> {
        self.suggestions = self.suggestions.checked_sub(1)?;
        let last = last(wanted);
        if let Some(simple) = simple_for(last).filter(|_| what == "type") {
            return Some(simple.into());
        }
        let simple = Primitive::ALL.iter().map(|primitive| primitive.name()).filter(|_| what == "type");
        let fits =
            |scoped: &&String| matches!(self.table[*scoped].0, DeclaredItem::Probe(_)) == (what == "probe");
        let declared = self.order.iter().filter(fits);
        let known = simple.chain(declared.clone().map(|scoped| self::last(scoped)));
        // `flot32` is nearer to `float32` than to any type here.
        let other = nearest(last, other_types().filter(|_| what == "type"));
        let found = match (nearest(last, known), other) {
            (Some(known), Some(other)) if distance(last, known) <= distance(last, other) => known,
            (Some(known), None) => known,
            (_, other) => return simple_for(other?).map(str::to_owned),
        };
        // The bare name if it resolves here, otherwise the path to it.
        let bare = find(&self.table, scope, found);
        match declared.clone().find(|scoped| self::last(scoped) == found) {
            Some(scoped) if bare.as_ref().is_none_or(|bare| self::last(bare) != found) => {
                Some(scoped.clone())
            }
            _ => Some(found.into()),
        }
    }

    fn wrong_kind(&mut self, path: &ast::Path, found: DeclaredItem<'_>, wanted: &str) {
        let message = format!("`{}` is {}, not {wanted}", spelled(path), with_article(found.noun()));
        self.wrong.push(Diagnostic::new(Code::WrongKind, path.span, message, format!("expected {wanted}")));
    }

    /// No metric may have the name of another one, inherited ones included.
    fn check_names(&mut self, metrics: &[ast::Metric], inherited: &[Metric]) {
        if metrics.is_empty() {
            return;
        }
        let mut seen: HashMap<&str, (Span, bool)> =
            inherited.iter().map(|metric| (metric.name.as_str(), (metric.place.0, true))).collect();
        for metric in metrics {
            let name = &metric.name;
            if let Some((first, is_inherited)) = seen.insert(&name.text, (name.span, false)) {
                let label = if is_inherited { "already declared by the base probe" } else { "again here" };
                let message = format!("`{}` is declared twice", name.text);
                let diagnostic = Diagnostic::new(Code::DuplicateName, name.span, message, label);
                self.wrong.push(diagnostic.related(first, "first here"));
            }
        }
    }

    fn check_uuids(&mut self, probes: &[Probe]) {
        let mut seen: HashMap<Uuid, (&str, Span)> = HashMap::new();
        for probe in probes {
            let Some(&(DeclaredItem::Probe(declared), _)) = self.table.get(&probe.name) else { continue };
            let Some((uuid, span)) = declared.uuid else { continue };
            if let Some((other, first)) = seen.insert(uuid, (&probe.name, span)) {
                let message = format!("probes `{other}` and `{}` have the same UUID", probe.name);
                let diagnostic = Diagnostic::new(Code::DuplicateUuid, span, message, "duplicate UUID");
                let help = "give one of them a new UUID: generate it with `uuidgen`";
                self.wrong.push(diagnostic.related(first, format!("used by `{other}`")).help(help));
            }
        }
    }
}

fn demand(of: &ast::Demand) -> Demand {
    Demand { min: of.min.value.to_f64(), max: of.max.value.to_f64() }
}

//! Looks up names, checks types and units, and bounds the memory of each rule.

mod action;
mod expression;
mod join;
mod overlap;
mod reference;
mod rule;
mod window;

use crate::{
    ast::{Declaration, Input, Kind, Name, Severity},
    code::{Code, Diagnostic},
    parser,
    program::{self, Program, Source},
    unit::Unit,
};
use oasis_pdl::{Sources, Span, nearest};
use oasis_wire::schema::ProbeType;
use std::{collections::HashMap, io, path::Path, sync::Arc};

/// Longest chain of derived instances that read one another.
const MAX_CHAIN: usize = 16;

/// The result of a compilation.
#[derive(Debug, Default)]
pub struct Report {
    /// The rules without errors.
    pub program: Program,
    /// The declarations of the text.
    pub(crate) declarations: Vec<Declaration>,
    /// The errors, in the order of the text.
    pub diagnostics: Vec<Diagnostic>,
    /// Warnings, in the order of the text: places that probably have another meaning than intended. They keep no rule
    /// from running.
    pub warnings: Vec<Diagnostic>,
    /// The text.
    pub sources: Sources,
}

/// An alarm as its text declares it, whether or not it compiles.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeclaredAlarm {
    /// Its name.
    pub name: String,
    /// Urgency of the alarm.
    pub severity: Severity,
    /// Whether it stays until it is acknowledged.
    pub latch: bool,
    /// The text of its notifications.
    pub message: Option<String>,
    /// The names of the destinations that are notified.
    pub notify: Option<Vec<String>>,
}

impl Report {
    /// Returns the report of a file that could not be read.
    pub fn unreadable(path: &Path, error: &io::Error) -> Self {
        let message = format!("cannot read {}: {error}", path.display());
        let wrong = Diagnostic::without_place(Code::UnreadableFile, message);
        Self { diagnostics: vec![wrong], ..Self::default() }
    }

    /// The alarms that are declared, those with errors too: a rule that waits for its type is not removed.
    pub fn alarms(&self) -> Vec<DeclaredAlarm> {
        let alarms = self.declarations.iter().filter_map(|declaration| match &declaration.kind {
            Kind::Alarm(alarm) => Some(DeclaredAlarm {
                name: declaration.name.text.clone(),
                severity: alarm.severity.unwrap_or(Severity::Medium),
                latch: alarm.latch,
                message: alarm.message.clone(),
                notify: alarm.notify.clone(),
            }),
            Kind::Input(_) | Kind::Event(_) | Kind::Derive(_) | Kind::Check(_) => None,
        });
        alarms.collect()
    }

    /// Errors and warnings, in the order of the text.
    pub fn findings(&self) -> Vec<Diagnostic> {
        let mut all: Vec<_> = self.diagnostics.iter().chain(&self.warnings).cloned().collect();
        all.sort_by_key(|found| found.place.map(|place| place.start));
        all
    }

    /// Whether there are no errors.
    pub fn is_ok(&self) -> bool {
        self.diagnostics.is_empty()
    }
}

/// Compiles a file. `path` only says where the text is from; of several types of one name the last one counts.
pub fn compile(path: &Path, text: &str, types: &[Arc<ProbeType>]) -> Report {
    let mut sources = Sources::default();
    let file = sources.add(path.to_owned(), text.to_owned());
    let (declarations, mut wrong) = parser::parse(file, text);
    if declarations.is_empty() && wrong.is_empty() {
        wrong.push(empty(Span::new(file, text.len()..text.len())));
    }
    let mut compiler = Compiler {
        declarations: &declarations,
        types,
        names: HashMap::new(),
        inputs: HashMap::new(),
        derived: HashMap::new(),
        chain: Vec::new(),
        program: Program::default(),
        wrong,
        warnings: Vec::new(),
    };
    compiler.declare();
    compiler.rules();
    let Compiler { program, wrong: mut diagnostics, mut warnings, .. } = compiler;
    for found in [&mut diagnostics, &mut warnings] {
        found.sort_by_key(|wrong| wrong.place.map(|place| place.start));
    }
    Report { program, declarations, diagnostics, warnings, sources }
}

/// An empty file is more often a wrong path or a failed download.
fn empty(end: Span) -> Diagnostic {
    let message = "no input, alarm, event, derived instance or check is declared";
    Diagnostic::new(Code::EmptyFile, end, message, "end of file without a declaration")
}

/// An error that was reported already.
#[derive(Debug, Clone, Copy)]
struct AlreadyReported;
type Compiled<T> = Result<T, AlreadyReported>;

struct Compiler<'a> {
    declarations: &'a [Declaration],
    types: &'a [Arc<ProbeType>],
    /// Declarations by name.
    names: HashMap<&'a str, usize>,
    /// Inputs by declaration: their number in the program, and their type.
    inputs: HashMap<usize, (usize, Arc<ProbeType>)>,
    /// Derived instances by declaration; `None` after an error.
    derived: HashMap<usize, Option<Derived>>,
    /// Declarations of the derived instances that are being compiled.
    chain: Vec<usize>,
    program: Program,
    wrong: Vec<Diagnostic>,
    warnings: Vec<Diagnostic>,
}

/// A derived instance as its readers see it.
#[derive(Debug, Clone)]
struct Derived {
    rule: usize,
    input: usize,
    every: u64,
    /// Names and units of its metrics; conditions have none.
    fields: Vec<(String, Option<Unit>)>,
}

/// The source of a rule, and its highest rate if that is known, in hertz.
#[derive(Debug, Clone, Copy)]
struct Reads {
    source: Source,
    input: usize,
    hertz: Option<f64>,
}

impl<'a> Compiler<'a> {
    fn report(&mut self, wrong: Diagnostic) -> AlreadyReported {
        self.wrong.push(wrong);
        AlreadyReported
    }

    /// Registers all names, and resolves the types of inputs.
    fn declare(&mut self) {
        for (at, declaration) in self.declarations.iter().enumerate() {
            let Name { text, span } = &declaration.name;
            if let Some(first) = self.names.insert(text, at) {
                let message = format!("duplicate `{text}`");
                let first = self.declarations[first].name.span;
                let wrong = Diagnostic::new(Code::DuplicateName, *span, message, "again here");
                self.report(wrong.related(first, "first here"));
            }
            if let Kind::Input(input) = &declaration.kind {
                // Its readers fail silently if it has an error.
                let _reported = self.input(at, &declaration.name, input);
            }
        }
    }

    fn input(&mut self, at: usize, name: &Name, input: &Input) -> Compiled<()> {
        let pattern = &input.pattern;
        self.check_pattern(pattern)?;
        let probe_type = self.probe_type(&input.probe_type)?;
        self.inputs.insert(at, (self.program.inputs.len(), probe_type.clone()));
        self.program.inputs.push(program::Input {
            name: name.text.clone(),
            pattern: pattern.text.clone(),
            probe_type: probe_type.name.clone(),
            columns: Vec::new(),
            schemas: Vec::new(),
        });
        Ok(())
    }

    fn check_pattern(&mut self, pattern: &Name) -> Compiled<()> {
        let parts = pattern.text.split_once('/');
        if parts.is_some_and(|(node, instance)| !node.is_empty() && !instance.is_empty()) {
            return Ok(());
        }
        let message = format!("{:?} names no instances", pattern.text);
        let wrong = Diagnostic::new(Code::BadPattern, pattern.span, message, "expected NODE/INSTANCE");
        Err(self.report(wrong.help("a `*` stands for any text: `\"*/processor\"`")))
    }

    fn probe_type(&mut self, name: &Name) -> Compiled<Arc<ProbeType>> {
        if let Some(found) = self.types.iter().rev().find(|known| known.name == name.text) {
            return Ok(found.clone());
        }
        let ends_with = format!("::{}", name.text);
        let known = || self.types.iter().map(|known| &*known.name);
        let similar =
            known().find(|known| known.ends_with(&ends_with)).or_else(|| nearest(&name.text, known()));
        let help = match similar {
            Some(similar) => format!("did you mean `{similar}`?"),
            None => "nodes register types: connect one, or name the PDL file (--pdl) or an archive (--archive) in a command".into(),
        };
        let message = format!("unknown probe type `{}`", name.text);
        Err(self.report(Diagnostic::new(Code::UnknownType, name.span, message, "not found").help(help)))
    }

    fn rules(&mut self) {
        for (at, declaration) in self.declarations.iter().enumerate() {
            // Errors have been reported; the other rules are compiled.
            let _reported = match &declaration.kind {
                Kind::Input(_) => Ok(()),
                Kind::Derive(_) => self.derived(at, declaration.name.span).map(drop),
                Kind::Alarm(alarm) => self.alarm(&declaration.name, alarm),
                Kind::Event(event) => self.event(&declaration.name, event),
                Kind::Check(check) => self.check(&declaration.name, check),
            };
        }
    }

    /// Compiles a derived instance before its first reader.
    fn derived(&mut self, at: usize, place: Span) -> Compiled<Derived> {
        if let Some(known) = self.derived.get(&at) {
            return known.clone().ok_or(AlreadyReported);
        }
        let declaration = &self.declarations[at];
        let Kind::Derive(derive) = &declaration.kind else { return Err(AlreadyReported) };
        if self.chain.contains(&at) {
            return Err(self.cycle(at, place));
        }
        if self.chain.len() == MAX_CHAIN {
            let message = format!("derived instances read one another in a chain of more than {MAX_CHAIN}");
            return Err(self.report(Diagnostic::new(Code::TooLarge, place, message, "exceeds the limit")));
        }
        self.chain.push(at);
        let found = self.derive(&declaration.name, derive);
        self.chain.pop();
        self.derived.insert(at, found.as_ref().ok().cloned());
        found
    }

    fn cycle(&mut self, at: usize, place: Span) -> AlreadyReported {
        let name = |at: &usize| format!("`{}`", self.declarations[*at].name.text);
        let cycle = self.chain.iter().skip_while(|&&open| open != at).chain([&at]);
        let cycle = cycle.map(name).collect::<Vec<_>>().join(" reads ");
        let message = format!("{} is computed from itself", name(&at));
        self.report(Diagnostic::new(Code::Cycle, place, message, "closes the cycle").note(cycle))
    }
}

//! Compiles files and their includes to one model.

use crate::{
    ast::File,
    columns,
    diagnostic::{Code, Diagnostic},
    model::Model,
    names, parser,
    source::{FileId, Loader, Reference, Sources, Span, normalized},
};
use std::{
    io::ErrorKind,
    path::{Path, PathBuf},
};

/// Deepest chain of includes.
const MAX_INCLUDES: usize = 64;

/// The result of a compilation.
#[derive(Debug, Default)]
pub struct Report {
    /// All that was declared, as far as it could be parsed.
    pub model: Model,
    /// The errors, in the order of the text.
    pub diagnostics: Vec<Diagnostic>,
    /// The warnings: the model is valid.
    pub warnings: Vec<Diagnostic>,
    /// The targets of names and includes, where known.
    pub references: Vec<Reference>,
    /// The texts.
    pub sources: Sources,
}

impl Report {
    /// Whether there are no errors.
    pub fn is_ok(&self) -> bool {
        self.diagnostics.is_empty()
    }

    /// Errors and warnings, in the order of the text.
    pub fn findings(&self) -> Vec<Diagnostic> {
        let mut all: Vec<_> = self.diagnostics.iter().chain(&self.warnings).cloned().collect();
        all.sort_by_key(|found| found.place.map(|place| (place.file, place.start)));
        all
    }

    /// Returns errors and warnings as text for people.
    pub fn render(&self, colors: bool) -> String {
        let findings = self.findings();
        let rendered = findings.iter().map(|diagnostic| diagnostic.render(&self.sources, colors));
        rendered.collect::<Vec<_>>().join("\n\n")
    }
}

/// Parses one file: names are not looked up and includes not read. `path` only says where the text is from.
pub fn parse(path: &Path, text: &str) -> (File, Report) {
    let mut sources = Sources::default();
    let id = sources.add(normalized(path), text.to_owned());
    let (file, diagnostics) = parser::parse(id, text);
    (file, Report { diagnostics, sources, ..Report::default() })
}

/// Compiles files and all that they include. Includes are looked for beside the file that includes them, then in `include_dirs`.
pub fn compile(paths: &[PathBuf], include_dirs: &[PathBuf], loader: &dyn Loader) -> Report {
    let mut compilation = Compilation {
        loader,
        include_dirs,
        sources: Sources::default(),
        files: Vec::new(),
        open: Vec::new(),
        references: Vec::new(),
        wrong: Vec::new(),
    };
    for path in paths {
        compilation.root(path);
    }
    let mut wrong = compilation.wrong;
    let (model, names) = names::resolve(compilation.files.iter(), &mut wrong);
    wrong.sort_by_key(|diagnostic| diagnostic.place.map(|place| (place.file, place.start)));
    // `Unknown a, b;` has one error but two metrics.
    wrong.dedup();
    let mut references = compilation.references;
    references.extend(names);
    let warnings = columns::check(&model);
    Report { model, diagnostics: wrong, warnings, references, sources: compilation.sources }
}

struct Compilation<'a> {
    loader: &'a dyn Loader,
    include_dirs: &'a [PathBuf],
    sources: Sources,
    /// Parsed files, included ones before those that include them.
    files: Vec<File>,
    /// The chain of includes that leads here.
    open: Vec<FileId>,
    references: Vec<Reference>,
    wrong: Vec<Diagnostic>,
}

impl Compilation<'_> {
    fn root(&mut self, path: &Path) {
        let path = normalized(path);
        if self.sources.file(&path).is_some() {
            return;
        }
        match self.loader.load(&path) {
            Ok(text) => self.file(path, text),
            Err(error) => self.wrong.push(Diagnostic::unreadable(&path, &error)),
        }
    }

    fn file(&mut self, path: PathBuf, text: String) {
        let id = self.sources.add(path, text);
        let (parsed, wrong) = parser::parse(id, self.sources.text(id));
        if wrong.is_empty() && parsed.declarations.is_empty() && parsed.includes.is_empty() {
            self.wrong.push(empty(id, self.sources.text(id)));
        }
        self.wrong.extend(wrong);
        self.open.push(id);
        for include in &parsed.includes {
            self.include(id, &include.text, include.span);
        }
        self.open.pop();
        self.files.push(parsed);
    }

    fn include(&mut self, from: FileId, wanted: &str, span: Span) {
        let beside = self.sources.path(from).parent().unwrap_or(Path::new("")).to_owned();
        let places: Vec<PathBuf> =
            [&beside].into_iter().chain(self.include_dirs).map(|dir| normalized(&dir.join(wanted))).collect();
        let mut reason = None;
        for path in &places {
            if let Some(known) = self.sources.file(path) {
                self.references.push(Reference { place: span, target: Span::new(known, 0..0) });
                return self.again(known, wanted, span);
            }
            let loaded = self.loader.load(path);
            if let Err(error) = &loaded
                && error.kind() != ErrorKind::NotFound
            {
                reason.get_or_insert(error.to_string());
            }
            if let Ok(text) = loaded {
                if self.open.len() < MAX_INCLUDES {
                    let target = Span::new(self.sources.next(), 0..0);
                    self.references.push(Reference { place: span, target });
                    return self.file(path.clone(), text);
                }
                let message = format!("includes nest deeper than {MAX_INCLUDES}");
                return self.wrong.push(Diagnostic::new(Code::TooDeep, span, message, "exceeds the limit"));
            }
        }
        self.wrong.push(not_found(wanted, span, &places, reason));
    }

    /// A file that was read already is not read again; it must not be one that is still open.
    fn again(&mut self, known: FileId, wanted: &str, span: Span) {
        if self.open.contains(&known) {
            let message = format!("{wanted:?} includes itself");
            let diagnostic = Diagnostic::new(Code::IncludeCycle, span, message, "closes the cycle");
            self.wrong.push(diagnostic.note(self.chain(known)));
        }
    }

    fn chain(&self, back_to: FileId) -> String {
        let cycle = self.open.iter().skip_while(|&&file| file != back_to).chain([&back_to]);
        cycle
            .map(|&file| self.sources.path(file).display().to_string())
            .collect::<Vec<_>>()
            .join(" includes ")
    }
}

/// A file that only includes others is valid. An empty file is more often a wrong path or a failed download.
fn empty(file: FileId, text: &str) -> Diagnostic {
    let end = Span::new(file, text.len()..text.len());
    let message = "no module, struct, enum or probe is declared";
    Diagnostic::new(Code::EmptyFile, end, message, "end of file without a declaration")
}

/// `reason` says why the first existing file could not be read.
fn not_found(wanted: &str, span: Span, places: &[PathBuf], reason: Option<String>) -> Diagnostic {
    let looked = places.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ");
    let message = format!("cannot read {wanted:?}");
    let label = reason.as_deref().unwrap_or("not found");
    let diagnostic = Diagnostic::new(Code::IncludeNotFound, span, message, label);
    let diagnostic = diagnostic.note(format!("tried {looked}"));
    if reason.is_some() { diagnostic } else { diagnostic.help("add its folder with `-I`") }
}

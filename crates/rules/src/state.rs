//! The state that an engine publishes: its files and rules. The API shows it, and requests that the files are read
//! again.

use crate::{
    compile::Report,
    program::{Body, Program, Raise, Rule, Severity},
};
use oasis_pdl::{ErrorCode, Span};
use std::{
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

/// The files and rules of an engine, shared by the engine that fills it and the API that shows it. Neither waits for the other.
///
/// The engine calls [`publish`](Self::publish) after each check of its files and when the number of instances changes.
/// Once [`take_reload`](Self::take_reload) returns true, the engine checks the files again.
///
/// ```
/// use oasis_rules::{FileState, LoadedFile, Loaded, RulesState};
///
/// let state = RulesState::new(Some("/var/lib/oasis/rules/files".into()), true);
/// let file = LoadedFile { name: "pump.rules".into(), state: FileState::Loaded, problems: Vec::new(), text: None };
/// state.publish(Loaded { files: vec![file], rules: Vec::new() });
/// // The API has written the file.
/// state.request_reload(Some("pump.rules"));
/// assert_eq!(state.loaded().files[0].state, FileState::Changed);
/// assert!(state.take_reload() && !state.take_reload());
/// ```
#[derive(Debug, Default)]
pub struct RulesState {
    files: Option<PathBuf>,
    is_editable: bool,
    loaded: Mutex<Loaded>,
    wants_reload: AtomicBool,
}

/// The files and rules that an engine has loaded.
#[derive(Debug, Clone, Default)]
pub struct Loaded {
    /// The files that it has read, in their order.
    pub files: Vec<LoadedFile>,
    /// The rules that it evaluates, those from limits of PDL files too.
    pub rules: Vec<LoadedRule>,
}

/// A file of an engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadedFile {
    /// The name of a file that can be edited, and the path of others.
    pub name: String,
    /// Whether its rules run.
    pub state: FileState,
    /// Why they do not.
    pub problems: Vec<Problem>,
    /// The text of a file that pages only read; none of others, and of one that cannot be read.
    pub text: Option<Arc<str>>,
}

/// Whether the rules of a file run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileState {
    /// They run.
    Loaded,
    /// The file has errors. Its earlier rules stay active.
    Refused,
    /// The file has changed, and has not been read again yet.
    Changed,
}

impl FileState {
    /// As in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Loaded => "loaded",
            Self::Refused => "refused",
            Self::Changed => "changed",
        }
    }
}

/// A rule of an engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadedRule {
    /// Its name.
    pub name: String,
    /// `alarm`, `event`, `derive` or `check`.
    pub kind: &'static str,
    /// Its file, as in [`LoadedFile::name`]; none if it is from the limits of a PDL file.
    pub file: Option<String>,
    /// The patterns of the instances that it reads: `NODE/INSTANCE`.
    pub inputs: Vec<String>,
    /// Urgency, if it is an alarm.
    pub severity: Option<Severity>,
    /// Whether something keeps it from toggling while a value is near its limit: a condition that clears it, or a time for which a condition must hold. Also true
    /// of rules that are no alarms.
    pub is_damped: bool,
    /// The most memory that it takes for each instance, in bytes.
    pub memory_bytes: usize,
    /// The instances that it reads now.
    pub instances: usize,
}

impl LoadedRule {
    /// Creates the entry of a rule of a program, which reads this many instances.
    pub fn new(program: &Program, rule: &Rule, file: Option<String>, instances: usize) -> Self {
        let severity = match &rule.body {
            Body::Alarm(alarm) => Some(alarm.severity),
            Body::Event(_) | Body::Derive(_) | Body::Check(_) => None,
        };
        Self {
            name: rule.name.clone(),
            kind: rule.body.keyword(),
            file,
            inputs: [rule.input]
                .into_iter()
                .chain(rule.others())
                .filter_map(|input| Some(program.inputs.get(input)?.pattern.clone()))
                .collect(),
            severity,
            is_damped: is_damped(&rule.body),
            memory_bytes: rule.memory_bytes(),
            instances,
        }
    }
}

fn is_damped(body: &Body) -> bool {
    let Body::Alarm(alarm) = body else { return true };
    alarm.clear.is_some()
        || match &alarm.raise {
            Raise::Condition(held) => held.duration > 0,
            Raise::Silent(_) => true,
        }
}

/// An error or a warning in a file, without its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Its code: `R0001` and so on.
    pub code: String,
    /// Whether it keeps no rule from running.
    pub is_warning: bool,
    /// One sentence.
    pub message: String,
    /// The remedy, or the rule that explains it.
    pub help: Option<String>,
    /// Its part of the text; lines and columns count from 1. None if it has no place in the text.
    pub place: Option<TextRange>,
}

/// A part of a text. The end is after the last character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct TextRange {
    pub line: usize,
    pub column: usize,
    pub end_line: usize,
    pub end_column: usize,
}

impl Report {
    /// The errors, in the order of the text.
    pub fn problems(&self) -> Vec<Problem> {
        self.without_text(&self.diagnostics)
    }

    /// Errors and warnings, in the order of the text.
    pub fn problems_and_warnings(&self) -> Vec<Problem> {
        self.without_text(&self.findings())
    }

    fn without_text(&self, found: &[crate::Diagnostic]) -> Vec<Problem> {
        let place = |span: Span| {
            let (line, column) = self.sources.line_and_column(span);
            let (end_line, end_column) = self.sources.line_and_column(Span { start: span.end, ..span });
            TextRange { line, column, end_line, end_column }
        };
        let problem = |wrong: &crate::Diagnostic| Problem {
            code: wrong.code.name(),
            is_warning: wrong.code.is_warning(),
            message: wrong.message.clone(),
            help: wrong.help.clone().or_else(|| wrong.note.clone()),
            place: wrong.place.map(place),
        };
        found.iter().map(problem).collect()
    }
}

impl RulesState {
    /// Creates the state of an engine with files in this directory, which can be changed there if `is_editable`.
    /// Nothing is loaded yet.
    pub fn new(files: Option<PathBuf>, is_editable: bool) -> Self {
        Self { files, is_editable, ..Self::default() }
    }

    /// The directory of the files that can be edited.
    pub fn directory(&self) -> Option<&Path> {
        self.files.as_deref()
    }

    /// Whether files of the directory may be changed.
    pub fn is_editable(&self) -> bool {
        self.is_editable && self.files.is_some()
    }

    /// Returns the files and rules that the engine has loaded.
    pub fn loaded(&self) -> Loaded {
        self.lock().clone()
    }

    /// Says what the engine has loaded now.
    pub fn publish(&self, loaded: Loaded) {
        *self.lock() = loaded;
    }

    /// Requests that the engine reads its files again. The file that was changed is shown as changed until then.
    pub fn request_reload(&self, changed: Option<&str>) {
        if let Some(changed) = changed {
            let mut loaded = self.lock();
            match loaded.files.iter_mut().find(|file| file.name == changed) {
                Some(file) => file.state = FileState::Changed,
                None => loaded.files.push(LoadedFile {
                    name: changed.to_owned(),
                    state: FileState::Changed,
                    problems: Vec::new(),
                    text: None,
                }),
            }
        }
        self.wants_reload.store(true, Ordering::Release);
    }

    /// Whether a reload was requested since the last call. Call it before reading the files, so that no change is
    /// missed.
    pub fn take_reload(&self) -> bool {
        self.wants_reload.swap(false, Ordering::AcqRel)
    }

    fn lock(&self) -> MutexGuard<'_, Loaded> {
        // Nothing under this lock leaves a partial state.
        self.loaded.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

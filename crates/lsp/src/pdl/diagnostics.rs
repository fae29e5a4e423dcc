//! Diagnostics, file by file.

use super::workspace::Workspace;
use crate::text::Lines;
use lsp_types::{
    Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity, Location, NumberOrString,
    PublishDiagnosticsParams,
};
use oasis_pdl::{ErrorCode, Report, Span};
use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

/// Maximum diagnostics of a file. Editors do not show thousands.
const MAX_DIAGNOSTICS: usize = 500;

/// Diagnostics of the open documents and of their includes. Files that had some before get an empty list.
pub fn publish(workspace: &mut Workspace, reported: &mut BTreeSet<PathBuf>) -> Vec<PublishDiagnosticsParams> {
    workspace.compile();
    let mut by_path: BTreeMap<PathBuf, Vec<Diagnostic>> = BTreeMap::new();
    let open = workspace.paths().map(Path::to_owned);
    for path in open.chain(std::mem::take(reported)) {
        by_path.entry(path).or_default();
    }
    for report in workspace.reports() {
        collect(workspace, report, &mut by_path);
    }
    let wrong = by_path.iter().filter(|(_, diagnostics)| !diagnostics.is_empty());
    *reported = wrong.map(|(path, _)| path.clone()).collect();
    let params = by_path.into_iter().filter_map(|(path, diagnostics)| {
        let uri = workspace.uri(&path)?;
        Some(PublishDiagnosticsParams { uri, diagnostics, version: workspace.version(&path) })
    });
    params.collect()
}

fn collect(workspace: &Workspace, report: &Report, by_path: &mut BTreeMap<PathBuf, Vec<Diagnostic>>) {
    let mut lines: BTreeMap<PathBuf, Lines<'_>> = BTreeMap::new();
    for diagnostic in report.diagnostics.iter().chain(&report.warnings) {
        let Some(place) = diagnostic.place else { continue };
        let path = report.sources.path(place.file);
        let of_file = by_path.entry(path.to_owned()).or_default();
        if of_file.len() >= MAX_DIAGNOSTICS {
            continue;
        }
        let related = diagnostic.related.iter().filter_map(|(place, label)| {
            let location = location(workspace, report, *place, &mut lines)?;
            Some(DiagnosticRelatedInformation { location, message: label.clone() })
        });
        let related: Vec<_> = related.collect();
        let Some(here) = location(workspace, report, place, &mut lines) else { continue };
        let diagnostic = Diagnostic {
            range: here.range,
            severity: Some(if diagnostic.code.is_warning() {
                DiagnosticSeverity::WARNING
            } else {
                DiagnosticSeverity::ERROR
            }),
            code: Some(NumberOrString::String(diagnostic.code.name())),
            source: Some("pdl".into()),
            message: message(diagnostic),
            related_information: (!related.is_empty()).then_some(related),
            ..Diagnostic::default()
        };
        // A file that two documents include is reported once.
        if !of_file.contains(&diagnostic) {
            of_file.push(diagnostic);
        }
    }
}

fn location<'a>(
    workspace: &Workspace,
    report: &'a Report,
    place: Span,
    lines: &mut BTreeMap<PathBuf, Lines<'a>>,
) -> Option<Location> {
    let path = report.sources.path(place.file);
    let uri = workspace.uri(path)?;
    let lines = lines.entry(path.to_owned()).or_insert_with(|| Lines::new(report.sources.text(place.file)));
    Some(Location::new(uri, lines.range(place)))
}

/// Message, rule and advice, a line each.
fn message(diagnostic: &oasis_pdl::Diagnostic) -> String {
    let note = diagnostic.note.as_ref().map(|note| format!("\nnote: {note}"));
    let help = diagnostic.help.as_ref().map(|help| format!("\nhelp: {help}"));
    [Some(diagnostic.message.clone()), note, help].into_iter().flatten().collect()
}

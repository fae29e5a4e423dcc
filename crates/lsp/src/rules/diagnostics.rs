//! Diagnostics of a document.

use crate::text::Lines;
use lsp_types::{
    Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity, Location, NumberOrString, Range, Uri,
};
use oasis_pdl::ErrorCode;
use oasis_rules::Report;

/// Most diagnostics of a file. Editors do not show thousands.
const MAX_DIAGNOSTICS: usize = 500;
const SOURCE: &str = "rules";

/// The errors and warnings of a compilation.
pub fn findings(report: &Report, uri: &Uri, text: &str) -> Vec<Diagnostic> {
    let lines = Lines::new(text);
    let error = |wrong: &oasis_rules::Diagnostic| {
        let related = wrong.related.iter().map(|(place, label)| DiagnosticRelatedInformation {
            location: Location::new(uri.clone(), lines.range(*place)),
            message: label.clone(),
        });
        let related: Vec<_> = related.collect();
        Diagnostic {
            range: wrong.place.map(|place| lines.range(place)).unwrap_or_default(),
            severity: Some(if wrong.code.is_warning() {
                DiagnosticSeverity::WARNING
            } else {
                DiagnosticSeverity::ERROR
            }),
            code: Some(NumberOrString::String(wrong.code.name())),
            source: Some(SOURCE.into()),
            message: message(wrong),
            related_information: (!related.is_empty()).then_some(related),
            ..Diagnostic::default()
        }
    };
    report.findings().iter().take(MAX_DIAGNOSTICS).map(error).collect()
}

/// Says at the begin of a document why its types are not known.
pub fn without_types(problem: &str) -> Diagnostic {
    Diagnostic {
        range: Range::default(),
        severity: Some(DiagnosticSeverity::WARNING),
        source: Some(SOURCE.into()),
        message: format!("probe types are not known: {problem}"),
        ..Diagnostic::default()
    }
}

/// Message, rule and advice, a line each.
fn message(wrong: &oasis_rules::Diagnostic) -> String {
    let note = wrong.note.as_ref().map(|note| format!("\nnote: {note}"));
    let help = wrong.help.as_ref().map(|help| format!("\nhelp: {help}"));
    [Some(wrong.message.clone()), note, help].into_iter().flatten().collect()
}

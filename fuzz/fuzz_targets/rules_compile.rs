//! Any text is compiled or refused with diagnostics that point into it; what is compiled is explained, and formatting it twice is formatting it once. Editors have an answer at any place.

#![no_main]

use libfuzzer_sys::fuzz_target;
use oasis_rules::{EditorCatalog, Report, compile, complete, format, hover, outline, program::Body};
use std::path::Path;

fn bodies(report: &Report) -> Vec<&Body> {
    report.program.rules.iter().map(|rule| &rule.body).collect()
}

fuzz_target!(|text: &str| {
    let path = Path::new("a.rules");
    let report = compile(path, text, oasis_fuzz::types());
    drop(report.explain());
    for wrong in &report.diagnostics {
        assert!(!wrong.render(&report.sources, true).is_empty());
        drop(wrong.to_json(&report.sources));
    }
    let around = EditorCatalog { types: oasis_fuzz::types().to_vec(), instances: Vec::new() };
    for offset in [text.len() / 2, text.len()] {
        assert!(complete(text, offset, &around).from <= offset);
        hover(text, offset, &around);
    }
    outline(text);
    let Ok(once) = format(path, text) else { return };
    let twice = format(path, &once).ok().expect("what was laid out can be laid out");
    assert_eq!(once, twice);
    let again = compile(path, &once, oasis_fuzz::types());
    assert_eq!(again.diagnostics.len(), report.diagnostics.len());
    assert_eq!(format!("{:?}", bodies(&again)), format!("{:?}", bodies(&report)));
});

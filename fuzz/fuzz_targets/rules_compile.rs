//! Any text is compiled or refused with diagnostics that point into it; what is compiled is explained, and formatting it twice is formatting it once.

#![no_main]

use libfuzzer_sys::fuzz_target;
use oasis_rules::{compile, format};
use std::path::Path;

fuzz_target!(|text: &str| {
    let path = Path::new("a.rules");
    let report = compile(path, text, oasis_fuzz::types());
    for wrong in &report.diagnostics {
        assert!(!wrong.render(&report.sources, true).is_empty());
        drop(wrong.to_json(&report.sources));
    }
    let Ok(once) = format(path, text) else { return };
    let twice = format(path, &once).ok().expect("what was laid out can be laid out");
    assert_eq!(once, twice);
    assert_eq!(compile(path, &once, oasis_fuzz::types()).explain(), report.explain());
});

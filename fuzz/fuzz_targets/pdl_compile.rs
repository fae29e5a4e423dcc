//! Any text is compiled or refused with diagnostics that point into it; what is compiled has code in every language and a schema that nodes take.
//!
//! A NUL ends a file; the second one is `b.pdl`, which the first can include.

#![no_main]

use libfuzzer_sys::fuzz_target;
use oasis_pdl::compile;
use oasis_pdl_gen::{Language, json_schema};
use std::{collections::HashMap, path::PathBuf};

fuzz_target!(|text: &str| {
    let names = ["a.pdl", "b.pdl"].map(PathBuf::from);
    let files: HashMap<PathBuf, String> = names.iter().cloned().zip(text.splitn(2, '\0').map(str::to_owned)).collect();
    let report = compile(&names[..1], &[], &files);
    if !report.is_ok() {
        assert!(!report.render(true).is_empty());
        report.diagnostics.iter().for_each(|diagnostic| drop(diagnostic.to_json(&report.sources)));
        return;
    }
    for probe in &report.model.probes {
        if let Some(schema) = json_schema::schema(&report.model, probe) {
            schema.validate().expect("a node takes what the compiler makes");
        }
    }
    for (_, language) in Language::ALL {
        language.generate(&report.model, "a.pdl");
    }
});

//! The rules of the guide compile, and stand as `oasis rules fmt` writes them.

use oasis_rules::{compile, format};
use std::{collections::HashMap, path::PathBuf, sync::Arc};

const GUIDE: &str = include_str!("../../../../docs/guides/write-rules.md");
const PROCESSOR: &str = include_str!("../../../../pdl/processor.pdl");

#[test]
fn the_example_of_the_guide_compiles() {
    let start = GUIDE.find("   input cpu").unwrap();
    let block = &GUIDE[start..start + GUIDE[start..].find("   ```").unwrap()];
    let text: String = block.lines().map(|line| format!("{}\n", line.get(3..).unwrap_or_default())).collect();
    let path = PathBuf::from("processor.pdl");
    let files = HashMap::from([(path.clone(), PROCESSOR.to_owned())]);
    let model = oasis_pdl::compile(&[path], &[], &files).model;
    let schemas = model.probes.iter().filter_map(|probe| oasis_pdl_gen::json_schema::schema(&model, probe));
    let types: Vec<_> = schemas.map(Arc::new).collect();
    let report = compile("busy.rules".as_ref(), &text, &types);
    let errors: Vec<_> =
        report.diagnostics.iter().map(|wrong| wrong.render(&report.sources, false)).collect();
    assert!(report.is_ok(), "{}", errors.join("\n"));
    assert_eq!(report.program.rules.len(), 3);
    assert_eq!(format("busy.rules".as_ref(), &text).unwrap(), text);
}

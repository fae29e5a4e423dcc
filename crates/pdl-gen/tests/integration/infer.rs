//! `oasis pdl infer`: the schema of each file of the corpus becomes PDL that compiles to the same schema.

use oasis_pdl::{Disk, compile};
use oasis_pdl_gen::{infer::infer, json_schema};
use oasis_wire::schema::ProbeType;
use std::{collections::HashMap, fs, path::PathBuf};

fn files(folder: &str) -> Vec<PathBuf> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(folder);
    let entries = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.extension().is_some_and(|ending| ending == "pdl")).collect()
}

#[test]
fn each_schema_of_the_corpus_survives_the_way_through_pdl() {
    let mut types = 0;
    let folders = [
        "../pdl/tests/corpus/good",
        "../../pdl",
        "../../vectors",
        "tests/plant",
        "tests/python",
        "tests/cpp",
    ];
    for file in folders.iter().flat_map(|folder| files(folder)) {
        let report = compile(std::slice::from_ref(&file), &[], &Disk);
        assert!(report.is_ok(), "{}", report.render(false));
        for schema in report.model.probes.iter().filter_map(|probe| json_schema::schema(&report.model, probe))
        {
            let text = infer(&schema).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
            assert_eq!(compiled(&text), schema, "{}\n{text}", file.display());
            types += 1;
        }
    }
    assert!(types > 40, "{types} types");
}

fn compiled(text: &str) -> ProbeType {
    let files = HashMap::from([(PathBuf::from("a.pdl"), text.to_owned())]);
    let report = compile(&["a.pdl".into()], &[], &files);
    assert!(report.is_ok(), "{}", report.render(false));
    json_schema::schema(&report.model, report.model.probes.last().unwrap()).unwrap()
}

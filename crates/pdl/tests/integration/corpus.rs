//! Example files: those in `corpus/good` compile to the model in their snapshot, those in `corpus/bad` give the errors in their snapshot.
//!
//! Every file of the two folders is a case, those in subfolders are included by them.
//! `INSTA_UPDATE=always cargo test -p oasis-pdl --test integration corpus::` writes the snapshots again; read their difference before it is committed.

use crate::summary::summary;
use oasis_pdl::{Disk, Loader, Report, compile, format};
use std::{
    collections::{BTreeSet, HashMap},
    fs, io,
    path::{Path, PathBuf},
};

/// A folder of the corpus; paths in it are what diagnostics show.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        Self(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus").join(name))
    }

    /// Names of the cases, in order.
    fn cases(&self) -> BTreeSet<String> {
        let entries = fs::read_dir(&self.0).unwrap().map(|entry| entry.unwrap().path());
        let cases = entries.filter(|path| path.extension().is_some_and(|ending| ending == "pdl"));
        cases.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned()).collect()
    }

    fn compiled(&self, case: &str) -> Report {
        compile(&[format!("{case}.pdl").into()], &[], self)
    }
}

impl Loader for Folder {
    fn load(&self, path: &Path) -> io::Result<String> {
        Disk.load(&self.0.join(path))
    }
}

fn assert_snapshot(folder: &str, case: &str, text: &str) {
    insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true }, {
        insta::assert_snapshot!(format!("{folder}__{case}"), text);
    });
}

#[test]
fn good_files_compile_to_their_snapshots() {
    let folder = Folder::new("good");
    for case in folder.cases() {
        let report = folder.compiled(&case);
        assert!(report.is_ok(), "{case}: {}", report.render(false));
        assert_snapshot("good", &case, &summary(&report.model));
    }
}

#[test]
fn bad_files_give_the_errors_of_their_snapshots() {
    let folder = Folder::new("bad");
    for case in folder.cases() {
        let report = folder.compiled(&case);
        assert!(!report.is_ok(), "{case} compiles");
        assert_snapshot("bad", &case, &report.render(false));
    }
}

#[test]
fn good_files_mean_the_same_when_they_are_laid_out() {
    let folder = Folder::new("good");
    for case in folder.cases() {
        let path = PathBuf::from(format!("{case}.pdl"));
        let laid_out = format(&path, &folder.load(&path).unwrap()).expect("a file that compiles");
        let overlay = Overlay { path: path.clone(), text: laid_out.clone(), folder: &folder };
        let report = compile(std::slice::from_ref(&path), &[], &overlay);
        assert_eq!(report.model, folder.compiled(&case).model, "{case}");
        assert_eq!(format(&path, &laid_out).expect("what was laid out"), laid_out, "{case}");
    }
}

/// A folder with another text for one of its files.
struct Overlay<'a> {
    path: PathBuf,
    text: String,
    folder: &'a Folder,
}

impl Loader for Overlay<'_> {
    fn load(&self, path: &Path) -> io::Result<String> {
        if path == self.path { Ok(self.text.clone()) } else { self.folder.load(path) }
    }
}

#[test]
fn every_diagnostic_has_a_place_within_its_text() {
    let folder = Folder::new("bad");
    for case in folder.cases() {
        let report = folder.compiled(&case);
        for diagnostic in &report.diagnostics {
            let related = diagnostic.related.iter().map(|(place, _)| *place);
            for place in diagnostic.place.into_iter().chain(related) {
                let text = report.sources.text(place.file);
                assert!(text.get(place.start..place.end).is_some(), "{case}: {diagnostic:?}");
            }
        }
    }
}

/// The wide file would fill the folder.
#[test]
fn every_code_is_met() {
    let folder = Folder::new("bad");
    let mut met = BTreeSet::from(["E0021".to_owned()]);
    for case in folder.cases() {
        met.extend(folder.compiled(&case).diagnostics.iter().map(|wrong| wrong.code.name()));
    }
    let all: BTreeSet<String> = (1..=29).chain([33]).map(|number| format!("E{number:04}")).collect();
    assert_eq!(met, all);
    let wide: String = (0..65_535).map(|number| format!("uint8 m{number};")).collect();
    let files = HashMap::from([(PathBuf::from("wide.pdl"), format!("abstract probe Wide {{ {wide} }};"))]);
    let report = compile(&["wide.pdl".into()], &[], &files);
    assert_eq!(report.diagnostics.iter().map(|wrong| wrong.code.name()).collect::<Vec<_>>(), ["E0021"]);
}

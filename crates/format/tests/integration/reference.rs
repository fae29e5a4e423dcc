//! The list in the reference matches the program. `OASIS_UPDATE_DOCS=1 cargo test -p oasis-format` updates it.

use oasis_format::{FORMATS, find, reader_of};
use std::{collections::HashSet, env, fmt::Write, fs};

const HEAD: &str = "| `--format` | file name ends with | `oasis export` | `oasis sql` | `oasis import` |\n|---|---|---|---|---|\n";

/// The list as `docs/reference/formats.md` has it.
fn list() -> String {
    FORMATS.iter().fold(HEAD.to_owned(), |mut list, format| {
        let alias = format.alias.map(|alias| format!(", `{alias}`")).unwrap_or_default();
        let samples = format.samples.as_ref().map_or("", |samples| samples.help);
        let rows = format.rows.as_ref().map_or("", |rows| rows.help);
        let reader = if format.reader.is_some() { "yes" } else { "" };
        let (name, extension) = (format.name, format.extension);
        writeln!(list, "| `{name}`{alias} | `.{extension}` | {samples} | {rows} | {reader} |").unwrap();
        list
    })
}

#[test]
fn the_reference_lists_every_format() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/formats.md");
    let reference = fs::read_to_string(file).unwrap();
    let (before, rest) = reference.split_once(HEAD).unwrap();
    let after = rest.find("\n\n").map_or("", |end| &rest[end + 1..]);
    let updated = format!("{before}{}{after}", list());
    if env::var_os("OASIS_UPDATE_DOCS").is_some() {
        fs::write(file, updated).unwrap();
    } else {
        assert!(reference == updated, "docs/reference/formats.md lacks this list:\n\n{}", list());
    }
}

#[test]
fn names_and_beginnings_of_files_name_one_format_each() {
    let names = FORMATS.iter().flat_map(|format| [Some(format.name), format.alias]).flatten();
    let names: Vec<_> = names.collect();
    assert_eq!(names.iter().collect::<HashSet<_>>().len(), names.len());
    assert!(names.iter().all(|name| find(name).is_some()) && find("xlsx").is_none());
    assert!(FORMATS.iter().all(|format| format.samples.is_some() || format.rows.is_some()));
    for reader in FORMATS.iter().filter_map(|format| format.reader.as_ref()) {
        assert_eq!(reader_of(reader.magic).unwrap().magic, reader.magic);
        assert!(reader_of(&reader.magic[1..]).is_none());
    }
}

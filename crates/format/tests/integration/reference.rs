//! The list in the reference matches the program. `OASIS_UPDATE_DOCS=1 cargo test -p oasis-format` updates it.

use oasis_format::{FORMATS, find, inputs};
use std::{collections::HashSet, env, fmt::Write, fs, io::Cursor, path::Path};

const OUTPUT_HEAD: &str =
    "| `--format` | file name ends with | `oasis export` | `oasis sql` |\n|---|---|---|---|\n";
const INPUT_HEAD: &str = "| `oasis import --format` | files | content |\n|---|---|---|\n";

/// The list of written formats as `docs/reference/formats.md` has it.
fn outputs() -> String {
    FORMATS.iter().fold(OUTPUT_HEAD.to_owned(), |mut list, format| {
        let alias = format.alias.map(|alias| format!(", `{alias}`")).unwrap_or_default();
        let samples = format.samples.as_ref().map_or("", |samples| samples.help);
        let rows = format.rows.as_ref().map_or("", |rows| rows.help);
        let (name, extension) = (format.name, format.extension);
        writeln!(list, "| `{name}`{alias} | `.{extension}` | {samples} | {rows} |").unwrap();
        list
    })
}

/// The list of read formats.
fn inputs() -> String {
    inputs::INPUTS.iter().fold(INPUT_HEAD.to_owned(), |mut list, format| {
        let endings: Vec<_> = format.extensions.iter().map(|ending| format!("`.{ending}`")).collect();
        writeln!(list, "| `{}` | {} | {} |", format.name, endings.join(", "), format.help).unwrap();
        list
    })
}

/// Replaces the list that begins with a head.
fn updated(reference: &str, head: &str, list: &str) -> String {
    let (before, rest) = reference.split_once(head).unwrap();
    let after = rest.find("\n\n").map_or("", |end| &rest[end + 1..]);
    format!("{before}{list}{after}")
}

#[test]
fn the_reference_lists_every_format() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/formats.md");
    let reference = fs::read_to_string(file).unwrap();
    let updated = updated(&updated(&reference, OUTPUT_HEAD, &outputs()), INPUT_HEAD, &inputs());
    if env::var_os("OASIS_UPDATE_DOCS").is_some() {
        fs::write(file, updated).unwrap();
    } else {
        assert!(reference == updated, "docs/reference/formats.md lacks:\n\n{}\n{}", outputs(), inputs());
    }
}

#[test]
fn names_and_beginnings_of_files_name_one_format_each() {
    let names = FORMATS.iter().flat_map(|format| [Some(format.name), format.alias]).flatten();
    let names: Vec<_> = names.collect();
    assert_eq!(names.iter().collect::<HashSet<_>>().len(), names.len());
    assert!(names.iter().all(|name| find(name).is_some()) && find("xlsx").is_none());
    assert!(FORMATS.iter().all(|format| format.samples.is_some() || format.rows.is_some()));
    let inputs: HashSet<_> = inputs::INPUTS.iter().map(|format| format.name).collect();
    assert_eq!(inputs.len(), inputs::INPUTS.len());
    assert!(inputs.iter().all(|name| inputs::by_name(name).is_some()));
}

#[test]
fn a_format_is_found_by_content_and_then_by_ending() {
    let found = |path: &str, content: &[u8]| {
        let found = inputs::find(Path::new(path), &mut Cursor::new(content)).unwrap();
        found.map(|format| format.name)
    };
    assert_eq!(found("x.bin", b"\x89MCAP0\r\n"), Some("mcap"));
    assert_eq!(found("x.csv", b"\x89MCAP0\r\n"), Some("mcap"));
    assert_eq!(found("x.log", b"time,x\n1,2\n2,3\n"), Some("csv"));
    assert_eq!(found("x.csv", b"time\n1\n"), Some("csv"));
    assert_eq!(found("x.lp", b"m,a=1,a=2 x=1 1700000000000000000\n"), Some("line-protocol"));
    assert_eq!(found("x.jsonl", b"{\"time\":1,\"a\":1}{\"time\":2,\"a\":2}\n"), Some("jsonl"));
    assert_eq!(found("x.json", b"[{\"time\":1,\"a\":1},{\"time\":2,\"a\":2}]\n"), Some("jsonl"));
    assert_eq!(found("x", b"\xef\xbb\xbf{\"time\":1,\"a\":1}\n"), Some("jsonl"));
    assert_eq!(found("x", b"hello"), None);
    assert_eq!(found("x.mcap", b"hello"), Some("mcap"));
}

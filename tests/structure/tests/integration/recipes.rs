//! The recipes of `CONTRIBUTING.md` name each file and each line by which their example is a part of the program.
//!
//! A recipe begins with "The example is `NAME`.", which can have several names. Its numbered steps begin with "Create
//! `FILE`." or with "In `FILE`, add `LINE` after `EARLIER LINE`."; both quote parts of lines.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

const TOP: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// The recipes, each with the files and folders that can register its example.
const RECIPES: [(&str, &[&str]); 5] = [
    ("Add a probe", &SOURCES),
    ("Add a handler", &SOURCES),
    ("Add a text door", &SOURCES),
    ("Add a format", &SOURCES),
    ("Add a panel", &PAGE_SOURCES),
];

/// End-to-end tests, guides and evidence mention an example too, and register nothing.
const SOURCES: [&str; 8] = [
    "ARCHITECTURE.md",
    "Cargo.toml",
    "crates",
    "docs/concurrency.md",
    "docs/reference",
    "examples",
    "fuzz/Cargo.toml",
    "pdl",
];

/// The worker and the page, and the reference that the page shows as help.
const PAGE_SOURCES: [&str; 2] = ["docs/reference/page.md", "web/src"];

/// Files that mention an example and do not register it, and why they mention it.
const UNRELATED: [(&str, &str, &str); 23] = [
    ("scheduling", "crates/oasis/src/live/systemd.rs", "a unit test has a call of this name"),
    ("scheduling", "docs/reference/mcap.md", "scheduling of threads in general"),
    ("openmetrics", "crates/api/src/handlers.rs", "the error of /metrics says which handler serves it"),
    ("openmetrics", "crates/oasis/src/live/handlers.rs", "a unit test prints its row"),
    ("openmetrics", "crates/handlers/remote-write/Cargo.toml", "remote write has the names of its series"),
    ("openmetrics", "docs/reference/bounds.md", "generated from the constants"),
    ("csv", "docs/reference/bounds.md", "generated from the constants"),
    ("csv", "crates/api/src/sql/answer.rs", "answers of SQL can be CSV"),
    ("csv", "crates/api/src/sql/mod.rs", "media type of these answers"),
    ("csv", "crates/oasis/src/cli.rs", "examples of help write CSV"),
    ("csv", "crates/oasis/src/groups.rs", "an example of help"),
    ("csv", "crates/oasis/src/export/arguments.rs", "default of export"),
    ("csv", "crates/oasis/src/export/content.rs", "flags of its dialect"),
    ("csv", "crates/format/tests/integration/csv_dialects.rs", "a test of its dialects"),
    ("csv", "crates/format/tests/integration/damaged_files.rs", "a test of damage has files of each format"),
    ("csv", "crates/format/tests/integration/times_before_1970.rs", "a test of times has files of text"),
    ("csv", "crates/oasis/src/formats.rs", "a unit test lists formats"),
    ("csv", "crates/oasis/src/sql/arguments.rs", "default of SQL"),
    ("csv", "crates/oasis/src/sql/mod.rs", "default of SQL"),
    ("csv", "crates/format/tests/integration/reference.rs", "a test of detection has files of text"),
    ("csv", "docs/reference/json-lines.md", "times have the forms of CSV"),
    ("csv", "docs/reference/http-api.md", "answers of SQL can be CSV"),
    ("csv", "docs/reference/openapi.json", "answers of SQL can be CSV"),
];

/// Texts of files by their paths.
type Files = BTreeMap<String, String>;

/// A recipe of the page.
#[derive(Debug, PartialEq, Eq)]
struct Recipe {
    /// Words that identify its example.
    names: Vec<String>,
    /// The changes that it describes.
    edits: Vec<Edit>,
}

/// A file that a step creates or adds lines to.
#[derive(Debug, PartialEq, Eq)]
struct Edit {
    file: String,
    /// Each line with an earlier line of the file; none for a new file.
    lines: Vec<(String, String)>,
}

/// Reads all text files of these files and folders.
fn read_all(paths: &[&str]) -> Files {
    let mut files = Files::new();
    paths.iter().for_each(|path| read_below(path, &mut files));
    files
}

fn read_below(path: &str, files: &mut Files) {
    let full = Path::new(TOP).join(path);
    if full.is_dir() {
        for entry in fs::read_dir(&full).unwrap() {
            let entry = entry.unwrap();
            let name = entry.file_name().into_string().unwrap();
            // A link leads to files that have another path too.
            if !entry.file_type().unwrap().is_symlink() {
                read_below(&format!("{path}/{name}"), files);
            }
        }
    } else if let Ok(text) = String::from_utf8(fs::read(&full).unwrap()) {
        files.insert(path.to_owned(), text);
    }
}

/// Returns the recipe with this heading.
fn parse(page: &str, title: &str) -> Recipe {
    let (_, rest) =
        page.split_once(&format!("### {title}\n")).unwrap_or_else(|| panic!("no recipe {title:?}"));
    let text = rest.split("\n#").next().unwrap_or(rest);
    let mut recipe = Recipe { names: Vec::new(), edits: Vec::new() };
    for paragraph in paragraphs(text) {
        let sentence = first_sentence(&paragraph);
        if sentence.starts_with("The example is ") {
            recipe.names = quotes(sentence).map(|(_, name)| name.to_owned()).collect();
        } else {
            recipe.edits.extend(edits(sentence));
        }
    }
    recipe
}

/// Returns paragraphs and steps, each on one line and without the number of its step.
fn paragraphs(text: &str) -> Vec<String> {
    let mut paragraphs = vec![String::new()];
    for line in text.lines().map(str::trim_start) {
        let step = line.split_once(". ").filter(|(number, _)| number.parse::<u32>().is_ok());
        if line.is_empty() || step.is_some() {
            paragraphs.push(String::new());
        }
        let line = step.map_or(line, |(_, step)| step);
        paragraphs.last_mut().unwrap().extend([line, if line.is_empty() { "" } else { " " }]);
    }
    paragraphs
}

/// Returns the text up to the first full stop that is not quoted.
fn first_sentence(text: &str) -> &str {
    let mut is_quoted = false;
    let end = text.char_indices().find(|&(at, letter)| {
        is_quoted ^= letter == '`';
        !is_quoted && text[at..].starts_with(". ")
    });
    end.map_or(text, |(at, _)| &text[..at])
}

/// Returns each quote with the text before it.
fn quotes(sentence: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut pieces = sentence.split('`');
    std::iter::from_fn(move || Some((pieces.next()?, pieces.next()?)))
}

/// Returns the edits of a step; a step that only explains has none.
fn edits(step: &str) -> Vec<Edit> {
    let mut quoted = quotes(step);
    match quoted.next() {
        Some(("Create ", _)) => {
            quotes(step).map(|(_, file)| Edit { file: file.to_owned(), lines: Vec::new() }).collect()
        }
        Some(("In ", file)) => vec![Edit { file: file.to_owned(), lines: added_lines(step, quoted) }],
        _ => Vec::new(),
    }
}

fn added_lines<'a>(step: &str, quoted: impl Iterator<Item = (&'a str, &'a str)>) -> Vec<(String, String)> {
    let (mut lines, mut added) = (Vec::new(), None);
    for (before, quote) in quoted {
        if before.ends_with("after ") {
            let line: &str = added.take().unwrap_or_else(|| panic!("no line to add: {step}"));
            lines.push((line.to_owned(), quote.to_owned()));
        } else {
            assert!(added.replace(quote).is_none(), "a line without an earlier one: {step}");
        }
    }
    assert!(added.is_none() && !lines.is_empty(), "no earlier line: {step}");
    lines
}

/// Lists where the recipe and the files differ.
fn problems(recipe: &Recipe, files: &Files, unrelated: &[&str]) -> Vec<String> {
    let wrong = recipe.edits.iter().flat_map(|edit| wrong_lines(edit, files));
    wrong.chain(wrong_files(recipe, files, unrelated)).collect()
}

fn wrong_lines(edit: &Edit, files: &Files) -> Vec<String> {
    let file = &edit.file;
    let Some(text) = files.get(file) else { return vec![format!("there is no {file}")] };
    let is_missing = |(line, earlier): &&(String, String)| {
        let mut below = text.lines().skip_while(|line| !line.contains(earlier)).skip(1);
        !below.any(|found| found.contains(line))
    };
    let missing = edit.lines.iter().filter(is_missing);
    missing.map(|(line, earlier)| format!("{file} has no line {line:?} after one with {earlier:?}")).collect()
}

fn wrong_files(recipe: &Recipe, files: &Files, unrelated: &[&str]) -> Vec<String> {
    let names = &recipe.names;
    let named: BTreeSet<_> = recipe.edits.iter().map(|edit| edit.file.as_str()).collect();
    let mentioning = files.iter().filter(|file| names.iter().any(|name| mentions(file, name)));
    let mentioning: BTreeSet<_> = mentioning.map(|(file, _)| file.as_str()).collect();
    let own: Vec<_> = recipe.edits.iter().filter_map(own_folder).collect();
    let is_own = |file: &str| own.iter().any(|folder| file.starts_with(folder));
    let forgotten = mentioning.difference(&named).filter(|file| !is_own(file) && !unrelated.contains(file));
    let silent = named.difference(&mentioning).filter(|file| files.contains_key(**file));
    forgotten
        .map(|file| format!("{file} mentions {names:?}, and the recipe does not name it"))
        .chain(silent.map(|file| format!("{file} does not mention {names:?}")))
        .collect()
}

/// Returns the folder that a new crate, module or panel has for itself, or the beginning that the files of a corpus have.
fn own_folder(edit: &Edit) -> Option<&str> {
    let is_new = edit.lines.is_empty();
    let main_files = ["Cargo.toml", "mod.rs", "description.ts", "bus.csv", "bus.json"];
    main_files.iter().find_map(|name| edit.file.strip_suffix(name)).filter(|_| is_new)
}

/// Whether a file has a name as a whole word, in its path or in its text.
fn mentions((path, text): &(&String, &String), name: &str) -> bool {
    let is_word =
        |letter: Option<char>| letter.is_some_and(|letter| letter.is_alphanumeric() || letter == '_');
    let is_whole = |text: &str, at: usize| {
        let (before, after) = (text[..at].chars().next_back(), text[at + name.len()..].chars().next());
        !is_word(before) && !is_word(after)
    };
    [path, text].iter().any(|text| text.match_indices(name).any(|(at, _)| is_whole(text, at)))
}

#[test]
fn each_recipe_names_every_file_and_line_of_its_example() {
    let page = fs::read_to_string(Path::new(TOP).join("CONTRIBUTING.md")).unwrap();
    for (title, paths) in RECIPES {
        let (recipe, files) = (parse(&page, title), read_all(paths));
        assert!(!recipe.names.is_empty() && recipe.edits.len() > 3, "{title}: {recipe:?}");
        let unrelated = UNRELATED.iter().filter(|(name, ..)| recipe.names.iter().any(|known| known == name));
        let unrelated: Vec<_> = unrelated.map(|&(_, file, _)| file).collect();
        let problems = problems(&recipe, &files, &unrelated);
        assert!(problems.is_empty(), "CONTRIBUTING.md, {title}:\n{}", problems.join("\n"));
    }
}

#[test]
fn each_unrelated_file_mentions_its_example() {
    let files = read_all(&SOURCES);
    for (name, file, why) in UNRELATED {
        let is_needed = files.get_key_value(file).is_some_and(|found| mentions(&found, name));
        assert!(is_needed, "{file} does not mention {name} any more ({why})");
    }
}

fn edit(file: &str, lines: &[(&str, &str)]) -> Edit {
    let lines = lines.iter().map(|&(line, earlier)| (line.to_owned(), earlier.to_owned()));
    Edit { file: file.to_owned(), lines: lines.collect() }
}

#[test]
fn a_recipe_is_its_names_and_its_edits() {
    let page = "### Add x\n\nThe example is `y.rs` at `/y`. It has `no` more.\n\n1. Create `a/y.rs` and\n   `a/b`. See `c`.\n\
                2. In `a/lib.rs`, add `mod y;` after `mod w;`, and\n   `y.` after `z = [`. Then:\n\n   ```sh\n   make\n   ```\n\n\
                3. Test it.\n\n### Other\n\n1. Create `d`.\n";
    let added = edit("a/lib.rs", &[("mod y;", "mod w;"), ("y.", "z = [")]);
    let expected = Recipe {
        names: vec!["y.rs".into(), "/y".into()],
        edits: vec![edit("a/y.rs", &[]), edit("a/b", &[]), added],
    };
    assert_eq!(parse(page, "Add x"), expected);
}

#[test]
fn a_forgotten_line_and_a_line_that_moved_are_problems() {
    let text = [
        ("a/y/mod.rs", "the example"),
        ("a/y/other.rs", "y"),
        ("a/lib.rs", "mod y;\nmod w;\n"),
        ("list", "only x, say_y and y_y"),
        ("register", "y,"),
        ("test", "y"),
    ];
    let files = text.map(|(file, text)| (file.to_owned(), text.to_owned())).into();
    let edits = vec![
        edit("a/y/mod.rs", &[]),
        edit("a/lib.rs", &[("mod y;", "mod w;")]),
        edit("list", &[("x", "y")]),
        edit("gone", &[]),
    ];
    let recipe = Recipe { names: vec!["y".into()], edits };
    let found = problems(&recipe, &files, &["test"]);
    let expected = [
        "a/lib.rs has no line \"mod y;\" after one with \"mod w;\"",
        "list has no line \"x\" after one with \"y\"",
        "there is no gone",
        "register mentions [\"y\"], and the recipe does not name it",
        "list does not mention [\"y\"]",
    ];
    assert_eq!(found, expected);
}

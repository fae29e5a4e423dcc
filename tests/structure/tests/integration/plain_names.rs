//! Names and comments in the words of the field: `CONTRIBUTING.md` has the rules, and this test the words that break them.

use std::{fs, path::Path, process::Command};

/// Constants that name a shape or a feeling, not a quantity with its subject.
const VAGUE_CONSTANTS: &str = "MOST LOOK PATIENCE LONGEST LARGEST READ REST PIECE AT_ONCE KEPT SILENCE \
    LOOK_AGAIN OVERHEAD HEAD TAIL PAUSE SECOND PART SMALL FOREIGN SHOWN LISTED WAITING MARK END FIRST NEAR CLEARLY \
    ENOUGH SOON LATE OFTEN RARE CALM MANY FEW LONG SHORT WHOLE ASIDE";
/// Types that fit everything.
const VAGUE_TYPES: &str = "Place Piece Kept Wish Told Refused Surroundings Passenger Newcomer Home Guardian \
    Keeper Goer Comer Thing Matter Whole Rest Asked Answered Wanted Known Seen Given Taken Found Left Gone Held Lent \
    Shown Heard";
/// Functions that are no verbs of the field.
const VAGUE_FUNCTIONS: &str = "bad meet obey survive look told ask say tell heed mind see_off let_go \
    look_around take_in get_through";
/// First words of comments without a subject.
const OPENERS: &str = "What Who Whose Whom Those So Of Where How It";
/// Words of a dialect, in comments and pages.
const DIALECT: [&str; 18] = [
    "so many",
    "so much",
    "somebody",
    "nobody",
    "anybody",
    "is told",
    "are told",
    "was told",
    "tells of",
    "beforehand",
    "lets go of",
    "gets through",
    "goes on",
    "looks at",
    "looked at",
    "of whom",
    "in between",
    "such a one",
];

/// Places that are right as they are: a part of the path, a part of the line, and the reason.
const EXCEPTIONS: &[(&str, &str, &str)] = &[
    ("tests/structure/tests/integration/plain_names.rs", "", "the list itself"),
    ("crates/pdl-gen/tests/", "///", "descriptions of a plant's PDL, and the code that is generated of it"),
    ("crates/pdl-gen/src/infer.rs", "winding", "a comment of C that a test infers a description from"),
    ("tests/browser/pictures/editor.pictures.ts", "///", "PDL that is typed in a picture"),
];

/// A rule: its name, the endings of the files that it is about, and whether a line breaks it.
struct Rule {
    name: &'static str,
    endings: &'static [&'static str],
    is_broken_by: fn(&str) -> bool,
}

const RULES: [Rule; 6] = [
    Rule {
        name: "a constant names its quantity and its subject",
        endings: &[".rs", ".ts", ".tsx"],
        is_broken_by: |line| declares(line, &["const", "static"], VAGUE_CONSTANTS),
    },
    Rule {
        name: "a type names the thing",
        endings: &[".rs", ".ts", ".tsx", ".java", ".go", ".py"],
        is_broken_by: |line| {
            declares(line, &["struct", "enum", "trait", "type", "class", "interface"], VAGUE_TYPES)
        },
    },
    Rule {
        name: "a function is a verb of the field",
        endings: &[".rs", ".ts", ".tsx", ".go", ".py"],
        is_broken_by: |line| declares(line, &["fn", "function", "def", "func"], VAGUE_FUNCTIONS),
    },
    Rule {
        name: "a comment begins with its subject or a verb",
        endings: &[".rs", ".ts", ".tsx", ".java", ".go", ".py", ".c", ".h", ".hpp"],
        is_broken_by: |line| {
            comment(line).is_some_and(|text| words(OPENERS).any(|word| first_word(text) == word))
        },
    },
    Rule {
        name: "a comment is in plain technical English",
        endings: &[".rs", ".ts", ".tsx", ".java", ".go", ".py", ".c", ".h", ".hpp"],
        is_broken_by: |line| comment(line).is_some_and(has_dialect),
    },
    Rule { name: "a page is in plain technical English", endings: &[".md"], is_broken_by: has_dialect },
];

fn words(list: &str) -> impl Iterator<Item = &str> {
    list.split_whitespace()
}

fn first_word(text: &str) -> &str {
    text.split(|sign: char| !sign.is_alphanumeric()).next().unwrap_or_default()
}

/// Whether a line declares one of these names after one of these keywords.
fn declares(line: &str, keywords: &[&str], names: &str) -> bool {
    let tokens: Vec<&str> = line.split_whitespace().collect();
    tokens.windows(2).any(|pair| {
        let name =
            pair[1].split(|sign: char| !(sign.is_alphanumeric() || sign == '_')).next().unwrap_or_default();
        keywords.iter().any(|keyword| pair[0].ends_with(keyword)) && words(names).any(|vague| vague == name)
    })
}

/// Returns the text of a line that is a comment.
fn comment(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let signs = ["///", "//!", "//", "*", "#"];
    signs
        .iter()
        .find_map(|sign| line.strip_prefix(sign))
        .filter(|rest| rest.starts_with(' '))
        .map(str::trim_start)
}

fn has_dialect(text: &str) -> bool {
    let text = text.to_lowercase();
    let is_letter = |sign: Option<char>| sign.is_some_and(|sign| sign.is_alphanumeric() || sign == '_');
    DIALECT.iter().any(|phrase| {
        text.match_indices(phrase).any(|(at, _)| {
            let (before, after) = (&text[..at], &text[at + phrase.len()..]);
            !is_letter(before.chars().next_back()) && !is_letter(after.chars().next())
        })
    })
}

/// The files that people write: neither generated nor recorded.
fn written_files(root: &Path) -> Vec<String> {
    let listed = Command::new("git").args(["ls-files", "-z"]).current_dir(root).output().unwrap();
    let is_other = |file: &str| {
        let parts = ["target", "node_modules", "dist", "vendor", "generated", "third_party"];
        file.split('/').any(|part| parts.contains(&part)) || file.ends_with("CHANGELOG.md")
    };
    let files = String::from_utf8(listed.stdout).unwrap();
    files.split('\0').filter(|file| !file.is_empty() && !is_other(file)).map(str::to_owned).collect()
}

fn is_excepted(file: &str, line: &str) -> bool {
    EXCEPTIONS.iter().any(|(path, part, _)| file.contains(path) && line.contains(part))
}

#[test]
fn names_and_comments_are_plain() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut broken = Vec::new();
    for file in written_files(&root) {
        let rules: Vec<&Rule> =
            RULES.iter().filter(|rule| rule.endings.iter().any(|ending| file.ends_with(ending))).collect();
        if rules.is_empty() {
            continue;
        }
        // A file may be deleted and not committed yet.
        let Ok(text) = fs::read_to_string(root.join(&file)) else { continue };
        for (number, line) in text.lines().enumerate() {
            let of = rules.iter().filter(|rule| (rule.is_broken_by)(line) && !is_excepted(&file, line));
            broken.extend(of.map(|rule| format!("{file}:{}: {}: {}", number + 1, rule.name, line.trim())));
        }
    }
    assert!(broken.is_empty(), "{} lines:\n{}", broken.len(), broken.join("\n"));
}

#[test]
fn each_rule_finds_what_breaks_it() {
    let broken = |line: &str| RULES.iter().filter(|rule| (rule.is_broken_by)(line)).count();
    // In parts, so that this file keeps the rules.
    for line in [
        concat!("    const ", "MOST: usize = 3;"),
        concat!("pub(crate) struct ", "Place {"),
        concat!("async fn ", "look(&self) {"),
        "    /// What the files contain.",
        "// The name that somebody chose.",
        "An operator goes on at another DAC.",
    ] {
        assert!(broken(line) > 0, "{line}");
    }
    for line in [
        "    const MAX_DEVICES: usize = 3;",
        "pub struct Placement {",
        "fn look_up() {",
        "/// Whatever the files contain.",
        "let place = Place::new();",
        "/// Number of files.",
    ] {
        assert_eq!(broken(line), 0, "{line}");
    }
}

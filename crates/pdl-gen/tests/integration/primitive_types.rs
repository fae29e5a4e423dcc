//! The checklist for a new primitive type, after its row in `oasis_wire::primitive`.
//!
//! Rust: the compiler names every match, because none has a wildcard; the first test proves that. Elsewhere: the second test fails for every file of
//! [`PLACES`] that does not name the type.

use oasis_wire::primitive::Primitive;
use proc_macro2::{Delimiter, TokenStream, TokenTree};
use std::{
    collections::HashSet,
    fs,
    path::{Path, PathBuf},
};

/// Every file outside of Rust that must name every primitive type.
const PLACES: [&str; 10] = [
    "docs/reference/pdl.md",
    "editors/vscode/syntaxes/pdl.tmLanguage.json",
    "crates/pdl/tests/corpus/good/all-simple-types.pdl",
    "vectors/shapes.pdl",
    "sdk/c/include/oasis_row.h",
    "sdk/python/src/oasis/reader.py",
    "sdk/python/src/oasis/writer.py",
    "sdk/typescript/src/schema.ts",
    "sdk/typescript/src/sample/byte_reader.ts",
    "sdk/typescript/src/sample/byte_writer.ts",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn every_place_outside_of_rust_names_every_primitive_type() {
    let mut missing = Vec::new();
    for place in PLACES {
        let text = fs::read_to_string(root().join(place)).unwrap_or_else(|error| panic!("{place}: {error}"));
        let words: HashSet<&str> = text.split(|c: char| !c.is_ascii_alphanumeric()).collect();
        let unnamed = Primitive::ALL.iter().filter(|primitive| !words.contains(primitive.name()));
        missing.extend(unnamed.map(|primitive| format!("{place}: {}", primitive.name())));
    }
    assert!(missing.is_empty(), "{missing:#?}");
}

#[test]
fn no_match_on_a_primitive_type_has_a_wildcard() {
    let (mut found, mut wildcards) = (0, Vec::new());
    for file in sources(&root().join("crates")) {
        let text = fs::read_to_string(&file).unwrap();
        let tokens: TokenStream = text.parse().unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        for patterns in matches(tokens) {
            if patterns.iter().any(|pattern| is_primitive(pattern)) {
                found += 1;
                let wildcard = patterns.iter().filter(|pattern| is_wildcard(pattern));
                wildcards.extend(wildcard.map(|pattern| format!("{}: {pattern} =>", file.display())));
            }
        }
    }
    assert!(found > 10, "{found} matches");
    assert!(wildcards.is_empty(), "name every type instead: {wildcards:#?}");
}

#[test]
fn a_wildcard_is_found() {
    let patterns = |code: &str| matches(code.parse().unwrap());
    for wildcard in ["_", "other", "(_, _)", "kind if true"] {
        let found =
            patterns(&format!("fn f() {{ match kind {{ MetricType::Int8 => 1, {wildcard} => {{ 2 }} }} }}"));
        assert!(is_primitive(&found[0][0]) && is_wildcard(&found[0][1]), "{found:?}");
    }
    let exhaustive =
        patterns("match kind { MetricType::Int8 | MetricType::Vector(_) => 1, (MetricType::Int16, _) => 2 }");
    assert!(!exhaustive[0].iter().any(|pattern| is_wildcard(pattern)), "{exhaustive:?}");
}

/// The sources of libraries and programs, without tests.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            let is_test = ["tests", "benches", "examples", "target"].iter().any(|name| path.ends_with(name));
            files.extend(if is_test { Vec::new() } else { sources(&path) });
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files
}

/// The patterns of each `match`, as text.
fn matches(tokens: TokenStream) -> Vec<Vec<String>> {
    let (mut found, mut in_match) = (Vec::new(), false);
    for token in tokens {
        match token {
            TokenTree::Ident(word) if word == "match" => in_match = true,
            TokenTree::Group(group) => {
                if in_match && group.delimiter() == Delimiter::Brace {
                    in_match = false;
                    found.push(patterns(group.stream()));
                }
                found.extend(matches(group.stream()));
            }
            TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
    found
}

/// The patterns of the arms of one `match`.
fn patterns(arms: TokenStream) -> Vec<String> {
    let (mut found, mut pattern, mut in_body) = (Vec::new(), Vec::new(), false);
    let mut tokens = arms.into_iter().peekable();
    while let Some(token) = tokens.next() {
        let is =
            |token: &TokenTree, sign| matches!(token, TokenTree::Punct(punct) if punct.as_char() == sign);
        if in_body {
            // A body ends at a comma or is a block that nothing follows up.
            let is_block = matches!(&token, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace);
            let goes_on = tokens.peek().is_some_and(|next| is(next, '.') || is(next, '?') || is(next, ','));
            let is_else = matches!(tokens.peek(), Some(TokenTree::Ident(word)) if word == "else");
            let is_complete_block = is_block && !goes_on && !is_else;
            in_body = !is(&token, ',') && !is_complete_block;
        } else if is(&token, '=') && tokens.peek().is_some_and(|next| is(next, '>')) {
            tokens.next();
            found.push(std::mem::take(&mut pattern).into_iter().collect::<TokenStream>().to_string());
            in_body = true;
        } else {
            pattern.push(token);
        }
    }
    found
}

fn is_primitive(pattern: &str) -> bool {
    ["MetricType", "Primitive"].iter().any(|name| {
        Primitive::ALL.iter().any(|primitive| pattern.contains(&format!("{name} :: {primitive:?}")))
    })
}

/// Whether a pattern matches every value: `_`, a name, or a tuple of these.
fn is_wildcard(pattern: &str) -> bool {
    let pattern = pattern.split(" if ").next().unwrap_or_default().trim();
    pattern.trim_matches(|c| c == '(' || c == ')').split(',').all(|part| {
        let part = part.trim();
        part.starts_with(|c: char| c.is_ascii_lowercase() || c == '_')
            && part.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
    })
}

//! The editors' grammar (`editors/vscode`) can be read, and knows every word that the compiler proposes.

use oasis_rules::{EditorCatalog, complete};
use regex::Regex;
use serde_json::Value;
use std::{fs, path::PathBuf};

fn json(name: &str) -> Value {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../editors/vscode");
    serde_json::from_str(&fs::read_to_string(folder.join(name)).unwrap()).unwrap()
}

/// Each pattern of the grammar, with its scopes.
fn patterns(value: &Value) -> Vec<(Regex, Vec<String>)> {
    let mut found: Vec<_> = match value {
        Value::Object(fields) => fields.values().flat_map(patterns).collect(),
        Value::Array(items) => items.iter().flat_map(patterns).collect(),
        _ => Vec::new(),
    };
    for pattern in ["match", "begin"].iter().filter_map(|key| value[key].as_str()) {
        let captures = value["captures"].as_object().into_iter().flat_map(|fields| fields.values());
        let scopes = captures.chain([value]).filter_map(|named| named["name"].as_str().map(str::to_owned));
        found.push((Regex::new(pattern).unwrap(), scopes.collect()));
    }
    found
}

#[test]
fn every_proposed_word_has_a_color() {
    let patterns = patterns(&json("syntaxes/rules.tmLanguage.json"));
    let is_known = |text: &str| {
        let all = |pattern: &Regex| pattern.find(text).is_some_and(|found| found.len() == text.len());
        patterns.iter().any(|(pattern, scopes)| {
            all(pattern)
                && scopes.iter().any(|scope| {
                    scope.starts_with("keyword")
                        || scope.starts_with("support")
                        || scope.starts_with("constant.language")
                })
        })
    };
    let mut words = 0;
    for text in [
        "",
        "derive D ",
        "alarm A { ",
        "alarm A { raise ",
        "alarm A { severity ",
        "alarm A { on_unknown ",
        "alarm A { notify ",
        "alarm A { on ",
        "alarm A { on raised ",
        "event E { ",
        "event E { on ",
        "check C { ",
    ] {
        for item in complete(text, text.len(), &EditorCatalog::default()).items {
            // A function is proposed with its parenthesis.
            let word = item.label.trim_end_matches([')', '(']);
            assert!(is_known(word) || is_known(&format!("{word}(")), "{:?} after {text:?}", item.label);
            words += 1;
        }
    }
    assert!(words > 40, "{words}");
    for (text, scope) in [
        ("alarm Hot", "entity.name.function.rules"),
        ("input pump", "variable.other.input.rules"),
        ("Plant::Pump", "entity.name.type.rules"),
        (".temperature", "variable.other.member.rules"),
        ("500ms", "keyword.other.unit.rules"),
        ("// why", "comment.line.double-slash.rules"),
    ] {
        let found = patterns.iter().any(|(pattern, scopes)| {
            pattern.find(text).is_some_and(|found| found.len() == text.len())
                && scopes.iter().any(|known| known == scope)
        });
        assert!(found, "{text}");
    }
}

#[test]
fn the_extension_names_files_that_are_there() {
    let package = json("package.json");
    let contributes = &package["contributes"];
    assert_eq!(contributes["languages"][1]["extensions"][0], ".rules");
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../editors/vscode");
    for file in [&contributes["languages"][1]["configuration"], &contributes["grammars"][1]["path"]] {
        assert!(folder.join(file.as_str().unwrap()).is_file(), "{file}");
    }
}

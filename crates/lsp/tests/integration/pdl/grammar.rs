//! The editors' grammar (`editors/vscode`) can be read, and knows every word that the compiler knows.

use oasis_pdl::{
    ast::{METRIC_ATTRIBUTES, PROBE_ATTRIBUTES},
    model::Primitive,
};
use regex::Regex;
use serde_json::Value;
use std::{fs, path::PathBuf};

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../editors/vscode")
}

fn json(name: &str) -> Value {
    serde_json::from_str(&fs::read_to_string(folder().join(name)).unwrap()).unwrap()
}

/// Each rule of the grammar: an object with a pattern.
fn rules(value: &Value) -> Vec<&Value> {
    let inner = match value {
        Value::Object(fields) => fields.values().flat_map(rules).collect(),
        Value::Array(items) => items.iter().flat_map(rules).collect(),
        _ => Vec::new(),
    };
    let is_rule = ["match", "begin"].iter().any(|key| value[key].is_string());
    is_rule.then_some(value).into_iter().chain(inner).collect()
}

/// The scopes that a text gets from the rules that match all of it.
fn scopes(text: &str) -> Vec<String> {
    let grammar = json("syntaxes/pdl.tmLanguage.json");
    let mut scopes = Vec::new();
    for rule in rules(&grammar) {
        let pattern = rule["match"].as_str().or(rule["begin"].as_str()).unwrap();
        let found = Regex::new(pattern).unwrap().find(text).is_some_and(|found| found.len() == text.len());
        if found {
            let captures = rule.get("captures").or(rule.get("beginCaptures"));
            let named = captures.into_iter().filter_map(Value::as_object).flat_map(|fields| fields.values());
            let names = named.chain([rule]).filter_map(|named| named["name"].as_str());
            scopes.extend(names.map(str::to_owned));
        }
    }
    scopes
}

fn assert_scope(text: &str, scope: &str) {
    assert!(scopes(text).iter().any(|known| known == scope), "{text:?}: {:?}", scopes(text));
}

#[test]
fn every_pattern_can_be_read() {
    let grammar = json("syntaxes/pdl.tmLanguage.json");
    assert!(rules(&grammar).len() > 20);
    for rule in rules(&grammar) {
        for pattern in ["match", "begin", "end"].iter().filter_map(|key| rule[key].as_str()) {
            Regex::new(pattern).unwrap();
        }
    }
}

#[test]
fn every_word_of_the_language_is_known() {
    for primitive in Primitive::ALL {
        assert_scope(primitive.name(), "storage.type.simple.pdl");
    }
    for attribute in PROBE_ATTRIBUTES.into_iter().chain(METRIC_ATTRIBUTES) {
        assert_scope(attribute, "entity.other.attribute-name.pdl");
    }
    for (declaration, scope) in [
        ("module Plant", "entity.name.namespace.pdl"),
        ("struct Port", "entity.name.type.struct.pdl"),
        ("enum Mode", "entity.name.type.enum.pdl"),
        ("probe Press", "entity.name.type.probe.pdl"),
        ("abstract probe Press", "storage.modifier.abstract.pdl"),
        ("#include", "keyword.control.directive.include.pdl"),
        ("# pragma version", "keyword.control.directive.pragma.pdl"),
        ("vector", "storage.type.vector.pdl"),
        ("::Plant::Port port", "entity.name.type.pdl"),
        ("/// What.", "comment.line.documentation.pdl"),
        ("// what", "comment.line.double-slash.pdl"),
        ("\"By\"", "string.quoted.double.pdl"),
        ("-1.5e+3", "constant.numeric.pdl"),
        ("81DA0F4B-2712-4A7A-ABE4-F74C80A5C069", "constant.other.uuid.pdl"),
    ] {
        assert_scope(declaration, scope);
    }
}

#[test]
fn the_extension_names_files_that_are_there() {
    let package = json("package.json");
    let contributes = &package["contributes"];
    let files = [
        &package["main"],
        &contributes["languages"][0]["configuration"],
        &contributes["grammars"][0]["path"],
    ];
    for file in files {
        assert!(folder().join(file.as_str().unwrap()).is_file(), "{file}");
    }
    assert!(Regex::new(json("language-configuration.json")["wordPattern"].as_str().unwrap()).is_ok());
}

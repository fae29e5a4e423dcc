//! Every document and every cursor position has an answer.

use super::common::Editor;
use proptest::prelude::*;
use serde_json::{Value, json};

const URI: &str = "file:///plant/a.pdl";

/// Valid and invalid words, for texts that are nearly valid.
fn text() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec![
        "module",
        "struct",
        "enum",
        "probe",
        "abstract",
        "A",
        "B",
        "A::B",
        "::",
        ":",
        "{",
        "}",
        "};",
        ";",
        ",",
        "[",
        "]",
        "(",
        ")",
        "<",
        ">",
        "vector<",
        "uint8",
        "string",
        "unit",
        "\"s\"",
        "\"",
        "kind",
        "warn",
        "/*",
        "*/",
        "//",
        "///",
        "\n",
        "\r",
        "\r\n",
        "#",
        "include",
        "\"a.pdl\"",
        "5",
        "-",
        "é",
        "水",
        "𝄞",
        "\u{feff}",
        "\0",
        "'",
        "=",
        "0f3c7d52-9c7e-4a57-8a9f-62c1f1b8c7aa",
        "uuid",
        "version",
        "1.0",
        " ",
        "\t",
    ]);
    prop::collection::vec(word, 0..60).prop_map(|words| words.join(" "))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn nothing_ends_the_server(text in text(), line in 0_u32..6, character in 0_u32..200) {
        let mut editor = Editor::new(Value::Null);
        editor.open(URI, &text);
        for (uri, diagnostics) in editor.published() {
            prop_assert!(uri == URI || diagnostics.is_empty());
        }
        for method in ["hover", "definition", "completion"] {
            editor.at(method, URI, line, character);
            editor.at(method, URI, u32::MAX, u32::MAX);
        }
        let document = json!({ "textDocument": { "uri": URI }, "options": { "tabSize": 2, "insertSpaces": true } });
        editor.request("textDocument/documentSymbol", document.clone());
        editor.request("textDocument/formatting", document);
        let range = json!({ "start": { "line": line, "character": character }, "end": { "line": 0, "character": 3 } });
        let change = json!({ "range": range, "text": "水" });
        let params = json!({ "textDocument": { "uri": URI, "version": 2 }, "contentChanges": [change] });
        editor.notify("textDocument/didChange", params);
        editor.published();
    }
}

#[test]
fn structs_that_use_one_another_in_many_ways_have_a_size() {
    let mut text = String::from("struct S0 { uint8 a; };\n");
    for at in 1..200 {
        text += &format!("struct S{at} {{ S{0} a; S{0} b; S{0} c; }};\n", at - 1);
    }
    text += "struct Knot { Knot k; S199 s; };\n";
    let mut editor = Editor::new(Value::Null);
    editor.open(URI, &text);
    let hover = editor.at("hover", URI, 199, 8);
    assert!(hover["contents"]["value"].as_str().unwrap().contains("18446744073709551615 bytes"), "{hover}");
    assert!(editor.at("hover", URI, 200, 8).is_object());
}

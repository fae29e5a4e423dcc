//! Requests of an editor in a session.

use super::common::Editor;
use serde_json::{Value, json};

const BASE: &str = "file:///plant/base.pdl";
const MAIN: &str = "file:///plant/line%207/main.pdl";

const BASE_TEXT: &str = "module Plant {
  /// Mode of a machine.
  enum Mode { IDLE, RUNNING, FAILED };
  struct Port { string name; uint64 bytes; };
  /// Metrics of every machine.
  abstract probe Machine { [unit(\"Cel\"); warn(> 80)] real32 temperature; };
}
";

/// The fourth line has characters of one, two, three and four bytes before what is asked for.
const MAIN_TEXT: &str = "#include \"base.pdl\"
module Plant {
  [uuid(0f3c7d52-9c7e-4a57-8a9f-62c1f1b8c7aa)] probe Press : Machine {
    /* aß水𝄞 */ vector<Port> ports; [alarm(FAILED)] Mode mode;
  };
}
";

/// Sends a whole text.
fn change(editor: &mut Editor, uri: &str, text: &str) {
    let document = json!({ "uri": uri, "version": 2 });
    let params = json!({ "textDocument": document, "contentChanges": [{ "text": text }] });
    editor.notify("textDocument/didChange", params);
}

fn editor() -> Editor {
    let mut editor = Editor::new(json!({ "includePaths": ["."] }));
    editor.open(BASE, BASE_TEXT);
    editor.open(MAIN, MAIN_TEXT);
    editor
}

fn labels(items: &Value) -> Vec<&str> {
    items.as_array().unwrap().iter().map(|item| item["label"].as_str().unwrap()).collect()
}

#[test]
fn diagnostics_come_and_go() {
    let mut editor = editor();
    assert_eq!(editor.published(), [(BASE.into(), vec![]), (MAIN.into(), vec![])]);
    assert_eq!(editor.published(), [], "nothing changed");
    change(&mut editor, BASE, &BASE_TEXT.replace("Port", "Prot"));
    let published = editor.published();
    let (_, diagnostics) = published.iter().find(|(uri, _)| uri == MAIN).unwrap();
    assert_eq!(diagnostics.len(), 1);
    assert_eq!(diagnostics[0]["code"], "E0010");
    assert_eq!(diagnostics[0]["message"], "unknown type `Port`\nhelp: did you mean `Prot`?");
    // The blanks, `/* aß水𝄞 */ vector<` in UTF-16 units.
    let range = json!({ "start": { "line": 3, "character": 23 }, "end": { "line": 3, "character": 27 } });
    assert_eq!(diagnostics[0]["range"], range);
    change(&mut editor, BASE, BASE_TEXT);
    assert_eq!(editor.published(), [(BASE.into(), vec![]), (MAIN.into(), vec![])]);
}

#[test]
fn diagnostics_of_included_files_end_when_the_document_closes() {
    let mut editor = Editor::new(Value::Null);
    let wrong = "#include \"/nowhere/a.pdl\"\n";
    editor.open(MAIN, wrong);
    assert_eq!(editor.published()[0].1.len(), 1);
    editor.notify("textDocument/didClose", json!({ "textDocument": { "uri": MAIN } }));
    assert_eq!(editor.published(), [(MAIN.into(), vec![])]);
    assert_eq!(editor.at("hover", MAIN, 0, 0), Value::Null);
}

#[test]
fn hover_shows_declaration_documentation_and_size() {
    let mut editor = editor();
    let mut value = |uri, line, character| {
        let hover = editor.at("hover", uri, line, character);
        hover["contents"]["value"].as_str().map(str::to_owned)
    };
    let machine = "```pdl\n[version(1.0)]\nabstract probe Plant::Machine\n```\n\nMetrics of every machine.\n\n1 metric, 4 bytes in a packed row";
    assert_eq!(value(MAIN, 2, 64).as_deref(), Some(machine));
    assert_eq!(
        value(MAIN, 3, 25).as_deref(),
        Some("```pdl\nstruct Plant::Port\n```\n\nat least 9 bytes in a packed row")
    );
    let mode = "```pdl\n[alarm(FAILED)]\nPlant::Mode mode\n```\n\n1 byte in a packed row";
    assert_eq!(value(MAIN, 3, 57).as_deref(), Some(mode));
    let failed = "```pdl\nFAILED = 2\n```\n\nof enum `Plant::Mode`";
    assert_eq!(value(MAIN, 3, 44).as_deref(), Some(failed));
    let temperature =
        "```pdl\n[unit(\"Cel\"); warn(> 80)]\nreal32 temperature\n```\n\n4 bytes in a packed row";
    assert_eq!(value(BASE, 5, 62).as_deref(), Some(temperature));
    assert_eq!(value(MAIN, 3, 6), None);
    assert_eq!(value(MAIN, 99, 0), None);
}

#[test]
fn definitions_are_found_across_includes() {
    let mut editor = editor();
    let place = |uri: &str, line: u32, start: u32, end: u32| {
        let range = json!({ "start": { "line": line, "character": start }, "end": { "line": line, "character": end } });
        json!({ "uri": uri, "range": range })
    };
    assert_eq!(editor.at("definition", MAIN, 0, 12), place(BASE, 0, 0, 0), "the included file");
    assert_eq!(editor.at("definition", MAIN, 2, 64), place(BASE, 5, 17, 24), "the base");
    assert_eq!(editor.at("definition", MAIN, 3, 26), place(BASE, 3, 9, 13), "a struct in a vector");
    assert_eq!(editor.at("definition", MAIN, 3, 44), place(BASE, 2, 29, 35), "an enumerator");
    assert_eq!(editor.at("definition", MAIN, 2, 53), place(MAIN, 2, 53, 58), "itself");
    assert_eq!(editor.at("definition", MAIN, 1, 0), Value::Null);
}

#[test]
fn completion_offers_fitting_names() {
    let mut editor = editor();
    let mut complete = |line: &str| {
        let text = format!("#include \"base.pdl\"\nmodule Line {{\n{line}");
        change(&mut editor, MAIN, &text);
        let character = u32::try_from(line.encode_utf16().count()).unwrap();
        editor.at("completion", MAIN, 2, character)
    };
    assert_eq!(labels(&complete("")), ["module", "struct", "enum", "probe", "abstract"]);
    assert_eq!(labels(&complete("[uuid(0); ")), ["uuid", "version", "rate"]);
    assert_eq!(labels(&complete("abstract probe A : ")), ["Plant::Machine"]);
    let types = complete("struct A { /* 水 */ ");
    assert!(labels(&types).ends_with(&["vector", "blob", "Plant::Port", "A", "Plant::Mode"]), "{types}");
    assert_eq!(labels(&complete("struct A { Plant::")), ["Mode", "Port"]);
    assert_eq!(labels(&complete("struct A { ::")), ["Line", "Plant"]);
    assert!(labels(&complete("struct A { [unit(\"")).contains(&"KiBy"));
    assert!(labels(&complete("struct A { [unit(")).contains(&"\"Cel\""));
    assert_eq!(labels(&complete("struct A { [kind(")), ["counter", "gauge", "state", "event"]);
    assert_eq!(labels(&complete("struct A { // ")), Vec::<&str>::new());
    change(&mut editor, MAIN, "#include \"base.pdl\"\nstruct A { [warn()] Plant::Mode m; };");
    assert_eq!(labels(&editor.at("completion", MAIN, 1, 17)), ["IDLE", "RUNNING", "FAILED"]);
}

#[test]
fn a_document_is_laid_out_by_one_edit() {
    let mut editor = editor();
    let mut format = |text: &str| {
        change(&mut editor, MAIN, text);
        let options = json!({ "tabSize": 2, "insertSpaces": true });
        editor.request(
            "textDocument/formatting",
            json!({ "textDocument": { "uri": MAIN }, "options": options }),
        )
    };
    let edits = format("// 𝄞\r\nstruct A{};// 𝄞");
    let range = json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 1, "character": 16 } });
    assert_eq!(edits, json!([{ "range": range, "newText": "// 𝄞\nstruct A { }; // 𝄞\n" }]));
    assert_eq!(format("struct A { };\n"), json!([]));
    assert_eq!(format("struct A {"), Value::Null);
}

#[test]
fn the_outline_nests() {
    let mut editor = editor();
    let outline = editor.request("textDocument/documentSymbol", json!({ "textDocument": { "uri": BASE } }));
    let plant = &outline[0];
    assert_eq!((&plant["name"], &plant["kind"]), (&"Plant".into(), &2.into()));
    let names: Vec<&Value> =
        plant["children"].as_array().unwrap().iter().map(|inner| &inner["name"]).collect();
    assert_eq!(names, ["Mode", "Port", "Machine"]);
    // Documentation belongs to the range, the name alone is selected.
    let machine = &plant["children"][2];
    assert_eq!(machine["range"]["start"], json!({ "line": 4, "character": 2 }));
    assert_eq!(machine["range"]["end"], json!({ "line": 5, "character": 75 }));
    assert_eq!(machine["selectionRange"]["start"], json!({ "line": 5, "character": 17 }));
    assert_eq!(machine["children"][0]["name"], "temperature");
}

#[test]
fn pieces_of_a_text_can_be_changed_too() {
    let mut editor = Editor::new(Value::Null);
    editor.open(MAIN, "struct 水 { };");
    let range = json!({ "start": { "line": 0, "character": 7 }, "end": { "line": 0, "character": 8 } });
    let change = json!({ "range": range, "text": "Water" });
    let document = json!({ "uri": MAIN, "version": 2 });
    editor.notify("textDocument/didChange", json!({ "textDocument": document, "contentChanges": [change] }));
    assert_eq!(editor.published(), [(MAIN.into(), vec![])]);
}

#[test]
fn requests_out_of_turn_are_refused() {
    let mut editor = Editor::new(Value::Null);
    assert_eq!(editor.request("initialize", json!({}))["code"], -32600);
    assert_eq!(editor.request("workspace/symbol", json!({}))["code"], -32601);
    assert_eq!(editor.request("textDocument/hover", json!({ "textDocument": 5 }))["code"], -32602);
    assert_eq!(editor.request("shutdown", Value::Null), Value::Null);
    assert_eq!(editor.request("textDocument/hover", json!({}))["code"], -32600);
}

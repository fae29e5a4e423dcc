//! `oasis pdl lsp` as a process, with bytes as an editor sends them.

use crate::harness::Editor;
use serde_json::{Value, json};
use std::fs;

const BASE: &str = "/// What every machine tells: Größe, 水, 𝄞.
abstract probe Machine { [unit(\"Cel\")] real32 temperature; };
";
const BROKEN: &str = "#include \"base.pdl\"\nabstract probe Press : Machin { /* 𝄞 */ real32 force };\n";
const RIGHT: &str = "#include \"base.pdl\"\nabstract probe Press : Machine { /* 𝄞 */ real32 force; };\n";

fn start() -> Editor {
    Editor::start(&["pdl", "lsp", "--stdio"])
}

fn at(uri: &str, line: u32, character: u32) -> Value {
    json!({ "textDocument": { "uri": uri }, "position": { "line": line, "character": character } })
}

#[test]
fn an_editor_corrects_a_file() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("include")).unwrap();
    fs::write(folder.path().join("include/base.pdl"), BASE).unwrap();
    let root = format!("file://{}", folder.path().display());
    let uri = format!("{root}/press.pdl");
    let mut editor = start();
    let told = editor.request(
        "initialize",
        json!({ "processId": null, "rootUri": root, "capabilities": {}, "initializationOptions": { "includePaths": ["include"] } }),
    );
    assert_eq!(told["capabilities"]["textDocumentSync"]["change"], 1);
    editor.notify("initialized", json!({}));

    let document = json!({ "uri": uri, "languageId": "pdl", "version": 1, "text": BROKEN });
    editor.notify("textDocument/didOpen", json!({ "textDocument": document }));
    let diagnostics = editor.diagnostics(&uri);
    let told: Vec<_> = diagnostics.iter().map(|wrong| (&wrong["code"], &wrong["range"]["start"])).collect();
    let start = |character: u32| json!({ "line": 1, "character": character });
    assert_eq!(told, [(&json!("E0010"), &start(23)), (&json!("E0001"), &start(52))]);

    let change =
        json!({ "textDocument": { "uri": uri, "version": 2 }, "contentChanges": [{ "text": RIGHT }] });
    editor.notify("textDocument/didChange", change);
    assert_eq!(editor.diagnostics(&uri), [] as [Value; 0]);

    let hover = editor.request("textDocument/hover", at(&uri, 1, 25));
    assert!(hover["contents"]["value"].as_str().unwrap().contains("Größe, 水, 𝄞."), "{hover}");
    let definition = editor.request("textDocument/definition", at(&uri, 1, 25));
    assert_eq!(definition["uri"], format!("{root}/include/base.pdl"));
    assert_eq!(definition["range"]["start"], json!({ "line": 1, "character": 15 }));
    let completion = editor.request("textDocument/completion", at(&uri, 1, 32));
    assert!(completion.as_array().unwrap().iter().any(|item| item["label"] == "real64"), "{completion}");
    let symbols = editor.request("textDocument/documentSymbol", json!({ "textDocument": { "uri": uri } }));
    assert_eq!(symbols[0]["children"][0]["name"], "force");
    let options = json!({ "tabSize": 2, "insertSpaces": true });
    let edits = editor
        .request("textDocument/formatting", json!({ "textDocument": { "uri": uri }, "options": options }));
    let laid_out = "#include \"base.pdl\"\nabstract probe Press : Machine { /* 𝄞 */\n  real32 force;\n};\n";
    assert_eq!(edits[0]["newText"], laid_out);

    assert_eq!(editor.request("shutdown", Value::Null), Value::Null);
    editor.notify("exit", Value::Null);
    assert_eq!(editor.end(), Some(0));
}

#[test]
fn invalid_messages_are_reported_and_do_not_end_the_server() {
    let mut editor = start();
    editor.write("{ this is no JSON");
    assert_eq!(editor.read()["error"]["code"], -32700);
    assert_eq!(editor.request("textDocument/hover", json!({})), Value::Null, "not initialized");
    editor.request("initialize", json!({}));
    editor.notify("textDocument/didOpen", json!({ "textDocument": 5 }));
    assert!(editor.request("shutdown", Value::Null).is_null());
    editor.notify("exit", Value::Null);
    assert_eq!(editor.end(), Some(0));
}

#[test]
fn an_editor_that_exits_without_shutdown_is_a_failure() {
    assert_eq!(start().end(), Some(1), "it closes the stream");
    let mut editor = start();
    editor.notify("exit", Value::Null);
    assert_eq!(editor.end(), Some(1), "it says `exit` before `shutdown`");
    let mut editor = start();
    editor.write_raw(b"GET / HTTP/1.1\r\n\r\n");
    assert_eq!(editor.end(), Some(1), "it speaks another protocol");
}

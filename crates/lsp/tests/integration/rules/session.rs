//! Rules in a session of an editor.

use lsp_server::{Message, Notification, Request};
use oasis_lsp::{Rules, Server, Source, Step};
use oasis_rules::{EditorCatalog, KnownInstance};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::{collections::HashMap, path::PathBuf, sync::Arc};

const URI: &str = "file:///plant/pumps.rules";
const PLANT: &str = r#"module Plant {
  [uuid(0f3c7d52-9c7e-4a57-8a9f-62c1f1b8c7aa)]
  probe Pump { [unit("Cel")] real64 temperature; };
};"#;
const TEXT: &str = "input pump = \"*/pump\" : Plant::Pump;
// 水𝄞
alarm Hot { raise pump.temprature > 95 Cel; }
derive Mean every 1s { t = mean(pump.temperature, last 5); }
";

fn plant() -> EditorCatalog {
    let path = PathBuf::from("plant.pdl");
    let files = HashMap::from([(path.clone(), PLANT.to_owned())]);
    let model = oasis_pdl::compile(&[path], &[], &files).model;
    let schemas = model.probes.iter().filter_map(|probe| oasis_pdl_gen::json_schema::schema(&model, probe));
    let pump =
        KnownInstance { node: "mill".into(), instance: "pump".into(), probe_type: "Plant::Pump".into() };
    EditorCatalog { types: schemas.map(Arc::new).collect(), instances: vec![pump] }
}

struct Editor<S> {
    server: Server<Rules<S>>,
    requests: i32,
}

impl<S: Source> Editor<S> {
    fn new(source: S) -> Self {
        let mut editor = Self { server: Server::new(Rules::new(source)), requests: 0 };
        let found = editor.request("initialize", json!({"capabilities": {}}));
        assert_eq!(found["serverInfo"]["name"], "oasis rules lsp");
        editor
    }

    fn request(&mut self, method: &str, params: Value) -> Value {
        self.requests += 1;
        let request = Request::new(self.requests.into(), method.into(), params);
        let Step::Send(messages) = self.server.handle(request.into()) else { panic!("the server ended") };
        let [Message::Response(response)] = messages.as_slice() else { panic!("{messages:?}") };
        let response = serde_json::to_value(response).unwrap();
        response.get("result").or(response.get("error")).cloned().unwrap_or_default()
    }

    fn notify(&mut self, method: &str, params: Value) {
        self.server.handle(Notification::new(method.into(), params).into());
    }

    fn open(&mut self, text: &str) {
        let document = json!({"uri": URI, "languageId": "rules", "version": 1, "text": text});
        self.notify("textDocument/didOpen", json!({"textDocument": document}));
    }

    fn at(&mut self, method: &str, line: u32, character: u32) -> Value {
        let position = json!({"line": line, "character": character});
        self.request(
            &format!("textDocument/{method}"),
            json!({"textDocument": {"uri": URI}, "position": position}),
        )
    }

    /// The diagnostics of each document that has some now.
    fn published(&mut self) -> Vec<Vec<Value>> {
        let of = |message: Message| match message {
            Message::Notification(notification) => {
                notification.params["diagnostics"].as_array().unwrap().clone()
            }
            _ => panic!("{message:?}"),
        };
        self.server.settle().into_iter().map(of).collect()
    }
}

#[test]
fn errors_come_and_go() {
    let mut editor = Editor::new(|| Ok(plant()));
    editor.open(TEXT);
    let published = editor.published();
    let [wrong] = &*published[0] else { panic!("{published:?}") };
    assert_eq!((&wrong["code"], &wrong["source"]), (&json!("R0008"), &json!("rules")));
    assert_eq!(wrong["message"], "unknown metric `temprature`\nhelp: did you mean `temperature`?");
    assert_eq!(
        wrong["range"],
        json!({"start": {"line": 2, "character": 23}, "end": {"line": 2, "character": 33}})
    );
    let document = json!({"uri": URI, "version": 2});
    let changes = json!([{"text": TEXT.replace("temprature", "temperature")}]);
    editor.notify("textDocument/didChange", json!({"textDocument": document, "contentChanges": changes}));
    assert_eq!(editor.published(), [Vec::<Value>::new()]);
    assert_eq!(editor.published().len(), 0, "nothing changed");
    editor.notify("textDocument/didClose", json!({"textDocument": {"uri": URI}}));
    assert_eq!(editor.published(), [Vec::<Value>::new()]);
}

#[test]
fn hover_completion_outline_and_layout() {
    let mut editor = Editor::new(|| Ok(plant()));
    editor.open(TEXT);
    let mean = editor.at("hover", 3, 9);
    assert!(mean["contents"]["value"].as_str().unwrap().contains("Takes at most"), "{mean}");
    let metric = editor.at("hover", 3, 40);
    assert!(metric["contents"]["value"].as_str().unwrap().contains("real64, Cel"), "{metric}");
    let proposed = editor.at("completion", 2, 26);
    assert_eq!(proposed[0]["label"], "temperature");
    let replaced = json!({"start": {"line": 2, "character": 23}, "end": {"line": 2, "character": 26}});
    assert_eq!(proposed[0]["textEdit"], json!({"range": replaced, "newText": "temperature"}));
    let instances = editor.at("completion", 0, 14);
    assert_eq!(instances[0]["label"], "*/pump", "{instances}");
    let outline = editor.request("textDocument/documentSymbol", json!({"textDocument": {"uri": URI}}));
    let names: Vec<_> =
        outline.as_array().unwrap().iter().map(|symbol| symbol["name"].as_str().unwrap()).collect();
    assert_eq!((names, &outline[2]["children"][0]["name"]), (vec!["pump", "Hot", "Mean"], &json!("t")));
    let options = json!({"tabSize": 2, "insertSpaces": true});
    let edits =
        editor.request("textDocument/formatting", json!({"textDocument": {"uri": URI}, "options": options}));
    assert!(
        edits[0]["newText"].as_str().unwrap().contains("alarm Hot {\n  raise pump.temprature > 95 Cel;\n}")
    );
}

#[test]
fn a_source_out_of_reach_is_a_warning_and_what_it_said_stays() {
    let mut answers =
        vec![Err("the DAC does not answer".to_owned()), Ok(plant()), Err("no archive".to_owned())];
    let mut editor = Editor::new(move || answers.pop().unwrap());
    editor.open("input pump = \"*/pump\" : Plant::Pump;\nalarm Hot { raise pump.temperature > 95 Cel; }");
    let published = editor.published();
    assert_eq!(published[0][0]["message"], "probe types are not known: no archive");
    assert_eq!(published[0][0]["severity"], 2);
    assert!(published[0][1]["message"].as_str().unwrap().contains("unknown probe type"));
    editor.notify("textDocument/didSave", json!({"textDocument": {"uri": URI}}));
    assert_eq!(editor.published(), [Vec::<Value>::new()]);
    editor.notify("textDocument/didSave", json!({"textDocument": {"uri": URI}}));
    let published = editor.published();
    assert_eq!(published[0].len(), 1, "the types are known from before: {published:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_document_has_an_answer_at_any_place(
        words in prop::collection::vec(prop::sample::select(vec![
            "input", "alarm A {", "pump", ".", "\"", "\n", "水", "𝄞", "\r", "{", "}", ";", "raise", " ", "::", "/*", "on", "- ",
        ]), 0..40),
        line in 0..9_u32, character in 0..40_u32,
    ) {
        let mut editor = Editor::new(|| Ok(plant()));
        editor.open(&words.concat());
        editor.published();
        for method in ["hover", "completion", "definition"] {
            let answer = editor.at(method, line, character);
            prop_assert!(answer.get("code").is_none(), "{}", answer);
        }
    }
}

//! Rules over HTTP: checking, previews over archive and topic logs, and files.

mod plant;

use oasis_rules::{FileState, Loaded, LoadedFile, LoadedRule};
use plant::{Plant, STEP};
use serde_json::{Value, json};
use std::fs;

const INPUT: &str = "input pump = \"*/pump\" : Plant::Pump;\n";

fn rules(alarms: &str) -> String {
    format!("{INPUT}{alarms}")
}

/// The code of a refusal.
fn code(answer: &Value) -> String {
    answer["type"].as_str().unwrap_or_default().replace("/problems/", "")
}

fn preview(text: String) -> Value {
    json!({"text": text, "from": 0, "to": 100 * STEP})
}

#[tokio::test(flavor = "multi_thread")]
async fn a_preview_reads_archive_and_topic_log_and_acts_on_nothing() {
    let plant = Plant::new().await;
    let text = rules("alarm Hot { raise pump.temperature > 94 Cel for 1s; on raised disable pump; }");
    let (status, found) = plant.request("", "POST", "/api/v1/rules/preview", preview(text)).await;
    assert_eq!(status, 200, "{found}");
    let event = |node: &str| {
        json!({"time": 5 * STEP, "rule": "Hot", "source": format!("{node}/pump"), "event": "raised", "state": "active",
            "severity": "medium", "quality": "good", "value": 95.0, "limit": 94.0, "unit": "Cel", "sequence": 5, "since": 5 * STEP,
            "node": node, "instance": "pump"})
    };
    // Without a delay, to know where the condition begins.
    let text = rules("alarm Hot { raise pump.temperature > 94 Cel; on raised disable pump; }");
    let (_, at_once) = plant.request("", "POST", "/api/v1/rules/preview", preview(text)).await;
    assert_eq!(at_once["events"], json!([event("a"), event("b")]), "{at_once}");
    assert_eq!(found["events"], json!([]));
    let figures = ["instances", "samples", "missing", "truncated", "notes"].map(|name| &found[name]);
    assert_eq!(figures, [&json!(2), &json!(10), &json!(0), &json!(false), &json!([])]);
    let (_, commands) = plant.request("", "GET", "/api/v1/commands", Value::Null).await;
    assert_eq!(commands["commands"], json!([]), "{commands}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_preview_has_only_what_its_author_may_read() {
    let plant = Plant::new().await;
    let kiosk = plant.token("kiosk", &["read a/*"]);
    let text = rules("alarm Hot { raise pump.temperature > 94; }");
    let (_, found) = plant.request(&kiosk, "POST", "/api/v1/rules/preview", preview(text.clone())).await;
    assert_eq!(found["events"].as_array().unwrap().len(), 1, "{found}");
    assert_eq!((&found["events"][0]["node"], &found["instances"]), (&json!("a"), &json!(1)));
    assert!(found["notes"][0].as_str().unwrap().contains("may not read"), "{found}");
    let live = plant.token("live", &["read-live */*"]);
    assert_eq!(plant.request(&live, "POST", "/api/v1/rules/preview", preview(text.clone())).await.0, 403);
    let elsewhere = plant.token("elsewhere", &["read c/*"]);
    let (_, found) = plant.request(&elsewhere, "POST", "/api/v1/rules/preview", preview(text)).await;
    assert_eq!(found["diagnostics"][0]["code"], "R0007", "names no type that it may not see: {found}");
    assert!(!found.to_string().contains("did you mean"), "{found}");
}

#[tokio::test(flavor = "multi_thread")]
async fn previews_are_bounded() {
    let mut plant = Plant::new().await;
    plant.send(6, 60);
    let ask = |body: Value| plant.request("", "POST", "/api/v1/rules/preview", body);
    // Each rule is raised and cleared once in seven samples, of two instances.
    let alarm =
        |number: u32| format!("alarm A{number} {{ raise pump.temperature > {}; }}\n", 90 + number % 6);
    let many: String = (0..999).map(alarm).collect();
    let (status, found) = ask(preview(rules(&many))).await;
    assert_eq!((status, &found["truncated"]), (200, &json!(true)), "{found:.300}");
    assert_eq!(found["events"].as_array().unwrap().len(), 10_000);
    assert_eq!(found["notes"], json!(["there are more events than are shown"]));
    let windows: String =
        (0..7).map(|number| format!("x{number} = mean(pump.temperature, last 100000); ")).collect();
    let (status, refused) = ask(preview(rules(&format!("derive D every 1s {{ {windows} }}")))).await;
    assert_eq!((status, &*code(&refused)), (422, "preview_too_large"), "{refused}");
    let (status, refused) = ask(preview("x".repeat(1024 * 1024 + 1))).await;
    assert_eq!((status, &*code(&refused)), (413, "rules_too_long"), "{refused:.300}");
    let (status, empty) = ask(json!({"text": rules("alarm Hot { raise pump.temperature > 94; }")})).await;
    assert_eq!((status, &empty["samples"]), (200, &json!(0)), "the samples are of 1970: {empty}");
    assert_eq!(ask(json!({"text": 7})).await.0, 422);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_check_says_what_is_wrong_and_how_many_instances_a_rule_reads() {
    let plant = Plant::new().await;
    let ask = |text: String| plant.request("", "POST", "/api/v1/rules/check", json!({"text": text}));
    let (status, found) = ask(format!("{INPUT}alarm Hot{{raise pump.temprature>94;}}\nalarm Cold {{ raise pump.temperature < 5 Cel; severity low; }}")).await;
    assert_eq!(status, 200, "{found}");
    let wrong = json!([{"code": "R0008", "severity": "error", "message": "unknown metric `temprature`", "help": "did you mean `temperature`?",
        "line": 2, "column": 22, "end_line": 2, "end_column": 32}]);
    assert_eq!(found["diagnostics"], wrong);
    let rule = &found["rules"][0];
    let members = ["name", "kind", "instances", "severity", "inputs"].map(|name| rule[name].clone());
    assert_eq!(members, [json!("Cold"), json!("alarm"), json!(2), json!("low"), json!(["*/pump"])]);
    assert!(rule["memory_bytes"].as_u64().unwrap() > 0);
    assert!(found["formatted"].as_str().unwrap().contains("alarm Hot {\n  raise pump.temprature > 94;\n}"));
    let overlap = "alarm Hot { raise pump.temperature > 90; clear pump.temperature < 95; }";
    let (_, warned) = ask(rules(overlap)).await;
    let warning = &warned["diagnostics"][0];
    assert_eq!((&warning["code"], &warning["severity"]), (&json!("R0029"), &json!("warning")), "{warned}");
    assert!(warned["rules"][0]["name"] == "Hot" && warning["line"] == 2, "{warned}");
    let (_, broken) = ask("alarm".into()).await;
    assert_eq!((&broken["formatted"], &broken["diagnostics"][0]["code"]), (&Value::Null, &json!("R0001")));
    let kiosk = plant.token("kiosk", &["read a/*"]);
    let text = json!({"text": rules("alarm Hot { raise pump.temperature > 94; }")});
    let (_, found) = plant.request(&kiosk, "POST", "/api/v1/rules/check", text).await;
    assert_eq!(found["rules"][0]["instances"], 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_place_has_instances_and_metrics_that_its_author_may_see() {
    let plant = Plant::new().await;
    let kiosk = plant.token("kiosk", &["read a/*"]);
    for (token, written, from, labels) in [
        ("", "input x = \"b", 11, json!(["b/pump"])),
        (&*kiosk, "input x = \"", 11, json!(["*/pump", "a/pump"])),
        ("", "input pump = \"*/pump\" : Plant::Pump; alarm A { raise pump.t", 58, json!(["temperature"])),
    ] {
        let body = json!({"text": written, "offset": written.len()});
        let (status, found) = plant.request(token, "POST", "/api/v1/rules/complete", body).await;
        assert_eq!((status, &found["from"]), (200, &json!(from)), "{found}");
        let items = found["items"].as_array().unwrap();
        assert_eq!(items.iter().map(|item| item["label"].clone()).collect::<Value>(), labels);
    }
    let beyond = json!({"text": "a", "offset": 7});
    assert_eq!(
        plant.request("", "POST", "/api/v1/rules/complete", beyond).await,
        (200, json!({"from": 1, "items": []}))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_is_saved_replaced_and_deleted_by_those_who_have_read_it() {
    let plant = Plant::new().await;
    let file = "/api/v1/rules/files/pump.rules";
    let text = rules("alarm Hot { raise pump.temperature > 94; }\n");
    assert_eq!(plant.request("", "GET", file, Value::Null).await.0, 404);
    let (status, saved) = plant.request("", "PUT", file, json!({"text": text})).await;
    assert_eq!((status, &saved["text"]), (200, &json!(text)), "{saved}");
    assert_eq!(fs::read_to_string(plant.folder.path().join("files/pump.rules")).unwrap(), text);
    assert_eq!(plant.request("", "GET", file, Value::Null).await.1, saved);
    assert!(plant.state.take_reload());
    let (_, list) = plant.request("", "GET", "/api/v1/rules", Value::Null).await;
    let changed = json!([{"name": "pump.rules", "editable": true, "state": "changed", "diagnostics": []}]);
    assert_eq!((&list["editable"], &list["files"]), (&json!(true), &changed), "{list}");

    let (status, refused) =
        plant.request("", "PUT", file, json!({"text": "alarm", "revision": saved["revision"]})).await;
    assert_eq!((status, &*code(&refused)), (422, "bad_rules"), "{refused}");
    assert_eq!(refused["diagnostics"][0]["code"], "R0001");
    let (status, refused) = plant.request("", "PUT", file, json!({"text": text})).await;
    assert_eq!((status, &*code(&refused)), (409, "rules_file_changed"), "{refused}");
    assert_eq!(fs::read_to_string(plant.folder.path().join("files/pump.rules")).unwrap(), text);
    assert!(!plant.state.take_reload(), "nothing has changed");
    for name in ["..%2Fx.rules", "x", "%2Fetc%2Fpasswd.rules", ".rules"] {
        let (status, refused) =
            plant.request("", "PUT", &format!("/api/v1/rules/files/{name}"), json!({"text": text})).await;
        assert_eq!((status, &*code(&refused)), (400, "rules_file_name"), "{name}: {refused}");
    }
    assert_eq!(plant.request("", "DELETE", &format!("{file}?revision=0"), Value::Null).await.0, 409);
    assert_eq!(plant.request("", "DELETE", file, Value::Null).await.0, 204);
    assert_eq!(plant.request("", "DELETE", file, Value::Null).await.0, 404);
    assert!(plant.state.take_reload());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_has_no_commands_that_its_author_may_not_send_and_no_name_of_another_rule() {
    let plant = Plant::new().await;
    let editor =
        plant.token("editor", &["read */*", "rules */*", "command:trigger */*", "command:hertz a/*"]);
    let put = |token: String, alarm: &str| {
        let text = json!({"text": rules(alarm)});
        let plant = &plant;
        async move { plant.request(&token, "PUT", "/api/v1/rules/files/b.rules", text).await }
    };
    let hot = |on: &str| format!("alarm Hot {{ raise pump.temperature > 94; {on} }}");
    for on in [
        "on raised hertz 10 pump;",
        "on raised hertz 10 \"a/*\";",
        "on raised trigger pump; on cleared disable \"*/x\";",
    ] {
        let (status, refused) = put(editor.clone(), &hot(on)).await;
        assert_eq!((status, &*code(&refused)), (403, "forbidden"), "{on}: {refused}");
    }
    let reader = plant.token("reader", &["read */*"]);
    assert_eq!(put(reader, &hot("")).await.0, 403);
    let rule = LoadedRule {
        name: "Hot".into(),
        kind: "alarm",
        file: Some("a.rules".into()),
        inputs: vec!["*/pump".into()],
        severity: Some(oasis_rules::program::Severity::High),
        is_damped: false,
        memory_bytes: 100,
        instances: 2,
    };
    let text = Some("alarm Hot {}".into());
    let file = LoadedFile { name: "a.rules".into(), state: FileState::Loaded, problems: Vec::new(), text };
    plant.state.publish(Loaded { files: vec![file], rules: vec![rule] });
    let (status, refused) = put(editor.clone(), &hot("on raised trigger \"*/recorder\";")).await;
    assert_eq!((status, &*code(&refused)), (409, "rule_exists"), "{refused}");
    let (status, saved) =
        put(editor.clone(), "alarm Warm { raise pump.temperature > 9; on raised trigger pump; }").await;
    assert_eq!(status, 200, "{saved}");
    let (_, list) = plant.request("", "GET", "/api/v1/rules", Value::Null).await;
    let shown = json!([{"name": "Hot", "kind": "alarm", "file": "a.rules", "inputs": ["*/pump"], "severity": "high", "memory_bytes": 100, "instances": 2}]);
    assert_eq!(list["rules"], shown);
    assert_eq!(list["files"][0]["editable"], false);
    // A file of the configuration is read, and nothing of its name is saved.
    let (status, file) = plant.request("", "GET", "/api/v1/rules/files/a.rules", Value::Null).await;
    assert_eq!(
        (status, &file["text"], &file["editable"]),
        (200, &json!("alarm Hot {}"), &json!(false)),
        "{file}"
    );
    let text = json!({"text": rules("")});
    let (status, refused) = plant.request(&editor, "PUT", "/api/v1/rules/files/a.rules", text).await;
    assert_eq!((status, &*code(&refused)), (409, "rules_file_of_configuration"), "{refused}");
}

use crate::{ApiError, ApiRequest, DacApi, Headers, answer};
use serde_json::{Value, json};
use std::sync::Mutex;

/// A DAC with one instance, whose requests are kept.
#[derive(Default)]
struct Plant {
    asked: Mutex<Vec<ApiRequest>>,
    /// Whether the list of instances has two pages.
    has_pages: bool,
    /// The verbs of the caller.
    verbs: Vec<&'static str>,
}

impl DacApi for Plant {
    async fn send(&self, request: ApiRequest) -> Result<Value, ApiError> {
        let path = request.path.clone();
        let is_second_page = request.query.iter().any(|(name, value)| *name == "after" && value == "00aa:3");
        self.asked.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push(request);
        Ok(match path.as_str() {
            "/session" => json!({"verbs": self.verbs}),
            "/instances" if is_second_page => {
                json!({"instances": [{"id": 4, "node": "plant-7", "instance": "valve", "missing": 0}], "next": null})
            }
            "/instances" => json!({
                "instances": [{"id": 3, "node": "plant-7", "instance": "pump", "type": "Pump", "missing": 7}],
                "next": if self.has_pages { json!("00aa:3") } else { Value::Null },
            }),
            "/instances/3" => json!({
                "node": "plant-7", "instance": "pump",
                "schema": {"name": "Pump", "doc": "A pump.", "metrics": [{"name": "speed", "unit": "/min"}]},
                "ledger": {"received": 9, "missing": 1, "causes": {"ring_full": 1},
                    "gaps": [{"from": 4, "to": 4, "cause": "ring_full"}]},
            }),
            "/samples" => json!({"messages": [{"event": "samples", "node": "plant-7", "samples": [
                {"sequence": 9, "metrics": {"speed": 3000, "load": 0.5}}]}]}),
            "/commands" => json!({"status": "done"}),
            _ => return Err(ApiError(format!("404: {path}"))),
        })
    }
}

async fn request(api: &impl DacApi, method: &str, params: Value) -> Value {
    let message = json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params});
    answer(api, message.to_string().as_bytes(), Headers::none()).await.message.unwrap_or_default()
}

/// Calls a tool. Returns its text, and whether it is an error.
async fn call(api: &impl DacApi, tool: &str, arguments: Value) -> (String, bool) {
    let answer = request(api, "tools/call", json!({"name": tool, "arguments": arguments})).await;
    let result = &answer["result"];
    (result["content"][0]["text"].as_str().unwrap_or_default().into(), result["isError"] == true)
}

#[tokio::test]
async fn a_handshake_agrees_on_the_version_of_the_client_or_the_newest() {
    for (requested, agreed) in [("2025-06-18", "2025-06-18"), ("1999-01-01", "2025-11-25")] {
        let answer = request(&Plant::default(), "initialize", json!({"protocolVersion": requested})).await;
        assert_eq!(answer["result"]["protocolVersion"], agreed);
    }
}

#[tokio::test]
async fn a_stateless_request_has_the_fields_of_its_version() {
    let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28"});
    let answer = request(&Plant::default(), "server/discover", json!({"_meta": meta})).await;
    assert_eq!(answer["result"]["resultType"], "complete");
    assert!(answer["result"]["supportedVersions"].to_string().contains("2026-07-28"));
}

#[tokio::test]
async fn headers_that_contradict_the_message_are_refused() {
    let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28"});
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"_meta": meta}}).to_string();
    for (method, status) in [("ping", 200), ("tools/list", 400)] {
        let header = |name: &str| match name {
            "mcp-protocol-version" => Some("2026-07-28"),
            "mcp-method" => Some(method),
            _ => None,
        };
        let answer = answer(&Plant::default(), message.as_bytes(), Headers::of(&header)).await;
        assert_eq!(answer.status, status, "{answer:?}");
    }
}

#[tokio::test]
async fn messages_that_are_no_requests_are_answered_without_asking_the_dac() {
    let plant = Plant::default();
    for (message, status) in [
        (&b"{"[..], 400),
        (b"[]", 400),
        (b"7", 400),
        (br#"{"jsonrpc": "2.0", "id": {}, "method": "ping"}"#, 400),
        (br#"{"jsonrpc": "2.0", "method": "notifications/initialized"}"#, 202),
        (br#"{"jsonrpc": "2.0", "id": 1, "result": {}}"#, 202),
        (br#"{"jsonrpc": "2.0", "id": 1, "method": "no/such"}"#, 200),
    ] {
        let answer = answer(&plant, message, Headers::none()).await;
        assert_eq!(answer.status, status, "{}", String::from_utf8_lossy(message));
    }
    assert!(plant.asked.lock().is_ok_and(|asked| asked.is_empty()));
}

#[tokio::test]
async fn who_may_not_command_is_not_offered_it() {
    for (verbs, is_offered) in [(vec!["read-live"], false), (vec!["command:hertz"], true)] {
        let plant = Plant { verbs, ..Plant::default() };
        let tools = request(&plant, "tools/list", json!({})).await["result"]["tools"].to_string();
        assert_eq!(tools.contains("send_command"), is_offered);
    }
}

#[tokio::test]
async fn the_list_of_instances_has_missing_samples_and_all_pages() {
    let plant = Plant { has_pages: true, ..Plant::default() };
    let (text, is_error) = call(&plant, "list_instances", json!({})).await;
    let answer: Value = serde_json::from_str(&text).unwrap();
    let missing = |at: usize| (&answer["instances"][at]["instance"], &answer["instances"][at]["missing"]);
    assert!(!is_error, "{text}");
    assert_eq!([missing(0), missing(1)], [(&json!("pump"), &json!(7)), (&json!("valve"), &json!(0))]);
}

#[tokio::test]
async fn a_command_is_sent_only_with_its_confirmation() {
    let plant = Plant { verbs: vec!["command:hertz"], ..Plant::default() };
    let mut command = json!({"node": "plant-7", "instance": "pump", "command": "hertz", "hertz": 10});
    let (first, is_error) = call(&plant, "send_command", command.clone()).await;
    assert!(!is_error && first.contains("hertz of plant-7/pump, hertz = 10"), "{first}");
    command["confirmation"] = "hertz of plant-7/pump, hertz = 100".into();
    let (other, is_error) = call(&plant, "send_command", command.clone()).await;
    assert!(is_error && other.contains("nothing was done"), "{other}");
    let is_get = |request: &ApiRequest| request.body.is_none();
    assert!(plant.asked.lock().is_ok_and(|asked| asked.iter().all(is_get)));
    command["confirmation"] = "hertz of plant-7/pump, hertz = 10".into();
    assert_eq!(call(&plant, "send_command", command).await, (json!({"status": "done"}).to_string(), false));
    let body = json!({"node": "plant-7", "instance": "pump", "command": "hertz", "hertz": 10});
    assert!(plant.asked.lock().is_ok_and(|asked| asked.last() == Some(&ApiRequest::post("/commands", body))));
}

#[tokio::test]
async fn nobody_is_asked_to_confirm_what_cannot_be_done() {
    let plant = Plant { verbs: vec!["command:hertz"], ..Plant::default() };
    for (command, reason) in [
        (json!({"node": "plant-7", "instance": "pump", "command": "hertz"}), "hertz needs hertz"),
        (
            json!({"node": "plant-7", "instance": "pump", "command": "disable"}),
            "no permission command:disable",
        ),
    ] {
        let (text, is_error) = call(&plant, "send_command", command).await;
        assert!(is_error && text.contains(reason), "{text}");
    }
}

#[tokio::test]
async fn gaps_come_with_the_meaning_of_their_causes() {
    let (text, _) =
        call(&Plant::default(), "explain_gaps", json!({"node": "plant-7", "instance": "pump"})).await;
    assert!(text.contains("the probe's ring was full (lost at: node)"), "{text}");
}

#[tokio::test]
async fn samples_have_only_the_metrics_that_were_asked_for() {
    let wanted = json!({"node": "plant-7", "instance": "pump", "metrics": ["speed"]});
    let (text, _) = call(&Plant::default(), "read_samples", wanted).await;
    assert!(text.contains("3000") && !text.contains("load"), "{text}");
}

/// A DAC whose archive answers with one long batch.
struct Archived;

impl DacApi for Archived {
    async fn send(&self, _: ApiRequest) -> Result<Value, ApiError> {
        let sample = |number: u64| json!({"sequence": number, "metrics": {"text": "x".repeat(1_000)}});
        let samples: Vec<Value> = (1..=1_000).map(sample).collect();
        Ok(
            json!({"messages": [{"event": "gap", "from_sequence": 1}, {"event": "samples", "samples": samples}]}),
        )
    }
}

#[tokio::test]
async fn of_a_long_batch_the_newest_samples_are_shown() {
    let wanted = json!({"node": "plant-7", "instance": "pump", "last": 1_000});
    let (text, _) = call(&Archived, "read_samples", wanted).await;
    let answer: Value = serde_json::from_str(&text).unwrap_or_default();
    let samples = answer["samples"].as_array().map_or(0, Vec::len);
    assert!(samples > 10 && answer["samples"][samples - 1]["sequence"] == 1_000, "{samples}");
    assert_eq!(answer["left_out"].as_u64(), Some(1_001 - samples as u64));
}

#[tokio::test]
async fn wrong_arguments_and_refusals_are_results_that_name_the_reason() {
    for (tool, arguments, reason) in [
        ("query_sql", json!({"sql": "SELECT 1"}), "unknown field `sql`"),
        ("query_sql", json!({"query": "SELECT 1"}), "404: /sql"),
        ("read_samples", json!({"node": "a"}), "missing field `instance`"),
        ("read_samples", json!({"node": "a", "instance": "b", "last": 5_000}), "last is from 1 to 1000"),
        (
            "read_samples",
            json!({"node": "a", "instance": "b", "metrics": ["nope"]}),
            "there is no metric \"nope\": speed",
        ),
    ] {
        let (text, is_error) = call(&Plant::default(), tool, arguments).await;
        assert!(is_error && text.contains(reason), "{text}");
    }
}

#[tokio::test]
async fn the_type_of_an_instance_is_a_resource() {
    let answer =
        request(&Plant::default(), "resources/read", json!({"uri": "oasis://types/plant%2D7/pump"})).await;
    assert!(answer["result"]["contents"][0]["text"].to_string().contains("A pump."), "{answer}");
    let plant = Plant::default();
    for uri in ["file:///etc/passwd", "oasis://rules/../../session"] {
        let missing = request(&plant, "resources/read", json!({"uri": uri})).await;
        assert_eq!(missing["error"]["code"], -32_602, "{uri}");
    }
    let is_one_segment = |request: &ApiRequest| request.path == "/rules/files/%2E%2E%2F%2E%2E%2Fsession";
    assert!(plant.asked.lock().is_ok_and(|asked| asked.iter().all(is_one_segment)));
}

mod properties {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Whatever a client sends is answered.
        #[test]
        fn any_bytes_are_answered(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let runtime = tokio::runtime::Builder::new_current_thread().build();
            let answer = runtime.map(|runtime| runtime.block_on(answer(&Plant::default(), &bytes, Headers::none())));
            prop_assert!(answer.is_ok_and(|answer| answer.status == 400));
        }

        /// Whatever arguments a tool gets, the answer is bounded.
        #[test]
        fn any_arguments_are_answered(tool in "[a-z_]{0,16}", node in ".*", number in any::<i64>()) {
            let arguments = json!({"node": node, "instance": number, "query": node, "limit": number});
            let runtime = tokio::runtime::Builder::new_current_thread().build();
            let params = json!({"name": tool, "arguments": arguments});
            let answer = runtime.map(|runtime| runtime.block_on(request(&Plant::default(), "tools/call", params)));
            prop_assert!(answer.is_ok_and(|answer| answer.to_string().len() < 100_000));
        }
    }
}

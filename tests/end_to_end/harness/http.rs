use super::Oasis;
use serde_json::Value;
use std::sync::LazyLock;
use ureq::{Agent, RequestBuilder, http::Request, typestate::WithBody};

/// Without connection pool: a restarted DAC may have the same address.
static AGENT: LazyLock<Agent> = LazyLock::new(|| {
    Agent::config_builder().http_status_as_error(false).max_idle_connections(0).build().into()
});

/// Returns a document that must exist.
pub fn get(dac: &Oasis, path: &str) -> Value {
    let mut answer = AGENT.get(format!("{}{path}", dac.http())).call().expect("an answer");
    assert_eq!(answer.status(), 200, "GET {path}");
    answer.body_mut().read_json().expect("JSON")
}

/// Status and document.
pub fn post(dac: &Oasis, path: &str, body: &Value) -> (u16, Value) {
    post_from(dac, path, body, dac.http())
}

/// Posts as a page of another origin.
pub fn post_from(dac: &Oasis, path: &str, body: &Value, origin: &str) -> (u16, Value) {
    send_from(AGENT.post(format!("{}{path}", dac.http())), body, origin)
}

/// Puts as a page of another origin.
pub fn put_from(dac: &Oasis, path: &str, body: &Value, origin: &str) -> (u16, Value) {
    send_from(AGENT.put(format!("{}{path}", dac.http())), body, origin)
}

fn send_from(request: RequestBuilder<WithBody>, body: &Value, origin: &str) -> (u16, Value) {
    let mut answer = request.header("Origin", origin).send_json(body).expect("an answer");
    (answer.status().as_u16(), answer.body_mut().read_json().expect("JSON"))
}

/// Status and document, or null without one; without an origin.
pub fn request(dac: &Oasis, method: &str, path: &str, body: Option<&Value>) -> (u16, Value) {
    let body = body.map(Value::to_string).unwrap_or_default();
    let request = Request::builder().method(method).uri(format!("{}{path}", dac.http())).body(body);
    let mut answer = AGENT.run(request.expect("a request")).expect("an answer");
    let text = answer.body_mut().read_to_string().expect("text");
    (answer.status().as_u16(), serde_json::from_str(&text).unwrap_or_default())
}

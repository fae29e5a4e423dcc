use super::Oasis;
use serde_json::Value;
use std::sync::LazyLock;
use ureq::Agent;

static AGENT: LazyLock<Agent> =
    LazyLock::new(|| Agent::config_builder().http_status_as_error(false).build().into());

/// A document that must be there.
pub fn get(dac: &Oasis, path: &str) -> Value {
    let mut answer = AGENT.get(format!("{}{path}", dac.http())).call().expect("an answer");
    assert_eq!(answer.status(), 200, "GET {path}");
    answer.body_mut().read_json().expect("JSON")
}

/// Status and document.
pub fn post(dac: &Oasis, path: &str, body: &Value) -> (u16, Value) {
    post_from(dac, path, body, dac.http())
}

/// As a page of another origin would.
pub fn post_from(dac: &Oasis, path: &str, body: &Value, origin: &str) -> (u16, Value) {
    let request = AGENT.post(format!("{}{path}", dac.http())).header("Origin", origin);
    let mut answer = request.send_json(body).expect("an answer");
    (answer.status().as_u16(), answer.body_mut().read_json().expect("JSON"))
}

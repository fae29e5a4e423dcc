//! A client of the HTTP API (`docs/reference/http-api.md`).

use crate::live::dac_address::DacAddress;
use anyhow::{Context, bail};
use serde_json::Value;
use ureq::{
    Agent, SendBody,
    http::{Method, Request, Response},
};

/// A DAC's API.
pub struct Api {
    agent: Agent,
    base: String,
}

impl Api {
    /// The API of the DAC at this address.
    pub fn at(address: &DacAddress) -> Self {
        let agent = Agent::config_builder().http_status_as_error(false).build().into();
        Self { agent, base: address.api() }
    }

    /// A document.
    pub fn get(&self, path: &str, query: &[(&str, &str)]) -> anyhow::Result<Value> {
        let request = self.agent.get(format!("{}{path}", self.base)).query_pairs(query.iter().copied());
        understand(request.call().with_context(|| self.nobody())?)
    }

    /// Sends a change; returns null without a response body.
    pub fn send(&self, method: Method, path: &str, body: Option<&Value>) -> anyhow::Result<Value> {
        let body = body.map(Value::to_string).unwrap_or_default();
        let request = Request::builder().method(method).uri(format!("{}{path}", self.base));
        let request = request.body(SendBody::from_owned_reader(std::io::Cursor::new(body)))?;
        understand(self.agent.run(request).with_context(|| self.nobody())?)
    }

    fn nobody(&self) -> String {
        format!("no DAC at {}: is `oasis up` or `oasis dac` running?", self.base)
    }
}

fn understand(mut answer: Response<ureq::Body>) -> anyhow::Result<Value> {
    let text = answer.body_mut().read_to_string()?;
    if answer.status().is_success() {
        return if text.is_empty() { Ok(Value::Null) } else { Ok(serde_json::from_str(&text)?) };
    }
    let problem: Value = serde_json::from_str(&text).unwrap_or_default();
    match problem["detail"].as_str() {
        Some(detail) => bail!("{detail}"),
        None => bail!("unexpected answer {}: the server is not a DAC, or an older one", answer.status()),
    }
}

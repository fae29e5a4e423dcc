//! A client of the HTTP API (`docs/reference/http-api.md`).

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
    /// Of the DAC whose WebSocket this is: one setting says where a DAC is.
    pub fn at(websocket: &str) -> anyhow::Result<Self> {
        let rest = websocket.strip_prefix("ws://").or_else(|| websocket.strip_prefix("http://"));
        let host = rest.and_then(|rest| rest.split('/').next()).filter(|host| !host.is_empty());
        let host = host
            .with_context(|| format!("{websocket:?} is no URL of a DAC: write ws://HOST:PORT/ws (--url)"))?;
        let agent = Agent::config_builder().http_status_as_error(false).build().into();
        Ok(Self { agent, base: format!("http://{host}/api/v1") })
    }

    /// A document.
    pub fn get(&self, path: &str, query: &[(&str, &str)]) -> anyhow::Result<Value> {
        let request = self.agent.get(format!("{}{path}", self.base)).query_pairs(query.iter().copied());
        understand(request.call().with_context(|| self.nobody())?)
    }

    /// Changes something; null if nothing is answered.
    pub fn send(&self, method: Method, path: &str, body: Option<&Value>) -> anyhow::Result<Value> {
        let body = body.map(Value::to_string).unwrap_or_default();
        let request = Request::builder().method(method).uri(format!("{}{path}", self.base));
        let request = request.body(SendBody::from_owned_reader(std::io::Cursor::new(body)))?;
        understand(self.agent.run(request).with_context(|| self.nobody())?)
    }

    fn nobody(&self) -> String {
        format!("no DAC answers at {}: is `oasis up` or `oasis dac` running?", self.base)
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
        None => bail!("the server answers {}, and is no DAC that knows this", answer.status()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_api_is_where_the_websocket_is() {
        for url in ["ws://127.0.0.1:7070/ws", "http://127.0.0.1:7070"] {
            assert_eq!(Api::at(url).unwrap().base, "http://127.0.0.1:7070/api/v1");
        }
        for url in ["", "127.0.0.1:7070", "ws:///ws", "ftp://x"] {
            assert!(Api::at(url).is_err(), "{url}");
        }
    }
}

//! A client of the HTTP API (`docs/reference/http-api.md`).

use crate::live::{dac_address::Server, token, trust};
use anyhow::bail;
use serde_json::Value;
use ureq::{
    Agent, SendBody,
    http::{Method, Request, Response},
};

/// A DAC's API.
pub struct Api {
    agent: Agent,
    base: String,
    /// The value of `Authorization`, in place of the environment's.
    authorization: Option<String>,
}

impl Api {
    /// The API of the DAC at this address.
    ///
    /// # Errors
    /// If the authorities of an encrypted connection cannot be read.
    pub fn at(server: &Server) -> anyhow::Result<Self> {
        let mut config = Agent::config_builder().http_status_as_error(false);
        if server.url.is_encrypted {
            config = config.tls_config(trust::for_http(&server.trusted())?);
        }
        Ok(Self { agent: config.build().into(), base: server.url.api(), authorization: None })
    }

    /// Shows this, if there is any, in place of the token of the environment.
    pub fn with_authorization(self, authorization: Option<String>) -> Self {
        Self { authorization, ..self }
    }

    fn authorization(&self) -> anyhow::Result<Option<String>> {
        self.authorization.clone().map_or_else(token::authorization, |value| Ok(Some(value)))
    }

    /// A document.
    pub fn get(&self, path: &str, query: &[(&str, &str)]) -> anyhow::Result<Value> {
        let mut request = self.agent.get(format!("{}{path}", self.base)).query_pairs(query.iter().copied());
        if let Some(authorization) = self.authorization()? {
            request = request.header("authorization", authorization);
        }
        understand(request.call().map_err(|error| self.failed(error))?)
    }

    /// Sends a change; returns null without a response body.
    pub fn send(&self, method: Method, path: &str, body: Option<&Value>) -> anyhow::Result<Value> {
        let body = body.map(Value::to_string).unwrap_or_default();
        let mut request = Request::builder().method(method).uri(format!("{}{path}", self.base));
        if let Some(authorization) = self.authorization()? {
            // RFC 9110 10.1.1: a DAC that refuses the token may close before it has read the body, and its reason would be lost.
            request = request.header("authorization", authorization);
            request = if body.is_empty() { request } else { request.header("expect", "100-continue") };
        }
        let request = request.body(SendBody::from_owned_reader(std::io::Cursor::new(body)))?;
        understand(self.agent.run(request).map_err(|error| self.failed(error))?)
    }

    fn failed(&self, error: ureq::Error) -> anyhow::Error {
        let base = &self.base;
        match trust::explained(&error) {
            Some(why) => anyhow::anyhow!("no encrypted connection to {base}: {why}"),
            None => anyhow::Error::new(error)
                .context(format!("no DAC at {base}: is `oasis up` or `oasis dac` running?")),
        }
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

//! A client of the HTTP API (`docs/reference/http-api.md`).

use crate::live::{
    dac_address::{DacAddress, Server},
    host_token, token, trust,
};
use anyhow::{Context, bail};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::{cell::OnceCell, error::Error, fmt, io::Cursor, time::Duration};
use ureq::{
    Agent, SendBody,
    http::{Method, Request, Response},
};

/// A DAC's API.
pub struct Api {
    agent: Agent,
    base: String,
    address: DacAddress,
    /// Value of `Authorization`, once it is known; none if the DAC needs none.
    authorization: OnceCell<Option<String>>,
}

impl Api {
    /// The API of the DAC at this address.
    ///
    /// # Errors
    /// If the authorities of an encrypted connection cannot be read, or the token.
    pub fn at(server: &Server) -> anyhow::Result<Self> {
        Self::within(server, None)
    }

    /// The same, for requests that end after this time.
    ///
    /// # Errors
    /// As [`Self::at`].
    pub fn within(server: &Server, timeout: Option<Duration>) -> anyhow::Result<Self> {
        let mut config = Agent::config_builder().http_status_as_error(false).timeout_global(timeout);
        if server.url.is_encrypted {
            config = config.tls_config(trust::for_http(&server.trusted())?);
        }
        let authorization = token::authorization()?.map(|token| OnceCell::from(Some(token)));
        let (base, address) = (server.url.api(), server.url.clone());
        Ok(Self {
            agent: config.build().into(),
            base,
            address,
            authorization: authorization.unwrap_or_default(),
        })
    }

    /// Shows this, if there is any, in place of the token of the environment.
    pub fn with_authorization(self, authorization: Option<String>) -> Self {
        match authorization {
            Some(authorization) => Self { authorization: Some(authorization).into(), ..self },
            None => self,
        }
    }

    /// A document.
    pub fn get(&self, path: &str, query: &[(&str, &str)]) -> anyhow::Result<Value> {
        self.read(path, query, self.authorization()?)
    }

    fn read(&self, path: &str, query: &[(&str, &str)], authorization: Option<&str>) -> anyhow::Result<Value> {
        let mut request = self.agent.get(format!("{}{path}", self.base)).query_pairs(query.iter().copied());
        if let Some(authorization) = authorization {
            request = request.header("authorization", authorization);
        }
        understand(request.call().map_err(|error| self.failed(error))?)
    }

    /// A document of at most so many bytes.
    pub fn get_bounded<T: DeserializeOwned>(
        &self,
        path: &str,
        query: &[(&str, &str)],
        most: u64,
    ) -> anyhow::Result<T> {
        let mut request = self.agent.get(format!("{}{path}", self.base)).query_pairs(query.iter().copied());
        if let Some(authorization) = self.authorization()? {
            request = request.header("authorization", authorization);
        }
        let mut answer = request.call().map_err(|error| self.failed(error))?;
        if !answer.status().is_success() {
            understand(answer)?;
            bail!("an answer without a document");
        }
        let text = answer.body_mut().with_config().limit(most).read_to_string();
        let text = text.with_context(|| format!("an answer of more than {most} bytes, or none"))?;
        Ok(serde_json::from_str(&text)?)
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
        let request = request.body(SendBody::from_owned_reader(Cursor::new(body)))?;
        understand(self.agent.run(request).map_err(|error| self.failed(error))?)
    }

    /// The token of the user; else that of this host, if there is one and the DAC takes the command for a stranger.
    fn authorization(&self) -> anyhow::Result<Option<&str>> {
        if let Some(known) = self.authorization.get() {
            return Ok(known.as_deref());
        }
        let token = match host_token::find(&self.address, None)? {
            Some(token) if self.read("/session", &[], None)?["kind"] == "stranger" => Some(token),
            _ => None,
        };
        Ok(self.authorization.get_or_init(|| token).as_deref())
    }

    fn failed(&self, error: ureq::Error) -> anyhow::Error {
        let base = &self.base;
        match trust::explained(&error) {
            Some(_) if trust::is_data_channel(&error) => anyhow::anyhow!(
                "{base} is at the port of the data channel, which is for nodes: use the port of the page (7070 by default)"
            ),
            Some(why) => anyhow::anyhow!("no encrypted connection to {base}: {why}"),
            None => anyhow::Error::new(error)
                .context(format!("no DAC at {base}: is `oasis up` or `oasis dac` running, and is this the port of its page (7070 by default)?")),
        }
    }
}

/// A request that the DAC has refused.
#[derive(Debug)]
pub struct Refused {
    /// The code of the problem, such as `bad_token`.
    pub code: String,
    detail: String,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.detail)
    }
}

impl Error for Refused {}

fn understand(mut answer: Response<ureq::Body>) -> anyhow::Result<Value> {
    let text = answer.body_mut().read_to_string()?;
    if answer.status().is_success() {
        return if text.is_empty() { Ok(Value::Null) } else { Ok(serde_json::from_str(&text)?) };
    }
    let problem: Value = serde_json::from_str(&text).unwrap_or_default();
    let code = problem["type"].as_str().unwrap_or_default().trim_start_matches("/problems/").to_owned();
    match problem["detail"].as_str() {
        Some(_) if code == "sign_in_required" => {
            let detail = "the DAC asks for a token: name its file in OASIS_TOKEN_FILE (oasis token create)";
            bail!(Refused { code, detail: detail.into() })
        }
        Some(detail) => bail!(Refused { code, detail: detail.into() }),
        None => bail!("unexpected answer {}: the server is not a DAC, or an older one", answer.status()),
    }
}

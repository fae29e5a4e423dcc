//! A client of the HTTP API (`docs/reference/http-api.md`).

use crate::{ClientError, DacAddress, Refusal, Server, token, trust};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;
use std::{
    cell::OnceCell,
    io::{BufRead, BufReader, Cursor},
    time::Duration,
};
use ureq::{
    Agent, SendBody,
    http::{Method, Request, Response},
};

/// Most bytes of an answer.
const MAX_RESPONSE_BYTES: u64 = 64 << 20;

/// Returns the value of `Authorization` for a DAC on this host that is closed to strangers, if the user may read its token.
pub type HostToken = fn(&DacAddress) -> Result<Option<String>, ClientError>;

/// A DAC's API.
pub struct Api {
    agent: Agent,
    base: String,
    address: DacAddress,
    host_token: Option<HostToken>,
    /// Timeout of the connection to the DAC; none without a limit.
    patience: Option<Duration>,
    /// Value of `Authorization`, once it is known; none if the DAC needs none.
    authorization: OnceCell<Option<String>>,
}

impl Api {
    /// The API of the DAC at this address.
    ///
    /// # Errors
    /// If the authorities of an encrypted connection cannot be read, or the token.
    pub fn at(server: &Server) -> Result<Self, ClientError> {
        Self::within(server, None)
    }

    /// The same, for requests that end after this time.
    ///
    /// # Errors
    /// As [`Self::at`].
    pub fn within(server: &Server, timeout: Option<Duration>) -> Result<Self, ClientError> {
        Self::new(server, timeout, None)
    }

    /// The same, for a DAC that answers at once if it answers at all: it has this time to accept the connection, and as long to begin its answer. All of
    /// the answer may take longer.
    ///
    /// # Errors
    /// As [`Self::at`].
    pub fn prompt(server: &Server, patience: Duration) -> Result<Self, ClientError> {
        Self::new(server, None, Some(patience))
    }

    fn new(
        server: &Server,
        whole: Option<Duration>,
        beginning: Option<Duration>,
    ) -> Result<Self, ClientError> {
        let config = Agent::config_builder().http_status_as_error(false).timeout_global(whole);
        let mut config = config.timeout_connect(beginning).timeout_recv_response(beginning);
        if server.url.is_encrypted {
            config = config.tls_config(trust::for_http(&server.trusted())?);
        }
        let authorization = token::authorization()?.map(|token| OnceCell::from(Some(token)));
        let (base, address) = (server.url.api(), server.url.clone());
        Ok(Self {
            // A redirection could lead from an encrypted server to another one.
            agent: config.max_redirects(0).build().into(),
            base,
            address,
            host_token: None,
            patience: whole.or(beginning),
            authorization: authorization.unwrap_or_default(),
        })
    }

    /// Shows this, if there is any, in place of the token of the environment.
    #[must_use]
    pub fn with_authorization(self, authorization: Option<String>) -> Self {
        match authorization {
            Some(authorization) => Self { authorization: Some(authorization).into(), ..self },
            None => self,
        }
    }

    /// Looks for the token of this host if the DAC takes the client for a stranger.
    #[must_use]
    pub fn with_host_token(self, host_token: Option<HostToken>) -> Self {
        Self { host_token, ..self }
    }

    /// Returns a document.
    ///
    /// # Errors
    /// If there is no connection, or the DAC refuses.
    pub fn get(&self, path: &str, query: &[(&str, &str)]) -> Result<Value, ClientError> {
        self.parsed(&self.read(path, query, self.authorization()?, MAX_RESPONSE_BYTES)?)
    }

    /// Returns a document of a known shape and of at most this many bytes. Its other fields take no memory.
    ///
    /// # Errors
    /// As [`Self::get`], and if it is longer or has another shape.
    pub fn get_bounded<T: DeserializeOwned>(
        &self,
        path: &str,
        query: &[(&str, &str)],
        longest: u64,
    ) -> Result<T, ClientError> {
        self.parsed(&self.read(path, query, self.authorization()?, longest)?)
    }

    /// Opens an answer without end, such as a stream of events. The caller bounds what it reads at once.
    ///
    /// # Errors
    /// As [`Self::get`].
    pub fn open(&self, path: &str) -> Result<impl BufRead + use<>, ClientError> {
        self.open_after(path, None)
    }

    /// The same for server-sent events that follow one with this id.
    ///
    /// # Errors
    /// As [`Self::get`].
    pub fn open_after(
        &self,
        path: &str,
        last_event_id: Option<&str>,
    ) -> Result<impl BufRead + use<>, ClientError> {
        let mut request = self.agent.get(format!("{}{path}", self.base));
        if let Some(id) = last_event_id {
            request = request.header("last-event-id", id);
        }
        if let Some(authorization) = self.authorization()? {
            request = request.header("authorization", authorization);
        }
        let answer = request.call().map_err(|error| self.failed(&error))?;
        if !answer.status().is_success() {
            let text = self.understand(answer, MAX_RESPONSE_BYTES)?;
            return Err(self.unexpected(text));
        }
        Ok(BufReader::new(answer.into_body().into_reader()))
    }

    fn read(
        &self,
        path: &str,
        query: &[(&str, &str)],
        authorization: Option<&str>,
        longest: u64,
    ) -> Result<String, ClientError> {
        let mut request = self.agent.get(format!("{}{path}", self.base)).query_pairs(query.iter().copied());
        if let Some(authorization) = authorization {
            request = request.header("authorization", authorization);
        }
        self.understand(request.call().map_err(|error| self.failed(&error))?, longest)
    }

    /// Sends a change; returns null without a response body.
    ///
    /// # Errors
    /// As [`Self::get`].
    pub fn send(&self, method: Method, path: &str, body: Option<&Value>) -> Result<Value, ClientError> {
        self.send_bytes(method, path, body.map(Value::to_string).unwrap_or_default().into_bytes())
    }

    /// Sends a change whose body is not JSON.
    ///
    /// # Errors
    /// As [`Self::get`].
    pub fn send_bytes(&self, method: Method, path: &str, body: Vec<u8>) -> Result<Value, ClientError> {
        let mut request = Request::builder().method(method).uri(format!("{}{path}", self.base));
        if let Some(authorization) = self.authorization()? {
            // RFC 9110 10.1.1: a DAC that refuses the token may close before it has read the body, and its reason would be lost.
            request = request.header("authorization", authorization);
            request = if body.is_empty() { request } else { request.header("expect", "100-continue") };
        }
        let request = request.body(SendBody::from_owned_reader(Cursor::new(body)));
        let request = request.map_err(|error| self.failed(&error.into()))?;
        let answer = self.agent.run(request).map_err(|error| self.failed(&error))?;
        match self.understand(answer, MAX_RESPONSE_BYTES)?.as_str() {
            "" => Ok(Value::Null),
            text => self.parsed(text),
        }
    }

    /// The token of the user; else that of this host, if there is one and the DAC takes the command for a stranger.
    fn authorization(&self) -> Result<Option<&str>, ClientError> {
        if let Some(known) = self.authorization.get() {
            return Ok(known.as_deref());
        }
        let of_host = self.host_token.map_or(Ok(None), |find| find(&self.address))?;
        let token = match of_host {
            Some(token) if self.is_stranger()? => Some(token),
            _ => None,
        };
        Ok(self.authorization.get_or_init(|| token).as_deref())
    }

    fn is_stranger(&self) -> Result<bool, ClientError> {
        let session: Value = self.parsed(&self.read("/session", &[], None, MAX_RESPONSE_BYTES)?)?;
        Ok(session["kind"] == "stranger")
    }

    fn failed(&self, error: &ureq::Error) -> ClientError {
        let (base, address) = (self.base.clone(), self.address.to_string());
        if let (ureq::Error::Timeout(_), Some(patience)) = (error, self.patience) {
            return ClientError::NoAnswer { address, patience };
        }
        if let ureq::Error::Protocol(_) = error {
            return ClientError::NoHttp { address };
        }
        match trust::explained(error) {
            Some(_) if trust::is_data_channel(error) => ClientError::DataChannel { base },
            Some(why) => ClientError::Encryption { base, why },
            None => ClientError::Unreachable { base, why: error.to_string() },
        }
    }

    fn unexpected(&self, why: String) -> ClientError {
        ClientError::Answer { base: self.base.clone(), why }
    }

    fn parsed<T: DeserializeOwned>(&self, text: &str) -> Result<T, ClientError> {
        serde_json::from_str(text).map_err(|error| self.unexpected(error.to_string()))
    }

    /// Returns the body of a successful answer.
    fn understand(&self, mut answer: Response<ureq::Body>, longest: u64) -> Result<String, ClientError> {
        let status = answer.status();
        let text = answer.body_mut().with_config().limit(longest).read_to_string();
        let text = text.map_err(|error| match error {
            ureq::Error::Timeout(_) => self.failed(&error),
            _ => self.unexpected(error.to_string()),
        })?;
        if status.is_success() {
            return Ok(text);
        }
        let problem: Problem = serde_json::from_str(&text).unwrap_or_default();
        let code = problem.code.trim_start_matches("/problems/").to_owned();
        let detail = problem.detail.ok_or_else(|| self.unexpected(status.to_string()))?;
        let detail = match code.as_str() {
            "sign_in_required" => {
                "the DAC asks for a token: name its file in OASIS_TOKEN_FILE (oasis token create)".into()
            }
            _ => detail,
        };
        Err(Refusal { status: status.as_u16(), code, detail }.into())
    }
}

/// RFC 9457 3.1.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Problem {
    #[serde(rename = "type")]
    code: String,
    detail: Option<String>,
}

//! A client of the native WebSocket protocol (`docs/reference/websocket.md`).

mod connection;

use crate::{api::RESPONSE_TIMEOUT, host_token};
use anyhow::{Context, bail};
use connection::{Connection, OpenError, Stream};
use oasis_client::{ClientError, DacAddress, Server, token, trust};
use oasis_format::visible::Visible;
use oasis_websocket::{
    Received,
    handshake::client::{Request, ResponseError},
    random,
};
use rustls::pki_types::ServerName;
use serde_json::{Value, json};
use std::{fmt, time::Duration};
use tokio::{
    net::TcpStream,
    time::{Instant, timeout},
};
use tokio_rustls::TlsConnector;

/// Status of a DAC that asks for a token.
const UNAUTHORIZED: u16 = 401;
/// Pause between pings while an answer is waited for.
const PING_INTERVAL: Duration = Duration::from_secs(1);

/// One connection to a DAC.
pub struct Client {
    address: DacAddress,
    connection: Connection,
    last_id: i64,
    welcome: Value,
}

/// A message of the DAC.
pub enum Incoming {
    /// A control message.
    Control(Value),
    /// A native batch.
    Batch(Vec<u8>),
}

impl Client {
    /// Connects and receives the welcome.
    pub async fn connect(server: &Server) -> anyhow::Result<Self> {
        Self::connect_within(server, RESPONSE_TIMEOUT).await
    }

    /// Connects and receives the welcome within this time.
    pub async fn connect_within(server: &Server, patience: Duration) -> anyhow::Result<Self> {
        let connecting = timeout(patience, Self::connect_as(server, None));
        connecting.await.map_err(|_| no_answer(&server.url, patience))?
    }

    /// Connects with this value of `Authorization`, or with that of the environment.
    pub async fn connect_as(server: &Server, authorization: Option<String>) -> anyhow::Result<Self> {
        let address = &server.url;
        let authorization = authorization.map_or_else(token::authorization, |given| Ok(Some(given)))?;
        let opened = Self::open(server, authorization.as_deref()).await?;
        let opened = match opened {
            // The DAC may run as the same user.
            Err(error) if is_unauthorized(&error) && authorization.is_none() => {
                let token = host_token::find(address, None)?;
                Self::open(server, token.as_deref()).await?
            }
            other => other,
        };
        let connection = match opened {
            Ok(connection) => connection,
            Err(error) if is_unauthorized(&error) => bail!(
                "the DAC at {address} asks for a token that is valid there: name its file in OASIS_TOKEN_FILE (oasis token create makes one)"
            ),
            Err(error) => return Err(reason(error, address)),
        };
        let mut client = Self { address: address.clone(), connection, last_id: 0, welcome: Value::Null };
        match client.next().await? {
            Some(Incoming::Control(message)) if message["op"] == "welcome" => {
                client.welcome = message;
                Ok(client)
            }
            _ => bail!("the WebSocket at {address} is not of a DAC"),
        }
    }

    /// Opens a WebSocket with this value of `Authorization`.
    async fn open(
        server: &Server,
        authorization: Option<&str>,
    ) -> anyhow::Result<Result<Connection, OpenError>> {
        let address = &server.url;
        let request = Request::new(&address.websocket(), random()?)
            .with_context(|| format!("{address} is not a DAC address (--url)"))?;
        let mut request = request.protocol("oasis.v1")?;
        if let Some(authorization) = authorization {
            request = request.header("Authorization", authorization)?;
        }
        Ok(Connection::open(open(server).await?, &request).await)
    }

    /// Sends a request. Returns its number, which is in the response.
    pub async fn request(&mut self, mut message: Value) -> anyhow::Result<i64> {
        self.last_id += 1;
        message["id"] = json!(self.last_id);
        self.send(&message).await?;
        Ok(self.last_id)
    }

    /// Sends a request that has its number.
    pub async fn send(&mut self, message: &Value) -> anyhow::Result<()> {
        let sent = self.connection.send(&message.to_string()).await;
        sent.with_context(|| format!("{} closed the connection", self.address))
    }

    /// The first message of the DAC.
    pub fn welcome(&self) -> &Value {
        &self.welcome
    }

    /// The next message; none once the DAC has closed.
    pub async fn next(&mut self) -> anyhow::Result<Option<Incoming>> {
        let received = self.connection.next().await.map_err(|error| {
            anyhow::anyhow!(
                "connection to the DAC at {} lost ({error}): the DAC was killed, or the network failed. \
                 See whether `oasis up` or `oasis dac` still runs there",
                self.address
            )
        })?;
        Ok(match received {
            Some(Received::Text(text)) => Some(Incoming::Control(serde_json::from_str(&text)?)),
            Some(Received::Binary(bytes)) => Some(Incoming::Batch(bytes)),
            Some(Received::Close(Some(code), reason)) => {
                bail!("{} closed the connection: {reason} ({})", self.address, code.0)
            }
            Some(Received::Close(None, _)) | None => None,
        })
    }

    /// Waits for the response to a request, and skips everything else. A DAC that waits for a node itself still answers pings.
    pub async fn answer(&mut self, id: i64) -> anyhow::Result<Value> {
        while let Some(incoming) = self.next_within_patience().await? {
            match incoming {
                Incoming::Control(message) if message["id"] == id => {
                    if message["op"] == "error" {
                        return Err(Refusal::new(&message).into());
                    }
                    return Ok(message);
                }
                _ => {}
            }
        }
        bail!("the DAC closed the connection without a response")
    }

    /// The next message. Fails if the DAC says nothing at all for [`RESPONSE_TIMEOUT`], although it is pinged each second.
    async fn next_within_patience(&mut self) -> anyhow::Result<Option<Incoming>> {
        let started = Instant::now();
        while started.elapsed() < RESPONSE_TIMEOUT {
            match timeout(PING_INTERVAL, self.next()).await {
                Ok(incoming) => return incoming,
                Err(_) => self.request(json!({"op": "ping", "client_time": 0})).await?,
            };
        }
        Err(no_answer(&self.address, RESPONSE_TIMEOUT))
    }

    /// The address that was connected to.
    pub fn address(&self) -> &DacAddress {
        &self.address
    }

    /// Waits for the registry, once watched.
    pub async fn registry(&mut self) -> anyhow::Result<Value> {
        self.request(json!({"op": "watch"})).await?;
        while let Some(incoming) = self.next_within_patience().await? {
            match incoming {
                Incoming::Control(message) if message["op"] == "registry" => return Ok(message),
                _ => {}
            }
        }
        bail!("the DAC closed the connection without a response")
    }
}

/// The refusal of a request.
#[derive(Debug)]
pub struct Refusal {
    /// For programs.
    pub code: String,
    message: String,
}

impl Refusal {
    fn new(answer: &Value) -> Self {
        let text = |field: &str| answer[field].as_str().map(str::to_owned);
        let message = text("message").unwrap_or_else(|| "the DAC refused without a reason".into());
        Self { code: text("code").unwrap_or_default(), message: Visible(&message).to_string() }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Refusal {}

fn no_answer(address: &DacAddress, patience: Duration) -> anyhow::Error {
    ClientError::NoAnswer { address: address.to_string(), patience }.into()
}

fn nobody(address: &DacAddress) -> String {
    format!("no DAC at {address}: is `oasis up` or `oasis dac` running?")
}

/// Opens a connection.
async fn open(server: &Server) -> anyhow::Result<Box<dyn Stream>> {
    let address = &server.url;
    let (host, port) = address.socket();
    let stream = TcpStream::connect((host, port)).await.with_context(|| nobody(address))?;
    stream.set_nodelay(true)?;
    if !address.is_encrypted {
        return Ok(Box::new(stream));
    }
    let name = ServerName::try_from(host.to_owned())
        .with_context(|| format!("{host} is no name of a host (--url)"))?;
    let connector = TlsConnector::from(server.trusted().load()?);
    match connector.connect(name, stream).await {
        Ok(stream) => Ok(Box::new(stream)),
        Err(error) => match trust::explained(&error) {
            Some(why) => bail!("no encrypted connection to {address}: {why}"),
            None => Err(error).with_context(|| nobody(address)),
        },
    }
}

fn is_unauthorized(error: &OpenError) -> bool {
    matches!(error, OpenError::Response(ResponseError::Status(status)) if status.code == UNAUTHORIZED)
}

/// Returns why a connection failed.
fn reason(error: OpenError, address: &DacAddress) -> anyhow::Error {
    let error = match error {
        OpenError::Response(ResponseError::NoHttp) => {
            return ClientError::NoHttp { address: address.to_string() }.into();
        }
        OpenError::Response(error) => anyhow::Error::new(error),
        OpenError::Io(error) => error.into(),
    };
    error.context(nobody(address))
}

//! A stream of heartbeats to a TEM: a WebSocket on which each heartbeat is a short message, and no request.

use anyhow::{Context, anyhow, bail};
use oasis_client::Server;
use oasis_tem::{DacName, Line, MovedNode, OtherPage};
use rustls::{ClientConnection, StreamOwned, pki_types::ServerName};
use serde::Deserialize;
use std::{
    io::{self, ErrorKind, Read, Write},
    net::{TcpStream, ToSocketAddrs},
    time::Duration,
};
use tokio_tungstenite::tungstenite::{
    self, Message, WebSocket,
    client::{IntoClientRequest, client_with_config},
    http::HeaderValue,
    protocol::WebSocketConfig,
};

/// Subprotocol of the stream.
const PROTOCOL: &str = "oasis.beats.v1";
/// How long an answer is waited for when there may be none: the stream is looked at twice a second.
const GLANCE: Duration = Duration::from_millis(1);
/// A TEM that is silent for so many heartbeats does not hear them: it answers every fourth.
const UNANSWERED: u32 = 8;
/// Longest answer, bytes: it names the nodes that have moved.
const MAX_ANSWER: usize = 2 * 1024 * 1024;

/// A connection, encrypted or not.
trait Stream: Read + Write + Send {}

impl<T: Read + Write + Send> Stream for T {}

/// A stream of heartbeats.
pub struct BeatStream {
    socket: WebSocket<Box<dyn Stream>>,
    /// The connection below, for its timeouts.
    tcp: TcpStream,
    unanswered: u32,
    patience: Duration,
}

/// What a TEM answers.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Answer {
    /// Whether the next heartbeat must have the names of nodes.
    pub wants_names: bool,
    /// Nodes that have made a later connection to another DAC.
    pub moved: Vec<MovedNode>,
    /// Where readers of this DAC go on when it has ended; none if that has not changed.
    pub other_pages: Option<Vec<OtherPage>>,
}

impl BeatStream {
    /// Opens a stream with this value of `Authorization`. Each step takes this time at most.
    pub fn open(
        server: &Server,
        name: &DacName,
        authorization: Option<&str>,
        patience: Duration,
    ) -> anyhow::Result<Self> {
        let (host, port) = server.url.socket();
        let tcp = connect(host, port, patience)?;
        tcp.set_nodelay(true)?;
        tcp.set_read_timeout(Some(patience))?;
        tcp.set_write_timeout(Some(patience))?;
        let stream: Box<dyn Stream> = match server.url.is_encrypted {
            false => Box::new(tcp.try_clone()?),
            true => {
                let name = ServerName::try_from(host.to_owned())
                    .with_context(|| format!("{host} is no name of a host"))?;
                let session = ClientConnection::new(server.trusted().load()?, name)?;
                Box::new(StreamOwned::new(session, tcp.try_clone()?))
            }
        };
        let mut request = beats_url(server, name).into_client_request()?;
        request.headers_mut().insert("Sec-WebSocket-Protocol", HeaderValue::from_static(PROTOCOL));
        if let Some(authorization) = authorization {
            request.headers_mut().insert("Authorization", HeaderValue::try_from(authorization)?);
        }
        let config = WebSocketConfig::default().max_message_size(Some(MAX_ANSWER));
        let (socket, _) = client_with_config(request, stream, Some(config))
            .map_err(|error| anyhow!("no stream of heartbeats to {}: {error}", server.url))?;
        Ok(Self { socket, tcp, unanswered: 0, patience })
    }

    /// Sends a heartbeat, and returns the answers that have come.
    pub fn send(&mut self, line: &Line) -> anyhow::Result<Vec<Answer>> {
        self.unanswered += 1;
        if self.unanswered > UNANSWERED {
            bail!("the TEM has not answered {UNANSWERED} heartbeats");
        }
        self.socket.send(Message::text(serde_json::to_string(line)?))?;
        self.tcp.set_read_timeout(Some(GLANCE))?;
        let answers = self.answers();
        self.tcp.set_read_timeout(Some(self.patience))?;
        answers
    }

    fn answers(&mut self) -> anyhow::Result<Vec<Answer>> {
        let mut answers = Vec::new();
        loop {
            match self.socket.read() {
                Ok(Message::Text(text)) => {
                    self.unanswered = 0;
                    answers.push(serde_json::from_str(&text)?);
                }
                Ok(Message::Close(Some(frame))) => bail!("the TEM closed the stream: {}", frame.reason),
                Ok(Message::Close(None)) => bail!("the TEM closed the stream"),
                Ok(_) => {}
                Err(tungstenite::Error::Io(error)) if is_nothing(&error) => return Ok(answers),
                Err(error) => return Err(error.into()),
            }
        }
    }
}

fn is_nothing(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut)
}

fn beats_url(server: &Server, name: &DacName) -> String {
    format!("{}/tem/dacs/{name}/beats", server.url.api().replacen("http", "ws", 1))
}

/// Connects to the first address of a host that answers.
fn connect(host: &str, port: u16, patience: Duration) -> anyhow::Result<TcpStream> {
    let mut last = None;
    for address in (host, port).to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, patience) {
            Ok(tcp) => return Ok(tcp),
            Err(error) => last = Some(error),
        }
    }
    Err(last.map_or_else(|| anyhow!("{host} has no address"), Into::into))
}

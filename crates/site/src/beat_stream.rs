//! A stream of heartbeats to a TEM: a WebSocket on which each heartbeat is a short message, and no request.

use anyhow::{Context, anyhow, bail};
use oasis_client::Server;
use oasis_tem::{DacName, Line, MovedNode, OtherPage};
use oasis_websocket::{
    Limits, Opcode, Received, Session,
    handshake::client::{MAX_RESPONSE_HEAD_BYTES, Request},
    random,
};
use rustls::{ClientConnection, StreamOwned, pki_types::ServerName};
use serde::Deserialize;
use std::{
    io::{self, ErrorKind, Read, Write},
    net::{TcpStream, ToSocketAddrs},
    time::{Duration, Instant},
};

/// Subprotocol of the stream.
const PROTOCOL: &str = "oasis.beats.v1";
/// Read timeout when no answer may be due: the stream is polled twice a second.
const ANSWER_POLL_TIMEOUT: Duration = Duration::from_millis(1);
/// A TEM that is silent for this many heartbeats does not receive them: it answers every fourth.
const MAX_UNANSWERED_HEARTBEATS: u32 = 8;
/// Longest answer, bytes: it names the nodes that have moved.
const MAX_ANSWER_BYTES: usize = 2 * 1024 * 1024;
/// Bytes of one read.
const READ_CHUNK_BYTES: usize = 16 * 1024;

/// A connection, encrypted or not.
trait Stream: Read + Write + Send {}

impl<T: Read + Write + Send> Stream for T {}

/// A stream of heartbeats.
pub struct BeatStream {
    stream: Box<dyn Stream>,
    /// Keeps the beginning of an answer when a read times out.
    session: Session,
    unanswered: u32,
}

/// An answer of a TEM.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Answer {
    /// Whether the next heartbeat must have the names of nodes.
    pub wants_names: bool,
    /// Nodes that have made a later connection to another DAC.
    pub moved: Vec<MovedNode>,
    /// Pages at which readers of this DAC continue when it has ended; none if that has not changed.
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
        let mut stream: Box<dyn Stream> = match server.url.is_encrypted {
            false => Box::new(tcp.try_clone()?),
            true => {
                let name = ServerName::try_from(host.to_owned())
                    .with_context(|| format!("{host} is no name of a host"))?;
                let session = ClientConnection::new(server.trusted().load()?, name)?;
                Box::new(StreamOwned::new(session, tcp.try_clone()?))
            }
        };
        let mut request = Request::new(&beats_url(server, name), random()?)?.protocol(PROTOCOL)?;
        if let Some(authorization) = authorization {
            request = request.header("Authorization", authorization)?;
        }
        let session = shake_hands(&mut stream, &request, patience)
            .map_err(|error| anyhow!("no stream of heartbeats to {}: {error}", server.url))?;
        tcp.set_read_timeout(Some(ANSWER_POLL_TIMEOUT))?;
        Ok(Self { stream, session, unanswered: 0 })
    }

    /// Sends a heartbeat, and returns the answers that have come.
    pub fn send(&mut self, line: &Line) -> anyhow::Result<Vec<Answer>> {
        self.unanswered += 1;
        if self.unanswered > MAX_UNANSWERED_HEARTBEATS {
            bail!("the TEM has not answered {MAX_UNANSWERED_HEARTBEATS} heartbeats");
        }
        self.session.send(Opcode::Text, serde_json::to_string(line)?.as_bytes())?;
        self.flush()?;
        self.answers()
    }

    fn answers(&mut self) -> anyhow::Result<Vec<Answer>> {
        let mut answers = Vec::new();
        loop {
            match self.session.next_message()? {
                Some(Received::Text(text)) => {
                    self.unanswered = 0;
                    answers.push(serde_json::from_str(&text)?);
                }
                Some(Received::Binary(_)) => {}
                Some(Received::Close(Some(_), reason)) => bail!("the TEM closed the stream: {reason}"),
                Some(Received::Close(None, _)) => bail!("the TEM closed the stream"),
                None if self.receive()? => {}
                None => return Ok(answers),
            }
        }
    }

    /// Receives bytes. Returns false if none came in time.
    fn receive(&mut self) -> anyhow::Result<bool> {
        let mut read = [0; READ_CHUNK_BYTES];
        let count = match self.stream.read(&mut read) {
            Ok(0) => bail!("the TEM closed the stream without a close frame"),
            Ok(count) => count,
            Err(error) if error.kind() == ErrorKind::Interrupted => 0,
            Err(error) if is_nothing(&error) => return Ok(false),
            Err(error) => return Err(error.into()),
        };
        self.session.receive(read.get_mut(..count).unwrap_or_default());
        // The answer to a ping or a close frame. The next heartbeat reports a failed write.
        let _ = self.flush();
        Ok(true)
    }

    fn flush(&mut self) -> io::Result<()> {
        loop {
            let unsent = self.session.unsent();
            if unsent.is_empty() {
                return self.stream.flush();
            }
            match self.stream.write(unsent) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(count) => self.session.mark_sent(count),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

/// Sends the request and waits for the response.
fn shake_hands(stream: &mut impl Stream, request: &Request, patience: Duration) -> anyhow::Result<Session> {
    let started = Instant::now();
    stream.write_all(&request.to_bytes())?;
    stream.flush()?;
    let mut head = Vec::new();
    let mut read = [0; MAX_RESPONSE_HEAD_BYTES];
    loop {
        let count = match stream.read(&mut read) {
            Ok(0) => bail!("closed during the handshake"),
            Ok(count) => count,
            Err(error) if error.kind() == ErrorKind::Interrupted => 0,
            Err(error) => return Err(error.into()),
        };
        head.extend_from_slice(read.get(..count).unwrap_or_default());
        if let Some(size) = request.check(&head)? {
            let mut session = Session::new(Limits::of_messages(MAX_ANSWER_BYTES));
            session.receive(head.get_mut(size..).unwrap_or_default());
            return Ok(session);
        }
        if started.elapsed() > patience {
            bail!("no whole response within {} s", patience.as_secs_f64());
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

#[cfg(test)]
mod tests {
    use super::*;
    use oasis_tem::Beat;
    use std::{net::TcpListener, sync::mpsc, thread};
    use tungstenite::{
        Message, WebSocket,
        handshake::server::{Request as ServerRequest, Response},
        http::HeaderValue,
        protocol::{CloseFrame, frame::coding::CloseCode},
    };

    const BEAT: Line = Line::Beat(Beat { beat: 7, load: None });

    fn accept(stream: TcpStream) -> WebSocket<TcpStream> {
        #[allow(clippy::result_large_err, reason = "the signature is tungstenite's")]
        let choose = |request: &ServerRequest, mut response: Response| {
            assert_eq!(request.uri().path(), "/api/v1/tem/dacs/hall-1/beats");
            assert_eq!(request.headers()["authorization"], "Bearer abc");
            response.headers_mut().insert("Sec-WebSocket-Protocol", HeaderValue::from_static(PROTOCOL));
            Ok(response)
        };
        tungstenite::accept_hdr(stream, choose).unwrap()
    }

    /// Opens a stream to this TEM.
    fn open(tem: impl FnOnce(TcpStream) + Send + 'static) -> anyhow::Result<BeatStream> {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap()).parse().unwrap();
        thread::spawn(move || tem(listener.accept().unwrap().0));
        let (server, name) = (Server { url, ca: None }, "hall-1".parse().unwrap());
        BeatStream::open(&server, &name, Some("Bearer abc"), Duration::from_secs(10))
    }

    #[test]
    fn an_answer_in_halves_survives_a_read_that_times_out_between_them() {
        let (written, wait_for_half) = mpsc::channel();
        let (go_on, wait_for_go) = mpsc::channel::<()>();
        let mut stream = open(move |stream| {
            let mut socket = accept(stream);
            let frame = b"\x81\x15{\"wants_names\": true}";
            for half in frame.chunks(12) {
                assert_eq!(socket.read().unwrap(), Message::text(r#"{"beat":{"beat":7}}"#));
                socket.get_mut().write_all(half).unwrap();
                written.send(()).unwrap();
                let _ = wait_for_go.recv();
            }
        })
        .unwrap();
        assert!(stream.send(&BEAT).unwrap().is_empty());
        wait_for_half.recv().unwrap();
        assert!(stream.answers().unwrap().is_empty(), "half an answer is none");
        go_on.send(()).unwrap();
        let mut answers = stream.send(&BEAT).unwrap();
        wait_for_half.recv().unwrap();
        answers.extend(stream.answers().unwrap());
        assert!(matches!(&answers[..], [Answer { wants_names: true, .. }]), "{answers:?}");
        assert_eq!(stream.unanswered, 0);
    }

    #[test]
    fn the_reason_of_a_tem_that_closes_is_shown() {
        let mut stream = open(|stream| {
            let reason = CloseFrame { code: CloseCode::Policy, reason: "too many heartbeats".into() };
            accept(stream).close(Some(reason)).unwrap();
        })
        .unwrap();
        // The first glance may come before the close frame.
        let error = std::iter::repeat_with(|| stream.answers()).find_map(Result::err).unwrap();
        assert_eq!(error.to_string(), "the TEM closed the stream: too many heartbeats");
    }

    #[test]
    fn a_tem_without_streams_is_reported_with_its_status() {
        let refused = open(|mut stream| {
            let _ = stream.read(&mut [0; 1_000]).unwrap();
            stream.write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n").unwrap();
        });
        let error = refused.err().unwrap().to_string();
        assert!(error.starts_with("no stream of heartbeats to http://127.0.0.1:"), "{error}");
        assert!(error.ends_with(": HTTP error: 404 Not Found"), "{error}");
    }
}

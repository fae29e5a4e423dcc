//! A WebSocket over an asynchronous stream. Its methods can be canceled: unsent and half-received frames stay in the session.

use oasis_websocket::{
    Limits, Opcode, Received, Session,
    handshake::client::{MAX_RESPONSE_HEAD_BYTES, Request, ResponseError},
};
use std::{
    future::poll_fn,
    io::{self, ErrorKind},
    pin::Pin,
    task::{Context, Poll, ready},
};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};

/// Bounds of what a DAC sends: a picture of the registry or a file of the past.
const LIMITS: Limits = Limits { frame: 16 << 20, message: 64 << 20, output: 1 << 20 };
/// Bytes of one read.
const READ_CHUNK_BYTES: usize = 64 * 1024;

/// A stream, encrypted or not.
pub trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

/// Why a WebSocket cannot be opened.
#[derive(Debug)]
pub enum OpenError {
    /// The connection below broke.
    Io(io::Error),
    /// The server refuses, or is no WebSocket server.
    Response(ResponseError),
}

impl From<io::Error> for OpenError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<ResponseError> for OpenError {
    fn from(error: ResponseError) -> Self {
        Self::Response(error)
    }
}

/// An open WebSocket.
pub struct Connection {
    stream: Box<dyn Stream>,
    session: Session,
    read: Box<[u8]>,
    /// Whether the stream has bytes that it may not have sent, as TLS does.
    must_flush: bool,
}

impl Connection {
    /// Sends the request and waits for the response.
    pub async fn open(mut stream: Box<dyn Stream>, request: &Request) -> Result<Self, OpenError> {
        stream.write_all(&request.to_bytes()).await?;
        stream.flush().await?;
        let mut head = Vec::with_capacity(MAX_RESPONSE_HEAD_BYTES);
        let size = loop {
            if stream.read_buf(&mut head).await? == 0 {
                let error = io::Error::new(ErrorKind::UnexpectedEof, "closed during the handshake");
                return Err(error.into());
            }
            if let Some(size) = request.check(&head)? {
                break size;
            }
        };
        let mut session = Session::new(LIMITS);
        session.receive(head.get_mut(size..).unwrap_or_default());
        let read = vec![0; READ_CHUNK_BYTES].into();
        Ok(Self { stream, session, read, must_flush: false })
    }

    /// Sends a text message.
    pub async fn send(&mut self, text: &str) -> anyhow::Result<()> {
        self.session.send(Opcode::Text, text.as_bytes())?;
        poll_fn(|context| self.poll_flush(context)).await?;
        Ok(())
    }

    /// The next message; none after the close frame of the server.
    pub async fn next(&mut self) -> anyhow::Result<Option<Received>> {
        loop {
            let message = self.session.next_message();
            // The answer to what came with the response of the handshake, such as a close frame.
            poll_fn(|context| {
                let _ = self.poll_flush(context);
                Poll::Ready(())
            })
            .await;
            if let Some(message) = message? {
                return Ok(Some(message));
            }
            if self.session.is_closed() {
                return Ok(None);
            }
            if poll_fn(|context| self.poll_receive(context)).await? == 0 {
                anyhow::bail!("connection reset without closing handshake");
            }
        }
    }

    /// Receives bytes, and sends what waits as far as there is room. Returns how many bytes were received.
    fn poll_receive(&mut self, context: &mut Context<'_>) -> Poll<io::Result<usize>> {
        // The next read says why a connection is broken, and the server may have said so before. `send` reports a failed write.
        let _ = self.poll_flush(context);
        let mut buffer = ReadBuf::new(&mut self.read);
        ready!(Pin::new(&mut self.stream).poll_read(context, &mut buffer))?;
        let count = buffer.filled().len();
        self.session.receive(buffer.filled_mut());
        // The answer to a ping or a close frame.
        let _ = self.poll_flush(context);
        Poll::Ready(Ok(count))
    }

    fn poll_flush(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut stream = Pin::new(&mut self.stream);
        loop {
            let unsent = self.session.unsent();
            if unsent.is_empty() {
                break;
            }
            match ready!(stream.as_mut().poll_write(context, unsent))? {
                0 => return Poll::Ready(Err(ErrorKind::WriteZero.into())),
                count => self.session.mark_sent(count),
            }
            self.must_flush = true;
        }
        if self.must_flush {
            ready!(stream.poll_flush(context))?;
            self.must_flush = false;
        }
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::Context as _;
    use oasis_websocket::CloseCode;
    use std::{
        io::{Read, Write},
        net::{TcpListener, TcpStream},
        thread::{self, JoinHandle},
    };
    use tungstenite::{
        Message, WebSocket,
        handshake::server::{Request as ServerRequest, Response},
        http::HeaderValue,
        protocol::{CloseFrame, WebSocketConfig, frame::coding::CloseCode as ServerCode},
    };

    /// Calls this with a connection from the client on another thread. Returns the client's stream.
    fn serve<T: Send + 'static>(
        server: impl FnOnce(TcpStream) -> T + Send + 'static,
    ) -> (Box<dyn Stream>, JoinHandle<T>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let stream = listener.accept().unwrap().0;
        client.set_nonblocking(true).unwrap();
        (Box::new(tokio::net::TcpStream::from_std(client).unwrap()), thread::spawn(move || server(stream)))
    }

    fn request() -> Request {
        let request = Request::new("ws://127.0.0.1:7070/ws", [7; 16]).unwrap();
        request.protocol("oasis.v1").unwrap()
    }

    /// The side of `tungstenite`, which chooses the subprotocol.
    fn accept(stream: TcpStream) -> WebSocket<TcpStream> {
        #[allow(clippy::result_large_err, reason = "the signature is tungstenite's")]
        let choose = |request: &ServerRequest, mut response: Response| {
            assert_eq!(request.uri().path(), "/ws");
            assert_eq!(request.headers()["host"], "127.0.0.1:7070");
            response.headers_mut().insert("Sec-WebSocket-Protocol", HeaderValue::from_static("oasis.v1"));
            Ok(response)
        };
        // Small buffers make it write long messages in many pieces.
        let config = WebSocketConfig::default().read_buffer_size(1_000).write_buffer_size(0);
        tungstenite::accept_hdr_with_config(stream, choose, Some(config)).unwrap()
    }

    /// Sends a response, and closes.
    async fn refused(response: &'static [u8]) -> OpenError {
        let (stream, server) = serve(move |mut stream| {
            let _ = stream.read(&mut [0; 1_000]).unwrap();
            stream.write_all(response).unwrap();
        });
        let error = Connection::open(stream, &request()).await.err().unwrap();
        server.join().unwrap();
        error
    }

    #[tokio::test]
    async fn tungstenite_reads_what_the_client_sends_and_the_client_what_tungstenite_sends() {
        let lengths = [0, 1, 125, 126, 65_535, 65_536, 3_000_000];
        let (stream, server) = serve(move |stream| {
            let mut socket = accept(stream);
            for length in lengths {
                let text = socket.read().unwrap().into_text().unwrap();
                assert_eq!(text.len(), length);
                socket.send(Message::Ping(b"?".to_vec().into())).unwrap();
                socket.send(Message::Binary(text.as_bytes().to_vec().into())).unwrap();
                assert_eq!(socket.read().unwrap(), Message::Pong(b"?".to_vec().into()));
            }
            let reason = CloseFrame { code: ServerCode::Away, reason: "the DAC shuts down".into() };
            socket.close(Some(reason)).unwrap();
            // The client answers the close frame.
            (socket.read().unwrap(), socket.read().unwrap_err())
        });
        let mut client = Connection::open(stream, &request()).await.unwrap();
        for length in lengths {
            client.send(&"x".repeat(length)).await.unwrap();
            let message = client.next().await.unwrap();
            assert_eq!(message, Some(Received::Binary(vec![b'x'; length])), "{length}");
        }
        let close = Received::Close(Some(CloseCode::GOING_AWAY), "the DAC shuts down".into());
        assert_eq!(client.next().await.unwrap(), Some(close));
        assert_eq!(client.next().await.unwrap(), None);
        assert!(client.send("too late").await.is_err());
        let (answer, end) = server.join().unwrap();
        assert!(
            matches!(answer, Message::Close(Some(CloseFrame { code: ServerCode::Away, .. }))),
            "{answer}"
        );
        assert!(matches!(end, tungstenite::Error::ConnectionClosed), "{end}");
    }

    #[tokio::test]
    async fn a_frame_in_halves_survives_that_the_reader_gives_up_between_them() {
        let (stream, mut server) = tokio::io::duplex(1_000);
        let opening = request();
        let opened = tokio::spawn(async move { Connection::open(Box::new(stream), &opening).await });
        let mut head = vec![0; 1_000];
        let size = server.read(&mut head).await.unwrap();
        let (parsed, _) = oasis_websocket::handshake::Head::parse(&head[..size], 1_000).unwrap().unwrap();
        let opening = oasis_websocket::handshake::check(parsed.method, parsed.headers()).unwrap();
        let response = [opening.response(Some("oasis.v1")).as_bytes(), b"\x81\x05Hel"].concat();
        server.write_all(&response).await.unwrap();
        let mut client = opened.await.unwrap().unwrap();
        tokio::select! {
            biased;
            message = client.next() => panic!("{message:?}"),
            () = std::future::ready(()) => {}
        }
        server.write_all(b"lo").await.unwrap();
        assert_eq!(client.next().await.unwrap(), Some(Received::Text("Hello".into())));
        drop(server);
        let lost = client.next().await.unwrap_err();
        assert_eq!(lost.to_string(), "connection reset without closing handshake");
    }

    #[tokio::test]
    async fn a_server_that_opens_no_websocket_is_told_apart() {
        let status = refused(b"HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n").await;
        assert!(matches!(&status, OpenError::Response(ResponseError::Status(status)) if status.code == 401));
        let no_http = refused(b"\x20\x00\x00\x00").await;
        assert!(matches!(no_http, OpenError::Response(ResponseError::NoHttp)), "{no_http:?}");
        let cut = refused(b"HTTP/1.1 101 Switching Protocols\r\n").await;
        assert!(matches!(cut, OpenError::Io(error) if error.kind() == ErrorKind::UnexpectedEof));
    }

    #[tokio::test]
    async fn a_violation_that_comes_with_the_response_of_the_handshake_gets_a_close_frame() {
        let (stream, server) = serve(|mut stream| {
            let mut request = Vec::new();
            while !request.ends_with(b"\r\n\r\n") {
                let mut byte = [0];
                stream.read_exact(&mut byte).unwrap();
                request.push(byte[0]);
            }
            let request = String::from_utf8(request).unwrap();
            let key = request.lines().find_map(|line| line.strip_prefix("Sec-WebSocket-Key: ")).unwrap();
            let accept = tungstenite::handshake::derive_accept_key(key.as_bytes());
            let head = format!(
                "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
                 Sec-WebSocket-Accept: {accept}\r\nSec-WebSocket-Protocol: oasis.v1\r\n\r\n"
            );
            stream.write_all(&[head.as_bytes(), &[0x81, 0x80, 0, 0, 0, 0]].concat()).unwrap();
            let mut answer = [0];
            stream.read_exact(&mut answer).unwrap();
            answer[0]
        });
        let mut client = Connection::open(stream, &request()).await.unwrap();
        let error = client.next().await.context("the connection is lost").unwrap_err();
        assert!(format!("{error:#}").contains("RFC 6455 5.1"), "{error:#}");
        assert_eq!(server.join().unwrap(), 0x88);
    }

    #[tokio::test]
    async fn a_server_that_violates_the_protocol_gets_a_close_frame_and_the_client_an_error() {
        let (stream, server) = serve(|stream| {
            let mut socket = accept(stream);
            // A masked frame.
            socket.get_mut().write_all(&[0x81, 0x80, 0, 0, 0, 0]).unwrap();
            socket.read().unwrap()
        });
        let mut client = Connection::open(stream, &request()).await.unwrap();
        let error = client.next().await.context("the connection is lost").unwrap_err();
        assert!(format!("{error:#}").contains("RFC 6455 5.1"), "{error:#}");
        let close = server.join().unwrap();
        assert!(
            matches!(close, Message::Close(Some(CloseFrame { code: ServerCode::Protocol, .. }))),
            "{close}"
        );
    }
}

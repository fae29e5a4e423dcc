//! Sends every message back: the program that the conformance suite runs against.
//!
//! ```sh
//! cargo run -p oasis-websocket --example echo -- 127.0.0.1:9001
//! ```

use oasis_websocket::{CloseCode, Decoder, Error, Limits, Message, Opcode, Output, Role, close, handshake};
use std::{
    env,
    io::{self, Read, Write},
    net::{Shutdown, TcpListener, TcpStream},
    thread,
};

/// Bytes of a request's head.
const MAX_HEAD_BYTES: usize = 8192;
/// The suite's largest message has 16 MiB.
const LIMITS: Limits = Limits { frame: 64 << 20, message: 64 << 20, output: 64 << 20 };

/// Why a connection ends.
enum End {
    Peer,
    Closed(CloseCode),
    Failed(Error),
}

impl From<io::Error> for End {
    fn from(_: io::Error) -> Self {
        Self::Peer
    }
}

impl From<Error> for End {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

fn main() -> io::Result<()> {
    let address = env::args().nth(1).unwrap_or_else(|| "127.0.0.1:9001".into());
    let listener = TcpListener::bind(&address)?;
    println!("listening on {}", listener.local_addr()?);
    for stream in listener.incoming() {
        let stream = stream?;
        thread::spawn(move || {
            if let Err(error) = serve(stream) {
                eprintln!("a connection failed: {error}");
            }
        });
    }
    Ok(())
}

fn serve(mut stream: TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let Some(mut early) = open(&mut stream)? else { return Ok(()) };
    let (mut decoder, mut output) = (Decoder::new(Role::Server, LIMITS), Output::new(LIMITS.output));
    let mut buffer = vec![0; 64 * 1024];
    let end = loop {
        let outcome = decoder.decode(&mut early, |message| answer(message, &mut output, &mut stream));
        if let Err(end) = outcome {
            break end;
        }
        match stream.read(&mut buffer)? {
            0 => break End::Peer,
            length => early = buffer.get(..length).unwrap_or_default().to_vec(),
        }
    };
    let (code, reason) = match end {
        End::Peer => return Ok(()),
        End::Closed(code) => (code, String::new()),
        End::Failed(error) => (error.close_code(), error.to_string()),
    };
    let mut goodbye = Vec::new();
    close::write(code, &reason, &mut goodbye);
    stream.write_all(&goodbye)?;
    stream.shutdown(Shutdown::Write)?;
    // Closing with bytes unread would reset the connection, and the goodbye with it.
    io::copy(&mut stream.take(u64::from(u32::MAX)), &mut io::sink())?;
    Ok(())
}

/// Answers the handshake, and returns what the client sent after it; none if there is no WebSocket.
fn open(stream: &mut TcpStream) -> io::Result<Option<Vec<u8>>> {
    let (mut head, mut buffer) = (Vec::new(), [0; 1024]);
    loop {
        let length = stream.read(&mut buffer)?;
        head.extend_from_slice(buffer.get(..length).unwrap_or_default());
        let parsed = match handshake::Head::parse(&head, MAX_HEAD_BYTES) {
            Ok(None) if length > 0 => continue,
            Ok(None) => return Ok(None),
            Ok(Some((request, size))) => {
                handshake::check(request.method, request.headers()).map(|opening| (opening, size))
            }
            Err(error) => Err(error),
        };
        return match parsed {
            Ok((opening, size)) => {
                stream.write_all(opening.response(None).as_bytes())?;
                Ok(Some(head.split_off(size)))
            }
            Err(error) => {
                let text = error.to_string();
                let size = text.len();
                write!(
                    stream,
                    "HTTP/1.1 400 Bad Request\r\nContent-Length: {size}\r\nConnection: close\r\n\r\n{text}"
                )?;
                Ok(None)
            }
        };
    }
}

fn answer(message: Message<'_>, output: &mut Output, stream: &mut TcpStream) -> Result<(), End> {
    let outcome: Result<(), End> = match message {
        Message::Text(text) => output.message(Opcode::Text, text.as_bytes(), stream),
        Message::Binary(bytes) => output.message(Opcode::Binary, bytes, stream),
        Message::Ping(payload) => output.message(Opcode::Pong, payload, stream),
        Message::Pong(_) => Ok(()),
        Message::Close(code, _) => Err(End::Closed(close::reply(code))),
    };
    outcome?;
    // This socket waits for room instead of refusing.
    Ok(output.flush(stream)?)
}

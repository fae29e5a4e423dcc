//! WebSocket (RFC 6455) for any server and client: bytes in, messages out, and back. No sockets, threads or clocks, and no extensions.
//!
//! - [`handshake`] checks an opening request and answers it, with or without an HTTP server in front; [`handshake::client`] writes the request
//!   of a client and checks the response.
//! - A [`Decoder`] turns bytes, in whatever pieces they arrive, into [`Message`]s, and refuses what breaks a rule with an [`Error`] that
//!   names the section.
//! - [`frame::write_message`] writes one message in one frame, [`fragment::write_fragments`] in several; an [`Output`] keeps the rest of a
//!   write that a socket has no room for, up to a bound, and shares the bytes among connections.
//! - A [`Session`] is the client's side of an open connection: it masks messages, and answers pings and close frames.
//!
//! A server that sends every message back (`examples/echo.rs` is the whole program):
//!
//! ```
//! use oasis_websocket::{Decoder, Limits, Message, Opcode, Role, close, frame, handshake};
//!
//! // The opening request of a browser.
//! let request = b"GET /chat HTTP/1.1\r\nHost: example.org\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
//!     Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n";
//! let (head, size) = handshake::Head::parse(request, 8192)?.expect("it is complete");
//! assert_eq!(size, request.len());
//! let opening = handshake::check(head.method, head.headers())?;
//! assert!(opening.response(None).contains("Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo="));
//!
//! // Its first message, masked as a client's must be.
//! let mut bytes = Vec::new();
//! frame::write_masked(Opcode::Text, b"Hello", [0x37, 0xfa, 0x21, 0x3d], &mut bytes);
//!
//! let (mut decoder, mut out) = (Decoder::new(Role::Server, Limits::default()), Vec::new());
//! decoder.decode(&mut bytes, |message| {
//!     match message {
//!         Message::Text(text) => frame::write_message(Opcode::Text, text.as_bytes(), &mut out),
//!         Message::Binary(bytes) => frame::write_message(Opcode::Binary, bytes, &mut out),
//!         Message::Ping(payload) => frame::write_message(Opcode::Pong, payload, &mut out),
//!         Message::Pong(_) => {}
//!         Message::Close(code, _) => close::write(close::reply(code), "", &mut out),
//!     }
//!     Ok::<_, oasis_websocket::Error>(())
//! })?;
//! assert_eq!(out, b"\x81\x05Hello");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod close;
pub mod fragment;
pub mod frame;
pub mod handshake;
pub mod mask;

mod decoder;
mod error;
mod limits;
mod output;
mod random;
mod session;

pub use close::CloseCode;
pub use decoder::{Decoder, Message};
pub use error::Error;
pub use frame::{Opcode, Role};
pub use limits::Limits;
pub use output::Output;
pub use random::random;
pub use session::{Received, Session};

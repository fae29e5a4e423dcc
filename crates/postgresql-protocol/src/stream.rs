//! The stream of a connection: messages in, replies out, each within its time.

use crate::message::{LENGTH_BYTES, MAX_MESSAGE_BYTES, MAX_OPENING_BYTES, content_length};
use std::{io, time::Duration};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    time::timeout,
};

/// Longest time until a message that has begun is complete.
const MESSAGE_TIMEOUT: Duration = Duration::from_secs(30);
/// Longest time without a message, after which a connection ends.
const IDLE_TIMEOUT: Duration = Duration::from_secs(3_600);
/// Longest time of a write.
const WRITE_TIMEOUT: Duration = Duration::from_secs(30);
/// Bytes that are read at once.
const READ_CHUNK_BYTES: usize = 16 * 1024;
/// Most bytes of messages that a client sends while a statement runs; further ones wait in the system.
const MAX_PIPELINED_BYTES: usize = 64 * 1024;

/// A stream with or without TLS.
pub trait Transport: AsyncRead + AsyncWrite + Unpin + Send {}

impl<T: AsyncRead + AsyncWrite + Unpin + Send> Transport for T {}

/// Messages of a stream.
pub struct MessageStream {
    transport: Box<dyn Transport>,
    input: Vec<u8>,
}

impl MessageStream {
    /// Reads messages of this stream.
    pub fn new(transport: Box<dyn Transport>) -> Self {
        Self { transport, input: Vec::new() }
    }

    /// Returns the type and the content of the next message; none at the end of the stream.
    ///
    /// # Errors
    /// If the stream fails, is idle for too long, or a length is not valid.
    pub async fn next(&mut self, most: usize) -> io::Result<Option<(u8, Vec<u8>)>> {
        if self.input.is_empty() && timeout(IDLE_TIMEOUT, self.fill()).await?? == 0 {
            return Ok(None);
        }
        timeout(MESSAGE_TIMEOUT, self.complete(most)).await?.map(Some)
    }

    async fn complete(&mut self, most: usize) -> io::Result<(u8, Vec<u8>)> {
        loop {
            if let Some((kind, left)) = self.input.split_first()
                && let Some(length) = left.first_chunk::<LENGTH_BYTES>()
            {
                let length = content_length(*length, most).map_err(io::Error::other)?;
                let end = 1 + LENGTH_BYTES + length;
                if self.input.len() >= end {
                    let kind = *kind;
                    let content = self.input[1 + LENGTH_BYTES..end].to_vec();
                    self.input.drain(..end);
                    if self.input.is_empty() {
                        self.input.shrink_to(READ_CHUNK_BYTES);
                    }
                    return Ok((kind, content));
                }
            }
            if self.fill().await? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
    }

    /// Reads some bytes; 0 at the end.
    async fn fill(&mut self) -> io::Result<usize> {
        self.input.reserve(READ_CHUNK_BYTES);
        self.transport.read_buf(&mut self.input).await
    }

    /// Completes when the client has gone. Keeps what it sends meanwhile.
    pub async fn closed(&mut self) {
        while self.input.len() < MAX_PIPELINED_BYTES {
            if self.fill().await.unwrap_or_default() == 0 {
                return;
            }
        }
        std::future::pending().await
    }

    /// Whether a whole message, or a part of one, waits.
    pub fn has_input(&self) -> bool {
        !self.input.is_empty()
    }

    /// Writes bytes.
    ///
    /// # Errors
    /// If the client does not take them in time.
    pub async fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        timeout(WRITE_TIMEOUT, async {
            self.transport.write_all(bytes).await?;
            self.transport.flush().await
        })
        .await?
    }
}

/// Reads the first message of a connection, and not a byte more: TLS may follow.
///
/// # Errors
/// If the stream ends, or its length is not valid.
pub async fn read_opening(transport: &mut dyn Transport) -> io::Result<Vec<u8>> {
    let mut length = [0; LENGTH_BYTES];
    transport.read_exact(&mut length).await?;
    let length = content_length(length, MAX_OPENING_BYTES).map_err(io::Error::other)?;
    let mut content = vec![0; length];
    transport.read_exact(&mut content).await?;
    Ok(content)
}

/// Longest message of a session.
pub const fn most_bytes() -> usize {
    MAX_MESSAGE_BYTES
}

//! Carries a byte stream over NATS until one side ends.

use super::pieces::{Numbers, PIECE, Piece};
use async_nats::{Client, Subscriber};
use bytes::Bytes;
use futures_util::StreamExt;
use std::{io, time::Duration};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    time::{MissedTickBehavior, interval, timeout},
};

/// Interval of acknowledgements of a few pieces.
const TELL: Duration = Duration::from_millis(20);
/// Timeout of a write to the local stream.
const WRITE: Duration = Duration::from_secs(5);

/// Carries the stream.
///
/// # Errors
/// If a message is lost on the way, or a side fails. The peer is told that the stream has ended.
pub async fn pump(
    stream: impl AsyncRead + AsyncWrite + Unpin,
    client: &Client,
    from: &mut Subscriber,
    to: &str,
) -> io::Result<()> {
    let ended = carry(stream, client, from, to).await;
    // A courtesy: a peer that does not hear it finds that nobody answers.
    let _ = client.publish(to.to_owned(), Piece::End.encode()).await;
    let _ = timeout(WRITE, client.flush()).await;
    ended
}

async fn carry(
    stream: impl AsyncRead + AsyncWrite + Unpin,
    client: &Client,
    from: &mut Subscriber,
    to: &str,
) -> io::Result<()> {
    let (mut reading, mut writing) = tokio::io::split(stream);
    let (mut numbers, mut buffer) = (Numbers::default(), vec![0; PIECE]);
    let mut tell = interval(TELL);
    tell.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let answer = tokio::select! {
            read = reading.read(&mut buffer), if numbers.may_send() => {
                let length = read?;
                if length == 0 {
                    return Ok(());
                }
                Some(numbers.send(Bytes::copy_from_slice(&buffer[..length])))
            }
            message = from.next() => {
                let message = message.ok_or_else(|| io::Error::other("the subscription has ended"))?;
                match Piece::decode(&message.payload).map_err(io::Error::other)? {
                    Piece::Data(number, bytes) => {
                        numbers.receive(number).map_err(io::Error::other)?;
                        timeout(WRITE, writing.write_all(&bytes)).await.map_err(io::Error::from)??;
                        numbers.tell(false)
                    }
                    Piece::Received(number) => {
                        numbers.acknowledge(number);
                        None
                    }
                    Piece::End => return Ok(()),
                }
            }
            _ = tell.tick() => numbers.tell(true),
        };
        if let Some(piece) = answer {
            client.publish(to.to_owned(), piece.encode()).await.map_err(io::Error::other)?;
        }
    }
}

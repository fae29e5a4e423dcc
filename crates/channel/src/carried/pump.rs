//! Carries a byte stream over messages until one side ends.

use super::pieces::{Numbers, StreamMessage, Window};
use bytes::Bytes;
use std::{io, time::Duration};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    time::{Instant, MissedTickBehavior, interval, timeout},
};

/// Interval of acknowledgements of a few pieces.
const ACKNOWLEDGEMENT_INTERVAL: Duration = Duration::from_millis(20);
/// Timeout of a write to the local stream.
const WRITE_TIMEOUT: Duration = Duration::from_secs(5);

/// A peer that acknowledges nothing for this long with a full window is considered disconnected. While the window is full, the end of the
/// local stream is not detected.
const ACKNOWLEDGEMENT_TIMEOUT: Duration = Duration::from_secs(5);

/// Messages between the two ends of one connection.
pub trait Messages: Send {
    /// Sends a piece.
    fn send(&mut self, piece: &StreamMessage) -> impl Future<Output = io::Result<()>> + Send;

    /// Returns the next piece that arrives. Loses none if the future is dropped before it is ready.
    fn receive(&mut self) -> impl Future<Output = io::Result<StreamMessage>> + Send;

    /// Waits until the transport has sent all pieces, if it can.
    fn flush(&mut self) -> impl Future<Output = ()> + Send;
}

/// Carries the stream.
///
/// # Errors
/// If a message is lost, or one side fails. The peer receives the end of the stream.
pub async fn pump(
    stream: impl AsyncRead + AsyncWrite + Unpin,
    messages: &mut impl Messages,
    window: Window,
) -> io::Result<()> {
    let ended = carry(stream, messages, window).await;
    // The end is a courtesy: a peer that does not receive it detects that no acknowledgement comes.
    let _ = timeout(WRITE_TIMEOUT, async {
        let _ = messages.send(&StreamMessage::End).await;
        messages.flush().await;
    })
    .await;
    ended
}

async fn carry(
    stream: impl AsyncRead + AsyncWrite + Unpin,
    messages: &mut impl Messages,
    window: Window,
) -> io::Result<()> {
    let (mut reading, mut writing) = tokio::io::split(stream);
    let (mut numbers, mut buffer) = (Numbers::new(window), vec![0; window.piece_bytes]);
    let mut full_since = None;
    let mut tell = interval(ACKNOWLEDGEMENT_INTERVAL);
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
            piece = messages.receive() => match piece? {
                StreamMessage::Data(number, bytes) => {
                    numbers.receive(number, bytes.len()).map_err(io::Error::other)?;
                    timeout(WRITE_TIMEOUT, writing.write_all(&bytes)).await.map_err(io::Error::from)??;
                    numbers.take_acknowledgement(false)
                }
                StreamMessage::Received(number) => {
                    numbers.acknowledge(number);
                    full_since = None;
                    None
                }
                StreamMessage::End => return Ok(()),
            },
            now = tell.tick() => {
                check_silence(&numbers, now, &mut full_since)?;
                numbers.take_acknowledgement(true)
            }
        };
        if let Some(piece) = answer {
            messages.send(&piece).await?;
        }
    }
}

/// Fails if the window has been full for too long.
fn check_silence(numbers: &Numbers, now: Instant, full_since: &mut Option<Instant>) -> io::Result<()> {
    if numbers.may_send() {
        *full_since = None;
    } else if now.duration_since(*full_since.get_or_insert(now)) >= ACKNOWLEDGEMENT_TIMEOUT {
        return Err(io::Error::new(io::ErrorKind::TimedOut, "the peer acknowledges nothing"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::sync::mpsc;

    const WINDOW: Window = Window { pieces: 8, piece_bytes: 1_000 };

    /// A transport that drops the message of this number.
    struct Wire {
        to: mpsc::Sender<StreamMessage>,
        from: mpsc::Receiver<StreamMessage>,
        dropped: Option<u64>,
    }

    impl Messages for Wire {
        async fn send(&mut self, piece: &StreamMessage) -> io::Result<()> {
            if !matches!(piece, StreamMessage::Data(number, _) if Some(*number) == self.dropped) {
                // A peer that has gone is not noticed.
                let _ = self.to.send(piece.clone()).await;
            }
            Ok(())
        }

        async fn receive(&mut self) -> io::Result<StreamMessage> {
            self.from.recv().await.ok_or_else(|| io::ErrorKind::BrokenPipe.into())
        }

        async fn flush(&mut self) {}
    }

    /// Sends a megabyte over such a transport, and returns what arrives and how the two ends have ended.
    async fn carried(dropped: Option<u64>) -> (Vec<u8>, [io::Result<()>; 2]) {
        let ((to_dac, at_dac), (to_node, at_node)) = (mpsc::channel(100), mpsc::channel(100));
        let (mut node, node_end) = tokio::io::duplex(4_096);
        let (mut dac, dac_end) = tokio::io::duplex(4_096);
        let ends = [(node_end, to_dac, at_node, dropped), (dac_end, to_node, at_dac, None)];
        let [first, second] = ends.map(|(stream, to, from, dropped)| {
            tokio::spawn(async move { pump(stream, &mut Wire { to, from, dropped }, WINDOW).await })
        });
        let writing = tokio::spawn(async move {
            let _ = node.write_all(&vec![7; 1 << 20]).await;
        });
        let mut received = Vec::new();
        dac.read_to_end(&mut received).await.unwrap();
        writing.await.unwrap();
        (received, [first.await.unwrap(), second.await.unwrap()])
    }

    #[tokio::test]
    async fn a_stream_comes_out_as_it_went_in() {
        let (received, ended) = carried(None).await;
        assert!(received == vec![7; 1 << 20], "{} bytes", received.len());
        assert!(ended.iter().all(Result::is_ok), "{ended:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_peer_that_acknowledges_nothing_is_given_up() {
        let ((to, _to_peer), (_from_peer, from)) = (mpsc::channel(100), mpsc::channel(100));
        let (mut node, node_end) = tokio::io::duplex(1 << 20);
        node.write_all(&[7; 100_000]).await.unwrap();
        drop(node);
        let (begun, mut wire) = (Instant::now(), Wire { to, from, dropped: None });
        let error = pump(node_end, &mut wire, WINDOW).await.unwrap_err();
        assert!(error.to_string().contains("acknowledges nothing"), "{error}");
        assert!(begun.elapsed() < ACKNOWLEDGEMENT_TIMEOUT * 2);
    }

    #[tokio::test]
    async fn a_message_that_is_dropped_ends_both_ends() {
        let (received, [node, dac]) = carried(Some(20)).await;
        assert!(received.len() < 1 << 20);
        assert!(dac.unwrap_err().to_string().contains("piece 20 is lost"));
        node.unwrap();
    }
}

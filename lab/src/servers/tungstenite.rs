//! tokio-tungstenite at its best: a task for each connection feeds a whole burst and flushes once.

use super::{Packets, runtime};
use crate::order::{Order, ready, run_orders};
use anyhow::bail;
use futures_util::SinkExt;
use rustls::ServerConfig;
use std::sync::Arc;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream},
    sync::broadcast,
};
use tokio_rustls::TlsAcceptor;
use tokio_tungstenite::{
    accept_async,
    tungstenite::{Bytes, Error, Message},
};

/// Rounds by which a connection may lag; the lab never has that many in flight.
const CAPACITY: usize = 256;

/// A round: all its messages at once, so that a task is woken once for them.
type Round = Vec<Bytes>;

pub fn serve(tls: Option<Arc<ServerConfig>>) -> anyhow::Result<()> {
    let runtime = runtime()?;
    let rounds = broadcast::Sender::<Round>::new(CAPACITY);
    let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0"))?;
    ready(&[listener.local_addr()?.to_string()])?;
    let (subscriptions, acceptor) = (rounds.clone(), tls.map(TlsAcceptor::from));
    runtime.spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(serve_client(stream, acceptor.clone(), subscriptions.clone()));
        }
    });
    let mut packets = Packets::default();
    run_orders(|order| {
        let Order::Round { burst } = order else { bail!("this server publishes rounds only") };
        // Fails without subscribers.
        let _ = rounds.send(packets.burst(burst).map(Bytes::from).collect());
        Ok(())
    })
}

async fn serve_client(
    stream: TcpStream,
    acceptor: Option<TlsAcceptor>,
    rounds: broadcast::Sender<Round>,
) -> Result<(), Error> {
    stream.set_nodelay(true)?;
    match acceptor {
        Some(acceptor) => push(acceptor.accept(stream).await?, rounds).await,
        None => push(stream, rounds).await,
    }
}

async fn push(
    stream: impl AsyncRead + AsyncWrite + Unpin,
    rounds: broadcast::Sender<Round>,
) -> Result<(), Error> {
    let mut socket = accept_async(stream).await?;
    let mut rounds = rounds.subscribe();
    while let Ok(round) = rounds.recv().await {
        for message in round {
            socket.feed(Message::Binary(message)).await?;
        }
        socket.flush().await?;
    }
    Ok(())
}

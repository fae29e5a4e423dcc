//! axum as its examples use it: a task for each connection, fed by a broadcast, one `send` for each message. With TLS as in its example
//! `low-level-rustls`: hyper serves its router on streams of tokio-rustls.

use super::{Packets, runtime};
use crate::order::{Order, ready, run_orders};
use ::axum::{
    Router,
    body::{Body, Bytes},
    extract::{
        State, WebSocketUpgrade,
        ws::{Message, WebSocket},
    },
    response::Response,
    routing::get,
};
use anyhow::bail;
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use rustls::ServerConfig;
use std::sync::Arc;
use tokio::{net::TcpListener, sync::broadcast};
use tokio_rustls::TlsAcceptor;
use tower_service::Service;

/// Rounds by which a connection may lag; the lab never has that many in flight.
const CAPACITY: usize = 256;

/// A round: all its messages at once, so that a task is woken once for them.
type Round = Vec<Bytes>;

pub fn serve(tls: Option<Arc<ServerConfig>>) -> anyhow::Result<()> {
    let runtime = runtime()?;
    let rounds = broadcast::Sender::<Round>::new(CAPACITY);
    let router = Router::new().route("/ws", get(upgrade)).with_state(rounds.clone());
    let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0"))?;
    ready(&[listener.local_addr()?.to_string()])?;
    runtime.spawn(async move {
        match tls {
            Some(tls) => serve_encrypted(listener, router, tls.into()).await,
            None => ::axum::serve(listener, router).await,
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

async fn serve_encrypted(
    listener: TcpListener,
    router: Router,
    acceptor: TlsAcceptor,
) -> std::io::Result<()> {
    loop {
        let (stream, _) = listener.accept().await?;
        let (router, acceptor) = (router.clone(), acceptor.clone());
        tokio::spawn(async move {
            let Ok(stream) = acceptor.accept(stream).await else { return };
            let service = service_fn(move |request: ::axum::http::Request<Incoming>| {
                router.clone().call(request.map(Body::new))
            });
            // A client that leaves is no error here.
            let _ =
                http1::Builder::new().serve_connection(TokioIo::new(stream), service).with_upgrades().await;
        });
    }
}

async fn upgrade(rounds: State<broadcast::Sender<Round>>, upgrade: WebSocketUpgrade) -> Response {
    upgrade.on_upgrade(move |socket| push(socket, rounds.subscribe()))
}

async fn push(mut socket: WebSocket, mut rounds: broadcast::Receiver<Round>) {
    while let Ok(round) = rounds.recv().await {
        for message in round {
            if socket.send(Message::Binary(message)).await.is_err() {
                return;
            }
        }
    }
}

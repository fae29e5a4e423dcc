//! The listener: takes connections within bounds.

use crate::{
    connection::Connection,
    failure::{SqlFailure, code},
    reply::Replies,
    shared::Shared,
    sign_in::sign_in,
    state::count,
};
use oasis_handler::Stopping;
use std::{
    io,
    net::SocketAddr,
    sync::{Arc, atomic::Ordering},
    time::Duration,
};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::watch,
    time::{sleep, timeout},
};

/// Longest time until a client has signed in.
const SIGN_IN_TIMEOUT: Duration = Duration::from_secs(10);
/// Pause after a connection could not be accepted.
const ACCEPT_RETRY_DELAY: Duration = Duration::from_millis(100);
/// Time that sessions have to say farewell when the server ends.
const FAREWELL_TIMEOUT: Duration = Duration::from_millis(500);

/// Serves connections until the handler is asked to stop.
///
/// # Errors
/// If the listener cannot be used.
pub async fn serve(
    shared: Arc<Shared>,
    listener: std::net::TcpListener,
    stopping: Stopping,
) -> io::Result<()> {
    listener.set_nonblocking(true)?;
    let listener = TcpListener::from_std(listener)?;
    let (ending, ended) = watch::channel(false);
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = stopping.stopped() => break,
        };
        match accepted {
            Ok((stream, peer)) => take(&shared, stream, peer, ended.clone()),
            Err(error) => {
                tracing::warn!(%error, "a connection of the PostgreSQL protocol cannot be accepted");
                sleep(ACCEPT_RETRY_DELAY).await;
            }
        }
    }
    drop(listener);
    drop(ended);
    ending.send_replace(true);
    let _ = timeout(FAREWELL_TIMEOUT, ending.closed()).await;
    Ok(())
}

/// Serves a connection on a task of its own, or refuses it.
fn take(shared: &Arc<Shared>, stream: TcpStream, peer: SocketAddr, ended: watch::Receiver<bool>) {
    count(&shared.counters.accepted);
    let _ = stream.set_nodelay(true);
    let pending = shared.pending.clone().try_acquire_owned().ok();
    let Some(permits) = pending.zip(shared.addresses.try_admit(peer.ip())) else {
        refuse(shared, &stream);
        return;
    };
    let shared = shared.clone();
    tokio::spawn(async move {
        let signed_in = match timeout(SIGN_IN_TIMEOUT, sign_in(&shared, stream, peer)).await {
            Ok(Ok(Some(signed_in))) => signed_in,
            Ok(Ok(None)) => return,
            Ok(Err(error)) => {
                count(&shared.counters.malformed);
                return tracing::debug!(%peer, %error, "a client of the PostgreSQL protocol did not sign in");
            }
            Err(_) => {
                count(&shared.counters.malformed);
                return tracing::debug!(%peer, "a client of the PostgreSQL protocol took too long to sign in");
            }
        };
        let mut signed_in = signed_in;
        let Ok(_session) = shared.sessions.clone().try_acquire_owned() else {
            count(&shared.counters.refused);
            let _ = signed_in.stream.write(&too_many().0).await;
            return;
        };
        drop(permits);
        shared.counters.open.fetch_add(1, Ordering::Relaxed);
        if let Ok(mut connection) = Connection::new(shared.clone(), signed_in) {
            if let Err(error) = connection.serve(ended).await {
                tracing::debug!(%peer, %error, "a connection of the PostgreSQL protocol has ended");
            }
            connection.sign_out();
        }
        shared.counters.open.fetch_sub(1, Ordering::Relaxed);
    });
}

/// Tells a client that there are too many, if the system takes the message at once.
fn refuse(shared: &Shared, stream: &TcpStream) {
    count(&shared.counters.refused);
    let _ = stream.try_write(&too_many().0);
}

fn too_many() -> Replies {
    let mut replies = Replies::default();
    let message = "too many connections (postgresql_protocol.max_connections)";
    replies.error(&SqlFailure::new(code::TOO_MANY, message), true, None);
    replies
}

//! Serves the pages of an experiment and takes what they post, for browsers of a run and for people who open the pages by hand.

use axum::{
    Json, Router,
    body::Body,
    extract::{DefaultBodyLimit, State},
    http::header,
    response::IntoResponse,
    routing::{get, post},
};
use serde::de::DeserializeOwned;
use std::{
    net::{Ipv4Addr, SocketAddr},
    sync::mpsc::{self, Receiver, SyncSender},
    time::{Duration, SystemTime},
};
use tokio::{net::TcpListener, runtime::Runtime};

/// Most bytes of a result: 100,000 latencies have fewer.
const MAX_RESULT_BYTES: usize = 4 * 1024 * 1024;
/// Results that wait to be taken; more are refused.
const RESULTS: usize = 16;

/// The pages, until this is dropped. A page asks `/time` for the server's clock, and posts what it has found to `/results`.
#[derive(Debug)]
pub struct Site<R> {
    address: SocketAddr,
    results: Receiver<R>,
    _runtime: Runtime,
}

impl<R: DeserializeOwned + Send + 'static> Site<R> {
    /// Serves the pages on a port that is free.
    pub fn start(pages: Router) -> anyhow::Result<Self> {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
        let listener = runtime.block_on(TcpListener::bind((Ipv4Addr::LOCALHOST, 0)))?;
        let address = listener.local_addr()?;
        let (sender, results) = mpsc::sync_channel(RESULTS);
        let calls =
            Router::new().route("/results", post(take::<R>)).layer(DefaultBodyLimit::max(MAX_RESULT_BYTES));
        let router = pages.route("/time", get(time)).merge(calls.with_state(sender));
        runtime.spawn(async move { axum::serve(listener, router).await });
        Ok(Self { address, results, _runtime: runtime })
    }

    /// The origin of the pages.
    pub fn origin(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Waits for the next result.
    pub fn result(&self, longest: Duration) -> Option<R> {
        self.results.recv_timeout(longest).ok()
    }
}

/// A script of a page.
pub async fn script(text: impl Into<Body>) -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "text/javascript; charset=utf-8")], text.into())
}

/// Milliseconds since 1970 on the server's clock.
async fn time() -> impl IntoResponse {
    let since_1970 = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    ([(header::CACHE_CONTROL, "no-store")], format!("{:.3}", since_1970.as_secs_f64() * 1e3))
}

async fn take<R: Send + 'static>(
    State(results): State<SyncSender<R>>,
    Json(result): Json<R>,
) -> &'static str {
    match results.try_send(result) {
        Ok(()) => "taken",
        Err(_) => "nobody waits for results now",
    }
}

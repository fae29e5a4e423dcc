//! The push server of OASIS: hyper on tokio, as its text doors, with a task for each connection and an emitter for each event.
//!
//! An emitter copies and clears its list under a short lock, and then puts the emit into the [`mailbox`] of each request. The request's own task formats and
//! writes the answer, so that durations include the wait for those before it.

mod emitter;
mod mailbox;
mod requests;

use super::{
    BACKLOG,
    answer::short,
    calls::{Call, EventRequest, MAX_BODY, set_logging},
    end_with_input,
};
use crate::order::ready;
use axum::body::{Body, to_bytes};
use emitter::Events;
use hyper::{Request, Response, StatusCode, body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use requests::Pool;
use std::{convert::Infallible, net::SocketAddr, sync::Arc, time::Duration};
use tokio::{
    net::{TcpListener, TcpSocket, TcpStream},
    runtime::{Builder, Runtime},
    sync::mpsc,
    time::sleep,
};

/// Tasks that run before a worker polls sockets and timers again: the answers of an emit go out before the requests that follow them come in.
const EVENT_INTERVAL: u32 = 4_096;

/// Connections that wait to be closed; one more is closed at once.
const CLOSING: usize = 65_536;
/// Longer than the answers of most emits take.
const CLOSES_AFTER: Duration = Duration::from_millis(2);

/// State that all connections share.
#[derive(Debug)]
struct Server {
    events: Events,
    pool: Arc<Pool>,
    answered: mpsc::Sender<TcpStream>,
}

/// Serves with a thread for each core.
pub fn serve(address: SocketAddr, cores: usize) -> anyhow::Result<()> {
    let runtime = runtime(cores)?;
    runtime.block_on(async {
        let listener = listen(address)?;
        ready(&[listener.local_addr()?.to_string()])?;
        end_with_input();
        // Accepts on a worker: the thread that waits here is none.
        Ok(tokio::spawn(accept(listener)).await??)
    })
}

fn runtime(cores: usize) -> std::io::Result<Runtime> {
    // A thread alone needs no locks for its tasks.
    let mut builder = if cores <= 1 { Builder::new_current_thread() } else { Builder::new_multi_thread() };
    builder.worker_threads(cores.max(1)).event_interval(EVENT_INTERVAL).enable_all().build()
}

fn listen(address: SocketAddr) -> std::io::Result<TcpListener> {
    let socket = TcpSocket::new_v4()?;
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

async fn accept(listener: TcpListener) -> std::io::Result<()> {
    let (answered, closing) = mpsc::channel(CLOSING);
    tokio::spawn(close_later(closing));
    let server = Arc::new(Server { events: Events::default(), pool: Arc::default(), answered });
    loop {
        match listener.accept().await {
            Ok((stream, _)) => drop(tokio::spawn(converse(server.clone(), stream))),
            // An error of the connection, or the limit of open files: the next call may succeed.
            Err(_) => tokio::task::yield_now().await,
        }
    }
}

async fn converse(server: Arc<Server>, stream: TcpStream) {
    if stream.set_nodelay(true).is_err() {
        return;
    }
    let answering = server.clone();
    let service = service_fn(move |request| {
        let server = answering.clone();
        async move { Ok::<_, Infallible>(server.answer(request).await) }
    });
    // Answers are short: copying one takes less time than telling the kernel where its parts are.
    let connection = http1::Builder::new().writev(false).serve_connection(TokioIo::new(stream), service);
    // Fails when the client goes, which ends its request.
    if let Ok(ended) = connection.without_shutdown().await {
        let _ = server.answered.try_send(ended.io.into_inner());
    }
}

/// Closes connections that are answered. Clients know where their answer ends, and others wait for theirs: closing one takes as long as half an answer.
async fn close_later(mut answered: mpsc::Receiver<TcpStream>) {
    let mut closing = Vec::new();
    while answered.recv_many(&mut closing, CLOSING).await > 0 {
        sleep(CLOSES_AFTER).await;
        closing.clear();
    }
}

impl Server {
    async fn answer(&self, request: Request<Incoming>) -> Response<Body> {
        let path = request.uri().path_and_query().map_or("/", |path| path.as_str());
        let said = match Call::parse(path) {
            Ok(Call::Request) => return self.receive(request).await,
            Ok(Call::Timestamp { client }) => short::time(&client),
            Ok(Call::Log { is_enabled }) => {
                set_logging(is_enabled);
                short::logging(is_enabled)
            }
            Ok(Call::SetEvent { name, interval }) => {
                self.events.set(&name, interval);
                short::event(&name, interval)
            }
            Ok(Call::ClearEvents) => {
                self.events.clear();
                short::cleared()
            }
            Err(error) => return refusal(StatusCode::NOT_FOUND, &error),
        };
        json(Body::from(said))
    }

    async fn receive(&self, request: Request<Incoming>) -> Response<Body> {
        let Ok(body) = to_bytes(Body::new(request.into_body()), MAX_BODY).await else {
            return refusal(StatusCode::PAYLOAD_TOO_LARGE, "the body is too long, or did not arrive");
        };
        match EventRequest::parse(&String::from_utf8_lossy(&body)) {
            Ok(wish) => json(self.pool.answer(&self.events, &wish).await),
            Err(error) => refusal(StatusCode::BAD_REQUEST, &error),
        }
    }
}

fn json(body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    let media_type = hyper::header::HeaderValue::from_static("application/json");
    response.headers_mut().insert(hyper::header::CONTENT_TYPE, media_type);
    response
}

fn refusal(status: StatusCode, message: &str) -> Response<Body> {
    let mut response = json(Body::from(short::error(message)));
    *response.status_mut() = status;
    response
}

//! The push server as users of axum write it: handlers, and for each event a broadcast to which requests subscribe.

use super::{
    BACKLOG,
    answer::{Content, Emit, Received, Stamp, short},
    calls::{Call, EventRequest, MAX_BODY, log, set_logging},
    end_with_input,
};
use crate::order::ready;
use ::axum::{
    Router,
    body::{Body, Bytes},
    extract::{DefaultBodyLimit, State},
    http::{StatusCode, Uri, header::CONTENT_TYPE},
    response::{IntoResponse, Response},
    routing::post,
    serve::ListenerExt,
};
use futures_util::{Stream, StreamExt, stream};
use std::{
    collections::HashMap,
    convert::Infallible,
    net::SocketAddr,
    pin::Pin,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};
use tokio::{
    net::TcpSocket,
    sync::broadcast::{self, error::RecvError},
    task::JoinHandle,
    time::{Instant, sleep_until, timeout},
};

/// Emits that a request may lag.
const CAPACITY: usize = 64;

/// State that all handlers share.
#[derive(Debug, Default)]
struct Shared {
    events: Mutex<HashMap<String, Event>>,
    /// Requests that wait.
    waiting: AtomicUsize,
}

#[derive(Debug)]
struct Event {
    emits: broadcast::Sender<Arc<Sent>>,
    task: Option<JoinHandle<()>>,
}

/// An emit, and how many requests have answered with it.
#[derive(Debug)]
struct Sent {
    emit: Emit,
    answered: AtomicUsize,
}

/// A request that waits, until it is dropped.
#[derive(Debug)]
struct Waiting {
    shared: Arc<Shared>,
    received: Received,
}

type Emits = Pin<Box<dyn Stream<Item = Arc<Sent>> + Send>>;

/// Serves with a thread for each core.
pub fn serve(address: SocketAddr, cores: usize) -> anyhow::Result<()> {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(cores.max(1)).enable_all().build()?;
    runtime.block_on(async {
        let socket = TcpSocket::new_v4()?;
        socket.set_reuseaddr(true)?;
        socket.bind(address)?;
        let listener = socket.listen(BACKLOG)?;
        ready(&[listener.local_addr()?.to_string()])?;
        end_with_input();
        let listener = listener.tap_io(|stream| {
            // A client that has gone shows later.
            let _ = stream.set_nodelay(true);
        });
        let router = Router::new()
            .route("/request", post(request))
            .fallback(call)
            .layer(DefaultBodyLimit::max(MAX_BODY))
            .with_state(Arc::<Shared>::default());
        // Accepts on a worker: the thread that waits here is none.
        Ok(tokio::spawn(async move { ::axum::serve(listener, router).await }).await??)
    })
}

async fn call(State(shared): State<Arc<Shared>>, uri: Uri) -> Response {
    let path = uri.path_and_query().map_or("/", |path| path.as_str());
    let said = match Call::parse(path) {
        Ok(Call::Timestamp { client }) => short::time(&client),
        Ok(Call::Log { is_enabled }) => {
            set_logging(is_enabled);
            short::logging(is_enabled)
        }
        Ok(Call::SetEvent { name, interval }) => {
            shared.set(&name, interval);
            short::event(&name, interval)
        }
        Ok(Call::ClearEvents) => {
            shared.clear();
            short::cleared()
        }
        Ok(Call::Request) => return refusal(StatusCode::METHOD_NOT_ALLOWED, "POST /request"),
        Err(error) => return refusal(StatusCode::NOT_FOUND, &error),
    };
    json(Body::from(said))
}

async fn request(State(shared): State<Arc<Shared>>, body: Bytes) -> Response {
    let wish = match EventRequest::parse(&String::from_utf8_lossy(&body)) {
        Ok(wish) => wish,
        Err(error) => return refusal(StatusCode::BAD_REQUEST, &error),
    };
    log(|| format!("request {wish:?}"));
    let start = shared.waiting.fetch_add(1, Ordering::Relaxed) + 1;
    let mut emits = shared.subscribe(&wish.events);
    let waiting = Waiting { shared, received: Received::new(&wish, start) };
    if wish.is_comet {
        return json(Body::from_stream(
            emits.map(move |sent| Ok::<_, Infallible>(waiting.line(Some(&*sent)))),
        ));
    }
    let sent = timeout(wish.duration, emits.next()).await.ok().flatten();
    json(Body::from(waiting.line(sent.as_deref())))
}

impl Shared {
    /// Creates the event, or changes its interval.
    fn set(&self, name: &str, interval: Duration) {
        let mut events = self.events.lock().unwrap_or_else(PoisonError::into_inner);
        let event = events.entry(name.to_owned()).or_insert_with(Event::new);
        let task = tokio::spawn(emit_each(event.emits.clone(), name.to_owned(), interval));
        if let Some(earlier) = event.task.replace(task) {
            earlier.abort();
        }
    }

    fn clear(&self) {
        let mut events = self.events.lock().unwrap_or_else(PoisonError::into_inner);
        for task in events.values_mut().filter_map(|event| event.task.take()) {
            task.abort();
        }
    }

    /// The emits of some events; they have no end.
    fn subscribe(&self, names: &[String]) -> Emits {
        let mut events = self.events.lock().unwrap_or_else(PoisonError::into_inner);
        let receivers: Vec<_> = names
            .iter()
            .map(|name| events.entry(name.clone()).or_insert_with(Event::new).emits.subscribe())
            .collect();
        let each = receivers.into_iter().map(|emits| Box::pin(stream::unfold(emits, next)));
        Box::pin(stream::select_all(each).chain(stream::pending()))
    }
}

async fn next(
    mut emits: broadcast::Receiver<Arc<Sent>>,
) -> Option<(Arc<Sent>, broadcast::Receiver<Arc<Sent>>)> {
    loop {
        match emits.recv().await {
            Ok(sent) => return Some((sent, emits)),
            Err(RecvError::Lagged(_)) => {}
            Err(RecvError::Closed) => return None,
        }
    }
}

impl Event {
    fn new() -> Self {
        Self { emits: broadcast::Sender::new(CAPACITY), task: None }
    }
}

async fn emit_each(emits: broadcast::Sender<Arc<Sent>>, name: String, interval: Duration) {
    let mut due = Instant::now() + interval;
    loop {
        sleep_until(due).await;
        due = Instant::now() + interval;
        let emit = Emit { name: name.clone(), created: Stamp::now(), total: emits.receiver_count() };
        log(|| format!("emitted {name} to {}", emit.total));
        // Fails without requests.
        let _ = emits.send(Arc::new(Sent { emit, answered: AtomicUsize::new(0) }));
    }
}

impl Waiting {
    fn line(&self, sent: Option<&Sent>) -> Vec<u8> {
        let finish = self.shared.waiting.load(Ordering::Relaxed);
        match sent {
            Some(Sent { emit, answered }) => {
                let place = answered.fetch_add(1, Ordering::Relaxed) + 1;
                self.received.answer(Content::Event(emit, place), finish)
            }
            None => self.received.answer(Content::Timeout, finish),
        }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.shared.waiting.fetch_sub(1, Ordering::Relaxed);
    }
}

fn json(body: Body) -> Response {
    ([(CONTENT_TYPE, "application/json")], body).into_response()
}

fn refusal(status: StatusCode, message: &str) -> Response {
    (status, json(Body::from(short::error(message)))).into_response()
}

//! A server that receives webhooks, over HTTPS with a certificate of a CA of its own, or without.

use super::TEST_TIMEOUT;
use axum::{
    Router,
    body::Bytes,
    extract::State,
    http::{HeaderMap, StatusCode},
    response::{IntoResponse, Response},
    serve::Listener,
};
use oasis_tls::{Authority, Lifetime, ServerFiles, ServerTls};
use serde_json::Value;
use std::{
    collections::VecDeque,
    future,
    net::SocketAddr,
    path::PathBuf,
    sync::{
        Arc, Mutex,
        mpsc::{self, Receiver as Inbox, Sender},
    },
    time::Instant,
};
use tempfile::TempDir;
use tokio::{
    net::{TcpListener, TcpStream},
    runtime::Runtime,
};
use tokio_rustls::{TlsAcceptor, server::TlsStream};

/// Answer of the server to a request.
#[derive(Debug, Clone)]
pub enum Answer {
    /// With a status and a header.
    Status(u16, Option<(&'static str, String)>),
    /// With a body of this many bytes.
    Long(usize),
    /// Never.
    Never,
}

/// A request that has come.
#[derive(Debug)]
pub struct Request {
    pub headers: HeaderMap,
    pub body: Vec<u8>,
    pub at: Instant,
}

impl Request {
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }
}

/// The server. Answers 204 unless told otherwise.
pub struct Receiver {
    pub url: String,
    pub ca: PathBuf,
    inbox: Inbox<Request>,
    answers: Arc<Mutex<VecDeque<Answer>>>,
    _folder: TempDir,
    _runtime: Runtime,
}

#[derive(Clone)]
struct Shared {
    answers: Arc<Mutex<VecDeque<Answer>>>,
    requests: Sender<Request>,
}

impl Receiver {
    /// Over HTTPS, with a certificate for these names.
    pub fn https(names: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let authority = Authority::create(folder.path()).unwrap();
        let names: Vec<_> = names.iter().map(|name| (*name).to_owned()).collect();
        let issued = authority.issue_server(&names, Lifetime::days(2)).unwrap();
        let files = ServerFiles { certificate: issued.certificate, key: issued.key, node_ca: None };
        let acceptor = TlsAcceptor::from(ServerTls::load(files).unwrap().doors());
        let ca = authority.certificate();
        Self::start(folder, ca, Some(acceptor), "127.0.0.1:0".parse().unwrap())
    }

    /// Over HTTP.
    pub fn http() -> Self {
        Self::http_at("127.0.0.1:0".parse().unwrap())
    }

    /// Over HTTP at this address.
    pub fn http_at(address: SocketAddr) -> Self {
        Self::start(tempfile::tempdir().unwrap(), PathBuf::new(), None, address)
    }

    fn start(folder: TempDir, ca: PathBuf, acceptor: Option<TlsAcceptor>, address: SocketAddr) -> Self {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let listener = runtime.block_on(TcpListener::bind(address)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let (requests, inbox) = mpsc::channel();
        let answers = Arc::new(Mutex::new(VecDeque::new()));
        let shared = Shared { answers: answers.clone(), requests };
        let router = Router::new().fallback(receive).with_state(shared);
        let scheme = if acceptor.is_some() { "https" } else { "http" };
        runtime.spawn(async move {
            match acceptor {
                Some(acceptor) => axum::serve(Encrypted { listener, acceptor }, router).await,
                None => axum::serve(listener, router).await,
            }
        });
        let url = format!("{scheme}://127.0.0.1:{port}/hook");
        Self { url, ca, inbox, answers, _folder: folder, _runtime: runtime }
    }

    /// Answers the next request so.
    pub fn answer(&self, answer: Answer) {
        self.answers.lock().unwrap().push_back(answer);
    }

    /// The next request.
    pub fn next(&self) -> Request {
        self.inbox.recv_timeout(TEST_TIMEOUT).expect("no request came")
    }

    /// The next request, if one has come.
    pub fn try_next(&self) -> Option<Request> {
        self.inbox.try_recv().ok()
    }
}

async fn receive(State(shared): State<Shared>, headers: HeaderMap, body: Bytes) -> Response {
    let answer = shared.answers.lock().unwrap().pop_front().unwrap_or(Answer::Status(204, None));
    let _ = shared.requests.send(Request { headers, body: body.to_vec(), at: Instant::now() });
    match answer {
        Answer::Status(status, header) => {
            let mut response = StatusCode::from_u16(status).unwrap().into_response();
            if let Some((name, value)) = header {
                response.headers_mut().insert(name, value.parse().unwrap());
            }
            response
        }
        Answer::Long(bytes) => (StatusCode::BAD_REQUEST, "x".repeat(bytes)).into_response(),
        Answer::Never => future::pending().await,
    }
}

struct Encrypted {
    listener: TcpListener,
    acceptor: TlsAcceptor,
}

impl Listener for Encrypted {
    type Io = TlsStream<TcpStream>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        loop {
            let (stream, address) = Listener::accept(&mut self.listener).await;
            if let Ok(stream) = self.acceptor.accept(stream).await {
                return (stream, address);
            }
        }
    }

    fn local_addr(&self) -> std::io::Result<Self::Addr> {
        self.listener.local_addr()
    }
}

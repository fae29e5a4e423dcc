mod frames;

use super::*;
use crate::{HttpConfig, HttpContext, permissions::Permissions, serve_grpc};
use axum::{Router, body::Bytes, http::HeaderMap, routing::post};
use frames::{Frame, Frames, PING, RST_STREAM};
use h2::client::SendRequest;
use oasis_dac::Admission;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::{Semaphore, oneshot},
    task::JoinHandle,
    time::Instant,
};

const METHODS: &[GrpcMethod] = &[
    GrpcMethod { name: "/test.Echo/Echo", route: "/echo" },
    GrpcMethod { name: "/test.Echo/Wait", route: "/wait" },
];
/// RFC 9113 7.
const FLOW_CONTROL_ERROR: u32 = 3;
const FRAME_SIZE_ERROR: u32 = 6;
const REFUSED_STREAM: u32 = 7;
const ENHANCE_YOUR_CALM: u32 = 11;

/// A server with a route that answers with the message, and one that waits for a permit before it reads any.
struct Served {
    address: SocketAddr,
    context: HttpContext,
    permits: Arc<Semaphore>,
    end: oneshot::Sender<()>,
    serving: JoinHandle<()>,
}

impl Served {
    async fn start(config: HttpConfig) -> Self {
        let permits = Arc::new(Semaphore::new(0));
        let waiting = permits.clone();
        let wait = move |request: Request<axum::body::Body>| async move {
            waiting.acquire().await.unwrap().forget();
            axum::body::to_bytes(request.into_body(), 1 << 20).await.unwrap_or_default()
        };
        let echo = |message: Bytes| async move { message };
        let router = Router::new().route("/echo", post(echo)).route("/wait", post(wait));
        let (admission, permissions) = (Arc::new(Admission::new(1)), Arc::new(Permissions::in_memory()));
        let context = HttpContext::new(config, admission, permissions);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (end, ended) = oneshot::channel();
        let served = context.clone();
        let serving = tokio::spawn(async move {
            let ended = async move { drop(ended.await) };
            serve_grpc(&served, router, METHODS, listener, ended).await;
        });
        Self { address, context, permits, end, serving }
    }

    async fn connect(&self) -> SendRequest<Bytes> {
        let stream = TcpStream::connect(self.address).await.unwrap();
        let (client, connection) = h2::client::handshake(stream).await.unwrap();
        tokio::spawn(connection);
        client
    }

    async fn open(&self) -> TcpStream {
        TcpStream::connect(self.address).await.unwrap()
    }

    fn refused(&self, code: &str) -> u64 {
        self.context.admission.counters().refused.get(code).copied().unwrap_or(0)
    }
}

fn request(method: &str) -> Request<()> {
    Request::post(format!("http://127.0.0.1/test.Echo/{method}"))
        .header("content-type", "application/grpc")
        .header("te", "trailers")
        .body(())
        .unwrap()
}

fn message(content: &[u8]) -> Bytes {
    [&[0], &(content.len() as u32).to_be_bytes()[..], content].concat().into()
}

/// Sends a request with a body. Returns the content of the answer, and its trailers, or its headers if it has none.
async fn call(
    client: &SendRequest<Bytes>,
    request: Request<()>,
    body: Bytes,
) -> Result<(Vec<u8>, HeaderMap), h2::Error> {
    let (response, mut stream) = client.clone().ready().await?.send_request(request, false)?;
    stream.send_data(body, true)?;
    answer(response).await
}

async fn answer(response: h2::client::ResponseFuture) -> Result<(Vec<u8>, HeaderMap), h2::Error> {
    let response = response.await?;
    assert_eq!(response.headers()["content-type"], "application/grpc");
    let headers = response.headers().clone();
    let (mut body, mut content) = (response.into_body(), Vec::new());
    while let Some(data) = body.data().await {
        content.extend(data?);
    }
    Ok((content, body.trailers().await?.unwrap_or(headers)))
}

#[tokio::test]
async fn calls_are_answered_one_after_the_other_and_at_once() {
    let served = Served::start(HttpConfig::default()).await;
    let client = served.connect().await;
    for content in [&b""[..], b"x", &[7; 10_000]] {
        let (echoed, trailers) = call(&client, request("Echo"), message(content)).await.unwrap();
        assert_eq!((echoed, &trailers["grpc-status"]), (message(content).to_vec(), &"0".parse().unwrap()));
    }
    let many = (0..100).map(|number: u8| {
        let client = client.clone();
        tokio::spawn(async move {
            let content = [number; 1_000];
            call(&client, request("Echo"), message(&content)).await.unwrap().0 == message(&content)
        })
    });
    for one in many.collect::<Vec<_>>() {
        assert!(one.await.unwrap());
    }
}

#[tokio::test]
async fn hosts_are_checked_as_in_requests() {
    let served = Served::start(HttpConfig::default()).await;
    let client = served.connect().await;
    let mut foreign = request("Echo");
    *foreign.uri_mut() = "http://evil.example/test.Echo/Echo".parse().unwrap();
    let mut disguised = foreign.clone();
    disguised.headers_mut().insert(header::HOST, HeaderValue::from_static("127.0.0.1"));
    let mut hidden = request("Echo");
    hidden.headers_mut().insert(header::HOST, HeaderValue::from_static("evil.example"));
    for request in [foreign, disguised, hidden] {
        let (_, headers) = call(&client, request, message(b"x")).await.unwrap();
        assert_eq!(headers["grpc-status"], "7", "{headers:?}");
    }
    assert_eq!(served.refused("host"), 3);
}

#[tokio::test]
async fn a_request_that_is_no_call_gets_an_answer_of_http() {
    let served = Served::start(HttpConfig::default()).await;
    let client = served.connect().await;
    let mut other = request("Echo");
    other.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    let sent = client.clone().ready().await.unwrap().send_request(other, true).unwrap();
    assert_eq!(sent.0.await.unwrap().status(), StatusCode::UNSUPPORTED_MEDIA_TYPE);
    let (_, unknown) = call(&client, request("Other"), message(b"x")).await.unwrap();
    assert_eq!(unknown["grpc-status"], "12");
    assert_eq!((served.refused(NOT_GRPC_CODE), served.refused(CALL_CODE)), (1, 1));
}

#[tokio::test]
async fn a_client_of_http_1_learns_that_it_has_the_wrong_address() {
    let served = Served::start(HttpConfig::default()).await;
    for first in ["POST /v1/metrics HTTP/1.1\r\nhost: localhost\r\n\r\n", "PRI * HTTP/1.1\r\n\r\n", "x"] {
        let (mut stream, mut text) = (served.open().await, String::new());
        stream.write_all(first.as_bytes()).await.unwrap();
        stream.read_to_string(&mut text).await.unwrap();
        assert!(text.starts_with("HTTP/1.1 400 ") && text.contains("not_grpc"), "{text}");
    }
    assert_eq!(served.refused(NOT_GRPC_CODE), 3);
}

#[tokio::test(start_paused = true)]
async fn a_connection_without_a_first_byte_and_one_that_is_silent_are_closed() {
    let served = Served::start(HttpConfig::default()).await;
    for (first, seconds) in [(&b""[..], 10), (b"PRI * HTTP", 10), (&Frames::greeting(), 40)] {
        let (mut stream, began) = (served.open().await, Instant::now());
        stream.write_all(first).await.unwrap();
        let _ = stream.read_to_end(&mut Vec::new()).await;
        assert_eq!(began.elapsed().as_secs(), seconds, "{first:?}");
    }
    assert_eq!(served.refused(TIMEOUT_CODE), 2);
}

#[tokio::test(start_paused = true)]
async fn a_message_that_stalls_ends_and_leaves_the_connection_to_others() {
    let served = Served::start(HttpConfig::default()).await;
    let client = served.connect().await;
    for part in [&b""[..], &[0, 0], &[0, 0, 0, 0, 9, 1, 2]] {
        let began = Instant::now();
        let (response, mut stream) =
            client.clone().ready().await.unwrap().send_request(request("Echo"), false).unwrap();
        stream.send_data(Bytes::copy_from_slice(part), false).unwrap();
        let (_, headers) = answer(response).await.unwrap();
        assert_eq!(headers["grpc-status"], "14");
        assert!(began.elapsed() < Duration::from_secs(4), "{:?}", began.elapsed());
        let (echoed, _) = call(&client, request("Echo"), message(b"x")).await.unwrap();
        assert_eq!(echoed, message(b"x"));
    }
    assert_eq!(served.refused(TIMEOUT_CODE), 3);
}

#[tokio::test]
async fn streams_beyond_the_limit_are_refused() {
    let served = Served::start(HttpConfig::default()).await;
    let mut client = Frames::new(served.open().await).await;
    for number in 0..MAX_STREAMS + 8 {
        client.send(&Frame::headers(1 + 2 * number, "/test.Echo/Wait")).await;
    }
    let mut refused = Vec::new();
    while refused.len() < 8 {
        let frame = client.next().await.unwrap();
        if frame.kind == RST_STREAM {
            assert_eq!(frame.error(), REFUSED_STREAM);
            refused.push(frame.stream);
        }
    }
    assert_eq!(refused, (0..8).map(|at| 1 + 2 * (MAX_STREAMS + at)).collect::<Vec<_>>());
}

#[tokio::test]
async fn many_cancelled_calls_end_the_connection() {
    let served = Served::start(HttpConfig::default()).await;
    let mut client = Frames::new(served.open().await).await;
    let mut flood = Vec::new();
    for number in 0..10_000 {
        flood.extend(Frame::headers(1 + 2 * number, "/test.Echo/Wait").encode());
        flood.extend(Frame::reset(1 + 2 * number).encode());
    }
    assert_eq!(client.flood(&flood).await, ENHANCE_YOUR_CALM);
}

#[tokio::test]
async fn metadata_without_end_and_false_lengths_end_the_connection() {
    let served = Served::start(HttpConfig::default()).await;
    let mut client = Frames::new(served.open().await).await;
    let mut flood = Frame::headers(1, "/test.Echo/Wait").without_end().encode();
    for _ in 0..10_000 {
        flood.extend(Frame::continuation(1, &[0, 1, b'a', 1, b'b'].repeat(100)).encode());
    }
    assert_eq!(client.flood(&flood).await, ENHANCE_YOUR_CALM);

    let mut client = Frames::new(served.open().await).await;
    let too_long = [&[1, 0, 0, 0, 0, 0, 0, 0, 1][..], &[0; 70_000]].concat();
    assert_eq!(client.flood(&too_long).await, FRAME_SIZE_ERROR);
}

#[tokio::test]
async fn metadata_that_is_too_long_is_refused() {
    let served = Served::start(HttpConfig::default()).await;
    let client = served.connect().await;
    let mut long = request("Echo");
    long.headers_mut().insert("x", HeaderValue::try_from("x".repeat(MAX_METADATA_BYTES as usize)).unwrap());
    let sent = client.clone().ready().await.unwrap().send_request(long, true).unwrap();
    assert_eq!(sent.0.await.unwrap().status(), StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE);
    assert_eq!(call(&client, request("Echo"), message(b"x")).await.unwrap().0, message(b"x"));
}

#[tokio::test]
async fn a_client_that_ignores_the_window_is_closed() {
    let served = Served::start(HttpConfig::default()).await;
    let mut client = Frames::new(served.open().await).await;
    let mut flood = Frame::headers(1, "/test.Echo/Wait").encode();
    flood.extend(Frame::data(1, &[0, 0, 0x7f, 0xff, 0xff]).encode());
    for _ in 0..64 {
        flood.extend(Frame::data(1, &[0; 16 * 1024]).encode());
    }
    assert_eq!(client.flood(&flood).await, FLOW_CONTROL_ERROR);
}

#[tokio::test]
async fn pings_of_a_client_are_answered() {
    let served = Served::start(HttpConfig::default()).await;
    let mut client = Frames::new(served.open().await).await;
    client.send(&Frame { kind: PING, flags: 0, stream: 0, payload: vec![7; 8] }).await;
    loop {
        let frame = client.next().await.unwrap();
        if frame.kind == PING {
            assert_eq!((frame.flags, frame.payload), (1, vec![7; 8]));
            break;
        }
    }
}

#[tokio::test]
async fn a_call_under_way_is_answered_when_the_server_ends() {
    let served = Served::start(HttpConfig::default()).await;
    let client = served.connect().await;
    let (response, mut stream) =
        client.clone().ready().await.unwrap().send_request(request("Wait"), false).unwrap();
    stream.send_data(message(b"x"), true).unwrap();
    // A later call is answered: so the first one is under way.
    call(&client, request("Echo"), message(b"y")).await.unwrap();
    served.end.send(()).unwrap();
    served.permits.add_permits(1);
    assert_eq!(answer(response).await.unwrap().0, message(b"x"));
    served.serving.await.unwrap();
}

#[tokio::test]
async fn connections_beyond_the_limit_are_closed() {
    let served = Served::start(HttpConfig { max_connections: 1, ..HttpConfig::default() }).await;
    let client = served.connect().await;
    call(&client, request("Echo"), message(b"x")).await.unwrap();
    let mut other = served.open().await;
    other.write_all(&Frames::greeting()).await.unwrap();
    let _ = other.read_to_end(&mut Vec::new()).await;
    assert_eq!(served.refused("too_many_connections"), 1);
    assert_eq!(call(&client, request("Echo"), message(b"x")).await.unwrap().0, message(b"x"));
}

use super::*;
use axum::{
    http::StatusCode,
    response::IntoResponse,
    routing::{any, post},
};

const METHODS: &[GrpcMethod] = &[
    GrpcMethod { name: "/test.Echo/Echo", route: "/echo" },
    GrpcMethod { name: "/test.Echo/Refuse", route: "/refuse" },
    GrpcMethod { name: "/test.Echo/Ignore", route: "/ignore" },
];

/// Answers with what a route sees of a request: encoding, length, host, authority, and the body.
async fn echo(request: Request<Body>) -> Vec<u8> {
    let headers = request.headers();
    let text = |name: &str| headers.get(name).map_or("-", |value| value.to_str().unwrap()).to_owned();
    let seen = [text("content-type"), text("content-encoding"), text("content-length"), text("token")];
    let uri = request.uri().to_string();
    let body = to_bytes(request.into_body(), 64).await.unwrap_or_default();
    [format!("{} {uri} ", seen.join(" ")).as_bytes(), &body].concat()
}

fn router() -> Router {
    let refused = || async { (StatusCode::FORBIDDEN, r#"{"detail":"not you"}"#).into_response() };
    Router::new()
        .route("/echo", post(echo))
        .route("/refuse", any(refused))
        .route("/ignore", any(|| async { "unread" }))
}

fn call(method: &str, encoding: Option<&str>, body: Vec<u8>) -> Request<Body> {
    let mut request = Request::post(format!("http://127.0.0.1:4317{method}"))
        .header("content-type", "application/grpc")
        .header("content-length", "77")
        .header("content-encoding", "br")
        .header("token", "secret");
    if let Some(encoding) = encoding {
        request = request.header("grpc-encoding", encoding);
    }
    request.body(Body::from(body)).unwrap()
}

async fn answered(method: &str, encoding: Option<&str>, body: Vec<u8>) -> Result<String, String> {
    let router = router().layer(axum::middleware::map_response(async |response: Response| {
        let is_refused = response.status() == StatusCode::FORBIDDEN;
        let (mut parts, body) = response.into_parts();
        if is_refused {
            let problem = HeaderValue::from_static("application/problem+json");
            parts.headers.insert(header::CONTENT_TYPE, problem);
        }
        Response::from_parts(parts, body)
    }));
    match answer(router, METHODS, call(method, encoding, body)).await {
        Ok(Ok(message)) => {
            let (flag, content) = message.split_at(5);
            assert_eq!(flag, [0, 0, 0, 0, content.len() as u8]);
            Ok(String::from_utf8(content.to_vec()).unwrap())
        }
        Ok(Err(status)) => {
            let response = response(Err(status));
            let text = |name: &str| response.headers()[name].to_str().unwrap().to_owned();
            Err(format!("{} {}", text("grpc-status"), text("grpc-message")))
        }
        Err(error) => Err(error.to_string()),
    }
}

#[tokio::test]
async fn a_route_sees_the_message_as_the_body_of_a_request() {
    let message = |flag: u8| [&[flag, 0, 0, 0, 2][..], b"ab"].concat();
    let plain = answered("/test.Echo/Echo", None, message(0)).await;
    assert_eq!(plain.unwrap(), "application/x-protobuf - 2 secret http://127.0.0.1:4317/echo ab");
    let gzip = answered("/test.Echo/Echo", Some("gzip"), message(1)).await;
    assert_eq!(gzip.unwrap(), "application/x-protobuf gzip 2 secret http://127.0.0.1:4317/echo ab");
    // A client that may compress need not.
    let plain = answered("/test.Echo/Echo", Some("gzip"), message(0)).await;
    assert_eq!(plain.unwrap(), "application/x-protobuf - 2 secret http://127.0.0.1:4317/echo ab");
}

#[tokio::test]
async fn calls_that_no_route_may_see_say_why() {
    let message = |flag: u8| [&[flag, 0, 0, 0, 2][..], b"ab"].concat();
    for (method, encoding, body, expected) in [
        ("/test.Echo/Other", None, message(0), "\"/test.Echo/Other\" is no method of this address"),
        ("/echo", None, message(0), "\"/echo\" is no method of this address"),
        (
            "/test.Echo/Echo",
            Some("br"),
            message(0),
            "grpc-encoding \"br\" is not known here: use gzip or identity",
        ),
        ("/test.Echo/Echo", None, message(1), "the message is compressed, but the call has no grpc-encoding"),
        (
            "/test.Echo/Echo",
            Some("identity"),
            message(1),
            "the message is compressed, but the call has no grpc-encoding",
        ),
        ("/test.Echo/Echo", None, message(7), "the first byte of the message is 7: neither 0 nor 1"),
        ("/test.Echo/Echo", None, Vec::new(), "the call has no message"),
        (
            "/test.Echo/Echo",
            None,
            message(0)[..6].to_vec(),
            "the call ends 1 bytes before the end of its message",
        ),
        ("/test.Echo/Echo", None, message(0).repeat(2), "the call has more than one message"),
    ] {
        assert_eq!(answered(method, encoding, body).await.unwrap_err(), expected);
    }
    let long = answered(&format!("/{}", "x".repeat(1_000)), None, message(0)).await.unwrap_err();
    assert!(long.len() < 150, "{long}");
}

#[tokio::test]
async fn a_refusal_of_the_route_is_the_status_even_if_it_reads_no_body() {
    let refused = answered("/test.Echo/Refuse", None, encode(b"ab").to_vec()).await;
    assert_eq!(refused.unwrap_err(), "7 not you");
    let unread = answered("/test.Echo/Ignore", None, encode(b"ab").to_vec()).await;
    assert_eq!(unread.unwrap(), "unread");
}

#[tokio::test]
async fn an_answer_has_a_message_and_then_its_status() {
    let mut body = response(Ok(encode(b"ab"))).into_body();
    let mut frames = Vec::new();
    while let Some(frame) = std::future::poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await {
        frames.push(frame.unwrap());
    }
    assert_eq!(frames[0].data_ref().unwrap()[..], *b"\0\0\0\0\x02ab");
    assert_eq!(frames[1].trailers_ref().unwrap()["grpc-status"], "0");
    assert_eq!(frames.len(), 2);
}

#[test]
fn only_posts_of_protocol_buffers_are_calls() {
    let is_a_call = |method: Method, media_type: &str| {
        is_call(&Request::builder().method(method).header("content-type", media_type).body(()).unwrap())
    };
    for media_type in ["application/grpc", "application/grpc+proto", "Application/GRPC; charset=utf-8"] {
        assert!(is_a_call(Method::POST, media_type), "{media_type}");
    }
    for media_type in ["application/grpc+json", "application/grpc-web", "application/x-protobuf", ""] {
        assert!(!is_a_call(Method::POST, media_type), "{media_type}");
    }
    assert!(!is_a_call(Method::GET, "application/grpc"));
    assert!(!is_call(&Request::post("/").body(()).unwrap()));
}

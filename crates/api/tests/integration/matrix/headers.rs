//! The headers of the answers of every route, over real sockets.

use super::{
    routes::uri,
    websocket::{TEST_TIMEOUT, served},
};
use std::{collections::HashMap, net::SocketAddr};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::timeout,
};

/// Headers that every answer has, whatever it is.
const ALWAYS: [(&str, &str); 7] = [
    (
        "content-security-policy",
        "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'; img-src 'self' data:; frame-ancestors 'none'",
    ),
    ("x-frame-options", "DENY"),
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("permissions-policy", "camera=()"),
];

/// Status and headers of an answer.
async fn head(address: SocketAddr, method: &str, path: &str, more: &str) -> (u16, HashMap<String, String>) {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request = format!(
        "{method} {path} HTTP/1.1\r\nHost: {address}\r\nContent-Length: 0\r\nConnection: close\r\n{more}\r\n"
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut bytes = Vec::new();
    let whole = async {
        while !bytes.windows(4).any(|four| four == b"\r\n\r\n") {
            assert_ne!(stream.read_buf(&mut bytes).await.unwrap(), 0, "{method} {path}");
        }
    };
    timeout(TEST_TIMEOUT, whole).await.expect("the head of an answer");
    let text = String::from_utf8_lossy(&bytes);
    let mut lines = text.split("\r\n\r\n").next().unwrap().lines();
    let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
    let pairs = lines.map(|line| line.split_once(": ").unwrap());
    (status, pairs.map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned())).collect())
}

/// The policy of the script that asks other DACs whether they work: here there are none.
const SCOUT: &str = "default-src 'none'; connect-src 'none'";

fn check(context: &str, headers: &HashMap<String, String>) {
    let policy = headers.get("content-security-policy").map(String::as_str);
    let has_own = context.contains("/scout.js") && policy == Some(SCOUT);
    for (name, wanted) in ALWAYS {
        if has_own && name == "content-security-policy" {
            continue;
        }
        let found = headers.get(name).unwrap_or_else(|| panic!("{context} lacks {name}: {headers:?}"));
        let is_right = if name == "permissions-policy" { found.contains(wanted) } else { found == wanted };
        assert!(is_right, "{context}: {name}: {found}");
    }
    assert!(!headers.contains_key("strict-transport-security"), "{context}: there is no TLS");
    assert!(!headers.contains_key("server"), "{context}");
}

#[tokio::test]
async fn every_answer_of_every_route_has_the_headers_that_protect_browsers() {
    let (world, address) = served().await;
    let mut answers = 0;
    for route in world.api.routes().table() {
        let path = uri(route.path);
        // Allowed, and refused.
        for more in ["", "X-Forwarded-For: 10.1.2.3\r\n", "Sec-Fetch-Site: cross-site\r\n"] {
            let context = format!("{} {} {more:?}", route.method, route.path);
            let (status, headers) = head(address, route.method.as_str(), &path, more).await;
            check(&context, &headers);
            let is_kept = headers.get("cache-control").is_none_or(|value| !value.contains("no-store"));
            let is_data = path.starts_with("/api/") || path == "/metrics";
            assert!(!(is_data && is_kept), "{context}: {status}, {headers:?}");
            answers += 1;
        }
    }
    println!("{answers} answers");
    assert!(answers >= 140, "{answers}");
}

#[tokio::test]
async fn answers_beside_the_routes_have_them_too() {
    let (_world, address) = served().await;
    for (method, path, more, wanted) in [
        ("GET", "/nothing-here", "", 404),
        ("GET", "/..%2f..%2fetc/passwd", "", 404),
        ("TRACE", "/api/v1/nodes", "", 405),
        ("GET", "/api/v1/nodes", "Authorization: Bearer x\r\n", 401),
    ] {
        let (status, headers) = head(address, method, path, more).await;
        assert_eq!(status, wanted, "{method} {path}");
        check(path, &headers);
    }
}

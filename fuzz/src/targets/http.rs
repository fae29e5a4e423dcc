//! Requests to the HTTP API and the text doors of a DAC with one instance: `METHOD TARGET`, header lines, an empty line, a body.

use super::data_channel;
use axum::{
    Router,
    body::Body,
    extract::ConnectInfo,
    http::{HeaderName, HeaderValue, Request, header},
};
use oasis_api::Api;
use oasis_dac::{Config, Dac};
use oasis_doors::{Doors, DoorsConfig, ShardChoice};
use oasis_handler::Supervisor;
use std::{
    net::SocketAddr,
    sync::{Arc, LazyLock},
    time::Duration,
};
use tokio::runtime::Runtime;
use tower_service::Service;

/// Timeout of an answer: a stream without end has its head by then.
const ANSWER_TIMEOUT: Duration = Duration::from_millis(100);

static DAC: LazyLock<(Runtime, Router)> = LazyLock::new(|| {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
    let runtime = runtime.expect("a runtime");
    let _guard = runtime.enter();
    let dac = Dac::new(Config::default());
    data_channel::plant(&dac);
    let doors = Doors::new(
        dac.clone(),
        DoorsConfig { shards: ShardChoice::Fixed(1), ..DoorsConfig::default() },
        None,
    )
    .expect("threads");
    let handlers = Supervisor::new(dac, None, Vec::new());
    let router = Api::new(doors, Arc::new(handlers)).expect("layouts in memory").router();
    (runtime, router)
});

pub fn run(input: &[u8]) {
    let Some(request) = parse(input) else { return };
    let (runtime, router) = &*DAC;
    let answer =
        runtime.block_on(async { tokio::time::timeout(ANSWER_TIMEOUT, router.clone().call(request)).await });
    if let Ok(Ok(answer)) = answer {
        assert_ne!(answer.status().as_u16(), 500, "{answer:?}");
    }
}

fn parse(input: &[u8]) -> Option<Request<Body>> {
    let (head, body) = match input.windows(2).position(|pair| pair == b"\n\n") {
        Some(at) => (input.get(..at)?, input.get(at + 2..)?),
        None => (input, &[][..]),
    };
    let mut lines = str::from_utf8(head).ok()?.lines();
    let (method, target) = lines.next()?.split_once(' ')?;
    let peer = ConnectInfo(SocketAddr::from(([127, 0, 0, 1], 9)));
    let mut request = Request::builder().method(method).uri(target).extension(peer);
    if let Some(headers) = request.headers_mut() {
        headers.insert(header::HOST, HeaderValue::from_static("127.0.0.1"));
        for (name, value) in lines.filter_map(|line| line.split_once(':')) {
            let name = HeaderName::from_bytes(name.as_bytes());
            if let (Ok(name), Ok(value)) = (name, HeaderValue::from_str(value.trim())) {
                headers.insert(name, value);
            }
        }
    }
    request.body(Body::from(body.to_vec())).ok()
}

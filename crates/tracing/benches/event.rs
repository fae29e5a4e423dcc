//! The cost of an event and a span for the thread that logs, compared with the formatting layer of
//! `tracing-subscriber` that discards its output.

#![allow(
    missing_docs,
    clippy::unwrap_used,
    reason = "criterion's macros; a bench that cannot start shall say so"
)]

use criterion::{Criterion, criterion_group, criterion_main};
use oasis_probe::{NodeBuilder, NodeConfig, TcpConnector};
use oasis_tracing::{Config, OasisLayer};
use std::{hint::black_box, io};
use tracing::{Dispatch, dispatcher::with_default, info, info_span};
use tracing_subscriber::{Layer, fmt, layer::SubscriberExt, registry};

fn event() {
    info!(number = black_box(7), bar = black_box(8.1), "pressure is high");
}

fn span() {
    info_span!("turn", number = black_box(7)).in_scope(|| ());
}

fn layers(criterion: &mut Criterion) {
    let mut builder = NodeBuilder::new("bench", NodeConfig::default());
    // Room for all records between two polls of the collector, so that none is dropped, which would be cheaper.
    let config = Config { ring_bytes: 16 << 20, ..Config::default() };
    let layer = OasisLayer::with_config(&mut builder, &config).unwrap();
    let _node = builder.start(TcpConnector::new("127.0.0.1:1")).unwrap();
    let dispatches = [
        ("registry alone", Dispatch::new(registry().with(Nothing))),
        ("fmt to nowhere", Dispatch::new(registry().with(fmt::layer().with_writer(io::sink)))),
        ("oasis", Dispatch::new(registry().with(layer))),
    ];
    for (what, act) in [("event", event as fn()), ("span", span)] {
        let mut group = criterion.benchmark_group(what);
        for (name, dispatch) in &dispatches {
            group.bench_function(*name, |bencher| with_default(dispatch, || bencher.iter(act)));
        }
        group.finish();
    }
}

struct Nothing;

impl<S: tracing::Subscriber> Layer<S> for Nothing {}

criterion_group!(benches, layers);
criterion_main!(benches);

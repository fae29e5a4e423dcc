//! Any bytes are a request of remote write or refused, and the DAC takes every sample that is made of them.

#![no_main]

use libfuzzer_sys::fuzz_target;
use oasis_dac::{Config, Dac};
use oasis_handler::InletRequest;
use oasis_prometheus::{PrometheusConfig, RemoteWriteSource};

fuzz_target!(|input: &[u8]| {
    // The first byte chooses the version, and whether the rest is compressed here.
    let Some((choice, rest)) = input.split_first() else { return };
    let second = "application/x-protobuf;proto=io.prometheus.write.v2.Request";
    let content_type = if choice & 1 == 0 { "application/x-protobuf" } else { second };
    let compressed = snap::raw::Encoder::new().compress_vec(rest).expect("short enough");
    let body = if choice & 2 == 0 { &compressed } else { rest };
    let config = PrometheusConfig { max_nodes: 3, max_series: 20, ..PrometheusConfig::default() };
    let source = RemoteWriteSource::new(config);
    source.open(Dac::new(Config::default()), None);
    let header = |name: &str| match name {
        "content-type" => Some(content_type),
        "content-encoding" => Some("snappy"),
        _ => None,
    };
    let path = "/api/v1/write";
    let request =
        InletRequest { method: "POST", path, query: "", header: &header, body, may_write: &|_, _| true };
    let answer = source.receive(&request).expect("the path of remote write");
    assert!([204, 400, 413].contains(&answer.status), "{}: {:?}", answer.status, source.state());
    assert_eq!(source.state()["lost_samples"], 0);
});

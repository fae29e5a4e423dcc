//! Any bytes are a request of OTLP or refused, and the DAC takes every sample that is made of them.

#![no_main]

use libfuzzer_sys::fuzz_target;
use oasis_dac::{Config, Dac};
use oasis_handler::InletRequest;
use oasis_otlp::{OtlpConfig, OtlpSource};

fuzz_target!(|input: &[u8]| {
    // The first byte chooses path and form.
    let Some((choice, body)) = input.split_first() else { return };
    let path = ["/v1/metrics", "/v1/logs", "/v1/traces"][usize::from(choice % 3)];
    let content_type = if choice & 0x80 == 0 { "application/x-protobuf" } else { "application/json" };
    let source = OtlpSource::new(OtlpConfig { max_nodes: 3, max_series: 20, ..OtlpConfig::default() });
    source.open(Dac::new(Config::default()), None);
    let header = |name: &str| (name == "content-type").then_some(content_type);
    let request = InletRequest { method: "POST", path, query: "", header: &header, body, may_write: &|_, _| true };
    let answer = source.receive(&request).expect("a path of OTLP");
    assert!([200, 400].contains(&answer.status), "{}: {:?}", answer.status, source.state());
    assert_eq!(source.state()["lost_items"], 0);
});

//! The cost of instrumentation, and its budget: a real DAC, and a node in this process.

use crate::harness::{Oasis, eventually, get, instance};
use oasis_probe::{Hertz, Importance, Node, NodeBuilder, NodeConfig, ProbeState, TcpConnector, now_ns};
use oasis_wire::schema::ProbeType;
use serde_json::{Value, json};

/// A node with a probe `dear` that takes 200 us of processor time a sample, and one `vital` that takes none but matters more.
fn node(dac: &Oasis, overhead_budget: Option<f64>) -> Node {
    let beat: ProbeType = serde_json::from_value(json!({
        "name": "Plant::Beat", "uuid": "6f2c7d0a-2b1e-4c55-9a1e-5f0c3b7d9e22", "version": "1.0", "metrics": []
    }))
    .unwrap();
    let mut builder = NodeBuilder::new("plant", NodeConfig { overhead_budget, ..NodeConfig::default() });
    let dear = |_: &mut oasis_probe::RowWriter<'_>| {
        let began = now_ns();
        while now_ns() - began < 200_000 {}
        Ok(ProbeState::NORMAL)
    };
    let hertz = |hertz| Hertz::new(hertz).unwrap();
    builder.periodic_rows("dear", beat.clone(), hertz(1000.0), None, dear).unwrap();
    builder.periodic_rows("vital", beat, hertz(2.0), None, |_| Ok(ProbeState::NORMAL)).unwrap();
    builder.importance("vital", Importance(9)).unwrap();
    builder.start(TcpConnector::new(dac.channel())).unwrap()
}

fn overhead(dac: &Oasis) -> Option<Value> {
    let nodes = get(dac, "/api/v1/nodes");
    Some(nodes["nodes"][0]["overhead"].clone()).filter(|overhead| !overhead.is_null())
}

#[test]
fn a_node_reports_its_cost_and_keeps_its_rates_without_a_budget() {
    let dac = Oasis::dac(&[]);
    let _node = node(&dac, None);
    let overhead =
        eventually("a cost", || overhead(&dac).filter(|overhead| overhead["callbacks"].as_f64() > Some(0.0)));
    assert!(overhead["cpu"].as_f64() > Some(0.0), "{overhead}");
    assert_eq!((&overhead["budget"], &overhead["lowered"]), (&Value::Null, &json!({})));
}

#[test]
fn a_budget_lowers_the_rate_of_the_least_important_probe() {
    let dac = Oasis::dac(&[]);
    let _node = node(&dac, Some(0.05));
    let lowered = eventually("a lowered rate", || {
        let lowered = overhead(&dac)?["lowered"].clone();
        (lowered["dear"].as_f64()? < 1000.0).then_some(lowered)
    });
    assert!(lowered.get("vital").is_none(), "{lowered}");
    // Commanded rates stay unchanged.
    assert_eq!(instance(&dac, "plant", "dear").unwrap()["hertz"], 1000.0);
}

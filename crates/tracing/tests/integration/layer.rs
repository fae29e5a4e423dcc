//! Programs that use OASIS only through its layer.

use crate::dac::{ReceivedSamples, WatchedNode};
use oasis_probe::{NodeBuilder, NodeConfig};
use oasis_tracing::{Config, OasisLayer};
use serde_json::{Map, Value, json};
use std::thread;
use tracing::{Level, debug, error, info, info_span, instrument, warn};
use tracing_subscriber::{Layer, filter::LevelFilter, layer::SubscriberExt, registry};

/// Runs a program under the layer, and returns the samples.
fn watch(config: &Config, level: LevelFilter, program: impl FnOnce()) -> ReceivedSamples {
    let mut builder = NodeBuilder::new("test", NodeConfig::default());
    let layer = OasisLayer::with_config(&mut builder, config).unwrap();
    let watched = WatchedNode::start(builder);
    tracing::subscriber::with_default(registry().with(layer.with_filter(level)), program);
    watched.finish()
}

fn watch_all(program: impl FnOnce()) -> ReceivedSamples {
    watch(&Config::default(), LevelFilter::TRACE, program)
}

fn logged(kept: &ReceivedSamples) -> &[Map<String, Value>] {
    kept.samples.get("log").map_or(&[], Vec::as_slice)
}

fn messages(kept: &ReceivedSamples) -> Vec<&str> {
    logged(kept).iter().map(|sample| sample["message"].as_str().unwrap()).collect()
}

#[test]
fn an_event_is_a_record_with_all_its_fields() {
    let (kept, line) = (
        watch_all(|| {
            info_span!("turn").in_scope(|| {
                info_span!("pump", number = 4).in_scope(|| {
                    warn!(target: "plant::pump", bar = 8.1, what = "valve", list = ?[1, 2], "pressure is {}", "high");
                });
            });
        }),
        line!() - 4,
    );
    let [sample] = logged(&kept) else { panic!("{kept:?}") };
    let expected = json!({
        "level": 13, "target": "plant::pump", "message": "pressure is high", "file": file!(), "line": line,
        "thread": thread::current().name().unwrap(), "span": "turn:pump",
        "fields": [{"name": "bar", "value": "8.1"}, {"name": "what", "value": "valve"}, {"name": "list", "value": "[1, 2]"}],
        "cut": 0,
    });
    assert_eq!(Value::from(sample.clone()), expected);
}

#[test]
fn only_events_of_enabled_levels_are_records() {
    let kept = watch(&Config::default(), LevelFilter::INFO, || {
        debug!("small");
        info!("large");
    });
    assert_eq!(messages(&kept), ["large"]);
}

#[test]
fn records_of_oasis_are_left_out_but_not_those_of_similar_names() {
    let kept = watch_all(|| {
        for target in ["a", "b"] {
            let _ = target;
            error!(target: "oasis_probe::instance", "probe failed to take a sample");
            error!(target: "oasis_channel", "silence");
            let _span = tracing::span!(target: "oasis_wire", Level::INFO, "inner").entered();
            info!(target: "oasis_probe_of_mine", "here");
        }
    });
    assert_eq!(messages(&kept), ["here", "here"]);
    assert!(!kept.samples.contains_key("spans"));
}

#[test]
fn long_texts_are_cut_and_the_rest_is_counted() {
    let long = "x".repeat(1_000_000);
    let kept = watch_all(|| info!(long, "{long}"));
    let [sample] = logged(&kept) else { panic!("{kept:?}") };
    let length = |text: &Value| text.as_str().unwrap().len();
    assert_eq!((length(&sample["message"]), length(&sample["fields"][0]["value"])), (2_048, 256));
    assert_eq!(sample["cut"], 2 * long.len() - 2_045 - 253);
}

#[instrument(fields(answer = tracing::field::Empty))]
fn step(number: u32) {
    tracing::Span::current().record("answer", number + 1);
    if number == 2 {
        error!("it does not work");
    }
}

#[test]
fn a_span_that_closes_is_a_sample_and_an_error_in_it_its_outcome() {
    let kept = watch_all(|| {
        let parent = info_span!("turn").entered();
        step(1);
        step(2);
        drop(parent);
    });
    let [first, second, turn] = &kept.samples["spans"][..] else { panic!("{kept:?}") };
    assert_eq!(
        (&first["name"], &first["outcome"], &first["target"]),
        (&json!("step"), &json!(0), &json!(module_path!()))
    );
    assert_eq!(first["fields"], json!([{"name": "number", "value": "1"}, {"name": "answer", "value": "2"}]));
    assert_eq!((&second["outcome"], &turn["outcome"]), (&json!(1), &json!(0)));
    assert_eq!((&first["parent"], &turn["parent"]), (&turn["id"], &json!(0)));
    for span in [first, second, turn] {
        let (busy, duration) = (span["busy"].as_u64().unwrap(), span["duration"].as_u64().unwrap());
        assert!(0 < busy && busy <= duration, "{span:?}");
    }
}

#[test]
fn a_span_that_is_entered_again_adds_up_its_busy_time() {
    let kept = watch_all(|| {
        let span = info_span!("task");
        span.in_scope(|| ());
        let idle = info_span!("idle");
        span.in_scope(|| span.in_scope(|| ()));
        drop((span, idle));
    });
    let of = |name: &str| kept.samples["spans"].iter().find(|span| span["name"] == name).unwrap();
    assert_eq!(of("idle")["busy"], 0);
    assert!(of("task")["busy"].as_u64() > Some(0));
}

#[test]
fn records_of_many_threads_arrive_or_are_counted() {
    const EACH: usize = 500;
    let config = Config { ring_bytes: 4_096, ..Config::default() };
    let mut builder = NodeBuilder::new("test", NodeConfig::default());
    let layer = OasisLayer::with_config(&mut builder, &config).unwrap();
    let dispatch = tracing::Dispatch::new(registry().with(layer));
    let log = |thread: usize| {
        tracing::dispatcher::with_default(&dispatch, || {
            (0..EACH).for_each(|number| info!(thread, number, "{}", "x".repeat(100)));
        });
    };
    // Before the node starts: the ring certainly overflows.
    thread::scope(|scope| {
        for thread in 0..4 {
            scope.spawn(move || log(thread));
        }
    });
    let watched = WatchedNode::start(builder);
    // A batch is sent after the ring was emptied, so there is room for the next sample, which reports the gap.
    watched.wait_for_a_batch();
    tracing::dispatcher::with_default(&dispatch, || info!("last"));
    let kept = watched.finish();
    assert_eq!(messages(&kept).last(), Some(&"last"));
    assert!(kept.lost > 0);
    assert_eq!(logged(&kept).len() as u64 + kept.lost, 4 * EACH as u64 + 1);
}

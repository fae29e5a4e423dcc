//! Samples on DDS topics, received by programs in C with types that `idlc` of CycloneDDS makes from our IDL (`make cyclonedds` installs it).

mod channel;
mod cyclone;

use crate::harness::{
    Oasis, PlainNode, eventually, eventually_shown, get, ledger,
    plain_node::{identity, pushed},
    repository,
};
use cyclone::{Subscriber, free_domain, of_the_guide};
use oasis_wire::{
    batch::Batch,
    cdr::{ByteOrder, Writer},
    eisa::Packet,
    quantity::TopicId,
    schema::ProbeType,
};
use serde_json::Value;
use std::{collections::BTreeMap, fs, path::Path, time::Duration};

const NODE: &str = "plant";
/// Time after which a sample that a reader has not taken is followed by another.
const FIRST_SAMPLE_INTERVAL: Duration = Duration::from_millis(200);

/// The state of the handler.
fn state(dac: &Oasis) -> Value {
    let handlers = get(dac, "/api/v1/handlers");
    let found = handlers["handlers"].as_array().unwrap().iter().find(|handler| handler["name"] == "dds");
    found.unwrap_or_else(|| panic!("no handler in {handlers}"))["state"].clone()
}

/// Waits until this many topics have a subscriber.
fn until_subscribed(dac: &Oasis, topics: usize) {
    eventually_shown("subscribers", || {
        let state = state(dac);
        let subscribed = state["topics"].as_object().unwrap().values().filter(|count| **count == 1).count();
        if subscribed == topics { Ok(()) } else { Err(state) }
    });
}

fn dac(domain: u16) -> Oasis {
    Oasis::dac(&["--dds", &domain.to_string()])
}

fn bytes(hex: &Value) -> Vec<u8> {
    let digits = hex.as_str().unwrap().as_bytes().chunks(2);
    digits.map(|two| u8::from_str_radix(std::str::from_utf8(two).unwrap(), 16).unwrap()).collect()
}

/// A case of `vectors/shapes.json`.
struct Shape {
    /// Also the name of its instance.
    name: String,
    probe_type: ProbeType,
    batch: Vec<u8>,
    /// The sample that subscribers must get, as CDR.
    expected: Vec<u8>,
}

fn shapes() -> Vec<Shape> {
    let vectors = fs::read_to_string(repository().join("vectors/shapes.json")).unwrap();
    let vectors: Value = serde_json::from_str(&vectors).unwrap();
    let pdl = repository().join("vectors/shapes.pdl");
    let model = oasis_pdl::compile(&[pdl], &[], &oasis_pdl::Disk).model;
    let schema = |name: &Value| {
        let probe = model.probes.iter().find(|probe| *name == *probe.name).unwrap();
        oasis_pdl_gen::json_schema::schema(&model, probe).unwrap()
    };
    let cases = vectors["cases"].as_array().unwrap().iter();
    cases.map(|case| shape(case, schema(&case["probe"]))).collect()
}

fn shape(case: &Value, probe_type: ProbeType) -> Shape {
    let name = case["name"].as_str().unwrap().to_owned();
    let batch = bytes(&case["batch"]);
    let sample = Batch::parse(&batch, &probe_type).unwrap().get(0).unwrap();
    let mut expected = Vec::new();
    let mut writer = Writer::new(&mut expected, ByteOrder::Little);
    writer.string(NODE);
    writer.string(&name);
    writer.number(sample.sequence.to_le_bytes());
    writer.number(sample.time.to_le_bytes());
    // In both, metrics begin at a multiple of 8.
    writer.octets(Packet::decode(&bytes(&case["little"]), ByteOrder::Little).unwrap().data);
    Shape { name, probe_type, batch, expected }
}

#[test]
fn each_shape_of_the_pdl_arrives_in_c_as_it_was_sent() {
    let folder = tempfile::tempdir().unwrap();
    let (domain, shapes) = (free_domain(), shapes());
    let dac = dac(domain);
    let types: BTreeMap<_, _> = shapes.iter().map(|shape| (&shape.probe_type.name, shape)).collect();
    let of_shapes = shapes.iter().map(|shape| pushed(shape.name.clone(), &shape.probe_type));
    // Another instance of each type.
    let of_types = types.iter().map(|(name, shape)| pushed(format!("first {name}"), &shape.probe_type));
    let instances = of_shapes.chain(of_types).collect();
    let all_types = types.values().map(|shape| shape.probe_type.clone()).collect();
    let mut node = PlainNode::connect_types(dac.channel(), identity(NODE, 1), None, all_types, instances);
    let source = Path::new("tests/end_to_end/dds/echo.c");
    let echo = Subscriber::start(folder.path(), "vectors/shapes.pdl", source, &[&domain.to_string()]);
    until_subscribed(&dac, types.len());
    let topics = node.topics.clone();
    let mut send = |topic: TopicId, batch: &[u8], sequence: Option<u64>| {
        let mut batch = batch.to_owned();
        batch[4..8].copy_from_slice(&topic.0.to_le_bytes());
        if let Some(sequence) = sequence {
            batch[8..16].copy_from_slice(&sequence.to_le_bytes());
        }
        node.sender.send(&[], &[&batch]).unwrap();
    };
    let (topics, first_topics) = topics.split_at(shapes.len());
    // A reader takes what was written after it has heard of the writer's newest sample, which the DAC cannot know.
    let mut firsts: BTreeMap<_, _> = types
        .iter()
        .zip(first_topics)
        .map(|((name, shape), topic)| (format!("first {name}"), (*shape, *topic)))
        .collect();
    let mut sequence = 0;
    eventually("all readers take samples", || {
        sequence += 1;
        firsts.values().for_each(|(shape, topic)| send(*topic, &shape.batch, Some(sequence)));
        while let Some(line) = echo.line_within(FIRST_SAMPLE_INTERVAL) {
            firsts.remove(line.split('\t').nth(2).unwrap());
        }
        firsts.is_empty().then_some(())
    });
    for (shape, topic) in shapes.iter().zip(topics) {
        send(*topic, &shape.batch, None);
    }
    let mut received = BTreeMap::new();
    while received.len() < shapes.len() {
        let line = echo.line();
        let [topic, node, instance, cdr]: [&str; 4] =
            line.split('\t').collect::<Vec<_>>().try_into().unwrap();
        assert_eq!(node, NODE);
        if instance.starts_with("first ") {
            continue;
        }
        received.insert(instance.to_owned(), (topic.to_owned(), bytes(&cdr.into())));
    }
    for shape in &shapes {
        let (topic, cdr) = &received[&shape.name];
        assert_eq!(*topic, shape.probe_type.name.replace("::", "/"));
        // Four bytes name the encoding; the length is a multiple of four.
        let (encoding, cdr) = cdr.split_at(4);
        assert_eq!(encoding[..2], [0, 1], "{}: CDR, little-endian", shape.name);
        let mut expected = shape.expected.clone();
        expected.resize(expected.len().next_multiple_of(4), 0);
        assert_eq!(cdr, expected, "{}", shape.name);
    }
    assert_eq!(state(&dac)["lost"], serde_json::json!({}));
}

/// The sequence number that the program of the guide prints.
fn sequence(line: &str) -> u64 {
    line.split_whitespace().nth(1).and_then(|number| number.parse().ok()).unwrap_or_else(|| panic!("{line}"))
}

#[test]
fn the_program_of_the_guide_receives_each_sample_once_and_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let domain = free_domain();
    let dac = dac(domain);
    // DDS keeps the newest 256 samples of an instance for a reader that is late: at this rate, those of 2.5 seconds.
    let node = Oasis::node(dac.channel(), &["--probe", "processor@100"]);
    let source = of_the_guide(folder.path());
    let watch = Subscriber::start(folder.path(), "pdl/processor.pdl", &source, &[&domain.to_string()]);
    let first = sequence(&watch.line());
    for expected in first + 1..first + 1_000 {
        let line = watch.line();
        assert!(line.starts_with("plant/processor "), "{line}");
        assert_eq!(sequence(&line), expected);
    }
    let before = state(&dac)["published"].as_u64().unwrap();
    assert!(before >= 1_000 - 1, "{before}");
    assert!(node.stop().success());
    let ledger = ledger(&dac, NODE, "processor", "the end", |ledger| {
        ledger["received"].as_u64() >= Some(first + 1_000 - 1)
    });
    assert_eq!(ledger["missing"], 0);
    assert_eq!(state(&dac)["lost"], serde_json::json!({}));
    assert!(dac.stop().success());
}

#[test]
fn a_subscriber_that_hangs_goes_on_and_gets_nothing_twice() {
    let folder = tempfile::tempdir().unwrap();
    let domain = free_domain();
    let dac = dac(domain);
    let _node = Oasis::node(dac.channel(), &["--probe", "processor@500"]);
    let source = of_the_guide(folder.path());
    let watch = Subscriber::start(folder.path(), "pdl/processor.pdl", &source, &[&domain.to_string()]);
    let first = sequence(&watch.line());
    watch.pause();
    let received = |dac: &Oasis, name: &str| {
        ledger(dac, NODE, name, "samples", |ledger| !ledger["received"].is_null())["received"]
            .as_u64()
            .unwrap()
    };
    let goal = received(&dac, "processor") + 2_000;
    ledger(&dac, NODE, "processor", "live samples", |ledger| ledger["received"].as_u64() > Some(goal));
    watch.resume();
    // Samples that DDS kept for it come in order; those that it did not keep are missing, and none comes twice.
    let mut last = first;
    while last < goal {
        let next = sequence(&watch.line());
        assert!(next > last, "{next} after {last}");
        last = next;
    }
}

#[test]
fn another_type_of_the_same_name_is_not_published_and_counted() {
    let dac = dac(free_domain());
    let shapes = shapes();
    let numbers = &shapes[0].probe_type;
    let mut other = numbers.clone();
    other.uuid = uuid::Uuid::from_u128(7);
    other.metrics.clear();
    let types = vec![numbers.clone(), other.clone()];
    let instances = vec![pushed("first", numbers), pushed("second", &other)];
    let mut node = PlainNode::connect_types(dac.channel(), identity(NODE, 1), None, types, instances);
    eventually_shown("a topic", || {
        let state = state(&dac);
        if state["topics"]["Shapes/Numbers"] == 0 { Ok(()) } else { Err(state) }
    });
    let nothing = shapes.iter().find(|shape| shape.name == "nothing").unwrap();
    let mut batch = nothing.batch.clone();
    batch[4..8].copy_from_slice(&node.topics[1].0.to_le_bytes());
    node.sender.send(&[], &[&batch]).unwrap();
    let state = eventually_shown("a loss", || {
        let state = state(&dac);
        if state["lost"]["other_type"] == 1 { Ok(state) } else { Err(state) }
    });
    let detail = state["loss_detail"].as_str().unwrap();
    assert!(detail.contains("plant/second") && detail.contains("Shapes/Numbers"), "{detail}");
}

use crate::{
    Can, CanConfig,
    decoder::{Decoder, Messages},
};
use oasis_dac::{Config, Dac, Instance};
use oasis_format::can::Database;
use oasis_handler::ConfiguredHandler;
use oasis_source_node::{SourceLimits, SourceNodes};
use oasis_wire::{batch::Batch, loss::Cause, value::Value};
use std::sync::Arc;

const SECOND_NANOS: u64 = 1_000_000_000;
const DATABASE: &[u8] = b"BO_ 291 Engine: 4 ECU\n SG_ Speed : 0|16@1+ (0.25,0) [0|16383.75] \"rpm\" ECU\n\
    SG_ Gear : 16|4@1+ (1,0) [0|15] \"\" ECU\nBO_ 292 Pages: 3 ECU\n SG_ Page M : 0|8@1+ (1,0) [0|1] \"\" ECU\n\
    SG_ First m0 : 8|8@1- (1,0) [0|0] \"V\" ECU\n SG_ Second m1 : 8|8@1+ (1,0) [0|0] \"A\" ECU\n\
    VAL_ 291 Gear 0 \"Neutral\" 1 \"First\" ;\n";

fn classic(id: u32, data: &[u8]) -> Vec<u8> {
    let mut bytes = id.to_ne_bytes().to_vec();
    bytes.extend([data.len() as u8, 0, 0, 0]);
    bytes.extend(data);
    bytes.resize(16, 0);
    bytes
}

fn decoder(keeps_frames: bool) -> Decoder {
    let mut messages = Messages::default();
    messages.add(Database::parse(DATABASE).unwrap());
    Decoder::new("can-a".into(), Arc::new(messages), keeps_frames, (1_000, 0))
}

fn nodes(dac: &Arc<Dac>) -> SourceNodes {
    SourceNodes::new(dac.clone(), "a test", SourceLimits::default())
}

fn instance(dac: &Dac, name: &str) -> Arc<Instance> {
    dac.registry.instances().into_iter().find(|one| &*one.name == name).expect("the instance")
}

fn newest(dac: &Dac, name: &str) -> Vec<Value> {
    let instance = instance(dac, name);
    let newest = instance.log.newest(&instance.probe_type).unwrap();
    let batch = Batch::parse(newest.batch(), &instance.probe_type).unwrap();
    batch.samples().next_back().unwrap().values
}

#[test]
fn a_database_that_cannot_be_read_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bad.dbc");
    let config =
        || CanConfig { interfaces: vec!["can0".into()], dbc: vec![path.clone()], ..CanConfig::default() };
    let refused = || Can::configured(config()).unwrap_err().to_string();
    assert!(refused().contains("bad.dbc: "), "{}", refused());
    std::fs::write(&path, "BO_ x").unwrap();
    assert!(refused().contains("bad.dbc: line 1") && refused().contains("cantools dump"), "{}", refused());
    std::fs::write(&path, DATABASE).unwrap();
    assert!(Can::configured(config()).unwrap().is_some());
}

#[test]
fn signals_are_samples_of_their_message_and_other_frames_are_counted() {
    let dac = Dac::new(Config::default());
    let (mut decoder, mut nodes) = (decoder(true), nodes(&dac));
    for frame in
        [classic(291, &[0x10, 0x27, 1, 0]), classic(292, &[1, 200, 0]), classic(7, &[]), classic(291, &[1])]
    {
        decoder.receive(&frame, 0, SECOND_NANOS, &mut nodes);
    }
    decoder.receive(&classic(0x2000_0004, &[0; 8]), 0, SECOND_NANOS, &mut nodes);
    decoder.receive(b"no frame", 0, SECOND_NANOS, &mut nodes);
    nodes.flush();
    assert_eq!(newest(&dac, "Engine"), [Value::Real64(2_500.0), Value::Int(1)]);
    let engine = instance(&dac, "Engine");
    assert_eq!(engine.probe_type.metrics[1].enumeration.as_ref().unwrap().values[1].name, "First");
    assert_eq!(newest(&dac, "Pages")[2], Value::Int(200));
    assert_eq!(instance(&dac, "frames").ledger().received, 5);
    let counters = &decoder.counters;
    assert_eq!((counters.frames, counters.error_frames, counters.undescribed_frames), (4, 1, 1));
    assert_eq!((counters.short_frames, counters.bad_datagrams, counters.refused_samples), (1, 1, 0));
}

#[test]
fn frames_that_the_kernel_drops_are_a_gap_with_a_cause() {
    let dac = Dac::new(Config::default());
    let (mut decoder, mut nodes) = (decoder(true), nodes(&dac));
    for dropped in [0, 0, 5, 0] {
        decoder.receive(&classic(7, &[]), dropped, SECOND_NANOS, &mut nodes);
    }
    nodes.flush();
    let frames = instance(&dac, "frames");
    let gaps: Vec<_> =
        frames.ledger().gaps.iter().map(|gap| (gap.from_sequence, gap.to_sequence, gap.cause)).collect();
    assert_eq!(gaps, [(3, 7, Cause::RingFull)]);
}

#[test]
fn the_load_follows_from_the_bit_rate() {
    let dac = Dac::new(Config::default());
    let (mut decoder, mut nodes) = (decoder(false), nodes(&dac));
    decoder.poll(SECOND_NANOS, &mut nodes);
    // 63 bits of a bus with 1,000 bit/s.
    (0..4).for_each(|_| decoder.receive(&classic(7, &[1, 2]), 0, SECOND_NANOS, &mut nodes));
    decoder.poll(2 * SECOND_NANOS - 1, &mut nodes);
    decoder.poll(2 * SECOND_NANOS, &mut nodes);
    nodes.flush();
    let values = newest(&dac, "bus");
    assert_eq!((&values[0], &values[1]), (&Value::Uint(4), &Value::Uint(252)));
    let Value::Real64(load) = values[4] else { panic!("{values:?}") };
    assert!((load - 25.2).abs() < 1e-9, "{load}");
    assert_eq!(instance(&dac, "bus").ledger().received, 2);
}

//! Derived streams compared with plain lists, and their lifetime.

use super::{writer::DerivedBatch, *};
use crate::{Config, Cursor, Dac, Link, Options, Overflow, StartAt, now, signal::Signal};
use oasis_channel::{InstanceState, NodeIdentity, RegisteredInstance};
use oasis_tls::Peer;
use oasis_wire::{
    batch::{Batch, Encoder, Fields, Sample, stamp},
    gap::Gap,
    loss::Cause,
    probe_kind::ProbeKind,
    quantity::{Epoch, Hertz, Nanos, Offset, Position},
    schema::ProbeType,
    value::{RowWriter, Value},
};
use proptest::prelude::*;
use tokio::sync::mpsc;
use uuid::Uuid;

const PERIOD: u64 = 100_000_000;
const TEN_HERTZ: &str = "10";

fn ten() -> Hertz {
    TEN_HERTZ.parse().unwrap()
}

fn tank() -> Arc<ProbeType> {
    let json = r#"{"name": "Tank", "uuid": "0b3c9f0e-5d0c-4a7e-9a51-6f1c0e6a2d11", "version": "1.0", "metrics": [
        {"name": "level", "type": "real64"}, {"name": "pumps", "type": "uint8"}, {"name": "open", "type": "boolean"}]}"#;
    Arc::new(serde_json::from_str(json).unwrap())
}

/// A sample of the plain model.
#[derive(Debug, Clone, Copy)]
struct Plain {
    sequence: u64,
    time: u64,
    level: f64,
    pumps: u8,
}

fn encode(samples: &[Plain], dropped_before: u32) -> Vec<u8> {
    let mut encoder = Encoder::new(&tank()).unwrap();
    for sample in samples {
        let mut row = Vec::new();
        let mut writer = RowWriter::new(&mut row);
        writer.f64(sample.level);
        writer.u8(sample.pumps);
        writer.boolean(sample.pumps > 100);
        encoder.push(sample.time, &row).unwrap();
    }
    let mut batch = Vec::new();
    let fields = Fields { first_sequence: samples[0].sequence, dropped_before, ..Fields::default() };
    encoder.finish(fields, &mut batch);
    batch
}

/// One base batch: samples that the node dropped before it, its samples as (step in ms, level, pumps), and whether
/// the stream is silent after it.
type Step = (u32, Vec<(u64, f64, u8)>, bool);

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let level = prop_oneof![4 => -1e3..1e3_f64, 1 => Just(f64::NAN)];
    let samples = proptest::collection::vec((0_u64..250, level, any::<u8>()), 1..12);
    proptest::collection::vec((0_u32..3, samples, any::<bool>()), 1..25)
}

/// The base as a list (offset is the index), cut into batches.
fn plain(steps: &[Step]) -> Vec<(u32, Vec<Plain>, bool)> {
    let (mut time, mut sequence) = (1_763_683_200_000_000_000, 0);
    let mut batches = Vec::new();
    for (dropped, samples, silent) in steps {
        sequence += u64::from(*dropped);
        let mut batch = Vec::new();
        for &(step, level, pumps) in samples {
            time += step * 1_000_000;
            sequence += 1;
            batch.push(Plain { sequence, time, level, pumps });
        }
        batches.push((*dropped, batch, *silent));
    }
    batches
}

fn log(start: u64) -> TopicLog {
    TopicLog::starting_at(Epoch(1), LogBudget::new(usize::MAX, usize::MAX), Offset(start))
}

/// Returns the derived log of these batches.
fn derive(thinned: Thinning, batches: &[(u32, Vec<Plain>, bool)]) -> TopicLog {
    let mut feed = Feed::new(thinned, &tank(), TopicId(9), Offset(0)).unwrap();
    let (base, derived) = (log(0), log(0));
    for (dropped, samples, silent) in batches {
        let count = samples.len() as u16;
        base.append(encode(samples, *dropped), count, |batch, offset| stamp(batch, offset.0, 7));
        let base = base.latest().unwrap();
        let header = Batch::parse(base.batch(), &tank()).unwrap().header().first_sequence;
        // The node drops them for two causes in turn.
        let gap = |number: u64| Gap {
            from_sequence: number,
            to_sequence: number,
            count: 1,
            cause: if number.is_multiple_of(2) { Cause::RingFull } else { Cause::KeptBack },
            run: Uuid::nil(),
        };
        let gaps: Vec<Gap> = (header - u64::from(*dropped)..header).map(gap).collect();
        let mut made = feed.batch(&Batch::parse(base.batch(), &tank()).unwrap(), &gaps);
        if *silent {
            made.extend(feed.flush());
        }
        for DerivedBatch { batch, count, gaps_before, span, dac_time } in made {
            let appended = (batch, (!gaps_before.is_empty()).then(|| gaps_before.into()));
            derived.append_covering(appended, count, span, |batch, offset| stamp(batch, offset.0, dac_time));
        }
    }
    derived
}

fn samples(log: &TopicLog, probe_type: &ProbeType) -> Vec<Sample> {
    let segments = log.read(Offset(0), usize::MAX).segments;
    segments
        .iter()
        .flat_map(|segment| Batch::parse(segment.batch(), probe_type).unwrap().samples().collect::<Vec<_>>())
        .collect()
}

/// Groups the offsets of each period, in order; a silence ends a group.
fn groups(batches: &[(u32, Vec<Plain>, bool)]) -> Vec<Vec<(u64, Plain)>> {
    let mut groups: Vec<Vec<(u64, Plain)>> = Vec::new();
    let (mut offset, mut silent) = (0, true);
    for (_, samples, falls_silent) in batches {
        for &sample in samples {
            match groups.last_mut() {
                Some(group) if !silent && group[0].1.time / PERIOD == sample.time / PERIOD => {
                    group.push((offset, sample))
                }
                _ => groups.push(vec![(offset, sample)]),
            }
            (offset, silent) = (offset + 1, false);
        }
        silent = *falls_silent;
    }
    groups
}

/// Asserts that every base sample up to the last kept one is either present or counted, as is every sample that the
/// node dropped.
fn assert_accounted(log: &TopicLog, probe_type: &ProbeType) -> Result<(), TestCaseError> {
    let (mut next, mut sequence) = (Offset(0), 0);
    for segment in log.read(Offset(0), usize::MAX).segments {
        prop_assert_eq!(segment.first(), next);
        next = segment.end();
        let batch = Batch::parse(segment.batch(), probe_type).unwrap();
        let header = batch.header();
        prop_assert_eq!(header.offset, segment.first_held().0);
        prop_assert_eq!(header.first_sequence, sequence + 1 + u64::from(header.dropped_before));
        // Samples that were not thinned out have their causes.
        let gaps = segment.gaps_before().map_or(&[][..], |gaps| gaps);
        let count: u64 = gaps.iter().map(|gap| gap.count).sum();
        prop_assert_eq!(count + segment.thinned(), u64::from(header.dropped_before));
        prop_assert!(
            gaps.iter().all(|gap| gap.from_sequence > sequence && gap.to_sequence < header.first_sequence)
        );
        sequence = header.first_sequence + u64::from(header.count) - 1;
    }
    prop_assert_eq!(next, log.next());
    Ok(())
}

fn same(a: f64, b: &Value) -> bool {
    matches!(b, Value::Real64(b) if a == *b || a.is_nan() && b.is_nan())
}

proptest! {
    #[test]
    fn an_envelope_has_least_greatest_and_last_of_each_period(steps in steps()) {
        let batches = plain(&steps);
        let thinned = Thinning::Envelope(ten());
        let probe_type = thinned.probe_type(&tank());
        let derived = derive(thinned, &batches);
        assert_accounted(&derived, &probe_type)?;
        let got = samples(&derived, &probe_type);
        let mut groups = groups(&batches);
        if !batches.last().unwrap().2 {
            // The last period has not ended.
            groups.pop();
        }
        prop_assert_eq!(got.len(), groups.len());
        for (sample, group) in got.iter().zip(&groups) {
            let (offset, last) = *group.last().unwrap();
            prop_assert_eq!((sample.offset, sample.sequence, sample.time), (offset, last.sequence, last.time));
            let levels = || group.iter().map(|(_, sample)| sample.level);
            prop_assert!(same(levels().fold(f64::NAN, f64::min), &sample.values[0]), "{:?}", sample);
            prop_assert!(same(levels().fold(f64::NAN, f64::max), &sample.values[1]));
            prop_assert!(same(last.level, &sample.values[2]));
            let pumps = || group.iter().map(|(_, sample)| u64::from(sample.pumps));
            prop_assert_eq!(&sample.values[3], &Value::Uint(pumps().min().unwrap()));
            prop_assert_eq!(&sample.values[4], &Value::Uint(pumps().max().unwrap()));
            prop_assert_eq!(&sample.values[5], &Value::Uint(last.pumps.into()));
            prop_assert_eq!(&sample.values[6], &Value::Boolean(last.pumps > 100));
        }
    }

    #[test]
    fn max_hz_keeps_the_first_of_each_period_and_the_last_before_a_silence(steps in steps()) {
        let batches = plain(&steps);
        let derived = derive(Thinning::MaxHz(ten()), &batches);
        assert_accounted(&derived, &tank())?;
        let (mut expected, mut offset, mut served) = (Vec::new(), 0, None);
        for (_, samples, silent) in &batches {
            for sample in samples {
                if served != Some(sample.time / PERIOD) {
                    served = Some(sample.time / PERIOD);
                    expected.push(offset);
                }
                offset += 1;
            }
            if *silent && expected.last() != Some(&(offset - 1)) {
                expected.push(offset - 1);
            }
        }
        let got: Vec<u64> = samples(&derived, &tank()).iter().map(|sample| sample.offset).collect();
        prop_assert_eq!(got, expected);
    }

    /// Each reader counts the samples that it received, that were thinned out and that were reported missing. Together these are all samples, wherever it
    /// resumes.
    #[test]
    fn a_reader_that_resumes_anywhere_accounts_for_every_sample(
        steps in steps(),
        places in proptest::collection::vec((any::<prop::sample::Index>(), 1_usize..4, 0..4), 1..10),
        room in 1_usize..6,
    ) {
        let batches = plain(&steps);
        let all: u64 = batches.iter().map(|(_, samples, _)| samples.len() as u64).sum();
        let dac = Dac::new(Config { log: crate::config::LogConfig { topic_bytes: room * 512, ..Default::default() }, ..Config::default() });
        let instance = instance(&dac, "tank");
        for (dropped, samples, _) in &batches {
            instance.log.append(encode(samples, *dropped), samples.len() as u16, |batch, offset| stamp(batch, offset.0, 7));
        }
        for (place, max, policy) in places {
            let options = match policy {
                0 => Options::default(),
                1 => Options { delivery: Delivery::Latest, ..Options::default() },
                2 => Options { overflow: Overflow::Latest, ..Options::default() },
                _ => Options { overflow: Overflow::Close, ..Options::default() },
            };
            let offset = Offset(place.index(all as usize + 1) as u64);
            let (mut at, changed) = instance.start(StartAt::Position(Position { epoch: dac.epoch(), offset }), options.delivery);
            prop_assert_eq!((at, changed), (offset, false));
            loop {
                let turn = instance.turn(at, options, max);
                if let Some(skipped) = turn.skipped {
                    prop_assert_eq!(skipped.from, at);
                    at = skipped.to;
                }
                prop_assert_eq!(turn.wanted, at);
                for segment in &turn.segments {
                    prop_assert!(segment.first() <= at && at < segment.end());
                    at = segment.end();
                }
                prop_assert_eq!(turn.next, at);
                if turn.is_over || turn.segments.is_empty() {
                    prop_assert!(turn.is_over || at.0 == all);
                    break;
                }
            }
        }
    }
}

fn instance(dac: &Dac, name: &str) -> Arc<Instance> {
    let node = NodeIdentity {
        name: "plant".into(),
        uuid: Uuid::nil(),
        run: Uuid::from_u128(1),
        host: "h".into(),
        software: "test".into(),
        pid: 1,
    };
    let announced = RegisteredInstance {
        demand: None,
        declared: None,
        name: name.into(),
        probe_type: tank().uuid,
        kind: ProbeKind::Pushed,
        state: InstanceState { hertz: None, enabled: true, recorder: None },
    };
    let (session, outbound) = (dac.next_session(), mpsc::channel(1).0);
    let peer = Arc::new(Peer::Anonymous);
    let link = Link { session, attach: None, address: None, peer, outbound, accepts_commands: false };
    dac.registry.connect(node.clone(), None, link, now().into()).unwrap();
    dac.registry.register((&node, session), announced, &tank(), now()).unwrap()
}

fn append(instance: &Instance, times_ms: &[u64]) {
    let first = instance.log.next().0 + 1;
    let sample = |(index, &ms): (usize, &u64)| Plain {
        sequence: first + index as u64,
        time: ms * 1_000_000,
        level: ms as f64,
        pumps: 0,
    };
    let samples: Vec<Plain> = times_ms.iter().enumerate().map(sample).collect();
    instance.log.append(encode(&samples, 0), samples.len() as u16, |batch, offset| {
        stamp(batch, offset.0, Nanos(7).0)
    });
}

/// Reads until the sample at `last` has come. Returns the offset of each sample, and how many others are accounted for.
async fn read_to(cursor: &mut Cursor, signal: &Signal, last: u64) -> (Vec<u64>, u64) {
    let (mut offsets, mut thinned) = (Vec::new(), 0);
    loop {
        let turn = cursor.turn(16);
        for segment in turn.segments {
            offsets.extend(segment.first_held().0..segment.end().0);
            thinned += segment.thinned();
        }
        if offsets.last() == Some(&last) {
            return (offsets, thinned);
        }
        if !cursor.has_unread() {
            signal.raised().await;
        }
    }
}

#[tokio::test]
async fn two_readers_share_a_stream_that_ends_some_time_after_both_left() {
    let log = crate::config::LogConfig { derived_linger_ms: 0, ..Default::default() };
    let dac = Dac::new(Config { log, ..Config::default() });
    let base = instance(&dac, "tank");
    append(&base, &[0, 10, 20, 110]);
    let options = Options { delivery: Delivery::MaxHz(ten()), ..Options::default() };
    let signal = Arc::<Signal>::default();
    let (mut one, _) = Cursor::open(&dac, &base, StartAt::Earliest, options, &signal).unwrap();
    let (two, _) = Cursor::open(&dac, &base, StartAt::Earliest, options, &Arc::default()).unwrap();
    assert!(Arc::ptr_eq(one.instance(), two.instance()));
    assert_ne!(one.instance().topic, base.topic);
    assert_eq!(read_to(&mut one, &signal, 3).await, (vec![0, 3], 2));
    // Resumes at the base's offsets, whatever has happened to the stream meanwhile.
    let position = StartAt::Position(Position { epoch: dac.epoch(), offset: one.next() });
    assert_eq!(dac.derived.list().len(), 1);
    drop((one, two));
    while !dac.derived.table().bases.is_empty() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(dac.derived.list().len(), 0);
    append(&base, &[120, 130, 250]);
    let (mut again, changed) = Cursor::open(&dac, &base, position, options, &signal).unwrap();
    assert!(!changed);
    assert_eq!(read_to(&mut again, &signal, 6).await, (vec![6], 2));
}

#[tokio::test]
async fn a_silent_stream_shows_its_last_sample() {
    let dac = Dac::new(Config::default());
    let base = instance(&dac, "tank");
    let signal = Arc::<Signal>::default();
    for delivery in [Delivery::MaxHz(ten()), Delivery::Envelope(ten())] {
        let start = base.log.next().0;
        let options = Options { delivery, ..Options::default() };
        let (mut cursor, _) = Cursor::open(&dac, &base, StartAt::Now, options, &signal).unwrap();
        append(&base, &[0, 10, 20]);
        read_to(&mut cursor, &signal, start + 2).await;
    }
}

#[tokio::test]
async fn streams_are_bounded_and_idle_ones_make_room() {
    let log = crate::config::LogConfig { derived_streams: 1, ..Default::default() };
    let dac = Dac::new(Config { log, ..Config::default() });
    let base = instance(&dac, "tank");
    let held = dac.derived.open(&dac.registry, &base, Delivery::MaxHz(ten())).unwrap();
    let refused = dac.derived.open(&dac.registry, &base, Delivery::Envelope(ten()));
    assert_eq!(refused.unwrap_err(), DeriveError::TooMany(1));
    drop(held);
    assert!(dac.derived.open(&dac.registry, &base, Delivery::Envelope(ten())).is_ok());
}

#[tokio::test]
async fn a_batch_is_decoded_once_for_any_number_of_streams_and_wakes_one_reader() {
    let dac = Dac::new(Config::default());
    let base = instance(&dac, "tank");
    let signal = Arc::<Signal>::default();
    let envelope = |number: usize| Options {
        delivery: Delivery::Envelope(format!("{}", number + 1).parse().unwrap()),
        ..Options::default()
    };
    let open = |number| Cursor::open(&dac, &base, StartAt::Earliest, envelope(number), &signal).unwrap().0;
    let mut cursors: Vec<_> = (0..1_000).map(open).collect();
    assert_eq!(base.log.reader_count(), 1, "the append wakes one task, not one for each stream");
    while !dac.derived.table().bases[&base.topic].is_empty() {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    for batch in 0..5 {
        append(&base, &[batch * 2_000, batch * 2_000 + 1_500]);
    }
    for cursor in &mut cursors {
        read_to(cursor, &signal, 9).await;
    }
    assert_eq!(dac.derived.decoded_batches(), 5);
}

#[tokio::test]
async fn a_stream_that_begins_later_decodes_what_the_others_have_had() {
    let dac = Dac::new(Config::default());
    let base = instance(&dac, "tank");
    let signal = Arc::<Signal>::default();
    let max_hz = Options { delivery: Delivery::MaxHz(ten()), ..Options::default() };
    let envelope = Options { delivery: Delivery::Envelope(ten()), ..Options::default() };
    append(&base, &[0, 10, 110]);
    for options in [max_hz, envelope] {
        let (mut cursor, _) = Cursor::open(&dac, &base, StartAt::Earliest, options, &signal).unwrap();
        read_to(&mut cursor, &signal, 2).await;
    }
    assert_eq!(base.log.reader_count(), 1);
}

#[tokio::test]
async fn streams_that_a_full_table_evicts_are_not_fed_any_more() {
    let log = crate::config::LogConfig { derived_streams: 2, ..Default::default() };
    let dac = Dac::new(Config { log, ..Config::default() });
    let base = instance(&dac, "tank");
    for number in 1..100 {
        let delivery = Delivery::Envelope(format!("{number}").parse().unwrap());
        let stream = Arc::downgrade(&dac.derived.open(&dac.registry, &base, delivery).unwrap());
        if number % 10 == 0 {
            let another = Delivery::MaxHz(format!("{number}").parse().unwrap());
            let more = Delivery::MaxHz(format!("{}", number + 1).parse().unwrap());
            drop([another, more].map(|delivery| dac.derived.open(&dac.registry, &base, delivery).unwrap()));
            while stream.strong_count() > 0 {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        }
    }
}

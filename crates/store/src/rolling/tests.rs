//! Roll-ups of data that is made to be costly: what is written is bounded by the bytes of the samples.

use super::roll_all;
use crate::{ArchiveConfig, Series, catalogue::SealedFile, open, segment_file::SegmentFile, store::Store};
use oasis_rollup::cells::{Level, Track};
use oasis_wire::{
    batch::{Encoder, Fields, stamp},
    probe_kind::ProbeKind,
    quantity::{Epoch, Nanos, Offset, TopicId},
    schema::{Metric, MetricType, ProbeType},
    value::{self, Value},
};
use std::{path::Path, sync::Arc};
use uuid::Uuid;

const HOUR: u64 = 3_600 * 1_000_000_000;

fn probe_type(kind: &MetricType, metrics: usize) -> Arc<ProbeType> {
    let metric = |number| Metric::new(format!("m{number}"), kind.clone());
    Arc::new(ProbeType {
        name: "T".into(),
        uuid: Uuid::from_u128(1),
        version: "1.0".into(),
        doc: None,
        rate: None,
        metrics: (0..metrics).map(metric).collect(),
    })
}

/// A batch of samples at these times, each with this value in all metrics.
fn batch(
    probe_type: &ProbeType,
    first: u64,
    times: impl Iterator<Item = u64>,
    value: &Value,
) -> (Vec<u8>, u16) {
    let mut row = Vec::new();
    value::write_row(probe_type, &vec![value.clone(); probe_type.metrics.len()], &mut row);
    let mut encoder = Encoder::new(probe_type).unwrap();
    times.for_each(|time| encoder.push(time, &row).unwrap());
    let (mut batch, count) = (Vec::new(), u16::try_from(encoder.len()).unwrap());
    encoder.finish(Fields { topic: 1, first_sequence: first + 1, ..Fields::default() }, &mut batch);
    stamp(&mut batch, first, 1);
    (batch, count)
}

/// Writes a segment file with these batches, lists it, and makes its roll-ups. Returns its bytes.
fn roll(folder: &Path, probe_type: &Arc<ProbeType>, batches: &[(Vec<u8>, u16)]) -> (Arc<Store>, u64) {
    let directory = folder.display().to_string();
    let opened = open(ArchiveConfig { directory, min_free_bytes: 0, ..ArchiveConfig::default() }).unwrap();
    let store = opened.store.clone();
    let mut file = SegmentFile::create(folder, 1, Epoch(1)).unwrap();
    let mut offset = 0;
    for (batch, count) in batches {
        let series = || series(probe_type, "it");
        file.stage((TopicId(1), Uuid::nil()), series, batch, (Offset(offset), *count)).unwrap();
        offset += u64::from(*count);
    }
    let bytes = seal(&store, file);
    roll_all(store.clone(), opened.config.clone());
    (store, bytes)
}

fn series(probe_type: &Arc<ProbeType>, instance: &str) -> Series {
    let (run, epoch, kind) = (Uuid::nil(), Epoch(1), ProbeKind::Pushed);
    Series {
        node: "plant".into(),
        instance: instance.into(),
        kind,
        run,
        epoch,
        probe_type: probe_type.clone(),
    }
}

/// Seals a file and lists it. Returns its bytes.
fn seal(store: &Store, mut file: SegmentFile) -> u64 {
    file.finish_writing().unwrap();
    file.commit().unwrap();
    let bytes = file.seal().unwrap();
    let (index, window) = (file.open.index(), store.limits.around(Nanos(1), Nanos(1)));
    let sealed = SealedFile {
        number: 1,
        rule: "*",
        created: file.created(),
        sealed: Nanos(1),
        bytes,
        index: &index,
        window,
    };
    store.catalogue().add(&sealed).unwrap();
    bytes
}

/// Values of cells on a level, their samples, and least and greatest value of the first metric.
fn cells(store: &Store, level: Level) -> (usize, u64, Vec<(f64, f64)>) {
    let (mut values, mut samples, mut extremes) = (0, 0, Vec::new());
    for file in store.rollups.of_level(level) {
        for series in &file.directory.series {
            let (_, plan) = file.plan(series);
            for place in &series.batches {
                let batch = file.cells(series, place).unwrap();
                for index in 0..batch.times().len() {
                    let cell = plan.cell(&batch, index);
                    samples += cell.samples;
                    for track in &cell.tracks {
                        values += if let Track::Elements(elements) = track { elements.len() } else { 1 };
                    }
                    if let Some(Track::Number(summary)) = cell.tracks.first() {
                        extremes.push((summary.min.real(), summary.max.real()));
                    }
                }
            }
        }
    }
    (values, samples, extremes)
}

/// The bound of a level, with what may be in memory when the budget ends.
fn bound(bytes: u64) -> usize {
    (bytes as usize * 8).max(400_000) + 200_000
}

#[test]
fn cells_of_constant_values_at_many_times_are_bounded_by_their_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let of = probe_type(&MetricType::Uint8, 60);
    let one = |number: u64| {
        let times = (0..60_000).map(move |at| (number * 60_000 + at) * HOUR);
        batch(&of, number * 60_000, times, &Value::Uint(number + 7))
    };
    let batches: Vec<_> = (0..2).map(one).collect();
    let (store, bytes) = roll(folder.path(), &of, &batches);
    assert!(bytes < 20_000, "{bytes}");
    for level in Level::ROLLED {
        let (values, samples, extremes) = cells(&store, level);
        assert!(values <= bound(bytes), "{values} instead of 7,200,000 on {level:?}");
        assert_eq!(samples, 120_000);
        let all = extremes.into_iter().reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)));
        assert_eq!(all, Some((7.0, 8.0)));
    }
    let counters = store.counters.lock();
    assert_eq!((counters.rollup_widened, counters.rollup_failures, counters.rolled_segments), (1, 0, 1));
}

#[test]
fn many_instances_with_few_bytes_share_a_bound() {
    let folder = tempfile::tempdir().unwrap();
    let of = probe_type(&MetricType::Uint8, 10);
    let directory = folder.path().display().to_string();
    let opened = open(ArchiveConfig { directory, min_free_bytes: 0, ..ArchiveConfig::default() }).unwrap();
    let (data, count) = batch(&of, 0, (0..10_000).map(|at| at * HOUR), &Value::Uint(1));
    let mut file = SegmentFile::create(folder.path(), 1, Epoch(1)).unwrap();
    for number in 1..=30 {
        let series = || series(&of, &format!("it-{number}"));
        file.stage((TopicId(number), Uuid::nil()), series, &data, (Offset(0), count)).unwrap();
    }
    let bytes = seal(&opened.store, file);
    roll_all(opened.store.clone(), opened.config.clone());
    for level in Level::ROLLED {
        let (values, samples, _) = cells(&opened.store, level);
        assert!(values <= bound(bytes), "{values} instead of 3,000,000 on {level:?}");
        assert_eq!(samples, 300_000);
    }
}

#[test]
fn vectors_count_with_each_of_their_elements() {
    let folder = tempfile::tempdir().unwrap();
    let of = probe_type(&MetricType::Vector(Box::new(MetricType::Uint8)), 1);
    let long = Value::Vector(vec![Value::Uint(1); 64]);
    let mut batches: Vec<_> = (0..10)
        .map(|number| {
            let times = (0..1_000).map(move |at| (number * 1_000 + at) * HOUR);
            batch(&of, number * 1_000, times, &long)
        })
        .collect();
    // The newest sample has none.
    batches.push(batch(&of, 10_000, [20_000 * HOUR].into_iter(), &Value::Vector(Vec::new())));
    let (store, bytes) = roll(folder.path(), &of, &batches);
    for level in Level::ROLLED {
        let (values, samples, _) = cells(&store, level);
        assert!(values <= bound(bytes), "{values} on {level:?}");
        assert_eq!(samples, 10_001);
    }
}

#[test]
fn samples_with_bytes_of_their_own_keep_a_cell_a_second() {
    let folder = tempfile::tempdir().unwrap();
    let of = probe_type(&MetricType::Real64, 10);
    let second = Level::Second.width();
    let one =
        |number: u64| batch(&of, number, [number * second].into_iter(), &Value::Real64(number as f64 / 3.0));
    let batches: Vec<_> = (0..3_000).map(one).collect();
    let (store, _) = roll(folder.path(), &of, &batches);
    assert_eq!(cells(&store, Level::Second).2.len(), 3_000);
    assert_eq!(cells(&store, Level::Minute).2.len(), 50);
    assert_eq!(store.counters.lock().rollup_widened, 0);
}

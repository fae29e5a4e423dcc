use super::*;
use crate::{
    ArchiveConfig, History, Newest, Past, PastItem, Series, forget::Forgotten, gap::Gap, open,
    segment_file::SegmentFile,
};
use oasis_rollup::{
    cells::Level,
    points::{Points, Span},
};
use oasis_wire::{
    batch::{Choice, Encoder, Fields, stamp},
    loss::Cause,
    probe_kind::ProbeKind,
    quantity::{Epoch, Nanos, Offset, PortablePosition, Position, TopicId},
    schema::ProbeType,
    value::{self, Value},
};
use proptest::prelude::*;
use std::{sync::Arc, thread};
use tempfile::TempDir;

const START: u64 = 1_777_896_000_000_000_000;
const NANOS_PER_SECOND: u64 = 1_000_000_000;

/// The type of a series: another one after each change.
fn probe_type(version: u8) -> Arc<ProbeType> {
    let metrics = match version % 2 {
        0 => {
            r#"{"name": "level", "type": "uint8"}, {"name": "heat", "type": "real64"}, {"name": "open", "type": "boolean"}"#
        }
        _ => {
            r#"{"name": "text", "type": "string"}, {"name": "count", "type": "int64"}, {"name": "heat", "type": "real32"}"#
        }
    };
    let json = format!(
        r#"{{"name": "Tank", "uuid": "0b3c9f0e-5d0c-4a7e-9a51-6f1c0e6a2d11", "version": "1.{version}", "metrics": [{metrics}]}}"#
    );
    Arc::new(serde_json::from_str(&json).unwrap())
}

fn values(version: u8, seed: u64) -> Vec<Value> {
    // Sums are exact, in any order.
    let real = (seed % 7) as f64 * 0.25;
    match version % 2 {
        0 => vec![Value::Uint(seed % 200), Value::Real64(real), Value::Boolean(seed.is_multiple_of(3))],
        _ => {
            let text = "x".repeat((seed % 9) as usize);
            vec![Value::String(text), Value::Int((seed % 1_000) as i64 - 500), Value::Real32(real as f32)]
        }
    }
}

/// A batch, and what comes before it.
#[derive(Debug, Clone)]
struct Step {
    instance: u32,
    count: u64,
    before: Before,
    /// Nanoseconds since the sample before; the clock may be set back.
    later: i64,
    delays: (u64, u64),
    state: u16,
    is_plain: bool,
    is_large: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Before {
    Nothing,
    Dropped,
    NotStored,
    Restart,
    Change,
}

fn step() -> impl Strategy<Value = Step> {
    let before = prop_oneof![
        30 => Just(Before::Nothing), 1 => Just(Before::Dropped), 1 => Just(Before::NotStored),
        1 => Just(Before::Restart), 1 => Just(Before::Change),
    ];
    let later = prop_oneof![20 => 0..2 * NANOS_PER_SECOND as i64, 1 => -(5 * NANOS_PER_SECOND as i64)..0, 1 => Just(i64::MAX / 400)];
    let rest =
        (prop_oneof![30 => Just(0_u16), 1 => Just(1)], prop::bool::weighted(0.1), prop::bool::weighted(0.02));
    (1_u32..4, 1_u64..4, before, later, (0..NANOS_PER_SECOND, 0..NANOS_PER_SECOND), rest).prop_map(
        |(instance, count, before, later, delays, (state, is_plain, is_large))| Step {
            instance,
            count,
            before,
            later,
            delays,
            state,
            is_plain,
            is_large,
        },
    )
}

/// State of an instance while its batches are written.
#[derive(Debug, Clone, Copy)]
struct Writing {
    run: u128,
    version: u8,
    offset: u64,
    sequence: u64,
    time: u64,
}

fn name(instance: u32) -> String {
    format!("tank-{instance}")
}

fn config(folder: &Path) -> ArchiveConfig {
    ArchiveConfig { directory: folder.display().to_string(), min_free_bytes: 0, ..ArchiveConfig::default() }
}

/// An archive of these batches in one sealed file.
fn archive(steps: &[Step]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let mut file = SegmentFile::create(folder.path(), 1, Epoch(7)).unwrap();
    let new = |run| Writing { run, version: 0, offset: 0, sequence: 1, time: START };
    let mut known = [0, 1, 2, 3].map(|instance| new(instance * 1_000));
    for (number, step) in (0..).zip(steps) {
        put(&mut file, &mut known[step.instance as usize], step, number);
    }
    file.finish_writing().unwrap();
    file.commit().unwrap();
    file.seal().unwrap();
    drop(open(config(folder.path())).unwrap());
    folder
}

fn put(file: &mut SegmentFile, of: &mut Writing, step: &Step, number: u64) {
    let series = |of: &Writing| Series {
        node: "plant".into(),
        instance: name(step.instance).as_str().into(),
        kind: ProbeKind::Pushed,
        run: Uuid::from_u128(of.run),
        epoch: Epoch(7),
        probe_type: probe_type(of.version),
    };
    let key = |of: &Writing| (TopicId(step.instance + u32::from(of.version) * 10), Uuid::from_u128(of.run));
    let mut dropped_before = 0;
    match step.before {
        Before::Nothing => {}
        Before::Dropped => (of.sequence, dropped_before) = (of.sequence + 3, 3),
        Before::NotStored => {
            let gap = Gap {
                from: Offset(of.offset),
                to: Offset(of.offset + 2),
                cause: Cause::DiskFull,
                time: Nanos(START),
            };
            file.stage_gap(key(of), || series(of), gap);
            (of.offset, of.sequence) = (of.offset + 2, of.sequence + 2);
        }
        Before::Restart => (of.run, of.sequence) = (of.run + 1, 1),
        Before::Change => (of.run, of.sequence, of.version) = (of.run + 1, 1, of.version + 1),
    }
    let choice = if step.is_plain { Choice::Plain } else { Choice::Smallest };
    let probe_type = probe_type(of.version);
    let mut encoder = Encoder::new(&probe_type).unwrap().with_choice(choice);
    let (mut row, mut batch) = (Vec::new(), Vec::new());
    let count = if step.is_large { 400 } else { step.count };
    for at in 0..count {
        of.time = of.time.saturating_add_signed(step.later);
        let seed = (number * 31 + at).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
        value::write_row(&probe_type, &values(of.version, seed), &mut row);
        encoder.push(of.time, &row).unwrap();
    }
    let node_time = of.time.wrapping_add(step.delays.0);
    let fields = Fields {
        topic: key(of).0.0,
        state: step.state,
        first_sequence: of.sequence,
        node_time,
        dropped_before,
    };
    encoder.finish(fields, &mut batch);
    stamp(&mut batch, of.offset, node_time.wrapping_add(step.delays.1));
    let place = (Offset(of.offset), u16::try_from(count).unwrap());
    file.stage(key(of), || series(of), &batch, place).unwrap();
    (of.offset, of.sequence) = (of.offset + count, of.sequence + count);
}

/// Groups the file, and returns what that did.
fn group(folder: &Path) -> Grouping {
    let opened = open(config(folder)).unwrap();
    let segment = opened.store.catalogue().segments().unwrap().remove(0);
    let outcome = opened.store.group(&segment, || true).unwrap();
    let now = opened.store.catalogue().segments().unwrap().remove(0);
    assert_eq!(now.bytes, fs::metadata(segment_file::path(folder, 1)).unwrap().len());
    let shares: u64 = opened.store.catalogue().file_shares(1).unwrap().iter().map(|share| share.bytes).sum();
    assert!(shares <= now.bytes);
    outcome
}

fn pieces(past: Option<Past>, into: &mut Vec<String>, bytes: usize) {
    let Some(mut past) = past else { return into.push("nothing".to_owned()) };
    loop {
        let pieces = past.read(bytes).unwrap();
        if pieces.is_empty() {
            return into.push(format!("{:?} {}", past.position(), past.is_over()));
        }
        into.extend(pieces.iter().map(described));
    }
}

fn described(piece: &PastItem) -> String {
    format!("{piece:?}")
}

/// All that readers see of an archive, in many ways.
fn seen(folder: &Path) -> Vec<String> {
    let history = History::open(folder).unwrap();
    let mut seen = Vec::new();
    let ends: Vec<u64> = (0..4).map(|at| START + at * 17 * NANOS_PER_SECOND + at).collect();
    for (node, instance) in history.instances().unwrap() {
        let names = (&*node, &*instance);
        let all = history.past_from(names.0, names.1, 0, None).unwrap();
        pieces(all, &mut seen, 1_000);
        for &time in &ends {
            let until = Some(time + 30 * NANOS_PER_SECOND);
            pieces(history.past_from(names.0, names.1, time, until).unwrap(), &mut seen, 1 << 20);
            let at = Position { epoch: Epoch(7), offset: Offset(time % 97) };
            pieces(history.past_at(names.0, names.1, at, until).unwrap(), &mut seen, 1 << 20);
            let before = Position { epoch: Epoch(7), offset: Offset(time % 71) };
            let mut newest = Newest::new(0..time, 10 + time % 50);
            pieces(history.past_newest(names.0, names.1, &mut newest, before).unwrap(), &mut seen, 1 << 20);
            for run in 0..3 {
                let run = Uuid::from_u128(u128::from(instance.as_bytes()[5] - b'0') * 1_000 + run);
                let wanted = PortablePosition { run, sequence: time % 61 };
                pieces(history.past_at_portable(names.0, names.1, wanted, None).unwrap(), &mut seen, 1 << 20);
            }
            let types =
                history.types_between(names.0, names.1, &(time..time + 3 * NANOS_PER_SECOND)).unwrap();
            seen.push(format!("{types:?}"));
        }
        seen.extend([1, 3, 200].map(|points| points_of(&history, names, points)));
        seen.push(format!("{:?}", history.reach_of(names.0, names.1).unwrap()));
    }
    seen
}

fn points_of(history: &History, (node, instance): (&str, &str), points: u32) -> String {
    let (from, to) = (START + 3 * NANOS_PER_SECOND, START + 90 * NANOS_PER_SECOND);
    let mut points = Points::new(Span { from, to, is_open: points == 3, points }, Level::Raw);
    for extent in history.0.extents(node, instance, 0).unwrap() {
        history.0.add_extent(&extent, &mut points).unwrap();
    }
    format!("{:?} {:?}", points.cells.cells().collect::<Vec<_>>(), points.gaps)
}

/// The first difference between what readers see; nothing if they see the same.
fn difference(now: &[String], before: &[String]) -> Option<(String, String)> {
    let place = now.iter().zip(before).position(|(now, before)| now != before);
    let place = place.or((now.len() != before.len()).then_some(now.len().min(before.len())))?;
    let at = |all: &[String]| all.get(place).cloned().unwrap_or_default();
    Some((at(now), at(before)))
}

/// The samples of an instance when groups are read as one batch.
fn samples(folder: &Path, with_groups: bool) -> Vec<String> {
    let history = History::open(folder).unwrap();
    let mut all = Vec::new();
    for (node, instance) in history.instances().unwrap() {
        let past = history.past_from(&node, &instance, START + 5 * NANOS_PER_SECOND, None).unwrap();
        let Some(mut past) = past.map(|past| if with_groups { past.with_groups() } else { past }) else {
            continue;
        };
        loop {
            let pieces = past.read(10_000).unwrap();
            if pieces.is_empty() {
                break;
            }
            for piece in pieces {
                let PastItem::Samples { series, batch, offsets, wanted } = piece else { continue };
                let batch = oasis_wire::batch::Batch::parse(&batch, &series.probe_type).unwrap();
                let wanted =
                    (wanted.start.0 - offsets.start.0) as usize..(wanted.end.0 - offsets.start.0) as usize;
                all.extend(
                    batch.samples().collect::<Vec<_>>()[wanted].iter().map(|sample| format!("{sample:?}")),
                );
            }
        }
    }
    all
}

/// A probe that takes one sample a second.
fn slow(samples: u64) -> Vec<Step> {
    let step = |number: u64| Step {
        instance: 1,
        count: 1,
        before: Before::Nothing,
        later: (NANOS_PER_SECOND + number * 7_919 % 90_000) as i64,
        delays: (20_000 + number * 104_729 % 10_000, 70_000 + number * 1_299_709 % 90_000),
        state: 0,
        is_plain: false,
        is_large: false,
    };
    (0..samples).map(step).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn any_batches_read_the_same_when_they_are_grouped(steps in prop::collection::vec(step(), 1..120)) {
        let folder = archive(&steps);
        let before = seen(folder.path());
        let _ = group(folder.path());
        prop_assert_eq!(difference(&seen(folder.path()), &before), None);
        prop_assert_eq!(samples(folder.path(), true), samples(folder.path(), false));
        // Once more, by a catalogue that is made again.
        fs::remove_file(folder.path().join("catalogue.sqlite")).unwrap();
        drop(open(config(folder.path())).unwrap());
        prop_assert_eq!(difference(&seen(folder.path()), &before), None);
    }

    #[test]
    fn a_reader_goes_on_while_the_file_is_replaced(
        steps in prop::collection::vec(step(), 30..120), bytes in 100_usize..4_000, after in 1_usize..6,
    ) {
        let folder = archive(&steps);
        let history = History::open(folder.path()).unwrap();
        for (node, instance) in history.instances().unwrap() {
            let mut whole = Vec::new();
            let past = || history.past_from(&node, &instance, 0, None).unwrap().unwrap();
            let mut one = past();
            while let pieces @ [_, ..] = &one.read(bytes).unwrap()[..] {
                whole.extend(pieces.iter().map(described));
            }
            let (mut two, mut read) = (past(), Vec::new());
            for _ in 0..after {
                read.extend(two.read(bytes).unwrap().iter().map(described));
            }
            let _ = group(folder.path());
            while let pieces @ [_, ..] = &two.read(bytes).unwrap()[..] {
                read.extend(pieces.iter().map(described));
            }
            prop_assert_eq!(difference(&read, &whole), None);
        }
        prop_assert_eq!(&history.0.counters.lock().findings, &[]);
    }

    #[test]
    fn a_damaged_file_stays_as_it_is(steps in prop::collection::vec(step(), 5..40), bit: prop::sample::Index) {
        let folder = archive(&steps);
        let path = segment_file::path(folder.path(), 1);
        let mut bytes = fs::read(&path).unwrap();
        let bit = FILE_HEADER * 8 + bit.index((bytes.len() - FILE_HEADER) * 8);
        bytes[bit / 8] ^= 1 << (bit % 8);
        fs::write(&path, &bytes).unwrap();
        let before = seen(folder.path());
        let opened = open(config(folder.path())).unwrap();
        let segment = opened.store.catalogue().segments().unwrap().remove(0);
        if let Ok(Grouping::Saved(_)) = opened.store.group(&segment, || true) {
            prop_assert!(bit / 8 >= bytes.len() - record::TRAILER, "only the place of the index may be damaged");
        }
        drop(opened);
        prop_assert_eq!(difference(&seen(folder.path()), &before), None);
    }

    #[test]
    fn a_group_of_any_bytes_is_read_or_refused(mut bytes: Vec<u8>, length in 0_u32..200) {
        if let Some(place) = bytes.get_mut(4..8) {
            place.copy_from_slice(&length.to_le_bytes());
        }
        if let Some(stored) = crate::StoredBatch::of_group(bytes.into()) {
            let _ = stored.arrived(&probe_type(0));
        }
    }
}

#[test]
fn slow_samples_take_a_tenth() {
    let folder = archive(&slow(1_200));
    let before = seen(folder.path());
    let size = || fs::metadata(segment_file::path(folder.path(), 1)).unwrap().len();
    let was = size();
    assert_eq!(group(folder.path()), Grouping::Saved(was - size()));
    assert!(size() / 1_200 < 14, "{} bytes a sample, {} before", size() / 1_200, was / 1_200);
    assert_eq!(difference(&seen(folder.path()), &before), None);
    assert_eq!(group(folder.path()), Grouping::Unchanged);
}

#[test]
fn a_process_that_ends_at_any_write_leaves_an_archive_that_reads_the_same() {
    let folder = archive(&slow(300));
    let before = seen(folder.path());
    let path = segment_file::path(folder.path(), 1);
    let old = fs::read(&path).unwrap();
    let catalogue = fs::read(folder.path().join("catalogue.sqlite")).unwrap();
    assert!(matches!(group(folder.path()), Grouping::Saved(_)));
    let new = fs::read(&path).unwrap();
    // While the new file is written.
    for length in (0..=new.len()).step_by(397).chain([new.len()]) {
        fs::write(&path, &old).unwrap();
        fs::write(folder.path().join("catalogue.sqlite"), &catalogue).unwrap();
        fs::write(part_of(&path), &new[..length]).unwrap();
        assert_eq!(difference(&seen(folder.path()), &before), None, "{length} bytes written");
        drop(open(config(folder.path())).unwrap());
        assert!(!part_of(&path).exists());
    }
    // After it was renamed, and before its size was listed: the catalogue is not taken for damaged.
    fs::write(&path, &new).unwrap();
    fs::write(folder.path().join("catalogue.sqlite"), &catalogue).unwrap();
    assert_eq!(&open(config(folder.path())).unwrap().store.counters.lock().findings, &[]);
    assert_eq!(difference(&seen(folder.path()), &before), None);
    assert_eq!(group(folder.path()), Grouping::Unchanged);
    assert_eq!(difference(&seen(folder.path()), &before), None);
    fs::write(&path, &new[..new.len() - 1]).unwrap();
    fs::write(folder.path().join("catalogue.sqlite"), &catalogue).unwrap();
    let findings = open(config(folder.path())).unwrap().store.counters.lock().findings.len();
    assert!(findings > 0, "a torn file is damage");
}

#[test]
fn a_grouping_that_is_stopped_leaves_nothing() {
    let folder = archive(&slow(3_000));
    let opened = open(config(folder.path())).unwrap();
    let segment = opened.store.catalogue().segments().unwrap().remove(0);
    for after in [0, 1, 100, 3_002] {
        let mut left = after;
        let outcome = opened.store.group(&segment, || {
            left -= 1;
            left >= 0
        });
        assert_eq!(outcome.unwrap(), Grouping::Stopped);
        assert!(!part_of(&segment_file::path(folder.path(), 1)).exists());
    }
}

#[test]
fn a_file_that_retention_evicts_meanwhile_does_not_come_back() {
    let folder = archive(&slow(3_000));
    let opened = open(config(folder.path())).unwrap();
    let segment = opened.store.catalogue().segments().unwrap().remove(0);
    let path = segment_file::path(folder.path(), 1);
    let outcome = opened.store.group(&segment, || {
        opened.store.catalogue().expire(1).unwrap();
        let _ = fs::remove_file(&path);
        true
    });
    assert_eq!(outcome.unwrap(), Grouping::Unchanged);
    assert!(!path.exists() && !part_of(&path).exists());
}

#[test]
fn a_full_disk_leaves_the_file_as_it_is() {
    let folder = archive(&slow(300));
    let opened = open(config(folder.path())).unwrap();
    let segment = opened.store.catalogue().segments().unwrap().remove(0);
    // A folder of that name cannot be written, as a file on a full disk.
    fs::create_dir(part_of(&segment_file::path(folder.path(), 1))).unwrap();
    opened.store.group(&segment, || true).unwrap_err();
    drop(opened);
    fs::remove_dir(part_of(&segment_file::path(folder.path(), 1))).unwrap();
    assert!(matches!(group(folder.path()), Grouping::Saved(_)));
}

#[test]
fn an_earlier_release_refuses_the_file_and_forgetting_copies_groups() {
    let mut steps = slow(300);
    steps.extend(slow(300).into_iter().map(|step| Step { instance: 2, ..step }));
    let folder = archive(&steps);
    let of = |all: Vec<String>| all.into_iter().filter(|line| line.contains("tank-1")).collect::<Vec<_>>();
    let before = of(seen(folder.path()));
    assert!(matches!(group(folder.path()), Grouping::Saved(_)));
    let bytes = fs::read(segment_file::path(folder.path(), 1)).unwrap();
    assert_eq!(bytes[8..10], [2, 0], "the version");
    let opened = open(config(folder.path())).unwrap();
    opened.store.forget(&Forgotten { node: "plant".into(), instance: Some(name(2)) }).unwrap();
    drop(opened);
    assert_eq!(of(seen(folder.path())), before);
    assert!(fs::metadata(segment_file::path(folder.path(), 1)).unwrap().len() < bytes.len() as u64 * 3 / 4);
}

#[test]
fn a_damaged_group_costs_its_own_samples_and_check_finds_it() {
    let folder = archive(&slow(2_000));
    assert!(matches!(group(folder.path()), Grouping::Saved(_)));
    let lost = |folder: &Path| {
        let mut lost = Vec::new();
        let report = |event: crate::CheckEvent<'_>| {
            if let crate::CheckEvent::Damage(damage) = event {
                lost.extend(damage.lost.iter().map(|lost| lost.samples));
            }
        };
        crate::check(folder, report).unwrap();
        lost
    };
    assert_eq!(lost(folder.path()), [0; 0]);
    let path = segment_file::path(folder.path(), 1);
    let mut bytes = fs::read(&path).unwrap();
    let at = bytes.len() / 2;
    bytes[at] ^= 1;
    fs::write(&path, &bytes).unwrap();
    assert_eq!(lost(folder.path()), [MAX_GROUP_BATCHES as u64]);
    assert_eq!(samples(folder.path(), false).len() + MAX_GROUP_BATCHES + 4, 2_000);
}

#[test]
fn many_readers_see_all_samples_while_files_are_grouped() {
    let folder = archive(&slow(2_000));
    let before = seen(folder.path());
    thread::scope(|scope| {
        let readers: Vec<_> = (0..3)
            .map(|_| {
                scope.spawn(|| {
                    (0..4).for_each(|_| assert_eq!(difference(&seen(folder.path()), &before), None))
                })
            })
            .collect();
        assert!(matches!(group(folder.path()), Grouping::Saved(_)));
        readers.into_iter().for_each(|reader| reader.join().unwrap());
    });
}

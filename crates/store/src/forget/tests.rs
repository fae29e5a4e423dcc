use super::*;
use crate::{
    ArchiveConfig, History, PastItem, Series, gap::Gap, open, recovery::segment_files, rolling, segment_file,
};
use oasis_wire::{
    batch::{Encoder, Fields},
    loss::Cause,
    probe_kind::ProbeKind,
    quantity::{Epoch, Nanos, Offset},
    schema::ProbeType,
};
use std::collections::BTreeSet;
use tempfile::TempDir;

const START: u64 = 1_777_896_000_000_000_000;

fn probe_type() -> Arc<ProbeType> {
    let json = r#"{"name": "Tank", "uuid": "0b3c9f0e-5d0c-4a7e-9a51-6f1c0e6a2d11", "version": "1.0",
        "metrics": [{"name": "level", "type": "uint8"}]}"#;
    Arc::new(serde_json::from_str(json).unwrap())
}

fn series(node: &str, instance: &str) -> Series {
    let (run, epoch) = (Uuid::from_u128(node.len() as u128), Epoch(1));
    let (kind, probe_type) = (ProbeKind::Pushed, probe_type());
    Series { node: node.into(), instance: instance.into(), kind, run, epoch, probe_type }
}

fn config(folder: &Path) -> ArchiveConfig {
    ArchiveConfig { directory: folder.display().to_string(), ..ArchiveConfig::default() }
}

/// Batches of two samples of these instances, a file for each list, with roll-ups.
fn archive(files: &[&[(&str, &str)]]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let opened = open(config(folder.path())).unwrap();
    let mut next = BTreeMap::new();
    for (number, instances) in (1..).zip(files) {
        let mut file = SegmentFile::create(folder.path(), number, Epoch(1)).unwrap();
        for (topic, (node, instance)) in (1..).zip(*instances) {
            let first: &mut u64 = next.entry((*node, *instance)).or_insert(1);
            let mut encoder = Encoder::new(&probe_type()).unwrap();
            for sample in 0..2 {
                encoder.push(START + (*first + sample) * 1_000_000_000, &[7]).unwrap();
            }
            let mut batch = Vec::new();
            let fields = Fields { topic, first_sequence: *first, ..Fields::default() };
            encoder.finish(fields, &mut batch);
            oasis_wire::batch::stamp(&mut batch, *first - 1, START);
            let key = (TopicId(topic), series(node, instance).run);
            file.stage(key, || series(node, instance), &batch, (Offset(*first - 1), 2)).unwrap();
            let gap = Gap {
                from: Offset(*first + 1),
                to: Offset(*first + 2),
                cause: Cause::DiskFull,
                time: Nanos(START),
            };
            file.stage_gap(key, || series(node, instance), gap);
            *first += 3;
        }
        file.finish_writing().unwrap();
        file.commit().unwrap();
        let bytes = file.seal().unwrap();
        let index = file.open.index();
        let window = opened.store.limits.around(Nanos(START), Nanos(START));
        let (created, sealed) = (file.created(), Nanos(START));
        let sealed = SealedFile { number, rule: "*", created, sealed, bytes, index: &index, window };
        opened.store.catalogue().add(&sealed).unwrap();
    }
    rolling::roll_all(opened.store.clone(), opened.config.clone());
    folder
}

/// Node, instance and sequence number of all samples.
fn samples(folder: &Path) -> Vec<(String, String, u64)> {
    let history = History::open(folder).unwrap();
    let mut all = Vec::new();
    for (node, instance) in history.instances().unwrap() {
        let Some(mut past) = history.past_from(&node, &instance, 0, None).unwrap() else { continue };
        loop {
            let pieces = past.read(1 << 20).unwrap();
            if pieces.is_empty() {
                break;
            }
            for piece in pieces {
                if let PastItem::Samples { wanted, .. } = piece {
                    all.extend(
                        (wanted.start.0..wanted.end.0).map(|at| (node.clone(), instance.clone(), at + 1)),
                    );
                }
            }
        }
    }
    all
}

/// The files with a byte sequence that names it.
fn naming(folder: &Path, name: &str) -> Vec<PathBuf> {
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let names =
        |path: &PathBuf| fs::read(path).unwrap().windows(name.len()).any(|window| window == name.as_bytes());
    files.filter(|path| path.is_file()).filter(names).collect()
}

const FILES: [&[(&str, &str)]; 3] = [
    &[("secret-node", "x"), ("other", "x")],
    &[("secret-node", "x")],
    &[("other", "x"), ("secret-node", "y"), ("other", "y")],
];

fn node() -> Forgotten {
    Forgotten { node: "secret-node".into(), instance: None }
}

#[test]
fn nothing_names_a_forgotten_node_and_all_others_stay() {
    let folder = archive(&FILES);
    let before = samples(folder.path());
    assert!(naming(folder.path(), "secret-node").len() > 3);
    let store = open(config(folder.path())).unwrap().store;
    let rolled = store.rollups.instances().len();
    let removed = store.forget(&node()).unwrap();
    assert_eq!((removed.rewritten, removed.removed, removed.holdings.samples), (2, 1, 6), "{removed:?}");
    assert!(removed.rollups > 0);
    assert_eq!(store.rollups.instances().len(), rolled - 2);
    assert!(store.catalogue().segments_of(&node()).unwrap().is_empty());
    drop(store);
    let others: Vec<_> = before.into_iter().filter(|(node, ..)| node != "secret-node").collect();
    assert_eq!(samples(folder.path()), others);
    assert_eq!(naming(folder.path(), "secret-node"), [] as [PathBuf; 0]);
    // A catalogue that is made again from the files is the same.
    fs::remove_file(folder.path().join("catalogue.sqlite")).unwrap();
    drop(open(config(folder.path())).unwrap());
    assert_eq!(samples(folder.path()), others);
}

#[test]
fn an_instance_is_forgotten_and_the_rest_of_its_node_stays() {
    let folder = archive(&FILES);
    let before = samples(folder.path());
    let store = open(config(folder.path())).unwrap().store;
    store.forget(&Forgotten { node: "secret-node".into(), instance: Some("y".into()) }).unwrap();
    drop(store);
    let left: Vec<_> =
        before.into_iter().filter(|(node, name, _)| (&**node, &**name) != ("secret-node", "y")).collect();
    assert_eq!(samples(folder.path()), left);
}

fn copied(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, to.join(path.file_name().unwrap())).unwrap();
    }
}

/// A process can end between any two files that are replaced or removed: the next start completes what it has begun.
#[test]
fn a_start_completes_what_a_killed_process_has_begun() {
    let folder = archive(&FILES);
    let whole = samples(folder.path());
    let expected: Vec<_> = whole.into_iter().filter(|(node, ..)| node != "secret-node").collect();
    let done = tempfile::tempdir().unwrap();
    copied(folder.path(), done.path());
    open(config(done.path())).unwrap().store.forget(&node()).unwrap();
    let numbers: Vec<u64> =
        segment_files(folder.path()).unwrap().into_iter().map(|(number, _)| number).collect();
    // After each of the files, with the old catalogue; roll-ups come last.
    for replaced in 0..=numbers.len() {
        let half = tempfile::tempdir().unwrap();
        copied(folder.path(), half.path());
        note(half.path(), &node()).unwrap();
        fs::write(half.path().join("0000000003.part"), "torn").unwrap();
        for number in &numbers[..replaced] {
            let (new, old) =
                (segment_file::path(done.path(), *number), segment_file::path(half.path(), *number));
            if new.exists() {
                fs::copy(new, old).unwrap();
            } else {
                fs::remove_file(old).unwrap();
            }
        }
        drop(open(config(half.path())).unwrap());
        assert_eq!(samples(half.path()), expected, "{replaced} files replaced");
        assert_eq!(naming(half.path(), "secret-node"), [] as [PathBuf; 0], "{replaced} files replaced");
        assert!(noted(half.path()).unwrap().is_none());
        let left: BTreeSet<_> =
            segment_files(half.path()).unwrap().into_iter().map(|(number, _)| number).collect();
        assert_eq!(left, BTreeSet::from([1, 3]));
    }
}

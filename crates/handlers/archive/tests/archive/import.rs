//! An import is all there or not there at all, whatever fails and whenever it ends, and holds on to little however much it is.

use super::{copy_of, numbers, segment_files};
use crate::plant::{self, Node, Plant, config, counter_of};
use crate::sql::one;
use oasis_dac::now;
use oasis_query::Sql;
use oasis_recordings::import::{Import, ImportTotals};
use oasis_store::{Description, Note, Target};
use oasis_wire::quantity::Nanos;
use std::{
    fs,
    path::{Path, PathBuf},
};

/// Samples in a batch.
const BATCH: u64 = 40;

fn begin(folder: &Path) -> Import {
    Import::begin(oasis_store::open(config(folder)).unwrap()).unwrap()
}

/// Adds `batches` batches, of which some 30 fill a file.
fn add(import: &mut Import, batches: u64) {
    let series = counter_of("plant", 1);
    let node = Node::new(1);
    for batch in 0..batches {
        import.add(&series, &node.batch(1, batch * BATCH, BATCH)).unwrap();
    }
}

/// The folder where it grows.
fn growing(archive: &Path) -> PathBuf {
    archive.join("import.part")
}

#[test]
fn it_holds_on_to_no_file_that_is_whole() {
    let folder = tempfile::tempdir().unwrap();
    let mut import = begin(folder.path());
    add(&mut import, 600);
    assert!(segment_files(&growing(folder.path())).len() > 10);
    let held = fs::read_dir("/proc/self/fd").unwrap().filter_map(|fd| fs::read_link(fd.unwrap().path()).ok());
    let held: Vec<_> = held.filter(|path| path.starts_with(growing(folder.path()))).collect();
    assert!(held.len() <= 1, "{held:?}");
    assert_eq!(import.finish().unwrap(), ImportTotals { samples: 600 * BATCH, ..ImportTotals::default() });
    assert_eq!(plant::read_alone(folder.path()).numbers, numbers(0..600 * BATCH));
    assert!(!growing(folder.path()).exists());
}

#[test]
fn one_that_cannot_be_moved_into_its_place_leaves_the_archive_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let mut import = begin(folder.path());
    add(&mut import, 200);
    let whole = segment_files(&growing(folder.path()));
    // A folder in the place of the third: no file can be given its name.
    let in_the_way = folder.path().join(whole[2].file_name().unwrap());
    fs::create_dir(&in_the_way).unwrap();
    import.finish().unwrap_err();
    assert_eq!(segment_files(folder.path()), [in_the_way.as_path()]);
    assert!(!growing(folder.path()).exists());
    fs::remove_dir(&in_the_way).unwrap();
    assert_eq!(plant::read_alone(folder.path()).numbers, numbers(0..0));
    let mut again = begin(folder.path());
    add(&mut again, 200);
    assert_eq!(again.finish().unwrap(), ImportTotals { samples: 200 * BATCH, ..ImportTotals::default() });
    assert_eq!(plant::read_alone(folder.path()).numbers, numbers(0..200 * BATCH));
}

/// An archive with its folders, as `kill -9` would leave it.
fn killed(archive: &Path) -> tempfile::TempDir {
    let copy = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(archive).unwrap() {
        let path = entry.unwrap().path();
        let to = copy.path().join(path.file_name().unwrap());
        if path.is_dir() {
            fs::rename(copy_of(&path).keep(), &to).unwrap();
        } else {
            fs::copy(&path, &to).unwrap();
        }
    }
    copy
}

#[test]
fn one_that_is_killed_while_its_files_move_leaves_the_archive_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let mut earlier = begin(folder.path());
    add(&mut earlier, 50);
    earlier.finish().unwrap();
    let before = segment_files(folder.path()).len();
    let mut import = begin(folder.path());
    add(&mut import, 200);
    let whole = segment_files(&growing(folder.path()));
    for moved in 0..=whole.len() {
        let killed = killed(folder.path());
        for file in &whole[..moved] {
            let name = file.file_name().unwrap();
            fs::rename(growing(killed.path()).join(name), killed.path().join(name)).unwrap();
        }
        // Neither those who read before the next start see anything of it, nor those who do after.
        assert_eq!(plant::read_alone(killed.path()).numbers, numbers(0..50 * BATCH), "{moved}");
        drop(oasis_store::open(config(killed.path())).unwrap());
        assert_eq!(plant::read_alone(killed.path()).numbers, numbers(0..50 * BATCH), "{moved}");
        assert_eq!(segment_files(killed.path()).len(), before, "{moved}");
        assert!(!growing(killed.path()).exists());
    }
}

#[test]
fn an_import_that_is_killed_after_its_commit_is_complete() {
    let folder = tempfile::tempdir().unwrap();
    let mut import = begin(folder.path());
    add(&mut import, 200);
    let left = copy_of(&growing(folder.path()));
    import.finish().unwrap();
    let growing = growing(folder.path());
    fs::create_dir(&growing).unwrap();
    fs::copy(left.path().join("epoch"), growing.join("epoch")).unwrap();
    drop(oasis_store::open(config(folder.path())).unwrap());
    assert_eq!(plant::read_alone(folder.path()).numbers, numbers(0..200 * BATCH));
    assert!(!growing.exists());
}

#[test]
fn test_runs_annotations_and_nodes_of_another_archive_come_with_its_samples() {
    let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut node = Node::new(1);
    let mut plant = Plant::start(config(from.path()), &node, super::ROOM);
    plant.fill(&mut node, 2);
    let runs = plant.archive.test_runs();
    let named =
        |name: &str| Description { name: name.into(), tags: vec!["hot".into()], ..Description::default() };
    let soak = runs.start(named("soak"), "me", Nanos(7)).unwrap();
    runs.stop(soak.id, Nanos(9)).unwrap();
    runs.start(named("on"), "me", Nanos(8)).unwrap();
    // One that lasts into what is to come: pinned, it would keep whatever comes here.
    let later = runs.start(named("later"), "me", Nanos(10)).unwrap();
    runs.stop(later.id, Nanos(i64::MAX as u64)).unwrap();
    let about = Target { node: "plant".into(), instance: Some("counter".into()) };
    let note = Note { time: Nanos(5), until: Some(Nanos(6)), text: "noted".into(), targets: vec![about] };
    plant.archive.annotations().add(note, "me", Nanos(6)).unwrap();
    plant.stop();
    // Another test run has the name here.
    let here = Plant::start(config(to.path()), &Node::new(2), super::ROOM);
    let taken = here.archive.test_runs().start(named("soak"), "you", Nanos(100)).unwrap();
    here.archive.test_runs().stop(taken.id, Nanos(101)).unwrap();
    here.stop();

    let name = |node: &str| format!("bench:{node}");
    let import = || {
        let mut import = begin(to.path());
        for file in segment_files(from.path()) {
            import.add_segment_file(&file, name).unwrap();
        }
        import.add_causes(from.path(), name).unwrap();
        import.add_notes(from.path(), "bench", name);
        import.finish().unwrap()
    };
    let first = import();
    assert_eq!((first.samples, first.test_runs, first.annotations, first.notes_left_out), (80, 3, 1, 0));
    let again = import();
    assert_eq!((again.samples, again.test_runs, again.annotations), (0, 0, 0));

    let sql = Sql::open(to.path()).unwrap();
    let last = (80 - 1) * plant::STEP;
    let runs = "SELECT group_concat(name || ' ' || started_ns || ' ' || stopped_ns || ' ' || tags || who, ';') FROM (SELECT * FROM test_runs WHERE name != 'later' ORDER BY id)";
    let hot = "[\"hot\"]";
    assert_eq!(one(&sql, runs), format!("soak 100 101 {hot}you;bench:soak 7 9 {hot}me;on 8 {last} {hot}me"));
    let later: u64 = one(&sql, "SELECT stopped_ns FROM test_runs WHERE name = 'later'").parse().unwrap();
    assert!(later <= now().0, "{later}");
    let annotations = "SELECT time_ns, until_ns, text, targets, who FROM annotations";
    let targets = r#"[{"node":"bench:plant","instance":"counter"}]"#;
    assert_eq!(one(&sql, annotations), format!("5|6|noted|{targets}|me"));
    assert_eq!(one(&sql, "SELECT host, software FROM nodes WHERE name = 'bench:plant'"), "h|test");
}

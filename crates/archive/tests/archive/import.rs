//! An import is all there or not there at all, whatever fails and whenever it ends, and holds on to little however much it is.

use super::{copy_of, numbers, segment_files};
use crate::plant::{self, Node, config, counter};
use oasis_archive::{Import, Imported, Series};
use oasis_channel::ProbeKind;
use oasis_wire::quantity::Epoch;
use std::{
    fs,
    path::{Path, PathBuf},
};
use uuid::Uuid;

/// Samples in a batch.
const BATCH: u64 = 40;

fn begin(folder: &Path) -> Import {
    Import::begin(oasis_archive::open(config(folder)).unwrap()).unwrap()
}

/// Adds so many batches, of which some 30 fill a file.
fn add(import: &mut Import, batches: u64) {
    let series = Series {
        node: "plant".into(),
        instance: "counter".into(),
        kind: ProbeKind::Pushed,
        run: Uuid::from_u128(1),
        epoch: Epoch(0),
        probe_type: counter().into(),
    };
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
    assert_eq!(import.finish().unwrap(), Imported { samples: 600 * BATCH, ..Imported::default() });
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
    assert_eq!(again.finish().unwrap(), Imported { samples: 200 * BATCH, ..Imported::default() });
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
        drop(oasis_archive::open(config(killed.path())).unwrap());
        assert_eq!(plant::read_alone(killed.path()).numbers, numbers(0..50 * BATCH), "{moved}");
        assert_eq!(segment_files(killed.path()).len(), before, "{moved}");
        assert!(!growing(killed.path()).exists());
    }
}

#[test]
fn one_that_is_killed_behind_its_commit_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let mut import = begin(folder.path());
    add(&mut import, 200);
    let left = copy_of(&growing(folder.path()));
    import.finish().unwrap();
    let growing = growing(folder.path());
    fs::create_dir(&growing).unwrap();
    fs::copy(left.path().join("epoch"), growing.join("epoch")).unwrap();
    drop(oasis_archive::open(config(folder.path())).unwrap());
    assert_eq!(plant::read_alone(folder.path()).numbers, numbers(0..200 * BATCH));
    assert!(!growing.exists());
}

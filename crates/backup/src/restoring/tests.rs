use super::*;
use crate::BackupWriter;
use proptest::prelude::*;
use std::os::unix::fs::PermissionsExt;

fn backup() -> Vec<u8> {
    let mut backup = BackupWriter::begin(Vec::new()).unwrap();
    backup.add("archive/0000000001.oseg", 1_300, &[7; 1_300][..]).unwrap();
    backup.add("access/audit/1.log", 0, &b""[..]).unwrap();
    // A file that became shorter.
    backup.add("layouts/a.json", 4, &b"{}"[..]).unwrap();
    backup.finish(Manifest { software: "test".into(), ..Manifest::default() }).unwrap()
}

fn restored(bytes: &[u8], target: &Path) -> Result<Manifest, RestoreError> {
    restore(bytes, target, |_, _| Ok(()), |_| {})
}

#[test]
fn a_backup_comes_back_private() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("new");
    let manifest = restored(&backup(), &target).unwrap();
    assert_eq!((manifest.files.len(), &*manifest.software), (3, "test"));
    assert_eq!(fs::read(target.join("archive/0000000001.oseg")).unwrap(), [7; 1_300]);
    assert_eq!(fs::read(target.join("layouts/a.json")).unwrap(), b"{}\0\0");
    let mode = |path: &str| fs::metadata(target.join(path)).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(""), mode("access"), mode("layouts/a.json")), (0o700, 0o700, 0o600));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn what_a_killed_restore_has_left_is_removed_and_what_runs_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let [killed, running, other] =
        [".oasis-restore-killed", ".oasis-restore-running", "mine"].map(|name| folder.path().join(name));
    for path in [&killed, &running, &other] {
        fs::create_dir(path).unwrap();
        fs::write(path.join("part"), "x").unwrap();
    }
    let held = File::open(&running).unwrap();
    held.try_lock().unwrap();
    restored(&backup(), &folder.path().join("new")).unwrap();
    assert!(!killed.exists() && running.join("part").exists() && other.join("part").exists());
}

#[test]
fn a_folder_with_something_in_it_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("mine"), "x").unwrap();
    assert!(matches!(restored(&backup(), folder.path()), Err(RestoreError::NotEmpty(_))));
    assert!(matches!(restored(&backup(), &folder.path().join("mine")), Err(RestoreError::NotEmpty(_))));
    let empty = tempfile::tempdir().unwrap();
    restored(&backup(), empty.path()).unwrap();
}

#[test]
fn a_later_format_and_other_files_are_refused() {
    let mut later = Vec::new();
    for (name, text) in [(ABOUT, "2\n"), ("new", "x")] {
        later.extend(header::encode(&Entry { name: name.into(), size: text.len() as u64 }, 0).unwrap());
        later.extend(text.as_bytes());
        later.resize(later.len().next_multiple_of(BLOCK), 0);
    }
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("new");
    assert!(matches!(restored(&later, &target), Err(RestoreError::Version(2))));
    assert!(matches!(restored(b"PK\x03\x04", &target), Err(RestoreError::NotABackup)));
    assert!(matches!(restored(&[0; 2_048], &target), Err(RestoreError::NotABackup)));
}

#[test]
fn a_truncated_backup_says_where_it_ends_and_what_is_complete() {
    let (whole, folder) = (backup(), tempfile::tempdir().unwrap());
    let found = |bytes: &[u8]| match restored(bytes, &folder.path().join("new")) {
        Err(RestoreError::Truncated { at, within, files, bytes }) => (at, within, files, bytes),
        other => panic!("{other:?}"),
    };
    for (at, within, files, bytes) in [
        (0, "its beginning", 0, 0),
        (300, "its beginning", 0, 0),
        (700, "its beginning", 0, 0),
        (1_636, "the file \"archive/0000000001.oseg\"", 0, 0),
        (3_082, "the header of a file", 1, 1_300),
        (5_125, "the file \"manifest.json\"", 3, 1_304),
    ] {
        assert_eq!(found(&whole[..at]), (at as u64, within.into(), files, bytes));
    }
    // The rest is zeros, as on a disk that was full.
    let zeros = [&whole[..3_584], &[0; 1_024][..]].concat();
    assert_eq!(found(&zeros), (4_096, "the header of a file".into(), 2, 1_300));
    let text = restored(&whole[..3_082], &folder.path().join("new")).unwrap_err().to_string();
    assert!(
        text.contains("truncated")
            && text.contains("after 3082 bytes")
            && text.contains("1 files with 1300 bytes"),
        "{text}"
    );
}

proptest! {
    #[test]
    fn any_damage_is_noticed_and_leaves_nothing(at: prop::sample::Index, bit in 0..8, cut: bool) {
        let mut bytes = backup();
        // The bytes after the manifest are ignored.
        let content = bytes.len() - 2 * BLOCK;
        let at = at.index(content);
        if cut { bytes.truncate(at) } else { bytes[at] ^= 1_u8 << bit }
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("new");
        match restored(&bytes, &target) {
            // A flipped bit may be in zeros between files, in a time, or in the text of the manifest.
            Ok(_) => prop_assert_eq!(fs::read(target.join("archive/0000000001.oseg")).unwrap(), [7; 1_300]),
            Err(_) => prop_assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0),
        }
    }

    #[test]
    fn any_bytes_are_refused(bytes in prop::collection::vec(any::<u8>(), 0..2_000)) {
        let folder = tempfile::tempdir().unwrap();
        prop_assert!(restored(&bytes, &folder.path().join("new")).is_err());
    }
}

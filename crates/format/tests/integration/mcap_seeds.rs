//! Reads the seeds and the findings of the fuzzer, also with a few changed bytes.

use oasis_format::mcap::ReadError;
use oasis_wire::batch::Batch;
use proptest::prelude::*;
use std::{collections::BTreeMap, convert::Infallible, fs, sync::LazyLock};

static SEEDS: LazyLock<BTreeMap<String, Vec<u8>>> = LazyLock::new(|| {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/seeds/mcap_read");
    let files = fs::read_dir(folder).unwrap().map(Result::unwrap);
    files.map(|file| (file.file_name().into_string().unwrap(), fs::read(file.path()).unwrap())).collect()
});

/// Returns the number of samples, and checks their batches.
fn samples(bytes: &[u8]) -> Result<usize, ReadError<Infallible>> {
    let mut samples = 0;
    oasis_format::mcap::read(bytes, |recorded, batch| {
        recorded.probe_type.validate().expect("a type that archives take");
        let batch = Batch::parse(batch, &recorded.probe_type).expect("a batch that archives take");
        samples += batch.samples().len();
        Ok(())
    })?;
    Ok(samples)
}

#[test]
fn seeds_are_read_and_findings_of_the_fuzzer_are_refused() {
    assert!(SEEDS.len() >= 9);
    for (name, bytes) in &*SEEDS {
        let is_found = name.starts_with("found-");
        match samples(bytes) {
            Ok(samples) => assert!(!is_found && samples > 0, "{name}"),
            Err(error) => assert!(is_found, "{name}: {error}"),
        }
    }
}

#[test]
fn samples_do_not_depend_on_compression() {
    for (name, bytes) in SEEDS.iter().filter(|(name, _)| name.ends_with("-zstd")) {
        let plain = &SEEDS[&name.replace("-zstd", "-plain")];
        assert_eq!(samples(bytes).unwrap(), samples(plain).unwrap(), "{name}");
    }
}

proptest! {
    #[test]
    fn a_file_with_bytes_changed_or_cut_off_is_read_or_refused(
        which in any::<prop::sample::Index>(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let seeds: Vec<_> = SEEDS.values().collect();
        let mut bytes = which.get(&seeds).to_vec();
        changes.iter().for_each(|(at, byte)| *at.get_mut(&mut bytes) = *byte);
        let end = cut.map_or(bytes.len(), |cut| cut.index(bytes.len()));
        let _ = samples(&bytes[..end]);
    }
}

//! Reads the seeds and the findings of the fuzzer, also with a few changed bytes.

use oasis_format::mcap::ReadError;
use oasis_wire::{batch::Batch, value};
use proptest::prelude::*;
use std::{collections::BTreeMap, convert::Infallible, fs, io::Cursor, sync::LazyLock};

static SEEDS: LazyLock<BTreeMap<String, Vec<u8>>> = LazyLock::new(|| {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/seeds/mcap_read");
    let files = fs::read_dir(folder).unwrap().map(Result::unwrap);
    files.map(|file| (file.file_name().into_string().unwrap(), fs::read(file.path()).unwrap())).collect()
});

/// A sample: its instance, number and time, and all its values as text.
type ReadSample = (String, u64, u64, String);

/// Returns all samples, after a check of their batches, and whether messages are lost.
fn samples(bytes: &[u8]) -> Result<(Vec<ReadSample>, bool), ReadError<Infallible>> {
    let mut samples = Vec::new();
    let rest = oasis_format::mcap::read(Cursor::new(bytes), |recorded, batch| {
        recorded.probe_type.validate().expect("a type that archives take");
        let batch = Batch::parse(batch, &recorded.probe_type).expect("a batch that archives take");
        samples.extend(batch.samples().map(|sample| {
            let values = value::to_json(&recorded.probe_type, &sample.values);
            let values = serde_json::to_string(&values).expect("JSON");
            (recorded.instance.to_string(), sample.sequence, sample.time, values)
        }));
        Ok(())
    })?;
    Ok((samples, rest.damage.is_some_and(|damage| damage.is_loss())))
}

#[test]
fn seeds_are_read_and_findings_of_the_fuzzer_are_refused() {
    assert!(SEEDS.len() >= 9);
    for (name, bytes) in &*SEEDS {
        let is_found = name.starts_with("found-");
        match samples(bytes) {
            Ok((samples, is_damaged)) => {
                assert_eq!(is_damaged, is_found, "{name}");
                assert!(is_found || !samples.is_empty(), "{name}");
            }
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

    #[test]
    fn a_flipped_bit_loses_samples_and_changes_none(
        which in any::<prop::sample::Index>(),
        at in any::<prop::sample::Index>(),
        bit in 0..8_u32,
    ) {
        // The others have no checksums, so that the fuzzer gets beyond them.
        let seeds: Vec<_> = SEEDS.iter().filter(|(name, _)| name.ends_with("-zstd")).collect();
        let (name, whole) = which.get(&seeds);
        let (expected, _) = samples(whole).unwrap();
        let mut bytes = whole.to_vec();
        *at.get_mut(&mut bytes) ^= 1 << bit;
        if let Ok((found, is_damaged)) = samples(&bytes) {
            prop_assert!(found.len() == expected.len() || is_damaged, "{}: samples vanished", name);
            let is_known = |(instance, sequence, time, values): &ReadSample| {
                // After a chunk without an index, samples are of another run.
                expected.iter().any(|(of, number, at, all)| {
                    of == instance && time == at && values == all && (sequence == number || is_damaged)
                })
            };
            prop_assert!(found.iter().all(is_known), "{}: a sample changed", name);
        }
    }
}

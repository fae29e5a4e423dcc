//! Names of objects. Engines read `type=`, `day=` and `hour=` as columns, and skip what begins with `_`.

use crate::sorted_samples::HOUR;
use jiff::Timestamp;
use oasis_wire::quantity::Epoch;
use object_store::path::Path;
use sha2::{Digest, Sha256};
use std::fmt::Write;

/// Longest name of a type in a name of an object, in bytes; a longer one is cut, and has a checksum.
const MAX_TYPE_NAME_BYTES: usize = 120;

/// Returns a name that is the same on every run: the epoch of the DAC and the number of the file.
pub fn segment_name(epoch: Epoch, segment: u64) -> String {
    format!("{epoch}-{segment:08}")
}

/// Returns the folder of a probe type and an hour since 1970.
pub fn partition(type_name: &str, hour: u64) -> String {
    let seconds = i64::try_from(hour.saturating_mul(HOUR / 1_000_000_000)).unwrap_or_default();
    let begin = Timestamp::from_second(seconds).unwrap_or_default();
    format!("type={}/{}", escaped(type_name), begin.strftime("day=%Y-%m-%d/hour=%H"))
}

/// Returns the name of an object: the part of a segment with this number in a partition. A checksum of the type's name is in it, because folders of
/// types that differ only in case are one folder on some disks.
///
/// # Errors
/// If the store cannot have the name, which does not happen.
pub fn object(
    (partition, type_name): (&str, &str),
    segment_name: &str,
    part: u32,
) -> Result<Path, object_store::Error> {
    let checksum = hexadecimal(&Sha256::digest(type_name.as_bytes())[..4]);
    Ok(Path::parse(format!("{partition}/{segment_name}-{checksum}-{part}.parquet"))?)
}

/// Returns the name of the manifest of a segment.
///
/// # Errors
/// As [`object`].
pub fn manifest(segment_name: &str) -> Result<Path, object_store::Error> {
    Ok(Path::parse(format!("_manifests/{segment_name}.json"))?)
}

/// Escapes all but letters, digits and `_`, `-`, `.` as in an address: engines read the text back.
fn escaped(name: &str) -> String {
    let mut escaped = String::new();
    for byte in name.bytes() {
        if escaped.len() + 3 > MAX_TYPE_NAME_BYTES {
            let checksum = Sha256::digest(name.as_bytes());
            let _ = write!(escaped, "~{}", hexadecimal(&checksum[..8]));
            break;
        }
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'-' | b'.' => escaped.push(byte.into()),
            _ => drop(write!(escaped, "%{byte:02X}")),
        }
    }
    escaped
}

/// Returns bytes as hexadecimal digits.
pub fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_sort_by_time_and_no_type_leaves_its_folder() {
        let hour = 1_763_683_200 / 3_600;
        assert_eq!(partition("Plant::Tank", hour), "type=Plant%3A%3ATank/day=2025-11-21/hour=00");
        for hostile in ["", "..", "../../etc", "a/b", "a\\b", "\0", "é#?%", "day=1"] {
            let partition = partition(hostile, hour + 5);
            assert_eq!(partition.split('/').count(), 3, "{partition}");
            let object = object((&partition, hostile), &segment_name(Epoch(0xab), 7), 2).unwrap();
            let name = object.as_ref().split_once("/hour=05/00000000000000ab-00000007-").unwrap().1;
            assert!(name.len() == "12345678-2.parquet".len() && name.ends_with("-2.parquet"), "{object}");
        }
    }

    #[test]
    fn objects_of_types_that_differ_in_case_differ_in_more() {
        let lower_case = |type_name: &str| {
            let partition = partition(type_name, 0);
            object((&partition, type_name), "segment", 0).unwrap().as_ref().to_lowercase()
        };
        assert_ne!(lower_case("Tank"), lower_case("TANK"));
    }

    #[test]
    fn long_names_are_cut_and_still_differ() {
        let names = ["x".repeat(500), "x".repeat(501), "é".repeat(500)].map(|name| partition(&name, 0));
        assert!(names.iter().all(|name| name.len() < 180));
        assert_ne!(names[0], names[1]);
    }
}

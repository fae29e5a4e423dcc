use super::INPUT;
use crate::input::{InputError, InputFile, InputOptions, Report};
use oasis_wire::batch::{Batch, Sample};
use proptest::prelude::*;
#[cfg(feature = "mcap")]
use std::io::{Read, Write};
use std::{collections::BTreeMap, io::Cursor, path::Path};

type Instances = BTreeMap<String, Vec<Sample>>;

fn read(bytes: &[u8]) -> Result<(Instances, Report), InputError> {
    let mut all = Instances::new();
    let mut content = Cursor::new(bytes);
    let mut file = InputFile { path: Path::new("a.bag"), content: &mut content };
    let report = (INPUT.read)(&mut file, &InputOptions::default(), &mut |recorded, batch| {
        let samples = all.entry(recorded.instance.to_string()).or_default();
        samples.extend(Batch::parse(batch, &recorded.probe_type)?.samples());
        Ok(())
    })?;
    Ok((all, report))
}

fn with_length(bytes: &[u8]) -> Vec<u8> {
    [&(bytes.len() as u32).to_le_bytes(), bytes].concat()
}

fn record(fields: &[&[u8]], data: &[u8]) -> Vec<u8> {
    let header: Vec<u8> = fields.iter().flat_map(|field| with_length(field)).collect();
    [with_length(&header), with_length(data)].concat()
}

fn bag(compression: &str) -> Vec<u8> {
    bag_with(compression, |content| content)
}

/// A bag with a chunk whose content is packed.
fn bag_with(compression: &str, pack: impl FnOnce(Vec<u8>) -> Vec<u8>) -> Vec<u8> {
    let header = [&b"type=a/A"[..], b"message_definition=uint8 x\n"].map(with_length).concat();
    let connection = record(&[b"op=\x07", b"conn=\x01\0\0\0", b"topic=/a"], &header);
    let message = |x: u8| record(&[b"op=\x02", b"conn=\x01\0\0\0", b"time=\x02\0\0\0\x03\0\0\0"], &[x]);
    let chunk = record(
        &[b"op=\x05", format!("compression={compression}").as_bytes()],
        &pack([connection, message(7), message(8)].concat()),
    );
    let index = record(&[b"op=\x04", b"conn=\x01\0\0\0"], &[0; 12]);
    [&b"#ROSBAG V2.0\n"[..], &record(&[b"op=\x03"], &[b' '; 100]), &chunk, &index].concat()
}

#[test]
fn messages_of_chunks_are_samples() {
    let (all, report) = read(&bag("none")).unwrap();
    assert_eq!(
        all["a"].iter().map(|of| (of.time, of.sequence)).collect::<Vec<_>>(),
        [(2_000_000_003, 1), (2_000_000_003, 2)]
    );
    assert!(report.is_complete(), "{report:?}");
}

#[test]
fn compressed_and_cut_bags_say_so() {
    let error = read(&bag("zip")).unwrap_err().to_string();
    assert!(error.contains("rosbag decompress"), "{error}");
    let bytes = bag("none");
    let (all, report) = read(&bytes[..bytes.len() - 70]).unwrap();
    assert_eq!(all["a"].len(), 1);
    assert!(report.is_damaged && !report.is_complete());
    assert!(read(b"#ROSBAG V1.2\n").unwrap_err().to_string().contains("rosbag fix"));
}

#[cfg(feature = "mcap")]
fn lz4(content: &[u8]) -> Vec<u8> {
    let mut encoder = lz4_flex::frame::FrameEncoder::new(Vec::new());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

#[cfg(feature = "mcap")]
fn bzip2(content: &[u8]) -> Vec<u8> {
    let mut packed = Vec::new();
    bzip2::read::BzEncoder::new(content, bzip2::Compression::fast()).read_to_end(&mut packed).unwrap();
    packed
}

#[cfg(feature = "mcap")]
#[test]
fn compressed_chunks_are_unpacked() {
    let plain = read(&bag("none")).unwrap().0;
    for (name, pack) in [("lz4", lz4 as fn(&[u8]) -> Vec<u8>), ("bz2", bzip2)] {
        let bytes = bag_with(name, |content| pack(&content));
        let (all, report) = read(&bytes).unwrap();
        assert_eq!(all["a"], plain["a"], "{name}");
        assert!(report.is_complete(), "{name}: {report:?}");
        // The index after the chunk has 38 bytes.
        let (_, report) = read(&bytes[..bytes.len() - 50]).unwrap();
        assert!(report.is_damaged, "{name}");
        let short = bag_with(name, |content| pack(&content[..content.len() - 1]));
        assert!(read(&short).unwrap_err().to_string().contains("its chunk ends before it"), "{name}");
        let error = read(&bag(name)).unwrap_err().to_string();
        assert!(error.contains("cannot be unpacked"), "{name}: {error}");
        let within = bag_with(name, |content| pack(&record(&[b"op=\x05", b"compression=lz4"], &content)));
        assert!(read(&within).unwrap_err().to_string().contains("within another"), "{name}");
    }
}

proptest! {
    #[test]
    fn a_changed_bag_is_read_or_refused(is_packed: bool, at in 0..400_usize, byte: u8, cut in 0..400_usize) {
        #[cfg(feature = "mcap")]
        let mut bytes = if is_packed { bag_with("lz4", |content| lz4(&content)) } else { bag("none") };
        #[cfg(not(feature = "mcap"))]
        let mut bytes = { let _ = is_packed; bag("none") };
        let at = at % bytes.len();
        bytes[at] = byte;
        let cut = bytes.len() - cut % 40;
        bytes.truncate(cut);
        let _ = read(&bytes);
    }
}

use super::INPUT;
use crate::input::{InputError, InputFile, InputOptions, Report};
use oasis_wire::batch::{Batch, Sample};
use proptest::prelude::*;
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
    let header = [&b"type=a/A"[..], b"message_definition=uint8 x\n"].map(with_length).concat();
    let connection = record(&[b"op=\x07", b"conn=\x01\0\0\0", b"topic=/a"], &header);
    let message = |x: u8| record(&[b"op=\x02", b"conn=\x01\0\0\0", b"time=\x02\0\0\0\x03\0\0\0"], &[x]);
    let chunk = record(
        &[b"op=\x05", format!("compression={compression}").as_bytes()],
        &[connection, message(7), message(8)].concat(),
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
    let error = read(&bag("bz2")).unwrap_err().to_string();
    assert!(error.contains("rosbag decompress"), "{error}");
    let bytes = bag("none");
    let (all, report) = read(&bytes[..bytes.len() - 70]).unwrap();
    assert_eq!(all["a"].len(), 1);
    assert!(report.is_damaged && !report.is_complete());
    assert!(read(b"#ROSBAG V1.2\n").unwrap_err().to_string().contains("rosbag fix"));
}

proptest! {
    #[test]
    fn a_changed_bag_is_read_or_refused(at in 0..400_usize, byte: u8, cut in 0..400_usize) {
        let mut bytes = bag("none");
        let at = at % bytes.len();
        bytes[at] = byte;
        let cut = bytes.len() - cut % 40;
        bytes.truncate(cut);
        let _ = read(&bytes);
    }
}

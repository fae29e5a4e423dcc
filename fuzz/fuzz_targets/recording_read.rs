//! Any bytes are a recording of the format that the first byte chooses, or refused; what is read of it are batches that an archive takes.

#![no_main]

use libfuzzer_sys::fuzz_target;
use oasis_format::{
    input::{Dbc, InputFile, InputOptions},
    inputs::INPUTS,
};
use oasis_wire::batch::Batch;
use std::{io::Cursor, path::Path};

/// The database of frames: multiplexed, signed and big-endian signals.
const DBC: &[u8] = include_bytes!("../../crates/format/tests/corpus/candump/multiplex_2.dbc");

fuzz_target!(|input: &[u8]| {
    let Some((&choice, content)) = input.split_first() else { return };
    // Libraries open databases and Parquet files by path.
    let by_path = ["rosbag2", "parquet"];
    let formats: Vec<_> = INPUTS.iter().filter(|format| !by_path.contains(&format.name)).collect();
    let format = formats[usize::from(choice & 0x7f) % formats.len()];
    let dbc = Dbc { path: "a.dbc".into(), content: DBC.to_vec() };
    let options = InputOptions { is_partial: choice & 0x80 != 0, dbc: vec![dbc], ..InputOptions::default() };
    let mut content = Cursor::new(content);
    let mut file = InputFile { path: Path::new("recording"), content: &mut content };
    let read = (format.read)(&mut file, &options, &mut |recorded, batch| {
        recorded.probe_type.validate().expect("a type that archives take");
        let batch = Batch::parse(batch, &recorded.probe_type).expect("a batch that archives take");
        assert_eq!(batch.samples().len(), usize::from(batch.header().count));
        Ok(())
    });
    if let Err(error) = read {
        assert!(!error.to_string().is_empty());
    }
});

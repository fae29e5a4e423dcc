//! Variants of recordings are read or refused, whatever bytes changed: without a panic, in bounded memory, and into batches that archives
//! take. The seeds are the corpus; schemas and messages of MCAP files change apart, because checksums guard the chunks around them.
//!
//! `OASIS_FUZZ_SECONDS=300 cargo test --release -p oasis-format --features mcap,arrow --test integration damaged_files::` takes longer.

#[allow(dead_code, reason = "other tests read their seeds from folders")]
#[path = "../../../../fuzz/src/variants.rs"]
mod variants;

use crate::{corpus::folder, counting_allocator::peak_bytes};
use oasis_format::{
    input::{Dbc, InputError, InputFile, InputOptions},
    inputs,
};
use oasis_wire::batch::Batch;
use serde_json::Value as Json;
use std::{
    fs,
    io::Cursor,
    path::{Path, PathBuf},
};

/// Variants in the normal suite.
const VARIANTS: u64 = 40;
/// Bound of the memory for a file of the corpus: a message of 8 MiB takes up to 16 times as much.
const MAX_PEAK_BYTES: usize = 256 * 1024 * 1024;

/// The files of the corpus with this ending.
fn seeds(folder_name: &str, ending: &str) -> Vec<Vec<u8>> {
    let files = fs::read_dir(folder().join(folder_name)).unwrap().map(|file| file.unwrap().path());
    let mut files: Vec<PathBuf> =
        files.filter(|path| path.extension().is_some_and(|extension| extension == ending)).collect();
    files.sort();
    files.iter().map(|path| fs::read(path).unwrap()).collect()
}

/// Reads a file twice: each defect refuses it, and defective records are left out. Returns whether it was read.
fn check(format: &str, content: &[u8], dbc: Vec<Dbc>) -> bool {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("recording");
    // Libraries open these by path.
    if matches!(format, "rosbag2" | "parquet") {
        fs::write(&path, content).unwrap();
    }
    let mut is_read = false;
    for is_partial in [false, true] {
        let options = InputOptions { is_partial, dbc: dbc.clone(), ..InputOptions::default() };
        let peak = peak_bytes(|| match read(format, &path, content, &options) {
            Ok(()) => is_read = true,
            Err(error) => assert!(!error.to_string().is_empty()),
        });
        assert!(peak < MAX_PEAK_BYTES, "{format}: {peak} bytes of memory");
    }
    is_read
}

fn read(format: &str, path: &Path, content: &[u8], options: &InputOptions) -> Result<(), InputError> {
    let format = inputs::by_name(format).unwrap();
    let mut content = Cursor::new(content);
    let mut file = InputFile { path, content: &mut content };
    let report = (format.read)(&mut file, options, &mut |recorded, batch| {
        recorded.probe_type.validate().expect("a type that archives take");
        let batch = Batch::parse(batch, &recorded.probe_type).expect("a batch that archives take");
        assert_eq!(batch.samples().len(), usize::from(batch.header().count));
        Ok(())
    })?;
    assert!(report.findings.iter().all(|finding| finding.count > 0), "{:?}", report.findings);
    Ok(())
}

fn run(format: &str, seeds: &[Vec<u8>]) {
    // The seeds themselves are read: otherwise their variants would reach no parser.
    assert!(seeds.iter().any(|seed| check(format, seed, Vec::new())), "{format}");
    variants::run_variants(format, seeds, VARIANTS, |content| {
        check(format, content, Vec::new());
    });
}

#[test]
fn tables_of_text() {
    let mut all = seeds("csv", "csv");
    let texts = [
        "time;x [m/s];s\n01.02.2024 10:00:00,5;1,5;\"a;b\"\n02.02.2024 10:00:00;-2,5e3;NaN\n",
        "time,signal,value,unit\n1.5,a,true,m\n2,b,9007199254740993,s\n-1,a,,\n",
        "node,instance,run,time,time_ns,sequence,state,x,y\nn,i,00000000-0000-0000-0000-000000000001,1970-01-01T00:00:00Z,0,1,0,1.5,\"[1,2]\"\n",
    ];
    all.extend(texts.map(|text| text.as_bytes().to_vec()));
    run("csv", &all);
}

#[test]
fn json_lines() {
    let texts = [
        "{\"time\":\"2024-01-01T00:00:00Z\",\"a\":1,\"b\":{\"c\":[1.5,null]}}\n{\"time\":\"2024-01-02\",\"a\":18446744073709551615}\n",
        "{\"node\":\"n\",\"instance\":\"i\",\"run\":\"00000000-0000-0000-0000-000000000001\",\"sequence\":1,\"time\":0,\"state\":2,\"metrics\":{\"x\":\"NaN\",\"v\":[[1],[]]}}\n",
    ];
    run("jsonl", &texts.map(|text| text.as_bytes().to_vec()));
}

#[test]
fn points() {
    let corpus = seeds("line-protocol", "jsonl").concat();
    let mut all = Vec::new();
    for line in corpus.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        let entry: Json = serde_json::from_slice(line).unwrap();
        all.push(match &entry["text"] {
            Json::String(text) => text.as_bytes().to_vec(),
            bytes => serde_json::from_value(bytes.clone()).unwrap(),
        });
    }
    all.push(b"cpu,host=a\\ b,core=0 used=1.5,n=-4i,u=7u,on=t,s=\"x \\\"y\" 1700000000000000000\ncpu used=2 1700000000\n".to_vec());
    run("line-protocol", &all);
}

#[test]
fn frames_and_their_databases() {
    let databases = seeds("candump", "dbc");
    let logs = seeds("candump", "log");
    assert_eq!(databases.len(), logs.len());
    let dbc = |content: &[u8]| vec![Dbc { path: "a.dbc".into(), content: content.to_vec() }];
    for (database, log) in databases.iter().zip(&logs) {
        let each = VARIANTS / 4;
        variants::run_variants("dbc", std::slice::from_ref(database), each, |content| {
            check("candump", log, dbc(content));
        });
        variants::run_variants("candump", std::slice::from_ref(log), each, |content| {
            check("candump", content, dbc(database));
        });
    }
}

#[test]
fn logs_of_vehicles() {
    let mut all = seeds("ulog", "ulg");
    // Their beginnings have all kinds of messages.
    all.iter_mut().for_each(|seed| seed.truncate(64 * 1024));
    run("ulog", &all);
}

#[test]
fn bags() {
    run("rosbag1", &seeds("rosbag1", "bag"));
}

#[test]
fn databases_of_rosbag2() {
    run("rosbag2", &seeds("rosbag2", "db3"));
}

#[cfg(feature = "arrow")]
#[test]
fn arrow_files_and_streams() {
    run("arrow", &[seeds("arrow", "feather"), seeds("arrow", "arrows")].concat());
}

#[cfg(feature = "arrow")]
#[test]
fn parquet_files() {
    run("parquet", &seeds("parquet", "parquet"));
}

/// Parts of MCAP files.
#[cfg(feature = "mcap")]
mod of_mcap {
    use super::{VARIANTS, check, seeds, variants::run_variants};
    use mcap::{MessageStream, WriteOptions, records::MessageHeader};
    use std::{collections::BTreeMap, fs, io::Cursor, path::Path};

    /// A channel: name, encoding and content of its schema, the encoding of its messages, and some of them.
    struct Recorded {
        name: String,
        schema_encoding: String,
        schema: Vec<u8>,
        encoding: String,
        messages: Vec<Vec<u8>>,
    }

    /// The channels of a file, with three messages each.
    fn channels(file: &[u8]) -> Vec<Recorded> {
        let mut all = BTreeMap::new();
        for message in MessageStream::new(file).unwrap().map(Result::unwrap) {
            let Some(schema) = &message.channel.schema else { continue };
            let of = all.entry(message.channel.id).or_insert_with(|| Recorded {
                name: schema.name.clone(),
                schema_encoding: schema.encoding.clone(),
                schema: schema.data.to_vec(),
                encoding: message.channel.message_encoding.clone(),
                messages: Vec::new(),
            });
            if of.messages.len() < 3 {
                of.messages.push(message.data.to_vec());
            }
        }
        all.into_values().collect()
    }

    /// Writes a file without compression.
    fn file(of: &Recorded, schema: &[u8], messages: &[&[u8]]) -> Vec<u8> {
        let mut file = Cursor::new(Vec::new());
        let mut writer = WriteOptions::new().compression(None).create(&mut file).unwrap();
        let schema_id = writer.add_schema(&of.name, &of.schema_encoding, schema).unwrap();
        let channel_id = writer.add_channel(schema_id, "topic", &of.encoding, &BTreeMap::new()).unwrap();
        for (sequence, message) in (1..).zip(messages) {
            let time = u64::from(sequence);
            let header = MessageHeader { channel_id, sequence, log_time: time, publish_time: time };
            writer.write_to_known_channel(&header, message).unwrap();
        }
        writer.finish().unwrap();
        drop(writer);
        file.into_inner()
    }

    fn run(encoding: &str, files: &[Vec<u8>]) {
        let channels: Vec<_> = files.iter().flat_map(|file| channels(file)).collect();
        assert!(!channels.is_empty(), "{encoding}");
        let each = (VARIANTS / channels.len() as u64).max(2);
        for of in &channels {
            let whole: Vec<_> = of.messages.iter().map(Vec::as_slice).collect();
            assert!(check("mcap", &file(of, &of.schema, &whole), Vec::new()), "{}", of.name);
            run_variants(&format!("schema-{encoding}"), std::slice::from_ref(&of.schema), each, |schema| {
                check("mcap", &file(of, schema, &whole), Vec::new());
            });
            run_variants(&format!("message-{encoding}"), &of.messages, each, |message| {
                check("mcap", &file(of, &of.schema, &[message]), Vec::new());
            });
        }
    }

    #[test]
    fn idl_and_cdr() {
        run("idl", &seeds("idl", "mcap"));
    }

    #[test]
    fn definitions_of_ros2() {
        let vectors = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors/ros2.mcap");
        run("ros2msg", &[fs::read(vectors).unwrap()]);
    }

    #[test]
    fn descriptors_and_messages() {
        run("protobuf", &seeds("protobuf", "mcap"));
    }
}

//! Recordings go from archive to archive without losing a sample or taking one twice (`oasis export`, `oasis import`).

#[cfg(feature = "arrow")]
mod arrow;
mod faults;
mod live;
mod mcap_encodings;
mod mcap_readers;
mod missing;
pub mod plant;

use crate::harness::{Oasis, oasis};
use mcap::MessageStream;
use plant::{Plant, json_of, plant};
use serde_json::Value;
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

/// Whether it went well, what it wrote, what it said.
pub fn run(verb: &str, archive: &Path, arguments: &[&str]) -> (bool, Vec<u8>, String) {
    let done = oasis().arg(verb).arg("--archive").arg(archive).args(arguments).output().unwrap();
    (done.status.success(), done.stdout, String::from_utf8(done.stderr).unwrap())
}

fn export(archive: &Path, format: &str, to: &Path) {
    let (is_done, _, said) = run("export", archive, &["--format", format, "-o", to.to_str().unwrap()]);
    assert!(is_done, "{said}");
}

/// All samples of an archive, as JSON lines, by node and instance.
fn lines(archive: &Path) -> BTreeMap<(String, String), Vec<Value>> {
    let (is_done, out, said) = run("export", archive, &["--format", "jsonl"]);
    assert!(is_done, "{said}");
    let mut lines: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for line in String::from_utf8(out).unwrap().lines() {
        let mut line: Value = serde_json::from_str(line).unwrap();
        let mut name =
            |key: &str| line.as_object_mut().unwrap().remove(key).unwrap().as_str().unwrap().to_owned();
        let key = (name("node"), name("instance"));
        lines.entry(key).or_default().push(line);
    }
    lines
}

/// As an import names nodes.
fn renamed(
    lines: BTreeMap<(String, String), Vec<Value>>,
    prefix: &str,
) -> BTreeMap<(String, String), Vec<Value>> {
    lines.into_iter().map(|((node, instance), of)| ((format!("{prefix}:{node}"), instance), of)).collect()
}

#[test]
fn an_mcap_file_has_every_sample_in_the_order_of_time() {
    let folder = tempfile::tempdir().unwrap();
    let Plant { archive, samples } = plant(folder.path());
    let path = folder.path().join("all.mcap");
    export(&archive, "mcap", &path);

    let bytes = fs::read(&path).unwrap();
    let mut read: BTreeMap<_, Vec<_>> = BTreeMap::new();
    let mut before = 0;
    for message in MessageStream::new(&bytes).unwrap() {
        let message = message.unwrap();
        assert!(message.log_time >= before, "in the order of time");
        before = message.log_time;
        if message.channel.topic == "/oasis/missing" {
            continue;
        }
        let channel = &message.channel;
        let schema = channel.schema.as_ref().unwrap();
        assert_eq!((channel.message_encoding.as_str(), schema.encoding.as_str()), ("json", "jsonschema"));
        let (node, instance) = (channel.metadata["node"].clone(), channel.metadata["instance"].clone());
        assert_eq!(channel.topic, format!("{node}/{instance}"));
        let schema: Value = serde_json::from_slice(&schema.data).unwrap();
        let metrics: Value = serde_json::from_slice(&message.data).unwrap();
        for (name, value) in metrics.as_object().unwrap() {
            assert!(is_described(&schema["properties"][name], value), "{name} {value}");
        }
        read.entry((node, instance)).or_default().push((message.sequence, message.log_time, metrics));
    }
    let written: BTreeMap<_, Vec<_>> = samples
        .iter()
        .map(|(key, samples)| {
            (key.clone(), samples.iter().map(|s| (s.sequence as u32, s.time, json_of(s))).collect())
        })
        .collect();
    assert_eq!(read, written);
    let summary = mcap::Summary::read(&bytes).unwrap().unwrap();
    assert!(
        summary.chunk_indexes.iter().all(|chunk| chunk.compression == "zstd")
            && !summary.chunk_indexes.is_empty()
    );
    let topics: BTreeSet<_> = summary.channels.values().map(|channel| channel.topic.clone()).collect();
    assert_eq!(topics.len(), samples.len() + 1, "a topic for each instance, and one for what is missing");
}

/// Returns the answer of a DAC: status and body.
fn get(url: &str) -> (u16, Vec<u8>) {
    let mut answer = ureq::get(url).config().http_status_as_error(false).build().call().unwrap();
    let body = answer.body_mut().with_config().limit(1 << 30).read_to_vec().unwrap();
    (answer.status().as_u16(), body)
}

/// The messages about missing samples.
fn missing_in(bytes: &[u8]) -> Vec<Value> {
    let messages = MessageStream::new(bytes).unwrap().map(Result::unwrap);
    let missing = messages.filter(|message| message.channel.topic == "/oasis/missing");
    missing.map(|message| serde_json::from_slice(&message.data).unwrap()).collect()
}

#[test]
fn a_dac_answers_with_the_mcap_file_that_an_export_writes() {
    let folder = tempfile::tempdir().unwrap();
    let Plant { archive, samples } = plant(folder.path());
    let wanted = renamed(lines(&archive), "http");
    let exported = folder.path().join("all.mcap");
    export(&archive, "mcap", &exported);
    let up = Oasis::up(&["--archive", archive.to_str().unwrap(), "--probe", "heartbeat"]);
    let url = format!("{}/api/v1/history.mcap", up.http());
    let mut request = ureq::get(&url);
    for (node, instance) in samples.keys() {
        request = request.query("node", node).query("instance", instance);
    }
    let bytes = request.call().unwrap().body_mut().with_config().limit(1 << 30).read_to_vec().unwrap();
    let times: Vec<_> =
        MessageStream::new(&bytes).unwrap().map(|message| message.unwrap().log_time).collect();
    assert!(times.is_sorted(), "in the order of time");
    let (mut expected, mut found) = (missing_in(&fs::read(&exported).unwrap()), missing_in(&bytes));
    // An export also knows what is missing at the end of an instance.
    expected.retain(|gap| found.contains(gap));
    found.sort_by_key(|gap| gap.to_string());
    expected.sort_by_key(|gap| gap.to_string());
    assert_eq!(found, expected);
    assert!(!found.is_empty());

    let (path, other) = (folder.path().join("http.mcap"), folder.path().join("other"));
    fs::write(&path, &bytes).unwrap();
    let (is_done, _, said) = run("import", &other, &[path.to_str().unwrap()]);
    assert!(is_done && !said.contains("left out"), "{said}");
    assert_eq!(lines(&other), wanted);

    let many: String = (0..65).map(|number| format!("&instance=a{number}")).collect();
    for (query, status, problem) in [
        ("?node=plant&instance=nobody", 404, "unknown_instance"),
        ("?node=plant&instance=tank&to=1", 404, "no_samples"),
        ("?node=plant&instance=tank&from=then", 400, "bad_parameter"),
        (&format!("?node=plant{many}"), 422, "too_many_instances"),
    ] {
        let (found, body) = get(&format!("{url}{query}"));
        let said = String::from_utf8(body).unwrap();
        assert_eq!(found, status, "{query}: {said}");
        assert!(said.contains(&format!("/problems/{problem}\"")), "{query}: {said}");
    }
}

/// Checks a value with the part of JSON Schema that viewers use.
fn is_described(schema: &Value, value: &Value) -> bool {
    let not_finite = ["NaN", "Infinity", "-Infinity"];
    match schema["type"].as_str() {
        None => schema["oneOf"].is_array() && value.is_i64(),
        Some("number") => value.is_number() || not_finite.contains(&value.as_str().unwrap()),
        Some("integer") => value.is_i64() || value.is_u64(),
        Some("boolean") => value.is_boolean(),
        Some("string") => value.is_string(),
        Some("array") => {
            value.as_array().unwrap().iter().all(|element| is_described(&schema["items"], element))
        }
        Some("object") => {
            value.as_object().unwrap().iter().all(|(name, of)| is_described(&schema["properties"][name], of))
        }
        Some(_) => false,
    }
}

#[test]
fn an_imported_mcap_file_equals_the_export_and_a_second_import_adds_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let Plant { archive, .. } = plant(folder.path());
    let (path, other) = (folder.path().join("drive.mcap"), folder.path().join("other"));
    export(&archive, "mcap", &path);
    let path = path.to_str().unwrap();

    let (is_done, _, said) = run("import", &other, &[path]);
    assert!(is_done && !said.contains("left out"), "{said}");
    let expected = renamed(lines(&archive), "drive");
    assert_eq!(lines(&other), expected);

    let (is_done, _, said) = run("import", &other, &[path]);
    assert!(is_done && said.contains(" 0 samples imported") && said.contains("already stored"), "{said}");
    assert_eq!(lines(&other), expected);
    assert!(!other.join("import.part").exists());

    // Part of it was there, under the same name.
    let third = folder.path().join("third");
    let part = folder.path().join("part.mcap");
    let instance = &archive_instance(&archive);
    let (is_done, _, said) = run(
        "export",
        &archive,
        &[instance, "--format", "mcap", "-o", part.to_str().unwrap(), "--to", "1970-01-01T00:03:21Z"],
    );
    assert!(is_done, "{said}");
    let (is_done, _, said) = run("import", &third, &["--name", "drive", part.to_str().unwrap()]);
    assert!(is_done, "{said}");
    let (is_done, _, said) = run("import", &third, &[path]);
    assert!(is_done && said.contains("already stored"), "{said}");
    let sorted = |mut of: BTreeMap<_, Vec<Value>>| {
        of.values_mut().for_each(|samples| samples.sort_by_key(|sample| sample["sequence"].as_u64()));
        of
    };
    assert_eq!(sorted(lines(&third)), sorted(expected));
}

/// One with plain names.
fn archive_instance(archive: &Path) -> String {
    lines(archive)
        .into_keys()
        .map(|(node, instance)| format!("{node}/{instance}"))
        .find(|name| name == "plant/tank")
        .unwrap()
}

#[test]
fn segment_files_of_another_archive_are_imported_and_damage_is_skipped() {
    let folder = tempfile::tempdir().unwrap();
    let Plant { archive, .. } = plant(folder.path());
    let other = folder.path().join("other");
    let (is_done, _, said) = run("import", &other, &["--name", "bench", archive.to_str().unwrap()]);
    assert!(is_done, "{said}");
    assert_eq!(lines(&other), renamed(lines(&archive), "bench"));
    let segment = archive.join("0000000001.oseg");
    let (is_done, _, said) = run("import", &other, &["--name", "bench", segment.to_str().unwrap()]);
    assert!(is_done && said.contains(" 0 samples imported") && !said.contains("left out"), "{said}");

    let mut bytes = fs::read(&segment).unwrap();
    let at = bytes.windows(4).rposition(|window| window == b"OREC").unwrap() / 2;
    bytes[at] ^= 1;
    let damaged = folder.path().join("damaged.oseg");
    fs::write(&damaged, &bytes).unwrap();
    let third = folder.path().join("third");
    let (is_done, _, said) = run("import", &third, &[damaged.to_str().unwrap()]);
    assert!(!is_done && said.contains("skipped (damaged)"), "{said}");
    let count = |archive: &Path| lines(archive).values().map(Vec::len).sum::<usize>();
    let (all, left) = (count(&archive), count(&third));
    assert!((1..all).contains(&left));

    // An export of the damaged archive says in its file what is missing.
    fs::write(&segment, bytes).unwrap();
    let path = folder.path().join("missing.mcap");
    export(&archive, "mcap", &path);
    let bytes = fs::read(&path).unwrap();
    let messages = MessageStream::new(&bytes).unwrap().map(Result::unwrap);
    let missing = messages.filter(|message| message.channel.topic == "/oasis/missing");
    let missing: Vec<Value> = missing.map(|message| serde_json::from_slice(&message.data).unwrap()).collect();
    let damaged = missing.iter().filter(|gap| gap["cause"] == "damaged");
    assert_eq!(damaged.map(|gap| gap["samples"].as_u64().unwrap()).sum::<u64>(), (all - left) as u64);
}

#[test]
fn a_damaged_recording_adds_what_is_whole_and_is_explained() {
    let folder = tempfile::tempdir().unwrap();
    let Plant { archive, .. } = plant(folder.path());
    let path = folder.path().join("all.mcap");
    export(&archive, "mcap", &path);
    let bytes = fs::read(&path).unwrap();
    let other = folder.path().join("other");
    // The one chunk, and what follows it.
    let (mut in_chunk, mut after_chunk) = (bytes.clone(), bytes.clone());
    in_chunk[1_000] ^= 0x10;
    after_chunk[bytes.len() / 2] ^= 0x10;
    for (name, bytes, why) in [
        ("cut.mcap", &bytes[..1_000], "the file ends in the record at byte"),
        ("flipped.mcap", &in_chunk[..], "the file is damaged, and has no other messages"),
        ("elsewhere.mcap", &after_chunk[..], "mcap recover"),
        ("short.mcap", &bytes[..8], "mcap recover"),
        ("text.mcap", b"a text\n", "mcap recover"),
        ("empty.mcap", b"", "mcap recover"),
        ("text.dat", b"a text\n", "the format of the file is unknown"),
        ("header.oseg", b"OASISSEG and nothing of use", "segment file"),
    ] {
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        let (is_done, _, said) = run("import", &other, &[path.to_str().unwrap()]);
        assert!(!is_done && said.contains("nothing was imported") && said.contains(why), "{name}: {said}");
        assert!(said.contains(name), "{said}");
        let (_, out, _) = run("export", &other, &["--format", "jsonl"]);
        assert!(out.is_empty());
        assert!(!other.join("import.part").exists() && !other.join("0000000001.oseg").exists(), "{name}");
    }
    let late = folder.path().join("late.mcap");
    fs::write(&late, &bytes[..bytes.len() / 2]).unwrap();
    let third = folder.path().join("third");
    let (is_done, _, said) = run("import", &third, &[late.to_str().unwrap()]);
    assert!(!is_done && said.contains("later messages are lost"), "{said}");
    assert_eq!(lines(&third), renamed(lines(&archive), "late"), "the cut is after the chunk");
    // Nor does one that is whole, while a DAC has the archive open.
    let dac = Oasis::dac(&["--archive", other.to_str().unwrap()]);
    let (is_done, _, said) = run("import", &other, &[path.to_str().unwrap()]);
    assert!(!is_done && said.contains("is open in another process"), "{said}");
    drop(dac);
    let (is_done, _, said) = run("import", &other, &["nowhere.mcap"]);
    assert!(!is_done && said.contains("nowhere.mcap") && said.contains("No such file"), "{said}");
}

#[test]
fn missing_sources_of_exports_and_imports_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let Plant { archive, .. } = plant(folder.path());
    let (empty, of) = (folder.path().join("empty"), |name: &str| folder.path().join(name));
    fs::create_dir(&empty).unwrap();
    let empty = empty.to_str().unwrap();
    for (verb, archive, arguments, why) in [
        ("export", archive.as_path(), &["plant/nothing"][..], "has no samples of plant/nothing"),
        ("export", &archive, &["--format", "mcap", "-o", empty], "is a folder: give a file name"),
        ("export", Path::new(empty), &[], "is not an archive: it has no catalogue.sqlite"),
        ("sql", Path::new(empty), &["SELECT 1"], "is not an archive: it has no catalogue.sqlite"),
        ("import", &of("other"), &["--name", "a/b", archive.to_str().unwrap()], "--name is \"a/b\""),
        ("import", &of("other"), &["--name", "", archive.to_str().unwrap()], "--name is \"\""),
        ("import", &of("other"), &[empty], "neither segment files (*.oseg)"),
    ] {
        let (is_done, out, said) = run(verb, archive, arguments);
        assert!(!is_done && out.is_empty() && said.contains(why), "{verb} {arguments:?}: {said}");
    }
    assert!(!of("other").exists() && !of("empty.part").exists());
}

#[test]
fn json_channels_of_other_programs_are_imported_and_the_others_named() {
    use mcap::{Writer, records::MessageHeader};
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("robot.mcap");
    let mut writer = Writer::new(fs::File::create(&path).unwrap()).unwrap();
    let schema = br#"{"type": "object", "properties": {"x": {"type": "number"}, "n": {"type": "integer"}}}"#;
    let schema = writer.add_schema("Pose", "jsonschema", schema).unwrap();
    let described = writer.add_channel(schema, "/pose", "json", &BTreeMap::new()).unwrap();
    let plain = writer.add_channel(0, "/free", "json", &BTreeMap::new()).unwrap();
    let other = writer.add_channel(0, "/image\u{9b}2J", "cdr", &BTreeMap::new()).unwrap();
    for (channel_id, log_time, data) in [
        (described, 10, r#"{"x": 1, "n": 7}"#),
        (plain, 11, r#"{"on": true}"#),
        (other, 12, "\u{1}\u{2}"),
        (described, 20, r#"{"x": 2.5}"#),
        (described, 30, r#"{"x": "far"}"#),
        (described, 40, r#"{"#),
    ] {
        let header = MessageHeader { channel_id, sequence: 0, log_time, publish_time: log_time };
        writer.write_to_known_channel(&header, data.as_bytes()).unwrap();
    }
    writer.finish().unwrap();
    drop(writer);

    let archive = folder.path().join("archive");
    for samples in ["3 samples imported", "0 samples imported, 3 already stored"] {
        let (is_done, _, said) = run("import", &archive, &[path.to_str().unwrap()]);
        assert!(!is_done && said.contains(samples), "messages are missing: {said}");
        assert!(
            said.contains("/pose: 2 messages skipped: a message does not match the schema: x is \"far\""),
            "{said}"
        );
        assert!(
            said.contains(r"/image\u{9b}2J: 1 messages skipped: CDR messages without a schema"),
            "{said}"
        );
    }
    let lines = lines(&archive);
    let of = |instance: &str| &lines[&("robot".to_owned(), instance.to_owned())];
    let metrics: Vec<_> = of("pose").iter().map(|line| line["metrics"].to_string()).collect();
    assert_eq!(metrics, [r#"{"x":1.0,"n":7.0}"#, r#"{"x":2.5,"n":"NaN"}"#]);
    assert_eq!(of("pose")[1]["sequence"], 2);
    assert_eq!(of("free")[0]["metrics"]["on"], true);
}

#[cfg(not(feature = "arrow"))]
#[test]
fn without_arrow_it_explains_how_to_build_it() {
    let folder = tempfile::tempdir().unwrap();
    let Plant { archive, .. } = plant(folder.path());
    for format in ["arrow", "parquet"] {
        let (is_done, _, said) = run("export", &archive, &["plant/tank", "--format", format]);
        assert!(!is_done && said.contains("--features arrow"), "{said}");
    }
    let up = Oasis::up(&["--probe", "memory"]);
    for format in ["arrow", "parquet"] {
        let url = format!("{}/api/v1/history.{format}?node=plant&instance=memory", up.http());
        let (status, body) = get(&url);
        let problem: Value = serde_json::from_slice(&body).unwrap();
        assert_eq!((status, &problem["type"]), (501, &Value::from("/problems/no_arrow")));
    }
}

#[test]
fn a_recording_that_begins_as_a_stored_one_does_is_another_one() {
    let folder = tempfile::tempdir().unwrap();
    let archive = folder.path().join("archive");
    let path = folder.path().join("log.csv");
    let path_text = path.to_str().unwrap();
    let import = |content: &str| {
        fs::write(&path, content).unwrap();
        run("import", &archive, &[path_text])
    };
    let (is_done, _, said) = import("t,pos\n0,0\n1,1\n2,2\n");
    assert!(is_done, "{said}");
    let stored = lines(&archive);
    for other in ["t,pos\n0,0\n1,100\n2,200\n", "t,pos\n0,0\n1.5,1\n2,2\n", "t,pos\n0,0\n1,1\n1.5,5\n2,2\n"] {
        let (is_done, _, said) = import(other);
        assert!(!is_done && said.contains("log/log, which begins alike and differs at sample"), "{said}");
        assert_eq!(lines(&archive), stored);
    }
    // The file has grown, and a column has another type since then.
    let (is_done, _, said) = import("t,pos\n0,0\n1,1\n2,2\n3,3.5\n");
    assert!(is_done && said.contains("1 samples imported") && said.contains("3 already stored"), "{said}");
}

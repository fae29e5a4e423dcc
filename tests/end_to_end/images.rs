//! Images as samples: the bytes of each frame pass node, DAC and archive unchanged, and one that is too large is a declared loss.

use crate::harness::{Oasis, eventually, get, ledger, oasis};
use base64::{Engine, prelude::BASE64_STANDARD};
use oasis_probe::{Node, NodeBuilder, NodeConfig, PushedKind, RowProbe, TcpConnector};
use oasis_wire::schema::{Blob, MediaType, Metric, MetricType, ProbeType};
use serde_json::{Value, json};
use std::path::Path;

const FRAMES: usize = 30;
const FRAME_BYTES: usize = 100_000;
/// Number of the frame that is larger than its metric allows.
const TOO_LARGE: usize = 11;
const INSTANCE: &str = "node=gate&instance=camera";

fn camera() -> ProbeType {
    let image = Blob { media_type: MediaType::Jpeg, max_bytes: FRAME_BYTES as u32 };
    ProbeType {
        name: "Test::Camera".into(),
        uuid: "5d6a2f0c-6d0b-4e0a-8a64-3f9f5f0e7b01".parse().unwrap(),
        version: "1.0".into(),
        doc: None,
        rate: None,
        metrics: vec![
            Metric::new("exposure", MetricType::Real32),
            Metric::new("image", MetricType::Blob(image)),
        ],
    }
}

/// Bytes that no compression makes smaller, and that differ from frame to frame.
fn frame(number: usize, bytes: usize) -> Vec<u8> {
    let mut state = number as u64 + 1;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    };
    [0xff, 0xd8, 0xff].into_iter().chain(std::iter::repeat_with(&mut next)).take(bytes).collect()
}

fn node(channel: &str) -> (RowProbe, Node) {
    let mut builder = NodeBuilder::new("gate", NodeConfig::default());
    let probe = builder.pushed_rows("camera", camera(), PushedKind::Pushed, 8 << 20).unwrap();
    (probe, builder.start(TcpConnector::new(channel)).unwrap())
}

fn flush(probe: &mut RowProbe, number: usize) {
    let bytes = if number == TOO_LARGE { FRAME_BYTES + 1 } else { FRAME_BYTES };
    let time = 1_763_683_200_000_000_000 + 100_000_000 * number as u64;
    probe.flush_at(time, |row| {
        row.f32(0.5);
        row.blob(&frame(number, bytes));
    });
}

fn run(arguments: &[&str]) -> String {
    let output = oasis().args(arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Checks that an answer has each frame but the one that was too large, byte for byte.
fn check_frames(dac: &Oasis) {
    let samples = eventually("all frames are there", || {
        // A few at a time: an answer is bounded.
        let of = |first: usize| {
            let nanos = |number: usize| 1_763_683_200_000_000_000 + 100_000_000 * number as u64;
            let (from, to) = (nanos(first), nanos(first + 5));
            let path = format!("/api/v1/samples?{INSTANCE}&from={from}ns&to={to}ns&blobs=base64");
            get(dac, &path)["messages"].as_array().cloned().unwrap_or_default()
        };
        let messages: Vec<Value> = (0..FRAMES).step_by(5).flat_map(of).collect();
        let samples = messages.iter().filter_map(|message| message["samples"].as_array()).flatten();
        let samples: Vec<Value> = samples.cloned().collect();
        (samples.len() == FRAMES - 1).then_some(samples)
    });
    let numbers = (0..FRAMES).filter(|number| *number != TOO_LARGE);
    for (number, sample) in numbers.zip(&samples) {
        assert_eq!(sample["sequence"], number + 1);
        let image = &sample["metrics"]["image"];
        assert_eq!((&image["media_type"], &image["bytes"]), (&json!("image/jpeg"), &json!(FRAME_BYTES)));
        let bytes = BASE64_STANDARD.decode(image["data"].as_str().unwrap()).unwrap();
        assert!(bytes == frame(number, FRAME_BYTES), "frame {number} differs");
    }
}

fn start(folder: &Path) -> Oasis {
    Oasis::dac(&["--archive", folder.to_str().unwrap()])
}

#[test]
fn each_frame_is_the_same_after_the_archive_and_one_too_large_is_a_declared_loss() {
    let folder = tempfile::tempdir().unwrap();
    let archive = folder.path().join("archive");
    let dac = start(&archive);
    let (mut probe, node) = node(dac.channel());
    (0..FRAMES).for_each(|number| flush(&mut probe, number));
    let wanted = FRAMES as u64 - 1;
    let book = ledger(&dac, "gate", "camera", "frames stored", |ledger| {
        ledger["archive"]["stored"].as_u64() == Some(wanted)
    });
    assert_eq!((&book["received"], &book["missing"]), (&json!(wanted), &json!(1)), "{book}");
    assert_eq!(book["causes"], json!({"invalid_row": 1}), "{book}");
    check_frames(&dac);
    let newest = get(&dac, &format!("/api/v1/samples?{INSTANCE}&last=1"));
    let newest = &newest["messages"][0]["samples"][0]["metrics"]["image"];
    assert_eq!(*newest, json!({"media_type": "image/jpeg", "bytes": FRAME_BYTES}), "no bytes unasked");
    drop(node);
    dac.kill();

    let again = start(&archive);
    check_frames(&again);
    again.stop();

    let archive = archive.to_str().unwrap();
    let sql = "SELECT count(*), sum(length(image)), typeof(image), hex(substr(image, 1, 3)) FROM test_camera GROUP BY 3, 4";
    let row = run(&["sql", "--archive", archive, "--format", "csv", sql]);
    let bytes = (FRAMES - 1) * FRAME_BYTES;
    assert!(row.contains(&format!("{},{bytes},blob,FFD8FF", FRAMES - 1)), "{row}");

    // Each recording restores the same bytes.
    for name in ["camera.parquet", "camera.mcap", "camera.arrow"] {
        let file = folder.path().join(name);
        let file = file.to_str().unwrap();
        run(&["export", "--archive", archive, "gate/camera", "-o", file]);
        let restored = folder.path().join(format!("{name}.archive"));
        let restored = restored.to_str().unwrap();
        run(&["import", "--archive", restored, file]);
        for number in [0, FRAMES - 1] {
            let sql = format!("SELECT hex(image) FROM test_camera WHERE sequence = {}", number + 1);
            let found = run(&["sql", "--archive", restored, "--format", "csv", &sql]);
            let hex: String = frame(number, FRAME_BYTES).iter().map(|byte| format!("{byte:02X}")).collect();
            assert!(found.contains(&hex), "{name}, frame {number}: {}", &found[..found.len().min(200)]);
        }
    }
    let csv = run(&["export", "--archive", archive, "gate/camera", "--format", "csv"]);
    let line = csv.lines().nth(1).unwrap();
    assert!(line.ends_with(&BASE64_STANDARD.encode(frame(0, FRAME_BYTES))), "{}", &line[..200]);
}

//! `oasis rules` for people and CI, and over a recording (`docs/guides/write-rules.md`).

use crate::harness::{Editor, Oasis, ledger, oasis};
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    fs,
    path::Path,
    process::{Output, Stdio},
};

const RULES: &str = r#"input cpu = "plant/*" : OASIS::System::LinuxProcessorProbe;

alarm Counted {
  raise count(cpu.idle_time >= 0, last 100) >= 100;
  severity low;
}

derive Tenth every 100ms {
  idle = mean(cpu.idle_time, last 10);
}

alarm Derived {
  raise Tenth.idle > 0;
}

alarm Gone {
  raise silent(cpu) for 1s;
}
"#;

/// Runs in a folder, so that its output contains no temporary names.
fn rules(folder: &Path, arguments: &[&str]) -> (i32, String, String) {
    let mut command = oasis();
    command.current_dir(folder).arg("rules").args(arguments).stdin(Stdio::null());
    let Output { status, stdout, stderr } = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (status.code().unwrap(), text(stdout), text(stderr))
}

/// Stores some samples of a processor, disables it for more than a second while another probe continues, and stops all.
fn record(folder: &Path) {
    let dac = Oasis::dac(&["--archive", folder.join("samples").to_str().unwrap()]);
    let node = Oasis::node(dac.channel(), &["--probe", "processor@200", "--probe", "heartbeat@50"]);
    let stored = |name: &str, more_than: u64| {
        let is_stored = |ledger: &Value| ledger["archive"]["stored"].as_u64() > Some(more_than);
        let ledger = ledger(&dac, "plant", name, "samples stored", is_stored);
        ledger["archive"]["stored"].as_u64().unwrap()
    };
    stored("processor", 300);
    let command = ["command", "plant/processor", "disable", "--url"];
    assert!(oasis().args(command).arg(dac.url()).output().unwrap().status.success());
    // 50 a second.
    let before = stored("heartbeat", 0);
    stored("heartbeat", before + 75);
    assert!(node.stop().success() && dac.stop().success());
}

#[test]
fn the_events_of_a_recording_are_the_same_bytes_each_time() {
    let folder = tempfile::tempdir().unwrap();
    record(folder.path());
    fs::write(folder.path().join("a.rules"), RULES).unwrap();
    let run = || rules(folder.path(), &["run", "--archive", "samples", "--format", "json", "a.rules"]);
    let (status, events, said) = run();
    assert_eq!(status, 0, "{said}");
    assert_eq!(run().1, events);
    let events: Vec<Value> = events.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let counted = events.iter().find(|event| event["rule"] == "Counted").unwrap();
    let members = ["event", "source", "severity", "quality", "value", "sequence"].map(|name| &counted[name]);
    let expected =
        [json!("raised"), json!("plant/processor"), json!("low"), json!("good"), json!(100.0), json!(100)];
    assert_eq!(members, expected.each_ref(), "{counted}");
    assert!(
        events.iter().any(|event| event["rule"] == "Derived" && event["state"] == "active"),
        "{events:?}"
    );
    let last = events.last().unwrap();
    assert_eq!((&last["rule"], &last["event"]), (&json!("Gone"), &json!("raised")), "{events:?}");
    assert!(said.contains("of 1 instance"), "{said}");

    let text = rules(folder.path(), &["run", "--archive", "samples", "a.rules"]).1;
    assert!(text.contains("raised     Counted  plant/processor  100 (limit 100)"), "{text}");
    let past = rules(folder.path(), &["run", "--archive", "samples", "--to", "-1h", "a.rules"]);
    assert_eq!((past.0, &*past.1), (0, ""), "{past:?}");
}

#[test]
fn files_are_checked_explained_and_formatted() {
    let folder = tempfile::tempdir().unwrap();
    let pdl = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../pdl/processor.pdl");
    let types = ["--pdl", pdl.to_str().unwrap()];
    fs::write(folder.path().join("a.rules"), RULES.replace("\n  ", " ")).unwrap();
    fs::write(folder.path().join("wrong.rules"), RULES.replace("cpu.idle_time", "cpu.idel_time")).unwrap();
    let with_types = |verb: &str, file: &str| rules(folder.path(), &[&[verb], &types[..], &[file]].concat());

    assert_eq!(with_types("check", "a.rules"), (0, "a.rules: ok: 4 rules, 1 input\n".into(), String::new()));
    let (status, out, said) = with_types("check", "wrong.rules");
    assert_eq!((status, &*out), (1, ""));
    assert!(said.contains("error[R0008]") && said.contains("did you mean `idle_time`?"), "{said}");
    assert!(said.contains("wrong.rules:4:19") && said.contains("2 errors"), "{said}");
    assert_eq!(with_types("check", "nowhere.rules").0, 1);

    let (status, out, _) = with_types("explain", "a.rules");
    assert!(status == 0 && out.contains("Raises an alarm of severity low when"), "{out}");
    assert_eq!(rules(folder.path(), &["fmt", "a.rules"]), (0, "a.rules\n".into(), String::new()));
    assert_eq!(fs::read_to_string(folder.path().join("a.rules")).unwrap(), RULES);
    assert_eq!(rules(folder.path(), &["fmt", "--check", "a.rules"]), (0, String::new(), String::new()));

    let (status, _, said) = rules(folder.path(), &["check", "a.rules"]);
    assert!(status == 1 && said.contains("name PDL files with --pdl"), "{said}");
}

#[test]
fn an_editor_knows_types_and_instances_of_a_running_dac() {
    let dac = Oasis::dac(&[]);
    let node = Oasis::node(dac.channel(), &["--probe", "processor@1"]);
    ledger(&dac, "plant", "processor", "a sample", |ledger| ledger["received"].as_u64() > Some(0));
    let mut editor = Editor::start(&["rules", "lsp", "--stdio", "--dac", &dac.url()]);
    let told = editor.request("initialize", json!({"processId": null, "capabilities": {}}));
    assert_eq!(told["serverInfo"]["name"], "oasis rules lsp");
    editor.notify("initialized", json!({}));
    let uri = "file:///plant/a.rules";
    let text = RULES.replace("cpu.idle_time >= 0", "cpu.idel_time >= 0");
    let document = json!({"uri": uri, "languageId": "rules", "version": 1, "text": text});
    editor.notify("textDocument/didOpen", json!({"textDocument": document}));
    let diagnostics = editor.diagnostics(uri);
    assert_eq!((diagnostics.len(), &diagnostics[0]["code"]), (1, &json!("R0008")), "{diagnostics:?}");
    let at = |line: u32, character: u32| json!({"textDocument": {"uri": uri}, "position": {"line": line, "character": character}});
    let instances = editor.request("textDocument/completion", at(0, 13));
    assert_eq!(instances[1]["label"], "plant/processor", "{instances}");
    let hover = editor.request("textDocument/hover", at(0, 7));
    assert!(hover["contents"]["value"].as_str().unwrap().contains("`plant/processor`"), "{hover}");
    editor.request("shutdown", Value::Null);
    editor.notify("exit", Value::Null);
    assert_eq!(editor.end(), Some(0));
    let listed = oasis().args(["rules", "list", "--url", &dac.url()]).output().unwrap();
    assert_eq!((listed.status.code(), &*listed.stdout), (Some(0), &b""[..]), "{listed:?}");
    assert!(String::from_utf8(listed.stderr).unwrap().contains("no rules"));
    assert!(node.stop().success() && dac.stop().success());
}

#[test]
fn rules_run_over_recordings_of_other_programs() {
    use mcap::{Writer, records::MessageHeader};
    let folder = tempfile::tempdir().unwrap();
    let mut writer = Writer::new(fs::File::create(folder.path().join("robot.mcap")).unwrap()).unwrap();
    let schema = br#"{"type": "object", "properties": {"speed": {"type": "number"}}}"#;
    let schema = writer.add_schema("geometry_msgs/Twist", "jsonschema", schema).unwrap();
    let speed = writer.add_channel(schema, "/cmd_vel", "json", &BTreeMap::new()).unwrap();
    let battery = writer.add_channel(0, "/battery", "json", &BTreeMap::new()).unwrap();
    let image = writer.add_channel(0, "/image", "cdr", &BTreeMap::new()).unwrap();
    // 20 s of both, but nothing of the battery from 5 s to 12 s.
    for tick in 0..200_u32 {
        let log_time = 1_777_896_000_000_000_000 + u64::from(tick) * 100_000_000;
        let header = |channel_id| MessageHeader { channel_id, sequence: 0, log_time, publish_time: log_time };
        let moving = format!(r#"{{"speed": {}}}"#, if (80..90).contains(&tick) { 3.5 } else { 1.0 });
        writer.write_to_known_channel(&header(speed), moving.as_bytes()).unwrap();
        if !(50..120).contains(&tick) {
            writer.write_to_known_channel(&header(battery), br#"{"volts": 24.5}"#).unwrap();
        }
        writer.write_to_known_channel(&header(image), b"\x01\x02").unwrap();
    }
    writer.finish().unwrap();
    drop(writer);
    let text = r#"input robot = "robot/cmd_vel" : "geometry_msgs/Twist";
input battery = "*/battery" : "/battery";
alarm Fast { raise robot.speed > 2 for 500ms; message "too fast"; on raised disable robot; }
alarm Gone { raise silent(battery) for 3s; }
alarm Still { raise silent(robot) for 3s; }
"#;
    fs::write(folder.path().join("a.rules"), text).unwrap();
    let (status, out, said) = rules(folder.path(), &["run", "--mcap", "robot.mcap", "a.rules"]);
    let expected = "2026-05-04T12:00:07.9Z  raised     Gone  robot/battery
2026-05-04T12:00:08.5Z  raised     Fast  robot/cmd_vel  3.5 (limit 2)
2026-05-04T12:00:09Z  cleared    Fast  robot/cmd_vel  1 (limit 2)
2026-05-04T12:00:12Z  cleared    Gone  robot/battery
";
    assert_eq!((status, &*out), (0, expected), "{said}");
    assert!(said.contains("/image: 200 messages skipped"), "{said}");
    assert!(said.contains("4 events from 330 samples of 2 instances"), "{said}");
    let (status, _, said) = rules(folder.path(), &["run", "--mcap", "a.rules", "a.rules"]);
    assert!(status == 1 && said.contains("not an MCAP file"), "{said}");
}

#[test]
fn recordings_of_ros_2_are_read_by_rules_and_imports() {
    let folder = tempfile::tempdir().unwrap();
    let vector = concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors/ros2.mcap");
    fs::copy(vector, folder.path().join("drive.mcap")).unwrap();
    let text = r#"input imu = "drive/imu" : "sensor_msgs/msg/Imu";
input joints = "drive/arm/joints" : "sensor_msgs/msg/JointState";
alarm Turns { raise imu.angular_velocity.x > 0.3; }
alarm Late { raise joints.header.stamp.nanosec > 1 ms; }
"#;
    fs::write(folder.path().join("a.rules"), text).unwrap();
    let (status, out, said) = rules(folder.path(), &["run", "--mcap", "drive.mcap", "a.rules"]);
    let events: Vec<_> = out.lines().map(|line| line.split_once("  ").unwrap().1.trim_end()).collect();
    let expected = [
        "raised     Turns  drive/imu  0.5 (limit 0.3)",
        "raised     Late  drive/arm/joints  1000000000 ns (limit 1000000 ns)",
    ];
    assert_eq!((status, &*events), (0, &expected[..]), "{said}");
    let (status, out, said) = rules(folder.path(), &["check", "--mcap", "drive.mcap", "a.rules"]);
    assert_eq!((status, &*out), (0, "a.rules: ok: 2 rules, 2 inputs\n"), "{said}");

    let run = |arguments: &[&str]| {
        let done = oasis().current_dir(folder.path()).args(arguments).output().unwrap();
        assert!(done.status.success(), "{done:?}");
        (String::from_utf8(done.stdout).unwrap(), String::from_utf8(done.stderr).unwrap())
    };
    let (_, said) = run(&["import", "--archive", "samples", "drive.mcap"]);
    assert!(said.contains("drive.mcap: 10 samples imported"), "{said}");
    let query = "SELECT \"took.sec\", json_array_length(points) AS points FROM oasis_test_msg_all";
    let (out, _) = run(&["sql", "--archive", "samples", query]);
    assert_eq!(out, "took.sec,points\n-1,0\n-1,1\n-1,2\n");
    // SQL has no such number; other outputs do.
    let query = ["sql", "--archive", "samples", "SELECT u64 FROM oasis_test_msg_all"];
    let done = oasis().current_dir(folder.path()).args(query).output().unwrap();
    let said = String::from_utf8(done.stderr).unwrap();
    assert!(
        !done.status.success() && said.contains("u64 of drive/all, sequence 1, is 18446744073709551615"),
        "{said}"
    );
    let (out, _) = run(&["export", "--archive", "samples", "--format", "jsonl", "drive/all"]);
    assert_eq!(out.matches("18446744073709551615").count(), 3, "{out}");
}

#[test]
fn limits_of_pdl_run_over_a_recording() {
    let folder = tempfile::tempdir().unwrap();
    record(folder.path());
    let run = || rules(folder.path(), &["run", "--archive", "samples", "--pdl-limits", "--format", "json"]);
    let (status, events, said) = run();
    assert_eq!(status, 0, "{said}");
    assert_eq!(run().1, events);
    assert!(said.contains("no type of the recording has limits"), "{said}");
    let (status, _, said) = rules(folder.path(), &["run", "--pdl-limits", "a.rules"]);
    assert!(status == 2 && said.contains("cannot be used with"), "{said}");
}

//! Commands and their error messages.

use crate::harness::{Oasis, ledger, oasis};
use serde_json::Value;
use std::{
    fs,
    io::{BufRead, BufReader},
    process::{Output, Stdio},
};

fn run(arguments: &[&str]) -> Output {
    oasis().args(arguments).output().expect("the binary runs")
}

fn out(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("UTF-8")
}

/// Its standard error when it fails: never a panic, never colors in a pipe.
fn fails(arguments: &[&str]) -> String {
    let output = run(arguments);
    let text = String::from_utf8(output.stderr).expect("UTF-8");
    assert!(!output.status.success(), "{arguments:?} went well: {text}");
    assert!(!text.contains("panicked") && !text.contains('\x1b'), "{text}");
    text
}

fn up() -> Oasis {
    let up = Oasis::up(&["--name", "plant", "--probe", "processor@50", "--probe", "heartbeat@50"]);
    for name in ["processor", "heartbeat"] {
        ledger(&up, "plant", name, "a sample", |ledger| ledger["received"] != 0);
    }
    up
}

#[test]
fn every_command_shows_examples() {
    for command in [
        &["up"][..],
        &["demo"],
        &["doctor"],
        &["dac"],
        &["node"],
        &["list"],
        &["handlers"],
        &["notify"],
        &["tail"],
        &["command"],
        &["export"],
        &["import"],
        &["run"],
        &["replay"],
        &["sql"],
        &["archive"],
        &["annotation"],
        &["pdl", "check"],
    ] {
        let output = run(&[command, &["--help"]].concat());
        let help = out(&output);
        assert!(output.status.success() && help.contains("Examples:"), "{command:?}: {help}");
        assert!(help.lines().filter(|line| line.trim_start().starts_with("oasis ")).count() >= 2, "{help}");
        // A long example continues on the next line.
        let examples = help.lines().skip_while(|line| *line != "Examples:").skip(1);
        for line in examples.take_while(|line| !line.is_empty()) {
            assert!(line.starts_with("  oasis "), "{command:?}: {line}");
        }
    }
    for verb in ["start", "stop", "list", "show", "edit", "pin", "unpin", "delete", "compare"] {
        let help = out(&run(&["run", verb, "--help"]));
        assert!(help.contains("Examples:") && help.contains(&format!("  oasis run {verb}")), "{help}");
    }
    for verb in [
        ["archive", "show"],
        ["archive", "check"],
        ["annotation", "add"],
        ["annotation", "list"],
        ["annotation", "delete"],
    ] {
        let help = out(&run(&[&verb[..], &["--help"]].concat()));
        assert!(
            help.contains("Examples:") && help.contains(&format!("  oasis {}", verb.join(" "))),
            "{help}"
        );
    }
    let version = out(&run(&["--version"]));
    assert!(version.starts_with("oasis "), "{version}");
    assert!(version.contains("\nbuilt with"), "{version}");
    for feature in ["arrow", "nats", "dds"] {
        assert!(version.contains(&format!(" {feature}")), "{version}");
    }
}

#[test]
fn list_shows_the_instances_there_are() {
    let up = up();
    let url = up.url();
    let text = out(&run(&["list", "--url", &url]));
    let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(rows[0], ["INSTANCE", "TYPE", "KIND", "RATE", "STATE"]);
    let heartbeat = rows.iter().find(|row| row[0] == "plant/heartbeat").expect("the instance");
    assert_eq!(heartbeat[2..], ["periodic", "50", "Hz", "online"]);
    let found = out(&run(&["list", "process", "--format", "json", "--url", &url]));
    let found: Vec<Value> = found.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(found.iter().map(|instance| &instance["instance"]).collect::<Vec<_>>(), ["processor"]);
    let nothing = run(&["list", "engine", "--url", &url]);
    assert!(nothing.status.success() && out(&nothing).is_empty());
}

#[test]
fn tail_prints_samples_for_people_and_for_programs() {
    let up = up();
    let url = up.url();
    let text = out(&run(&["tail", "plant/processor", "--count", "3", "--url", &url]));
    assert_eq!(text.lines().count(), 3, "{text}");
    assert!(
        text.lines().all(|line| line.contains("plant/processor #") && line.contains("idle_time=")),
        "{text}"
    );

    let arguments =
        ["tail", "plant/processor", "--count", "20", "--format", "json", "--from-earliest", "--url", &url];
    let lines = out(&run(&arguments));
    let samples: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(samples.len(), 20);
    assert!(samples.iter().zip(1..).all(|(sample, number)| sample["sequence"] == number), "{lines}");
    assert!(samples.iter().all(|sample| sample["metrics"]["idle_time"].is_u64()), "{lines}");

    // A finished time span ends by itself.
    let stretch = |from: &str, to: &str| {
        let arguments = ["tail", "plant/processor", "--format", "json", "--from", from, "--to", to];
        out(&run(&[&arguments[..], &["--url", &url]].concat()))
    };
    let time = |index: usize| samples[index]["time"].to_string();
    assert_eq!(
        stretch(&time(3), &time(11)).lines().collect::<Vec<_>>(),
        lines.lines().collect::<Vec<_>>()[3..11]
    );
    let dated = out(&run(&["tail", "plant/processor", "--from", "-1h", "--count", "1", "--url", &url]));
    let date = dated.split(' ').next().unwrap_or_default();
    assert!(date.starts_with("20") && date.ends_with('Z') && date.contains('T'), "{dated}");
    let refused = fails(&["tail", "plant/processor", "--from", "then", "--url", &url]);
    assert!(refused.contains("plant/processor") && refused.contains("-15m"), "{refused}");

    let refused = fails(&["tail", "plant/processor", "--from", "-1h", "--to", "-2h", "--url", &url]);
    assert!(refused.contains("later than to") && refused.contains("exchange"), "{refused}");

    let newest =
        out(&run(&["tail", "plant/processor", "-n", "5", "--count", "5", "--format", "json", "--url", &url]));
    let newest: Vec<Value> = newest.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let first = newest[0]["sequence"].as_u64().unwrap();
    assert!(first > 11 && newest.iter().zip(first..).all(|(sample, number)| sample["sequence"] == number));

    let all = out(&run(&["tail", "--count", "40", "--url", &url]));
    assert!(all.contains("plant/processor") && all.contains("plant/heartbeat"), "{all}");
}

#[test]
fn tail_reports_the_end_of_the_dac_and_how_to_continue() {
    let up = up();
    let mut tail = oasis();
    tail.args(["tail", "plant/processor", "--url", &up.url()]);
    let mut tail = tail.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut first = String::new();
    BufReader::new(tail.stdout.as_mut().unwrap()).read_line(&mut first).unwrap();
    let url = up.url();
    up.kill();
    let output = tail.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success(), "{said}");
    for words in [&*url, "killed", "oasis up", "--from 20"] {
        assert!(said.contains(words), "{words}: {said}");
    }
}

#[test]
fn command_prints_the_state_of_the_probe() {
    let up = up();
    let url = up.url();
    let said =
        |arguments: &[&str]| out(&run(&[&["command", "--url", &url, "plant/processor"], arguments].concat()));
    assert_eq!(said(&["hertz", "10"]), "plant/processor: 10 Hz, enabled\n");
    assert_eq!(said(&["disable"]), "plant/processor: 10 Hz, disabled\n");
    assert_eq!(said(&["sample-now"]), "plant/processor: 10 Hz, disabled\n");
    assert_eq!(said(&["enable"]), "plant/processor: 10 Hz, enabled\n");

    let unknown = fails(&["command", "--url", &url, "plant/engine", "enable"]);
    assert!(unknown.contains("engine"), "{unknown}");
    assert!(fails(&["command", "--url", &url, "plant/processor", "hertz", "5000"]).contains("1,000"));
    assert!(fails(&["command", "--url", &url, "processor", "enable"]).contains("NODE/INSTANCE"));
    assert!(fails(&["tail", "plant/engine", "--url", &url]).contains("engine"));
}

#[test]
fn a_command_goes_to_all_instances_that_a_pattern_matches() {
    let up = up();
    let url = up.url();
    let said = |arguments: &[&str]| out(&run(&[&["command", "--url", &url], arguments].concat()));
    let both = said(&["plant/*", "hertz", "20"]);
    assert_eq!(both, "plant/processor: 20 Hz, enabled\nplant/heartbeat: 20 Hz, enabled\n");
    assert_eq!(said(&["*/heart*", "disable"]), "plant/heartbeat: 20 Hz, disabled\n");
    assert!(fails(&["command", "--url", &url, "plant/pump*", "enable"]).contains("plant/pump*"));
    let uuid = "6b0c1bbb-37a5-4f3f-a6cf-5a3e2a3a8a01";
    assert!(fails(&["command", "--url", &url, "plant/*", "--uuid", uuid, "enable"]).contains("--uuid"));
    let partly = fails(&["command", "--url", &url, "plant/*", "trigger"]);
    assert!(partly.contains("plant/processor: ") && partly.contains("2 of 2"), "{partly}");
}

#[test]
fn a_mistyped_rate_node_instance_or_verb_is_explained() {
    let up = up();
    let url = up.url();
    let fails = |arguments: &[&str]| fails(&[&["command", "--url", &url], arguments].concat());
    assert!(fails(&["plant/processor", "hertz", "fast"]).contains("number of hertz"));
    assert!(fails(&["plant/processor", "hetz", "5"]).contains("'hertz'"));
    assert!(fails(&["plant/procesor", "enable"]).contains("did you mean \"processor\"?"));
    assert!(fails(&["plamt/processor", "enable"]).contains("did you mean \"plant\"?"));
}

#[test]
fn list_is_sorted_by_node() {
    let up = Oasis::up(&["--name", "zeta", "--probe", "heartbeat@50"]);
    ledger(&up, "zeta", "heartbeat", "a sample", |ledger| ledger["received"] != 0);
    let _plant = Oasis::node(up.channel(), &["--probe", "heartbeat@50"]);
    ledger(&up, "plant", "heartbeat", "a sample", |ledger| ledger["received"] != 0);
    let text = out(&run(&["list", "--url", &up.url()]));
    let names: Vec<&str> = text.lines().skip(1).filter_map(|line| line.split("  ").next()).collect();
    assert_eq!(names, ["plant/heartbeat", "zeta/heartbeat"]);
}

#[test]
fn a_node_that_no_attempt_can_connect_ends_and_names_the_remedy() {
    let up = up();
    let at_page = fails(&["node", "--name", "mill", "--dac", up.listen()]);
    assert!(at_page.contains(&format!("use --dac {}", up.channel())), "{at_page}");
    let udp = fails(&["node", "--name", "mill", "--dac", up.channel(), "--channel", "udp"]);
    assert!(udp.contains("--udp"), "{udp}");
}

#[test]
fn a_node_whose_name_is_taken_ends_with_an_error() {
    let second = |channel: &str| {
        let probe = ["--probe", "heartbeat@50", "--flushes", "1"];
        fails(&[&["node", "--name", "plant", "--dac", channel][..], &probe].concat())
    };
    let dac = Oasis::dac(&[]);
    let _first = Oasis::node(dac.channel(), &["--probe", "heartbeat@50"]);
    ledger(&dac, "plant", "heartbeat", "a sample", |ledger| ledger["received"] != 0);
    let text = second(dac.channel());
    assert!(text.contains("the DAC refuses this node") && text.contains("name_taken"), "{text}");
    let text = second(up().channel());
    assert!(text.contains("the DAC refuses this node") && text.contains("name_reserved"), "{text}");
}

#[test]
fn an_unreachable_dac_is_named() {
    let text = fails(&["tail", "--url", "ws://127.0.0.1:9/ws"]);
    assert!(text.contains("ws://127.0.0.1:9/ws") && text.contains("oasis up"), "{text}");
    assert!(fails(&["tail", "--url", "not a url"]).contains("not a url"));
    let text = fails(&["command", "plant/processor", "enable", "--url", "http://127.0.0.1:9"]);
    assert!(text.contains("http://127.0.0.1:9") && text.contains("oasis up"), "{text}");
}

/// The commands that talk to a DAC, each so that it ends by itself.
const ASK_A_DAC: [&[&str]; 5] = [
    &["list"],
    &["tail", "plant/processor", "--count", "1"],
    &["command", "plant/processor", "enable"],
    &["run", "list"],
    &["annotation", "list"],
];

#[test]
fn every_command_takes_the_address_of_the_page_and_of_the_websocket() {
    let archive = tempfile::tempdir().unwrap();
    let archive = archive.path().to_str().unwrap();
    let up = Oasis::up(&["--name", "plant", "--probe", "processor@50", "--archive", archive]);
    ledger(&up, "plant", "processor", "a sample", |ledger| ledger["received"] != 0);
    let page = format!("http://{}", up.listen());
    for url in [&page, &format!("{page}/"), &up.url(), &format!("ws://{}", up.listen())] {
        for command in ASK_A_DAC {
            let output = run(&[command, &["--url", url]].concat());
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{command:?} --url {url}: {said}");
        }
    }
}

#[test]
fn an_invalid_address_is_named_with_its_flag_and_an_example() {
    for command in ASK_A_DAC {
        for address in ["127.0.0.1:7070", "ftp://dac.local", "http://dac.local:port"] {
            let text = fails(&[command, &["--url", address]].concat());
            for words in [address, "--url", "http://127.0.0.1:7070"] {
                assert!(text.contains(words), "{command:?}: {words}: {text}");
            }
        }
    }
}

#[test]
fn an_invalid_address_of_an_upstream_is_named_with_its_own_option() {
    let text = fails(&["relay", "--upstream", "127.0.0.1:8170"]);
    assert!(text.contains("(--upstream, OASIS_UPSTREAM)") && !text.contains("--url"), "{text}");
}

#[test]
fn a_name_that_no_dac_accepts_is_refused_at_the_start() {
    for name in ["", "a\nb", "a\u{1b}[31mb", &"x".repeat(1_025)] {
        for verb in ["node", "up"] {
            let done = run(&[verb, "--name", name]);
            let said = String::from_utf8_lossy(&done.stderr);
            assert_eq!(done.status.code(), Some(2), "{name:?}: {said}");
            assert!(said.contains("the name of a node") && !said.contains('\u{1b}'), "{name:?}: {said:?}");
        }
    }
}

#[test]
fn a_failed_start_is_explained() {
    let up = up();
    let text = fails(&["dac", "--listen", up.listen(), "--channel-listen", "127.0.0.1:0"]);
    assert!(text.contains(up.listen()) && text.contains("doors.listen"), "{text}");
    let text = fails(&["node", "--dac", up.channel(), "--probe", "engine"]);
    assert!(text.contains("engine") && text.contains("processor"), "{text}");
    let text = fails(&["node", "--dac", up.channel(), "--probe", "processor@fast"]);
    assert!(text.contains("processor@fast"), "{text}");
    let text = fails(&["node", "--dac", up.channel(), "--probe", "processor", "--probe", "processor"]);
    assert!(text.contains("processor"), "{text}");
}

#[test]
fn an_error_in_the_configuration_is_shown_at_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("oasis.toml");
    let path = file.to_str().unwrap();
    for (content, wanted) in [
        ("[doors]\nlisten = 7\n", "listen = 7"),
        ("[doors]\nlistne = \"127.0.0.1:0\"\n", "listne"),
        ("[node]\nprobes = [{ probe = \"memory\", hertz = 0 }]\n", "0.01"),
        ("[node\n", "[node"),
    ] {
        fs::write(&file, content).unwrap();
        let text = fails(&["up", "--config", path]);
        assert!(text.contains(path) && text.contains(wanted), "{text}");
    }
    assert!(fails(&["up", "--config", "/nowhere/oasis.toml"]).contains("/nowhere/oasis.toml"));
}

#[test]
fn pdl_check_explains_errors_and_sets_its_status() {
    let folder = tempfile::tempdir().unwrap();
    let (good, bad) = (folder.path().join("good.pdl"), folder.path().join("bad.pdl"));
    fs::write(&good, "[uuid(ed970279-247d-42ca-aeaa-bef0239ca3b3)] probe Tank { real64 level; };\n").unwrap();
    fs::write(&bad, "[uuid(ed970279-247d-42ca-aeaa-bef0239ca3b3)] probe Tank { reel64 level; };\n").unwrap();
    let (good, bad) = (good.to_str().unwrap(), bad.to_str().unwrap());
    let fine = run(&["pdl", "check", good]);
    assert!(fine.status.success() && out(&fine).contains("1 probe"), "{}", out(&fine));
    let text = fails(&["pdl", "check", bad]);
    assert!(text.contains("bad.pdl:1:59") && text.contains("reel64") && text.contains("real64"), "{text}");
    let output = run(&["pdl", "check", "--message-format", "json", bad]);
    assert!(!output.status.success());
    let diagnostic: Value = serde_json::from_str(out(&output).lines().next().unwrap()).unwrap();
    assert!(diagnostic["code"].as_str().unwrap().starts_with('E'), "{diagnostic}");
    assert!(fails(&["pdl", "check", "/nowhere/x.pdl"]).contains("/nowhere/x.pdl"));
}

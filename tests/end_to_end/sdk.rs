//! Programs in C and C++ with a node of their own (`sdk/python/tests` has the one in Python).

use crate::harness::{
    Oasis, Program, assert_explained, causes, compile, compile_with, eventually, finish, generate, get,
    instance, ledger, repository,
};
use serde_json::Value;
use std::{
    fs,
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Command, Stdio},
};
use tempfile::TempDir;

const LOOP: &str = "examples/control-loop/loop.pdl";

#[test]
fn the_control_loop_in_c_is_on_the_page_and_loses_nothing() {
    let folder = TempDir::new().unwrap();
    generate("c", folder.path(), LOOP);
    let program = compile("cc", "-std=c11", folder.path(), "examples/control-loop/c/control_loop.c");
    check_control_loop(&program, "machine-c");
}

#[test]
fn the_control_loop_in_cpp_is_on_the_page_and_loses_nothing() {
    let folder = TempDir::new().unwrap();
    generate("cpp", folder.path(), LOOP);
    let program = compile("c++", "-std=c++17", folder.path(), "examples/control-loop/cpp/control_loop.cpp");
    check_control_loop(&program, "machine-cpp");
}

fn check_control_loop(program: &Path, node: &str) {
    let dac = Oasis::dac(&[]);
    let _program = Program::start(program, &[dac.channel()]);
    let ledger =
        ledger(&dac, node, "control loop", "samples", |ledger| ledger["received"].as_u64() > Some(20));
    assert_eq!(ledger["missing"], 0, "{ledger:#}");
    let instance = instance(&dac, node, "control loop").unwrap();
    assert_eq!(instance["latest"]["metrics"]["axes"][1]["name"], "elevation", "{instance:#}");
}

#[test]
fn a_node_in_c_finds_its_dac_by_a_tem_and_goes_on_when_that_is_killed() {
    let folder = TempDir::new().unwrap();
    let program = compile("cc", "-std=c11", folder.path(), "sdk/c/tests/tem.c");
    check_failover_by_tem(&program, folder.path());
}

#[test]
fn a_node_in_cpp_finds_its_dac_by_a_tem_and_goes_on_when_that_is_killed() {
    let folder = TempDir::new().unwrap();
    let program = compile("c++", "-std=c++17", folder.path(), "sdk/cpp/tests/tem.cpp");
    check_failover_by_tem(&program, folder.path());
}

#[test]
fn a_name_that_another_node_has_is_an_error_in_c_and_cpp() {
    let folders = [(); 3].map(|()| TempDir::new().unwrap());
    let [in_c, in_cpp, without_exceptions] = folders.each_ref().map(TempDir::path);
    let dac = Oasis::dac(&[]);
    let _plant = Oasis::node(dac.channel(), &["--probe", "heartbeat"]);
    eventually("the node", || instance(&dac, "plant", "heartbeat"));
    let (source, flags) = ("sdk/cpp/tests/refused.cpp", ["-fno-exceptions", "-fno-rtti"].map(String::from));
    for program in [
        compile("cc", "-std=c11", in_c, "sdk/c/tests/refused.c"),
        compile("c++", "-std=c++17", in_cpp, source),
        compile_with("c++", "-std=c++17", without_exceptions, source, &flags),
    ] {
        let run = |name: &str| Command::new(&program).args([dac.channel(), name]).output().unwrap();
        let refused = run("plant");
        let text = String::from_utf8(refused.stdout).unwrap();
        assert_eq!(refused.status.code(), Some(1), "{text}");
        assert!(text.contains("the DAC refuses this node") && text.contains("name_taken"), "{text}");
        let said = String::from_utf8(refused.stderr).unwrap();
        assert_eq!(said.matches("the DAC refuses node \"plant\"").count(), 1, "{said}");
        let taken = run("another plant");
        assert!(taken.status.success(), "{taken:?}");
    }
}

/// Children of each program that forks: `OASIS_FORKS`, or a few.
fn forks() -> u32 {
    std::env::var("OASIS_FORKS").map_or(5, |forks| forks.parse().expect("OASIS_FORKS is a number"))
}

#[test]
fn children_of_a_program_in_c_are_refused_by_its_node_and_have_their_own() {
    let folder = TempDir::new().unwrap();
    let program = compile("cc", "-std=c11", folder.path(), "sdk/c/tests/fork.c");
    let dac = Oasis::dac(&[]);
    let forks = forks();
    let mut command = Command::new(&program);
    let ran =
        command.args([dac.channel(), &forks.to_string()]).env("OASIS_NODE_NAME", "tree").output().unwrap();
    let (children, said) = (String::from_utf8(ran.stdout).unwrap(), String::from_utf8(ran.stderr).unwrap());
    assert!(ran.status.success(), "{}: {said}", ran.status);
    assert_eq!(said.matches("was forked after its node had started").count(), forks as usize, "{said}");
    let nodes = children.lines().map(|process| (format!("tree-{process}"), 3));
    for (node, samples) in nodes.chain([("tree".to_owned(), forks)]) {
        let ledger = ledger(&dac, &node, "counter", "all samples", |ledger| ledger["received"] == samples);
        assert_explained(&ledger);
        assert_eq!(ledger["missing"], 0, "{ledger:#}");
    }
    assert_explained(&ledger(&dac, "tree", "log", "records", |ledger| ledger["received"].as_u64() > Some(0)));
}

#[test]
fn a_child_of_a_program_in_cpp_gets_an_exception_and_ends_in_order() {
    let folder = TempDir::new().unwrap();
    let program = compile("c++", "-std=c++17", folder.path(), "sdk/cpp/tests/fork.cpp");
    let dac = Oasis::dac(&[]);
    for _ in 0..forks() {
        finish(Command::new(&program).arg(dac.channel()));
    }
    for node in ["parent", "child"] {
        let ledger =
            ledger(&dac, node, "counter", "one sample", |ledger| ledger["received"].as_u64() > Some(0));
        assert_explained(&ledger);
    }
}

/// The first of its TEMs does not exist. The list is remembered in the folder.
fn check_failover_by_tem(program: &Path, folder: &Path) {
    let tem = Oasis::tem(&[]);
    let [home, other] =
        ["hall-1", "hall-2"].map(|name| Oasis::dac(&["--tem", tem.http(), "--dac-name", name]));
    eventually("both DACs at the TEM", || {
        (get(&tem, "/api/v1/tem")["dacs"].as_array()?.len() == 2).then_some(())
    });
    let mut command = Command::new(program);
    command.args([&format!("http://127.0.0.1:1,{}", tem.http()), "hall-1"]).env("XDG_STATE_HOME", folder);
    let mut running = Program(command.stdin(Stdio::piped()).spawn().unwrap());
    let has_some = |ledger: &Value| ledger["received"].as_u64() > Some(10);
    ledger(&home, "by-tem", "counter", "samples at the DAC that was named", has_some);
    assert!(instance(&other, "by-tem", "counter").is_none());
    home.kill();
    let ledger = ledger(&other, "by-tem", "counter", "samples at the other DAC", has_some);
    assert_explained(&ledger);
    running.0.stdin.take().unwrap().write_all(b"\n").unwrap();
    let status = eventually("the program ends", || running.0.try_wait().unwrap());
    assert!(status.success(), "{status}");
}

#[test]
fn native_batches_in_cpp_are_those_of_the_vectors() {
    let folder = TempDir::new().unwrap();
    generate("cpp", folder.path(), "vectors/shapes.pdl");
    let vectors = fs::read_to_string(repository().join("vectors/shapes.json")).unwrap();
    let vectors: serde_json::Value = serde_json::from_str(&vectors).unwrap();
    let checks: String = vectors["cases"]
        .as_array()
        .unwrap()
        .iter()
        .map(|case| {
            let texts = ["name", "row", "batch"].map(|key| case[key].to_string()).join(", ");
            format!("check_batch<{}>({texts});\n", case["probe"].as_str().unwrap())
        })
        .collect();
    fs::write(folder.path().join("shapes_batches.inc"), checks).unwrap();
    finish(&mut Command::new(compile("c++", "-std=c++17", folder.path(), "sdk/cpp/tests/batch.cpp")));
}

#[test]
fn a_node_in_c_gets_errors_for_invalid_calls_and_sends_its_samples() {
    let folder = TempDir::new().unwrap();
    let program = compile("cc", "-std=c11", folder.path(), "sdk/c/tests/abi.c");
    let dac = Oasis::dac(&[]);
    let file = folder.path().join("node.toml");
    let probes = "probes = [{ probe = \"heartbeat\", hertz = 50 }]";
    fs::write(&file, format!("[node]\nname = \"c\"\ndac = \"{}\"\n{probes}\n", dac.channel())).unwrap();
    let mut running = Program::start(&program, &[file.to_str().unwrap()]);
    let mut line = String::new();
    BufReader::new(running.0.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "flushed\n");
    let pushed = ledger(&dac, "c", "pushed", "ten samples", |ledger| ledger["received"] == 10);
    assert_explained(&pushed);
    assert!(causes(&pushed).is_empty());
    ledger(&dac, "c", "periodic", "samples", |ledger| ledger["received"].as_u64() > Some(3));
    let logged = ledger(&dac, "c", "log", "a record", |ledger| ledger["received"] == 1);
    assert_explained(&logged);
    let record = &instance(&dac, "c", "log").unwrap()["latest"]["metrics"];
    assert_eq!((&record["level"], &record["message"]), (&13.into(), &"pressure is high".into()));
    ledger(&dac, "c", "heartbeat", "a ready-made probe's samples", |ledger| {
        ledger["received"].as_u64() > Some(3)
    });
    running.0.stdin.take().unwrap().write_all(b"\n").unwrap();
    let status = eventually("the program ends", || running.0.try_wait().unwrap());
    assert!(status.success(), "{status}");
}

#[test]
fn threads_in_cpp_log_through_one_logger_and_all_of_it_arrives_or_is_counted() {
    let folder = TempDir::new().unwrap();
    let program = compile("c++", "-std=c++17", folder.path(), "sdk/cpp/tests/threads.cpp");
    let dac = Oasis::dac(&[]);
    let mut running = Program::start(&program, &[dac.channel()]);
    let mut line = String::new();
    BufReader::new(running.0.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let records: u64 = line.trim().parse().unwrap();
    let logged = ledger(&dac, "threads", "log", "all records", |ledger| {
        ledger["received"]
            .as_u64()
            .zip(ledger["missing"].as_u64())
            .is_some_and(|(received, missing)| received + missing == records)
    });
    assert_explained(&logged);
    ledger(&dac, "threads", "counter", "samples", |ledger| ledger["received"].as_u64() > Some(0));
    running.0.stdin.take().unwrap().write_all(b"\n").unwrap();
    let status = eventually("the program ends", || running.0.try_wait().unwrap());
    assert!(status.success(), "{status}");
}

//! Probes that a program declares without PDL, and the PDL that `oasis pdl infer` writes of them.

use crate::harness::{Oasis, Program, compile, eventually, finish, instance, ledger, oasis};
use oasis_probe::{NodeBuilder, NodeConfig, Probe, ProbeEnum, Sample, TcpConnector};
use serde_json::Value;
use std::{
    fs,
    io::{BufRead, BufReader, Write},
    path::Path,
};
use tempfile::TempDir;

/// Mode of a motor.
#[derive(Debug, Clone, Copy, ProbeEnum)]
#[probe(type = "Plant::Mode")]
enum Mode {
    Off,
    Running = 5,
}

/// A motor of the plant.
#[derive(Debug, Probe)]
#[probe(type = "Plant::Motor", version = "1.2")]
struct Motor {
    /// Turns of the shaft.
    #[probe(unit = "1/min", min = 0)]
    rpm: u32,
    #[probe(unit = "Cel", min = -40, max = 150, warn(> 80), alarm(> 100))]
    temperature: f64,
    #[probe(kind = "state", warn(Off))]
    mode: Mode,
    loads: [f32; 2],
}

#[test]
fn a_struct_in_rust_has_units_at_the_dac_and_pdl_of_the_same_type() {
    let folder = TempDir::new().unwrap();
    let dac = Oasis::dac(&[]);
    let mut builder = NodeBuilder::new("declared", NodeConfig::default());
    let mut first = builder.pushed::<Motor>("motor", 64 * 1024).unwrap();
    let node = builder.start(TcpConnector::new(dac.channel())).unwrap();
    // One instance before the start, one after it.
    let mut second = node.pushed::<Motor>("motor/2", 64 * 1024).unwrap();
    for rpm in 0..100 {
        for (probe, mode) in [(&mut first, Mode::Off), (&mut second, Mode::Running)] {
            assert!(probe.flush(&Motor { rpm, temperature: 21.5, mode, loads: [0.5, 1.0] }));
        }
    }
    for name in ["motor", "motor/2"] {
        let ledger = ledger(&dac, "declared", name, "all samples", |ledger| ledger["received"] == 100);
        assert_eq!(ledger["missing"], 0, "{ledger:#}");
        let known = instance(&dac, "declared", name).unwrap();
        assert_eq!(known["schema"]["metrics"][1]["unit"], "Cel");
        assert_eq!(known["latest"]["metrics"]["loads"], serde_json::json!([0.5, 1.0]));
    }
    let registered = check_inferred(&dac, "declared/motor/2", folder.path());
    assert_eq!(registered, serde_json::from_str::<Value>(Motor::SCHEMA).unwrap());
    assert!(node.shutdown().is_none());
}

#[test]
fn a_struct_in_cpp_has_units_at_the_dac_and_pdl_of_the_same_type() {
    let folder = TempDir::new().unwrap();
    let program = compile("c++", "-std=c++17", folder.path(), "sdk/cpp/tests/declared.cpp");
    let dac = Oasis::dac(&[]);
    let mut running = Program::start(&program, &[dac.channel()]);
    let mut line = String::new();
    BufReader::new(running.0.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "flushed\n");
    let ledger = ledger(&dac, "declared-cpp", "motor", "ten samples", |ledger| ledger["received"] == 10);
    assert_eq!(ledger["missing"], 0, "{ledger:#}");
    let registered = check_inferred(&dac, "declared-cpp/motor", folder.path());
    assert_eq!(registered["metrics"][1]["unit"], "Cel");
    running.0.stdin.take().unwrap().write_all(b"\n").unwrap();
    let status = eventually("the program ends", || running.0.try_wait().unwrap());
    assert!(status.success(), "{status}");
}

/// Lets `pdl infer` write a file, and checks that it compiles to the registered schema. Returns that.
fn check_inferred(dac: &Oasis, target: &str, folder: &Path) -> Value {
    let file = folder.join("motor.pdl");
    finish(oasis().args(["pdl", "infer", "--url", dac.http(), target, "-o"]).arg(&file));
    let printed = oasis().args(["pdl", "infer", "--url", dac.http(), target]).output().unwrap();
    assert_eq!(String::from_utf8(printed.stdout).unwrap(), fs::read_to_string(&file).unwrap());
    finish(oasis().args(["pdl", "compile", "--lang", "json", "-o"]).arg(folder).arg(&file));
    let compiled = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let compiled =
        compiled.into_iter().find(|path| path.extension().is_some_and(|ending| ending == "json")).unwrap();
    let mut compiled: Value = serde_json::from_str(&fs::read_to_string(compiled).unwrap()).unwrap();
    let (node, name) = target.split_once('/').unwrap();
    let registered = instance(dac, node, name).unwrap()["schema"].clone();
    assert_eq!(compiled[0], registered, "{}", fs::read_to_string(&file).unwrap());
    compiled[0].take()
}

#[test]
fn pdl_of_an_instance_that_the_dac_does_not_know_is_an_error() {
    let dac = Oasis::dac(&[]);
    let refused = oasis().args(["pdl", "infer", "--url", dac.http(), "nobody/nothing"]).output().unwrap();
    let text = String::from_utf8(refused.stderr).unwrap();
    assert!(!refused.status.success() && text.contains("has no instance nobody/nothing"), "{text}");
}

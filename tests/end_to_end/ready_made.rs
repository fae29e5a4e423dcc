//! Every ready-made probe that any Linux can run, and an anemometer on a pseudo-terminal, as a client of the API sees them.

#[path = "../../crates/probes/examples/windsonic_simulator/simulator.rs"]
mod simulator;

use crate::harness::{Oasis, eventually, instance, oasis};
use serde_json::Value;
use simulator::Simulator;
use std::fs;

/// The metrics of an instance's latest sample, once they match.
fn metrics(up: &Oasis, name: &str, is_enough: impl Fn(&Value) -> bool) -> Value {
    eventually(&format!("a sample of {name}"), || {
        let metrics = instance(up, "plant", name)?["latest"]["metrics"].clone();
        (metrics.is_object() && is_enough(&metrics)).then_some(metrics)
    })
}

fn refused(probe: &str) -> String {
    let output = oasis().args(["node", "--dac", "127.0.0.1:9", "--probe", probe]).output().unwrap();
    assert!(!output.status.success(), "{probe}");
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn each_processor_has_an_instance() {
    let up = Oasis::up(&["--name", "plant", "--probe", "cpu@20", "--probe", "cpu(number=0)=first"]);
    let stat = fs::read_to_string("/proc/stat").unwrap();
    for line in stat.lines().filter(|line| line.starts_with("cpu") && !line.starts_with("cpu ")) {
        let number = line.split(' ').next().unwrap().trim_start_matches("cpu");
        let cpu = metrics(&up, &format!("cpu/{number}"), |_| true);
        assert!(cpu["idle_time"].as_u64().unwrap() > 0 && cpu["steal_time"].is_u64(), "{cpu}");
    }
    assert!(metrics(&up, "first", |_| true)["user_time"].as_u64().unwrap() > 0);
}

#[test]
fn a_process_and_its_threads_are_sampled() {
    let probes = ["process@20", "process(name=oasis)=by-name@20", "scheduling=threads@20"];
    let up =
        Oasis::up(&["--name", "plant", "--probe", probes[0], "--probe", probes[1], "--probe", probes[2]]);
    let process = metrics(&up, "process", |_| true);
    assert!(process["pid"].as_u64().unwrap() > 1, "{process}");
    let resident = process["resident_memory"].as_u64().unwrap();
    assert!((100..8_000_000).contains(&resident) && process["threads"].as_u64().unwrap() > 2, "{process}");
    assert!(process["minor_faults"].as_u64().unwrap() > 0, "{process}");
    // Other tests run processes of the same name: the oldest is whichever.
    assert!(metrics(&up, "by-name", |_| true)["pid"].as_u64().unwrap() > 1);
    let threads = metrics(&up, "threads", |threads| threads["timeslices"].as_u64().unwrap() > 0);
    let names: Vec<&str> =
        threads["threads"].as_array().unwrap().iter().filter_map(|thread| thread["name"].as_str()).collect();
    assert!(names.contains(&"oasis-collector"), "{names:?}");
    assert!(threads["run_time"].as_u64().unwrap() > 0, "{threads}");
}

#[test]
fn disks_are_sampled_or_their_absence_is_reported() {
    let diskstats = fs::read_to_string("/proc/diskstats").unwrap_or_default();
    let mut devices = diskstats.lines().filter_map(|line| line.split_whitespace().nth(2));
    let Some(device) = devices.next() else {
        assert!(refused("disk").contains("/proc/diskstats"));
        return;
    };
    let up = Oasis::up(&["--name", "plant", "--probe", &format!("disk(device={device})=disk@20")]);
    let disk = metrics(&up, "disk", |_| true);
    assert!(disk["read_bytes"].is_u64() && disk["busy_time"].is_u64(), "{disk}");
}

#[test]
fn an_anemometer_is_read_unplugged_and_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let port = folder.path().join("wind");
    let anemometer = Simulator::plug_in(&port, false).unwrap();
    let up = Oasis::up(&["--name", "plant", "--probe", &format!("windsonic(port={})=mast", port.display())]);
    let sequence = || instance(&up, "plant", "mast").and_then(|mast| mast["latest"]["sequence"].as_u64());

    let wind = metrics(&up, "mast", |wind| wind["direction"] == 231.0);
    assert!((wind["speed"].as_f64().unwrap() - 3.1).abs() < 0.001, "{wind}");
    assert_eq!((&wind["status"], wind["node_address"].as_str()), (&Value::from(0), Some("Q")), "{wind}");
    // A calm has no direction.
    metrics(&up, "mast", |wind| !wind["direction"].is_number());

    drop(anemometer);
    let before = sequence().unwrap();
    let _anemometer = Simulator::plug_in(&port, false).unwrap();
    eventually("samples of the anemometer that is back", || sequence().filter(|&now| now > before + 2));
}

#[test]
fn an_anemometer_is_polled_and_plugged_in_late() {
    let folder = tempfile::tempdir().unwrap();
    let port = folder.path().join("wind");
    let probe = format!("windsonic(port={},mode=polled,node=Q)@20", port.display());
    let up = Oasis::up(&["--name", "plant", "--probe", &probe]);
    eventually("the instance of an anemometer that is not there", || instance(&up, "plant", "windsonic"));
    let _anemometer = Simulator::plug_in(&port, true).unwrap();
    metrics(&up, "windsonic", |wind| wind["direction"] == 229.0);
}

#[test]
fn an_anemometer_gets_its_settings_and_measures_although_it_refuses_one() {
    let folder = tempfile::tempdir().unwrap();
    let port = folder.path().join("wind");
    // The anemometer starts as polled: with M2 it sends by itself. P9 is no rate.
    let _anemometer = Simulator::plug_in(&port, true).unwrap();
    let probe = format!("windsonic(port={},configure=M2 P9 K50)", port.display());
    let up = Oasis::up(&["--name", "plant", "--probe", &probe]);
    metrics(&up, "windsonic", |wind| wind["direction"] == 231.0);
}

#[test]
fn a_node_takes_a_number_of_samples_as_fast_as_it_can_and_ends() {
    let dac = Oasis::dac(&[]);
    let node = oasis()
        .args(["node", "--dac", dac.channel(), "--name", "plant", "--flushes", "2000"])
        .args(["--probe", "memory@max", "--probe", "processor@1000"])
        .output()
        .unwrap();
    assert!(node.status.success(), "{}", String::from_utf8_lossy(&node.stderr));
    for name in ["memory", "processor"] {
        let sequence = instance(&dac, "plant", name).unwrap()["latest"]["sequence"].clone();
        assert_eq!(sequence, 2_000, "{name}");
    }
}

#[test]
fn a_probe_waits_for_a_command_before_it_takes_samples() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("oasis.toml");
    fs::write(&file, "[[node.probes]]\nprobe = \"memory\"\nhertz = 20\nenabled = false\n").unwrap();
    let up = Oasis::up(&["--name", "plant", "--config", file.to_str().unwrap()]);
    let memory = eventually("the instance", || instance(&up, "plant", "memory"));
    assert!(memory["latest"].is_null() && memory["enabled"] == false, "{memory}");
    let enabled = oasis().args(["command", "--url", &up.url(), "plant/memory", "enable"]).output().unwrap();
    assert!(enabled.status.success(), "{}", String::from_utf8_lossy(&enabled.stderr));
    metrics(&up, "memory", |_| true);
}

#[test]
fn a_wrong_parameter_is_named() {
    for (probe, wanted) in [
        ("process(nmae=postgres)", "nmae"),
        ("process(name=a,pid=1)", "name and pid"),
        ("process(pid=first)", "first"),
        ("cpu(number=a)", "number"),
        ("heartbeat(rate=1)", "rate"),
        ("windsonic", "port"),
        ("windsonic(port=/dev/null,mode=asked)", "asked"),
        ("windsonic(port=/dev/null,mode=polled,node=7)", "node"),
        ("windsonic(port=/dev/null,baud=0)", "baud"),
        ("windsonic(port=/dev/null,configure=B3)", "configure"),
        ("windsonic(port=/dev/null)@max", "neither a rate"),
        ("process(name=a", "process(name=a"),
    ] {
        let text = refused(probe);
        assert!(text.contains(wanted) && !text.contains("panicked"), "{probe}: {text}");
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("oasis.toml");
    fs::write(&file, "[[node.probes]]\nprobe = \"process\"\nnmae = \"postgres\"\n").unwrap();
    let output = oasis().args(["node", "--config"]).arg(&file).output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && text.contains("nmae") && text.contains("process"), "{text}");
}

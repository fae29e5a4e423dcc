//! A small cell of the experiment with many watchers. Its DAC and relays are the program `oasis`, which is built before or named with `OASIS_BIN`.

use crate::support::{lab, measure, results, run};

#[test]
fn relays_hold_some_thousand_watchers_and_each_receives_every_sample_once() {
    let runs = tempfile::tempdir().unwrap();
    let run = run("million", &["WATCHERS=3000", "SOCKETS=1500", "SAMPLES=3"], runs.path());
    let cell = results(&run).remove(0);
    let of = |name: &str| measure(&cell, name);
    assert_eq!((of("held"), of("ended"), of("lost"), of("twice")), (3_000.0, 0.0, 0.0, 0.0), "{cell}");
    assert!(of("sample_to_all_s") > 0.0 && of("memory_bytes_per_watcher") > 0.0, "{cell}");
}

#[test]
fn watchers_that_a_process_cannot_open_are_refused_with_what_to_raise() {
    let runs = tempfile::tempdir().unwrap();
    let folder = runs.path().to_str().unwrap();
    let output = lab(&["run", "million", "--set", "WATCHERS=50000000", "--runs", folder]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("do not fit") && said.contains("fs.file-max"), "{said}");
}

//! The service manager, and the terminal, that a DAC was started from (`docs/reference/health.md`).

use crate::harness::{Oasis, get, program};
use rustix::process::Signal;
use std::{os::unix::net::UnixDatagram, path::Path};

fn next(socket: &UnixDatagram) -> String {
    let mut buffer = [0; 256];
    let length = socket.recv(&mut buffer).unwrap();
    String::from_utf8_lossy(&buffer[..length]).trim().to_owned()
}

#[test]
fn a_dac_reports_to_systemd() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notify");
    let socket = UnixDatagram::bind(&path).unwrap();
    let dac = Oasis::dac_with(&[("NOTIFY_SOCKET", path.to_str().unwrap()), ("WATCHDOG_USEC", "2000000")]);
    let mut received = vec![next(&socket), next(&socket), next(&socket)];
    received.sort();
    assert_eq!(received, ["READY=1", "WATCHDOG=1", "WATCHDOG=1"]);
    assert!(dac.stop().success());
    let last = std::iter::repeat_with(|| next(&socket)).find(|message| message != "WATCHDOG=1");
    assert_eq!(last.unwrap(), "STOPPING=1");
}

#[test]
fn a_terminal_that_goes_away_ends_a_dac_in_order() {
    // The tests themselves may run under nohup, which their processes inherit.
    let mut plain = program(Path::new("env"));
    plain.arg("--default-signal=HUP").arg(env!("CARGO_BIN_EXE_oasis"));
    let log = tempfile::tempfile().unwrap();
    let dac = Oasis::dac_started_by(plain, log, &[]);
    dac.send(Signal::HUP);
    assert!(dac.ended().success());
}

#[test]
fn a_dac_under_nohup_outlives_its_terminal() {
    let mut nohup = program(Path::new("nohup"));
    nohup.arg(env!("CARGO_BIN_EXE_oasis"));
    let log = tempfile::tempfile().unwrap();
    let dac = Oasis::dac_started_by(nohup, log, &[]);
    dac.send(Signal::HUP);
    assert!(get(&dac, "/api/v1/instances").is_object());
    assert!(dac.stop().success());
}

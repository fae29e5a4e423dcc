//! A device of `sdk/embedded`, compiled for this host, connected to `oasis node` through a pseudo-terminal and UDP: samples, commands, noise,
//! restarts of both, and the losses that the DAC declares.

use crate::harness::{
    Oasis, assert_explained, eventually, finish, generate, get, instance, ledger, oasis, post, repository,
};
use serde_json::{Value, json};
use std::{
    fs,
    io::{BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    sync::LazyLock,
};
use tempfile::TempDir;

/// The device's node, as a query of the API has it.
const NODE: &str = "pump%207";

/// The device's program.
static PROGRAM: LazyLock<(TempDir, PathBuf)> = LazyLock::new(|| {
    let folder = tempfile::tempdir().unwrap();
    generate("c99", folder.path(), "sdk/embedded/examples/pump.pdl");
    let program = folder.path().join("device");
    let mut compiler = Command::new("cc");
    compiler.args(["-std=c99", "-g1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-I"]);
    compiler.arg(folder.path()).args(["-I", "sdk/embedded/include", "tests/end_to_end/gateway/device.c"]);
    for source in fs::read_dir(repository().join("sdk/embedded/src")).unwrap() {
        let path = source.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "c") {
            compiler.arg(path);
        }
    }
    finish(compiler.arg("-o").arg(&program).current_dir(repository()));
    (folder, program)
});

/// A device at work.
struct Device {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Device {
    fn start(kind: &str, at: &str) -> Self {
        let mut command = Command::new(&PROGRAM.1);
        let mut child =
            command.args([kind, at]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (input, output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        let mut device = Self { child, input, output };
        device.answer("ready");
        device
    }

    fn send_command(&mut self, command: &str) {
        writeln!(self.input, "{command}").unwrap();
        self.answer(command);
    }

    fn answer(&mut self, expected: &str) {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        assert_eq!(line.trim(), expected);
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A DAC with an archive, and a folder for the port and the state of the gateway.
struct Bench {
    folder: TempDir,
    dac: Oasis,
}

impl Bench {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let archive = folder.path().join("archive");
        let dac = Oasis::dac(&["--archive", archive.to_str().unwrap()]);
        Self { folder, dac }
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).to_str().unwrap().to_owned()
    }

    fn gateway(&self, arguments: &[&str]) -> Oasis {
        let state = self.path("state");
        let own = ["--state", &state, "--probe", "heartbeat"];
        Oasis::node(self.dac.channel(), &[&own[..], arguments].concat())
    }

    fn serial(&self) -> Oasis {
        self.gateway(&["--serial", &self.path("tty")])
    }

    /// The ledger of the device's motor, once it matches.
    fn motor(&self, what: &str, is_enough: impl Fn(&Value) -> bool) -> Value {
        ledger(&self.dac, NODE, "motor", what, is_enough)
    }

    fn received(&self) -> u64 {
        instance(&self.dac, NODE, "motor").map_or(0, |motor| number(&motor["ledger"]["received"]))
    }

    fn waits_for_more(&self) {
        let before = self.received();
        self.motor("more samples", |ledger| number(&ledger["received"]) > before + 500);
    }

    fn sql(&self, query: &str) -> String {
        let output =
            oasis().args(["sql", "--url", self.dac.http(), "--format", "csv", query]).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    fn command(&self, instance: &str, body: Value) -> (u16, Value) {
        let mut command = json!({"node": "pump 7", "instance": instance});
        command.as_object_mut().unwrap().extend(body.as_object().unwrap().clone());
        post(&self.dac, "/api/v1/commands", &command)
    }
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_default()
}

fn of_cause(ledger: &Value, cause: &str) -> u64 {
    number(&ledger["causes"][cause])
}

#[test]
fn samples_of_a_device_on_a_serial_line_reach_sql_and_commands_reach_the_device() {
    let bench = Bench::new();
    let mut device = Device::start("pty", &bench.path("tty"));
    let gateway = bench.serial();
    bench.motor("two seconds of samples", |ledger| number(&ledger["received"]) > 2_000);
    let (status, answer) = bench.command("tank", json!({"command": "hertz", "hertz": 5}));
    assert_eq!((status, &answer["hertz"]), (200, &json!(5.0)), "{answer}");
    assert_eq!(instance(&bench.dac, NODE, "tank").unwrap()["hertz"], 5.0);
    assert_eq!(bench.command("tank", json!({"command": "disable"})).1["enabled"], false);
    let (status, answer) = bench.command("motor", json!({"command": "trigger"}));
    assert!(status >= 400 && answer.to_string().contains("no flight recorder"), "{status} {answer}");

    let node = get(&bench.dac, "/api/v1/nodes");
    let node =
        node["nodes"].as_array().unwrap().iter().find(|node| node["name"] == "pump 7").unwrap().clone();
    assert_eq!((&node["software"], &node["clock_offset_ns"]), (&json!("demo 1.0"), &json!(0)), "{node}");
    // Times of the device are those of the DAC's clock.
    let latest = instance(&bench.dac, NODE, "motor").unwrap()["latest"]["time"].as_u64().unwrap();
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_nanos() as u64;
    assert!(now.abs_diff(latest) < 60_000_000_000, "{latest} at {now}");

    let line = instance(&bench.dac, "plant", "line tty").or_else(|| {
        let list = get(&bench.dac, "/api/v1/instances?node=plant");
        let found = list["instances"]
            .as_array()
            .unwrap()
            .iter()
            .find(|known| known["instance"].as_str().is_some_and(|name| name.starts_with("line ")))?;
        Some(get(&bench.dac, &format!("/api/v1/instances/{}", found["id"])))
    });
    let line = line.unwrap();
    let metrics = &line["latest"]["metrics"];
    assert!(number(&metrics["frames"]) > 10 && metrics["devices"] == 1 && metrics["open"] == true, "{line}");
    device.send_command("noise 0");
    assert!(gateway.stop().success());
    let ended = bench.motor("all samples", |ledger| ledger["node"]["taken"] == ledger["last_sequence"]);
    assert_explained(&ended);
    // The ring is small, and samples wait there until the device knows the time.
    assert_eq!(ended["missing"], of_cause(&ended, "ring_full"), "{ended:#}");
    eventually("all samples in SQL", || {
        let rows = bench.sql("SELECT count(*) AS n FROM pump_motor");
        (rows.lines().nth(1)?.parse::<u64>().ok()? == number(&ended["received"])).then_some(())
    });
}

#[test]
fn noise_and_lost_bytes_on_the_line_are_declared() {
    let bench = Bench::new();
    let mut device = Device::start("pty", &bench.path("tty"));
    let _gateway = bench.serial();
    bench.motor("samples", |ledger| number(&ledger["received"]) > 500);
    device.send_command("noise 5000");
    bench.motor("losses by noise", |ledger| of_cause(ledger, "network") > 0);
    device.send_command("noise 0");
    let before = bench.motor("its losses", |_| true);
    device.send_command("lose 3000");
    bench.motor("losses by lost bytes", |ledger| of_cause(ledger, "network") > of_cause(&before, "network"));
    device.send_command("lose 0");
    bench.waits_for_more();
    let after = bench.motor("each number has its place", |ledger| {
        number(&ledger["received"]) + number(&ledger["missing"]) == number(&ledger["last_sequence"])
    });
    assert_explained(&after);
}

#[test]
fn a_reset_loses_what_is_counted_and_a_brown_out_begins_anew() {
    let bench = Bench::new();
    let mut device = Device::start("pty", &bench.path("tty"));
    let _gateway = bench.serial();
    bench.motor("samples", |ledger| number(&ledger["received"]) > 500);
    let first = instance(&bench.dac, NODE, "motor").unwrap()["run"].clone();
    device.send_command("reset");
    let second = eventually("another run", || {
        let run = instance(&bench.dac, NODE, "motor")?["run"].clone();
        (run != first && !run.is_null()).then_some(run)
    });
    bench.waits_for_more();
    device.send_command("brown-out");
    eventually("a third run", || {
        let run = instance(&bench.dac, NODE, "motor")?["run"].clone();
        (run != second && !run.is_null()).then_some(())
    });
    bench.waits_for_more();
    let ledger = bench.motor("the end", |_| true);
    assert_explained(&ledger);
    for gap in ledger["gaps"].as_array().unwrap() {
        let cause = gap["cause"].as_str().unwrap();
        assert!(["node_restart", "network", "ring_full"].contains(&cause), "{ledger:#}");
    }
}

#[test]
fn a_device_that_is_unplugged_and_plugged_in_again_goes_on() {
    let bench = Bench::new();
    let mut device = Device::start("pty", &bench.path("tty"));
    let _gateway = bench.serial();
    bench.motor("samples", |ledger| number(&ledger["received"]) > 500);
    let before = instance(&bench.dac, NODE, "motor").unwrap()["run"].clone();
    device.send_command("unplug");
    eventually("the node is offline", || {
        (instance(&bench.dac, NODE, "motor")?["state"] != "online").then_some(())
    });
    device.send_command("plug");
    bench.waits_for_more();
    assert_eq!(instance(&bench.dac, NODE, "motor").unwrap()["run"], before);
    let after = bench.motor("each number has its place", |ledger| {
        number(&ledger["missing"]) > 0
            && number(&ledger["received"]) + number(&ledger["missing"]) == number(&ledger["last_sequence"])
    });
    assert_explained(&after);
}

#[test]
fn a_session_outlives_a_gateway_that_is_killed() {
    let bench = Bench::new();
    let _device = Device::start("pty", &bench.path("tty"));
    let gateway = bench.serial();
    bench.motor("samples", |ledger| number(&ledger["received"]) > 500);
    let before = instance(&bench.dac, NODE, "motor").unwrap()["run"].clone();
    gateway.kill();
    let _again = bench.serial();
    bench.waits_for_more();
    assert_eq!(instance(&bench.dac, NODE, "motor").unwrap()["run"], before);
    let after = bench.motor("each number has its place", |ledger| {
        number(&ledger["received"]) + number(&ledger["missing"]) == number(&ledger["last_sequence"])
    });
    assert_explained(&after);
}

#[test]
fn samples_wait_at_the_gateway_while_the_dac_is_away() {
    let bench = Bench::new();
    let _device = Device::start("pty", &bench.path("tty"));
    let _gateway = bench.serial();
    bench.motor("samples", |ledger| number(&ledger["received"]) > 500);
    let (listen, channel) = (bench.dac.listen().to_owned(), bench.dac.channel().to_owned());
    let archive = bench.path("archive");
    let Bench { folder, dac } = bench;
    assert!(dac.stop().success());
    let dac = Oasis::dac_at(&listen, &channel, &["--archive", &archive]);
    let bench = Bench { folder, dac };
    bench.motor("samples again", |ledger| number(&ledger["received"]) > 500);
    let after = bench.motor("each number has its place", |ledger| number(&ledger["last_sequence"]) > 1_500);
    assert_explained(&after);
    assert_eq!(of_cause(&after, "spool_full"), 0, "{after:#}");
}

#[test]
fn a_device_sends_over_udp() {
    let bench = Bench::new();
    let gateway = bench.gateway(&["--device", "udp:127.0.0.1:0"]);
    let devices = gateway.fact("devices").to_owned();
    let port = devices.rsplit(':').next().unwrap();
    let mut device = Device::start("udp", port);
    bench.motor("samples", |ledger| number(&ledger["received"]) > 500);
    device.send_command("noise 9000");
    bench.motor("losses", |ledger| of_cause(ledger, "network") > 0);
    device.send_command("noise 0");
    bench.waits_for_more();
    assert_explained(&bench.motor("the end", |_| true));
}

#[test]
fn lines_that_cannot_be_used_say_what_to_do() {
    let refused = |arguments: &[&str]| {
        let output = oasis().args(["node", "--dac", "127.0.0.1:9"]).args(arguments).output().unwrap();
        assert!(!output.status.success(), "{arguments:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    assert!(refused(&["--serial", "/dev/ttyUSB0,fast"]).contains("/dev/ttyUSB0,115200"));
    assert!(refused(&["--device", "7080"]).contains("udp:HOST:PORT"));
    let taken = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let address = format!("udp:{}", taken.local_addr().unwrap());
    assert!(refused(&["--device", &address]).contains(&format!("cannot take devices at {address}")));
}

/// The log of a gateway, once it has a line.
fn logged(bench: &Bench, arguments: &[&str], expected: &str) -> Oasis {
    let path = bench.path("log");
    let log = fs::File::create(&path).unwrap();
    let state = bench.path("state");
    let own = ["--name", "plant", "--dac", bench.dac.channel(), "--state", &state, "--probe", "heartbeat"];
    let mut command = oasis();
    command.env("OASIS_LOG", "warn");
    let gateway = Oasis::node_started_by(command, log, &[&own[..], arguments].concat());
    eventually(expected, || read(Path::new(&path)).contains(expected).then_some(()));
    gateway
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

#[test]
fn a_port_that_is_missing_and_a_wrong_speed_are_named() {
    let bench = Bench::new();
    drop(logged(&bench, &["--serial", &bench.path("none")], "is the device plugged in?"));
    let mut device = Device::start("pty", &bench.path("tty"));
    // At another speed no byte is right.
    device.send_command("noise 2");
    drop(logged(&bench, &["--serial", &bench.path("tty")], "only damaged frames arrive: is the speed right"));
    assert_eq!(read(Path::new(&bench.path("log"))).matches("damaged").count(), 2, "once, with its field");
}

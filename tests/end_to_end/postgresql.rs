//! Samples in a real PostgreSQL, started here on a socket in a temporary folder (Debian's package `postgresql`; `make postgresql` installs it).
//! `OASIS_TEST_NO_POSTGRES=1` skips these tests, and nothing else does.

use crate::{
    harness::{Oasis, eventually, get, instance, ledger},
    recordings::plant::plant,
};
use oasis_channel::tcp::TcpConnector;
use oasis_format::table::{Cell, Table};
use oasis_probe::{NodeBuilder, NodeConfig, PushedKind};
use oasis_wire::value;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::{
    fs,
    os::unix::fs::{PermissionsExt, chown},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};
use tempfile::TempDir;

/// PostgreSQL refuses to run as root.
const USER: &str = "postgres";

/// A database server with a folder of its own.
pub struct Postgres {
    folder: TempDir,
    /// Also in the name of its socket.
    port: u16,
    server: Option<Child>,
}

impl Postgres {
    /// Returns `None` if the tests are skipped.
    pub fn start() -> Option<Self> {
        let mut postgres = Self::make()?;
        postgres.run();
        Some(postgres)
    }

    /// Creates a server that does not run yet.
    pub fn make() -> Option<Self> {
        if std::env::var_os("OASIS_TEST_NO_POSTGRES").is_some() {
            eprintln!("SKIPPED: OASIS_TEST_NO_POSTGRES is set, so nothing is tested with PostgreSQL");
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let data = folder.path().join("data");
        fs::create_dir(&data).unwrap();
        if let Some((user, group)) = other_user() {
            chown(&data, Some(user), Some(group)).unwrap();
        }
        let made = as_user(&program("initdb"))
            .args(["--no-sync", "--auth=trust", "--encoding=UTF8", "--locale=C", "--username=postgres", "-D"])
            .arg(&data)
            .output()
            .unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        Some(Self { folder, port: 5432, server: None })
    }

    pub fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// Writes a file in its folder that only the server can read.
    pub fn write(&self, name: &str, bytes: &[u8]) {
        let path = self.data().join(name);
        fs::write(&path, bytes).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        if let Some((user, group)) = other_user() {
            chown(&path, Some(user), Some(group)).unwrap();
        }
    }

    pub fn run(&mut self) {
        self.run_with(&["-c", "listen_addresses="]);
    }

    /// Runs it on a port of 127.0.0.1, encrypted.
    pub fn run_with_tls(&mut self, port: u16) {
        self.port = port;
        self.run_with(&["-c", "ssl=on", "-c", "listen_addresses=127.0.0.1"]);
    }

    fn run_with(&mut self, settings: &[&str]) {
        let data = self.data();
        let port = self.port.to_string();
        let server = as_user(&program("postgres"))
            .arg("-D")
            .arg(&data)
            .args(["-p", &port, "-c", "fsync=off", "-k"])
            .arg(&data)
            .args(settings)
            .stdout(Stdio::null())
            .stderr(fs::File::create(self.folder.path().join("log")).unwrap())
            .spawn()
            .unwrap();
        self.server = Some(server);
        eventually("PostgreSQL", || {
            let mut ready = Command::new(program("pg_isready"));
            let ready = ready.args(["-q", "-p", &port, "-h"]).arg(&data).status().unwrap();
            ready.success().then_some(())
        });
    }

    /// Kills it, as in a power failure.
    pub fn kill(&mut self) {
        let stopped = as_user(&program("pg_ctl"))
            .args(["stop", "-m", "immediate", "-D"])
            .arg(self.data())
            .output()
            .unwrap();
        assert!(stopped.status.success(), "{}", String::from_utf8_lossy(&stopped.stderr));
        self.server.take().unwrap().wait().unwrap();
    }

    pub fn query(&self, sql: &str) -> String {
        let asked = Command::new(program("psql"))
            .args(["-X", "-A", "-t", "-q", "-v", "ON_ERROR_STOP=1", "-U", "postgres", "-p"])
            .arg(self.port.to_string())
            .arg("-h")
            .arg(self.data())
            .args(["-c", sql])
            .output()
            .unwrap();
        assert!(asked.status.success(), "{sql}: {}", String::from_utf8_lossy(&asked.stderr));
        String::from_utf8(asked.stdout).unwrap().trim().to_owned()
    }

    pub fn count(&self, sql: &str) -> u64 {
        self.query(sql).parse().unwrap()
    }

    /// A configuration that writes to it, with further lines.
    pub fn config(&self, more: &str) -> String {
        self.config_at(&format!("host={}", self.data().display()), more)
    }

    /// A configuration that writes to an address; `more` ends with the start of the section `[postgresql]`, if it has settings.
    pub fn config_at(&self, address: &str, more: &str) -> String {
        let path = self.folder.path().join("oasis.toml");
        let section = if more.contains("[postgresql]") { "" } else { "[postgresql]\n" };
        let url = format!("url = \"{address} user=postgres dbname=postgres\"");
        fs::write(&path, format!("{more}\n{section}{url}\ncommit_ms = 20\n")).unwrap();
        path.to_str().unwrap().to_owned()
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        if self.server.is_some() {
            self.kill();
        }
    }
}

/// The folder of the server programs on Debian.
fn program(name: &str) -> PathBuf {
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let found =
        versions.map(|version| version.path().join("bin").join(name)).filter(|path| path.exists()).max();
    found.unwrap_or_else(|| {
        panic!("there is no {name} in /usr/lib/postgresql: make postgresql installs it, OASIS_TEST_NO_POSTGRES=1 skips these tests")
    })
}

/// The user that runs the server if the test runs as root.
fn other_user() -> Option<(u32, u32)> {
    if !rustix::process::geteuid().is_root() {
        return None;
    }
    let users = fs::read_to_string("/etc/passwd").unwrap();
    let line = users.lines().find(|line| line.starts_with(&format!("{USER}:"))).expect("a user postgres");
    let mut fields = line.split(':').skip(2).map(|field| field.parse().unwrap());
    Some((fields.next().unwrap(), fields.next().unwrap()))
}

fn as_user(program: &Path) -> Command {
    let mut command = Command::new(program);
    if let Some((user, group)) = other_user() {
        use std::os::unix::process::CommandExt;
        command.uid(user).gid(group);
    }
    // That user may not have access to the current folder.
    command.current_dir("/");
    command
}

pub fn state(dac: &Oasis) -> Value {
    let handlers = get(dac, "/api/v1/handlers");
    let all = handlers["handlers"].as_array().unwrap();
    all.iter().find(|handler| handler["name"] == "postgresql").unwrap()["state"].clone()
}

/// Every sample once, from the first on.
fn is_whole(postgres: &Postgres, dac: &Oasis, table: &str) -> u64 {
    let sql = format!(
        "SELECT count(*) || ' ' || count(DISTINCT sequence) || ' ' || coalesce(max(sequence), 0) FROM oasis.{table}"
    );
    let text = postgres.query(&sql);
    let figures: Vec<u64> = text.split(' ').map(|figure| figure.parse().unwrap()).collect();
    let is_whole = figures[0] == figures[1] && figures[0] == figures[2];
    if !is_whole {
        let ends = postgres.query(&format!(
            "SELECT string_agg(sequence || ' of ' || epoch, ', ') FROM (SELECT sequence, epoch, lead(sequence)
             OVER (ORDER BY sequence) AS following FROM oasis.{table}) AS rows WHERE following > sequence + 1"
        ));
        let (handler, ledger) = (state(dac), get(dac, "/api/v1/ledger?node=plant"));
        panic!(
            "{table}: rows, numbers, last number: {text}; none after {ends}; {handler:#} {:#}",
            ledger["instances"]
        );
    }
    figures[0]
}

const PROCESSOR: &str = "oasis_system_linux_processor_probe";

pub fn written(postgres: &Postgres, at_least: u64) {
    eventually("rows", || {
        let sql = format!("SELECT to_regclass('oasis.{PROCESSOR}') IS NOT NULL");
        let is_there = postgres.query(&sql) == "t";
        (is_there && postgres.count(&format!("SELECT count(*) FROM oasis.{PROCESSOR}")) >= at_least)
            .then_some(())
    });
}

fn received(dac: &Oasis) -> u64 {
    ledger(dac, "plant", "processor", "samples", |ledger| ledger["received"].as_u64() > Some(50))["received"]
        .as_u64()
        .unwrap()
}

#[test]
fn postgresql_gets_every_sample_once_whatever_ends() {
    let Some(mut postgres) = Postgres::start() else { return };
    let config = postgres.config("");
    let dac = Oasis::dac(&["--config", &config]);
    let node = Oasis::node(dac.channel(), &["--probe", "processor@200", "--probe", "memory@50"]);
    let before = received(&dac);
    written(&postgres, before);

    // The table has the types and times of samples, and one partition a day.
    let columns = postgres.query(&format!(
        "SELECT string_agg(column_name || ' ' || data_type, ', ' ORDER BY ordinal_position) FROM information_schema.columns
         WHERE table_schema = 'oasis' AND table_name = '{PROCESSOR}'"
    ));
    assert!(columns.starts_with("time timestamp with time zone, time_ns bigint, node text, instance text, run uuid, epoch text, sequence numeric, state integer, idle_time numeric"), "{columns}");
    let odd = format!(
        "SELECT count(*) FROM oasis.{PROCESSOR} WHERE abs(extract(epoch FROM time) * 1000000 - trunc(time_ns / 1000)) > 0
         OR time > now() + interval '1 minute' OR time < now() - interval '1 hour' OR idle_time < 1"
    );
    assert_eq!(postgres.query(&odd), "0");
    assert_eq!(postgres.count(&format!("SELECT count(*) FROM oasis.{PROCESSOR}_rest")), 0);
    let latest = instance(&dac, "plant", "processor").unwrap();
    assert_eq!(latest["type"], "OASIS::System::LinuxProcessorProbe");

    // The database is killed: the DAC continues, and missed rows follow later.
    postgres.kill();
    eventually("an outage in the API", || (state(&dac)["condition"] == "failing").then_some(()));
    let at_outage = received(&dac);
    ledger(&dac, "plant", "processor", "live samples", |ledger| {
        ledger["received"].as_u64() > Some(at_outage + 100)
    });
    eventually("how far it is behind", || {
        let state = state(&dac);
        (state["behind"].as_u64() > Some(100)
            && state["lag_ns"].as_u64() > Some(0)
            && state["detail"].is_string())
        .then_some(())
    });
    postgres.run();
    let afterwards = received(&dac);
    written(&postgres, afterwards);
    eventually("no more lag", || {
        let state = state(&dac);
        (state["condition"] == "storing" && state["lag_ns"].as_u64() < Some(20_000_000_000)).then_some(())
    });

    // The DAC restarts without an archive: it wrote all received samples before its end.
    let (listen, channel) = (dac.listen().to_owned(), dac.channel().to_owned());
    assert!(dac.stop().success());
    let dac = Oasis::dac_at(&listen, &channel, &["--config", &config]);
    let after_restart = |ledger: &Value| ledger["received"].as_u64() > Some(100);
    let last = ledger(&dac, "plant", "processor", "samples after the restart", after_restart);
    written(&postgres, last["last_sequence"].as_u64().unwrap());
    let rows = is_whole(&postgres, &dac, PROCESSOR);
    is_whole(&postgres, &dac, "oasis_system_linux_memory_probe");

    // The DAC is killed: the node repeats unacknowledged samples, and rows stay unique.
    dac.kill();
    let dac = Oasis::dac_at(&listen, &channel, &["--config", &config]);
    ledger(&dac, "plant", "processor", "samples after its death", after_restart);
    written(&postgres, rows + 100);
    let twice = format!("SELECT count(*) - count(DISTINCT sequence) FROM oasis.{PROCESSOR}");
    assert_eq!(postgres.count(&twice), 0);
    drop(node);
    assert_eq!(state(&dac)["missing"], 0);
}

#[test]
fn samples_evicted_from_the_logs_during_an_outage_come_from_the_archive() {
    let Some(mut postgres) = Postgres::start() else { return };
    let folder = tempfile::tempdir().unwrap();
    // The log contains some eight seconds: an archive on a busy machine lags less.
    let config = postgres.config("[log]\ntopic_bytes = 262144\n");
    let archive = folder.path().join("archive");
    let dac = Oasis::dac(&["--config", &config, "--archive", archive.to_str().unwrap()]);
    let node = Oasis::node(dac.channel(), &["--probe", "processor@300"]);
    let before = received(&dac);
    written(&postgres, before);
    is_whole(&postgres, &dac, PROCESSOR);
    postgres.kill();
    let evicted = |ledger: &Value| ledger["log"]["evicted"].as_u64() > Some(before + 500);
    ledger(&dac, "plant", "processor", "a log that has let go", evicted);
    let has_all = |dac: &Oasis| {
        let archive = get(dac, "/api/v1/archive");
        assert_eq!(archive["missing"], 0, "{archive:#}");
    };
    has_all(&dac);
    // The DAC also ends meanwhile.
    let (listen, channel) = (dac.listen().to_owned(), dac.channel().to_owned());
    assert!(dac.stop().success());
    let dac =
        Oasis::dac_at(&listen, &channel, &["--config", &config, "--archive", archive.to_str().unwrap()]);
    ledger(&dac, "plant", "processor", "samples of the new epoch", |ledger| {
        ledger["received"].as_u64() > Some(150)
    });
    postgres.run();
    let last = instance(&dac, "plant", "processor").unwrap()["latest"]["sequence"].as_u64().unwrap();
    written(&postgres, last);
    drop(node);
    has_all(&dac);
    assert!(is_whole(&postgres, &dac, PROCESSOR) >= last);
    assert!(postgres.count(&format!("SELECT count(DISTINCT epoch) FROM oasis.{PROCESSOR}")) >= 2);
    assert_eq!(state(&dac)["missing"], 0);
}

#[test]
fn samples_evicted_before_the_database_was_there_come_from_the_archive_or_are_counted() {
    let Some(mut postgres) = Postgres::start() else { return };
    let folder = tempfile::tempdir().unwrap();
    let config = postgres.config("[log]\ntopic_bytes = 65536\n");
    postgres.kill();
    let archive = folder.path().join("archive");
    let dac = Oasis::dac(&["--config", &config, "--archive", archive.to_str().unwrap()]);
    let without = Oasis::dac(&["--config", &config, "--dac-name", "without"]);
    let nodes = [&dac, &without].map(|dac| Oasis::node(dac.channel(), &["--probe", "processor@300"]));
    let evicted = |ledger: &Value| ledger["log"]["evicted"].as_u64() > Some(100);
    let [_, at_least] = [&dac, &without]
        .map(|dac| ledger(dac, "plant", "processor", "a log that has let go", evicted))
        .map(|ledger| ledger["log"]["evicted"].as_u64().unwrap());
    // The archive on a busy machine may have lagged.
    let lagged = get(&dac, "/api/v1/archive")["missing"].as_u64().unwrap();
    postgres.run();
    let epoch = get(&dac, "/api/v1/ledger")["epoch"].as_str().unwrap().to_owned();
    let first = format!("SELECT coalesce(min(sequence), 0) FROM oasis.{PROCESSOR} WHERE epoch = '{epoch}'");
    written(&postgres, 100);
    eventually("samples of that DAC", || (postgres.count(&first) > 0).then_some(()));
    assert!(postgres.count(&first) <= 1 + lagged, "{:#}", state(&dac));
    eventually("missing samples", || (state(&without)["missing"].as_u64() >= Some(at_least)).then_some(()));
    drop(nodes);
}

#[test]
fn a_database_that_hangs_delays_nothing_else() {
    let Some(postgres) = Postgres::start() else { return };
    let dac = Oasis::dac(&["--config", &postgres.config("")]);
    let node = Oasis::node(dac.channel(), &["--probe", "processor@200"]);
    written(&postgres, 1);
    let pid =
        postgres.query("SELECT pid FROM pg_stat_activity WHERE application_name = 'oasis'").parse().unwrap();
    let pid = Pid::from_raw(pid).unwrap();
    kill_process(pid, Signal::STOP).unwrap();
    let before = received(&dac);
    ledger(&dac, "plant", "processor", "live samples", |ledger| {
        ledger["received"].as_u64() > Some(before + 100)
    });
    // The DAC ends although the database hangs.
    drop(node);
    assert!(dac.stop().success());
    kill_process(pid, Signal::CONT).unwrap();
}

#[test]
fn an_invalid_address_is_named_and_without_one_there_is_no_handler() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("oasis.toml");
    fs::write(&path, "[postgresql]\nurl = \"mysql://somewhere\"\n").unwrap();
    let done = crate::harness::oasis()
        .args(["dac", "--listen", "127.0.0.1:0", "--channel-listen", "127.0.0.1:0", "--config"])
        .arg(&path)
        .output()
        .unwrap();
    let said = String::from_utf8(done.stderr).unwrap();
    assert!(!done.status.success() && said.contains("postgresql.url"), "{said}");
    let handlers = get(&Oasis::dac(&[]), "/api/v1/handlers");
    let names: Vec<_> =
        handlers["handlers"].as_array().unwrap().iter().map(|handler| &handler["name"]).collect();
    assert_eq!(names, ["openmetrics", "notify", "rules"]);
}

#[test]
fn every_type_and_every_name_is_in_its_table_as_it_was() {
    let Some(postgres) = Postgres::start() else { return };
    let folder = tempfile::tempdir().unwrap();
    let dac = Oasis::dac(&["--config", &postgres.config("")]);
    for ((node, instance), samples) in plant(folder.path()).samples {
        let probe_type = (*samples[0].probe_type).clone();
        let table = Table::new(&probe_type);
        let mut builder = NodeBuilder::new(node.clone(), NodeConfig::default());
        let mut probe =
            builder.pushed_rows(instance, probe_type.clone(), PushedKind::Pushed, 1 << 20).unwrap();
        let running = builder.start(TcpConnector::new(dac.channel())).unwrap();
        let mut row = Vec::new();
        for sample in &samples {
            value::write_row(&probe_type, &sample.values, &mut row);
            // Half of the times are in this century, for partitions and the default partition.
            let time = sample.time + if sample.sequence % 2 == 0 { 1_763_683_200_000_000_000 } else { 0 };
            assert!(probe.flush_at(time, |to| to.packed(&row)));
        }
        running.shutdown();
        let name = &table.name;
        eventually("all rows", || {
            let is_there = postgres.query(&format!("SELECT to_regclass('oasis.{name}') IS NOT NULL")) == "t";
            (is_there
                && postgres.count(&format!("SELECT count(*) FROM oasis.{name}")) == samples.len() as u64)
                .then_some(())
        });
        let sql =
            format!("SELECT to_jsonb(rows) FROM oasis.{name} rows WHERE node = $${node}$$ ORDER BY sequence");
        let rows: Vec<Value> =
            postgres.query(&sql).lines().map(|row| serde_json::from_str(row).unwrap()).collect();
        assert_eq!(rows.len(), samples.len());
        for (row, sample) in rows.iter().zip(&samples) {
            for (column, cell) in table.columns.iter().zip(table.cells(&sample.values)) {
                assert!(
                    is_same(&row[&column.name], &cell),
                    "{}: {} {cell:?}",
                    column.name,
                    row[&column.name]
                );
            }
        }
        assert!(postgres.count(&format!("SELECT count(*) FROM oasis.{name}_rest")) > 0);
        let days = format!("SELECT count(*) FROM pg_inherits WHERE inhparent = 'oasis.{name}'::regclass");
        assert!(postgres.count(&days) >= 2);
    }
}

/// Whether PostgreSQL's JSON equals the sent value.
fn is_same(found: &Value, wanted: &Cell<'_>) -> bool {
    let real = |wanted: f64| match found.as_str() {
        Some(text) => {
            text.parse::<f64>().is_ok_and(|found| found == wanted || found.is_nan() && wanted.is_nan())
        }
        None => found.as_f64() == Some(wanted),
    };
    match wanted {
        Cell::Nothing => found.is_null(),
        Cell::Int(wanted) => found.as_i64() == Some(*wanted),
        Cell::Uint(wanted) => found.as_u64() == Some(*wanted),
        Cell::Real32(wanted) => wanted.to_string().parse().is_ok_and(real),
        Cell::Real64(wanted) => real(*wanted),
        Cell::Boolean(wanted) => found.as_bool() == Some(*wanted),
        // As PostgreSQL writes `bytea` in JSON.
        Cell::Blob(wanted) => {
            let digits: String = wanted.iter().map(|byte| format!("{byte:02x}")).collect();
            found.as_str() == Some(&format!("\\x{digits}"))
        }
        // A vector is JSON there too.
        Cell::Text(wanted) => {
            found.as_str() == Some(&**wanted)
                || serde_json::from_str::<Value>(wanted).ok().as_ref() == Some(found)
        }
    }
}

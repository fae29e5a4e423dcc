use rustix::process::{Pid, Resource, Rlimit, Signal, kill_process, prlimit};
use serde_json::Value;
use std::{
    fs,
    io::{BufRead, BufReader},
    net::TcpListener,
    path::{Path, PathBuf},
    process::{Child, ChildStdout, Command, ExitStatus, Stdio},
    sync::atomic::{AtomicU16, AtomicUsize, Ordering},
    thread,
};

/// Replaced by an address with a port of the process.
const ANY_PORT: &str = "127.0.0.1:0";
/// Ports of processes of tests.
const FIRST_PORT: u16 = 12_000;
const END_PORT: u16 = 32_000;

/// The binary under test, not yet started.
pub fn oasis() -> Command {
    program(Path::new(env!("CARGO_BIN_EXE_oasis")))
}

/// Runs a command about accounts in a folder. Returns what it prints.
pub fn run_in_accounts(access: &str, arguments: &[&str]) -> String {
    let output = oasis().args(arguments).env("OASIS_ACCESS", access).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// A binary at another path, not yet started.
pub fn program(path: &Path) -> Command {
    let mut command = Command::new(path);
    // Whatever the developer's shell says must not change a test.
    let variables = std::env::vars_os().filter(|(name, _)| name.as_encoded_bytes().starts_with(b"OASIS_"));
    for (name, _) in variables {
        command.env_remove(name);
    }
    command.env("OASIS_LOG", "error");
    // None is in the developer's home.
    command
        .env_remove("STATE_DIRECTORY")
        .env("XDG_CONFIG_HOME", state_home())
        .env("XDG_STATE_HOME", state_home())
        .env("XDG_DATA_HOME", data_home());
    command
}

/// Arguments of a DAC, page and node in one, without an archive unless these name one.
fn up<'a>(arguments: &[&'a str]) -> Vec<&'a str> {
    let mut words = arguments.iter();
    let names_one = arguments.contains(&"--archive")
        || words.any(|word| *word == "--config")
            && words
                .next()
                .is_some_and(|file| fs::read_to_string(file).is_ok_and(|text| text.contains("[archive]")));
    let kept = if names_one { &[][..] } else { &["--no-archive"] };
    [&["up", "--listen", ANY_PORT, "--channel-listen", ANY_PORT], kept, arguments].concat()
}

/// An address with a port of its own. It is outside of the ports that the system gives to connections and to others who ask for any (32768
/// and above), so that a process can listen there again after its end.
pub fn own_address() -> String {
    static NEXT: AtomicU16 = AtomicU16::new(FIRST_PORT);
    loop {
        let port = NEXT.fetch_add(1, Ordering::Relaxed);
        assert!(port < END_PORT, "the tests have used up their ports");
        let address = format!("127.0.0.1:{port}");
        if TcpListener::bind(&address).is_ok() {
            return address;
        }
    }
}

/// A folder of state that all processes of a test share, as those of a user do. Other tests have others: a process that one of them stops may
/// have the audit log locked.
fn state_home() -> PathBuf {
    let name = format!("state-{}-{:?}", std::process::id(), thread::current().id());
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// A folder of data that no other process has.
fn data_home() -> PathBuf {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let name = format!("data-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// A process that said it is ready; it ends with this value.
pub struct Oasis {
    child: Child,
    ready: Value,
    /// Kept open: a closed pipe would be the process's problem.
    _stdout: BufReader<ChildStdout>,
}

/// Waits until an address can be listened at: since the process there has ended, another one may have got its port for a connection.
fn until_free(address: &str) {
    super::eventually("the port is free again", || TcpListener::bind(address).ok().map(drop));
}

impl Oasis {
    /// DAC, page and node in one.
    pub fn up(arguments: &[&str]) -> Self {
        Self::start(&up(arguments))
    }

    /// A DAC with the plant of the demo.
    pub fn demo(arguments: &[&str]) -> Self {
        Self::start(&[&["demo", "--listen", ANY_PORT, "--channel-listen", ANY_PORT], arguments].concat())
    }

    /// A DAC on ports of its own.
    pub fn dac(arguments: &[&str]) -> Self {
        Self::start(&[&["dac", "--listen", ANY_PORT, "--channel-listen", ANY_PORT], arguments].concat())
    }

    /// A DAC with these variables in its environment.
    pub fn dac_with(variables: &[(&str, &str)]) -> Self {
        let mut command = oasis();
        command.envs(variables.iter().copied());
        let dac = ["dac", "--listen", ANY_PORT, "--channel-listen", ANY_PORT];
        Self::start_command(command, Stdio::inherit(), &dac)
    }

    /// A DAC whose log goes to a file.
    pub fn dac_logging_to(log: fs::File, arguments: &[&str]) -> Self {
        let dac = ["dac", "--listen", ANY_PORT, "--channel-listen", ANY_PORT];
        Self::start_logging_to(log.into(), &[&dac, arguments].concat())
    }

    /// A DAC that another program starts, with its log in a file.
    pub fn dac_started_by(command: Command, log: fs::File, arguments: &[&str]) -> Self {
        let dac = ["dac", "--listen", ANY_PORT, "--channel-listen", ANY_PORT];
        Self::start_command(command, log.into(), &[&dac, arguments].concat())
    }

    /// A DAC where another one was.
    pub fn dac_again(listen: &str, channel: &str) -> Self {
        Self::dac_at(listen, channel, &[])
    }

    /// The same, with more arguments.
    pub fn dac_at(listen: &str, channel: &str, arguments: &[&str]) -> Self {
        until_free(listen);
        until_free(channel);
        Self::start(&[&["dac", "--listen", listen, "--channel-listen", channel], arguments].concat())
    }

    /// A TEM on a port of its own.
    pub fn tem(arguments: &[&str]) -> Self {
        Self::start(&[&["tem", "--listen", ANY_PORT], arguments].concat())
    }

    /// A TEM where another one was.
    pub fn tem_again(listen: &str) -> Self {
        until_free(listen);
        Self::start(&["tem", "--listen", listen])
    }

    /// A relay that listens here, with its log in a file.
    pub fn relay_at(listen: &str, log: fs::File, arguments: &[&str]) -> Self {
        Self::start_logging_to(log.into(), &[&["relay", "--listen", listen], arguments].concat())
    }

    /// A relay on a port of its own that another program starts, with its log in a file.
    pub fn relay_started_by(command: Command, log: fs::File, arguments: &[&str]) -> Self {
        Self::start_command(command, log.into(), &[&["relay", "--listen", ANY_PORT], arguments].concat())
    }

    /// A node called `plant`.
    pub fn node(channel: &str, arguments: &[&str]) -> Self {
        Self::start(&[&["node", "--name", "plant", "--dac", channel], arguments].concat())
    }

    /// A node that another program starts, with its log in a file.
    pub fn node_started_by(command: Command, log: fs::File, arguments: &[&str]) -> Self {
        Self::start_command(command, log.into(), &[&["node"], arguments].concat())
    }

    /// A process with exactly these arguments: its addresses are in its configuration.
    pub fn start_as_written(command: Command, arguments: &[&str]) -> Self {
        Self::start_command(command, Stdio::inherit(), arguments)
    }

    fn start(arguments: &[&str]) -> Self {
        Self::start_logging_to(Stdio::inherit(), arguments)
    }

    fn start_logging_to(log: Stdio, arguments: &[&str]) -> Self {
        Self::start_command(oasis(), log, arguments)
    }

    fn start_command(mut command: Command, log: Stdio, arguments: &[&str]) -> Self {
        let own = |argument: &&str| {
            if *argument == ANY_PORT { own_address() } else { (*argument).to_owned() }
        };
        let mut child = command
            .args(arguments.iter().map(own))
            .arg("--ready-json")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .expect("the binary starts");
        let mut stdout = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut line = String::new();
        stdout.read_line(&mut line).expect("the pipe is read");
        let ready: Value = serde_json::from_str(&line).unwrap_or_else(|error| {
            panic!("oasis {arguments:?} did not get ready: {error}, {:?}", child.wait())
        });
        assert_eq!(ready["ready"], true);
        Self { child, ready, _stdout: stdout }
    }

    /// One of the facts that it has printed when it was ready.
    pub fn fact(&self, name: &str) -> &str {
        self.ready[name].as_str().unwrap_or_else(|| panic!("{name} in {}", self.ready))
    }

    /// `http://HOST:PORT`.
    pub fn http(&self) -> &str {
        self.fact("http")
    }

    /// Host and port of page and API.
    pub fn listen(&self) -> &str {
        self.http().trim_start_matches("http://")
    }

    /// The link that signs in once, with `--local token`.
    pub fn sign_in_link(&self) -> &str {
        self.fact("sign_in")
    }

    /// Host and port for nodes.
    pub fn channel(&self) -> &str {
        self.fact("channel")
    }

    /// The WebSocket.
    pub fn url(&self) -> String {
        format!("ws://{}/ws", self.listen())
    }

    /// `kill -9`, and gone when this returns.
    pub fn kill(self) {
        // Dropping does that.
    }

    /// SIGTERM.
    pub fn ask_to_stop(&self) {
        self.send(Signal::TERM);
    }

    /// Sends it a signal.
    pub fn send(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).expect("it still runs");
    }

    /// Whether it has ended, although a tracer may still hold one of its threads.
    pub fn has_ended(&self) -> bool {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap_or_default();
        status.is_empty() || status.contains("State:\tZ")
    }

    /// SIGTERM, and how it ended.
    pub fn stop(self) -> ExitStatus {
        self.ask_to_stop();
        self.ended()
    }

    /// Waits for its end. Returns how it ended.
    pub fn ended(mut self) -> ExitStatus {
        self.child.wait().expect("it ended")
    }

    /// Its number.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Changes what the system lets it have.
    pub fn set_limit(&self, resource: Resource, limit: Rlimit) {
        prlimit(Some(Pid::from_child(&self.child)), resource, limit).expect("the limit may be changed");
    }

    /// Memory that is in use, bytes.
    pub fn resident(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).expect("it still runs");
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).expect("a line VmRSS");
        let kib: u64 = line.split_whitespace().nth(1).and_then(|word| word.parse().ok()).expect("a number");
        kib * 1024
    }
}

impl Drop for Oasis {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

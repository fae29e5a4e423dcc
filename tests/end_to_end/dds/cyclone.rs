//! Programs in C that CycloneDDS serves, on the loopback interface.

use crate::harness::{TEST_TIMEOUT, finish, generate, repository};
use rustix::process::{Pid, Signal, kill_process};
use std::{
    env, fs,
    io::{BufRead, BufReader},
    iter,
    net::UdpSocket,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{
        atomic::{AtomicU16, Ordering},
        mpsc::{self, Receiver},
    },
    thread,
    time::Duration,
};

/// Discovery without multicast, which the loopback interface does not have.
const CONFIGURATION: &str = "<CycloneDDS><Domain><General><AllowMulticast>false</AllowMulticast>\
    <Interfaces><NetworkInterface address=\"127.0.0.1\"/></Interfaces></General>\
    <Discovery><ParticipantIndex>auto</ParticipantIndex><Peers><Peer address=\"127.0.0.1\"/></Peers></Discovery></Domain></CycloneDDS>";

/// The domains that were given out.
static DOMAINS: AtomicU16 = AtomicU16::new(0);

/// Returns a domain that is unused on this host. Those above 100 have ports that the system gives to others.
pub fn free_domain() -> u16 {
    let first = std::process::id() as u16 % 100;
    let mut domains = iter::repeat_with(|| (first + DOMAINS.fetch_add(1, Ordering::Relaxed)) % 100 + 1);
    // The port of the first participant (DDSI-RTPS 2.5, 9.6.2.3).
    let is_free = |domain: &u16| UdpSocket::bind(("127.0.0.1", 7_410 + 250 * domain)).is_ok();
    domains.by_ref().take(100).find(is_free).expect("a domain that nobody uses")
}

/// A program that ends with this value.
pub struct Subscriber {
    child: Child,
    lines: Receiver<String>,
}

impl Subscriber {
    /// Compiles a program with the types of a PDL file, and starts it.
    pub fn start(folder: &Path, pdl: &str, source: &Path, arguments: &[&str]) -> Self {
        generate("idl", folder, pdl);
        let name = Path::new(pdl).file_stem().unwrap().to_str().unwrap();
        Self::start_compiled(&compile(folder, name, source), arguments)
    }

    /// The same, with the types of the IDL of the data channel, as its reference declares them.
    pub fn of_the_channel(folder: &Path, source: &Path, arguments: &[&str]) -> Self {
        fs::write(folder.join("channel.idl"), quoted("docs/reference/dds-channel.md", "idl")).unwrap();
        Self::start_compiled(&compile(folder, "channel", source), arguments)
    }

    fn start_compiled(program: &Path, arguments: &[&str]) -> Self {
        let mut command = Command::new(program);
        command.args(arguments).env("CYCLONEDDS_URI", CONFIGURATION);
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = mpsc::channel();
        // The thread ends with the program.
        thread::spawn(move || stdout.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
        Self { child, lines }
    }

    /// Waits for the next line that it prints.
    pub fn line(&self) -> String {
        self.lines.recv_timeout(TEST_TIMEOUT).expect("a line of the subscriber")
    }

    /// Waits this long for the next line that it prints.
    pub fn line_within(&self, timeout: Duration) -> Option<String> {
        self.lines.recv_timeout(timeout).ok()
    }

    pub fn pause(&self) {
        self.signal(Signal::STOP);
    }

    pub fn resume(&self) {
        self.signal(Signal::CONT);
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }
}

impl Drop for Subscriber {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Compiles as the guide says.
fn compile(folder: &Path, name: &str, source: &Path) -> PathBuf {
    let mut idlc = Command::new("idlc");
    finish(idlc.args(["-l", "c"]).arg(format!("{name}.idl")).current_dir(folder));
    let program = folder.join("subscriber");
    let mut compiler = Command::new(env::var("CC").unwrap_or_else(|_| "cc".into()));
    compiler.arg("-I").arg(folder).arg(repository().join(source)).arg(format!("{name}.c"));
    finish(compiler.args(["-lddsc", "-o"]).arg(&program).current_dir(folder));
    program
}

/// The program of the guide.
pub fn of_the_guide(folder: &Path) -> PathBuf {
    let path = folder.join("watch.c");
    fs::write(&path, quoted("docs/guides/use-dds.md", "c")).unwrap();
    path
}

/// The first block of this language in a page.
fn quoted(page: &str, language: &str) -> String {
    let page = fs::read_to_string(repository().join(page)).unwrap();
    let (_, block) = page.split_once(&format!("```{language}\n")).expect("a block of this language");
    let (block, _) = block.split_once("\n```").expect("its end");
    format!("{block}\n")
}

//! A WindSonic on a pseudo-terminal: four messages a second, or an answer to each `Q`; `*` leads to its settings. Tests include this file too.

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt},
    termios::{OptionalActions, tcgetattr, tcsetattr},
};
use std::{
    fs::{self, File},
    io::{self, Read, Write},
    os::unix::{ffi::OsStrExt, fs::symlink},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

/// The simulated wind, repeated: a turning breeze, then a calm.
pub const BODIES: [&str; 4] =
    ["Q,229,002.74,M,00,", "Q,231,003.10,M,00,", "Q,235,002.02,M,00,", "Q,,000.03,M,00,"];

/// An anemometer that is plugged in until this is dropped.
pub struct Simulator {
    link: PathBuf,
    unplugged: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Simulator {
    /// Starts an anemometer at this path. A `polled` one sends only answers.
    pub fn plug_in(link: &Path, polled: bool) -> io::Result<Self> {
        let line = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
        grantpt(&line)?;
        unlockpt(&line)?;
        // No echo.
        let mut settings = tcgetattr(&line)?;
        settings.make_raw();
        tcsetattr(&line, OptionalActions::Now, &settings)?;
        let name = ptsname(&line, Vec::new())?;
        let _ = fs::remove_file(link);
        symlink(Path::new(std::ffi::OsStr::from_bytes(name.as_bytes())), link)?;
        let unplugged = Arc::new(AtomicBool::new(false));
        let told = unplugged.clone();
        let thread = thread::spawn(move || speak(&mut File::from(line), polled, &told));
        Ok(Self { link: link.into(), unplugged, thread: Some(thread) })
    }
}

impl Drop for Simulator {
    fn drop(&mut self) {
        self.unplugged.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        let _ = fs::remove_file(&self.link);
    }
}

fn speak(line: &mut File, polled: bool, unplugged: &AtomicBool) {
    let mut anemometer = Anemometer::new(polled);
    while !unplugged.load(Ordering::Relaxed) {
        // Without a reader the bytes are lost, as on a serial line.
        let _ = line.write_all(anemometer.due().as_bytes());
        for byte in received(line) {
            let _ = line.write_all(anemometer.hear(byte).as_bytes());
        }
    }
}

/// Reactions of the device to time and bytes.
struct Anemometer {
    polled: bool,
    /// As `D3` tells them.
    settings: Vec<String>,
    /// The command that is being typed, in configuration mode.
    command: Option<String>,
    /// The last byte was `*`: in polled mode its address follows.
    is_called: bool,
    next: Instant,
    sent: usize,
}

impl Anemometer {
    fn new(polled: bool) -> Self {
        let mode = if polled { "M4" } else { "M2" };
        let settings =
            [mode, "U1", "O1", "L1", "P3", "B3", "H1", "NQ", "F1", "E1", "T1", "S4", "C2", "G0", "K50"];
        let settings = settings.map(str::to_owned).into();
        Self { polled, settings, command: None, is_called: false, next: Instant::now(), sent: 0 }
    }

    /// The message of continuous mode, when it is time.
    fn due(&mut self) -> String {
        if self.polled || self.command.is_some() || Instant::now() < self.next {
            return String::new();
        }
        let millis = match self.setting('P') {
            "P1" => 1_000,
            "P2" => 500,
            _ => 250,
        };
        self.next = (self.next + Duration::from_millis(millis)).max(Instant::now());
        self.message()
    }

    fn message(&mut self) -> String {
        let body = BODIES[self.sent % BODIES.len()];
        self.sent += 1;
        let checksum = body.bytes().fold(0, |sum, byte| sum ^ byte);
        format!("\u{2}{body}\u{3}{checksum:02X}\r\n")
    }

    fn hear(&mut self, byte: u8) -> String {
        if let Some(command) = &mut self.command {
            if byte != b'\r' {
                command.push(char::from(byte));
                return String::new();
            }
            let command = std::mem::take(command);
            return self.configure(command.trim());
        }
        let was_called = std::mem::replace(&mut self.is_called, byte == b'*');
        match byte {
            b'*' if !self.polled => self.begin_configuration(),
            b'Q' if was_called => self.begin_configuration(),
            b'Q' if self.polled => self.message(),
            b'?' => {
                self.polled = true;
                String::new()
            }
            b'!' => {
                self.polled = false;
                String::new()
            }
            _ => String::new(),
        }
    }

    fn begin_configuration(&mut self) -> String {
        self.command = Some(String::new());
        "\r\nCONFIGURATION MODE\r\n".into()
    }

    fn configure(&mut self, command: &str) -> String {
        if command == "Q" {
            self.command = None;
            self.next = Instant::now();
            self.polled = matches!(self.setting('M'), "M3" | "M4");
            return String::new();
        }
        if command == "D3" {
            return format!("{},\r\n", self.settings.join(","));
        }
        let is_known = command.len() > 1 && command.as_bytes().get(1) != Some(&b'9');
        match self.settings.iter_mut().find(|known| is_known && known.get(..1) == command.get(..1)) {
            Some(known) => {
                command.clone_into(known);
                format!("{command}\r\n")
            }
            None => "ILLEGAL COMMAND\r\n".into(),
        }
    }

    fn setting(&self, kind: char) -> &str {
        self.settings.iter().find(|known| known.starts_with(kind)).map_or("", String::as_str)
    }
}

/// Returns the bytes that arrive within some milliseconds. Reading fails while the line is not open at the other end.
fn received(line: &mut File) -> Vec<u8> {
    let some = Timespec { tv_sec: 0, tv_nsec: 10_000_000 };
    let mut buffer = [0; 64];
    let ready = poll(&mut [PollFd::new(&*line, PollFlags::IN)], Some(&some)).unwrap_or(0);
    let length = if ready > 0 { line.read(&mut buffer) } else { Ok(0) };
    match length {
        Ok(length) => buffer.iter().take(length).copied().collect(),
        Err(_) => {
            thread::park_timeout(Duration::from_millis(10));
            Vec::new()
        }
    }
}

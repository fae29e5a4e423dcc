//! A WindSonic on a pseudo-terminal: four messages a second, or an answer to each `Q`. Tests include this file too.

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
    time::Instant,
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

fn speak(line: &mut File, mut polled: bool, unplugged: &AtomicBool) {
    let (began, mut sent) = (Instant::now(), 0);
    let mut bodies = BODIES.iter().cycle();
    let mut say = |line: &mut File| {
        let body = bodies.next().unwrap_or(&BODIES[0]);
        let checksum = body.bytes().fold(0, |sum, byte| sum ^ byte);
        // Without a reader the bytes are lost, as on a serial line.
        let _ = write!(line, "\u{2}{body}\u{3}{checksum:02X}\r\n");
    };
    while !unplugged.load(Ordering::Relaxed) {
        if !polled && began.elapsed().as_millis() / 250 >= sent {
            sent += 1;
            say(line);
        }
        for byte in received(line) {
            match byte {
                b'?' => polled = true,
                b'!' => polled = false,
                b'Q' if polled => say(line),
                _ => {}
            }
        }
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
            thread::park_timeout(std::time::Duration::from_millis(10));
            Vec::new()
        }
    }
}

//! A serial line as a stream of bytes: 8 bits, no parity, one stop bit, nothing translated.
//!
//! ```no_run
//! use oasis_serial::SerialPort;
//! use std::{path::Path, time::Duration};
//!
//! let mut port = SerialPort::open(Path::new("/dev/ttyUSB0"), 9_600)?;
//! let mut buffer = [0; 256];
//! let length = port.read(&mut buffer, Duration::from_secs(1))?;
//! println!("{length} bytes");
//! # Ok::<(), std::io::Error>(())
//! ```

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    fs::OFlags,
    io::Errno,
    termios::{OptionalActions, ioctl_tiocexcl, tcgetattr, tcsetattr},
};
use std::{
    fs::{File, OpenOptions},
    io::{self, Read, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
    time::Duration,
};

/// An open tty. Errors name its path.
#[derive(Debug)]
pub struct SerialPort {
    path: PathBuf,
    tty: File,
}

impl SerialPort {
    /// Opens the tty exclusively, so that no other process reads part of the bytes.
    pub fn open(path: &Path, baud: u32) -> io::Result<Self> {
        let tty = open(path, baud).map_err(|error| named(path, error))?;
        Ok(Self { path: path.into(), tty })
    }

    /// Reads the bytes that arrive within a time, or none. An unplugged device is an error.
    pub fn read(&mut self, buffer: &mut [u8], within: Duration) -> io::Result<usize> {
        self.read_unnamed(buffer, within).map_err(|error| named(&self.path, error))
    }

    /// Writes all bytes. The driver accepts short commands whole.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.tty.write_all(bytes).map_err(|error| named(&self.path, error))
    }

    fn read_unnamed(&mut self, buffer: &mut [u8], within: Duration) -> io::Result<usize> {
        let timeout = Timespec { tv_sec: within.as_secs() as i64, tv_nsec: within.subsec_nanos().into() };
        match poll(&mut [PollFd::new(&self.tty, PollFlags::IN)], Some(&timeout)) {
            Ok(0) | Err(Errno::INTR) => return Ok(0),
            Ok(_) => {}
            Err(error) => return Err(error.into()),
        }
        match self.tty.read(buffer) {
            // Readable without data: the other end has closed the line.
            Ok(0) => Err(io::Error::new(io::ErrorKind::NotConnected, "device disconnected")),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(0),
            read => read,
        }
    }
}

fn open(path: &Path, baud: u32) -> io::Result<File> {
    // Non-blocking: otherwise `open` would wait for a carrier, which three-wire lines do not have.
    let flags = OFlags::NOCTTY | OFlags::NONBLOCK;
    let tty =
        OpenOptions::new().read(true).write(true).custom_flags(flags.bits().cast_signed()).open(path)?;
    let mut settings = tcgetattr(&tty)?;
    settings.make_raw();
    settings.control_modes |= rustix::termios::ControlModes::CLOCAL | rustix::termios::ControlModes::CREAD;
    settings.set_speed(baud)?;
    tcsetattr(&tty, OptionalActions::Flush, &settings)?;
    ioctl_tiocexcl(&tty)?;
    Ok(tty)
}

fn named(path: &Path, error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

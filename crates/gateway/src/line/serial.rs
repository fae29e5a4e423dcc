//! A serial line: one device. It may be unplugged and plugged in again.

use super::{READ_CHUNK_BYTES, READ_TIMEOUT, Shared, moment, spawn};
use crate::station::Out;
use oasis_serial::SerialPort;
use std::{
    fs, io,
    path::{Path, PathBuf},
    thread::JoinHandle,
};

/// Starts the thread of a port. It need not exist yet.
///
/// # Errors
/// If it is a file or folder instead, or there can be no thread.
pub fn start(path: PathBuf, baud: u32, shared: Shared) -> io::Result<Vec<JoinHandle<()>>> {
    check_port(&path)?;
    Ok(vec![spawn("oasis-serial", move || run(&path, baud, &shared))?])
}

fn run(path: &Path, baud: u32, shared: &Shared) {
    let mut logged = String::new();
    while !shared.is_stopping() {
        let ended = SerialPort::open(path, baud).and_then(|port| {
            tracing::info!(port = %path.display(), baud, "serial line is open");
            shared.set_open(true);
            logged.clear();
            carry(port, &path.display().to_string(), shared)
        });
        shared.set_open(false);
        let Err(error) = ended else { return };
        let message = format!("{error}{}", remedy(error.kind()));
        if message != logged {
            tracing::warn!(error = message, "serial line is not open: trying again each second");
            logged = message;
        }
        shared.pause();
    }
}

/// A mistyped path would otherwise be tried for ever.
fn check_port(path: &Path) -> io::Result<()> {
    match fs::metadata(path) {
        Ok(found) if found.is_file() || found.is_dir() => {
            let what = if found.is_dir() { "a folder" } else { "a plain file" };
            let text = format!("{what} is no serial port: list ports with ls /dev/tty* /dev/serial/by-id/*");
            Err(io::Error::new(io::ErrorKind::InvalidInput, text))
        }
        _ => Ok(()),
    }
}

/// Reads until the line fails or the gateway ends.
fn carry(mut port: SerialPort, what: &str, shared: &Shared) -> io::Result<()> {
    let mut station = shared.station(what, false);
    let (mut buffer, mut out) = ([0; READ_CHUNK_BYTES], Out::new());
    while !shared.is_stopping() {
        let count = port.read(&mut buffer, READ_TIMEOUT)?;
        let now = moment();
        if let Some(bytes @ [_, ..]) = buffer.get(..count) {
            station.receive(bytes, None, now, &mut out);
        }
        station.tick(now, &mut out);
        for (_, bytes) in out.drain(..) {
            match port.write(&bytes) {
                Ok(()) => shared.note_sent(bytes.len()),
                // A device that reads nothing: what it misses is asked for or said again.
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
        }
    }
    Ok(())
}

/// Remedy for a port that cannot be opened.
fn remedy(kind: io::ErrorKind) -> &'static str {
    match kind {
        io::ErrorKind::NotFound => {
            ": is the device plugged in? List ports with ls /dev/tty* /dev/serial/by-id/*"
        }
        io::ErrorKind::PermissionDenied => {
            ": add the user to the group of the port, on most systems dialout (sudo usermod -aG dialout $USER), and sign in again"
        }
        io::ErrorKind::ResourceBusy => ": another program has the port open",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_that_cannot_be_opened_has_a_remedy() {
        assert!(remedy(io::ErrorKind::PermissionDenied).contains("dialout"));
        assert!(remedy(io::ErrorKind::NotFound).contains("plugged in"));
        let missing = SerialPort::open(Path::new("/dev/no such tty"), 9_600).unwrap_err();
        assert_eq!(missing.kind(), io::ErrorKind::NotFound);
        check_port(Path::new("/dev/no such tty")).unwrap();
        check_port(Path::new("/dev/null")).unwrap();
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
        for (path, what) in [(folder, "a folder"), (&folder.join("Cargo.toml"), "a plain file")] {
            let error = check_port(path).unwrap_err().to_string();
            assert!(error.starts_with(what) && error.contains("no serial port"), "{error}");
        }
    }
}

//! A socket that topic logs and answers write to, so that one wait is for the broker and for them.

use oasis_dac::{Wake, WakeFlag};
use std::{
    io::{self, Read, Write},
    os::fd::{AsFd, BorrowedFd},
    os::unix::net::UnixStream,
};

/// Both ends of the socket. It has one byte at most.
#[derive(Debug)]
pub struct WakeSocket {
    flag: WakeFlag,
    reading: UnixStream,
    writing: UnixStream,
}

impl WakeSocket {
    /// Creates a socket without a byte.
    ///
    /// # Errors
    /// If the system has no more sockets.
    pub fn new() -> io::Result<Self> {
        let (reading, writing) = UnixStream::pair()?;
        reading.set_nonblocking(true)?;
        writing.set_nonblocking(true)?;
        Ok(Self { flag: WakeFlag::new(), reading, writing })
    }

    /// Takes the byte. Called before the reader looks for what is new.
    pub fn clear(&self) {
        let mut bytes = [0; 8];
        // An empty socket has nothing to take.
        let _ = (&self.reading).read(&mut bytes);
        self.flag.lower();
    }
}

impl AsFd for WakeSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.reading.as_fd()
    }
}

impl Wake for WakeSocket {
    fn raise(&self) {
        if self.flag.raise() {
            // A full socket wakes the reader too.
            let _ = (&self.writing).write(&[1]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_raises_are_one_byte() {
        let socket = WakeSocket::new().unwrap();
        let mut bytes = [0; 8];
        for _ in 0..2 {
            (0..10_000).for_each(|_| socket.raise());
            assert_eq!((&socket.reading).read(&mut bytes).unwrap(), 1);
            socket.clear();
        }
    }
}

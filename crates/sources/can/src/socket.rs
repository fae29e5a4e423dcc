//! The sockets that frames come from: of a CAN interface, or of a program that sends the same bytes.

#![allow(unsafe_code, reason = "the standard library knows no CAN sockets and no ancillary data")]

use crate::frame::FD_BYTES;
use std::{
    ffi::CString,
    io, mem,
    os::{
        fd::{AsRawFd, FromRawFd, OwnedFd},
        unix::{fs::FileTypeExt, net::UnixDatagram},
    },
    path::Path,
    time::Duration,
};

/// Bytes of ancillary data that the kernel passes: a counter of 4 bytes and its head.
const CONTROL_BYTES: u8 = 64;
/// `SOL_CAN_RAW`: the level of options of raw CAN sockets.
const CAN_RAW_LEVEL: libc::c_int = 101;
/// The protocol of raw CAN sockets.
const CAN_RAW: libc::c_int = 1;
/// The option with the classes of errors that are reported as frames.
const CAN_RAW_ERR_FILTER: libc::c_int = 2;
/// The option that permits frames of CAN FD.
const CAN_RAW_FD_FRAMES: libc::c_int = 5;
/// All classes of errors.
const ALL_ERRORS: u32 = 0x1fff_ffff;

/// A socket that frames are read from.
#[derive(Debug)]
pub struct FrameSocket {
    socket: OwnedFd,
    /// The counter of the kernel: frames that it dropped since the socket was opened.
    dropped: u32,
}

/// A frame that was read.
#[derive(Debug)]
pub struct ReceivedFrame {
    pub bytes: [u8; FD_BYTES],
    pub length: usize,
    /// Frames that the kernel dropped before this one, because the socket was full.
    pub dropped_before: u32,
}

impl FrameSocket {
    /// Opens a CAN interface.
    pub fn open_interface(name: &str, timeout: Duration) -> io::Result<Self> {
        // SAFETY: no memory is passed.
        let socket =
            checked(unsafe { libc::socket(libc::AF_CAN, libc::SOCK_RAW | libc::SOCK_CLOEXEC, CAN_RAW) })
                .map_err(explained)?;
        // SAFETY: the kernel has just returned this descriptor, and nothing else owns it.
        let socket = unsafe { OwnedFd::from_raw_fd(socket) };
        let name = CString::new(name).map_err(io::Error::other)?;
        // SAFETY: the name ends with a zero.
        let index = unsafe { libc::if_nametoindex(name.as_ptr()) };
        if index == 0 {
            return Err(io::Error::last_os_error());
        }
        set_option(&socket, CAN_RAW_LEVEL, CAN_RAW_ERR_FILTER, &ALL_ERRORS)?;
        // Interfaces and kernels without CAN FD have classic frames only.
        let _ = set_option(&socket, CAN_RAW_LEVEL, CAN_RAW_FD_FRAMES, &1_i32);
        // SAFETY: all zeros are a valid address.
        let mut address: libc::sockaddr_can = unsafe { mem::zeroed() };
        address.can_family = libc::AF_CAN as libc::sa_family_t;
        address.can_ifindex = index.cast_signed();
        let length = mem::size_of_val(&address) as libc::socklen_t;
        // SAFETY: the address and its length belong together, and outlive the call.
        checked(unsafe { libc::bind(socket.as_raw_fd(), (&raw const address).cast(), length) })?;
        Self::new(socket, timeout)
    }

    /// Listens at a path for datagrams that are frames. A socket without a listener is replaced.
    pub fn listen(path: &Path, timeout: Duration) -> io::Result<Self> {
        let is_stale = path.symlink_metadata().is_ok_and(|found| found.file_type().is_socket())
            && UnixDatagram::unbound()?.connect(path).is_err();
        if is_stale {
            std::fs::remove_file(path)?;
        }
        Self::new(UnixDatagram::bind(path)?.into(), timeout)
    }

    /// Reads frames from a socket of datagrams. Reads wait at most for the timeout.
    pub fn new(socket: OwnedFd, timeout: Duration) -> io::Result<Self> {
        set_option(&socket, libc::SOL_SOCKET, libc::SO_RXQ_OVFL, &1_i32)?;
        let time = libc::timeval {
            tv_sec: timeout.as_secs().cast_signed(),
            tv_usec: timeout.subsec_micros().into(),
        };
        set_option(&socket, libc::SOL_SOCKET, libc::SO_RCVTIMEO, &time)?;
        Ok(Self { socket, dropped: 0 })
    }

    /// Reads the next frame. Waits for it at most for the timeout, or not at all.
    pub fn receive(&mut self, waits: bool) -> io::Result<ReceivedFrame> {
        let mut frame = ReceivedFrame { bytes: [0; FD_BYTES], length: 0, dropped_before: 0 };
        let mut part = libc::iovec { iov_base: frame.bytes.as_mut_ptr().cast(), iov_len: frame.bytes.len() };
        // Ancillary data begins with a number of 64 bits.
        let mut control = [0_u64; CONTROL_BYTES as usize / 8];
        // SAFETY: all zeros are a valid head without buffers.
        let mut head: libc::msghdr = unsafe { mem::zeroed() };
        (head.msg_iov, head.msg_iovlen) = (&raw mut part, 1);
        // The C libraries have different types of lengths.
        (head.msg_control, head.msg_controllen) = (control.as_mut_ptr().cast(), CONTROL_BYTES.into());
        let flags = libc::MSG_TRUNC | if waits { 0 } else { libc::MSG_DONTWAIT };
        // SAFETY: both buffers have the lengths that the head says, and outlive the call. `MSG_TRUNC` returns the length of a longer datagram, and
        // writes no further.
        let length = unsafe { libc::recvmsg(self.socket.as_raw_fd(), &raw mut head, flags) };
        frame.length = usize::try_from(length).map_err(|_| io::Error::last_os_error())?;
        if let Some(dropped) = dropped_counter(&head) {
            frame.dropped_before = dropped.wrapping_sub(self.dropped);
            self.dropped = dropped;
        }
        Ok(frame)
    }
}

/// Returns the counter of dropped datagrams.
fn dropped_counter(head: &libc::msghdr) -> Option<u32> {
    // SAFETY: the kernel has filled in the head, whose buffer is alive and aligned; the macros stay within its length.
    unsafe {
        let mut entry = libc::CMSG_FIRSTHDR(head);
        while let Some(found) = entry.as_ref() {
            if found.cmsg_level == libc::SOL_SOCKET && found.cmsg_type == libc::SO_RXQ_OVFL {
                return Some(libc::CMSG_DATA(entry).cast::<u32>().read_unaligned());
            }
            entry = libc::CMSG_NXTHDR(head, entry);
        }
    }
    None
}

fn set_option<T>(socket: &OwnedFd, level: libc::c_int, name: libc::c_int, value: &T) -> io::Result<()> {
    let length = mem::size_of::<T>() as libc::socklen_t;
    // SAFETY: the value and its length belong together, and outlive the call.
    checked(unsafe {
        libc::setsockopt(socket.as_raw_fd(), level, name, (&raw const *value).cast(), length)
    })?;
    Ok(())
}

/// Adds the remedy to the error of a kernel that has no CAN sockets.
fn explained(error: io::Error) -> io::Error {
    match error.raw_os_error() {
        Some(libc::EAFNOSUPPORT | libc::EPROTONOSUPPORT) => {
            let remedy = "the kernel of this host has no CAN sockets: load them (modprobe can_raw)";
            io::Error::new(error.kind(), format!("{error}: {remedy}"))
        }
        _ => error,
    }
}

fn checked(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::UdpSocket;

    const TIMEOUT: Duration = Duration::from_secs(10);

    #[test]
    fn frames_come_from_a_path_and_a_stale_socket_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("can");
        drop(FrameSocket::listen(&path, TIMEOUT).unwrap());
        let mut socket = FrameSocket::listen(&path, TIMEOUT).unwrap();
        assert!(FrameSocket::listen(&path, TIMEOUT).is_err(), "another one listens there");
        let sender = UnixDatagram::unbound().unwrap();
        sender.send_to(&[7; 16], &path).unwrap();
        sender.send_to(&[8; 100], &path).unwrap();
        let first = socket.receive(true).unwrap();
        assert_eq!((first.length, first.bytes[0], first.dropped_before), (16, 7, 0));
        assert_eq!(socket.receive(true).unwrap().length, 100, "a longer datagram is no frame");
    }

    /// UDP has the same counter of the kernel, also on hosts without CAN.
    #[test]
    fn datagrams_that_the_kernel_drops_are_counted() {
        let receiver = UdpSocket::bind("127.0.0.1:0").unwrap();
        let sender = UdpSocket::bind("127.0.0.1:0").unwrap();
        sender.connect(receiver.local_addr().unwrap()).unwrap();
        let mut socket = FrameSocket::new(receiver.into(), TIMEOUT).unwrap();
        let last = 20_000_u32;
        (0..last).for_each(|number| assert_eq!(sender.send(&number.to_le_bytes()).unwrap(), 4));
        let number = |frame: &ReceivedFrame| u32::from_le_bytes(frame.bytes[..4].try_into().unwrap());
        let mut next = 0;
        while let Ok(frame) = socket.receive(false) {
            assert_eq!((number(&frame), frame.dropped_before), (next, 0));
            next += 1;
        }
        assert!(next < last, "the socket is not full");
        // There is room again: this one says what was dropped before it.
        sender.send(&last.to_le_bytes()).unwrap();
        let frame = socket.receive(true).unwrap();
        assert_eq!((number(&frame), frame.dropped_before), (last, last - next));
    }

    #[test]
    fn a_kernel_without_can_has_a_remedy() {
        let without_can = explained(io::Error::from_raw_os_error(libc::EAFNOSUPPORT)).to_string();
        assert!(without_can.contains("os error 97") && without_can.contains("modprobe"), "{without_can}");
        let other = explained(io::Error::from_raw_os_error(libc::EPERM)).to_string();
        assert!(!other.contains("modprobe"), "{other}");
    }

    #[test]
    fn an_interface_that_does_not_exist_is_an_error() {
        assert!(FrameSocket::open_interface("no-such-can", TIMEOUT).is_err());
    }
}

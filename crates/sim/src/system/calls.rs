//! Functions of the C library, replaced: they ask the simulated machine of the thread, or else make the system call.
//!
//! A symbol of the executable takes precedence over one of a shared library, so the standard library and SQLite call these.
//! The simulated disk calls them too while it works; [`query_machine`] then finds the machine in use, and they make the
//! system call.
//!
//! Safety: each function has the contract of its original. Pointers are only dereferenced as the original would, for as long
//! as the call lasts. The variadic third argument of `open` is passed like a fixed one on all Linux targets.

use super::{
    CURRENT, Machine,
    disk::{Answer, OpenedFile},
};
use libc::{c_char, c_int, c_long, c_uint, c_void, mode_t, off_t, size_t, ssize_t, syscall};
use std::{
    ffi::{CStr, OsStr},
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

/// Returns what `query` returns for the simulated machine; none without a machine, or while it is in use by itself.
fn query_machine<T>(query: impl FnOnce(&mut Machine) -> T) -> Option<T> {
    CURRENT.try_with(|current| Some(query(current.try_borrow_mut().ok()?.as_mut()?))).ok().flatten()
}

fn fail(error: c_int) -> c_int {
    // Safety: the location is valid for the thread.
    unsafe { *libc::__errno_location() = error };
    -1
}

/// # Safety
/// `path` must be a C string, or null.
unsafe fn path_of<'a>(path: *const c_char) -> &'a Path {
    if path.is_null() {
        return Path::new("");
    }
    // Safety: the caller's.
    Path::new(OsStr::from_bytes(unsafe { CStr::from_ptr(path) }.to_bytes()))
}

/// Returns the path that a call relative to a directory means.
fn resolved(directory: c_int, path: &Path) -> PathBuf {
    if path.is_absolute() || directory == libc::AT_FDCWD {
        return path.to_owned();
    }
    let base = query_machine(|machine| machine.disk.path_of(directory)).flatten();
    base.map_or_else(|| path.to_owned(), |base| base.join(path))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn clock_gettime(clock: libc::clockid_t, out: *mut libc::timespec) -> c_int {
    let Some(Some(time)) = query_machine(|machine| machine.clock(clock)) else {
        // Safety: the arguments are the caller's.
        return unsafe { syscall(libc::SYS_clock_gettime, clock, out) } as c_int;
    };
    let time = libc::timespec {
        tv_sec: (time / super::NANOS_PER_SECOND) as libc::time_t,
        tv_nsec: (time % super::NANOS_PER_SECOND) as c_long,
    };
    // Safety: the caller passes a place for the time.
    unsafe { out.write(time) };
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn getrandom(out: *mut c_void, length: size_t, flags: c_uint) -> ssize_t {
    let bytes = query_machine(|machine| {
        let mut bytes = vec![0; length];
        machine.random.fill(&mut bytes);
        bytes
    });
    match bytes {
        Some(bytes) => {
            // Safety: the caller passes room for `length` bytes.
            unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), out.cast(), length) };
            length as ssize_t
        }
        // Safety: the arguments are the caller's.
        None => unsafe { syscall(libc::SYS_getrandom, out, length, flags) as ssize_t },
    }
}

/// # Safety
/// As openat(2).
unsafe fn open_at(directory: c_int, path: *const c_char, flags: c_int, mode: mode_t) -> c_int {
    // Safety: the caller's.
    let real = || unsafe { syscall(libc::SYS_openat, directory, path, flags, mode as c_uint) } as c_int;
    // Safety: the caller's.
    let wanted = resolved(directory, unsafe { path_of(path) });
    let opening = query_machine(|machine| machine.disk.before_open(&wanted, flags)).flatten();
    let Some(opening) = opening else {
        let file = real();
        // The C library may have closed the number without calling `close`.
        query_machine(|machine| machine.disk.closed(file));
        return file;
    };
    if let OpenedFile::Refused(error) = opening {
        return fail(error);
    }
    let file = real();
    if file >= 0 {
        query_machine(|machine| machine.disk.after_open(file, &wanted, opening, flags));
    }
    file
}

#[unsafe(no_mangle)]
unsafe extern "C" fn open(path: *const c_char, flags: c_int, mode: mode_t) -> c_int {
    // Safety: the caller's.
    unsafe { open_at(libc::AT_FDCWD, path, flags, mode) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn open64(path: *const c_char, flags: c_int, mode: mode_t) -> c_int {
    // Safety: the caller's.
    unsafe { open_at(libc::AT_FDCWD, path, flags | libc::O_LARGEFILE, mode) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn openat(directory: c_int, path: *const c_char, flags: c_int, mode: mode_t) -> c_int {
    // Safety: the caller's.
    unsafe { open_at(directory, path, flags, mode) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn openat64(directory: c_int, path: *const c_char, flags: c_int, mode: mode_t) -> c_int {
    // Safety: the caller's.
    unsafe { open_at(directory, path, flags | libc::O_LARGEFILE, mode) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn close(file: c_int) -> c_int {
    query_machine(|machine| machine.disk.closed(file));
    // Safety: the argument is the caller's.
    unsafe { syscall(libc::SYS_close, file) as c_int }
}

/// Writes to a simulated file; none if it is a real one.
///
/// # Safety
/// As write(2).
unsafe fn write_to(file: c_int, bytes: *const c_void, length: size_t, at: Option<u64>) -> Option<ssize_t> {
    if length == 0 {
        return None;
    }
    // Safety: the caller passes `length` bytes.
    let bytes = unsafe { std::slice::from_raw_parts(bytes.cast::<u8>(), length) };
    let Answer { result, done } = query_machine(|machine| machine.disk.write(file, bytes, at)).flatten()?;
    Some(match result {
        Ok(()) => done as ssize_t,
        Err(error) => fail(error) as ssize_t,
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn write(file: c_int, bytes: *const c_void, length: size_t) -> ssize_t {
    // Safety: the caller's, twice.
    unsafe {
        write_to(file, bytes, length, None)
            .unwrap_or_else(|| syscall(libc::SYS_write, file, bytes, length) as ssize_t)
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pwrite64(file: c_int, bytes: *const c_void, length: size_t, at: off_t) -> ssize_t {
    // Safety: the caller's, twice.
    unsafe {
        write_to(file, bytes, length, Some(at as u64))
            .unwrap_or_else(|| syscall(libc::SYS_pwrite64, file, bytes, length, at) as ssize_t)
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pwrite(file: c_int, bytes: *const c_void, length: size_t, at: off_t) -> ssize_t {
    // Safety: the caller's.
    unsafe { pwrite64(file, bytes, length, at) }
}

/// Returns the answer of the simulated disk, or makes the system call.
fn answered(answer: Option<Option<Result<(), c_int>>>, real: impl FnOnce() -> c_long) -> c_int {
    match answer.flatten() {
        Some(Err(error)) => fail(error),
        Some(Ok(())) => 0,
        None => real() as c_int,
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn ftruncate64(file: c_int, length: off_t) -> c_int {
    // Safety: the arguments are the caller's.
    answered(query_machine(|machine| machine.disk.set_length(file, length as u64)), || unsafe {
        syscall(libc::SYS_ftruncate, file, length)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn ftruncate(file: c_int, length: off_t) -> c_int {
    // Safety: the caller's.
    unsafe { ftruncate64(file, length) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn fsync(file: c_int) -> c_int {
    // Safety: the argument is the caller's.
    answered(query_machine(|machine| machine.disk.sync(file)), || unsafe { syscall(libc::SYS_fsync, file) })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn fdatasync(file: c_int) -> c_int {
    // Safety: the argument is the caller's.
    answered(query_machine(|machine| machine.disk.sync(file)), || unsafe {
        syscall(libc::SYS_fdatasync, file)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn rename(from: *const c_char, to: *const c_char) -> c_int {
    // Safety: the caller's.
    let (old, new) = unsafe { (path_of(from), path_of(to)) };
    // Safety: the arguments are the caller's.
    answered(query_machine(|machine| machine.disk.rename(old, new)), || unsafe {
        syscall(libc::SYS_renameat2, libc::AT_FDCWD, from, libc::AT_FDCWD, to, 0)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn unlinkat(directory: c_int, path: *const c_char, flags: c_int) -> c_int {
    // Safety: the caller's.
    let wanted = resolved(directory, unsafe { path_of(path) });
    let is_directory = flags & libc::AT_REMOVEDIR != 0;
    // Safety: the arguments are the caller's.
    answered(query_machine(|machine| machine.disk.remove(&wanted, is_directory)), || unsafe {
        syscall(libc::SYS_unlinkat, directory, path, flags)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn unlink(path: *const c_char) -> c_int {
    // Safety: the caller's.
    unsafe { unlinkat(libc::AT_FDCWD, path, 0) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn rmdir(path: *const c_char) -> c_int {
    // Safety: the caller's.
    unsafe { unlinkat(libc::AT_FDCWD, path, libc::AT_REMOVEDIR) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn mkdir(path: *const c_char, mode: mode_t) -> c_int {
    // Safety: the caller's.
    let wanted = unsafe { path_of(path) };
    // Safety: the arguments are the caller's.
    answered(query_machine(|machine| machine.disk.make_directory(wanted, mode)), || unsafe {
        syscall(libc::SYS_mkdirat, libc::AT_FDCWD, path, mode as c_uint)
    })
}

//! Arguments from C, converted to Rust types.

use crate::status::Problem;
use oasis_wire::{declared, schema::ProbeType};
use std::{
    ffi::{CStr, c_char},
    slice,
};

/// Converts a text.
///
/// # Safety
/// `text` is null or ends with NUL.
pub unsafe fn text<'a>(text: *const c_char, name: &'static str) -> Result<&'a str, Problem> {
    if text.is_null() {
        return Err(Problem::Null(name));
    }
    // SAFETY: not null, and the caller promises its end.
    unsafe { CStr::from_ptr(text) }.to_str().map_err(|_| Problem::Text(name))
}

/// Converts bytes; a null pointer with length 0 means none.
///
/// # Safety
/// As [`array`].
pub unsafe fn bytes<'a>(bytes: *const u8, length: usize, name: &'static str) -> Result<&'a [u8], Problem> {
    // SAFETY: as the caller promises.
    unsafe { array(bytes, length, name) }
}

/// Converts an array; a null pointer with length 0 means none.
///
/// # Safety
/// `things` is null or has `length` of them.
pub unsafe fn array<'a, T>(things: *const T, length: usize, name: &'static str) -> Result<&'a [T], Problem> {
    match (things.is_null(), length) {
        (true, 0) => Ok(&[]),
        (true, _) => Err(Problem::Null(name)),
        // SAFETY: not null, and the caller promises its length.
        _ => Ok(unsafe { slice::from_raw_parts(things, length) }),
    }
}

/// Converts a handle created by this library.
///
/// # Safety
/// `thing` is null or was created by this library, and is not used elsewhere at this time.
pub unsafe fn thing<'a, T>(thing: *mut T, name: &'static str) -> Result<&'a mut T, Problem> {
    // SAFETY: as the caller promises.
    unsafe { thing.as_mut() }.ok_or(Problem::Null(name))
}

/// Moves a value to the heap and writes its address to `place`.
///
/// # Safety
/// `place` is null or writable.
pub unsafe fn put<T>(place: *mut *mut T, value: T, name: &'static str) -> Result<(), Problem> {
    if place.is_null() {
        return Err(Problem::Null(name));
    }
    // SAFETY: not null, and the caller promises that it is writable.
    unsafe { place.write(Box::into_raw(Box::new(value))) };
    Ok(())
}

/// Parses a schema from generated code or any other source. It is validated, because readers rely on its bounds. One without `uuid` gets the
/// identity that is computed from it.
///
/// # Safety
/// As [`text`].
pub unsafe fn schema(json: *const c_char) -> Result<ProbeType, Problem> {
    // SAFETY: as the caller promises.
    Ok(declared::read(unsafe { text(json, "schema") }?)?)
}

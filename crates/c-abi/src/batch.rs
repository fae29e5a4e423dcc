//! Native batches, for programs that store or transport them, and for the tests of other languages.

use crate::{
    arguments::{bytes, put, schema, thing},
    status::{Problem, Status, answer},
};
use oasis_wire::{
    batch::{self, Batch, Fields},
    value,
};
use std::ffi::{c_char, c_void};

/// Receives one sample of a batch: its sequence number, its time in nanoseconds since 1970-01-01 UTC, its packed row
/// (valid during the call).
pub type BatchSample = Option<
    unsafe extern "C" fn(context: *mut c_void, sequence: u64, time: u64, row: *const u8, length: usize),
>;

/// Encodes samples of one probe type as native batches (docs/reference/native-batch.md).
pub struct Encoder {
    encoder: batch::Encoder,
    batch: Vec<u8>,
}

/// Creates an encoder for samples of this schema.
///
/// # Safety
/// `schema` ends with NUL; `encoder` is writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oasis_encoder_new(schema: *const c_char, encoder: *mut *mut Encoder) -> Status {
    answer(|| {
        // SAFETY: as the caller promises.
        unsafe {
            let made = batch::Encoder::new(&self::schema(schema)?)?;
            put(encoder, Encoder { encoder: made, batch: Vec::new() }, "encoder")?;
        }
        Ok(Status::Ok)
    })
}

/// Adds a sample: its time in nanoseconds since 1970-01-01 UTC and its packed row. A batch has at most 65,535
/// samples. A refused row has no effect.
///
/// # Safety
/// `encoder` is from oasis_encoder_new; `row` has `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oasis_encoder_push(
    encoder: *mut Encoder,
    time: u64,
    row: *const u8,
    length: usize,
) -> Status {
    answer(|| {
        // SAFETY: as the caller promises.
        let (encoder, row) = unsafe { (thing(encoder, "encoder")?, bytes(row, length, "row")?) };
        encoder.encoder.push(time, row)?;
        Ok(Status::Ok)
    })
}

/// Encodes a batch of the added samples, and starts the next. Writes its address and length to `batch` and `length`;
/// it is valid until the next use of the encoder. The length is 0 if there are no samples.
///
/// # Safety
/// `encoder` is from oasis_encoder_new; `batch` and `length` are writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oasis_encoder_finish(
    encoder: *mut Encoder,
    topic: u32,
    state: u16,
    first_sequence: u64,
    node_time: u64,
    dropped_before: u32,
    batch: *mut *const u8,
    length: *mut usize,
) -> Status {
    answer(|| {
        // SAFETY: as the caller promises.
        let encoder = unsafe { thing(encoder, "encoder") }?;
        if batch.is_null() || length.is_null() {
            return Err(Problem::Null("batch or length"));
        }
        encoder.batch.clear();
        let fields = Fields { topic, state, first_sequence, node_time, dropped_before };
        encoder.encoder.finish(fields, &mut encoder.batch);
        // SAFETY: not null, and the caller promises that they are writable.
        unsafe {
            batch.write(encoder.batch.as_ptr());
            length.write(encoder.batch.len());
        }
        Ok(Status::Ok)
    })
}

/// Decodes a batch: calls `sample` for each of its samples, in order. Bytes that are not a batch of this schema are
/// refused before the first call.
///
/// # Safety
/// `schema` ends with NUL; `batch` has `length` bytes; `sample` can be called with `context`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oasis_batch_read(
    schema: *const c_char,
    batch: *const u8,
    length: usize,
    sample: BatchSample,
    context: *mut c_void,
) -> Status {
    answer(|| {
        // SAFETY: as the caller promises.
        let (probe_type, batch) = unsafe { (self::schema(schema)?, bytes(batch, length, "batch")?) };
        let (batch, sample) = (Batch::parse(batch, &probe_type)?, sample.ok_or(Problem::Null("sample"))?);
        let mut row = Vec::new();
        for read in batch.samples() {
            value::write_row(&probe_type, &read.values, &mut row);
            // SAFETY: as the caller promises.
            unsafe { sample(context, read.sequence, read.time, row.as_ptr(), row.len()) };
        }
        Ok(Status::Ok)
    })
}

/// Frees an encoder. Null is ignored.
///
/// # Safety
/// `encoder` is from oasis_encoder_new and not used afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oasis_encoder_free(encoder: *mut Encoder) {
    if !encoder.is_null() {
        // SAFETY: made by a Box, and the caller promises to use it no more.
        drop(unsafe { Box::from_raw(encoder) });
    }
}

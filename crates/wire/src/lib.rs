//! The bytes of OASIS: no sockets, no clocks, no threads.
//!
//! A probe writes a sample as a [row](value::RowWriter). The EI node gathers rows of one instance and encodes them once, as a
//! [native batch](batch). The DAC [stamps](batch::stamp) a few header fields of that batch and otherwise keeps and sends its bytes as they are.
//! A reader of single samples [parses](batch::Batch) it by its [schema]; clients of 2012 get each sample as an [EISA packet](eisa).
//!
//! Decoders check input from outside at every step: they return errors that name the place, and never panic.
//!
//! ```
//! use oasis_wire::{batch::{self, Batch, Encoder, Fields}, schema::ProbeType, value::{RowWriter, Value}};
//!
//! let tank: ProbeType = serde_json::from_str(r#"{
//!     "name": "Plant::Tank", "uuid": "0b3c9f0e-5d0c-4a7e-9a51-6f1c0e6a2d11", "version": "1.0",
//!     "metrics": [{"name": "level", "type": "real64", "unit": "m"}, {"name": "pumps", "type": "uint8"}]
//! }"#)?;
//!
//! // In the node: two samples, a millisecond apart, become one batch.
//! let now = 1_763_683_200_000_000_000;
//! let mut encoder = Encoder::new(&tank)?;
//! for (time, level) in [(now, 2.5), (now + 1_000_000, 2.625)] {
//!     let mut row = Vec::new();
//!     let mut writer = RowWriter::new(&mut row);
//!     writer.f64(level);
//!     writer.u8(1);
//!     encoder.push(time, &row)?;
//! }
//! let mut bytes = Vec::new();
//! encoder.finish(Fields { topic: 7, state: 0, first_sequence: 41, node_time: now, dropped_before: 0 }, &mut bytes);
//!
//! // In the DAC: the offset in the topic's log, and its own time.
//! batch::stamp(&mut bytes, 1_000, now + 250_000);
//!
//! // Anywhere: samples again.
//! let read = Batch::parse(&bytes, &tank)?;
//! let last = read.samples().next_back().unwrap();
//! assert_eq!((last.sequence, last.offset, last.time), (42, 1_001, now + 1_000_000));
//! assert_eq!(last.values, [Value::Real64(2.625), Value::Uint(1)]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![no_std]
extern crate alloc;

pub mod absence;
pub mod batch;
pub mod cdr;
pub mod columns;
pub mod command;
pub mod declared;
pub mod eisa;
pub mod gap;
pub mod identity;
pub mod loss;
pub mod pattern;
pub mod primitive;
pub mod probe_kind;
pub mod quantity;
pub mod reader;
pub mod sample;
pub mod schema;
pub mod stored;
#[cfg(feature = "time")]
pub mod time;
pub mod unit;
pub mod value;
pub mod varint;

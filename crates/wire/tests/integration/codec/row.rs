//! Samples as a probe writes them, from values known only at run time.

use oasis_wire::{
    schema::ProbeType,
    value::{self, Value},
};

pub fn row(values: &[Value], probe_type: &ProbeType) -> Vec<u8> {
    let mut bytes = Vec::new();
    value::write_row(probe_type, values, &mut bytes);
    bytes
}

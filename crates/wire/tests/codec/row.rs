//! Samples as a probe writes them, from values known only at run time.

use oasis_wire::{
    schema::ProbeType,
    value::{self, RowWriter, Value},
};

pub fn row(values: &[Value], probe_type: &ProbeType) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut to = RowWriter::new(&mut bytes);
    values
        .iter()
        .zip(&probe_type.metrics)
        .for_each(|(value, metric)| value::write(&metric.kind, value, &mut to));
    bytes
}

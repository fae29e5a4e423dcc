//! Shared input of the targets: the probe types of `vectors/shapes.pdl`. The first byte of a batch chooses one of them.

pub mod targets;

use oasis_pdl::compile;
use oasis_wire::{
    reader::Reader,
    schema::ProbeType,
    value::{self, Value},
};
use std::{
    collections::HashMap,
    path::PathBuf,
    sync::{Arc, LazyLock},
};

static TYPES: LazyLock<Vec<Arc<ProbeType>>> = LazyLock::new(|| {
    let path = PathBuf::from("shapes.pdl");
    let files = HashMap::from([(path.clone(), include_str!("../../vectors/shapes.pdl").to_owned())]);
    let model = compile(&[path], &[], &files).model;
    let schemas = model.probes.iter().filter_map(|probe| oasis_pdl_gen::json_schema::schema(&model, probe));
    schemas.map(Arc::new).collect()
});

/// All of them.
pub fn types() -> &'static [Arc<ProbeType>] {
    &TYPES
}

/// The probe type that an input chooses, and the rest of the input.
pub fn chosen(input: &[u8]) -> Option<(&'static ProbeType, &[u8])> {
    let (&choice, rest) = input.split_first()?;
    let types = &*TYPES;
    let probe_type: &ProbeType = types.get(usize::from(choice) % types.len())?;
    Some((probe_type, rest))
}

/// The next row of an input, if it begins with one.
pub fn next_row(probe_type: &ProbeType, input: &mut Reader<'_>) -> Option<Vec<Value>> {
    probe_type.metrics.iter().map(|metric| value::read(&metric.kind, input).ok()).collect()
}

/// The row of these values.
pub fn row_of(probe_type: &ProbeType, values: &[Value]) -> Vec<u8> {
    let mut row = Vec::new();
    value::write_row(probe_type, values, &mut row);
    row
}

//! JSON objects as samples: `unique` parses a text, `shape` finds the fields of all objects and their types, `values` converts one, `fields` and `no_metrics` report
//! what samples do not have.

pub mod fields;
#[cfg(feature = "mcap")]
pub mod no_metrics;
pub mod shape;
pub mod unique;
pub mod values;

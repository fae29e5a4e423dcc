//! The probe types of a DAC's own node and of the demo, generated from `pdl/dac/` and `pdl/demo/` at build time.

include!(concat!(env!("OUT_DIR"), "/probes.rs"));

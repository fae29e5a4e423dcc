//! A sample on a topic: CDR version 1 of the struct that the IDL declares, little-endian.

use oasis_wire::{
    batch::Sample,
    cdr::{ByteOrder, Writer},
    eisa::write_members,
    schema::ProbeType,
};
use std::sync::Arc;

/// The key of a sample: the members with `@key`, in their order.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InstanceKey {
    /// The node.
    pub node: Arc<str>,
    /// The instance.
    pub instance: Arc<str>,
}

impl InstanceKey {
    /// Creates the key of an instance. A CDR string ends at its first NUL, so a name does too.
    pub fn new(node: &str, instance: &str) -> Self {
        Self { node: until_nul(node).into(), instance: until_nul(instance).into() }
    }
}

fn until_nul(text: &str) -> &str {
    text.split('\0').next().unwrap_or_default()
}

/// Returns a sample as CDR, without the four bytes that name the encoding.
pub fn encode(key: &InstanceKey, probe_type: &ProbeType, sample: &Sample) -> Vec<u8> {
    let mut out = Vec::new();
    let mut writer = Writer::new(&mut out, ByteOrder::Little);
    write_key(key, &mut writer);
    writer.number(sample.sequence.to_le_bytes());
    writer.number(sample.time.to_le_bytes());
    write_members(&probe_type.metrics, &sample.values, &mut writer);
    out
}

fn write_key(key: &InstanceKey, to: &mut Writer<'_>) {
    to.string(&key.node);
    to.string(&key.instance);
}

/// Returns a key as CDR.
#[cfg(feature = "participant")]
pub(crate) fn encode_key(key: &InstanceKey) -> Vec<u8> {
    let mut out = Vec::new();
    write_key(key, &mut Writer::new(&mut out, ByteOrder::Little));
    out
}

#[cfg(test)]
mod tests;

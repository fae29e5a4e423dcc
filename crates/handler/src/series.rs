//! The series that an instance's samples belong to.

use oasis_dac::Instance;
use oasis_store::Series;
use uuid::Uuid;

/// The series of an instance in this epoch and one run of its node.
pub fn series_of(instance: &Instance, run: Uuid) -> Series {
    Series {
        node: instance.node.clone(),
        instance: instance.name.clone(),
        kind: instance.kind,
        run,
        epoch: instance.log.epoch(),
        probe_type: instance.probe_type.clone(),
    }
}

//! The topic log of an instance, as the reader of its history needs it.

use oasis_dac::Instance;
use oasis_history::{Log, LogBatch, LogRead};
use oasis_store::Series;
use oasis_wire::{
    quantity::{Epoch, Offset, TopicId},
    schema::ProbeType,
};
use std::sync::Arc;
use uuid::Uuid;

/// The topic log of an instance.
#[derive(Debug, Clone)]
pub struct InstanceLog(pub Arc<Instance>);

impl Log for InstanceLog {
    fn topic(&self) -> TopicId {
        self.0.topic
    }

    fn probe_type(&self) -> &Arc<ProbeType> {
        &self.0.probe_type
    }

    fn epoch(&self) -> Epoch {
        self.0.log.epoch()
    }

    fn start(&self) -> Offset {
        self.0.log.start()
    }

    fn first(&self) -> Offset {
        self.0.log.state().first_offset
    }

    fn next(&self) -> Offset {
        self.0.log.next()
    }

    fn read(&self, from: Offset, most: usize) -> LogRead {
        let read = self.0.log.read(from, most);
        let mut series: Option<Arc<Series>> = None;
        let batches = read.segments.iter().map(|segment| {
            let known = series.take().filter(|series| series.run == segment.run());
            let of_run = known.unwrap_or_else(|| Arc::new(series_of(&self.0, segment.run())));
            series = Some(of_run.clone());
            LogBatch {
                series: of_run,
                batch: segment.batch().clone(),
                offsets: segment.first_held()..segment.end(),
                gaps_before: segment.gaps_before().cloned(),
            }
        });
        let batches = batches.collect();
        LogRead { evicted: read.missed.map(|(from, to)| from..to), batches }
    }
}

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

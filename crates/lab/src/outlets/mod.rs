//! AJAX as the publications' first data handler had it (thesis of 2012, section 4.1): a baseline, and a help for clients that have nothing better.
//!
//! [`Ajax`] is a handler of the DAC. It turns each sample into JSON and keeps the last one of each instance in a [`store`]: a flat file, memory or a database.
//! [`web`] looks at the store again and again, and sends what has changed over one response without an end. What comes faster than it looks is overwritten.

mod store;
mod web;

pub use store::StoreKind;
pub use web::serve;

use oasis_dac::{Cursor, Dac, Instance, Signal, StartAt};
use oasis_handler::{Context, Failure, Handler};
use oasis_wire::batch::Batch;
use serde_json::{Value, json};
use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};
use store::Store;

/// Rest between two looks at the topic logs.
const REST: Duration = Duration::from_millis(1);
/// Segments of a topic in one turn, so that no topic waits for another.
const SEGMENTS: usize = 16;

/// Turns samples into JSON, for stores that [`web`] reads.
#[derive(Debug)]
pub struct Ajax {
    stores: Arc<[Store]>,
    stored: AtomicU64,
}

impl Ajax {
    /// Creates the stores in a folder.
    pub fn new(folder: &Path, kinds: &[StoreKind]) -> anyhow::Result<Self> {
        let stores =
            kinds.iter().map(|kind| Store::open(*kind, folder)).collect::<anyhow::Result<Vec<_>>>()?;
        Ok(Self { stores: stores.into(), stored: AtomicU64::new(0) })
    }

    /// The stores.
    pub fn stores(&self) -> Arc<[Store]> {
        self.stores.clone()
    }

    fn forward(&self, cursor: &mut Cursor) -> anyhow::Result<()> {
        let instance = cursor.instance().clone();
        for segment in cursor.read(SEGMENTS).segments {
            let batch = Batch::parse(segment.batch(), &instance.probe_type)?;
            for sample in batch.samples() {
                let record = record(&instance, sample.sequence, sample.time, &sample.values);
                for store in &*self.stores {
                    store.put(&instance.name, &record)?;
                }
                self.stored.fetch_add(1, Ordering::Relaxed);
            }
        }
        Ok(())
    }
}

/// A sample as the page gets it.
fn record(instance: &Instance, sequence: u64, time: u64, values: &[oasis_wire::value::Value]) -> String {
    let metrics = oasis_wire::value::to_json(&instance.probe_type, values);
    json!({
        "node": instance.node,
        "instance": instance.name,
        "type": instance.probe_type.name,
        "sequence": sequence,
        "time": time,
        "metrics": metrics,
    })
    .to_string()
}

impl Handler for Ajax {
    fn name(&self) -> &'static str {
        "ajax"
    }

    fn run(&self, context: Context) -> Result<(), Failure> {
        let signal = Arc::new(Signal::default());
        let mut cursors = Vec::new();
        while !context.stopping.wait_for(REST) {
            follow(&context.dac, &mut cursors, &signal);
            for cursor in &mut cursors {
                self.forward(cursor).map_err(|error| Failure(error.to_string()))?;
            }
        }
        Ok(())
    }

    fn state(&self) -> Value {
        json!({"stored": self.stored.load(Ordering::Relaxed)})
    }
}

/// Reads new instances too, from now on; and no more what is gone.
fn follow(dac: &Dac, cursors: &mut Vec<Cursor>, signal: &Arc<Signal>) {
    let instances = dac.registry.instances();
    cursors.retain(|cursor| instances.iter().any(|known| known.topic == cursor.instance().topic));
    for instance in instances {
        if cursors.iter().all(|cursor| cursor.instance().topic != instance.topic) {
            cursors.push(Cursor::new(instance, StartAt::Now, signal).0);
        }
    }
}

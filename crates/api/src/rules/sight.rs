//! The types and instances that a text is compiled against: those that the caller may read.

use crate::archive::archive;
use oasis_access::{Target, Verb};
use oasis_dac::Instance;
use oasis_doors::Doors;
use oasis_handler::InstanceLog;
use oasis_http::permissions::Caller;
use oasis_rules::{KnownInstance, Program};
use oasis_rules_history::{Admits, CLOCK_TYPE, Clocks, KnownLog, Past};
use oasis_store::ReadError;
use oasis_wire::schema::ProbeType;
use std::sync::Arc;
use tokio::runtime::Handle;

/// Instances that a caller may read.
pub struct Sight {
    /// Instances that the DAC knows.
    live: Vec<Arc<Instance>>,
    /// Their past, and that of others.
    past: Past,
}

impl Sight {
    /// Returns the view of a caller, by names, types and states.
    pub fn of_present(doors: &Doors, caller: &Caller) -> Self {
        let by = caller.clone();
        Self::new(doors, move |node, instance| by.sees(node, instance))
    }

    /// Returns the view of a caller, by samples of the past.
    pub fn of_past(doors: &Doors, caller: &Caller) -> Self {
        let by = caller.clone();
        Self::new(doors, move |node, instance| by.may(Verb::ReadPast, Target::Instance { node, instance }))
    }

    /// Returns the view of an engine.
    pub fn of_everything(doors: &Doors) -> Self {
        Self::new(doors, |_, _| true)
    }

    fn new(doors: &Doors, admits: impl Fn(&str, &str) -> bool + Send + Sync + 'static) -> Self {
        let instances = doors.dac.registry.instances().into_iter();
        let live: Vec<_> = instances.filter(|known| admits(&known.node, &known.name)).collect();
        let log = |known: &Arc<Instance>| KnownLog {
            node: known.node.clone(),
            instance: known.name.clone(),
            log: Arc::new(InstanceLog(known.clone())),
        };
        let logs = live.iter().map(log).collect();
        let archive = archive(doors).ok().cloned();
        let flush = archive.clone().map(|archive| -> Arc<dyn Fn() + Send + Sync> {
            let handle = Handle::current();
            // Samples that cannot be stored are missing, as in every reading.
            Arc::new(move || drop(handle.block_on(archive.flush())))
        });
        let archive = archive.map(|archive| archive.history());
        let clocks = clocks(doors);
        let admits: Option<Admits> = Some(Arc::new(admits));
        Self { live, past: Past { archive, logs, frontier: None, flush, admits, clocks } }
    }

    pub fn past(&self) -> &Past {
        &self.past
    }

    /// The types, the newest ones last. Reads files.
    pub fn types(&self) -> Result<Vec<Arc<ProbeType>>, ReadError> {
        self.past.types()
    }

    /// The instances of now, in order.
    pub fn known_instances(&self) -> Vec<KnownInstance> {
        let known = |instance: &Arc<Instance>| KnownInstance {
            node: instance.node.to_string(),
            instance: instance.name.to_string(),
            probe_type: instance.probe_type.name.clone(),
        };
        let mut instances: Vec<_> = self.live.iter().map(known).collect();
        instances.sort();
        instances
    }

    /// Returns the number of present instances that an input of a program reads.
    pub fn instances(&self, program: &Program, input: usize) -> usize {
        let Some(input) = program.inputs.get(input) else { return 0 };
        let reads = |known: &&Arc<Instance>| {
            input.reads(&known.probe_type) && input.matches(&known.node, &known.name)
        };
        self.live.iter().filter(reads).count()
    }
}

/// The clocks that this DAC has measured, and not those of DACs that it relays.
fn clocks(doors: &Doors) -> Clocks {
    let instances = doors.dac.registry.home_instances();
    let own = instances.into_iter().find(|known| known.probe_type.name == CLOCK_TYPE);
    own.map_or(Clocks::Measured, |own| Clocks::MeasuredBy(own.node.to_string()))
}

//! Instances that are added to a node while it runs.

use crate::{
    announcement::Announcement,
    bell::Bell,
    instance::Instance,
    node_config::NodeConfig,
    node_error::NodeError,
    orders::{Order, OrderSender},
    outbox::Outbox,
};
use oasis_channel::RegisteredInstance;
use oasis_wire::schema::ProbeType;
use std::sync::{Arc, Mutex, PoisonError};

/// Adds instances to a running node: to its announcement, its outbox, and its collector.
#[derive(Debug)]
pub struct Additions {
    /// The announcement with all instances. Locked while one is added, and before the outbox.
    announcement: Mutex<Arc<Announcement>>,
    /// Configuration of the node.
    pub config: NodeConfig,
    /// That all probes of the node share.
    pub bell: Bell,
}

impl Additions {
    /// Begins with the instances of the builder.
    pub fn to(announcement: Arc<Announcement>, config: NodeConfig, bell: Bell) -> Self {
        Self { announcement: Mutex::new(announcement), config, bell }
    }

    /// Adds an instance that `make` makes of its index.
    ///
    /// # Errors
    /// Errors of `make`; if the node has an instance of this name, another type with this UUID, or 10,000 instances.
    pub fn add(
        &self,
        name: &str,
        probe_type: ProbeType,
        make: impl FnOnce(usize, &ProbeType) -> Result<(Instance, RegisteredInstance), NodeError>,
        outbox: &Outbox,
        orders: &OrderSender,
    ) -> Result<(), NodeError> {
        let mut current = self.announcement.lock().unwrap_or_else(PoisonError::into_inner);
        let Announcement { identity, instances, types, .. } = &**current;
        NodeError::check_new(&identity.name, name, &probe_type, (instances, types))?;
        let is_new = !types.contains(&probe_type);
        let (instance, mut registered) = make(current.instances.len(), &probe_type)?;
        registered.declared = Some(instance.declared());
        let mut next = Announcement::clone(&current);
        next.instances.push(registered);
        next.types.extend(is_new.then_some(probe_type));
        *current = Arc::new(next);
        // The collector must find its place in the outbox.
        outbox.with(|held| held.grow(current.clone(), instance.progress()));
        // A collector that has ended takes no samples: the probe drops them.
        orders.send(Order::Add(Box::new(instance)));
        Ok(())
    }
}

//! Pushes samples, and counts those that are refused.

use crate::{
    OtlpConfig,
    attributes::Attribute,
    loops::{NODE_ATTRIBUTE, find_loop},
    names::{names_scopes, write_instance, write_node},
    walk::Resource,
};
use oasis_source_node::{DeclaredSample, RefusedSample, SourceNodes};
use oasis_wire::schema::ProbeType;
use std::sync::Arc;

/// Most characters of a reason: it can quote names of the sender.
const MAX_REASON_CHARACTERS: usize = 300;
/// Most characters of a name in it.
const MAX_NAME_CHARACTERS: usize = 60;

/// The outcome of a request.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// Items that became samples.
    pub taken: u64,
    /// Items that were refused.
    pub refused: u64,
    /// Refused items that the sender may not write.
    pub forbidden: u64,
    /// Data points that say that there is no value.
    pub without_value: u64,
    /// Items without a time of their own.
    pub untimed: u64,
    /// Whole numbers that were rounded, because their series has reals.
    pub rounded: u64,
    /// Data points that this DAC has sent itself; they are not taken.
    pub looped: u64,
    /// The instance of one of them.
    pub newest_loop: Option<String>,
    /// The reason of the first refusal.
    pub reason: Option<String>,
}

/// Pushes samples of one request.
pub struct Writer<'a> {
    pub config: &'a OtlpConfig,
    pub may_write: &'a dyn Fn(&str, &str) -> bool,
    /// The time of items without one, in nanoseconds.
    pub now: u64,
    pub nodes: &'a mut SourceNodes,
    pub written: Written,
    node: Result<String, String>,
    /// The name of the node in what a DAC sends.
    sent_node: String,
    instance: String,
}

impl<'a> Writer<'a> {
    /// Creates a writer.
    pub fn new(
        config: &'a OtlpConfig,
        may_write: &'a dyn Fn(&str, &str) -> bool,
        now: u64,
        nodes: &'a mut SourceNodes,
    ) -> Self {
        let (written, node) = (Written::default(), Ok(String::new()));
        let (sent_node, instance) = (String::new(), String::new());
        Self { config, may_write, now, nodes, written, node, sent_node, instance }
    }

    /// Begins a resource: its samples belong to its node.
    pub fn begin_resource(&mut self, resource: &Resource<'_>) {
        let attributes = resource.as_ref().map(Vec::as_slice).unwrap_or_default();
        let sent = attributes.iter().find(|(key, _)| key == NODE_ATTRIBUTE);
        self.sent_node = sent.map(|(_, node)| node.to_string()).unwrap_or_default();
        self.node = match resource {
            Ok(attributes) => {
                let mut name = String::new();
                write_node(self.config, attributes, &mut name).map(|()| name)
            }
            Err(why) => Err(why.clone()),
        };
    }

    /// Begins an item: its instance is called by its name and these attributes. Returns whether it may be written; otherwise it is refused.
    pub fn begin_item(&mut self, name: &str, scope: &str, attributes: &mut Vec<Attribute<'_>>) -> bool {
        if let Err(why) = &self.node {
            let why = why.clone();
            self.refuse(name, &why);
            return false;
        }
        let scope = Some(scope).filter(|scope| !scope.is_empty() && names_scopes(self.config));
        write_instance(self.config, name, scope, attributes, &mut self.instance);
        self.check_permission(name)
    }

    /// Writes the scope into the name of the present item's instance. Returns whether that may be written; otherwise the item is refused.
    pub fn name_scope(&mut self, name: &str, scope: &str, attributes: &mut Vec<Attribute<'_>>) -> bool {
        write_instance(self.config, name, Some(scope), attributes, &mut self.instance);
        self.check_permission(name)
    }

    /// Returns whether the DAC knows an instance whose name has the scope.
    pub fn has_instance_of_scope(
        &self,
        node: &str,
        name: &str,
        scope: &str,
        attributes: &[Attribute<'_>],
    ) -> bool {
        let mut instance = String::new();
        write_instance(self.config, name, Some(scope), &mut attributes.to_vec(), &mut instance);
        self.nodes.is_registered(node, &instance)
    }

    fn check_permission(&mut self, name: &str) -> bool {
        let Ok(node) = &self.node else { return false };
        let is_permitted = (self.may_write)(node, &self.instance);
        if !is_permitted {
            self.written.forbidden += 1;
            self.refuse(name, "write is not permitted for this instance");
        }
        is_permitted
    }

    /// Returns whether this DAC has sent a data point with these attributes itself, and counts it then.
    pub fn skip_looped(&mut self, attributes: &[Attribute<'_>]) -> bool {
        let is_registered = |node: &str, instance: &str| self.nodes.is_registered(node, instance);
        let Some(instance) = find_loop(&self.sent_node, attributes, is_registered) else { return false };
        self.written.looped += 1;
        self.written.newest_loop = Some(instance);
        true
    }

    /// Returns node and instance of the present item.
    pub fn target(&self) -> Option<(&str, &str)> {
        self.node.as_ref().ok().map(|node| (&**node, &*self.instance))
    }

    /// Pushes the sample of the present item.
    ///
    /// # Errors
    /// If it is rejected.
    pub fn push(&mut self, probe_type: &Arc<ProbeType>, time: u64, row: &[u8]) -> Result<(), RefusedSample> {
        let Ok(node) = &self.node else { return Ok(()) };
        self.written.untimed += u64::from(time == 0);
        let time = if time == 0 { self.now } else { time };
        self.nodes.push_declared(&DeclaredSample {
            node,
            instance: &self.instance,
            probe_type,
            time,
            row,
        })?;
        self.written.taken += 1;
        Ok(())
    }

    /// Counts a refused item.
    pub fn refuse(&mut self, name: &str, why: &str) {
        self.written.refused += 1;
        self.written.reason.get_or_insert_with(|| {
            let short = |name: &str| name.chars().take(MAX_NAME_CHARACTERS).collect::<String>();
            let node = self.node.as_ref().map(|node| format!("{}/", short(node))).unwrap_or_default();
            format!("{:?}: {why}", node + &short(name)).chars().take(MAX_REASON_CHARACTERS).collect()
        });
    }
}

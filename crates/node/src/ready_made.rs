//! A probe that users choose by name, without code.

use crate::choice::{Choice, ChoiceError};
use oasis_probe::NodeBuilder;

/// A ready-made probe. Flags, configuration files, the help of the command line and the reference page take it from here.
#[derive(Debug, Clone, Copy)]
pub struct ReadyMadeProbe {
    /// Its name in flags and configuration; also the default instance name and the name of its PDL file.
    pub name: &'static str,
    /// Measured quantities, for the reference page.
    pub measures: &'static str,
    /// Its instances, for the reference page: `one`, or the name of one among several.
    pub instances: &'static str,
    /// Its parameters.
    pub parameters: &'static [Parameter],
    /// The probe types of its samples.
    pub types: &'static [&'static str],
    /// Adds its instances to a node.
    pub add: AddProbe,
}

/// Adds the instances of a chosen probe to a node.
pub type AddProbe = fn(&mut NodeBuilder, &Choice<'_>) -> Result<(), ChoiceError>;

/// A parameter of a ready-made probe.
#[derive(Debug, Clone, Copy)]
pub struct Parameter {
    /// Its name in flags and configuration.
    pub name: &'static str,
    /// Meaning of the parameter, for the reference page.
    pub meaning: &'static str,
}

impl ReadyMadeProbe {
    /// Adds its instances to a node: one, or one for each thing of its kind on this host.
    ///
    /// # Errors
    /// A parameter is unknown or invalid, the host has nothing to watch, or the node refuses an instance.
    pub fn add(&self, node: &mut NodeBuilder, choice: &Choice<'_>) -> Result<(), ChoiceError> {
        let is_unknown = |name: &&String| self.parameters.iter().all(|known| known.name != *name);
        match choice.parameters.keys().find(is_unknown) {
            Some(unknown) => Err(ChoiceError::unknown(unknown, self)),
            None => (self.add)(node, choice),
        }
    }
}

//! The choice that a ready-made probe receives: instance name, rate and parameters.

use crate::ReadyMadeProbe;
use oasis_probe::{Hertz, NodeBuilder, NodeError, Probe};
use std::{collections::BTreeMap, io, str::FromStr};

/// Parameters by name, as text.
pub type Parameters = BTreeMap<String, String>;

/// The choice of one probe.
#[derive(Debug, Clone, Copy)]
pub struct Choice<'a> {
    /// Instance name. If absent, the probe's own name.
    pub instance: Option<&'a str>,
    /// Rate.
    pub hertz: Hertz,
    /// The parameters of the probe.
    pub parameters: &'a Parameters,
}

/// Why a probe refuses its choice.
#[derive(Debug, thiserror::Error)]
pub enum ChoiceError {
    /// The probe has no such parameter.
    #[error("{probe} has no parameter {parameter:?}: its parameters are {known}")]
    Unknown {
        /// The probe.
        probe: &'static str,
        /// The unknown parameter.
        parameter: String,
        /// The known parameters.
        known: String,
    },
    /// A parameter has an invalid value.
    #[error("parameter {parameter} is {value:?}: write {wanted}")]
    Invalid {
        /// The parameter.
        parameter: &'static str,
        /// Its value.
        value: String,
        /// The valid values.
        wanted: &'static str,
    },
    /// A required parameter is missing.
    #[error("parameter {parameter} is missing: write {wanted}")]
    Missing {
        /// The parameter.
        parameter: &'static str,
        /// The valid values.
        wanted: &'static str,
    },
    /// Two parameters exclude each other.
    #[error("parameters {0} and {1} are both given: leave one out")]
    Both(&'static str, &'static str),
    /// The host has nothing that the probe can watch.
    #[error("{missing}: {remedy}")]
    NothingToWatch {
        /// The missing thing, and where the probe searched.
        missing: &'static str,
        /// Action that the user can take.
        remedy: &'static str,
    },
    /// The host cannot list what the probe can watch.
    #[error(transparent)]
    Host(#[from] io::Error),
    /// The node refuses the probe.
    #[error(transparent)]
    Node(#[from] NodeError),
}

impl ChoiceError {
    pub(crate) fn unknown(parameter: &str, probe: &ReadyMadeProbe) -> Self {
        let names: Vec<_> = probe.parameters.iter().map(|parameter| parameter.name).collect();
        let known = if names.is_empty() { "none".into() } else { names.join(", ") };
        Self::Unknown { probe: probe.name, parameter: parameter.into(), known }
    }
}

impl Choice<'_> {
    /// Returns the name of a single instance.
    pub fn instance_or<'a>(&'a self, probe: &'a str) -> &'a str {
        self.instance.unwrap_or(probe)
    }

    /// Adds a single instance.
    ///
    /// # Errors
    /// The node refuses it.
    pub fn periodic(&self, node: &mut NodeBuilder, name: &str, probe: impl Probe) -> Result<(), ChoiceError> {
        node.periodic(self.instance_or(name), self.hertz, probe)?;
        Ok(())
    }

    /// Adds the instance of one thing among several: `disk/sda`.
    ///
    /// # Errors
    /// The node refuses it.
    pub fn periodic_of(
        &self,
        node: &mut NodeBuilder,
        name: &str,
        thing: &str,
        probe: impl Probe,
    ) -> Result<(), ChoiceError> {
        node.periodic(format!("{}/{thing}", self.instance_or(name)), self.hertz, probe)?;
        Ok(())
    }

    /// Returns the text of a parameter, or `None` if it is absent.
    ///
    /// # Errors
    /// The text is empty.
    pub fn text(&self, parameter: &'static str) -> Result<Option<&str>, ChoiceError> {
        match self.parameters.get(parameter).map(String::as_str) {
            Some("") => {
                Err(ChoiceError::Invalid { parameter, value: String::new(), wanted: "a value after the =" })
            }
            given => Ok(given),
        }
    }

    /// Returns the parsed value of a parameter, or `None` if it is absent.
    ///
    /// # Errors
    /// The text cannot be parsed; the error quotes `wanted`.
    pub fn parsed<T: FromStr>(
        &self,
        parameter: &'static str,
        wanted: &'static str,
    ) -> Result<Option<T>, ChoiceError> {
        let invalid = |value: &String| ChoiceError::Invalid { parameter, value: value.clone(), wanted };
        self.parameters.get(parameter).map(|value| value.parse().map_err(|_| invalid(value))).transpose()
    }
}

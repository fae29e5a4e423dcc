//! How a user chooses a ready-made probe: instance name, rate, and parameters of the probe's own.

use oasis_probe::{Hertz, NodeBuilder, NodeError, Probe};
use std::{collections::BTreeMap, io, str::FromStr};

/// Parameters by name, as text.
pub type Parameters = BTreeMap<String, String>;

/// One chosen probe.
#[derive(Debug, Clone, Copy)]
pub struct Choice<'a> {
    /// Instance name; the probe's own name when absent.
    pub instance: Option<&'a str>,
    /// Rate.
    pub hertz: Hertz,
    /// What else was said about it.
    pub parameters: &'a Parameters,
}

/// Why a chosen probe cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum ChoiceError {
    /// Nobody would read this parameter.
    #[error("{probe} has no parameter {parameter:?}: it takes {known}")]
    Unknown {
        /// The probe.
        probe: &'static str,
        /// What was given.
        parameter: String,
        /// What can be given.
        known: String,
    },
    /// A value that means nothing.
    #[error("parameter {parameter} is {value:?}: write {wanted}")]
    Invalid {
        /// The parameter.
        parameter: &'static str,
        /// What was given.
        value: String,
        /// What can be given.
        wanted: &'static str,
    },
    /// Nothing works without this parameter.
    #[error("parameter {parameter} is missing: write {wanted}")]
    Missing {
        /// The parameter.
        parameter: &'static str,
        /// What can be given.
        wanted: &'static str,
    },
    /// Two parameters that contradict each other.
    #[error("parameters {0} and {1} are both given: leave one out")]
    Both(&'static str, &'static str),
    /// This host has nothing of the kind.
    #[error("{what}: {remedy}")]
    Nothing {
        /// Where was looked for what.
        what: &'static str,
        /// What to do.
        remedy: &'static str,
    },
    /// What there is on this host cannot be found out.
    #[error(transparent)]
    Host(#[from] io::Error),
    /// The node does not take it.
    #[error(transparent)]
    Node(#[from] NodeError),
}

impl ChoiceError {
    pub(crate) fn unknown(parameter: &str, probe: &'static str, known: &[&str]) -> Self {
        let known = if known.is_empty() { "none".into() } else { known.join(", ") };
        Self::Unknown { probe, parameter: parameter.into(), known }
    }
}

impl Choice<'_> {
    /// The instance's name if there is one instance only.
    pub(crate) fn instance_or<'a>(&'a self, probe: &'a str) -> &'a str {
        self.instance.unwrap_or(probe)
    }

    /// Adds the one instance.
    pub(crate) fn periodic(
        &self,
        node: &mut NodeBuilder,
        name: &str,
        probe: impl Probe,
    ) -> Result<(), ChoiceError> {
        node.periodic(self.instance_or(name), self.hertz, probe)?;
        Ok(())
    }

    /// Adds the instance of one thing among several: `disk/sda`.
    pub(crate) fn periodic_of(
        &self,
        node: &mut NodeBuilder,
        name: &str,
        thing: &str,
        probe: impl Probe,
    ) -> Result<(), ChoiceError> {
        node.periodic(format!("{}/{thing}", self.instance_or(name)), self.hertz, probe)?;
        Ok(())
    }

    /// A parameter that is not empty.
    pub(crate) fn text(&self, parameter: &'static str) -> Result<Option<&str>, ChoiceError> {
        match self.parameters.get(parameter).map(String::as_str) {
            Some("") => Err(ChoiceError::Invalid {
                parameter,
                value: String::new(),
                wanted: "something behind the =",
            }),
            given => Ok(given),
        }
    }

    /// A parameter that is not just any text.
    pub(crate) fn parsed<T: FromStr>(
        &self,
        parameter: &'static str,
        wanted: &'static str,
    ) -> Result<Option<T>, ChoiceError> {
        let invalid = |value: &String| ChoiceError::Invalid { parameter, value: value.clone(), wanted };
        self.parameters.get(parameter).map(|value| value.parse().map_err(|_| invalid(value))).transpose()
    }
}

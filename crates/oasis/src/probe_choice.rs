//! How a ready-made probe is chosen: `--probe 'PROBE(PARAMETER=VALUE,…)=INSTANCE@HERTZ'` or an entry of `node.probes`.

use anyhow::{Context, anyhow, bail};
use oasis_probe::NodeBuilder;
use oasis_probes::{Choice, PROBES, Parameters, ready_made};
use oasis_wire::quantity::Hertz;
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeMap;

/// One chosen probe.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProbeChoice {
    /// Which ready-made probe.
    pub probe: String,
    /// Instance name; the probe's own name when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instance: Option<String>,
    /// Rate.
    #[serde(default = "once_a_second")]
    pub hertz: Hertz,
    /// What else the probe wants to be told. It refuses what it does not know.
    #[serde(flatten, deserialize_with = "texts")]
    pub parameters: Parameters,
}

impl ProbeChoice {
    /// A probe as it is when nothing is said about it.
    pub fn of(probe: &str) -> Self {
        Self {
            probe: probe.into(),
            instance: None,
            hertz: once_a_second(),
            parameters: Parameters::default(),
        }
    }

    /// `PROBE[(PARAMETER=VALUE,…)][=INSTANCE][@HERTZ]`
    pub fn parse(text: &str) -> anyhow::Result<Self> {
        let (probe, parameters, rest) = match text.split_once('(') {
            Some((probe, rest)) => {
                // The last one: a parameter's value may have parentheses.
                let (inside, behind) = rest.rsplit_once(')').context("there is no ) for the (")?;
                (probe, parse_parameters(inside)?, behind)
            }
            None => {
                let (probe, rest) = text.split_at(text.find(['=', '@']).unwrap_or(text.len()));
                (probe, Parameters::default(), rest)
            }
        };
        let (named, hertz) = match rest.rsplit_once('@') {
            Some((named, hertz)) => (named, hertz.parse()?),
            None => (rest, once_a_second()),
        };
        let instance = match named.strip_prefix('=') {
            Some("") => bail!("the instance name behind = is empty"),
            Some(instance) => Some(instance.to_owned()),
            None if named.is_empty() => None,
            None => bail!("behind ) comes =INSTANCE, @HERTZ or nothing, not {named:?}"),
        };
        Ok(Self { probe: probe.into(), instance, hertz, parameters })
    }

    /// Adds the probe to a node.
    pub fn add_to(&self, node: &mut NodeBuilder) -> anyhow::Result<()> {
        let probe = ready_made(&self.probe).ok_or_else(|| {
            let names = PROBES.map(|probe| probe.name).join(", ");
            anyhow!("there is no ready-made probe {:?}: choose from {names}", self.probe)
        })?;
        let choice =
            Choice { instance: self.instance.as_deref(), hertz: self.hertz, parameters: &self.parameters };
        probe.add(node, &choice).with_context(|| format!("in probe {:?}", self.probe))
    }
}

fn parse_parameters(inside: &str) -> anyhow::Result<Parameters> {
    let mut parameters = Parameters::new();
    for parameter in inside.split(',') {
        let (name, value) = parameter
            .split_once('=')
            .with_context(|| format!("{parameter:?} is no parameter: write NAME=VALUE"))?;
        if parameters.insert(name.trim().into(), value.trim().into()).is_some() {
            bail!("parameter {} is given twice", name.trim());
        }
    }
    Ok(parameters)
}

/// A number means what it looks like: `pid = 4711` is as good as `pid = "4711"`.
fn texts<'de, D: Deserializer<'de>>(from: D) -> Result<Parameters, D::Error> {
    let values = BTreeMap::<String, toml::Value>::deserialize(from)?;
    let text = |(name, value)| match value {
        toml::Value::String(text) => Ok((name, text)),
        toml::Value::Integer(_) | toml::Value::Float(_) | toml::Value::Boolean(_) => {
            Ok((name, value.to_string()))
        }
        _ => Err(serde::de::Error::custom(format!("parameter {name} is neither a text nor a number"))),
    };
    values.into_iter().map(text).collect()
}

fn once_a_second() -> Hertz {
    Hertz::ONE
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn a_probe_is_chosen_with_name_and_rate() {
        let choice = ProbeChoice::parse("processor=ProcessorProbe_SmokeTest@2.5").unwrap();
        assert_eq!((choice.probe.as_str(), choice.hertz.get()), ("processor", 2.5));
        assert_eq!(choice.instance.as_deref(), Some("ProcessorProbe_SmokeTest"));
        assert_eq!(ProbeChoice::parse("memory").unwrap(), ProbeChoice::of("memory"));
        for wrong in ["processor@fast", "processor=", "processor@0", "processor=@1"] {
            assert!(ProbeChoice::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_probe_is_told_parameters_in_parentheses() {
        let choice = ProbeChoice::parse("process(name=postgres)=db@2").unwrap();
        assert_eq!((choice.probe.as_str(), choice.hertz.get()), ("process", 2.0));
        assert_eq!(choice.instance.as_deref(), Some("db"));
        assert_eq!(choice.parameters, Parameters::from([("name".into(), "postgres".into())]));

        let choice = ProbeChoice::parse("windsonic(port=/dev/tty(1)@=x, baud=9600)").unwrap();
        assert_eq!((choice.parameters["port"].as_str(), choice.instance), ("/dev/tty(1)@=x", None));
        assert_eq!(choice.parameters["baud"], "9600");
        for wrong in ["process(name=a", "process(name)", "process()", "process(name=a)b", "process(a=1,a=2)"]
        {
            assert!(ProbeChoice::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_file_gives_parameters_beside_name_and_rate() {
        let choice: ProbeChoice = toml::from_str("probe = \"process\"\npid = 4711\nhertz = 2\n").unwrap();
        assert_eq!(choice.parameters, Parameters::from([("pid".into(), "4711".into())]));
        assert_eq!(toml::from_str::<ProbeChoice>(&toml::to_string(&choice).unwrap()).unwrap(), choice);
        let error = toml::from_str::<ProbeChoice>("probe = \"process\"\npid = [1]\n").unwrap_err();
        assert!(error.to_string().contains("pid"), "{error}");
    }

    #[test]
    fn every_probe_is_named_in_the_documented_file_and_in_the_help() {
        let documented = include_str!("../../../docs/reference/oasis.toml");
        let help =
            crate::cli::Cli::command().find_subcommand_mut("node").unwrap().render_long_help().to_string();
        for probe in PROBES {
            assert!(documented.contains(probe.name) && help.contains(probe.name), "{}", probe.name);
        }
    }
}

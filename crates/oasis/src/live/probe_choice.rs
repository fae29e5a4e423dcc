//! Parses the choice of a ready-made probe: `--probe 'PROBE(PARAMETER=VALUE,…)=INSTANCE@HERTZ'`; `@max` is as fast as the node can.

use anyhow::{Context, bail};
use oasis_ei_node::{Parameters, ProbeChoice, Rate};
use oasis_probes::PROBES;

/// Returns the help of `--probe`, which lists the ready-made probes.
pub fn help() -> String {
    let names: Vec<_> = PROBES.iter().map(|probe| probe.name).collect();
    format!(
        "A probe of the node, with optional parameters, instance name and rate (@max: as fast as it can): {}. Repeatable; replaces the default set. docs/reference/probes.md \
         describes each",
        names.join(", ")
    )
}

/// `PROBE[(PARAMETER=VALUE,…)][=INSTANCE][@HERTZ]`
pub fn parse(text: &str) -> anyhow::Result<ProbeChoice> {
    let (probe, parameters, rest) = match text.split_once('(') {
        Some((probe, rest)) => {
            // The last one: a parameter's value may have parentheses.
            let (inside, behind) = rest.rsplit_once(')').context("missing ) after (")?;
            (probe, parse_parameters(inside)?, behind)
        }
        None => {
            let (probe, rest) = text.split_at(text.find(['=', '@']).unwrap_or(text.len()));
            (probe, Parameters::default(), rest)
        }
    };
    let (named, hertz) = match rest.rsplit_once('@') {
        Some((named, hertz)) => (named, hertz.parse()?),
        None => (rest, Rate::default()),
    };
    let instance = match named.strip_prefix('=') {
        Some("") => bail!("the instance name after = is empty"),
        Some(instance) => Some(instance.to_owned()),
        None if named.is_empty() => None,
        None => bail!("expected =INSTANCE, @HERTZ or nothing after ), found {named:?}"),
    };
    Ok(ProbeChoice { instance, hertz, parameters, ..ProbeChoice::new(probe) })
}

fn parse_parameters(inside: &str) -> anyhow::Result<Parameters> {
    let mut parameters = Parameters::new();
    for parameter in inside.split(',') {
        let (name, value) = parameter
            .split_once('=')
            .with_context(|| format!("{parameter:?} is not a parameter: write NAME=VALUE"))?;
        if parameters.insert(name.trim().into(), value.trim().into()).is_some() {
            bail!("parameter {} is given twice", name.trim());
        }
    }
    Ok(parameters)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    fn hertz(hertz: f64) -> Rate {
        Rate::Hertz(oasis_wire::quantity::Hertz::new(hertz).unwrap())
    }

    #[test]
    fn a_probe_is_chosen_with_name_and_rate() {
        let choice = parse("processor=ProcessorProbe_SmokeTest@2.5").unwrap();
        assert_eq!((choice.probe.as_str(), choice.hertz), ("processor", hertz(2.5)));
        assert_eq!(choice.instance.as_deref(), Some("ProcessorProbe_SmokeTest"));
        assert_eq!(parse("memory").unwrap(), ProbeChoice::new("memory"));
        assert_eq!(parse("memory@max").unwrap().hertz, Rate::Max);
        for wrong in ["processor@fast", "processor=", "processor@0", "processor=@1"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_probe_takes_parameters_in_parentheses() {
        let choice = parse("process(name=postgres)=db@2").unwrap();
        assert_eq!((choice.probe.as_str(), choice.hertz), ("process", hertz(2.0)));
        assert_eq!(choice.instance.as_deref(), Some("db"));
        assert_eq!(choice.parameters, Parameters::from([("name".into(), "postgres".into())]));

        let choice = parse("windsonic(port=/dev/tty(1)@=x, baud=9600)").unwrap();
        assert_eq!((choice.parameters["port"].as_str(), choice.instance), ("/dev/tty(1)@=x", None));
        assert_eq!(choice.parameters["baud"], "9600");
        for wrong in ["process(name=a", "process(name)", "process()", "process(name=a)b", "process(a=1,a=2)"]
        {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn every_probe_is_named_in_the_documented_file_and_in_the_help() {
        let documented = include_str!("../../../../docs/reference/oasis.toml");
        let help =
            crate::cli::Cli::command().find_subcommand_mut("node").unwrap().render_long_help().to_string();
        for probe in PROBES {
            assert!(documented.contains(probe.name) && help.contains(probe.name), "{}", probe.name);
        }
    }
}

//! `oasis command`

use crate::{
    live::{
        list,
        locate::Located,
        unknown::{UnknownInstance, explained},
    },
    target::{Target, named},
};
use clap::{Args, Subcommand};
use oasis_dac::NamedRequest;
use oasis_site::client::{Client, Refusal};
use oasis_tem::DacName;
use oasis_wire::{
    command::{Command, SettingName},
    quantity::{DemandRange, Hertz, RateOutOfRange},
};
use serde_json::{Value, json};
use std::str::FromStr;
use uuid::Uuid;

#[derive(Debug, Args)]
pub struct Arguments {
    /// NODE/INSTANCE; a `*` in it matches any text, and the command goes to all that match.
    pub target: Target,
    #[command(subcommand)]
    pub what: What,
    /// Keep what it sets for the next runs of the node, until it is reset.
    #[arg(long, global = true)]
    pub keep: bool,
    /// Names the command, so that a node executes it at most once however often it is sent; random by default.
    #[arg(long, value_name = "UUID")]
    pub uuid: Option<Uuid>,
    #[command(flatten)]
    pub located: Located,
}

#[derive(Debug, Clone, Subcommand)]
pub enum What {
    /// Set the sampling rate.
    Hertz {
        /// 0.01 to 1000.
        #[arg(value_parser = hertz, allow_negative_numbers = true)]
        hertz: Hertz,
    },
    /// Let readers control the rate; off keeps the current rate.
    Demand {
        /// Rate without readers, 0.01 to 1000; or off.
        #[arg(allow_negative_numbers = true)]
        min: Least,
        /// Highest rate.
        #[arg(value_parser = hertz, allow_negative_numbers = true)]
        max: Option<Hertz>,
    },
    /// Enable sampling.
    Enable,
    /// Disable sampling.
    Disable,
    /// Take one sample now.
    SampleNow,
    /// Trigger the flight recorder: send its samples, and those after the trigger.
    Trigger,
    /// Set a deadband of a probe on change: keep samples only if this metric changes by more.
    Deadband {
        /// The metric's name.
        metric: String,
        /// Deadband in the metric's unit, 0 or more; without it any change counts.
        #[arg(value_parser = deadband, allow_negative_numbers = true)]
        deadband: Option<f64>,
    },
    /// Return to what the program has declared, and forget what is kept.
    Reset {
        /// rate, enabled, or deadband:METRIC [default: all].
        setting: Option<SettingName>,
    },
}

/// Parses a rate; says what a rate is if there is no number.
fn hertz(text: &str) -> Result<Hertz, String> {
    match text.parse::<f64>() {
        Ok(_) => text.parse().map_err(|error: RateOutOfRange| error.to_string()),
        Err(_) => Err("a rate is a number of hertz from 0.01 to 1000, such as 10".into()),
    }
}

/// Parses a deadband.
fn deadband(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(deadband) if deadband >= 0.0 => Ok(deadband),
        _ => Err("a deadband is a number in the metric's unit, 0 or more, such as 0.5".into()),
    }
}

/// The argument of `demand`.
#[derive(Debug, Clone, Copy)]
pub enum Least {
    Off,
    Hertz(Hertz),
}

impl FromStr for Least {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        if text == "off" {
            return Ok(Self::Off);
        }
        hertz(text).map(Self::Hertz).map_err(|error| format!("{error}; or write off"))
    }
}

impl TryFrom<What> for Command {
    type Error = anyhow::Error;
    fn try_from(what: What) -> anyhow::Result<Self> {
        Ok(match what {
            What::Hertz { hertz } => Self::Hertz { hertz },
            What::Demand { min: Least::Hertz(min), max: Some(max) } => {
                Self::Demand(DemandRange::new(min, max)?)
            }
            What::Demand { min: Least::Off, max: None } => Self::DemandOff,
            What::Demand { .. } => anyhow::bail!("use demand MIN MAX, such as demand 1 100, or demand off"),
            What::Enable => Self::Enable,
            What::Disable => Self::Disable,
            What::SampleNow => Self::SampleNow,
            What::Trigger => Self::Trigger,
            What::Deadband { metric, deadband } => Self::Deadband { metric, deadband },
            What::Reset { setting } => Self::Reset { setting },
        })
    }
}

fn has_code(error: &anyhow::Error, code: &str) -> bool {
    error.downcast_ref::<Refusal>().is_some_and(|refused| refused.code == code)
}

/// Sends a command to the DAC of the target. Returns the answer, and the name of the DAC if a TEM has found it.
async fn send(
    located: &Located,
    target: &Target,
    request: &NamedRequest,
) -> anyhow::Result<(Value, Option<DacName>)> {
    let (dac, server) = located.for_command(target)?;
    let mut client = Client::connect(&server).await?;
    let mut message = serde_json::to_value(request)?;
    message["op"] = json!("command");
    message["node"] = json!(target.node);
    message["instance"] = json!(target.instance);
    let id = client.request(message).await?;
    let error = match client.answer(id).await {
        Ok(answer) => return Ok((answer, dac)),
        Err(error) => error,
    };
    if !has_code(&error, "unknown_instance") {
        return Err(error);
    }
    let unknown = UnknownInstance { target: target.clone(), reason: error.to_string() };
    Err(explained(unknown.into(), &server).await)
}

/// Sends a command to one instance, or to all that match a pattern, and prints their states.
pub async fn run(arguments: Arguments) -> anyhow::Result<()> {
    let wish = Command::try_from(arguments.what.clone())?;
    if !arguments.target.is_pattern() {
        return run_one(&arguments, &arguments.target, &wish).await;
    }
    anyhow::ensure!(arguments.uuid.is_none(), "--uuid names one command: give one instance, without a *");
    let targets = matching(&arguments)?;
    let mut failed = 0;
    for target in &targets {
        if let Err(error) = run_one(&arguments, target, &wish).await {
            eprintln!("{target}: {error:#}");
            failed += 1;
        }
    }
    anyhow::ensure!(failed == 0, "{failed} of {} instances did not execute the command", targets.len());
    Ok(())
}

/// The instances that match the pattern, of all DACs that are asked.
fn matching(arguments: &Arguments) -> anyhow::Result<Vec<Target>> {
    let (all, failed) = list::targets(&arguments.located.servers()?)?;
    anyhow::ensure!(
        failed == 0,
        "{failed} DACs did not answer: give the command to one of them (--dac-name)"
    );
    named(std::slice::from_ref(&arguments.target), &all)
        .map_err(|pattern| anyhow::anyhow!("no instance matches {pattern}: list all with `oasis list`"))
}

/// Sends one command and prints the state of the instance.
async fn run_one(arguments: &Arguments, target: &Target, wish: &Command) -> anyhow::Result<()> {
    let uuid = arguments.uuid.unwrap_or_else(Uuid::new_v4);
    let request = NamedRequest { uuid, keep: arguments.keep, request: wish.clone() };
    let (done, dac) = match send(&arguments.located, target, &request).await {
        // The node has not executed it: a TEM may know by now where the node is.
        Err(error) if has_code(&error, "node_moved") => send(&arguments.located, target, &request).await,
        Err(error) if has_code(&error, "unknown") => {
            Err(error.context(format!("outcome unknown; repeat with --uuid {uuid}")))
        }
        sent => sent,
    }?;
    let state = if done["enabled"] == true { "enabled" } else { "disabled" };
    let at = dac.map_or_else(String::new, |dac| format!(" (at {dac})"));
    let at = if arguments.keep { format!(", kept for the next runs{at}") } else { at };
    match (wish, done["hertz"].as_f64()) {
        (Command::Demand(range), _) => {
            println!("{target}: {} to {} Hz on demand of readers, {state}{at}", range.min(), range.max());
        }
        (_, Some(hertz)) => println!("{target}: {hertz} Hz, {state}{at}"),
        (_, None) => println!("{target}: {state}{at}"),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_that_is_no_number_is_explained() {
        assert_eq!(hertz("2.5").map(Hertz::get), Ok(2.5));
        assert_eq!(hertz("fast").unwrap_err(), "a rate is a number of hertz from 0.01 to 1000, such as 10");
        assert!(hertz("0").unwrap_err().contains("out of range"));
        assert!(deadband("-1").is_err() && deadband("NaN").is_err() && deadband("0.5") == Ok(0.5));
    }
}

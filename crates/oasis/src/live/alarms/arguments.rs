//! The arguments of `oasis alarms`.

use crate::{live::locate::Located, output_format::OutputFlags, target::Target};
use clap::{Args, Subcommand};
use oasis_wire::time;

#[derive(Debug, Args)]
pub struct Arguments {
    #[command(subcommand)]
    pub verb: Option<Verb>,
    #[command(flatten)]
    pub only: Only,
    #[command(flatten)]
    pub located: Located,
    #[command(flatten)]
    pub output: OutputFlags,
}

/// Which alarms are listed.
#[derive(Debug, Args)]
pub struct Only {
    /// Also alarms that are normal.
    #[arg(long)]
    pub all: bool,
    /// Only alarms of this rule.
    #[arg(long)]
    pub rule: Option<String>,
    /// Only alarms of this node.
    #[arg(long)]
    pub node: Option<String>,
    /// Only alarms of instances with this name.
    #[arg(long)]
    pub instance: Option<String>,
    /// Only alarms of this severity: low, medium, high or critical.
    #[arg(long)]
    pub severity: Option<String>,
}

#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Acknowledge an alarm: you have seen it.
    #[command(
        visible_alias = "acknowledge",
        after_help = "Examples:
  oasis alarms ack Hot 'plant-7/pump 3' --comment 'on my way'
  oasis alarms ack Hot --node plant/7 --instance 'pump 3'       a node with a slash in its name"
    )]
    Ack(On),
    /// Silence an alarm for a time, until it clears, or until the first of both.
    #[command(after_help = "Examples:
  oasis alarms shelve Hot 'plant-7/pump 3' --for 1h
  oasis alarms shelve Hot 'plant-7/pump 3' --once --comment 'being cooled'")]
    Shelve {
        #[command(flatten)]
        on: On,
        #[command(flatten)]
        until: Until,
    },
    /// End a shelve.
    #[command(after_help = "Examples:
  oasis alarms unshelve Hot 'plant-7/pump 3'")]
    Unshelve(On),
    /// Silence an alarm until unsuppress.
    #[command(after_help = "Examples:
  oasis alarms suppress Hot 'plant-7/pump 3' --comment 'sensor is broken'")]
    Suppress(On),
    /// End a suppression.
    #[command(after_help = "Examples:
  oasis alarms unsuppress Hot 'plant-7/pump 3'")]
    Unsuppress(On),
    /// Take an alarm out of service, for maintenance of what it watches.
    #[command(after_help = "Examples:
  oasis alarms out-of-service Hot 'plant-7/pump 3' --comment 'pump is dismounted'")]
    OutOfService(On),
    /// Put an alarm into service again.
    #[command(after_help = "Examples:
  oasis alarms in-service Hot 'plant-7/pump 3'")]
    InService(On),
    /// Show what happened, newest first: alarms, actions, and results of other rules.
    #[command(after_help = "Examples:
  oasis alarms journal --from -1d
  oasis alarms journal --rule Hot --kind raised --json | jq -r .time")]
    Journal(Journal),
    /// Show how many alarms stand, how often they were raised, which chatter, and which stand for long.
    #[command(after_help = "Examples:
  oasis alarms statistics
  oasis alarms statistics --json | jq .raised.hour")]
    Statistics,
    /// Show what stands, and each change as it happens.
    #[command(after_help = "Examples:
  oasis alarms follow
  oasis alarms follow --json | jq -r 'select(.state == \"active\") | .message'")]
    Follow,
}

/// An alarm, and why something is done with it.
#[derive(Debug, Args)]
pub struct On {
    /// The rule.
    pub rule: String,
    /// The instance, as NODE/INSTANCE: the node ends at the first slash.
    #[arg(value_name = "NODE/INSTANCE", required_unless_present = "node", conflicts_with = "node")]
    target: Option<Target>,
    /// The node of the instance, if its name has a slash.
    #[arg(long, requires = "instance")]
    node: Option<String>,
    /// The name of the instance, with --node.
    #[arg(long, requires = "node")]
    instance: Option<String>,
    /// Why, for the journal; at most 1024 bytes.
    #[arg(long)]
    pub comment: Option<String>,
}

impl On {
    /// The instance.
    pub fn target(&self) -> Option<Target> {
        let named = self.node.clone().zip(self.instance.clone());
        named.map(|(node, instance)| Target { node, instance }).or_else(|| self.target.clone())
    }
}

/// When a shelve ends.
#[derive(Debug, Args)]
#[group(required = true, multiple = true)]
pub struct Until {
    /// After this time, such as 90s, 15m, 1h or 7d.
    #[arg(long = "for", value_name = "DURATION", value_parser = seconds)]
    pub duration: Option<u64>,
    /// When the alarm clears.
    #[arg(long)]
    pub once: bool,
}

/// Which entries of the journal are shown.
#[derive(Debug, Args)]
pub struct Journal {
    /// Only what happened at this time or later.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub from: Option<String>,
    /// Only what happened before this time.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub to: Option<String>,
    /// Only entries of this rule.
    #[arg(long)]
    pub rule: Option<String>,
    /// Only entries of this node.
    #[arg(long)]
    pub node: Option<String>,
    /// Only entries of instances with this name.
    #[arg(long)]
    pub instance: Option<String>,
    /// Only entries of this kind, such as raised.
    #[arg(long)]
    pub kind: Option<String>,
    /// Only the newest N of them.
    #[arg(short = 'n', long, value_name = "N", alias = "limit", default_value_t = 1_000)]
    pub last: usize,
}

/// Parses a duration of whole seconds.
fn seconds(text: &str) -> Result<u64, String> {
    let nanoseconds = time::duration(text).filter(|nanoseconds| *nanoseconds >= 1_000_000_000);
    let seconds = nanoseconds.map(|nanoseconds| nanoseconds / 1_000_000_000);
    seconds.ok_or_else(|| "write a number and a unit: 90s, 15m, 1h or 7d".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shelve_lasts_whole_seconds() {
        assert_eq!((seconds("90s"), seconds("1h"), seconds("1500ms")), (Ok(90), Ok(3_600), Ok(1)));
        for text in ["", "1", "h", "-1h", "1 h", "10ms", "99999999999w"] {
            assert!(seconds(text).is_err(), "{text}");
        }
    }
}

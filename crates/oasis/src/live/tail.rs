//! `oasis tail`: samples as lines, for people or for programs.

use crate::{
    live::arguments::Tail,
    live::client::{Client, Incoming},
    output_format::Format,
    target::{self, Target},
};
use anyhow::{Context, bail};
use oasis_dac::{Delivery, now};
use oasis_format::json_lines;
use oasis_format::visible::Visible;
use oasis_wire::{
    batch::{Batch, Header, Sample},
    quantity::Nanos,
    schema::{Metric, ProbeType},
    time, value,
};
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    io::{self, BufWriter, Write},
};

/// A followed instance.
struct FollowedInstance {
    target: Target,
    schema: ProbeType,
    /// Sequence number expected next, once one was seen.
    expected: Option<u64>,
}

/// Follows until an interrupt, the requested number of samples, or the end of the requested time span.
pub async fn run(arguments: Tail) -> anyhow::Result<()> {
    let targets: Vec<_> = arguments.instances.iter().collect();
    let mut client = Client::connect(&arguments.located.server(&targets)?).await?;
    let printer = Printer {
        out: BufWriter::new(io::stdout()),
        format: arguments.format,
        left: arguments.count,
        is_live: arguments.from.is_none() && arguments.last.is_none(),
        has_dates: arguments.from.is_some() || arguments.from_earliest || arguments.last.is_some(),
        last: None,
        is_thinned: !matches!(arguments.delivery, Delivery::Every),
    };
    let mut follower = Follower { asked: BTreeMap::new(), followed: BTreeMap::new(), printer };
    let targets = match &arguments.instances[..] {
        [] => everything(&mut client, &arguments).await?,
        patterns if patterns.iter().any(Target::is_pattern) => {
            let all = all(&client.registry().await?, |_| true);
            target::named(patterns, &all).map_err(|unknown| {
                anyhow::anyhow!("the DAC does not know {unknown}: list its instances with `oasis list`")
            })?
        }
        instances => instances.to_vec(),
    };
    for target in targets {
        let id = client.request(subscription(&target, &arguments)).await?;
        follower.asked.insert(id, target);
    }
    match follower.follow(&mut client).await {
        // `oasis tail | head` is not an error.
        Err(error)
            if error.downcast_ref::<io::Error>().is_some_and(|e| e.kind() == io::ErrorKind::BrokenPipe) =>
        {
            Ok(())
        }
        other => other,
    }
}

fn subscription(target: &Target, arguments: &Tail) -> Value {
    let earliest = arguments.from_earliest.then_some("earliest");
    json!({
        "op": "subscribe", "node": target.node, "instance": target.instance,
        "from": earliest.or(arguments.from.as_deref()), "to": arguments.to, "last": arguments.last,
        "delivery": arguments.delivery, "overflow": arguments.overflow,
    })
}

/// All instances; without a request for history, only online ones.
async fn everything(client: &mut Client, arguments: &Tail) -> anyhow::Result<Vec<Target>> {
    let registry = client.registry().await?;
    if all(&registry, |_| true).is_empty() {
        bail!("no instances yet: start a node (`oasis node`)");
    }
    let is_past = arguments.from.is_some() || arguments.last.is_some();
    let targets = all(&registry, |instance| is_past || instance["state"] == "online");
    if targets.is_empty() {
        bail!(
            "no instance is online: start a node (`oasis node`), name an instance to wait for it, or use --from TIME or --last N for stored samples"
        );
    }
    Ok(targets)
}

/// The requested instances of a registry.
fn all(registry: &Value, wanted: impl Fn(&Value) -> bool) -> Vec<Target> {
    let name = |instance: &Value, field: &str| instance[field].as_str().unwrap_or_default().to_owned();
    let target = |instance| Target { node: name(instance, "node"), instance: name(instance, "instance") };
    let instances = registry["instances"].as_array().into_iter().flatten();
    instances.filter(|instance| wanted(instance)).map(target).collect()
}

/// The state of following.
struct Follower {
    /// Pending requests, by number.
    asked: BTreeMap<i64, Target>,
    /// By topic.
    followed: BTreeMap<u32, FollowedInstance>,
    printer: Printer,
}

impl Follower {
    async fn follow(&mut self, client: &mut Client) -> anyhow::Result<()> {
        while !(self.asked.is_empty() && self.followed.is_empty()) {
            let incoming = match client.next().await {
                Ok(incoming) => incoming.context("the DAC closed the connection")?,
                Err(broken) => return Err(self.printer.at_its_end(broken)),
            };
            match incoming {
                Incoming::Batch(bytes) => {
                    let topic = Header::parse(&bytes)?.topic;
                    let Some(followed) = self.followed.get_mut(&topic) else { continue };
                    if self.printer.batch(followed, &bytes)? {
                        return Ok(());
                    }
                }
                Incoming::Control(message) => self.on_message(&message)?,
            }
        }
        Ok(())
    }

    fn on_message(&mut self, message: &Value) -> anyhow::Result<()> {
        let topic = message["topic"].as_u64().and_then(|topic| u32::try_from(topic).ok());
        let asked = message["id"].as_i64().and_then(|id| self.asked.remove(&id));
        match (message["op"].as_str(), asked, topic) {
            (Some("subscribed"), Some(target), Some(topic)) => {
                let schema = schema(&message["instance"]["schema"])?;
                if self.printer.is_live && message["instance"]["state"] == "offline" {
                    eprintln!("{target}: offline, waiting for it; -n 20 or --from -1h shows stored samples");
                }
                self.followed.insert(topic, FollowedInstance { target, schema, expected: None });
            }
            (_, Some(target), _) => {
                let reason = message["message"].as_str().unwrap_or("the DAC refused without a reason");
                bail!("{target}: {}", Visible(reason));
            }
            (Some("type_changed"), _, Some(topic)) => {
                if let Some(followed) = self.followed.get_mut(&topic) {
                    followed.schema = schema(&message["schema"])?;
                }
            }
            (Some("unsubscribed"), _, Some(topic)) => {
                let ended = self.followed.remove(&topic);
                let cause = message["cause"].as_str().unwrap_or_default();
                if let Some(FollowedInstance { target, .. }) = ended.filter(|_| cause != "to") {
                    eprintln!("{target}: no more samples: {}", Visible(cause));
                }
            }
            _ => gap(&self.followed, message).iter().for_each(|gap| eprintln!("{gap}")),
        }
        Ok(())
    }
}

fn schema(json: &Value) -> anyhow::Result<ProbeType> {
    serde_json::from_value(json.clone()).context("in the schema from the DAC")
}

/// Describes a gap before the samples of this batch.
fn hole(expected: u64, header: &Header) -> String {
    let (first, kept) = (header.first_sequence, header.dropped_before);
    match first.checked_sub(expected) {
        None => {
            format!("numbers restart at {first} after {}: the node or the DAC was restarted", expected - 1)
        }
        Some(missing) => {
            format!("{missing} samples are missing before {first} (the node dropped or kept back {kept})")
        }
    }
}

struct Printer {
    out: BufWriter<io::Stdout>,
    format: Format,
    left: Option<u64>,
    /// Whether only live samples are requested.
    is_live: bool,
    /// Samples may be of any day.
    has_dates: bool,
    /// Time of the newest sample printed.
    last: Option<u64>,
    /// Whether gaps in the numbers are expected, because the DAC thins samples.
    is_thinned: bool,
}

impl Printer {
    /// Prints the samples. Returns true when enough have been printed.
    fn batch(&mut self, followed: &mut FollowedInstance, bytes: &[u8]) -> anyhow::Result<bool> {
        let batch = Batch::parse(bytes, &followed.schema)?;
        let header = batch.header();
        if let Some(expected) = followed.expected
            && header.first_sequence != expected
            && !(self.is_thinned && header.first_sequence > expected)
        {
            eprintln!("{}: {}", followed.target, hole(expected, header));
        }
        followed.expected = Some(header.first_sequence.saturating_add(header.count.into()));
        for sample in batch.samples() {
            if self.left == Some(0) {
                break;
            }
            self.line(followed, &sample, header.state)?;
            self.last = self.last.max(Some(sample.time));
            self.left = self.left.map(|left| left - 1);
        }
        self.out.flush()?;
        Ok(self.left == Some(0))
    }

    /// Adds how to continue after the printed samples.
    fn at_its_end(&self, broken: anyhow::Error) -> anyhow::Error {
        match self.last {
            Some(last) => {
                let time = time::format_digits(last, 3);
                anyhow::anyhow!("{broken:#}. If the DAC has an archive, continue with --from {time}")
            }
            None => broken,
        }
    }

    fn line(&mut self, followed: &FollowedInstance, sample: &Sample, state: u16) -> io::Result<()> {
        let FollowedInstance { target, schema, .. } = followed;
        match self.format {
            Format::Json => {
                let name = (&*target.node, &*target.instance);
                let line = json_lines::object(name, None, schema, state, sample);
                writeln!(self.out, "{}", Value::Object(line))
            }
            Format::Text => {
                let time = if self.has_dates {
                    time::format_digits(sample.time, 3)
                } else {
                    short(sample.time, now())
                };
                write!(self.out, "{time} {target} #{}", sample.sequence)?;
                let metrics = value::to_json(schema, &sample.values);
                for ((name, value), metric) in metrics.iter().zip(&schema.metrics) {
                    match enumerator(metric, value) {
                        Some(word) => write!(self.out, " {}={}", Visible(name), Visible(word))?,
                        None => write!(self.out, " {}={}", Visible(name), Visible(&value.to_string()))?,
                    }
                }
                writeln!(self.out)
            }
        }
    }
}

/// Describes missing samples, if this message reports any.
fn gap(followed: &BTreeMap<u32, FollowedInstance>, message: &Value) -> Option<String> {
    let topic = u32::try_from(message["topic"].as_u64()?).ok()?;
    let target = &followed.get(&topic)?.target;
    let cause = Visible(message["cause"].as_str()?);
    (message["op"] == "gap").then(|| match message["count"].as_u64() {
        Some(count) => format!("{target}: a gap of {count} samples: {cause}"),
        None => format!("{target}: a gap: {cause}"),
    })
}

/// The name of an enumerator.
fn enumerator<'a>(metric: &'a Metric, value: &Value) -> Option<&'a str> {
    let known = &metric.enumeration.as_ref()?.values;
    known.iter().find(|known| Some(known.value) == value.as_i64()).map(|known| known.name.as_str())
}

/// A sample of today needs no date.
fn short(time: u64, now: Nanos) -> String {
    let day = |time: u64| time / 86_400_000_000_000;
    if day(time) == day(now.0) { time_of_day(time) } else { time::format_digits(time, 3) }
}

/// `HH:MM:SS.mmm` UTC.
fn time_of_day(time: u64) -> String {
    let seconds = time / 1_000_000_000 % 86_400;
    format!(
        "{:02}:{:02}:{:02}.{:03}",
        seconds / 3600,
        seconds / 60 % 60,
        seconds % 60,
        time / 1_000_000 % 1_000
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_is_printed_with_its_instance() {
        let target = Target { node: "plant".into(), instance: "engine".into() };
        let none = "00000000-0000-0000-0000-000000000000";
        let schema = json!({"name": "Engine", "uuid": none, "version": "1.0", "metrics": []});
        let schema = serde_json::from_value(schema).unwrap();
        let followed = BTreeMap::from([(3, FollowedInstance { target, schema, expected: None })]);
        let described = |message| gap(&followed, &message);
        let lost = json!({"op": "gap", "topic": 3, "from": 5, "to": 9, "count": 4, "cause": "retention"});
        assert_eq!(described(lost).unwrap(), "plant/engine: a gap of 4 samples: retention");
        assert_eq!(
            described(json!({"op": "gap", "topic": 3, "cause": "epoch"})).unwrap(),
            "plant/engine: a gap: epoch"
        );
        assert_eq!(described(json!({"op": "gap", "topic": 4, "count": 4, "cause": "retention"})), None);
        assert_eq!(described(json!({"op": "unsubscribed", "topic": 3})), None);
    }

    #[test]
    fn the_time_is_utc_with_milliseconds_and_a_date_if_it_is_not_of_today() {
        let time = 1_763_683_261_005_000_000;
        assert_eq!(time_of_day(time), "00:01:01.005");
        assert_eq!(short(time, Nanos(time + 86_000_000_000_000)), "00:01:01.005");
        for tomorrow in [time::format_digits(time, 3), short(time, Nanos(time + 86_400_000_000_000))] {
            assert_eq!(tomorrow, "2025-11-21T00:01:01.005Z");
        }
    }
}

//! `oasis tail`: samples as lines, for people or for programs. With several DACs it goes on at another one when it loses one.

mod place;
mod route;

use crate::{
    live::arguments::Tail,
    live::client::{Client, Incoming},
    output_format::Format,
    target::{self, Target},
};
use anyhow::{Context, anyhow, bail};
use oasis_client::Server;
use oasis_dac::{Delivery, NO_OFFSET, now};
use oasis_format::json_lines;
use oasis_format::visible::Visible;
use oasis_wire::{
    batch::{Batch, Header, Sample},
    quantity::Nanos,
    schema::{Metric, ProbeType},
    time, value,
};
use place::Place;
use route::Route;
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    io::{self, BufWriter, Write},
    time::Duration,
};
use tokio::time::{Instant, MissedTickBehavior, interval, sleep, timeout};

/// Interval of pings, if there is another DAC to go to.
const PING: Duration = Duration::from_millis(300);
/// A DAC that says nothing for so long is lost.
const SILENCE: Duration = Duration::from_millis(1_200);
/// Time for a DAC to answer all subscriptions.
const ANSWER: Duration = Duration::from_secs(2);
/// Pauses after all DACs were tried: the first, and the longest.
const PAUSES: [Duration; 2] = [Duration::from_millis(50), Duration::from_millis(500)];
/// After this time a DAC will do whose nodes are all offline.
const ANY: Duration = Duration::from_secs(5);

/// A followed instance.
struct FollowedInstance {
    target: Target,
    /// None until it is subscribed to.
    schema: Option<ProbeType>,
    place: Place,
    /// Whether no more samples come.
    is_over: bool,
}

/// How following ended.
enum Ending {
    /// With all samples that were wanted.
    Complete,
    /// The connection is gone.
    Lost(anyhow::Error),
}

/// Follows until an interrupt, the requested number of samples, or the end of the requested time span.
pub async fn run(arguments: Tail) -> anyhow::Result<()> {
    let mut route = Route::new(&arguments.located, &arguments.instances)?;
    let mut client = connect_to_any(&mut route).await?;
    let printer = Printer {
        out: BufWriter::new(io::stdout()),
        format: arguments.format,
        left: arguments.count,
        is_live: arguments.from.is_none() && arguments.last.is_none(),
        has_dates: arguments.from.is_some() || arguments.from_earliest || arguments.last.is_some(),
        last: None,
        is_thinned: !matches!(arguments.delivery, Delivery::Every),
    };
    let mut follower =
        Follower { asked: BTreeMap::new(), topics: BTreeMap::new(), followed: Vec::new(), printer };
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
    follower.followed = targets.into_iter().map(FollowedInstance::new).collect();
    follower.subscribe(&mut client, &arguments).await?;
    loop {
        let lost = match follower.follow(&mut client, route.has_others()).await {
            // `oasis tail | head` is not an error.
            Err(error) if is_broken_pipe(&error) => return Ok(()),
            Err(error) => return Err(error),
            Ok(Ending::Complete) => return Ok(()),
            Ok(Ending::Lost(error)) => error,
        };
        if !route.has_others() {
            return Err(follower.printer.at_its_end(lost));
        }
        eprintln!("{lost:#}; going on at another DAC");
        client = match follower.go_on(&mut route, &arguments).await {
            Err(error) if is_broken_pipe(&error) => return Ok(()),
            other => other?,
        };
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

/// Connects to the first DAC that answers; of a TEM, to the one that has the instances.
async fn connect_to_any(route: &mut Route) -> anyhow::Result<Client> {
    let mut servers = route.others_first();
    // In the order in which they were named.
    servers.sort_by_key(|(number, _)| *number);
    if route.is_by_tem() {
        servers.truncate(1);
    }
    let mut first_error = None;
    for (number, server) in servers {
        match Client::connect(&server).await {
            Ok(client) => {
                route.choose(number);
                return Ok(client);
            }
            Err(error) => first_error = first_error.or(Some(error)),
        }
    }
    Err(first_error.context("there is no DAC")?)
}

fn subscription(target: &Target, resume: Option<String>, arguments: &Tail) -> Value {
    let mut request = json!({
        "op": "subscribe", "node": target.node, "instance": target.instance, "to": arguments.to,
        "delivery": arguments.delivery, "overflow": arguments.overflow,
    });
    if arguments.ahead {
        request["ahead"] = true.into();
    }
    match resume {
        Some(position) => request["resume"] = position.into(),
        None => {
            let earliest = arguments.from_earliest.then_some("earliest");
            request["from"] = earliest.or(arguments.from.as_deref()).into();
            request["last"] = arguments.last.into();
        }
    }
    request
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
    /// Pending requests of the connection: which instances they subscribe to.
    asked: BTreeMap<i64, usize>,
    /// Which instances the topics of the connection are.
    topics: BTreeMap<u32, usize>,
    followed: Vec<FollowedInstance>,
    printer: Printer,
}

impl Follower {
    /// Asks for all instances that are not over, each where it ended before.
    async fn subscribe(&mut self, client: &mut Client, arguments: &Tail) -> anyhow::Result<()> {
        self.asked.clear();
        self.topics.clear();
        for (index, followed) in self.followed.iter().enumerate().filter(|(_, followed)| !followed.is_over) {
            let request = subscription(&followed.target, followed.place.resume(), arguments);
            self.asked.insert(client.request(request).await?, index);
        }
        Ok(())
    }

    /// Prints what comes. Who has another DAC to go to notices that this one is silent.
    async fn follow(&mut self, client: &mut Client, has_others: bool) -> anyhow::Result<Ending> {
        let mut pings = interval(PING);
        pings.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut heard = Instant::now();
        while !(self.asked.is_empty() && self.topics.is_empty()) {
            let incoming = tokio::select! {
                incoming = client.next() => incoming,
                _ = pings.tick(), if has_others => {
                    if heard.elapsed() > SILENCE {
                        let seconds = SILENCE.as_secs_f64();
                        return Ok(Ending::Lost(anyhow!("the DAC has said nothing for {seconds} s")));
                    }
                    if let Err(error) = client.request(json!({"op": "ping", "client_time": 0})).await {
                        return Ok(Ending::Lost(error));
                    }
                    continue;
                }
            };
            heard = Instant::now();
            match incoming {
                Ok(Some(Incoming::Batch(bytes))) => {
                    if self.on_batch(&bytes)? {
                        return Ok(Ending::Complete);
                    }
                }
                Ok(Some(Incoming::Control(message))) => self.on_message(&message)?,
                Ok(None) => return Ok(Ending::Lost(anyhow!("the DAC closed the connection"))),
                Err(error) => return Ok(Ending::Lost(error)),
            }
        }
        Ok(Ending::Complete)
    }

    /// Tries the other DACs, again and again, until one has the instances.
    async fn go_on(&mut self, route: &mut Route, arguments: &Tail) -> anyhow::Result<Client> {
        let (lost, [mut pause, longest]) = (Instant::now(), PAUSES);
        let mut said = String::new();
        loop {
            for (number, server) in route.others_first() {
                let is_any_enough = lost.elapsed() > ANY;
                let reason = match timeout(ANSWER, self.resume_at(&server, arguments, is_any_enough)).await {
                    Ok(Ok(client)) => {
                        eprintln!("going on at {}", server.url);
                        route.choose(number);
                        return Ok(client);
                    }
                    Ok(Err(error)) if is_broken_pipe(&error) => return Err(error),
                    Ok(Err(error)) => format!("{}: {error:#}", server.url),
                    Err(_) => format!("{}: no answer", server.url),
                };
                if lost.elapsed() > ANY && reason != said {
                    eprintln!("{reason}; trying again");
                    said = reason;
                }
            }
            sleep(pause).await;
            pause = (pause * 2).min(longest);
            route.refresh().await;
        }
    }

    /// Subscribes to all instances at a DAC. A DAC will do that has the node of one of them; another one may not have noticed yet that a node
    /// comes to it.
    async fn resume_at(
        &mut self,
        server: &Server,
        arguments: &Tail,
        is_any_enough: bool,
    ) -> anyhow::Result<Client> {
        let mut client = Client::connect(server).await?;
        self.subscribe(&mut client, arguments).await?;
        let mut is_online = is_any_enough;
        while !self.asked.is_empty() {
            match client.next().await?.context("the DAC closed the connection")? {
                Incoming::Batch(bytes) => drop(self.on_batch(&bytes)?),
                Incoming::Control(message) => {
                    is_online |= message["op"] == "subscribed" && message["instance"]["state"] == "online";
                    self.on_message(&message)?;
                }
            }
        }
        if !is_online {
            bail!("the nodes are offline there");
        }
        Ok(client)
    }

    /// Prints samples. Returns true when enough have been printed.
    fn on_batch(&mut self, bytes: &[u8]) -> anyhow::Result<bool> {
        let topic = Header::parse(bytes)?.topic;
        let followed = self.topics.get(&topic).and_then(|index| self.followed.get_mut(*index));
        followed.map_or(Ok(false), |followed| self.printer.batch(followed, bytes))
    }

    fn on_message(&mut self, message: &Value) -> anyhow::Result<()> {
        let topic = message["topic"].as_u64().and_then(|topic| u32::try_from(topic).ok());
        let asked = message["id"].as_i64().and_then(|id| self.asked.remove(&id));
        if let Some(index) = asked {
            let Some(followed) = self.followed.get_mut(index) else { return Ok(()) };
            let (Some("subscribed"), Some(topic)) = (message["op"].as_str(), topic) else {
                let reason = message["message"].as_str().unwrap_or("the DAC refused without a reason");
                bail!("{}: {}", followed.target, Visible(reason));
            };
            followed.schema = Some(schema(&message["instance"]["schema"])?);
            followed.place.begin(message);
            if self.printer.is_live
                && message["instance"]["state"] == "offline"
                && self.printer.last.is_none()
            {
                let target = &followed.target;
                eprintln!("{target}: offline, waiting for it; -n 20 or --from -1h shows stored samples");
            }
            self.topics.insert(topic, index);
            return Ok(());
        }
        let index = topic.and_then(|topic| Some((topic, *self.topics.get(&topic)?)));
        let Some((topic, index)) = index else { return Ok(()) };
        let Some(followed) = self.followed.get_mut(index) else { return Ok(()) };
        match message["op"].as_str() {
            Some("type_changed") => followed.schema = Some(schema(&message["schema"])?),
            Some("unsubscribed") => {
                self.topics.remove(&topic);
                followed.is_over = true;
                let cause = message["cause"].as_str().unwrap_or_default();
                if cause != "to" {
                    eprintln!("{}: no more samples: {}", followed.target, Visible(cause));
                }
            }
            Some("epoch" | "gap") => {
                followed.place.move_to(message);
                gap(&followed.target, message).iter().for_each(|gap| eprintln!("{gap}"));
            }
            _ => {}
        }
        Ok(())
    }
}

impl FollowedInstance {
    fn new(target: Target) -> Self {
        Self { target, schema: None, place: Place::default(), is_over: false }
    }
}

fn schema(json: &Value) -> anyhow::Result<ProbeType> {
    serde_json::from_value(json.clone()).context("in the schema from the DAC")
}

/// Describes a gap before a sample, of which the node has declared some.
fn hole(expected: u64, first: u64, kept: u32) -> String {
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
        let FollowedInstance { target, schema: Some(schema), place, .. } = followed else {
            return Ok(false);
        };
        let batch = Batch::parse(bytes, schema)?;
        let (state, kept) = (batch.header().state, batch.header().dropped_before);
        let is_ahead = batch.header().offset == NO_OFFSET;
        for sample in batch.samples() {
            if self.left == Some(0) {
                break;
            }
            if place.has(&sample) {
                continue;
            }
            if is_ahead {
                if !place.show_ahead(&sample) {
                    continue;
                }
            } else if let Some(expected) = place.take(&sample)
                && !(self.is_thinned && sample.sequence > expected)
            {
                eprintln!("{target}: {}", hole(expected, sample.sequence, kept));
            }
            if !is_ahead && place.was_ahead(&sample) {
                continue;
            }
            self.line((target, schema), &sample, (state, is_ahead))?;
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

    fn line(
        &mut self,
        (target, schema): (&Target, &ProbeType),
        sample: &Sample,
        (state, is_ahead): (u16, bool),
    ) -> io::Result<()> {
        match self.format {
            Format::Json => {
                let name = (&*target.node, &*target.instance);
                let mut line = json_lines::object(name, None, schema, state, sample);
                if is_ahead {
                    line.insert("ahead".into(), true.into());
                }
                writeln!(self.out, "{}", Value::Object(line))
            }
            Format::Text => {
                let time = if self.has_dates {
                    time::format_digits(sample.time, 3)
                } else {
                    short(sample.time, now())
                };
                let mark = if is_ahead { " (ahead)" } else { "" };
                write!(self.out, "{time} {target} #{}{mark}", sample.sequence)?;
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
fn gap(target: &Target, message: &Value) -> Option<String> {
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
        let described = |message| gap(&target, &message);
        let lost = json!({"op": "gap", "topic": 3, "from": 5, "to": 9, "count": 4, "cause": "retention"});
        assert_eq!(described(lost).unwrap(), "plant/engine: a gap of 4 samples: retention");
        assert_eq!(
            described(json!({"op": "gap", "topic": 3, "cause": "epoch"})).unwrap(),
            "plant/engine: a gap: epoch"
        );
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

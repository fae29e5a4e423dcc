//! `oasis tail`: samples as lines, for people or for programs. With several DACs it continues at another one when it
//! loses one.

mod position;
mod presence;
mod printer;
mod route;

use crate::{
    live::{arguments::Tail, unknown::UnknownInstance},
    target::{self, Target},
};
use anyhow::{Context, anyhow, bail};
use oasis_client::{ClientError, DacAddress, Server};
use oasis_format::visible::Visible;
use oasis_site::{
    api::RESPONSE_TIMEOUT,
    client::{Client, Incoming},
};
use oasis_wire::{batch::Header, gap::Gap, schema::ProbeType};
use position::FollowPosition;
use presence::Presence;
use printer::{Printer, gap};
use route::Route;
use serde::Deserialize;
use serde_json::{Value, json};
use std::{
    collections::{BTreeMap, BTreeSet},
    error::Error,
    io,
    time::Duration,
};
use tokio::time::{Instant, MissedTickBehavior, interval, sleep, timeout};

/// Interval of pings, if there is another DAC to go to.
const PING_INTERVAL: Duration = Duration::from_millis(300);
/// A DAC that says nothing for so long is lost.
const DAC_TIMEOUT: Duration = Duration::from_millis(1_200);
/// Time for a DAC to answer all subscriptions.
const SUBSCRIBE_TIMEOUT: Duration = Duration::from_secs(2);
/// Pauses after all DACs were tried: the first, and the longest.
const RETRY_DELAYS: [Duration; 2] = [Duration::from_millis(50), Duration::from_millis(500)];
/// Time to find another DAC at the start, if the one that the TEM names cannot be reached.
const FIRST_DAC_TIMEOUT: Duration = Duration::from_secs(10);
/// After this time a DAC will do whose nodes are all offline.
const OFFLINE_DAC_DELAY: Duration = Duration::from_secs(5);

/// A followed instance.
struct FollowedInstance {
    target: Target,
    /// None until it is subscribed to.
    schema: Option<ProbeType>,
    place: FollowPosition,
    /// Gaps that precede the next batch.
    gaps_before: Vec<Gap>,
    /// Whether no more samples come.
    is_over: bool,
}

/// The way in which following ended.
enum Ending {
    /// With all samples that were wanted.
    Complete,
    /// The connection is gone.
    Lost(anyhow::Error),
}

/// Follows until an interrupt, the requested number of samples, or the end of the requested time span.
pub async fn run(arguments: Tail) -> anyhow::Result<()> {
    let mut route = Route::new(&arguments.located, &arguments.instances)?;
    let mut follower = Follower {
        asked: BTreeMap::new(),
        topics: BTreeMap::new(),
        followed: Vec::new(),
        notes: Vec::new(),
        presence: Presence::default(),
        printer: Printer::new(&arguments),
    };
    let mut client = follower.begin(&mut route, &arguments).await?;
    loop {
        let lost = match follower.follow(&mut client, &mut route).await {
            // `oasis tail | head` is not an error.
            Err(error) if is_broken_pipe(&error) => return Ok(()),
            Err(error) => return Err(route.explained(error).await),
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

/// Whether a DAC could not be reached, or does not answer: another one may be of use.
fn is_unreachable(error: &anyhow::Error) -> bool {
    let is_silence =
        |cause: &(dyn Error + 'static)| cause.downcast_ref().is_some_and(ClientError::is_silence);
    error.chain().any(|cause| cause.is::<io::Error>() || is_silence(cause))
}

fn subscription(target: &Target, resume: Option<String>, arguments: &Tail) -> Value {
    let mut request = json!({
        "op": "subscribe", "node": target.node, "instance": target.instance, "to": arguments.to,
        "delivery": arguments.delivery, "overflow": arguments.overflow,
        "gaps": true,
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

/// The instances to follow, as the DAC knows them.
async fn targets(client: &mut Client, arguments: &Tail) -> anyhow::Result<Vec<Target>> {
    match &arguments.instances[..] {
        [] => everything(client, arguments).await,
        patterns if patterns.iter().any(Target::is_pattern) => {
            let all = all(&client.registry().await?, |_| true);
            target::named(patterns, &all).map_err(|unknown| {
                anyhow!("the DAC does not know {unknown}: list its instances with `oasis list`")
            })
        }
        instances => Ok(instances.to_vec()),
    }
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
    /// Notes about the instances, printed once a DAC is chosen.
    notes: Vec<String>,
    /// Which nodes are online at the DAC.
    presence: Presence,
    printer: Printer,
}

impl Follower {
    /// Subscribes at the first DAC that answers, in the order in which they were named; of a TEM, at the one that has the instances.
    async fn begin(&mut self, route: &mut Route, arguments: &Tail) -> anyhow::Result<Client> {
        let patience = if route.has_others() { DAC_TIMEOUT } else { RESPONSE_TIMEOUT };
        let (mut first_error, mut may_recover) = (None, route.is_by_tem());
        for (number, server) in route.first_ones() {
            match self.begin_at(&server, arguments, patience).await {
                Ok(client) => {
                    route.choose(number);
                    return Ok(client);
                }
                Err(error) if is_unreachable(&error) => {
                    may_recover |= error.is::<ClientError>();
                    if route.has_others() {
                        eprintln!("{error:#}; trying another DAC");
                    }
                    first_error = first_error.or(Some(error));
                }
                Err(error) => return Err(error),
            }
        }
        let error = first_error.context("there is no DAC")?;
        if !(route.has_others() && may_recover) {
            return Err(error);
        }
        let elsewhere = timeout(FIRST_DAC_TIMEOUT, self.go_on(route, arguments)).await;
        elsewhere.unwrap_or(Err(error))
    }

    /// Connects and asks for all instances.
    async fn begin_at(
        &mut self,
        server: &Server,
        arguments: &Tail,
        patience: Duration,
    ) -> anyhow::Result<Client> {
        let mut client = Client::connect_within(server, patience).await?;
        if self.followed.is_empty() {
            let targets = targets(&mut client, arguments).await?;
            self.followed = targets.into_iter().map(FollowedInstance::new).collect();
        }
        self.subscribe(&mut client, arguments).await?;
        Ok(client)
    }

    /// Asks for all instances that are not over, each where it ended before.
    async fn subscribe(&mut self, client: &mut Client, arguments: &Tail) -> anyhow::Result<()> {
        self.asked.clear();
        self.topics.clear();
        self.notes.clear();
        self.presence = Presence::of(self.nodes());
        for (index, followed) in self.followed.iter().enumerate().filter(|(_, followed)| !followed.is_over) {
            let request = subscription(&followed.target, followed.place.resume(), arguments);
            self.asked.insert(client.request(request).await?, index);
        }
        Ok(())
    }

    /// Prints what comes. Notices that the DAC is silent, and leaves it if there is another one; and also if all nodes are online elsewhere only.
    async fn follow(&mut self, client: &mut Client, route: &mut Route) -> anyhow::Result<Ending> {
        let mut pings = interval(PING_INTERVAL);
        pings.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let (mut heard, mut is_silent) = (Instant::now(), false);
        let has_others = route.has_others();
        let watch = json!({"op": "watch", "deltas": true, "statistics": false, "schemas": "inline"});
        if let Err(error) = client.request(watch).await {
            return Ok(Ending::Lost(error));
        }
        self.say_notes();
        while !(self.asked.is_empty() && self.topics.is_empty()) {
            let incoming = tokio::select! {
                incoming = client.next() => incoming,
                elsewhere = route.elsewhere(), if has_others && self.presence.is_away() => {
                    if elsewhere {
                        let address = client.address();
                        return Ok(Ending::Lost(anyhow!("{} is offline at {address}", self.presence)));
                    }
                    continue;
                }
                _ = pings.tick() => {
                    if heard.elapsed() > DAC_TIMEOUT && !is_silent {
                        let silence = format!("{} has said nothing for {} s", client.address(), DAC_TIMEOUT.as_secs_f64());
                        if has_others {
                            return Ok(Ending::Lost(anyhow!(silence)));
                        }
                        eprintln!("{silence}, waiting");
                        is_silent = true;
                    }
                    if let Err(error) = client.request(json!({"op": "ping", "client_time": 0})).await {
                        return Ok(Ending::Lost(error));
                    }
                    continue;
                }
            };
            heard = Instant::now();
            if std::mem::take(&mut is_silent) {
                eprintln!("{} answers again", client.address());
            }
            if let Some(ending) = self.on_incoming(incoming, client.address())? {
                return Ok(ending);
            }
        }
        Ok(Ending::Complete)
    }

    /// Takes what the DAC sends. Returns how following ends, if it does.
    fn on_incoming(
        &mut self,
        incoming: anyhow::Result<Option<Incoming>>,
        dac: &DacAddress,
    ) -> anyhow::Result<Option<Ending>> {
        match incoming {
            Ok(Some(Incoming::Batch(bytes))) => Ok(self.on_batch(&bytes)?.then_some(Ending::Complete)),
            Ok(Some(Incoming::Control(message))) => {
                self.on_message(&message)?;
                self.say_notes();
                Ok(None)
            }
            Ok(None) => Ok(Some(Ending::Lost(anyhow!("{dac} closed the connection")))),
            Err(error) => Ok(Some(Ending::Lost(error))),
        }
    }

    /// The nodes of all instances that are not over.
    fn nodes(&self) -> BTreeSet<String> {
        let left = self.followed.iter().filter(|followed| !followed.is_over);
        left.map(|followed| followed.target.node.clone()).collect()
    }

    /// Prints the notes, once all subscriptions are answered.
    fn say_notes(&mut self) {
        if self.asked.is_empty() {
            self.notes.drain(..).for_each(|note| eprintln!("{note}"));
        }
    }

    /// Tries the other DACs, again and again, until one has the instances.
    async fn go_on(&mut self, route: &mut Route, arguments: &Tail) -> anyhow::Result<Client> {
        let (lost, [mut pause, longest]) = (Instant::now(), RETRY_DELAYS);
        let mut said = String::new();
        loop {
            for (number, server) in route.others_first() {
                let is_any_enough = lost.elapsed() > OFFLINE_DAC_DELAY;
                let reason =
                    match timeout(SUBSCRIBE_TIMEOUT, self.resume_at(&server, arguments, is_any_enough)).await
                    {
                        Ok(Ok(client)) => {
                            eprintln!("going on at {}", server.url);
                            route.choose(number);
                            return Ok(client);
                        }
                        Ok(Err(error)) if is_broken_pipe(&error) => return Err(error),
                        Ok(Err(error)) => format!("{}: {error:#}", server.url),
                        Err(_) => format!("{}: no answer", server.url),
                    };
                if lost.elapsed() > OFFLINE_DAC_DELAY && reason != said {
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
        let mut client = self.begin_at(server, arguments, DAC_TIMEOUT).await?;
        let mut is_online = is_any_enough;
        while !self.asked.is_empty() {
            match client.next().await?.context("it closed the connection")? {
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
        if message["op"] == "registry_delta" {
            self.notes.extend(self.presence.take(message));
            return Ok(());
        }
        let topic = message["topic"].as_u64().and_then(|topic| u32::try_from(topic).ok());
        let asked = message["id"].as_i64().and_then(|id| self.asked.remove(&id));
        if let Some(index) = asked {
            let Some(followed) = self.followed.get_mut(index) else { return Ok(()) };
            let (Some("subscribed"), Some(topic)) = (message["op"].as_str(), topic) else {
                let reason = message["message"].as_str().unwrap_or("the DAC refused without a reason");
                if message["code"] == "unknown_instance" {
                    let reason = Visible(reason).to_string();
                    return Err(UnknownInstance { target: followed.target.clone(), reason }.into());
                }
                bail!("{}: {}", followed.target, Visible(reason));
            };
            followed.schema = Some(schema(&message["instance"]["schema"])?);
            followed.place.begin(message);
            if message["instance"]["state"] == "online" {
                self.presence.begin_online(&followed.target.node);
            }
            if self.printer.waits_for_a_sample() && message["instance"]["state"] == "offline" {
                let target = &followed.target;
                self.notes.push(format!(
                    "{target}: offline, waiting for it; -n 20 or --from -1h shows stored samples"
                ));
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
            Some("gaps_before") => {
                // One that a later DAC writes in another way is counted by the numbers.
                followed.gaps_before = Vec::deserialize(&message["gaps"]).unwrap_or_default();
                followed.gaps_before.retain(Gap::is_valid);
            }
            _ => {}
        }
        Ok(())
    }
}

impl FollowedInstance {
    fn new(target: Target) -> Self {
        Self {
            target,
            schema: None,
            place: FollowPosition::default(),
            gaps_before: Vec::new(),
            is_over: false,
        }
    }
}

fn schema(json: &Value) -> anyhow::Result<ProbeType> {
    serde_json::from_value(json.clone()).context("in the schema from the DAC")
}

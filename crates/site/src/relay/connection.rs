//! One conversation with an upstream: its registry, commands, and the lines that carry samples.

use super::{
    alarms::{AlarmForwarder, Connected},
    fetch::{FetchedItem, Fetcher},
    line::{Line, LineEvent, LineOrder},
    past::PastForwarder,
    upstream::UpstreamState,
    way::{UpstreamServer, understood},
};
use crate::client::{Client, Incoming};
use anyhow::{Context, anyhow};
use oasis_client::Server;
use oasis_dac::{ForwardedCommand, now};
use oasis_relay::{Change, Message, ResumePoints};
use oasis_wire::quantity::{Epoch, TopicId};
use std::{
    collections::{BTreeSet, HashMap},
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};
use tokio::{
    sync::mpsc,
    time::{Instant, Interval, MissedTickBehavior, interval},
};

/// Interval of pings.
const PING_INTERVAL: Duration = Duration::from_millis(500);
/// An upstream that says nothing for so long is given up.
const UPSTREAM_TIMEOUT: Duration = Duration::from_millis(1_500);
/// An upstream without a registry for so long is none.
const REGISTRY_TIMEOUT: Duration = Duration::from_secs(10);
/// Interval at which refused nodes are tried again, and subscriptions without readers end.
const HOUSEKEEPING_INTERVAL: Duration = Duration::from_secs(1);
/// Subscriptions of one line: some less than a DAC allows by default.
const MAX_LINE_SUBSCRIPTIONS: usize = 900;
/// Events of lines that may wait.
const EVENT_CAPACITY: usize = 1_024;

/// A conversation.
pub struct Connection {
    way: UpstreamServer,
    client: Client,
    epoch: Epoch,
    /// This clock minus the upstream's, nanoseconds, for the lines.
    clock_offset: Arc<AtomicI64>,
    lines: Vec<Line>,
    /// Which line has a topic.
    line_of: HashMap<TopicId, usize>,
    to_lines: mpsc::Sender<LineEvent>,
    from_lines: mpsc::Receiver<LineEvent>,
    /// Commands under way, by their requests.
    commands: HashMap<i64, ForwardedCommand>,
    fetcher: Fetcher,
    /// Why something was not fetched last.
    failed: String,
    asker: PastForwarder,
    alarm_asker: AlarmForwarder,
    /// Topics whose subscriptions the upstream has ended: they are tried again.
    lapsed: BTreeSet<TopicId>,
    began: Instant,
    heard: Instant,
}

impl Connection {
    /// Connects and asks for the registry.
    pub async fn open(
        server: &Server,
        token_file: Option<&Path>,
        kept: &mut UpstreamState,
    ) -> anyhow::Result<Self> {
        let way = UpstreamServer::new(server, token_file);
        let mut client = way.connect().await?;
        let welcome = understood(client.welcome().clone())?;
        let Message::Welcome { epoch, .. } = welcome else {
            return Err(anyhow!("it is no DAC, or a much older one"));
        };
        kept.mirror.take(welcome, now())?;
        let is_known = kept.mirror.is_known();
        client.request(kept.mirror.watch()).await?;
        if is_known {
            kept.mirror.list_all();
        }
        let fetcher = Fetcher::new(way.clone());
        let (to_lines, from_lines) = mpsc::channel(EVENT_CAPACITY);
        let (lines, line_of, commands) = Default::default();
        Ok(Self {
            asker: PastForwarder::new(way.clone()),
            alarm_asker: AlarmForwarder::new(way.clone()),
            way,
            client,
            epoch,
            clock_offset: Arc::default(),
            lines,
            line_of,
            to_lines,
            from_lines,
            commands,
            fetcher,
            failed: String::new(),
            lapsed: BTreeSet::new(),
            began: Instant::now(),
            heard: Instant::now(),
        })
    }

    /// Reads the alarms of the upstream, by its name, as long as the result lives.
    pub fn read_alarms(&self, kept: &UpstreamState, name: &str) -> Connected {
        let own = kept.mirror.upstream().dac().epoch();
        kept.alarms.connected(&self.way, name, self.epoch, own)
    }

    /// Runs until the connection ends. Returns why.
    pub async fn run(mut self, kept: &mut UpstreamState, note: impl Fn(Option<String>)) -> anyhow::Error {
        // Topics whose readers did not leave with the connection before.
        for topic in kept.interest.topics() {
            if let Some(wanted) = kept.interest.ended(topic) {
                let change = kept.interest.wants(topic, wanted, Duration::ZERO);
                if let Err(error) = self.change(kept, change).await {
                    return error;
                }
            }
        }
        let (mut pings, mut housekeeping) = (every(PING_INTERVAL), every(HOUSEKEEPING_INTERVAL));
        let mut noted = None;
        loop {
            if let Err(error) = self.step(kept, &mut pings, &mut housekeeping).await {
                return error;
            }
            let problem = kept.mirror.is_known().then(|| kept.mirror.problem());
            if let Some(problem) = problem.filter(|problem| noted.as_ref() != Some(problem)) {
                note(problem.clone());
                noted = Some(problem);
            }
        }
    }

    async fn step(
        &mut self,
        kept: &mut UpstreamState,
        pings: &mut Interval,
        housekeeping: &mut Interval,
    ) -> anyhow::Result<()> {
        self.fetcher.start_next(&mut kept.mirror)?;
        tokio::select! {
            incoming = self.client.next() => {
                let incoming = incoming?.context("the upstream closed the connection")?;
                self.heard = Instant::now();
                if let Incoming::Control(message) = incoming {
                    self.message(kept, understood(message)?)?;
                }
            }
            // A command that waited for the connection for too long was given up.
            Some(command) = kept.events.commands.recv() => {
                if command.answer.is_closed() {
                    return Ok(());
                }
                let request = self.client.request(oasis_relay::command(&command)).await?;
                self.commands.insert(request, command);
            }
            Some(topic) = kept.events.wanted.recv() => {
                let change = kept.note(topic);
                self.change(kept, change).await?;
            }
            Some(question) = kept.events.questions.recv() => self.asker.forward(question),
            Some(question) = kept.alarms.questions.recv() => self.alarm_asker.forward(question),
            Some(event) = self.from_lines.recv() => self.line_event(kept, event)?,
            fetched = self.fetcher.next() => self.fetched(kept, fetched),
            _ = pings.tick() => {
                if self.heard.elapsed() > UPSTREAM_TIMEOUT {
                    return Err(anyhow!("it has said nothing for {:.1} s", UPSTREAM_TIMEOUT.as_secs_f64()));
                }
                if !kept.mirror.is_known() && self.began.elapsed() > REGISTRY_TIMEOUT {
                    return Err(anyhow!("it has not sent its registry for {} s", REGISTRY_TIMEOUT.as_secs()));
                }
                self.client.request(kept.mirror.ping(now())).await?;
            }
            _ = housekeeping.tick() => {
                kept.mirror.retry();
                // Whoever sent them waits no more.
                self.commands.retain(|_, command| !command.answer.is_closed());
                self.abandon(kept)?;
                for topic in std::mem::take(&mut self.lapsed) {
                    let change = kept.note(topic);
                    self.change(kept, change).await?;
                }
                while let Some(change) = kept.expired() {
                    self.change(kept, Some(change)).await?;
                }
            }
        }
        Ok(())
    }

    /// A failed item is needed again at the next poll. Each reason is logged once.
    fn fetched(&mut self, kept: &mut UpstreamState, fetched: anyhow::Result<Option<FetchedItem>>) {
        match fetched {
            Ok(None) => {}
            Ok(Some(FetchedItem::Schema(hash, schema))) => kept.mirror.schema(&hash, *schema),
            Ok(Some(FetchedItem::Ledger(node, instance, ledger))) => {
                kept.mirror.ledger(&node, &instance, *ledger)
            }
            Err(error) => {
                let reason = format!("{error:#}");
                if reason != self.failed {
                    tracing::warn!("not fetched: {reason}");
                    self.failed = reason;
                }
            }
        }
    }

    fn message(&mut self, kept: &mut UpstreamState, message: Message) -> anyhow::Result<()> {
        match message {
            Message::Result { id, state } => {
                if let Some(command) = self.commands.remove(&id) {
                    // Fails only if the receiver is gone.
                    let _ = command.answer.send(Ok(state));
                }
            }
            Message::Error { id: Some(id), code, message } => {
                if let Some(command) = self.commands.remove(&id) {
                    let error = oasis_relay::refused(&command, &code, message);
                    let _ = command.answer.send(Err(error));
                }
            }
            Message::Error { id: None, message, .. } => return Err(anyhow!("it refused: {message}")),
            message => {
                kept.mirror.take(message, now())?;
                self.clock_offset.store(kept.mirror.clock_offset(), Ordering::Relaxed);
            }
        }
        Ok(())
    }

    fn line_event(&mut self, kept: &mut UpstreamState, event: LineEvent) -> anyhow::Result<()> {
        match event {
            LineEvent::Ended(topic) => {
                self.line_of.remove(&topic);
                if kept.interest.ended(topic).is_some() {
                    self.lapsed.insert(topic);
                }
                Ok(())
            }
            LineEvent::Closed(error) => Err(error),
        }
    }

    async fn change(&mut self, kept: &mut UpstreamState, change: Option<Change>) -> anyhow::Result<()> {
        let (topic, order) = match change {
            None => return Ok(()),
            // Its node has moved to another upstream, which is asked for it.
            Some(Change::Subscribe(topic, _)) if !kept.mirror.upstream().has(topic) => {
                kept.interest.ended(topic);
                return Ok(());
            }
            Some(Change::Subscribe(topic, wanted)) => {
                let Some(instance) = kept.mirror.upstream().dac().registry.instance(topic) else {
                    return Ok(());
                };
                self.place(topic, &kept.places).await?;
                (topic, LineOrder::Subscribe(instance, wanted))
            }
            Some(Change::Rate(topic, wanted)) => (topic, LineOrder::Rate(topic, wanted)),
            Some(Change::Unsubscribe(topic)) => (topic, LineOrder::Unsubscribe(topic)),
        };
        let is_end = matches!(order, LineOrder::Unsubscribe(_));
        let line = self.line_of.get(&topic).and_then(|index| self.lines.get(*index));
        if let Some(line) = line {
            line.order(order)?;
        }
        if is_end {
            self.line_of.remove(&topic);
        }
        Ok(())
    }

    /// Ends the subscriptions of nodes that have moved to another upstream.
    fn abandon(&mut self, kept: &mut UpstreamState) -> anyhow::Result<()> {
        let moved: Vec<_> =
            self.line_of.keys().copied().filter(|topic| !kept.mirror.upstream().has(*topic)).collect();
        for topic in moved {
            kept.interest.ended(topic);
            let line = self.line_of.remove(&topic).and_then(|index| self.lines.get(index));
            if let Some(line) = line {
                line.order(LineOrder::Abandon(topic))?;
            }
        }
        Ok(())
    }

    /// Gives a topic a line with room for it.
    async fn place(&mut self, topic: TopicId, places: &ResumePoints) -> anyhow::Result<()> {
        let mut load = vec![0_usize; self.lines.len()];
        for index in self.line_of.values() {
            if let Some(load) = load.get_mut(*index) {
                *load += 1;
            }
        }
        let index = match load.iter().position(|&load| load < MAX_LINE_SUBSCRIPTIONS) {
            Some(index) => index,
            None => {
                let client = self.way.connect().await?;
                let feed = oasis_relay::Feed::new(places.clone(), self.epoch);
                self.lines.push(Line::start(client, feed, self.clock_offset.clone(), self.to_lines.clone()));
                self.lines.len() - 1
            }
        };
        self.line_of.insert(topic, index);
        Ok(())
    }
}

fn every(period: Duration) -> Interval {
    let mut ticks = interval(period);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    ticks
}

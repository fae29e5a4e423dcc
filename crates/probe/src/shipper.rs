//! The node's shipper thread: keeps a connection to the DAC and sends what is in the outbox.
//!
//! The shipper owns the sending half of the channel; a listener thread for each connection owns the receiving half.

use crate::{
    announcement::Announcement,
    byte_budget::ByteBudget,
    clock::{ClockOffset, now_ns},
    link::{self, OpenLink},
    orders::{Order, OrderSender},
    outbox::{Outbox, OutboxState},
    spool::{MetDac, Shipment, Spool},
    survive,
};
use oasis_channel::{
    Backoff, Connector, DacMessage, Ended, Failure, NodeIdentity, NodeMessage, Outcome, Overhead, PROTOCOL,
    Receiver, Sender, TopicAssignment, Turn, frame::FrameError,
};
use oasis_wire::quantity::{Epoch, TopicId};
use std::{
    collections::BTreeMap,
    io,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

/// Code of a refusal because the DAC lacks what the channel needs, such as datagrams.
const UNSUPPORTED: &str = "unsupported";
/// Time that a node that shuts down, or has sent an earlier run, waits for the last acknowledgements.
const FAREWELL: Duration = Duration::from_secs(2);
/// Time that a node waits until a DAC that drains has acknowledged the batches in transit.
const DRAIN: Duration = Duration::from_secs(2);
/// Time that a node that has said goodbye waits for the DAC to close.
const LEAVE: Duration = Duration::from_millis(500);
/// Most batches in one write.
const BATCHES: usize = 256;
/// Code of a refusal because another node has the name.
const NAME_TAKEN: &str = "name_taken";
/// Time for which a node asks for its first name. A DAC gives it to the node's next process after three seconds.
const FIRST_NAME_TIMEOUT: Duration = Duration::from_secs(4);
/// Most DACs whose last failures are remembered.
const LOGGED: usize = 64;

/// Handling of commands.
#[derive(Debug, Clone)]
pub enum CommandHandling {
    /// The collector executes them.
    Pass(OrderSender),
    /// Refused: the run that they are for has ended.
    Refuse,
}

/// Receives why a DAC refuses the node.
pub type OnRefusal = Box<dyn FnMut(&Failure) + Send>;

/// Reactions to a refusal of the node.
#[derive(Default)]
pub struct Refusals {
    /// The identity under which the node tries again if its name is taken.
    pub second: Option<NodeIdentity>,
    /// Reports each new reason.
    pub report: Option<OnRefusal>,
}

impl std::fmt::Debug for Refusals {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Refusals").field("second", &self.second).finish_non_exhaustive()
    }
}

/// Runs until the outbox is closed.
pub fn run(
    connector: &mut dyn Connector,
    announcement: &Arc<Announcement>,
    orders: &CommandHandling,
    outbox: &Arc<Outbox>,
    (budget, refusals): (ByteBudget, Refusals),
) {
    let mut attempts = Attempts { attach: Some(0), refused: refusals, ..Attempts::new(budget) };
    // At least once: a program may end before this thread starts.
    loop {
        attempts.once(connector, announcement, orders, outbox);
        let is_ending = attempts.pause(outbox);
        if !attempts.take_second_name(outbox, is_ending) && is_ending {
            break;
        }
    }
    outbox.with(|held| held.ended = true);
}

/// Consecutive attempts to reach the DAC.
#[derive(Debug)]
pub struct Attempts {
    backoff: Backoff,
    /// The backoff before the next attempt.
    pause: Duration,
    /// Number of consecutive refusals by the DAC.
    pub refusals: u32,
    /// Epoch of the DAC at the last connection.
    epoch: Option<Epoch>,
    /// Whether the last attempt has reached the DAC.
    has_connected: bool,
    /// Number of the last attempt in the run. Unknown for the run of an earlier process, which has counted too.
    attach: Option<u64>,
    /// The last failure of each DAC that was logged. It is not logged again: a DAC may be away for days.
    logged: BTreeMap<String, String>,
    budget: ByteBudget,
    /// Reactions to a refusal.
    refused: Refusals,
    /// When the name was taken first.
    taken_since: Option<Instant>,
    /// The identity that the node has instead of the announced one.
    identity: Option<NodeIdentity>,
}

impl Attempts {
    /// Attempts for a run that an earlier process may have begun.
    pub fn new(budget: ByteBudget) -> Self {
        Self {
            backoff: Backoff::default(),
            pause: Duration::ZERO,
            refusals: 0,
            epoch: None,
            has_connected: false,
            attach: None,
            logged: BTreeMap::new(),
            budget,
            refused: Refusals::default(),
            taken_since: None,
            identity: None,
        }
    }

    /// Connects and sends until the connection ends, or everything is sent.
    pub fn once(
        &mut self,
        connector: &mut dyn Connector,
        announcement: &Arc<Announcement>,
        orders: &CommandHandling,
        outbox: &Arc<Outbox>,
    ) {
        let attempt = Instant::now();
        let ended = survive::call(|| self.converse(connector, announcement, orders, outbox))
            .inspect(|()| tracing::debug!("channel closed"));
        let is_refusal = |error: &io::Error| error.get_ref().is_some_and(|error| error.is::<Failure>());
        let is_refused = ended.as_ref().is_err_and(is_refusal);
        let has_connected = std::mem::take(&mut self.has_connected);
        let how = match ended.as_ref().map_err(Ended::of_attempt) {
            Err(Ended::Refused) => Ended::Refused,
            Err(how) if !has_connected => how,
            _ => Ended::Lost,
        };
        let target = connector.target();
        let turn = connector.turn(&how);
        let lasted = if is_refused { Duration::ZERO } else { attempt.elapsed() };
        self.pause = match turn {
            Turn::Next => self.backoff.before_another(lasted),
            Turn::RoundOver => self.backoff.after(lasted),
        };
        let Err(error) = ended else { return };
        if let Some(refusal) = refusal_of(&error) {
            self.on_refusal(refusal, outbox);
        }
        let (is_closing, is_received) = outbox.with(|held| (held.closing, held.spool.is_received()));
        if is_closing {
            if !is_received {
                self.log_last(&target, &error.to_string(), has_connected);
            }
            return;
        }
        self.refusals = if is_refused { self.refusals + 1 } else { 0 };
        self.log(target, &error.to_string(), has_connected, turn);
    }

    /// Notes why the node is refused, and reports it unless that is known, or the node has another name to try.
    fn on_refusal(&mut self, refusal: Failure, outbox: &Outbox) {
        let is_taken = refusal.code == NAME_TAKEN;
        if is_taken {
            self.taken_since.get_or_insert_with(Instant::now);
        }
        let before = outbox.with(|held| held.refused.replace(refusal.clone()));
        let is_known = before.is_some_and(|before| before.code == refusal.code);
        let has_another_name = is_taken && self.refused.second.is_some();
        if let Some(report) = self.refused.report.as_mut().filter(|_| !is_known && !has_another_name) {
            // Code of the program.
            survive::turn("report a refusal", || report(&refusal));
        }
    }

    /// Gives the node its second name if the first one is another node's for good, or the node ends. Returns whether it
    /// has: then there is another attempt.
    fn take_second_name(&mut self, outbox: &Outbox, is_ending: bool) -> bool {
        let is_taken = |held: &mut OutboxState| {
            !held.was_taken && held.refused.as_ref().is_some_and(|refusal| refusal.code == NAME_TAKEN)
        };
        let has_waited = self.taken_since.is_some_and(|since| since.elapsed() >= FIRST_NAME_TIMEOUT);
        if !(has_waited || is_ending) || !outbox.with(is_taken) {
            return false;
        }
        let Some(second) = self.refused.second.take() else { return false };
        tracing::warn!(name = second.name, "another node has the name of this one: it takes its second name");
        outbox.with(|held| held.refused = None);
        self.identity = Some(second);
        true
    }

    fn log(&mut self, target: String, error: &str, has_connected: bool, turn: Turn) {
        let retry_ms = self.pause.as_millis() as u64;
        let is_known = self.logged.get(&target).is_some_and(|logged| logged == error);
        if has_connected {
            tracing::warn!(target, error, retry_ms, "lost the connection to the DAC");
        } else if is_known {
            tracing::debug!(target, error, retry_ms, "cannot connect to the DAC");
        } else if turn == Turn::Next {
            tracing::warn!(target, error, "cannot connect to the DAC: trying another one");
        } else {
            tracing::warn!(target, error, "cannot connect to the DAC: retrying every second");
        }
        if self.logged.len() >= LOGGED {
            self.logged.clear();
        }
        self.logged.insert(target, error.into());
    }

    /// Logs the failure of an attempt of a program that ends, and whose last samples the DAC does not have.
    fn log_last(&self, target: &str, error: &str, has_connected: bool) {
        if has_connected {
            tracing::warn!(target, error, "lost the connection to the DAC before it had the last samples");
        } else if self.logged.get(target).is_none_or(|logged| logged != error) {
            tracing::warn!(target, error, "cannot connect to the DAC before the program ends");
        }
    }

    fn converse(
        &mut self,
        connector: &mut dyn Connector,
        announcement: &Arc<Announcement>,
        orders: &CommandHandling,
        outbox: &Arc<Outbox>,
    ) -> io::Result<()> {
        self.attach = self.attach.map(|last| last + 1);
        let hello = NodeMessage::Hello {
            protocol: PROTOCOL,
            node: self.identity.as_ref().unwrap_or(&announcement.identity).clone(),
            secret: announcement.secret,
            attach: self.attach,
            drains: true,
        };
        let mut dac = OpenLink::connect(connector, &[hello])?;
        let (announcement, register) = outbox.with(|held| {
            let announcement = held.announced(announcement);
            let register = announcement.registration(0, held.states());
            (announcement, register)
        });
        let keep = dac.safe_when.map(|_| NodeMessage::KeepUntilSafe);
        dac.sender.send(&keep.into_iter().chain([register]).collect::<Vec<_>>(), &[])?;
        let DacMessage::Registered { topics } = link::receive(&mut *dac.receiver)? else {
            return Err(link::unexpected());
        };
        let OpenLink { software, epoch, .. } = &dac;
        let (target, patience) = (connector.target(), connector.patience());
        let instances_there = topics.len();
        if self.logged.is_empty() {
            tracing::info!(target, %software, %epoch, instances = instances_there, "connected to the DAC");
        } else {
            // As loud as the warning before: otherwise that is the last word.
            tracing::warn!(target, "connected to the DAC again");
        }

        self.has_connected = true;
        self.logged.clear();
        let met = MetDac {
            is_new: self.set_epoch(*epoch, orders),
            safe_when: dac.safe_when,
            takes_ahead: dac.takes_ahead,
        };
        outbox.with(|held| {
            held.spool.connected(places(&topics, &announcement), met);
            held.registered(announcement.instances.len());
            held.broken = false;
            held.refused = None;
            held.was_taken = true;
            held.has_left = false;
            (held.draining, held.has_drained) = (false, false);
            held.has_waited = false;
            // Discard answers to a DAC that is gone.
            held.messages.clear();
        });
        let clock = Arc::new(Mutex::new(ClockOffset::default()));
        let mut link = {
            let (outbox, orders, clock) = (outbox.clone(), orders.clone(), clock.clone());
            dac.listen("oasis-listener", move |receiver| {
                // Whatever ends it, the shipper must not wait for acknowledgements any more.
                let ended = survive::call(|| listen(receiver, &outbox, &orders, &clock));
                outbox.with(|held| held.broken = true);
                ended
            })?
        };
        let sent = ship(&mut *link.sender, outbox, &clock, (patience.ping, &mut self.budget));
        if outbox.with(|held| held.has_drained) {
            tracing::info!(target, "left the DAC, which ends");
        }
        if sent.is_ok() {
            // The DAC closes when it has read the goodbye: after that the name is free for another node.
            drop(outbox.wait(LEAVE, |held| held.broken));
        }
        let heard = link.close();
        let has_left =
            |held: &mut OutboxState| held.closing || held.has_drained || (held.is_finite && held.is_sent());
        // The DAC's last message explains more than the failed write that it caused.
        if outbox.with(has_left) { sent } else { heard.and(sent) }
    }

    /// Returns whether the DAC is another one than before: it has none of the samples sent before.
    fn set_epoch(&mut self, epoch: Epoch, orders: &CommandHandling) -> bool {
        let is_new = self.epoch.replace(epoch).is_some_and(|before| before != epoch);
        if is_new && let CommandHandling::Pass(orders) = orders {
            orders.send(Order::NewDac);
        }
        is_new
    }

    /// Waits before the next attempt, longer each time. Returns whether the node is shutting down.
    pub fn pause(&mut self, outbox: &Outbox) -> bool {
        let (_held, closing) = outbox.wait(self.pause, |held| held.closing);
        closing
    }
}

/// Returns why a node is refused, if it will be refused again until the cause is removed.
fn refusal_of(error: &io::Error) -> Option<Failure> {
    let inner = error.get_ref();
    if let Some(refusal) = inner.and_then(|inner| inner.downcast_ref::<Failure>()) {
        return (!refusal.is_temporary()).then(|| refusal.clone());
    }
    if let Some(frame @ FrameError::Http) = inner.and_then(|inner| inner.downcast_ref()) {
        return Some(Failure::new(frame.code(), frame.to_string()));
    }
    (error.kind() == io::ErrorKind::Unsupported).then(|| Failure::new(UNSUPPORTED, error.to_string()))
}

/// The topics by the index of their instances.
fn places(topics: &[TopicAssignment], announcement: &Announcement) -> impl Iterator<Item = (usize, TopicId)> {
    topics.iter().filter_map(|assigned| Some((announcement.index_of(&assigned.instance)?, assigned.topic)))
}

fn listen(
    receiver: &mut dyn Receiver,
    outbox: &Outbox,
    orders: &CommandHandling,
    clock: &Mutex<ClockOffset>,
) -> io::Result<()> {
    let mut time = outbox.cpu.this_thread();
    loop {
        let answer = link::receive(receiver);
        time.settle();
        match answer? {
            DacMessage::Ack { topics } => outbox.with(|held| {
                topics.iter().for_each(|&(topic, sequence)| held.spool.acknowledge(topic, sequence));
            }),
            DacMessage::Safe { topics, .. } => outbox.with(|held| {
                topics.iter().for_each(|&(topic, sequence)| held.spool.safe(topic, sequence));
            }),
            DacMessage::KeptAhead { topics } => outbox.with(|held| {
                topics.iter().for_each(|&(topic, first)| held.spool.kept_ahead(topic, first));
            }),
            DacMessage::Pong { node_time, dac_time } => {
                let mut clock = clock.lock().unwrap_or_else(PoisonError::into_inner);
                clock.exchange(node_time, dac_time, now_ns());
                let offset = clock.estimate().map(|(offset, _)| offset);
                drop(clock);
                outbox.with(|held| held.clock_offset = offset.or(held.clock_offset));
            }
            DacMessage::Command { id, uuid, instance, command } => match orders {
                CommandHandling::Pass(orders) => {
                    orders.send(Order::Command { id, uuid, instance, command });
                }
                CommandHandling::Refuse => {
                    let failure = Failure::new(
                        "run_over",
                        "node is still sending batches of an earlier run: try again soon",
                    );
                    outbox.push(NodeMessage::Result { id, outcome: Outcome::Failed(failure) });
                }
            },
            DacMessage::Drain => outbox.with(|held| held.draining = true),
            DacMessage::Registered { topics } => {
                let was_asked = outbox.with(|held| {
                    let asked = held.asked_to_register()?;
                    held.spool.added(places(&topics, &asked));
                    held.registered(asked.instances.len());
                    Some(())
                });
                was_asked.ok_or_else(link::unexpected)?;
            }
            DacMessage::Welcome { .. } | DacMessage::Refused(_) => return Err(link::unexpected()),
        }
    }
}

/// Sends until the connection breaks or the node ends.
fn ship(
    sender: &mut dyn Sender,
    outbox: &Outbox,
    clock: &Mutex<ClockOffset>,
    (ping_interval, budget): (Duration, &mut ByteBudget),
) -> io::Result<()> {
    // Before any batch: drops before this connection are not its gaps.
    let counters = outbox.with(|held| held.counters());
    sender.send(&[NodeMessage::Counters { instances: counters }], &[])?;
    let mut next_ping = Instant::now();
    let mut time = outbox.cpu.this_thread();
    let (mut farewell, mut leave_by) = (None, None);
    loop {
        let now = Instant::now();
        let pause = budget.wait(now);
        let mut wait = next_ping.saturating_duration_since(now);
        if !pause.is_zero() {
            wait = wait.min(pause);
        }
        let (mut held, _) = outbox.wait(wait, |held| {
            held.broken
                || (pause.is_zero() && held.has_next())
                || !held.messages.is_empty()
                || held.must_register()
                || (held.closing && farewell.is_none())
                || (held.is_ending() && held.is_sent())
                || (held.is_leaving() && (leave_by.is_none() || held.spool.is_settled()))
        });
        if held.broken {
            return Ok(());
        }
        let mut control: Vec<NodeMessage> = held.messages.drain(..).collect();
        control.extend(held.registration());
        let may_send = pause.is_zero() && held.has_next();
        let (ahead, shipment) = if may_send { take(&mut held.spool, budget) } else { Default::default() };
        let ping_due = Instant::now() >= next_ping;
        let overhead = held.overhead.clone().filter(|_| ping_due);
        let (closing, is_on_dac_time) = (held.closing, held.is_on_dac_time);
        let begins_to_close = closing && farewell.is_none();
        if held.is_ending() && (closing || held.spool.is_received()) {
            let until = *farewell.get_or_insert_with(|| Instant::now() + FAREWELL);
            held.has_waited = Instant::now() >= until;
        }
        if held.is_leaving() {
            let until = *leave_by.get_or_insert_with(|| Instant::now() + DRAIN);
            held.has_drained = held.spool.is_settled() || Instant::now() >= until;
        }
        let has_drained = held.has_drained;
        let done = has_drained || (held.is_ending() && held.is_sent());
        let is_late = closing && held.has_waited;
        if shipment.tells_of_drops || ping_due || done || begins_to_close {
            control.push(NodeMessage::Counters { instances: held.counters() });
        }
        // Under the lock under which the counters were read: what is noted from here on needs another connection.
        held.has_left = done;
        drop(held);

        if done {
            let reason = if has_drained { "drain" } else { "shutdown" };
            control.push(NodeMessage::Goodbye { reason: reason.into() });
            let said = sender.send(&control, &[]);
            if said.is_err() {
                outbox.with(|held| held.has_left = false);
            }
            return said;
        }
        if ping_due {
            time.settle();
            control.push(ping(clock, overhead, is_on_dac_time));
            next_ping = Instant::now() + ping_interval;
        }
        if !ahead.is_empty() {
            sender.send_ahead(&ahead.iter().map(Vec::as_slice).collect::<Vec<_>>())?;
        }
        control.extend(shipment.releases.into_iter().map(NodeMessage::Release));
        let slices: Vec<&[u8]> = shipment.batches.iter().map(|batch| batch.as_slice()).collect();
        sender.send(&control, &slices)?;
        if is_late {
            let message = "DAC did not acknowledge the last samples";
            return Err(io::Error::new(io::ErrorKind::TimedOut, message));
        }
        for until in [farewell, leave_by].into_iter().flatten() {
            next_ping = next_ping.min(until);
        }
    }
}

/// Takes the next batches within the budget: those that go ahead, and those in order.
fn take(spool: &mut Spool, budget: &mut ByteBudget) -> (Vec<Vec<u8>>, Shipment) {
    let mut ahead = Vec::new();
    while let Some(batch) = spool.take_ahead() {
        let may_go_on = budget.spend(batch.len());
        ahead.push(batch);
        if !may_go_on {
            return (ahead, Shipment::default());
        }
    }
    (ahead, spool.take(BATCHES, |bytes| budget.spend(bytes)))
}

fn ping(clock: &Mutex<ClockOffset>, overhead: Option<Overhead>, is_on_dac_time: bool) -> NodeMessage {
    let estimate = clock.lock().unwrap_or_else(PoisonError::into_inner).estimate();
    NodeMessage::Ping {
        node_time: now_ns(),
        clock_offset_ns: estimate.map(|(offset, _)| if is_on_dac_time { 0 } else { offset }),
        round_trip_ns: estimate.map(|(_, round_trip)| round_trip),
        overhead,
    }
}

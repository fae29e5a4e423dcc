//! All shards: started, given their connections, more or fewer of them, ended.

use super::{
    autoscale::Autoscaler,
    balance,
    inbox::{IncomingConnection, PendingConnection},
    rates::Rates,
    roster::Roster,
    shard::SharedContext,
    thread,
};
use crate::{
    shard_choice::{MAX_SHARDS, ShardChoice, cores},
    shards_view::{ShardView, ShardsView},
};
use oasis_dac::ShardFigures;
use std::{
    collections::BTreeMap,
    io,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    time::{Duration, Instant},
};
use tokio::time::{MissedTickBehavior, interval};

/// Interval at which loads are measured.
const MEASURE_INTERVAL: Duration = Duration::from_secs(1);
/// Seconds for which shards must be uneven before connections move.
const UNEVEN_SECONDS: u32 = 3;

/// The shards of a DAC. When it is dropped they end.
#[derive(Debug)]
pub struct Shards {
    fleet: Arc<Fleet>,
}

#[derive(Debug)]
struct Fleet {
    around: SharedContext,
    roster: Arc<Roster>,
    /// Guards the number of wanted shards. Locked while threads are started, never while one is awaited.
    steering: Mutex<Steering>,
}

#[derive(Debug)]
struct Steering {
    choice: ShardChoice,
    autoscaler: Autoscaler,
    /// Seconds for which loads have been uneven.
    uneven_for: u32,
    last_tick: Instant,
    /// The counters of each shard at the last tick, and what it did in the second before.
    known: BTreeMap<usize, (ShardFigures, Rates)>,
    is_ending: bool,
}

impl Shards {
    /// Starts the configured number of threads. Must be called within a tokio runtime, which then looks after them.
    pub fn start(around: &SharedContext) -> io::Result<Self> {
        let choice = around.config.shards;
        let steering = Steering {
            choice,
            autoscaler: Autoscaler::default(),
            uneven_for: 0,
            last_tick: Instant::now(),
            known: BTreeMap::new(),
            is_ending: false,
        };
        let fleet = Arc::new(Fleet {
            around: around.clone(),
            roster: Arc::default(),
            steering: Mutex::new(steering),
        });
        fleet.resize(choice.initial())?;
        around.runtime.spawn(keep(Arc::downgrade(&fleet)));
        Ok(Self { fleet })
    }

    /// Passes a connection to the least loaded shard.
    pub fn accept(&self, newcomer: PendingConnection) {
        if self.fleet.roster.board(IncomingConnection::Pending(Box::new(newcomer)), None).is_err() {
            tracing::info!("a WebSocket was closed at its handshake: the DAC shuts down");
        }
    }

    /// Changes the number of shards. Shards that are too many hand over their connections before they end.
    ///
    /// # Errors
    /// If a thread cannot be started. Those that could be stay.
    pub fn choose(&self, choice: ShardChoice) -> io::Result<()> {
        let mut steering = self.fleet.steering();
        if steering.is_ending {
            return Ok(());
        }
        steering.choice = choice;
        steering.autoscaler = Autoscaler::default();
        match choice {
            // Autoscaling begins with the present shards.
            ShardChoice::Auto => self.fleet.resize(self.fleet.roster.open().len().min(cores())),
            ShardChoice::OnePerCore | ShardChoice::Fixed(_) => self.fleet.resize(choice.initial()),
        }
    }

    /// Returns the activity of the shards.
    pub fn view(&self) -> ShardsView {
        let steering = self.fleet.steering();
        let homes = self.fleet.roster.all();
        let threads = homes.iter().map(|home| {
            let rates = steering.known.get(&home.number).map(|(_, rates)| *rates);
            ShardView::new(home.meter.figures(), rates.unwrap_or_default())
        });
        ShardsView {
            choice: steering.choice,
            shards: homes.iter().filter(|home| !home.is_leaving()).count(),
            cores: cores(),
            most: MAX_SHARDS,
            threads: threads.collect(),
        }
    }

    /// Notifies every client that the DAC shuts down.
    pub fn end(&self) {
        self.fleet.steering().is_ending = true;
        self.fleet.roster.all().iter().for_each(|home| home.end());
    }
}

impl Drop for Shards {
    fn drop(&mut self) {
        self.end();
    }
}

/// Looks after the shards until they end.
async fn keep(fleet: Weak<Fleet>) {
    let mut ticks = interval(MEASURE_INTERVAL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        let Some(fleet) = fleet.upgrade() else { return };
        fleet.tick();
    }
}

impl Fleet {
    /// Starts or ends shards until there are `wanted`. Called under the lock of `steering`, or before the fleet is shared.
    fn resize(&self, wanted: usize) -> io::Result<()> {
        let open = self.roster.open();
        if let Some(too_many) = open.get(wanted..) {
            too_many.iter().for_each(|home| home.leave());
        }
        for _ in open.len()..wanted {
            thread::start(&self.around, &self.roster)?;
        }
        if (1..wanted).contains(&open.len()) {
            self.spread();
        }
        Ok(())
    }

    /// Lets the shards give connections to those that were just started.
    fn spread(&self) {
        let open = self.roster.open();
        let connections: Vec<_> = open.iter().map(|home| home.load().connections).collect();
        open.iter().zip(balance::surplus(&connections)).for_each(|(home, surplus)| home.shed(surplus));
    }

    /// Measures loads, and acts on them.
    fn tick(&self) {
        let mut steering = self.steering();
        if steering.is_ending {
            return;
        }
        self.measure(&mut steering);
        let open = self.roster.open();
        let loads: Vec<_> = open.iter().map(|home| home.load()).collect();
        if steering.choice == ShardChoice::Auto {
            let load = loads.iter().map(|load| load.cpu).sum();
            let wanted = steering.autoscaler.next(open.len(), load, cores());
            if wanted != open.len() {
                tracing::info!(
                    shards = wanted,
                    load_thousandths = load,
                    "the number of shards follows the load"
                );
                if let Err(error) = self.resize(wanted) {
                    tracing::error!(%error, "a shard cannot be started");
                }
                return;
            }
        }
        let plan = balance::plan(&loads);
        steering.uneven_for = if plan.is_some() { steering.uneven_for + 1 } else { 0 };
        if let Some(shift) = plan.filter(|_| steering.uneven_for >= UNEVEN_SECONDS) {
            steering.uneven_for = 0;
            open.get(shift.from).into_iter().for_each(|home| home.shed(shift.count));
        }
    }

    fn measure(&self, steering: &mut Steering) {
        let now = Instant::now();
        let elapsed = now.saturating_duration_since(steering.last_tick);
        steering.last_tick = now;
        let mut known = BTreeMap::new();
        for home in self.roster.all() {
            home.meter.end_window();
            let figures = home.meter.figures();
            let before = steering.known.get(&home.number).map(|(figures, _)| *figures);
            let rates = Rates::between(&before.unwrap_or_default(), &figures, elapsed);
            home.measured((rates.cpu * 1_000.0) as u32);
            known.insert(home.number, (figures, rates));
        }
        steering.known = known;
    }

    fn steering(&self) -> MutexGuard<'_, Steering> {
        self.steering.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;

//! Other ways for a DAC's samples to a browser, which the lab measures beside the doors: AJAX as the publications of 2012 had it, and servers of today.
//!
//! [`Records`] is a handler of the DAC. It turns each sample into a JSON record and gives it to one [`Outlet`]: a [`store`] that [`ajax`] polls, [`events`],
//! or a [`program`] of Node.js.

mod ajax;
mod events;
mod program;
mod store;

use anyhow::Context as _;
use axum::Router;
use clap::ValueEnum;
use events::Events;
use oasis_dac::{Cursor, Dac, Instance, Signal, StartAt};
use oasis_handler::{Context, Failure, Handler};
use oasis_wire::batch::Batch;
use program::Program;
use serde_json::{Value, json};
use std::{
    fmt,
    net::{IpAddr, SocketAddr},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};
use store::Store;
use tempfile::TempDir;
use tokio::net::TcpListener;

/// Interval between two polls of the topic logs.
const POLL_INTERVAL: Duration = Duration::from_millis(1);
/// Segments of a topic in one turn, so that no topic waits for another.
const SEGMENTS: usize = 16;

/// A kind of outlet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum OutletKind {
    /// AJAX over a flat file for each instance, as in the publications.
    File,
    /// AJAX over memory of the process.
    Memory,
    /// AJAX over a table of SQLite.
    Database,
    /// AJAX with native batches.
    Binary,
    /// axum's server-sent events.
    Events,
    /// Socket.IO.
    #[value(name = "socket.io")]
    SocketIo,
    /// Foxglove's WebSocket protocol.
    Foxglove,
}

impl fmt::Display for OutletKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.to_possible_value().map_or(Ok(()), |value| formatter.write_str(value.get_name()))
    }
}

/// Destination of records.
#[derive(Debug)]
enum Outlet {
    Store(Arc<Store>),
    Events(Arc<Events>),
    Program(Program),
}

/// An outlet that runs, until the process ends.
#[derive(Debug)]
pub struct Opened {
    /// Address at which browsers get the records.
    pub address: SocketAddr,
    /// Handler that fills it; none if it reads the topic logs itself.
    pub handler: Option<Arc<Records>>,
    /// Folder of its files.
    _folder: TempDir,
}

/// Opens an outlet at a free port of this address.
pub async fn open(kind: OutletKind, host: IpAddr, dac: &Arc<Dac>) -> anyhow::Result<Opened> {
    let folder = tempfile::tempdir()?;
    let handler = |outlet| Some(Arc::new(Records { outlet, given: AtomicU64::new(0) }));
    let (router, outlet) = match kind {
        OutletKind::File | OutletKind::Memory | OutletKind::Database => {
            let store = Arc::new(Store::open(kind, folder.path())?);
            (ajax::records(store.clone()), handler(Outlet::Store(store)))
        }
        OutletKind::Binary => (ajax::batches(dac.clone()), None),
        OutletKind::Events => {
            let events = Arc::default();
            (events::router(Arc::clone(&events)), handler(Outlet::Events(events)))
        }
        OutletKind::SocketIo | OutletKind::Foxglove => {
            let (program, address) = Program::start(&format!("{kind}.js"), host)?;
            return Ok(Opened { address, handler: handler(Outlet::Program(program)), _folder: folder });
        }
    };
    Ok(Opened { address: serve(router, host).await?, handler: outlet, _folder: folder })
}

async fn serve(router: Router, host: IpAddr) -> anyhow::Result<SocketAddr> {
    let listener = TcpListener::bind((host, 0)).await.context("no port for an outlet")?;
    let address = listener.local_addr()?;
    tokio::spawn(async move { axum::serve(listener, router).await });
    Ok(address)
}

/// Gives each sample to an outlet.
#[derive(Debug)]
pub struct Records {
    outlet: Outlet,
    given: AtomicU64,
}

impl Records {
    /// Reads new instances too, from now on; and no more what is gone.
    fn follow(&self, dac: &Dac, cursors: &mut Vec<Cursor>, signal: &Arc<Signal>) -> anyhow::Result<()> {
        let instances = dac.registry.instances();
        cursors.retain(|cursor| instances.iter().any(|known| known.topic == cursor.instance().topic));
        for instance in instances {
            if cursors.iter().all(|cursor| cursor.instance().topic != instance.topic) {
                if let Outlet::Program(program) = &self.outlet {
                    program.announce(&instance.name)?;
                }
                cursors.push(Cursor::new(instance, StartAt::Now, signal).0);
            }
        }
        Ok(())
    }

    fn forward(&self, cursor: &mut Cursor) -> anyhow::Result<()> {
        let instance = cursor.instance().clone();
        for segment in cursor.read(SEGMENTS).segments {
            let batch = Batch::parse(segment.batch(), &instance.probe_type)?;
            for sample in batch.samples() {
                let record = record(&instance, sample.sequence, sample.time, &sample.values);
                match &self.outlet {
                    Outlet::Store(store) => store.put(&instance.name, &record)?,
                    Outlet::Events(events) => events.put(&instance.name, record),
                    Outlet::Program(program) => program.put(&record)?,
                }
                self.given.fetch_add(1, Ordering::Relaxed);
            }
        }
        Ok(())
    }
}

/// A sample as the page gets it.
fn record(instance: &Instance, sequence: u64, time: u64, values: &[oasis_wire::value::Value]) -> String {
    let metrics = oasis_wire::value::to_json(&instance.probe_type, values);
    json!({
        "node": instance.node,
        "instance": instance.name,
        "type": instance.probe_type.name,
        "sequence": sequence,
        "time": time,
        "metrics": metrics,
    })
    .to_string()
}

impl Handler for Records {
    fn name(&self) -> &'static str {
        "records"
    }

    fn run(&self, context: Context) -> Result<(), Failure> {
        let signal = Arc::new(Signal::default());
        let mut cursors = Vec::new();
        while !context.stopping.wait_for(POLL_INTERVAL) {
            self.follow(&context.dac, &mut cursors, &signal)
                .and_then(|()| cursors.iter_mut().try_for_each(|cursor| self.forward(cursor)))
                .map_err(|error| Failure(error.to_string()))?;
        }
        Ok(())
    }

    fn state(&self) -> Value {
        json!({"given": self.given.load(Ordering::Relaxed)})
    }
}

//! One cell: start everything, let the probes begin, watch the page, and end as the test wants.

use super::{
    super::{browser::Browser, devtools::DevTools, live, monitor::Monitor, relay::Relay, site::Site},
    daemon::{INSTANCES, NODE},
    pages::{self, PageReport},
    settings::{Settings, Test},
    summary::{self, MemoryReading, Observed},
};
use crate::{
    child::Child,
    cpu, dac_http,
    experiment::{Cell, CellContext, Interrupt, Measured},
    overhead::Tap,
};
use anyhow::{Context, bail};
use std::{
    fs,
    path::Path,
    thread,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

/// Seed of the way's delays.
const DELAY_SEED: u64 = 1;
/// Interval between two polls of Ctrl-C and the page.
const POLL_INTERVAL: Duration = Duration::from_millis(100);
/// Timeout of the browser to show the page.
const PAGE_TIMEOUT: Duration = Duration::from_secs(60);
/// From the page's first report until the probes begin: its connections are open then.
const SETTLE_TIME: Duration = Duration::from_secs(1);
/// A page that gets nothing more for so long has all that it will get.
const QUIET_TIMEOUT: Duration = Duration::from_secs(2);
/// Timeout of late samples; a page that has not received them by then has lost them.
const LATE_SAMPLE_TIMEOUT: Duration = Duration::from_secs(20);

/// Everything that runs.
struct Bench<'a> {
    dac: Child,
    _daemon: Child,
    site: Site<PageReport>,
    browser: Browser,
    relay: Option<Relay>,
    newest: PageReport,
    context: &'a CellContext<'a>,
}

/// Measures a door.
pub fn measure(
    cell: &Cell,
    settings: &Settings,
    folder: &Path,
    context: &CellContext<'_>,
) -> anyhow::Result<Measured> {
    fs::create_dir_all(folder)?;
    let mut bench = Bench::start(settings, context)?;
    let mut node = context.node(cell, 0)?;
    let seen = live::server(node.server.take(), Vec::new());
    let monitor = Monitor::start(vec![bench.dac.pid()], Vec::new(), seen);
    let tap = bench.tap();
    let began = Instant::now();
    command(&bench.dac, "enable")?;
    let memory = bench.run(settings, began)?;
    let seconds = began.elapsed().as_secs_f64();
    let at_end = bench.newest.clone();
    let traffic = tap.map(Tap::stop).transpose()?;
    // Samples that come later were late, and samples that never come are lost.
    if settings.test == Test::Throughput {
        bench.wait_until_quiet()?;
    }
    let in_the_end = bench.newest.received();
    let sent = bench.sent()?;
    let watched = monitor.stop();
    node.finish();
    let delays = bench.relay.as_ref().map(Relay::take_delays).unwrap_or_default();
    Ok(summary::measured(
        settings,
        &Observed { page: at_end, in_the_end, sent, memory, traffic, delays, watched, seconds },
    ))
}

/// Processes besides the browser.
struct Stage {
    site: Site<PageReport>,
    dac: Child,
    daemon: Child,
    /// Between the page and its door, if there is a way.
    relay: Option<Relay>,
    /// The address of the page.
    page: String,
}

impl Stage {
    fn start(settings: &Settings) -> anyhow::Result<Self> {
        let site = Site::start(pages::router())?;
        let origin = site.origin();
        let mut arguments = vec!["serve", "dac", "--origin", &origin];
        let outlet = settings.door.outlet().map(|kind| kind.to_string());
        arguments.extend(outlet.iter().flat_map(|kind| ["--outlet", kind]));
        let dac = Child::lab(cpu::SERVERS, &arguments)?;
        let hertz = settings.rate.to_string();
        let flushes = settings.flushes().map(|flushes| flushes.to_string());
        let mut arguments =
            vec!["daemon", dac.place(1)?, "--hertz", &hertz, "--source", settings.source.name()];
        arguments.extend(flushes.iter().flat_map(|flushes| ["--flushes", flushes]));
        let daemon = Child::lab(cpu::CLIENTS, &arguments)?;
        wait_until_known(dac.place(0)?)?;
        // A door of the DAC is no outlet.
        let (mut doors, mut outlet) = (dac.place(0)?.to_owned(), dac.place(2).or(dac.place(0))?.to_owned());
        let door = if settings.door.outlet().is_some() { &mut outlet } else { &mut doors };
        let relay = match settings.link.mean > 0.0 {
            true => Some(Relay::start(door.parse()?, settings.link, DELAY_SEED)?),
            false => None,
        };
        if let Some(relay) = &relay {
            *door = relay.address().to_string();
        }
        let page = format!("{origin}/?{}", pages::query(&doors, &outlet, settings));
        Ok(Self { site, dac, daemon, relay, page })
    }
}

/// Serves the dashboard, with probes at work, until the run is interrupted.
pub fn show(
    settings: &Settings,
    interrupt: &Interrupt,
    say: &dyn Fn(&str) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    // The generator ends by itself otherwise.
    let settings = Settings { test: Test::Throughput, ..settings.clone() };
    let stage = Stage::start(&settings)?;
    command(&stage.dac, "enable")?;
    say(&stage.page)?;
    while !interrupt.is_set() {
        // A page's measurements are for its reader.
        stage.site.result(POLL_INTERVAL);
    }
    Ok(())
}

/// Sends a command to both probes.
fn command(dac: &Child, command: &str) -> anyhow::Result<()> {
    let mut instances = INSTANCES.iter();
    instances.try_for_each(|(_, instance)| dac_http::command(dac.place(0)?, NODE, instance, command))
}

impl<'a> Bench<'a> {
    fn start(settings: &Settings, context: &'a CellContext<'a>) -> anyhow::Result<Self> {
        let Stage { site, dac, daemon, relay, page } = Stage::start(settings)?;
        let browser = Browser::open(settings.browser, &page)?;
        let mut bench =
            Self { dac, _daemon: daemon, site, browser, relay, newest: PageReport::default(), context };
        let until = Instant::now() + PAGE_TIMEOUT;
        while bench.newest.browser.is_empty() {
            bench.poll_page()?;
            if Instant::now() > until {
                bail!("the page has reported nothing");
            }
        }
        thread::sleep(SETTLE_TIME);
        Ok(bench)
    }

    /// Counts what passes between page and DAC, if this process may capture packets.
    fn tap(&self) -> Option<Tap> {
        let places = [self.dac.place(0), self.dac.place(2)].into_iter().flatten();
        let ports = places.filter_map(|place| place.rsplit_once(':')?.1.parse().ok());
        Tap::start(ports.collect()).ok()
    }

    /// Waits for the page's next report, or a little.
    fn poll_page(&mut self) -> anyhow::Result<()> {
        self.context.interrupt.check()?;
        self.browser.check()?;
        if let Some(report) = self.site.result(POLL_INTERVAL) {
            self.newest = report;
        }
        Ok(())
    }

    /// Runs until the test is over. Returns the memory of the tab.
    fn run(&mut self, settings: &Settings, began: Instant) -> anyhow::Result<Vec<MemoryReading>> {
        let is_memory = settings.test == Test::Memory;
        let mut tools = if is_memory { self.browser.tools()? } else { None };
        let interval = settings.length() / u32::try_from(settings.readings).unwrap_or(u32::MAX);
        let mut memory = Vec::new();
        while began.elapsed() < settings.length() {
            self.poll_page()?;
            let due = interval * u32::try_from(memory.len()).unwrap_or(u32::MAX);
            if is_memory && began.elapsed() >= due {
                memory.push(self.read_memory(tools.as_mut(), began)?);
            }
        }
        if settings.test == Test::Throughput {
            command(&self.dac, "disable")?;
            // The state of the page at the end of the time counts: its first report after that.
            let ended = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs_f64() * 1e3;
            while self.newest.at <= ended {
                self.poll_page()?;
            }
        } else {
            self.wait_until_quiet()?;
        }
        Ok(memory)
    }

    /// Reads the memory of the tab as the publications did; then that of its scripts, after their garbage was collected.
    fn read_memory(&self, tools: Option<&mut DevTools>, began: Instant) -> anyhow::Result<MemoryReading> {
        let tab = self.browser.tab_memory();
        Ok(MemoryReading {
            at: began.elapsed().as_secs_f64(),
            samples: self.newest.received(),
            tab,
            heap: tools.map(DevTools::heap).transpose()?,
            held: self.newest.instances.iter().map(|shown| shown.held).sum(),
        })
    }

    fn wait_until_quiet(&mut self) -> anyhow::Result<()> {
        let (mut received, mut since) = (self.newest.received(), Instant::now());
        let until = since + LATE_SAMPLE_TIMEOUT;
        while since.elapsed() < QUIET_TIMEOUT && Instant::now() < until {
            self.poll_page()?;
            if self.newest.received() != received {
                (received, since) = (self.newest.received(), Instant::now());
            }
        }
        Ok(())
    }

    /// Samples that each instance has sent.
    fn sent(&self) -> anyhow::Result<Vec<u64>> {
        let last = |(_, instance): &(&str, &str)| {
            let ledger =
                dac_http::ledger(self.dac.place(0)?, instance)?.context("an instance without a ledger")?;
            ledger["last_sequence"].as_u64().context("a ledger without a last sequence number")
        };
        INSTANCES.iter().map(last).collect()
    }
}

/// Waits until the DAC lists both instances.
fn wait_until_known(dac: &str) -> anyhow::Result<()> {
    let until = Instant::now() + PAGE_TIMEOUT;
    for (_, instance) in INSTANCES {
        while dac_http::ledger(dac, instance)?.is_none() {
            thread::sleep(POLL_INTERVAL);
            if Instant::now() > until {
                bail!("the DAC does not list {instance}");
            }
        }
    }
    Ok(())
}

//! One cell: start everything, let the probes begin, watch the page, and end as the test wants.

use super::{
    super::{browser::Browser, live, monitor::Monitor, site::Site},
    daemon::{INSTANCES, NODE},
    pages::{self, PageReport},
    settings::{Settings, Test},
    summary::{self, Observed},
};
use crate::{
    child::Child,
    cpu, dac_http,
    experiment::{Cell, Interrupt, Measured, Surroundings},
    overhead::Tap,
};
use anyhow::{Context, bail};
use oasis_instrument::Rate;
use std::{
    fs,
    path::Path,
    thread,
    time::{Duration, Instant},
};

/// How often Ctrl-C and the page are looked at.
const LOOK: Duration = Duration::from_millis(100);
/// How long the browser may take to show the page.
const PATIENCE: Duration = Duration::from_secs(60);
/// From the page's first report until the probes begin: its connections are open then.
const SETTLING: Duration = Duration::from_secs(1);
/// A page that gets nothing more for so long has all that it will get.
const QUIET: Duration = Duration::from_secs(2);

/// Everything that runs.
struct Bench<'a> {
    dac: Child,
    _daemon: Child,
    site: Site<PageReport>,
    browser: Browser,
    newest: PageReport,
    surroundings: &'a Surroundings<'a>,
}

/// Measures a door.
pub fn measure(
    cell: &Cell,
    settings: &Settings,
    folder: &Path,
    surroundings: &Surroundings<'_>,
) -> anyhow::Result<Measured> {
    fs::create_dir_all(folder)?;
    let mut bench = Bench::start(settings, surroundings)?;
    let mut node = surroundings.node(cell, 0)?;
    let seen = live::server(node.server.take(), Vec::new());
    let monitor = Monitor::start(vec![bench.dac.pid()], Vec::new(), seen);
    let tap = bench.tap();
    let began = Instant::now();
    command(&bench.dac, "enable")?;
    let memory = bench.run(settings, began)?;
    let at_end = bench.newest.clone();
    let seconds = began.elapsed().as_secs_f64();
    let traffic = tap.map(Tap::stop).transpose()?;
    let sent = bench.sent()?;
    let watched = monitor.stop();
    node.finish();
    Ok(summary::measured(settings, &Observed { page: at_end, sent, memory, traffic, watched, seconds }))
}

/// What runs besides the browser.
struct Stage {
    site: Site<PageReport>,
    dac: Child,
    daemon: Child,
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
        let hertz = match settings.rate {
            Rate::Max => "max".to_owned(),
            Rate::Hertz(hertz) => hertz.to_string(),
        };
        let flushes = settings.flushes().map(|flushes| flushes.to_string());
        let mut arguments = vec!["daemon", dac.place(1)?, "--hertz", &hertz];
        arguments.extend(flushes.iter().flat_map(|flushes| ["--flushes", flushes]));
        let daemon = Child::lab(cpu::CLIENTS, &arguments)?;
        wait_until_known(dac.place(0)?)?;
        // A door of the DAC is no outlet.
        let outlet = dac.place(2).or(dac.place(0))?;
        let page = format!("{origin}/?{}", pages::query(dac.place(0)?, outlet, settings));
        Ok(Self { site, dac, daemon, page })
    }
}

/// Serves the dashboard, with probes at work, until the run is interrupted.
pub fn show(
    settings: &Settings,
    interrupt: &Interrupt,
    say: &dyn Fn(&str) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    // It ends by itself otherwise.
    let settings = Settings { test: Test::Throughput, ..settings.clone() };
    let stage = Stage::start(&settings)?;
    command(&stage.dac, "enable")?;
    say(&stage.page)?;
    while !interrupt.is_set() {
        // What a page has measured is for its reader.
        stage.site.result(LOOK);
    }
    Ok(())
}

/// Sends a command to both probes.
fn command(dac: &Child, command: &str) -> anyhow::Result<()> {
    let mut instances = INSTANCES.iter();
    instances.try_for_each(|(_, instance)| dac_http::command(dac.place(0)?, NODE, instance, command))
}

impl<'a> Bench<'a> {
    fn start(settings: &Settings, surroundings: &'a Surroundings<'a>) -> anyhow::Result<Self> {
        let Stage { site, dac, daemon, page } = Stage::start(settings)?;
        let browser = Browser::open(settings.browser, &page)?;
        let mut bench =
            Self { dac, _daemon: daemon, site, browser, newest: PageReport::default(), surroundings };
        let until = Instant::now() + PATIENCE;
        while bench.newest.browser.is_empty() {
            bench.look()?;
            if Instant::now() > until {
                bail!("the page has reported nothing");
            }
        }
        thread::sleep(SETTLING);
        Ok(bench)
    }

    /// Counts what passes between page and DAC, if this process may capture packets.
    fn tap(&self) -> Option<Tap> {
        let places = [self.dac.place(0), self.dac.place(2)].into_iter().flatten();
        let ports = places.filter_map(|place| place.rsplit_once(':')?.1.parse().ok());
        Tap::start(ports.collect()).ok()
    }

    /// Waits for the page's next report, or a little.
    fn look(&mut self) -> anyhow::Result<()> {
        self.surroundings.interrupt.check()?;
        self.browser.check()?;
        if let Some(report) = self.site.result(LOOK) {
            self.newest = report;
        }
        Ok(())
    }

    /// Runs until the test is over. Returns the memory of the tab: seconds since the beginning, and bytes.
    fn run(&mut self, settings: &Settings, began: Instant) -> anyhow::Result<Vec<(f64, u64)>> {
        let interval = settings.length() / u32::try_from(settings.readings).unwrap_or(u32::MAX);
        let mut memory = Vec::new();
        while began.elapsed() < settings.length() {
            self.look()?;
            let due = interval * u32::try_from(memory.len()).unwrap_or(u32::MAX);
            if settings.test == Test::Memory && began.elapsed() >= due {
                memory.push((began.elapsed().as_secs_f64(), self.browser.tab_memory()?));
            }
        }
        if settings.test == Test::Throughput {
            command(&self.dac, "disable")?;
            // What the page has at the end of the time is what counts: its next report.
            let at = self.newest.at;
            while self.newest.at <= at {
                self.look()?;
            }
        } else {
            self.wait_until_quiet()?;
        }
        Ok(memory)
    }

    fn wait_until_quiet(&mut self) -> anyhow::Result<()> {
        let (mut received, mut since) = (self.newest.received(), Instant::now());
        while since.elapsed() < QUIET {
            self.look()?;
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
    let until = Instant::now() + PATIENCE;
    for (_, instance) in INSTANCES {
        while dac_http::ledger(dac, instance)?.is_none() {
            thread::sleep(LOOK);
            if Instant::now() > until {
                bail!("the DAC does not list {instance}");
            }
        }
    }
    Ok(())
}

//! One cell: start DAC, sensor, relay and pages, open the browser, wait for its results.

use super::{
    super::{browser::Browser, live, monitor::Monitor, relay::Relay, site::Site},
    pages::{self, PageResult},
    settings::{Door, Settings},
    summary,
};
use crate::{
    child::Child,
    cpu,
    experiment::{Cell, CellContext, Interrupt, Measured},
};
use anyhow::{Context, bail, ensure};
use std::{
    fs,
    path::Path,
    time::{Duration, Instant},
};

/// Starting the browser, slow readings, the clocks.
const GRACE: Duration = Duration::from_secs(60);
/// Interval between two polls of Ctrl-C and the browser.
const POLL_INTERVAL: Duration = Duration::from_millis(200);
/// The publication's limit for the difference of the clocks, milliseconds.
const MOST_OFFSET: f64 = 2.0;

/// Processes besides the browser.
struct Stage {
    site: Site<PageResult>,
    /// A DAC, or the bare server.
    server: Child,
    /// The sensor of a DAC.
    _sensor: Option<Child>,
    relay: Relay,
}

impl Stage {
    fn start(settings: &Settings) -> anyhow::Result<Self> {
        let site = Site::start(pages::router())?;
        let (server, sensor) = if settings.doors == [Door::Bare] {
            (Child::lab(cpu::SERVERS, &["bare-wind"])?, None)
        } else {
            let dac = Child::lab(cpu::SERVERS, &["serve", "dac", "--origin", &site.origin()])?;
            let sensor = Child::lab(cpu::CLIENTS, &["sensor", dac.place(1)?])?;
            (dac, Some(sensor))
        };
        let relay = Relay::start(server.place(0)?.parse()?, settings.link, settings.seed)?;
        Ok(Self { site, server, _sensor: sensor, relay })
    }

    /// The page that shows these doors.
    fn address(&self, doors: &[Door], settings: &Settings) -> anyhow::Result<String> {
        let query = pages::query(self.relay.address(), settings)?;
        Ok(format!("{}{}?{query}", self.site.origin(), pages::path(doors)))
    }
}

/// Serves the pages until the run is interrupted.
pub fn show(
    settings: &Settings,
    interrupt: &Interrupt,
    say: &dyn Fn(&str) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let stage = Stage::start(settings)?;
    let doors = if settings.doors == [Door::Bare] { &[Door::Bare][..] } else { &Door::OF_A_DAC };
    for &door in doors {
        say(&format!("{:9} {}", door.name(), stage.address(&[door], settings)?))?;
    }
    while !interrupt.is_set() {
        // A page's measurements are for its reader.
        stage.site.result(POLL_INTERVAL);
    }
    Ok(())
}

/// Measures some doors.
pub fn measure(
    cell: &Cell,
    settings: &Settings,
    folder: &Path,
    context: &CellContext<'_>,
) -> anyhow::Result<Measured> {
    let stage = Stage::start(settings)?;
    let Stage { site, server, relay, .. } = &stage;
    let mut node = context.node(cell, 0)?;
    let seen = live::server(node.server.take(), Vec::new());
    let monitor = Monitor::start(vec![server.pid()], Vec::new(), seen);
    let mut browser = Browser::open(settings.browser, &stage.address(&settings.doors, settings)?)?;
    let results = wait(site, &mut browser, settings, context)?;
    drop(browser);
    let watched = monitor.stop();
    node.finish();
    fs::create_dir_all(folder)?;
    for result in &results {
        check(result, settings)?;
        let file = folder.join(format!("{}.json", result.door));
        fs::write(&file, serde_json::to_vec(&result.latencies)?)
            .with_context(|| format!("cannot write {}", file.display()))?;
    }
    Ok(summary::measured(settings, &results, &relay.take_delays(), &watched))
}

/// Waits until each door has posted its readings.
fn wait(
    site: &Site<PageResult>,
    browser: &mut Browser,
    settings: &Settings,
    context: &CellContext<'_>,
) -> anyhow::Result<Vec<PageResult>> {
    let until = Instant::now() + settings.length() + GRACE;
    let mut results = Vec::new();
    while results.len() < settings.doors.len() {
        context.interrupt.check()?;
        browser.check()?;
        results.extend(site.result(POLL_INTERVAL));
        if Instant::now() > until {
            bail!("{} of {} pages have posted their readings", results.len(), settings.doors.len());
        }
    }
    Ok(results)
}

/// The publication refuses a run whose clocks differ before it or after it.
fn check(result: &PageResult, settings: &Settings) -> anyhow::Result<()> {
    ensure!(result.error.is_empty(), "{}: {}", result.door, result.error);
    ensure!(result.latencies.len() == settings.readings, "{}: readings are missing", result.door);
    let [before, after] = result.offsets;
    ensure!(
        before.abs() < MOST_OFFSET && after.abs() < MOST_OFFSET,
        "{}: the clocks of browser and server differ by {before:.2} ms before and {after:.2} ms after the run, at most {MOST_OFFSET} ms are allowed",
        result.door
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{super::tests::settings, *};

    fn result(offsets: [f64; 2]) -> PageResult {
        let latencies = vec![40.0; settings("poll").readings];
        PageResult {
            door: "poll".into(),
            latencies,
            delivered_after: 300_000.0,
            handovers: Vec::new(),
            offsets,
            browser: String::new(),
            error: String::new(),
        }
    }

    #[test]
    fn a_run_is_refused_if_the_clocks_differ_before_it_or_after_it() {
        let settings = settings("poll");
        assert!(check(&result([1.9, -1.9]), &settings).is_ok());
        for offsets in [[2.0, 0.0], [0.0, -2.1], [f64::NAN, 0.0]] {
            let refusal = check(&result(offsets), &settings).expect_err("other clocks").to_string();
            assert!(refusal.contains("clocks"), "{refusal}");
        }
    }

    #[test]
    fn a_run_is_refused_without_all_its_readings() {
        let settings = settings("poll");
        let mut short = result([0.0; 2]);
        short.latencies.pop();
        assert!(check(&short, &settings).is_err());
        let failed = PageResult { error: "Error: closed".into(), ..result([0.0; 2]) };
        assert!(check(&failed, &settings).expect_err("an error").to_string().contains("closed"));
    }
}

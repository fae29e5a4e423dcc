//! One cell, in the order of the study's runner: start the server, watch it, set up logging and event, load it, wait until the summary rests, clean up.

use super::{
    super::{fleet::Fleet, live, monitor::Monitor},
    archive::{Collector, UploadAddress},
    clock::now_ms,
    load::{LOAD, Orders},
    rival, summary,
    test_plan::TestPlan,
};
use crate::{
    child::Child,
    dac_http,
    experiment::{Cell, CellContext, Hosts, Measured},
};
use anyhow::Context;
use serde_json::Value;
use std::{fs, net::SocketAddr, path::Path, time::Duration};

/// Most connections of one process of the load: half of what many machines allow.
const MOST_OF_A_PROCESS: usize = 10_000;
/// Time for late answers, of which there are none unless machine or server stall.
const GRACE: Duration = Duration::from_secs(15);

/// Measures a server. No other server runs: each cell stops its own.
pub fn measure(
    cell: &Cell,
    plan: &TestPlan,
    folder: &Path,
    context: &CellContext<'_>,
) -> anyhow::Result<Measured> {
    let server = &cell.server;
    let process = rival::start(server, plan, folder).with_context(|| format!("cannot start {server}"))?;
    let address = process.place(0)?.to_owned();
    let idle = process.resident()?;
    set_up(&address, plan)?;
    let offset = clock_offset(&address)?;
    let mut node = context.node(cell, 0)?;
    let seen = live::server(node.server.take(), Vec::new());
    let monitor = Monitor::start(vec![process.pid()], Vec::new(), seen);
    let collector = collector(plan, folder, context)?;
    let archive = collector.as_ref().map(Collector::address).transpose()?;
    // Each host has its part of the load.
    let fewest = context.hosts.map_or(1, Hosts::count);
    let orders = orders(plan, fewest, address.parse()?, offset, archive.as_ref());
    let longest = plan.test_duration + plan.longest_answer() + GRACE;
    let mut fleet = Fleet::start(LOAD, &orders, longest, context.hosts)?;
    let summary = fleet.wait(context.interrupt, live::load(node.load.take()))?;
    clean_up(&address, plan)?;
    let watched = monitor.stop();
    stop(process);
    node.finish();
    let mut measured = summary::measured(plan, &summary, &watched, idle);
    if let Some(collector) = &collector {
        let archived = collector.collect(orders.len(), summary.tally.answers(), context.interrupt)?;
        measured.measures.insert("archived_answers".into(), archived as f64);
    }
    rival::measure_memory(folder, &mut measured);
    keep(plan, folder, &measured)?;
    Ok(measured)
}

/// The test plan's first group: logging, and the event if there is one.
fn set_up(address: &str, plan: &TestPlan) -> anyhow::Result<()> {
    dac_http::get(address, &format!("/log?enabled={}", plan.logging_enabled)).context("the call to log")?;
    if let Some((name, interval)) = &plan.event {
        let call = format!("/event/set?name={name}&interval={}", interval.as_millis());
        dac_http::get(address, &call).context("the call to set the event")?;
    }
    Ok(())
}

/// The test plan's time stamp: milliseconds that the server's clock is ahead of the load's.
fn clock_offset(address: &str) -> anyhow::Result<f64> {
    let before = now_ms();
    let answer =
        dac_http::get(address, &format!("/timestamp?client={before:.0}")).context("the call for the time")?;
    let server = answer["server"].as_f64().context("the time stamper returned no time")?;
    let offset = server - f64::midpoint(before, now_ms());
    // The stamp has whole milliseconds: on one machine both clocks are the same.
    Ok(if offset.abs() < 2.0 { 0.0 } else { offset })
}

/// The test plan's last group.
fn clean_up(address: &str, plan: &TestPlan) -> anyhow::Result<()> {
    if plan.event.is_some() {
        let _: Value = dac_http::get(address, "/event/clear").context("the call to clear events")?;
    }
    Ok(())
}

/// The process ends when it is dropped.
fn stop(process: Child) {
    drop(process);
}

/// The archive of a cell's answers, `RUN-CELL.jsonl.gz`, where `REQUEST_RESPONSE_LOG_DIR` says.
fn collector(plan: &TestPlan, folder: &Path, context: &CellContext<'_>) -> anyhow::Result<Option<Collector>> {
    let Some(to) = &plan.request_response_log_dir else { return Ok(None) };
    fs::create_dir_all(to).with_context(|| format!("cannot create {}", to.display()))?;
    // RUN/cells/CELL
    let run = folder.ancestors().nth(2).and_then(Path::file_name).context("a cell without a run")?;
    let cell = folder.file_name().context("a cell without a folder")?;
    let name = format!("{}-{}.jsonl.gz", run.to_string_lossy(), cell.to_string_lossy());
    Collector::listen(context.address()?, to.join(name)).map(Some)
}

fn orders(
    plan: &TestPlan,
    fewest: usize,
    server: SocketAddr,
    offset: f64,
    archive: Option<&UploadAddress>,
) -> Vec<Orders> {
    let connections = plan.connections();
    let processes = connections.div_ceil(MOST_OF_A_PROCESS).max(fewest);
    (0..processes)
        .map(|process| Orders {
            server,
            process,
            connections: connections / processes + usize::from(process < connections % processes),
            ramp_up: plan.ramp_up,
            duration: plan.test_duration,
            drain: plan.longest_answer() + GRACE,
            request_type: plan.request_type.name().into(),
            request_events: plan.request_events.clone(),
            request_duration: plan.request_duration,
            is_event_set: plan.event.is_some(),
            keeps_alive: plan.keeps_alive,
            clock_offset_ms: offset,
            archive: archive.cloned(),
        })
        .collect()
}

/// Writes the summary where `GLOBAL_LOG_DIR` says; the run's folder has it anyway.
fn keep(plan: &TestPlan, folder: &Path, measured: &Measured) -> anyhow::Result<()> {
    let (Some(to), Some(name)) = (&plan.global_log_dir, folder.file_name()) else { return Ok(()) };
    fs::create_dir_all(to).with_context(|| format!("cannot create {}", to.display()))?;
    let file = to.join(name).with_extension("json");
    fs::write(&file, serde_json::to_vec_pretty(measured)?)
        .with_context(|| format!("cannot write {}", file.display()))
}

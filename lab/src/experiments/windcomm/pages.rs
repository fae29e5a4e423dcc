//! The pages of WindComm: one for each door, and one with three at the same time.

use super::{
    super::site,
    sensor,
    settings::{Door, Settings},
};
use anyhow::Context;
use axum::{Router, response::Html, routing::get};
use serde::Deserialize;
use std::{net::SocketAddr, time::Duration};

/// Result that a page posts when it has all its readings.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PageResult {
    /// Door of the readings.
    pub door: String,
    /// From the reading of the sensor until the browser had it, milliseconds.
    pub latencies: Vec<f64>,
    /// From the first reading of the sensor until the browser had the last one, milliseconds.
    pub delivered_after: f64,
    /// Times from the first byte of a poll's answer in the browser until the page has it, milliseconds.
    pub handovers: Vec<f64>,
    /// The browser's clock minus the server's before the first reading and after the last one, milliseconds.
    pub offsets: [f64; 2],
    /// The browser, as it calls itself.
    pub browser: String,
    /// Error message; empty without an error.
    pub error: String,
}

/// All pages.
pub fn router() -> Router {
    let pages = Door::ALL.iter().fold(Router::new(), |router, door| {
        router.route(path(&[*door]), get(Html(include_str!("page/windcomm.html"))))
    });
    pages
        .route("/InterleavedWindComm", get(Html(include_str!("page/interleaved.html"))))
        .route("/windcomm.js", get(|| site::script(include_str!("page/windcomm.js"))))
}

/// The path of the page that shows these doors.
pub fn path(doors: &[Door]) -> &'static str {
    match doors {
        [Door::WebSocket] => "/WindComm",
        [Door::LongPoll] => "/LongPollingWindComm",
        [Door::Poll] => "/PollingWindComm",
        [Door::Events] => "/EventsWindComm",
        [Door::Stream] => "/StreamingWindComm",
        [Door::Bare] => "/BareWindComm",
        _ => "/InterleavedWindComm",
    }
}

/// The parameters of a page.
pub fn query(dac: SocketAddr, settings: &Settings) -> anyhow::Result<String> {
    let millis = |duration: Duration| u64::try_from(duration.as_millis()).context("a time of centuries");
    Ok(format!(
        "dac={dac}&node={}&instance={}&readings={}&interval={}&hold={}",
        sensor::NODE,
        sensor::INSTANCE,
        settings.readings,
        millis(settings.interval)?,
        millis(settings.hold)?
    ))
}

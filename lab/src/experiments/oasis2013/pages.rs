//! The dashboard of 2012, and the SDK that decodes for it.

use super::{super::site, daemon, settings::Settings};
use crate::{experiment::Downloads, nodejs};
use anyhow::{Context, ensure};
use axum::{
    Router,
    extract::Path,
    http::StatusCode,
    response::{Html, IntoResponse, Response},
    routing::get,
};
use serde::Deserialize;
use std::{
    fs,
    path::{Component, Path as FilePath},
    process::{Command, Stdio},
};

/// The SDK's sources, and what it is built to.
const SDK: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../sdk/typescript");

/// Report that the page posts now and then.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PageReport {
    /// When, by the browser's clock, milliseconds since 1970.
    pub at: f64,
    /// The browser, as it calls itself.
    pub browser: String,
    /// The instances, as in the page's address.
    pub instances: Vec<InstanceReport>,
}

/// State of an instance in the page.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InstanceReport {
    /// Its name.
    pub name: String,
    /// Samples that have arrived.
    pub received: u64,
    /// Messages that have brought them; 0 where the page does not see messages.
    pub messages: u64,
    /// Their bytes: frames, lines, or bodies of answers.
    pub bytes: u64,
    /// Characters of the response so far, which AJAX keeps.
    pub held: u64,
    /// From the time of each sample from number 50 to 100 until the page had it, milliseconds.
    pub ages: Vec<f64>,
    /// The same of the newest sample of each message, from number 50 on.
    pub newest: Vec<f64>,
}

/// Builds the SDK for browsers, if it is not built.
pub fn build_sdk(downloads: Downloads) -> anyhow::Result<()> {
    if FilePath::new(SDK).join("dist/index.js").exists() {
        return Ok(());
    }
    nodejs::from_checkout(FilePath::new(SDK))?;
    ensure!(
        downloads == Downloads::Allowed || FilePath::new(SDK).join("../../node_modules").exists(),
        "the SDK is not built, and its compiler is not there: npm ci"
    );
    let mut npm = Command::new("npm");
    npm.args(["run", "build"]).current_dir(SDK).stdin(Stdio::null()).stdout(Stdio::null());
    let built = npm.status().context("npm builds the SDK: install Node.js")?;
    ensure!(built.success(), "the SDK cannot be built: npm ci, then npm run build in sdk/typescript");
    Ok(())
}

/// All pages.
pub fn router() -> Router {
    Router::new()
        .route("/", get(Html(include_str!("page/dashboard.html"))))
        .route("/dashboard.js", get(|| site::script(include_str!("page/dashboard.js"))))
        .route("/sdk/{*file}", get(sdk))
        .route("/socket.io.js", get(socket_io))
}

/// A module of the SDK.
async fn sdk(Path(file): Path<String>) -> Response {
    let file = FilePath::new(&file);
    let is_inside = file.components().all(|part| matches!(part, Component::Normal(_)));
    let text = fs::read_to_string(FilePath::new(SDK).join("dist").join(file));
    match text.ok().filter(|_| is_inside) {
        Some(text) => site::script(text).await.into_response(),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

/// The client of Socket.IO.
async fn socket_io() -> Response {
    match nodejs::file("socket.io-client", "dist/socket.io.esm.min.js") {
        Ok(text) => site::script(text).await.into_response(),
        Err(error) => (StatusCode::NOT_FOUND, error.to_string()).into_response(),
    }
}

/// The parameters of the page for a cell.
pub fn query(dac: &str, outlet: &str, settings: &Settings) -> String {
    let instances = daemon::INSTANCES.map(|(_, instance)| instance).join(",");
    format!(
        "door={}&dac={dac}&outlet={outlet}&node={}&instances={instances}&is_measured",
        settings.door_name,
        daemon::NODE
    )
}

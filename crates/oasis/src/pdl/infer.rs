//! `oasis pdl infer`

use super::arguments::Infer;
use crate::{broken_pipe::is_broken_pipe, replace::replace};
use anyhow::{Context, bail};
use oasis_client::Api;
use oasis_pdl_gen::infer::infer;
use oasis_site::api;
use oasis_wire::schema::ProbeType;
use std::{
    io::{self, Write},
    process::ExitCode,
};

pub fn run(arguments: &Infer) -> anyhow::Result<ExitCode> {
    let target = &arguments.instance;
    let server = arguments.located.server(&[target])?;
    let probe_type = registered(&api::at(&server)?, &target.node, &target.instance)?;
    let Some(probe_type) = probe_type else {
        bail!("the DAC at {} has no instance {target}: list its instances with `oasis list`", server.url);
    };
    let text = infer(&probe_type).with_context(|| format!("no PDL for {target}"))?;
    match &arguments.output {
        Some(path) => replace(path, &text)?,
        None => print(&text)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn print(text: &str) -> anyhow::Result<()> {
    match io::stdout().write_all(text.as_bytes()).map_err(anyhow::Error::from) {
        Err(error) if !is_broken_pipe(&error) => Err(error),
        _ => Ok(()),
    }
}

/// The schema of an instance; none if the DAC does not know it.
fn registered(api: &Api, node: &str, instance: &str) -> anyhow::Result<Option<ProbeType>> {
    let found = api.get("/instances", &[("node", node), ("instance", instance)])?;
    let Some(topic) = found["instances"][0]["id"].as_u64() else { return Ok(None) };
    let mut one = api.get(&format!("/instances/{topic}"), &[])?;
    let schema = serde_json::from_value(one["schema"].take()).context("the DAC answered without a schema")?;
    Ok(Some(schema))
}

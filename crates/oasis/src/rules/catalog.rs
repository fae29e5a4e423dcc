//! Types and instances of a running DAC.

use anyhow::Context;
use oasis_client::{DacAddress, Server};
use oasis_rules::{EditorCatalog, KnownInstance};
use oasis_site::api;
use oasis_wire::schema::ProbeType;
use serde_json::Value;
use std::{collections::HashSet, path::PathBuf, sync::Arc};

/// Most types that are read.
const MAX_TYPES: usize = 500;

/// Asks a DAC for its instances, and for one schema of each version of a type.
pub fn of_dac(dac: &DacAddress, ca: Option<PathBuf>) -> anyhow::Result<EditorCatalog> {
    let api = api::prompt(&Server { url: dac.clone(), ca })?;
    let answer = api.get("/instances", &[])?;
    let mut found = EditorCatalog::default();
    let mut known = HashSet::new();
    for instance in answer["instances"].as_array().into_iter().flatten() {
        let text = |key: &str| instance[key].as_str().unwrap_or_default().to_owned();
        found.instances.push(KnownInstance {
            node: text("node"),
            instance: text("instance"),
            probe_type: text("type"),
        });
        let of = (text("type"), text("uuid"), text("version"));
        if known.len() < MAX_TYPES
            && known.insert(of)
            && let Some(id) = instance["id"].as_u64()
        {
            found.types.push(schema(&api.get(&format!("/instances/{id}"), &[])?)?);
        }
    }
    Ok(found)
}

fn schema(detail: &Value) -> anyhow::Result<Arc<ProbeType>> {
    let probe_type: ProbeType = serde_json::from_value(detail["schema"].clone())
        .context("the DAC sends no schema that is known here")?;
    probe_type.validate()?;
    Ok(Arc::new(probe_type))
}

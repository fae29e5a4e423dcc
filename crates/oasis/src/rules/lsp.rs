//! `oasis rules lsp`

use super::{arguments::Lsp, recording};
use crate::diagnostics::counted;
use anyhow::{Context, bail};
use oasis_lsp::Rules;
use oasis_pdl::Disk;
use oasis_pdl_gen::json_schema;
use oasis_rules::{EditorCatalog, KnownInstance};
use oasis_store::History;
use std::{io, process::ExitCode, sync::Arc};

/// Serves one editor. Fails if the editor exits without `shutdown`.
pub fn run(arguments: Lsp) -> anyhow::Result<ExitCode> {
    let rules = Rules::new(move || load(&arguments).map_err(|error| format!("{error:#}")));
    let is_agreed =
        oasis_lsp::serve(rules, io::stdin(), io::stdout()).context("cannot talk to the editor")?;
    Ok(if is_agreed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Types and instances: of a DAC and an archive what they have, and of PDL files those types that neither has.
fn load(arguments: &Lsp) -> anyhow::Result<EditorCatalog> {
    let mut found = EditorCatalog::default();
    let mut is_named = false;
    if !arguments.types.pdl.is_empty() {
        is_named = true;
        found.types.extend(of_pdl(arguments)?.types);
    }
    if !arguments.types.mcap.is_empty() {
        is_named = true;
        found.types.extend(recording::types(&arguments.types.mcap)?);
    }
    if let Ok(archive) = arguments.types.archive.find() {
        is_named = true;
        let stored = of_archive(&History::open(&archive)?)?;
        found.types.extend(stored.types);
        found.instances.extend(stored.instances);
    }
    #[cfg(feature = "live")]
    if let Some(dac) = &arguments.dac()? {
        is_named = true;
        let live = super::catalog::of_dac(dac, arguments.ca.clone())?;
        found.types.extend(live.types);
        found.instances.extend(live.instances);
    }
    if !is_named {
        bail!(
            "name a DAC with --url, an archive with --archive, an MCAP file with --mcap, or PDL files with --pdl"
        );
    }
    found.instances.sort();
    found.instances.dedup();
    Ok(found)
}

fn of_pdl(arguments: &Lsp) -> anyhow::Result<EditorCatalog> {
    let report = oasis_pdl::compile(&arguments.types.pdl, &arguments.types.include, &Disk);
    if !report.is_ok() {
        bail!("{} in PDL files: see `oasis pdl check`", counted(report.diagnostics.len(), "error"));
    }
    let model = &report.model;
    let types = model.probes.iter().filter_map(|probe| json_schema::schema(model, probe));
    Ok(EditorCatalog { types: types.map(Arc::new).collect(), instances: Vec::new() })
}

fn of_archive(history: &History) -> anyhow::Result<EditorCatalog> {
    let types = history.types()?;
    let mut instances = Vec::new();
    for probe_type in &types {
        let names = history.instances_of(probe_type)?.into_iter();
        let probe_type = &probe_type.name;
        instances.extend(names.map(|(node, instance)| KnownInstance {
            node,
            instance,
            probe_type: probe_type.clone(),
        }));
    }
    Ok(EditorCatalog { types, instances })
}

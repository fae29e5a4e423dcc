//! `oasis archive remove`: removes a node or an instance with all its data from an archive that no DAC has open.

use crate::{
    access::{AccessFolder, of_archive},
    archive_folder::ArchiveFolder,
};
use anyhow::{anyhow, bail};
use clap::Args;
use oasis_format::visible::Visible;
use oasis_store::{Forgotten, History, Holdings, OpenError};
use serde_json::json;
use std::{
    io::{self, IsTerminal, Write},
    path::PathBuf,
};

#[derive(Debug, Args)]
pub struct Arguments {
    /// NODE for a node with all its instances, or NODE/INSTANCE. The node ends at the first slash.
    pub target: String,
    #[command(flatten)]
    pub archive: ArchiveFolder,
    /// Folder of accounts and audit log [default: as for oasis audit-log].
    #[arg(long, value_name = "DIR", env = "OASIS_ACCESS")]
    access: Option<PathBuf>,
    /// Remove it without asking.
    #[arg(long)]
    pub yes: bool,
}

/// Shows what would be removed, asks, and removes it.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let of = parsed(&arguments.target)?;
    let config = arguments.archive.read_config()?;
    // Reading first: a name with a typing error must not create an archive or lock it.
    let history = History::open(config.directory.as_ref())?;
    if !history.instances()?.iter().any(|(node, instance)| of.covers(node, instance)) {
        let known = history.0.catalogue().holdings(&of)?;
        if known == Holdings::default() {
            bail!(
                "the archive {} has nothing of {}: oasis archive show lists what it has",
                config.directory,
                shown(&of)
            );
        }
    }
    drop(history);
    let access = AccessFolder::of(arguments.access.clone(), arguments.archive.config_file());
    // No other process writes from here on.
    let opened = oasis_store::open(config).map_err(|error| explained(error, &of))?;
    let holdings = opened.store.catalogue().holdings(&of)?;
    println!("{}: {}", shown(&of), described(&holdings));
    if !arguments.yes && !is_confirmed()? {
        bail!("nothing was removed");
    }
    let detail = json!({"samples": holdings.samples, "instances": holdings.instances});
    let removed =
        of_archive(&access, ("forget", &of.to_string(), detail), true, || Ok(opened.store.forget(&of)?))?;
    println!(
        "forgotten: {} segment files removed and {} written again; {} roll-up files had something of it",
        removed.removed, removed.rewritten, removed.rollups
    );
    println!("Copies, exports and databases (PostgreSQL) are not touched: docs/guides/forget-a-node.md");
    Ok(())
}

/// A DAC that has the archive open can forget the node itself.
fn explained(error: OpenError, of: &Forgotten) -> anyhow::Error {
    let OpenError::Locked(path) = error else { return error.into() };
    let request = match of.instance {
        None => format!("DELETE /api/v1/nodes/{}", shown(of)),
        Some(_) => {
            format!("DELETE /api/v1/instances/ID, with the ID of {} from GET /api/v1/instances", shown(of))
        }
    };
    anyhow!(
        "archive {} is open in another process: if it is a DAC, send it {request} (docs/guides/forget-a-node.md), or stop it first",
        path.display()
    )
}

fn parsed(text: &str) -> anyhow::Result<Forgotten> {
    let (node, instance) = match text.split_once('/') {
        Some((node, instance)) => (node, Some(instance)),
        None => (text, None),
    };
    if node.is_empty() || instance.is_some_and(str::is_empty) || text.contains('*') {
        bail!("{text:?} is neither NODE nor NODE/INSTANCE: patterns are not permitted here");
    }
    Ok(Forgotten { node: node.to_owned(), instance: instance.map(str::to_owned) })
}

fn shown(of: &Forgotten) -> String {
    Visible(&of.to_string()).to_string()
}

fn described(holdings: &Holdings) -> String {
    let Holdings { instances, samples, files, annotations, commands, losses } = holdings;
    format!(
        "instances: {instances}, samples: {samples} in {files} segment files, annotations: {annotations}, commands: {commands}, gaps with causes: {losses}"
    )
}

fn is_confirmed() -> anyhow::Result<bool> {
    if !io::stdin().is_terminal() {
        bail!("nothing was removed: nobody can be asked here, so confirm with --yes");
    }
    print!("Remove all of it for ever? Type yes: ");
    io::stdout().flush()?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    Ok(answer.trim() == "yes")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_a_node_or_an_instance_of_it() {
        let of = |text: &str| parsed(text).ok().map(|of| (of.node, of.instance));
        assert_eq!(of("plant"), Some(("plant".into(), None)));
        assert_eq!(of("plant/network/eth0"), Some(("plant".into(), Some("network/eth0".into()))));
        for refused in ["", "/x", "plant/", "plant/*", "*"] {
            assert_eq!(of(refused), None, "{refused}");
        }
    }
}

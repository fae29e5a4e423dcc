//! The folder of a run: `run.json`, and in `cells` a file for each finished cell and a folder for what its processes wrote.
//!
//! Each file is written elsewhere and renamed, so that an interrupted run has whole files only.

use super::{outcome::CellResult, plan::Cell, record::RunRecord};
use anyhow::{Context, ensure};
use serde::Serialize;
use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
};
use tempfile::NamedTempFile;

const RECORD: &str = "run.json";
const CELLS: &str = "cells";

/// A folder of a run.
#[derive(Debug)]
pub struct RunFolder {
    path: PathBuf,
    /// Record of the run: its cells, the machine and the programs.
    pub record: RunRecord,
}

impl RunFolder {
    /// Creates the folder of a new run.
    pub fn create(parent: &Path, record: RunRecord) -> anyhow::Result<Self> {
        let path = parent.join(record.folder_name());
        ensure!(
            !path.exists(),
            "{} exists already: wait a second, or choose another folder with --runs",
            path.display()
        );
        fs::create_dir_all(path.join(CELLS)).with_context(|| format!("cannot create {}", path.display()))?;
        write_atomically(&path.join(RECORD), &record)?;
        Ok(Self { path, record })
    }

    /// Opens the folder of an earlier run.
    pub fn open(path: &Path) -> anyhow::Result<Self> {
        let file = path.join(RECORD);
        let text =
            fs::read(&file).with_context(|| format!("{} is no run: cannot read {RECORD}", path.display()))?;
        let record = serde_json::from_slice(&text).with_context(|| file.display().to_string())?;
        Ok(Self { path: path.to_owned(), record })
    }

    /// Path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Archive of the run that OASIS has recorded.
    pub fn archive(&self) -> PathBuf {
        self.path.join("archive")
    }

    /// Writes the record again, for example when the servers of a machine have changed.
    pub fn write_record(&self) -> anyhow::Result<()> {
        write_atomically(&self.path.join(RECORD), &self.record)
    }

    /// An empty folder for what the processes of a cell write.
    pub fn scratch(&self, cell: &Cell) -> anyhow::Result<PathBuf> {
        let folder = self.stem(cell);
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
        Ok(folder)
    }

    /// Keeps the result of a cell.
    pub fn write_result(&self, result: &CellResult) -> anyhow::Result<()> {
        write_atomically(&self.stem(&result.cell).with_extension("json"), result)
    }

    /// The result of a cell, if it has been run.
    pub fn result(&self, cell: &Cell) -> anyhow::Result<Option<CellResult>> {
        let file = self.stem(cell).with_extension("json");
        match fs::read(&file) {
            Ok(text) => serde_json::from_slice(&text).map(Some).with_context(|| file.display().to_string()),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error).with_context(|| file.display().to_string()),
        }
    }

    /// The results so far, in the order of the plan.
    pub fn results(&self) -> anyhow::Result<Vec<CellResult>> {
        self.record.cells.iter().filter_map(|cell| self.result(cell).transpose()).collect()
    }

    fn stem(&self, cell: &Cell) -> PathBuf {
        self.path.join(CELLS).join(&cell.id)
    }
}

fn write_atomically(path: &Path, content: &impl Serialize) -> anyhow::Result<()> {
    let cannot = || format!("cannot write {}", path.display());
    let folder = path.parent().with_context(cannot)?;
    let mut file = NamedTempFile::new_in(folder).with_context(cannot)?;
    serde_json::to_writer_pretty(&mut file, content).with_context(cannot)?;
    file.write_all(b"\n").and_then(|()| file.as_file().sync_all()).with_context(cannot)?;
    file.persist(path).with_context(cannot)?;
    Ok(())
}

//! A run as one compressed file: raw results that are small enough to be committed, and from which the run continues.

use super::{
    folder::RunFolder,
    outcome::CellResult,
    record::{Machine, RunRecord},
};
use crate::cpu;
use anyhow::{Context, ensure};
use flate2::{Compression, read::GzDecoder, write::GzEncoder};
use serde::{Deserialize, Serialize};
use std::{
    fs::{self, File},
    io::{BufReader, Read},
    path::{Path, PathBuf},
};

/// Upper bound of an unpacked run, bytes.
const MAX_KEPT_RUN_BYTES: u64 = 256 << 20;
/// Memory of one machine differs by at most one part in this many.
const MEMORY_SHARE: u64 = 50;
/// Ends the names of kept runs.
const EXTENSION: &str = ".json.gz";

/// The content of the file.
#[derive(Debug, Serialize, Deserialize)]
pub struct KeptRun {
    /// Plan, machine, commit and versions.
    pub record: RunRecord,
    /// The finished cells.
    pub results: Vec<CellResult>,
}

impl KeptRun {
    /// Reads the results of a run so far.
    pub fn of(run: &RunFolder) -> anyhow::Result<Self> {
        Ok(Self { record: run.record.clone(), results: run.results()? })
    }

    /// Writes `FOLDER/EXPERIMENT/RUN.json.gz`, and returns its path.
    pub fn write(&self, folder: &Path) -> anyhow::Result<PathBuf> {
        let folder = folder.join(&self.record.experiment);
        fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
        let path = folder.join(format!("{}{EXTENSION}", self.record.folder_name()));
        let cannot = || format!("cannot write {}", path.display());
        let mut file = GzEncoder::new(File::create(&path).with_context(cannot)?, Compression::best());
        serde_json::to_writer(&mut file, self).with_context(cannot)?;
        file.finish().and_then(|file| file.sync_all()).with_context(cannot)?;
        Ok(path)
    }

    /// Reads a file.
    pub fn read(path: &Path) -> anyhow::Result<Self> {
        let cannot = || format!("cannot read {}", path.display());
        let mut text = Vec::new();
        let file = GzDecoder::new(BufReader::new(File::open(path).with_context(cannot)?));
        file.take(MAX_KEPT_RUN_BYTES + 1).read_to_end(&mut text).with_context(cannot)?;
        ensure!(text.len() as u64 <= MAX_KEPT_RUN_BYTES, "{} is too large for a run", path.display());
        serde_json::from_slice(&text).with_context(cannot)
    }

    /// Reads the kept runs of an experiment, the oldest first; none if there is no folder.
    pub fn read_all(folder: &Path, experiment: &str) -> anyhow::Result<Vec<Self>> {
        let Ok(entries) = fs::read_dir(folder.join(experiment)) else { return Ok(Vec::new()) };
        let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<anyhow::Result<Vec<_>>>()?;
        paths.retain(|path| path.to_string_lossy().ends_with(EXTENSION));
        paths.sort();
        paths.iter().map(|path| Self::read(path)).collect()
    }

    /// Makes a folder of the run again, in which it can be resumed, reported and compared.
    pub fn unpack(self, runs: &Path) -> anyhow::Result<RunFolder> {
        let folder = RunFolder::create(runs, self.record)?;
        self.results.iter().try_for_each(|result| folder.write_result(result))?;
        Ok(folder)
    }
}

impl Machine {
    /// Whether numbers of this machine and of another one make one series: a new kernel may have other memory for itself.
    pub fn is_same(&self, other: &Self) -> bool {
        let most = self.memory_mb.max(other.memory_mb);
        let difference = self.memory_mb.abs_diff(other.memory_mb);
        self.processor() == other.processor() && difference.saturating_mul(MEMORY_SHARE) <= most
    }

    /// Cores and model, without the kernel's version.
    fn processor(&self) -> &str {
        self.description.rsplit_once(cpu::KERNEL).map_or(&*self.description, |(processor, _)| processor)
    }
}

impl RunRecord {
    /// Why a run cannot be continued by a build; none if it can.
    pub fn other_build(&self, here: &Self) -> Option<String> {
        let build = |record: &Self| {
            let optimized = if record.is_release { "with" } else { "without" };
            format!("of commit {}, {optimized} optimizations", record.commit)
        };
        let (began, here) = (build(self), build(here));
        (began != here).then(|| format!("the run began with a build {began}, and this is one {here}"))
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::{Choice, Experiment, Measured, Method, outcome::Outcome, value::Lists},
        *,
    };
    use crate::experiments::windcomm::WindComm;
    use std::collections::BTreeMap;

    #[test]
    fn a_kept_run_becomes_the_same_folder_again() {
        let experiment = Experiment::parse(WindComm.declaration()).expect("the declaration");
        let choice = Choice { plan: "quick".into(), set: Lists::new(), only: Lists::new(), repeat: 1 };
        let cells = choice.cells(&experiment).expect("cells");
        let measured = Measured { measures: [("readings".to_owned(), 60.0)].into(), ..Measured::default() };
        let result = CellResult {
            cell: cells[0].clone(),
            began: "2026-11-23T22:00:00Z".into(),
            seconds: 15.0,
            outcome: Outcome::Measured(measured),
        };
        let record = RunRecord::new(&experiment, choice, BTreeMap::new(), cells);
        let folder = tempfile::tempdir().expect("a folder");
        let kept = KeptRun { record, results: vec![result] };
        let path = kept.write(folder.path()).expect("a file");
        let all = KeptRun::read_all(folder.path(), "windcomm").expect("runs");
        assert_eq!((all.len(), KeptRun::read_all(folder.path(), "mueller").expect("no runs").len()), (1, 0));
        let run =
            KeptRun::read(&path).expect("the run").unpack(&folder.path().join("runs")).expect("a folder");
        let again = KeptRun::of(&run).expect("the run");
        let text = |run: &KeptRun| serde_json::to_string(run).expect("text");
        assert_eq!(text(&again), text(&kept));
    }

    #[test]
    fn a_machine_with_another_kernel_is_the_same_machine() {
        let here = Machine::here();
        let with = |description: &str, memory_mb| Machine {
            description: description.into(),
            memory_mb,
            ..here.clone()
        };
        let machine = with("2 cores of a processor, Linux 6.1.0", 10_000);
        assert!(machine.is_same(&with("2 cores of a processor, Linux 6.2.0", 9_900)));
        for other in [
            with("4 cores of a processor, Linux 6.1.0", 10_000),
            with("2 cores of another processor, Linux 6.1.0", 10_000),
            with("2 cores of a processor, Linux 6.1.0", 9_700),
        ] {
            assert!(!machine.is_same(&other) && !other.is_same(&machine), "{other:?}");
        }
    }

    #[test]
    fn a_run_is_continued_by_the_build_that_began_it_only() {
        let experiment = Experiment::parse(WindComm.declaration()).expect("the declaration");
        let choice = Choice { plan: "quick".into(), set: Lists::new(), only: Lists::new(), repeat: 1 };
        let began = RunRecord::new(&experiment, choice, BTreeMap::new(), Vec::new());
        assert_eq!(began.other_build(&began.clone()), None);
        let later = RunRecord { commit: "0123456".into(), ..began.clone() };
        assert!(began.other_build(&later).expect("a reason").contains("one of commit 0123456"));
        let faster = RunRecord { is_release: !began.is_release, ..began.clone() };
        assert!(began.other_build(&faster).expect("a reason").contains("with optimizations"));
    }

    #[test]
    fn a_file_that_is_no_run_is_an_error() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("run.json.gz");
        fs::write(&path, b"nothing").expect("a file");
        assert!(KeptRun::read(&path).expect_err("no run").to_string().contains("run.json.gz"));
    }
}

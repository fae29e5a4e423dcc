//! The page that answers the five papers: each statement, number, test and figure of theirs with ours beside it, from runs that are committed.
//!
//! Numbers, tests and figures are those of the declarations; [`statements`] are in `statements.toml`. Runs are files of [`KeptRun`]. One machine makes one series: the page
//! shows the series with the most cells.

mod statements;

use super::{
    declaration::Experiment,
    kept::KeptRun,
    method::Method,
    outcome::CellResult,
    report::{
        comparisons::{self, PairRow, TallyRow},
        facts, figures,
        groups::Groups,
    },
};
use crate::{
    statistics::{probability, verdict},
    table::Table,
};
use anyhow::Context;
use clap::Args;
use statements::{Statements, Verdict};
use std::{
    collections::BTreeMap,
    fmt::Write,
    fs,
    path::{Path, PathBuf},
};

/// Folder of committed runs, in a checkout.
const RESULTS: &str = "lab/results";
/// Papers by the experiments that repeat them, in the order of the page.
const PAPERS: [&str; 4] = ["windcomm", "frizelle", "oasis-2013", "mueller"];

/// Folder of the page's pictures, beside it.
const PICTURES: &str = "papers";

/// The page that answers the papers.
#[derive(Debug, Default)]
struct Page {
    text: String,
    /// Drawings by the names of their files.
    pictures: BTreeMap<String, String>,
}

/// Writes the page that answers the papers, from committed runs.
#[derive(Debug, Args)]
pub struct Papers {
    /// Folder of kept runs.
    #[arg(long, default_value = RESULTS, value_name = "FOLDER")]
    results: PathBuf,
}

/// Keeps runs as one compressed file each, to be committed.
#[derive(Debug, Args)]
pub struct Keep {
    /// Folders of runs.
    #[arg(required = true)]
    run: Vec<PathBuf>,
    /// Folder of kept runs.
    #[arg(long, default_value = RESULTS, value_name = "FOLDER")]
    to: PathBuf,
}

/// Makes the folder of a kept run again: `run --resume` continues it.
#[derive(Debug, Args)]
pub struct Unpack {
    /// The file.
    file: PathBuf,
    /// Folder for runs.
    #[arg(long, default_value = super::command::RUNS, value_name = "FOLDER")]
    runs: PathBuf,
}

impl Papers {
    /// Prints the page, and writes it to a file if that is wanted.
    pub fn run(&self, methods: &[&dyn Method], file: Option<&Path>) -> anyhow::Result<()> {
        let page = page(methods, &self.results)?;
        match file {
            Some(file) => page.write(file),
            None => Ok(crate::listing::print(&page.text)?),
        }
    }
}

impl Page {
    /// Writes the page, and its pictures in place of those that are there.
    fn write(&self, file: &Path) -> anyhow::Result<()> {
        let cannot = || format!("cannot write {}", file.display());
        fs::write(file, &self.text).with_context(cannot)?;
        let folder = file.with_file_name(PICTURES);
        if folder.exists() {
            fs::remove_dir_all(&folder).with_context(cannot)?;
        }
        if !self.pictures.is_empty() {
            fs::create_dir_all(&folder).with_context(cannot)?;
        }
        let mut pictures = self.pictures.iter();
        pictures.try_for_each(|(name, svg)| fs::write(folder.join(name), svg)).with_context(cannot)
    }
}

impl Keep {
    /// Writes the files.
    pub fn run(&self) -> anyhow::Result<()> {
        for run in &self.run {
            let kept = KeptRun::of(&super::folder::RunFolder::open(run)?)?;
            println!("{}", kept.write(&self.to)?.display());
        }
        Ok(())
    }
}

impl Unpack {
    /// Makes the folder.
    pub fn run(&self) -> anyhow::Result<()> {
        println!("{}", KeptRun::read(&self.file)?.unpack(&self.runs)?.path().display());
        Ok(())
    }
}

/// The runs of one machine.
#[derive(Default)]
struct MachineSeries {
    runs: Vec<KeptRun>,
}

impl MachineSeries {
    /// The series with the most measured cells.
    fn largest(runs: Vec<KeptRun>) -> Self {
        let mut all: Vec<Self> = Vec::new();
        for run in runs {
            let machine = &run.record.machine;
            match all
                .iter_mut()
                .find(|known| known.runs.iter().all(|run| run.record.machine.is_same(machine)))
            {
                Some(known) => known.runs.push(run),
                None => all.push(Self { runs: vec![run] }),
            }
        }
        all.into_iter().max_by_key(|series| series.measured()).unwrap_or_default()
    }

    fn measured(&self) -> usize {
        self.results().filter(|result| result.measured().is_some()).count()
    }

    fn results(&self) -> impl Iterator<Item = &CellResult> {
        self.runs.iter().flat_map(|run| &run.results)
    }
}

/// The whole page.
fn page(methods: &[&dyn Method], results: &Path) -> anyhow::Result<Page> {
    let statements = Statements::declared()?;
    let mut page = Page::default();
    page.text.push_str(
        "# The papers, answered\n\n\
         Written by `oasis-lab papers` from the runs in `lab/results`; a test compares it with them. Each table has what a paper\n\
         says, and what our runs say beside it. [The lab](lab.md) describes the experiments,\n\
         [the lab, measured](lab-measured.md) has runs that are not committed.\n\n\
         Verdicts of numbers: *holds* within 10 %, or what the row says; *does not hold here*; *not measured yet*. A lag holds if\n\
         what was delivered is within 10 % too. A number that was measured with other values than the paper's says which.\n\n\
         <!-- generated by lab/src/experiment/papers -->\n",
    );
    for name in PAPERS {
        let declared = methods.iter().map(|method| Experiment::parse(method.declaration()));
        let experiment =
            declared.collect::<anyhow::Result<Vec<_>>>()?.into_iter().find(|known| known.name == name);
        let experiment = experiment.with_context(|| format!("no experiment {name}"))?;
        let series = MachineSeries::largest(KeptRun::read_all(results, name)?);
        section(&mut page, &experiment, &statements, &series)?;
    }
    Ok(page)
}

fn section(
    Page { text: page, pictures }: &mut Page,
    experiment: &Experiment,
    statements: &Statements,
    series: &MachineSeries,
) -> anyhow::Result<()> {
    let groups = Groups::of_results(series.results().cloned());
    writeln!(page, "\n## {}\n\n{}.\n", experiment.title, experiment.source)?;
    runs(page, series)?;
    let mut table = Table::new([
        "place",
        "the paper says",
        "number",
        "its own table",
        "here",
        "here to the paper",
        "verdict",
        "scaled",
    ]);
    for statement in statements.of(&experiment.name) {
        let answer = statement.answer(experiment, &groups);
        table.row(vec![
            statement.place.clone(),
            statement.says.clone(),
            answer.paper,
            answer.printed,
            answer.ours,
            answer.ratio,
            answer.verdict,
            answer.notes,
        ]);
    }
    if !table.is_empty() {
        write!(page, "\n### Statements of {}\n\n{table}", experiment.name)?;
    }
    tests(page, experiment, &groups)?;
    numbers(page, experiment, &groups)?;
    let mut table = Table::new(["figure", "subject", "status", "why, or how"]);
    let figures = figures::draw(experiment, &groups);
    for figure in &figures {
        let (status, note) = figure.status.split_once(": ").unwrap_or((&figure.status, ""));
        // The report of a run names the values that are missing.
        let note = if note.starts_with(figures::NO_CELL) { "not measured yet" } else { note };
        table.row(vec![figure.number.clone(), figure.title.clone(), status.into(), note.into()]);
    }
    write!(page, "\n### Figures of {}\n\n{table}", experiment.name)?;
    // A figure with missing points would look like the paper's.
    for figure in figures.iter().filter(|figure| figure.is_whole) {
        writeln!(page, "\n#### Figure {}: {}\n", figure.number, figure.title)?;
        if !figure.paper.is_empty() {
            writeln!(page, "The paper: {}\n", figure.paper)?;
        }
        for panel in &figure.panels {
            let name = format!("{}-{}", experiment.name, panel.file.replace(',', ""));
            writeln!(page, "![{}]({PICTURES}/{name})", panel.title)?;
            pictures.insert(name, panel.svg.clone());
        }
    }
    Ok(())
}

fn runs(page: &mut String, series: &MachineSeries) -> anyhow::Result<()> {
    if series.runs.is_empty() {
        writeln!(page, "No run of it is committed yet.")?;
    }
    for run in &series.runs {
        let record = &run.record;
        let build = if record.is_release { "" } else { ", built without optimizations" };
        writeln!(
            page,
            "- `{}`: {} of {} cells of the plan {}; {}, {} MB; OASIS {} ({}){build}.",
            record.folder_name(),
            run.results.iter().filter(|result| result.measured().is_some()).count(),
            record.cells.len(),
            record.choice.plan,
            record.machine.description,
            record.machine.memory_mb,
            record.version,
            record.commit
        )?;
    }
    Ok(())
}

/// Tests of means: the paper's tallies, and each test of the numbers that it prints.
fn tests(page: &mut String, experiment: &Experiment, groups: &Groups) -> anyhow::Result<()> {
    for comparison in &experiment.comparisons {
        let tested = comparisons::tested(experiment, groups, comparison);
        let mut tallies = Table::new(["the paper counts", "tests", "the paper", "its own table", "here"]);
        for TallyRow { place, pair, paper, printed, ours } in tested.tallies {
            tallies.row(vec![place, pair, paper, printed, ours]);
        }
        let mut tests = Table::new([
            "place",
            "doors",
            "ratio",
            "difference",
            "t",
            "freedom",
            "one-sided",
            "p",
            "two-sided p",
        ]);
        for PairRow { cells, pair, ratio, test, .. } in tested.paper {
            tests.row(vec![
                cells,
                pair,
                ratio,
                format!("{:+.2}", test.difference),
                format!("{:.2}", test.t),
                format!("{:.0}", test.freedom),
                verdict(test.one_sided()).into(),
                probability(test.one_sided()),
                probability(test.probability),
            ]);
        }
        let title = &tested.title;
        write!(
            page,
            "\n### Tests of means: {title}\n\nWelch's test, one-sided at 99 % as in the paper: tests in which the first is less, greater, equal.\n\n{tallies}\n\
             Each test of the means and deviations that the paper prints:\n\n{tests}"
        )?;
    }
    Ok(())
}

fn numbers(page: &mut String, experiment: &Experiment, groups: &Groups) -> anyhow::Result<()> {
    let mut table = Table::new([
        "place",
        "number",
        "server",
        "the paper",
        "here",
        "here to the paper",
        "verdict",
        "scaled",
    ]);
    for fact in facts::compare(experiment, groups) {
        for row in fact.rows {
            let (paper, ours) = row.values;
            let verdict = Verdict::of(paper, ours, statements::TOLERANCE, fact.judgment);
            table.row(vec![
                fact.place.clone(),
                fact.what.clone(),
                row.server,
                row.paper,
                row.ours,
                row.ratio,
                verdict.to_string(),
                row.changes,
            ]);
        }
    }
    if !table.is_empty() {
        write!(page, "\n### Numbers of {}\n\n{table}", experiment.name)?;
    }
    Ok(())
}

#[cfg(test)]
mod page_tests {
    use super::{
        super::{Cell, Choice, Measured, outcome::Outcome, record::RunRecord, value::Lists},
        *,
    };
    use crate::experiments::EXPERIMENTS;
    use std::{collections::BTreeSet, env};

    /// A run of the publication's plan in which every reading takes as long to every city.
    fn kept(memory_mb: u64, latency: f64) -> KeptRun {
        let mut declared =
            EXPERIMENTS.iter().map(|method| Experiment::parse(method.declaration()).expect("a declaration"));
        let experiment = declared.find(|known| known.name == "windcomm").expect("windcomm");
        let choice = Choice { plan: "paper".into(), set: Lists::new(), only: Lists::new(), repeat: 1 };
        let cells = choice.cells(&experiment).expect("cells");
        let measures = [
            ("latency_mean_ms", latency),
            ("latency_sd_ms", 3.0),
            ("readings", 1_200.0),
            ("link_down_ms", 39.0),
        ];
        let measures: BTreeMap<_, _> = measures.map(|(name, value)| (name.to_owned(), value)).into();
        let result = |cell: &Cell| CellResult {
            cell: cell.clone(),
            began: "2026-11-23T22:00:00Z".into(),
            seconds: 300.0,
            outcome: Outcome::Measured(Measured { measures: measures.clone(), ..Measured::default() }),
        };
        let count = if memory_mb > 1 { cells.len() } else { 1 };
        let results = cells.iter().take(count).map(result).collect();
        let mut record = RunRecord::new(&experiment, choice, BTreeMap::new(), cells);
        record.machine.memory_mb = memory_mb;
        record.began = format!("2026-11-23T22:00:0{memory_mb}Z");
        KeptRun { record, results }
    }

    #[test]
    fn the_page_shows_the_runs_of_one_machine_with_verdicts() {
        let folder = tempfile::tempdir().expect("a folder");
        for run in [kept(1, 1_000.0), kept(2, 40.0)] {
            run.write(folder.path()).expect("a file");
        }
        let Page { text: page, pictures } = page(EXPERIMENTS, folder.path()).expect("a page");
        let names: Vec<_> = pictures.keys().collect();
        assert_eq!(names, ["windcomm-table-1-1.svg", "windcomm-table-1-2.svg", "windcomm-table-1-3.svg"]);
        assert!(names.iter().all(|name| page.contains(&format!("({PICTURES}/{name})"))), "{page}");
        assert!(
            page.contains("36 of 36 cells of the plan paper") && !page.contains("1 of 36 cells"),
            "{page}"
        );
        let row = |start: &str| page.lines().find(|line| line.contains(start)).expect("a row");
        let edmonton = row("mean to Edmonton").split('|').map(str::trim).collect::<Vec<_>>();
        assert_eq!(edmonton[5..9], ["40", "0.99", "holds", "BROWSER=chromium for firefox"], "{page}");
        assert!(row("highest mean, to Nagaoka").contains("does not hold here"), "{page}");
        // Nothing tells doors apart that are as late.
        assert!(row("nine, one and two").contains("0, 0, 12"), "{page}");
    }

    #[test]
    fn cells_that_failed_do_not_make_a_series_the_largest() {
        let failed = |mut run: KeptRun| {
            for result in &mut run.results {
                result.outcome = Outcome::Failed("no browser".into());
            }
            run
        };
        let series = MachineSeries::largest(vec![failed(kept(2, 40.0)), kept(1, 40.0)]);
        assert_eq!((series.runs.len(), series.measured()), (1, 1));
    }

    #[test]
    fn the_page_is_what_the_committed_runs_say() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the repository");
        let file = root.join("docs/evidence/papers.md");
        let fresh = page(EXPERIMENTS, &root.join(RESULTS)).expect("a page");
        if env::var_os("OASIS_UPDATE_DOCS").is_some() {
            fresh.write(&file).expect("the page can be written");
        }
        let written = fs::read_to_string(&file).unwrap_or_default();
        let differ = written.lines().zip(fresh.text.lines()).find(|(written, fresh)| written != fresh);
        assert!(written == fresh.text, "run it again with OASIS_UPDATE_DOCS=1: {differ:?}");
        let entries = fs::read_dir(file.with_file_name(PICTURES)).into_iter().flatten();
        let names = entries.map(|entry| entry.expect("a picture").file_name().into_string().expect("a name"));
        assert_eq!(names.collect::<BTreeSet<_>>(), fresh.pictures.keys().cloned().collect());
        for (name, svg) in &fresh.pictures {
            let written = fs::read_to_string(file.with_file_name(PICTURES).join(name)).unwrap_or_default();
            assert!(written == *svg, "run it again with OASIS_UPDATE_DOCS=1: {name}");
        }
    }
}

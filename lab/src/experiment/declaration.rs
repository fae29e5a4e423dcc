//! Declaration of an experiment: the keys of its TOML file.

use super::value::{Lists, Value, Values};
use anyhow::{Context, bail, ensure};
use serde::Deserialize;
use std::collections::BTreeMap;

/// The name under which plans, figures and cells speak of the server.
pub const SERVER: &str = "SERVER";

/// An experiment.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Experiment {
    /// On the command line.
    pub name: String,
    /// In reports.
    pub title: String,
    /// The publication that it repeats.
    pub source: String,
    /// Everything that can be varied.
    #[serde(rename = "variable")]
    pub variables: Vec<Variable>,
    /// Everything that is measured.
    #[serde(rename = "server")]
    pub servers: Vec<Server>,
    /// Plans that can be run.
    #[serde(rename = "plan")]
    pub plans: Vec<Plan>,
    /// Figures that are drawn.
    #[serde(rename = "figure")]
    pub figures: Vec<Figure>,
    /// Numbers of the publication.
    #[serde(rename = "fact", default)]
    pub facts: Vec<Fact>,
    /// Measures of each two servers that are tested for a difference.
    #[serde(rename = "comparison", default)]
    pub comparisons: Vec<Comparison>,
    /// Measures that the report has for each cell.
    #[serde(rename = "column", default)]
    pub columns: Vec<Column>,
    /// Notes on the method of measurement.
    pub method: MethodNotes,
}

/// A variable.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Variable {
    /// As the publication names it.
    pub name: String,
    /// Unit of numbers.
    #[serde(default)]
    pub unit: String,
    /// In a line.
    pub meaning: String,
    /// Without a plan.
    pub default: Value,
    /// The values of the publication.
    #[serde(default)]
    pub paper: Vec<Value>,
    /// Whether the lab added it.
    #[serde(default)]
    pub is_own: bool,
    /// Values of other variables with which it matters; it always does if empty.
    #[serde(default)]
    pub matters_with: Lists,
}

/// A server.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Server {
    /// On the command line.
    pub name: String,
    /// In reports.
    pub title: String,
    /// Its description.
    pub what: String,
    /// Whether the publication measured it.
    #[serde(default)]
    pub is_of_paper: bool,
}

/// A plan.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// `default`, `quick` or `paper`.
    pub name: String,
    /// In a line.
    pub what: String,
    /// The servers it runs.
    pub servers: Vec<String>,
    /// Values for all its cells.
    #[serde(default)]
    pub set: Values,
    /// Factors for its values and those of its blocks, which stay the publication's.
    #[serde(default)]
    pub scale: BTreeMap<String, f64>,
    /// Numbers of the figures that its cells complete; a test compares them with the cells.
    #[serde(default)]
    pub figures: Vec<String>,
    /// Its parts.
    #[serde(rename = "block")]
    pub blocks: Vec<Block>,
}

/// Cells with every combination of some values.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Block {
    /// Title of these cells.
    pub title: String,
    /// Servers of the plan that it runs; all if empty.
    #[serde(default)]
    pub servers: Vec<String>,
    /// The values.
    #[serde(default)]
    pub values: Lists,
    /// Factors for its values besides those of the plan.
    #[serde(default)]
    pub scale: BTreeMap<String, f64>,
}

/// A figure of the publication.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    /// Its number there.
    pub number: String,
    /// Its subject.
    pub title: String,
    /// The drawn series, or `NAME.*` for all series whose names begin so, a curve each.
    pub series: Option<String>,
    /// The drawn distribution.
    pub distribution: Option<String>,
    /// The drawn measure, a point for each cell.
    pub measure: Option<String>,
    /// Another measure, which is drawn as lines of their own.
    pub beside: Option<String>,
    /// The variable on the horizontal axis of a measure.
    pub along: Option<String>,
    /// The measure on the horizontal axis of a measure.
    pub along_measure: Option<String>,
    /// Whether a measure is drawn as a multiple of its first point, with the laws that fit it.
    #[serde(default)]
    pub is_speed_up: bool,
    /// Values of the drawn cells.
    #[serde(default, rename = "where")]
    pub filter: Values,
    /// The variable that has a panel for each value.
    #[serde(default)]
    pub panels: String,
    /// Values that are drawn; those of the publication if empty.
    #[serde(default)]
    pub panel_values: Vec<Value>,
    /// The variables that distinguish the curves of a panel.
    #[serde(default)]
    pub curves: Vec<String>,
    /// Values of the publication's figure, if they are not all that it has of a variable. An empty list admits any value.
    #[serde(default)]
    pub points: Lists,
    /// Statement of the publication.
    #[serde(default)]
    pub paper: String,
    /// A remark.
    #[serde(default)]
    pub note: String,
    /// Why it is not reproduced.
    pub reason: Option<String>,
}

/// A number of the publication.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fact {
    /// Place in the publication.
    pub place: String,
    /// Measured quantity.
    pub what: String,
    /// The measure of a cell that is compared.
    pub measure: String,
    /// The server with which each one's measure is compared: the number is how they differ.
    pub against: Option<Against>,
    /// Values of the compared cells.
    #[serde(rename = "where")]
    pub filter: Values,
    /// Its numbers by server.
    #[serde(default)]
    pub paper: BTreeMap<String, f64>,
    /// Measures that the number needs beside it: what was delivered, of how much.
    pub delivered: Option<[String; 2]>,
    /// Which numbers of ours agree with it.
    #[serde(default)]
    pub judgment: Judgment,
}

/// Numbers that agree with a number of the publication.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Judgment {
    /// Numbers close to it.
    #[default]
    Close,
    /// Numbers not above it.
    AtMost,
    /// Shares in percent that are close to it, and whose rest to 100 is close to its rest: a lag of 90 % delivers ten times as much as one of 99 %.
    Share,
}

/// A difference to a server.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Against {
    /// That server.
    pub server: String,
    /// Which way it is counted.
    pub difference: Difference,
}

/// Comparison of two numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Difference {
    /// Ratio to the other's number.
    Times,
    /// Reduction from the other's number, in percent.
    Less,
    /// Additional ones that fit where the other's fits, in percent.
    MoreFit,
}

impl Difference {
    /// Between the other server's number and a server's own.
    pub fn between(self, other: f64, own: f64) -> f64 {
        match self {
            Self::Times => own / other,
            Self::Less => (1.0 - own / other) * 100.0,
            Self::MoreFit => (other / own - 1.0) * 100.0,
        }
    }
}

/// A mean of each server, compared with that of each other one by Welch's test.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Comparison {
    /// Title of the comparison.
    pub title: String,
    /// The measure that is the mean.
    pub mean: String,
    /// The measure that is the standard deviation.
    pub deviation: String,
    /// The measure that is the number of values.
    pub count: String,
    /// Number of values of each mean that the publication prints.
    pub paper_count: usize,
    /// Tallies of the publication.
    #[serde(rename = "tally", default)]
    pub tallies: Vec<Tally>,
}

/// A count of the tests of two servers by their result.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tally {
    /// Place in the publication.
    pub place: String,
    /// The two servers.
    pub servers: [String; 2],
    /// Tests that the publication counts in which the first one's mean is less.
    pub less: usize,
    /// Tests in which it is greater.
    pub greater: usize,
    /// Tests that do not tell the means apart.
    pub equal: usize,
}

/// A column of the report's table of cells.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Column {
    /// The measure.
    pub measure: String,
    /// Its heading.
    pub title: String,
}

/// Notes on the method of measurement.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MethodNotes {
    /// Differences from the method of the publication.
    pub differences: Vec<String>,
}

impl Figure {
    fn check(&self) -> anyhow::Result<()> {
        let Self { number, series, distribution, measure, beside, along, along_measure, reason, .. } = self;
        let given = [series, distribution, measure, reason].into_iter().flatten().count();
        ensure!(given == 1, "figure {number}: one of series, distribution, measure and reason");
        let axes = [along, along_measure].into_iter().flatten().count();
        ensure!(
            axes == usize::from(measure.is_some()),
            "figure {number}: a measure is drawn along a variable or along another measure"
        );
        ensure!(beside.is_none() || measure.is_some(), "figure {number}: beside what?");
        Ok(())
    }
}

impl Experiment {
    /// Parses a declaration, and checks that every name in it is declared.
    pub fn parse(text: &str) -> anyhow::Result<Self> {
        let experiment: Self = toml::from_str(text).context("the declaration of an experiment")?;
        experiment.check().with_context(|| format!("the declaration of {}", experiment.name))?;
        Ok(experiment)
    }

    fn check(&self) -> anyhow::Result<()> {
        for plan in &self.plans {
            plan.servers.iter().try_for_each(|name| self.server(name).map(drop))?;
            plan.set.keys().chain(plan.scale.keys()).try_for_each(|name| self.variable(name).map(drop))?;
            plan.figures.iter().try_for_each(|number| self.figure(number).map(drop))?;
            for block in &plan.blocks {
                block
                    .values
                    .keys()
                    .chain(block.scale.keys())
                    .try_for_each(|name| self.variable(name).map(drop))?;
                for name in &block.servers {
                    ensure!(plan.servers.contains(name), "{}: the plan does not run {name}", block.title);
                }
                ensure!(
                    block.values.values().all(|values| !values.is_empty()),
                    "{}: a variable without values",
                    block.title
                );
            }
        }
        for figure in &self.figures {
            figure.check()?;
            let panels = figure.reason.is_none().then_some(&figure.panels);
            let named = figure.filter.keys().chain(&figure.curves).chain(&figure.along).chain(panels);
            let named = named.chain(figure.points.keys());
            named.filter(|name| *name != SERVER).try_for_each(|name| self.variable(name).map(drop))?;
        }
        for variable in &self.variables {
            let named = variable.matters_with.keys().filter(|name| *name != SERVER);
            named.into_iter().try_for_each(|name| self.variable(name).map(drop))?;
        }
        for fact in &self.facts {
            fact.filter.keys().try_for_each(|name| self.variable(name).map(drop))?;
            let named = fact.paper.keys().chain(fact.against.iter().map(|against| &against.server));
            named.into_iter().try_for_each(|name| self.server(name).map(drop))?;
        }
        let tallies = self.comparisons.iter().flat_map(|comparison| &comparison.tallies);
        tallies.flat_map(|tally| &tally.servers).try_for_each(|name| self.server(name).map(drop))?;
        Ok(())
    }

    /// The variable with this name.
    pub fn variable(&self, name: &str) -> anyhow::Result<&Variable> {
        let known = || self.variables.iter().map(|variable| &*variable.name).collect::<Vec<_>>().join(", ");
        let found = self.variables.iter().find(|variable| variable.name == name);
        found.with_context(|| format!("no variable {name}: there are {SERVER}, {}", known()))
    }

    /// The server with this name.
    pub fn server(&self, name: &str) -> anyhow::Result<&Server> {
        let known = || self.servers.iter().map(|server| &*server.name).collect::<Vec<_>>().join(", ");
        let found = self.servers.iter().find(|server| server.name == name);
        found.with_context(|| format!("no server {name}: there are {}", known()))
    }

    /// The figure with this number.
    pub fn figure(&self, number: &str) -> anyhow::Result<&Figure> {
        let found = self.figures.iter().find(|figure| figure.number == number);
        found.with_context(|| format!("no figure {number}"))
    }

    /// The plan with this name.
    pub fn plan(&self, name: &str) -> anyhow::Result<&Plan> {
        match self.plans.iter().find(|plan| plan.name == name) {
            Some(plan) => Ok(plan),
            None => {
                let known: Vec<_> = self.plans.iter().map(|plan| &*plan.name).collect();
                bail!("{} has no plan {name}: there are {}", self.name, known.join(", "))
            }
        }
    }
}

#[cfg(test)]
impl Experiment {
    /// Names of figures, numbers and columns that no measurement of these has.
    pub fn unmeasured(&self, all: &[super::Measured]) -> Vec<&str> {
        let figures = self.figures.iter();
        let measures =
            figures.clone().flat_map(|figure| [&figure.measure, &figure.beside, &figure.along_measure]);
        let facts = self.facts.iter().flat_map(|fact| fact.delivered.iter().flatten().chain([&fact.measure]));
        let columns = self.columns.iter().map(|column| &column.measure);
        let means =
            self.comparisons.iter().flat_map(|tested| [&tested.mean, &tested.deviation, &tested.count]);
        let measures = measures.flatten().chain(facts).chain(columns).chain(means);
        let missing =
            measures.filter(|name| all.iter().all(|measured| !measured.measures.contains_key(*name)));
        let series = figures.clone().filter_map(|figure| figure.series.as_ref());
        let no_series = series.filter(|name| all.iter().all(|measured| !measured.series.contains_key(*name)));
        let distributions = figures.filter_map(|figure| figure.distribution.as_ref());
        let without = distributions
            .filter(|name| all.iter().all(|measured| !measured.distributions.contains_key(*name)));
        missing.chain(no_series).chain(without).map(|name| &**name).collect()
    }
}

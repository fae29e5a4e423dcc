//! The cells of a plan.

use super::{
    declaration::{Block, Experiment, Plan, SERVER},
    value::{Lists, Value, Values, combinations},
};
use anyhow::{Context, bail, ensure};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Choice of cells to run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Choice {
    /// The plan's name.
    pub plan: String,
    /// Values in place of the plan's.
    pub set: Lists,
    /// Cells with other values are left out.
    pub only: Lists,
    /// Number of repetitions of each cell.
    pub repeat: usize,
}

/// One measurement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cell {
    /// Unique in its run, and the name of its file.
    pub id: String,
    /// Title of its block.
    pub title: String,
    /// The measured server.
    pub server: String,
    /// Which of its repetitions, from 1.
    pub repetition: usize,
    /// The publication's values that it stands for, those of all variables.
    pub stands_for: Values,
    /// The values it runs with: a plan may scale the publication's.
    pub settings: Values,
}

impl Cell {
    /// Whether it stands for these values.
    pub fn matches(&self, filter: &Values) -> bool {
        filter.iter().all(|(name, value)| self.value(name).as_ref() == Some(value))
    }

    /// The value that it stands for.
    pub fn value(&self, name: &str) -> Option<Value> {
        if name == SERVER {
            return Some(Value::Text(self.server.clone()));
        }
        self.stands_for.get(name).cloned()
    }

    /// The word, or the number as a word, with which it runs.
    pub fn text(&self, name: &str) -> anyhow::Result<String> {
        self.setting(name).map(Value::to_string)
    }

    /// The flag with which it runs.
    pub fn flag(&self, name: &str) -> anyhow::Result<bool> {
        match self.setting(name)? {
            Value::Flag(flag) => Ok(*flag),
            other => bail!("{name}={other}: true or false"),
        }
    }

    /// The number with which it runs.
    pub fn whole(&self, name: &str) -> anyhow::Result<u64> {
        match self.setting(name)? {
            Value::Number(number) if *number >= 0 => Ok(number.unsigned_abs()),
            other => bail!("{name}={other}: a whole number"),
        }
    }

    /// The number with which it runs, of things.
    pub fn count(&self, name: &str) -> anyhow::Result<usize> {
        self.whole(name)?.try_into().context(name.to_owned())
    }

    /// The time with which it runs.
    pub fn time(&self, name: &str, unit_millis: u64) -> anyhow::Result<Duration> {
        Ok(Duration::from_millis(unit_millis.saturating_mul(self.whole(name)?)))
    }

    fn setting(&self, name: &str) -> anyhow::Result<&Value> {
        self.settings.get(name).with_context(|| format!("the cell has no {name}"))
    }

    /// Returns the key that it has in common with its repetitions. A scaled cell does not repeat one that has the publication's values.
    pub fn key(&self) -> (&str, &Values, &Values) {
        (&self.server, &self.stands_for, &self.settings)
    }
}

impl Choice {
    /// Parses `K=V` or `K=V,V` for a variable of the experiment.
    pub fn parse_list(experiment: &Experiment, text: &str) -> anyhow::Result<(String, Vec<Value>)> {
        let (name, values) = text.split_once('=').with_context(|| format!("{text}: write VARIABLE=VALUE"))?;
        let parse = |value: &str| {
            if name == SERVER {
                return Ok(Value::Text(experiment.server(value)?.name.clone()));
            }
            experiment.variable(name)?.default.parse_like(value).with_context(|| text.to_owned())
        };
        Ok((name.to_owned(), values.split(',').map(parse).collect::<anyhow::Result<_>>()?))
    }

    /// All cells in the order in which they are run. Servers with the same values are neighbors, so that a change of the machine affects all of them; each
    /// repetition begins with another server.
    pub fn cells(&self, experiment: &Experiment) -> anyhow::Result<Vec<Cell>> {
        let plan = experiment.plan(&self.plan)?;
        let mut cells: Vec<Cell> = Vec::new();
        for repetition in 0..self.repeat {
            let mut servers = self.servers(plan);
            let first = repetition % servers.len().max(1);
            servers.rotate_left(first);
            for block in &plan.blocks {
                for values in combinations(&self.lists(block)) {
                    let has = |server: &&String| block.servers.is_empty() || block.servers.contains(server);
                    for server in servers.iter().filter(has) {
                        let cell = self.cell(experiment, plan, (block, &values), (server, repetition + 1));
                        let is_double = cells
                            .iter()
                            .any(|had| had.key() == cell.key() && had.repetition == cell.repetition);
                        if !is_double && self.is_wanted(&cell) {
                            cells.push(cell);
                        }
                    }
                }
            }
        }
        ensure!(!cells.is_empty(), "no cell has the values of --only");
        number(&mut cells);
        Ok(cells)
    }

    fn servers(&self, plan: &Plan) -> Vec<String> {
        match self.set.get(SERVER) {
            Some(servers) => servers.iter().map(Value::to_string).collect(),
            None => plan.servers.clone(),
        }
    }

    /// The block's lists, and those that are set in their place.
    fn lists(&self, block: &Block) -> Lists {
        let mut lists = block.values.clone();
        let set = self.set.iter().filter(|(name, _)| *name != SERVER);
        lists.extend(set.map(|(name, values)| (name.clone(), values.clone())));
        lists
    }

    fn cell(
        &self,
        experiment: &Experiment,
        plan: &Plan,
        (block, values): (&Block, &Values),
        (server, repetition): (&str, usize),
    ) -> Cell {
        let mut stands_for: Values = experiment
            .variables
            .iter()
            .map(|variable| (variable.name.clone(), variable.default.clone()))
            .collect();
        stands_for.extend(plan.set.clone());
        stands_for.extend(values.clone());
        let mut settings = stands_for.clone();
        for (name, factor) in
            plan.scale.iter().filter(|(name, _)| !block.scale.contains_key(*name)).chain(&block.scale)
        {
            // Values of the command line are not scaled.
            let is_declared = block.values.contains_key(name) || plan.set.contains_key(name);
            let is_scaled = is_declared && !self.set.contains_key(name);
            if let Some(value) = settings.get_mut(name).filter(|_| is_scaled) {
                *value = value.scaled(*factor);
            }
        }
        let numbers = values.values().filter(|value| matches!(value, Value::Number(_))).map(Value::to_string);
        let id =
            [server.to_owned(), slug(&block.title)].into_iter().chain(numbers).collect::<Vec<_>>().join("-");
        Cell { id, title: block.title.clone(), server: server.to_owned(), repetition, stands_for, settings }
    }

    fn is_wanted(&self, cell: &Cell) -> bool {
        self.only.iter().all(|(name, values)| cell.value(name).is_some_and(|value| values.contains(&value)))
    }
}

fn slug(title: &str) -> String {
    let words = title.split(|letter: char| !letter.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_ascii_lowercase).collect::<Vec<_>>().join("-")
}

fn number(cells: &mut [Cell]) {
    let digits = cells.len().to_string().len();
    for (index, cell) in cells.iter_mut().enumerate() {
        cell.id = format!("{:0digits$}-{}", index + 1, cell.id);
    }
}

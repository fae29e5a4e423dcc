use super::{
    Oasis2013,
    settings::{Settings, Test},
};
use crate::experiment::{Cell, Choice, Experiment, Method};
use oasis_instrument::Rate;
use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

fn experiment() -> Experiment {
    Experiment::parse(Oasis2013.declaration()).expect("the declaration")
}

fn cells(plan: &str) -> Vec<Cell> {
    let choice = Choice { plan: plan.into(), set: BTreeMap::new(), only: BTreeMap::new(), repeat: 1 };
    choice.cells(&experiment()).expect("cells")
}

#[test]
fn every_cell_of_every_plan_has_settings() {
    for plan in experiment().plans {
        for cell in cells(&plan.name) {
            let settings = Settings::of(&cell).expect("settings");
            assert!(settings.rate != Rate::Max || settings.test == Test::Throughput);
        }
    }
}

#[test]
fn the_quick_plan_takes_less_than_five_minutes() {
    let cells = cells("quick");
    let length: Duration = cells.iter().map(|cell| Oasis2013.expected(cell)).sum();
    assert!(length < Duration::from_secs(290), "{} cells, {length:?}", cells.len());
}

#[test]
fn every_figure_and_table_of_the_publications_is_in_the_index() {
    let numbers: BTreeSet<String> = experiment().figures.into_iter().map(|figure| figure.number).collect();
    let of_appendices =
        (1..=4).map(|number| format!("A.{number}")).chain((1..=9).map(|number| format!("B.{number}")));
    let wanted = ["3.1", "4.1", "4.2", "4.3", "5.1", "5.2", "5.3", "5.4", "5.5", "tables 5.1, 5.2"];
    for number in wanted.into_iter().map(str::to_owned).chain(of_appendices) {
        assert!(numbers.contains(&number), "{number}");
    }
}

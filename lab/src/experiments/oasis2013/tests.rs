use super::{
    Oasis2013,
    settings::{Settings, Test},
};
use crate::experiment::{Cell, Choice, Experiment, Method};
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
            assert!(settings.rate.hertz.is_some() || settings.test == Test::Throughput);
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

#[test]
fn the_index_says_what_became_of_each_figure_and_table_of_the_paper() {
    let experiment = experiment();
    let said = |words: &str| {
        let figures = experiment.figures.iter();
        figures
            .flat_map(|figure| [&figure.paper, figure.reason.as_ref().unwrap_or(&figure.note)])
            .any(|text| text.contains(words))
    };
    for number in 1..=7 {
        assert!(said(&format!("paper has it as figure {number}")), "{number}");
    }
    assert!(said("as tables I and II"));
    // Tables 5.1 and 5.2: three numbers in three rows of both, and the sizes of packets.
    let facts =
        experiment.facts.iter().filter(|fact| fact.place.starts_with("Thesis, tables 5.1 and 5.2; paper"));
    assert_eq!(facts.map(|fact| fact.paper.len()).sum::<usize>(), 2 * 9);
}

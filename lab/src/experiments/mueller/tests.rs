use super::{Mueller, Settings};
use crate::experiment::{Cell, Choice, Experiment, Method};
use std::{collections::BTreeMap, time::Duration};

fn experiment() -> Experiment {
    Experiment::parse(Mueller.declaration()).unwrap()
}

fn cells(plan: &str) -> Vec<Cell> {
    let choice = Choice { plan: plan.into(), set: BTreeMap::new(), only: BTreeMap::new(), repeat: 1 };
    choice.cells(&experiment()).unwrap()
}

/// Returns the settings of the plan without flags.
pub fn settings() -> Settings {
    Settings::of(&cells("default")[0]).unwrap()
}

#[test]
fn the_paper_has_2400_and_25000_connections() {
    let wanted = |title: &str| -> Vec<usize> {
        let cells = cells("paper");
        let of = cells.iter().filter(|cell| cell.title == title && cell.server == "oasis");
        of.map(|cell| Settings::of(cell).unwrap().wanted()).collect()
    };
    assert_eq!(wanted("Client scalability"), [1_800, 3_600]);
    assert_eq!(wanted("More workers"), [2_400; 4]);
    assert_eq!(wanted("More workers than cores"), [6_400; 3]);
    assert_eq!(wanted("More connections"), [3_600]);
    assert_eq!(wanted("Concurrent connections"), [25_200]);
}

#[test]
fn the_quick_plan_takes_less_than_five_minutes() {
    let cells = cells("quick");
    let length: Duration = cells.iter().map(|cell| Mueller.expected(cell)).sum();
    assert!(length < Duration::from_secs(290), "{} cells, {length:?}", cells.len());
}

#[test]
fn every_figure_of_the_paper_is_in_the_index() {
    let experiment = experiment();
    let has = |number: &str| experiment.figures.iter().any(|figure| figure.number == number);
    for (chapter, count) in [("1", 13), ("3", 14), ("A", 4), ("B", 2), ("C", 1)] {
        for number in 1..=count {
            assert!(has(&format!("{chapter}.{number}")), "{chapter}.{number}");
        }
    }
}

#[test]
fn the_servers_limits_bound_the_connections() {
    let mut settings = settings();
    (settings.clients, settings.rate, settings.ramp) = (3, 56, Duration::from_secs(150));
    assert_eq!(settings.wanted(), 25_200);
    let most = crate::cpu::most_connections();
    settings.rival = super::rival::Rival::EngineIo;
    settings.workers = 1;
    assert_eq!(settings.connections(), 25_200.min(most / 3 * 3));
}

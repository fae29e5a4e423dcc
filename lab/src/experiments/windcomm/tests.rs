use super::{
    super::relay::Delays,
    WindComm,
    pages::PageResult,
    settings::{Door, Settings},
    summary,
};
use crate::experiment::{Cell, Choice, Experiment, Method};
use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

fn experiment() -> Experiment {
    Experiment::parse(WindComm.declaration()).expect("the declaration")
}

fn cells(plan: &str, repeat: usize) -> Vec<Cell> {
    let choice = Choice { plan: plan.into(), set: BTreeMap::new(), only: BTreeMap::new(), repeat };
    choice.cells(&experiment()).expect("cells")
}

/// Returns the settings of the plan without flags.
pub fn settings(door: &str) -> Settings {
    let cell = cells("default", 1).into_iter().find(|cell| cell.server == door).expect("a cell");
    Settings::of(&cell).expect("settings")
}

#[test]
fn the_paper_has_36_runs_of_1200_readings_and_each_test_has_its_delays() {
    let cells = cells("paper", 1);
    let settings: Vec<_> = cells.iter().map(|cell| Settings::of(cell).expect("settings")).collect();
    assert!(settings.iter().all(|settings| settings.readings == 1_200));
    let ways: BTreeSet<_> = settings
        .iter()
        .map(|settings| format!("{} {}", settings.link.mean, settings.link.deviation))
        .collect();
    assert_eq!((cells.len(), ways.len()), (36, 12));
    // The way of a test is what its WebSocket saw.
    for fact in experiment().facts.iter().filter(|fact| fact.place.starts_with("Table 1, ")) {
        let is_of_fact = |cell: &&Cell| cell.matches(&fact.filter) && cell.server == "websocket";
        let cell = cells.iter().find(is_of_fact).expect("a cell");
        let link = Settings::of(cell).expect("settings").link;
        let printed = fact.paper.get("websocket").copied();
        match &*fact.measure {
            "latency_mean_ms" if fact.against.is_none() => {
                assert_eq!(printed, Some(link.mean), "{}", fact.place)
            }
            "latency_sd_ms" => assert_eq!(printed, Some(link.deviation), "{}", fact.place),
            _ => {}
        }
    }
}

#[test]
fn the_quick_plan_takes_less_than_five_minutes() {
    let cells = cells("quick", 1);
    let length: Duration = cells.iter().map(|cell| WindComm.expected(cell)).sum();
    assert!(length < Duration::from_secs(290), "{} cells, {length:?}", cells.len());
}

#[test]
fn every_figure_and_table_of_the_paper_is_in_the_index() {
    let numbers: BTreeSet<String> = experiment().figures.into_iter().map(|figure| figure.number).collect();
    for number in ["1", "2", "table 1"] {
        assert!(numbers.contains(number), "{number}");
    }
    // Table 1: four cities, three tests, three doors; mean, deviation and ratio.
    let facts = experiment().facts;
    let table: Vec<_> = facts.iter().filter(|fact| fact.place.starts_with("Table 1, ")).collect();
    let printed: usize = table.iter().map(|fact| fact.paper.len()).sum();
    assert_eq!((table.len(), printed), (36, 4 * 3 * (3 + 3 + 2)));
}

#[test]
fn cells_measure_what_figures_and_numbers_name() {
    let delays = Delays { up: vec![40.0; 30], down: vec![40.0; 30], exchanges: Vec::new() };
    let result = |door: &Door| PageResult {
        door: door.name().into(),
        latencies: vec![40.0, 41.0, 42.0],
        delivered_after: 7_542.0,
        handovers: vec![2.0],
        offsets: [0.0; 2],
        browser: "a browser".into(),
        error: String::new(),
    };
    let measured = cells("default", 1).into_iter().map(|cell| {
        let settings = Settings::of(&cell).expect("settings");
        let results: Vec<_> = settings.doors.iter().map(result).collect();
        summary::measured(&settings, &results, &delays, &[])
    });
    let measured: Vec<_> = measured.collect();
    assert_eq!(experiment().unmeasured(&measured), [""; 0]);
    // Two periods between three readings would be half a second: what the page saw counts.
    let all = measured.iter().flat_map(|measured| &measured.measures);
    let delivered: Vec<f64> =
        all.filter(|(name, _)| name.ends_with("delivered_after_s")).map(|(_, value)| *value).collect();
    assert!(!delivered.is_empty() && delivered.iter().all(|seconds| *seconds == 7.542), "{delivered:?}");
}

use super::{Frizelle, test_plan::TestPlan};
use crate::experiment::{Choice, Experiment, Method, Value};
use std::{collections::BTreeMap, time::Duration};

fn experiment() -> Experiment {
    Experiment::parse(Frizelle.declaration()).unwrap()
}

fn choice(plan: &str) -> Choice {
    Choice { plan: plan.into(), set: BTreeMap::new(), only: BTreeMap::new(), repeat: 1 }
}

#[test]
fn the_plan_of_the_study_has_its_195_cells() {
    let cells = choice("paper").cells(&experiment()).unwrap();
    let of_the_study = || cells.iter().filter(|cell| ["node", "tc6", "tc7"].contains(&&*cell.server));
    let count = |title: &str| of_the_study().filter(|cell| cell.title == title).count();
    let with_events = count("Comet, with events") + count("Long poll, with events");
    assert_eq!((with_events, count("Comet, no events"), count("Long poll, no events")), (120, 15, 60));
    assert_eq!((of_the_study().count(), cells.len()), (195, 260));
    assert!(cells.iter().all(|cell| TestPlan::of(cell).unwrap().test_duration == Duration::from_secs(600)));
}

#[test]
fn the_quick_plan_has_twelve_cells_at_a_tenth() {
    let cells = choice("quick").cells(&experiment()).unwrap();
    assert_eq!(cells.len(), 12);
    let length: Duration = cells.iter().map(|cell| Frizelle.expected(cell)).sum();
    assert!(length < Duration::from_secs(300), "{length:?}");
    for cell in &cells {
        assert_eq!(cell.stands_for["NUMTHREADS"], Value::Number(20_000));
        assert_eq!(TestPlan::of(cell).unwrap().num_threads, 2_000);
    }
}

#[test]
fn the_test_plan_has_the_fourteen_variables_of_the_study() {
    let experiment = experiment();
    let theirs = experiment.variables.iter().filter(|variable| !variable.is_own);
    assert_eq!(theirs.count(), 14);
}

#[test]
fn every_figure_of_the_study_is_in_the_index() {
    let experiment = experiment();
    let has = |number: usize| experiment.figures.iter().any(|figure| figure.number == number.to_string());
    assert!((1..=28).all(has));
}

#[test]
fn values_can_be_set_and_cells_chosen() {
    let experiment = experiment();
    let list = |text: &str| Choice::parse_list(&experiment, text).unwrap();
    let mut choice = choice("paper");
    choice.set.extend([list("SERVER=bare"), list("TEST_DURATION=60")]);
    choice.only.extend([
        list("NUMTHREADS=20000"),
        list("EMIT_INTERVAL=10000"),
        list("EVENT_SET_ENABLED=true"),
    ]);
    let cells = choice.cells(&experiment).unwrap();
    assert_eq!(
        cells.iter().map(|cell| &*cell.id).collect::<Vec<_>>(),
        ["1-bare-comet-with-events-10000-20000-60", "2-bare-long-poll-with-events-10000-20000-180000-60"]
    );
    assert!(Choice::parse_list(&experiment, "THREADS=1").unwrap_err().to_string().contains("NUMTHREADS"));
    assert!(Choice::parse_list(&experiment, "SERVER=apache").is_err());
}

#[test]
fn repetitions_begin_with_different_servers() {
    let experiment = experiment();
    let cells = Choice { repeat: 2, ..choice("default") }.cells(&experiment).unwrap();
    let first = |repetition: usize| cells.iter().find(|cell| cell.repetition == repetition).unwrap();
    assert_eq!((&*first(1).server, &*first(2).server), ("oasis", "axum"));
}

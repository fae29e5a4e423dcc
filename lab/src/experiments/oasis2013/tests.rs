use super::{
    super::{browser::TabMemory, relay::Delays},
    Oasis2013,
    daemon::INSTANCES,
    pages::{InstanceReport, PageReport},
    settings::{Settings, Test},
    summary::{self, MemoryReading, Observed},
};
use crate::{
    experiment::{Cell, Choice, Experiment, Method},
    overhead::Traffic,
};
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

#[test]
fn cells_measure_what_figures_and_numbers_name() {
    let shown = INSTANCES.map(|(_, name)| InstanceReport {
        name: name.into(),
        received: 90,
        messages: 90,
        bytes: 9_000,
        held: 100,
        ages: vec![3.0, 4.0],
        newest: vec![3.0],
    });
    let reading = |at: u32| MemoryReading {
        at: f64::from(at),
        samples: u64::from(at),
        tab: TabMemory { resident: 10, private: 5 },
        heap: Some(1),
        held: u64::from(at),
    };
    let mut traffic = Traffic::default();
    traffic.sent.packets = 9;
    let measured = cells("default").into_iter().chain(cells("quick")).map(|cell| {
        let observed = Observed {
            page: PageReport { at: 0.0, browser: "a browser".into(), instances: shown.to_vec() },
            in_the_end: 180,
            sent: vec![100, 100],
            memory: (0..8).map(reading).collect(),
            traffic: Some(traffic),
            delays: Delays { up: Vec::new(), down: vec![1.0], exchanges: Vec::new() },
            watched: Vec::new(),
            seconds: 1.0,
        };
        summary::measured(&Settings::of(&cell).expect("settings"), &observed)
    });
    assert_eq!(experiment().unmeasured(&measured.collect::<Vec<_>>()), [""; 0]);
}

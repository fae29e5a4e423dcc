use super::{Million, Settings, limits::Limits};
use crate::experiment::{Choice, Experiment, Method, Value};
use std::collections::BTreeMap;

fn settings(plan: &str, set: &[(&str, i64)]) -> anyhow::Result<Vec<Settings>> {
    let experiment = Experiment::parse(Million.declaration()).unwrap();
    let set = set.iter().map(|(name, value)| ((*name).to_owned(), vec![Value::Number(*value)])).collect();
    let choice = Choice { plan: plan.into(), set, only: BTreeMap::new(), repeat: 1 };
    choice.cells(&experiment).unwrap().iter().map(Settings::of).collect()
}

#[test]
fn a_million_watchers_need_52_relays_and_each_has_its_part() {
    let [million] = settings("million", &[]).unwrap().try_into().unwrap();
    let parts = million.parts();
    assert_eq!((parts.len(), parts.iter().sum::<usize>(), parts[51]), (52, 1_000_000, 5_500));
    assert_eq!(settings("steps", &[]).unwrap().len(), 3);
}

#[test]
fn a_relay_with_more_sockets_than_an_address_has_ports_is_refused() {
    let error = settings("default", &[("SOCKETS", 60_000)]).unwrap_err().to_string();
    assert!(error.contains("SOCKETS=60000: 1 to 50000"), "{error}");
}

#[test]
fn what_does_not_fit_is_named_with_what_to_raise() {
    let [settings] = settings("million", &[]).unwrap().try_into().unwrap();
    let enough = Limits {
        open_files: 20_000,
        free_files: Some(2_400_000),
        epoll_watches: None,
        tracked: None,
        memory: Some(22 << 30),
    };
    enough.check(&settings).unwrap();
    let few = Limits { open_files: 1_024, free_files: Some(100_000), tracked: Some(65_536), ..enough };
    let error = few.check(&settings).unwrap_err().to_string();
    for part in ["ulimit -Hn", "fs.file-max", "nf_conntrack_max", "2020000 open files of the machine"] {
        assert!(error.contains(part), "{part}: {error}");
    }
    assert!(!error.contains("epoll") && !error.contains("memory"), "{error}");
}

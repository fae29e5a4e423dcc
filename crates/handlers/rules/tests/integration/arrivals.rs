//! Rules of nodes that come from another DAC.

use crate::common::{Plant, Pumps, wait};
use oasis_alarms::HandoverPage;
use oasis_handler::Handler;
use oasis_rules::Standing;
use std::time::Instant;

const RULES: &str = "input p = \"*/pump\" : Pump;
    alarm Often { raise count(p.temperature > 95, last 3) >= 3; }
    alarm Hot { raise p.temperature > 95; latch; }";

/// Returns the state that a DAC hands over of a node that has sent these temperatures.
fn given(temperatures: &[f64]) -> HandoverPage {
    let plant = Plant::new(RULES);
    let mut pumps = Pumps::new(&plant.dac, "north", 1, &["pump"]);
    pumps.send("pump", temperatures);
    plant.wait_for_samples(temperatures.len() as u64);
    plant.stop();
    plant.alarms.handovers(0, |_, _| true).unwrap()
}

/// A DAC to which the node comes after `skipped` samples, and sends one more.
fn next(page: &HandoverPage, skipped: u64, temperature: f64) -> (Plant, Pumps) {
    let plant = Plant::new(RULES);
    let copies = plant.alarms.copies();
    assert!(copies.add("hall-1"));
    let mut pumps = Pumps::new(&plant.dac, "north", 1, &["pump"]);
    pumps.skip("pump", skipped);
    pumps.send("pump", &[temperature]);
    wait("the states of the other DAC", || {
        let mut page = page.clone();
        page.nodes.iter_mut().for_each(|node| node.is_final = true);
        copies.take("hall-1", page, Instant::now());
        (plant.rules.state()["taken_nodes"] == 1).then_some(())
    });
    plant.wait_for_samples(1);
    (plant, pumps)
}

#[test]
fn a_window_goes_on_at_the_next_sample() {
    let (plant, _pumps) = next(&given(&[99.0, 99.0]), 2, 99.0);
    let often = plant.wait_for_standing("Often", Standing::Active);
    assert_eq!(often.sequence, Some(3));
    let hot = plant.wait_for_standing("Hot", Standing::Active);
    assert_eq!(hot.sequence, Some(1), "it was raised at the other DAC");
    assert_eq!(plant.journal().iter().filter(|(rule, ..)| rule == "Hot").count(), 1, "{:?}", plant.journal());
}

#[test]
fn samples_that_only_the_other_dac_has_make_it_unknown_and_never_wrong() {
    let (plant, mut pumps) = next(&given(&[20.0, 99.0, 99.0]), 8, 99.0);
    pumps.send("pump", &[20.0]);
    plant.wait_for_samples(2);
    plant.stop();
    let of_it: Vec<_> = plant.entries().into_iter().filter(|entry| entry.rule == "Often").collect();
    let kinds: Vec<_> = of_it.iter().map(|entry| entry.kind.name()).collect();
    assert_eq!(kinds, ["known", "unknown"], "the newest first");
    let unknown = &of_it[1];
    assert!(unknown.cause.as_ref().is_some_and(|cause| cause.contains("other_dac")));
    assert_eq!(unknown.missing, Some(5));
    // The alarm that stood has the end that it has seen.
    plant.wait_for_standing("Hot", Standing::Latched);
}

#[test]
fn an_alarm_without_the_states_of_its_rule_goes_on() {
    let mut page = given(&[99.0, 99.0]);
    page.nodes[0].checkpoints.clear();
    let (plant, mut pumps) = next(&page, 2, 99.0);
    assert!(plant.journal().iter().all(|(rule, kind, _)| rule != "Hot" || kind != "raised"));
    pumps.send("pump", &[20.0]);
    plant.wait_for_standing("Hot", Standing::Latched);
}

#[test]
fn a_dac_that_had_the_node_later_does_not_take_what_an_earlier_one_has() {
    let page = given(&[99.0, 99.0]);
    let (plant, pumps) = next(&page, 2, 99.0);
    pumps.leave();
    plant.restart();
    let mut pumps = Pumps::new(&plant.dac, "north", 1, &["pump"]);
    pumps.skip("pump", 3);
    pumps.send("pump", &[20.0]);
    wait("the end of the alarm", || {
        plant.alarms.copies().take("hall-1", page.clone(), Instant::now());
        plant.journal().iter().any(|(rule, kind, _)| rule == "Hot" && kind == "cleared").then_some(())
    });
    let taken = plant.journal().iter().filter(|(_, kind, _)| kind == "taken_over").count();
    assert_eq!(taken, 1, "{:?}", plant.journal());
}

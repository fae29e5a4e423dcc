//! Series that this DAC has sent to Prometheus itself, by remote write or `/metrics`.
//!
//! They have the labels `node` and `instance` with the names of an instance of this DAC. Taken again, each would be an instance, be sent, and come back
//! under yet another name. Series of another DAC have names that are not known here, unless this DAC has the instance too, by a node or a relay.

/// Most DACs that may have sent a series on: two of them may send to each other through one Prometheus.
const MAX_DACS_PASSED: usize = 2;
/// Most characters of a series in a warning.
const MAX_QUOTED_CHARACTERS: usize = 120;
/// Prometheus puts it in front of a label that a target and its samples both have, once more for each scrape on the way.
pub const EXPORTED: &str = "exported_";

/// Returns the name of a series that comes from this DAC, `NODE/INSTANCE METRIC`; `None` for other series. `is_registered` knows nodes and instances.
pub fn find_loop(labels: &[(&str, &str)], is_registered: impl Fn(&str, &str) -> bool) -> Option<String> {
    let values = |wanted: &'static str| {
        let is_wanted = move |name: &str| name.trim_start_matches(EXPORTED) == wanted;
        labels.iter().filter(move |(name, _)| is_wanted(name)).map(|(_, value)| *value)
    };
    let looped = values("node").find_map(|node| {
        let mut instances = values("instance");
        let of_node =
            |instance: &&str| is_registered(node, instance) || dacs_passed(instance) > MAX_DACS_PASSED;
        instances.find(of_node).map(|instance| format!("{node}/{instance}"))
    })?;
    let metric = labels.iter().find(|(name, _)| *name == "__name__").map_or("", |(_, value)| *value);
    Some(format!("{looped} {metric}").chars().take(MAX_QUOTED_CHARACTERS).collect())
}

/// Returns the number of DACs that have sent a series, one after another: each makes the labels, with `node`, a part of the label `instance`.
fn dacs_passed(instance: &str) -> usize {
    let parts = instance.match_indices(",").map(|(at, _)| &instance[at + 1..]);
    let is_node = |part: &str| {
        let name = part.trim_start_matches(EXPORTED).strip_prefix("node");
        name.is_some_and(|rest| rest.trim_start_matches('\\').starts_with('='))
    };
    1 + parts.filter(|part| is_node(part)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(labels: &[(&str, &str)]) -> Option<String> {
        find_loop(labels, |node, instance| (node, instance) == ("plant", "tank"))
    }

    #[test]
    fn a_series_with_the_names_of_an_instance_comes_from_this_dac() {
        let own = [("__name__", "tank_level"), ("instance", "tank"), ("node", "plant")];
        assert_eq!(found(&own).unwrap(), "plant/tank tank_level");
        let scraped =
            [("exported_instance", "tank"), ("instance", "a:7070"), ("job", "oasis"), ("node", "plant")];
        assert!(found(&scraped).is_some());
        let federated = [
            ("exported_exported_instance", "tank"),
            ("exported_node", "plant"),
            ("node", "kube-1"),
            ("instance", "b:9090"),
        ];
        assert!(found(&federated).is_some());
        for other in [
            &[("__name__", "node_load1"), ("instance", "a:9100"), ("job", "node")][..],
            &[("__name__", "tank_level"), ("instance", "tank"), ("node", "other")],
            &[("instance", "tank")],
            &[("node", "plant")],
        ] {
            assert_eq!(found(other), None, "{other:?}");
        }
    }

    #[test]
    fn a_series_that_several_dacs_have_sent_on_is_not_taken() {
        let of = |instance: &str| found(&[("instance", instance), ("node", "prometheus-x")]);
        assert_eq!(of("tank_level,node=plant"), None, "the second DAC of a chain");
        let passed = r"tank_level_value,node=prometheus-tank\,node\=plant";
        assert!(of(passed).is_some());
        assert_eq!(of("a,b=no node\\=1,nodes=2"), None);
        assert!(found(&[("instance", &"\\,node\\=".repeat(10_000)), ("node", "x")]).unwrap().len() < 600);
    }
}

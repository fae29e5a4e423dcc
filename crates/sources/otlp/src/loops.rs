//! Data points that this DAC has sent to a Collector itself (`[otlp_export]`), and that come back.
//!
//! They name an instance of this DAC. Taken again, each would be an instance, be sent, and come back under yet another name.

use crate::attributes::Attribute;

/// The attribute of a resource with the name of the node, in what a DAC sends.
pub const NODE_ATTRIBUTE: &str = "service.name";
/// The attribute of a data point with the name of the instance.
const INSTANCE_ATTRIBUTE: &str = "oasis.instance";
/// Most DACs that may have sent a data point on: two of them may send to each other through one Collector.
const MAX_DACS_PASSED: usize = 2;
/// Most characters of a name in a warning.
const MAX_QUOTED_CHARACTERS: usize = 120;

/// Returns the name of the instance, `NODE/INSTANCE`, if a data point comes from this DAC. `is_registered` knows nodes and instances.
pub fn find_loop(
    node: &str,
    attributes: &[Attribute<'_>],
    is_registered: impl Fn(&str, &str) -> bool,
) -> Option<String> {
    let (_, instance) = attributes.iter().find(|(key, _)| key == INSTANCE_ATTRIBUTE)?;
    // Each DAC makes the attributes a part of the name of its instance.
    let dacs_passed = 1 + instance.matches(INSTANCE_ATTRIBUTE).count();
    let is_looped = dacs_passed > MAX_DACS_PASSED || is_registered(node, instance);
    is_looped.then(|| format!("{node}/{instance}").chars().take(MAX_QUOTED_CHARACTERS).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_data_point_that_names_an_instance_comes_from_this_dac() {
        let found = |node: &str, key: &'static str, instance: &str| {
            let attributes = [("cpu".into(), "0".into()), (key.into(), instance.to_owned().into())];
            find_loop(node, &attributes, |node, instance| (node, instance) == ("plant", "tank"))
        };
        assert_eq!(found("plant", "oasis.instance", "tank").unwrap(), "plant/tank");
        let passed = r"level,oasis.instance=level\,oasis.instance\=tank";
        assert!(found("x", "oasis.instance", passed).is_some());
        assert!(found("x", "oasis.instance", &passed.repeat(100)).unwrap().len() <= MAX_QUOTED_CHARACTERS);
        for (node, key, instance) in [
            ("plant", "instance", "tank"),
            ("other", "oasis.instance", "tank"),
            ("plant", "oasis.instance", "level,oasis.instance=tank"),
        ] {
            assert_eq!(found(node, key, instance), None, "{node} {key} {instance}");
        }
    }
}

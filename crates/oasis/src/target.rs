//! `NODE/INSTANCE` as typed on the command line.

use oasis_format::visible::Visible;
use oasis_store::History;
use std::{fmt, str::FromStr};

/// A probe instance by its names.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Target {
    /// Node name.
    pub node: String,
    /// Instance name.
    pub instance: String,
}

impl FromStr for Target {
    type Err = String;
    /// The node ends at the first slash: instance names such as `network/eth0` contain some.
    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once('/') {
            Some((node, instance)) if !node.is_empty() && !instance.is_empty() => {
                Ok(Self { node: node.into(), instance: instance.into() })
            }
            _ => Err("use NODE/INSTANCE, such as my-host/processor; 'my-host/*' for all of a node if several are allowed".into()),
        }
    }
}

impl Target {
    /// As typed.
    pub fn plain(&self) -> String {
        format!("{}/{}", self.node, self.instance)
    }

    /// Whether it can match several.
    #[cfg(feature = "live")]
    pub fn is_pattern(&self) -> bool {
        self.plain().contains('*')
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", Visible(&self.node), Visible(&self.instance))
    }
}

/// Selects the named instances, without duplicates; a `*` matches any text.
///
/// # Errors
/// The first name without a match.
pub fn named(targets: &[Target], all: &[Target]) -> Result<Vec<Target>, Target> {
    let mut found: Vec<Target> = Vec::new();
    for target in targets {
        let is_named = |known: &Target| match all.contains(target) {
            // A name may have a star in it.
            true => known == target,
            false => oasis_wire::pattern::matches(&target.plain(), &known.plain()),
        };
        let mut fitting = all.iter().filter(|known| is_named(known)).peekable();
        if fitting.peek().is_none() {
            return Err(target.clone());
        }
        let new: Vec<_> = fitting.filter(|known| !found.contains(known)).cloned().collect();
        found.extend(new);
    }
    Ok(found)
}

/// Selects the named instances of an archive. Refuses names without a match.
pub fn known(history: &History, targets: &[Target]) -> anyhow::Result<Vec<Target>> {
    let all: Vec<_> =
        history.instances()?.into_iter().map(|(node, instance)| Target { node, instance }).collect();
    named(targets, &all).map_err(|unknown| {
        anyhow::anyhow!(
            "the archive has no samples of {unknown}: list its instances with `oasis archive show`"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_names_all_that_fit_each_once_and_in_order() {
        let targets =
            |texts: &[&str]| texts.iter().map(|text| text.parse().unwrap()).collect::<Vec<Target>>();
        let all = targets(&["a/cpu/0", "a/cpu/1", "a/memory", "b/memory", "b/*"]);
        let named = |texts: &[&str]| named(&targets(texts), &all);
        assert_eq!(named(&["a/memory"]), Ok(targets(&["a/memory"])));
        assert_eq!(
            named(&["a/cpu/*", "*/memory", "a/*"]),
            Ok(targets(&["a/cpu/0", "a/cpu/1", "a/memory", "b/memory"]))
        );
        assert_eq!(named(&["b/*"]), Ok(targets(&["b/*"])), "there is one of that name");
        assert_eq!(named(&["a/memory", "c/*"]), Err(targets(&["c/*"]).remove(0)));
    }

    #[test]
    fn the_node_ends_at_the_first_slash() {
        let target = Target { node: "plant".into(), instance: "network/eth0".into() };
        assert_eq!("plant/network/eth0".parse(), Ok(target));
        assert!(
            "plant".parse::<Target>().is_err()
                && "/x".parse::<Target>().is_err()
                && "x/".parse::<Target>().is_err()
        );
    }
}

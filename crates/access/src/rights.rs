//! Rights: the rules of all roles of a principal, compiled for quick decisions.

use crate::{
    pattern::Pattern,
    rule::Rule,
    target::Target,
    verb::{Verb, VerbSet},
};

/// The actions that are permitted to a principal.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rights {
    granted: Grants,
    /// A scope that the target must be in as well; absent for no limit.
    scope: Option<Grants>,
}

/// Compiled rules.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Grants {
    /// Verbs on everything: most principals need no more than these.
    everywhere: VerbSet,
    /// Verbs on something, those above included.
    somewhere: VerbSet,
    /// The rules with a pattern.
    some: Box<[Grant]>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Grant {
    verbs: VerbSet,
    node: Pattern,
    instance: Pattern,
}

impl Rights {
    /// Compiles rules. `mask` removes verbs from all of them; `scope`, if there is any rule in it, limits them further.
    pub fn new<'a>(rules: impl IntoIterator<Item = &'a Rule>, mask: VerbSet, scope: &[Rule]) -> Self {
        let scope = (!scope.is_empty()).then(|| Grants::new(scope, VerbSet::ALL));
        Self { granted: Grants::new(rules, mask), scope }
    }

    /// Whether the verb is permitted on the target. Allocates nothing.
    pub fn permit(&self, verb: Verb, target: Target<'_>) -> bool {
        self.granted.permit(verb, target)
            && self.scope.as_ref().is_none_or(|scope| scope.permit(verb, target))
    }
}

impl Grants {
    fn new<'a>(rules: impl IntoIterator<Item = &'a Rule>, mask: VerbSet) -> Self {
        let mut grants = Self::default();
        let mut some: Vec<Grant> = Vec::new();
        for rule in rules {
            let verbs = rule.verbs.set().and(mask);
            grants.somewhere = grants.somewhere.or(verbs);
            if rule.node.is_all() && rule.instance.is_all() {
                grants.everywhere = grants.everywhere.or(verbs);
                continue;
            }
            let same = |grant: &&mut Grant| grant.node == rule.node && grant.instance == rule.instance;
            match some.iter_mut().find(same) {
                Some(grant) => grant.verbs = grant.verbs.or(verbs),
                None => some.push(Grant { verbs, node: rule.node.clone(), instance: rule.instance.clone() }),
            }
        }
        grants.some = some.into();
        grants
    }

    fn permit(&self, verb: Verb, target: Target<'_>) -> bool {
        if self.everywhere.contains(verb) {
            return true;
        }
        if !self.somewhere.contains(verb) {
            return false;
        }
        self.some.iter().filter(|grant| grant.verbs.contains(verb)).any(|grant| grant.covers(target))
    }
}

impl Grant {
    fn covers(&self, target: Target<'_>) -> bool {
        match target {
            // A rule on everything is not in the list.
            Target::Dac => false,
            Target::Node(node) => self.instance.is_all() && self.node.matches(node),
            Target::Instance { node, instance } => self.node.matches(node) && self.instance.matches(instance),
            Target::SomeOfNode(node) => self.node.matches(node),
            Target::SomeOfDac => true,
        }
    }
}

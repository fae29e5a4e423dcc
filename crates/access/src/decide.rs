//! The decision: may this principal do this to that?

use crate::{
    principal::{Kind, Principal},
    target::Target,
    verb::Verb,
};

/// The answer to a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The action is permitted.
    Allowed,
    /// The principal may see the target, but not do this: HTTP 403.
    Forbidden,
    /// The principal may not know that the target exists: answer as if it did not, HTTP 404.
    Hidden,
    /// The caller has not signed in: HTTP 401.
    SignIn,
}

impl Verdict {
    /// Whether it is permitted.
    pub fn is_allowed(self) -> bool {
        self == Self::Allowed
    }

    /// Returns the word in the audit log.
    pub fn word(self) -> &'static str {
        match self {
            Self::Allowed => "allowed",
            Self::Forbidden => "forbidden",
            Self::Hidden => "hidden",
            Self::SignIn => "sign-in required",
        }
    }
}

/// Decides whether a principal may do something. Every door asks this function and no other.
///
/// Takes no lock and allocates nothing. A principal has the rights of the moment when it was made; a stream calls
/// [`Access::check`](crate::Access::check) to keep them current.
pub fn decide(principal: &Principal, verb: Verb, target: Target<'_>) -> Verdict {
    let rights = principal.rights();
    if rights.permit(verb, target) {
        return Verdict::Allowed;
    }
    if matches!(principal.kind(), Kind::Stranger | Kind::Local) {
        return Verdict::SignIn;
    }
    let visible_part = match target {
        Target::Node(node) => Target::SomeOfNode(node),
        other => other,
    };
    let is_visible = match target {
        Target::Dac | Target::SomeOfDac => true,
        _ => rights.permit(Verb::ReadLive, visible_part) || rights.permit(Verb::ReadPast, visible_part),
    };
    if is_visible { Verdict::Forbidden } else { Verdict::Hidden }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{rights::Rights, rule::Rule, verb::VerbSet};
    use proptest::prelude::*;

    const KINDS: [Kind; 4] = [Kind::Stranger, Kind::Local, Kind::Person, Kind::Program];

    fn principal(kind: Kind, rules: &[Rule], mask: VerbSet, scope: &[Rule]) -> Principal {
        Principal::with_rights(kind, "test", Rights::new(rules, mask, scope))
    }

    /// Whether a pattern matches, letter by letter.
    fn naive_match(pattern: &[char], text: &[char]) -> bool {
        match pattern.split_first() {
            None => text.is_empty(),
            Some(('*', rest)) => (0..=text.len()).any(|skipped| naive_match(rest, &text[skipped..])),
            Some((letter, rest)) => text.first() == Some(letter) && naive_match(rest, &text[1..]),
        }
    }

    fn is_match(pattern: &str, text: &str) -> bool {
        let letters = |text: &str| text.chars().collect::<Vec<_>>();
        naive_match(&letters(pattern), &letters(text))
    }

    /// The model: a rule is four texts, and each question reads all of them.
    #[derive(Debug, Clone)]
    struct PlainRule {
        words: Vec<&'static str>,
        node: String,
        instance: String,
    }

    impl PlainRule {
        fn compiled(&self) -> Rule {
            format!("{} {}/{}", self.words.join(","), self.node, self.instance).parse().unwrap()
        }

        fn names(&self, verb: Verb) -> bool {
            self.words.iter().any(|word| {
                *word == "*"
                    || *word == verb.word()
                    || (*word == "read" && verb.word().starts_with("read-"))
                    || (*word == "command" && verb.word().starts_with("command:"))
            })
        }

        fn covers(&self, target: Target<'_>) -> bool {
            let is_all = |pattern: &str| pattern.bytes().all(|byte| byte == b'*');
            match target {
                Target::Dac => is_all(&self.node) && is_all(&self.instance),
                Target::Node(node) => is_match(&self.node, node) && is_all(&self.instance),
                Target::Instance { node, instance } => {
                    is_match(&self.node, node) && is_match(&self.instance, instance)
                }
                Target::SomeOfNode(node) => is_match(&self.node, node),
                Target::SomeOfDac => true,
            }
        }
    }

    fn naive(
        kind: Kind,
        (rules, scope): (&[PlainRule], &[PlainRule]),
        is_embed: bool,
        verb: Verb,
        target: Target<'_>,
    ) -> Verdict {
        let permits = |verb: Verb, target| {
            let by = |rules: &[PlainRule]| rules.iter().any(|rule| rule.names(verb) && rule.covers(target));
            let is_masked = is_embed && !verb.word().starts_with("read-");
            !is_masked && by(rules) && (scope.is_empty() || by(scope))
        };
        let reads = |target| permits(Verb::ReadLive, target) || permits(Verb::ReadPast, target);
        match target {
            _ if permits(verb, target) => Verdict::Allowed,
            _ if matches!(kind, Kind::Stranger | Kind::Local) => Verdict::SignIn,
            Target::Dac | Target::SomeOfDac => Verdict::Forbidden,
            Target::Node(node) if reads(Target::SomeOfNode(node)) => Verdict::Forbidden,
            Target::Instance { .. } | Target::SomeOfNode(_) if reads(target) => Verdict::Forbidden,
            _ => Verdict::Hidden,
        }
    }

    fn rules() -> impl Strategy<Value = Vec<PlainRule>> {
        let mut words: Vec<&'static str> = Verb::ALL.iter().map(|verb| verb.word()).collect();
        words.extend(["read", "command", "*"]);
        let words = prop::collection::vec(prop::sample::select(words), 1..4);
        let rule = (words, "[ab*]{1,4}", "[ab*/]{1,4}");
        let rule = rule.prop_map(|(words, node, instance)| PlainRule { words, node, instance });
        prop::collection::vec(rule, 0..5)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]
        #[test]
        fn the_decision_is_that_of_a_naive_model(
            (rules, scope) in (rules(), rules()),
            is_embed: bool,
            kind in prop::sample::select(KINDS.to_vec()),
            (node, instance) in ("[ab]{1,4}", "[ab/]{1,4}"),
        ) {
            let compiled = |rules: &[PlainRule]| rules.iter().map(PlainRule::compiled).collect::<Vec<_>>();
            let mask = if is_embed { VerbSet::READ_VERBS } else { VerbSet::ALL };
            let principal = principal(kind, &compiled(&rules), mask, &compiled(&scope));
            let targets = [
                Target::Dac,
                Target::SomeOfDac,
                Target::Node(&node),
                Target::SomeOfNode(&node),
                Target::Instance { node: &node, instance: &instance },
            ];
            for (verb, target) in Verb::ALL.iter().flat_map(|verb| targets.map(|target| (*verb, target))) {
                let expected = naive(kind, (&rules, &scope), is_embed, verb, target);
                prop_assert_eq!(decide(&principal, verb, target), expected, "{:?} {:?}", verb, target);
            }
        }

        /// Whoever may do something to all of a node may do it to each instance.
        #[test]
        fn a_part_is_permitted_with_the_whole(rules in rules(), node in "[ab]{1,3}", instance in "[ab/]{1,3}") {
            let rules: Vec<_> = rules.iter().map(PlainRule::compiled).collect();
            let principal = principal(Kind::Person, &rules, VerbSet::ALL, &[]);
            let may = |verb, target| decide(&principal, verb, target).is_allowed();
            for verb in Verb::ALL.iter().copied() {
                prop_assert!(!may(verb, Target::Dac) || may(verb, Target::Node(&node)));
                let instance = Target::Instance { node: &node, instance: &instance };
                prop_assert!(!may(verb, Target::Node(&node)) || may(verb, instance));
                prop_assert!(!may(verb, instance) || may(verb, Target::SomeOfNode(&node)));
                prop_assert!(!may(verb, Target::SomeOfNode(&node)) || may(verb, Target::SomeOfDac));
            }
        }
    }

    #[test]
    fn what_may_not_be_seen_is_hidden_and_a_stranger_is_asked_to_sign_in() {
        let rules = ["read a/*".parse().unwrap(), "command:enable a/x".parse().unwrap()];
        let person = principal(Kind::Person, &rules, VerbSet::ALL, &[]);
        let on = |node, instance| Target::Instance { node, instance };
        assert_eq!(decide(&person, Verb::Enable, on("a", "x")), Verdict::Allowed);
        assert_eq!(decide(&person, Verb::Enable, on("a", "y")), Verdict::Forbidden);
        assert_eq!(decide(&person, Verb::Enable, on("b", "x")), Verdict::Hidden);
        assert_eq!(decide(&person, Verb::Administration, Target::Dac), Verdict::Forbidden);
        // Neither may see more than it is given, and both can sign in.
        for kind in [Kind::Stranger, Kind::Local] {
            let nobody = principal(kind, &rules[..1], VerbSet::ALL, &[]);
            assert_eq!(decide(&nobody, Verb::ReadLive, on("a", "x")), Verdict::Allowed);
            assert_eq!(decide(&nobody, Verb::ReadLive, on("b", "x")), Verdict::SignIn);
        }
    }
}

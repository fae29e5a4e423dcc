//! The principals of the matrix, and the model of what they may do.

/// A principal: its name, its rules as `VERB,VERB NODE/INSTANCE`, and whether it has not signed in.
pub struct Person {
    pub name: &'static str,
    pub rules: &'static [&'static str],
    pub is_stranger: bool,
}

const fn person(name: &'static str, rules: &'static [&'static str]) -> Person {
    Person { name, rules, is_stranger: false }
}

const OPERATOR: &str = "read-live,read-past,command:hertz,command:enable,command:disable,command:sample-now,command:trigger,command:deadband,command:demand,command:demand-off,runs,annotations,layouts,export,sql */*";

/// All of them. The first ones have built-in roles.
pub const PEOPLE: &[Person] = &[
    person("local", &["* */*"]),
    Person { name: "stranger", rules: &[], is_stranger: true },
    person("viewer", &["read-live,read-past */*"]),
    person("operator", &[OPERATOR]),
    person("admin", &["* */*"]),
    person("nobody", &["sql none/none"]),
    person("live", &["read-live */*"]),
    person("past", &["read-past */*"]),
    person("kiosk", &["read-live,read-past plant-7/*"]),
    person("pump", &["read-live plant-7/pump"]),
    person("fitter", &["read-live,read-past plant-*/*", "command:enable,command:disable plant-*/pump"]),
    person("writer", &["read-live,read-past plant-7/*", "annotations plant-7/*"]),
    person("old", &["read-live plant-7/*", "eisa */*"]),
    person("shift", &["read-live */*", "runs,layouts */*"]),
    person("keeper", &["administration */*"]),
    person("gate", &["enroll plant-*/*"]),
];

/// An answer, as far as permissions go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    Allowed,
    SignIn,
    Forbidden,
    /// As an instance that does not exist.
    Unknown,
}

/// What is asked for.
#[derive(Debug, Clone, Copy)]
pub enum On<'a> {
    Something,
    Everything,
    Instance(&'a str, &'a str),
}

fn is_match(pattern: &str, text: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == text,
        Some((before, "")) => text.starts_with(before),
        Some(_) => panic!("the model knows a star at the end alone: {pattern}"),
    }
}

impl Person {
    fn permits(&self, verb: &str, on: On<'_>) -> bool {
        self.rules.iter().any(|rule| {
            let (verbs, target) = rule.split_once(' ').unwrap();
            let (node, instance) = target.split_once('/').unwrap();
            let is_covered = match on {
                On::Something => true,
                On::Everything => (node, instance) == ("*", "*"),
                On::Instance(of, name) => is_match(node, of) && is_match(instance, name),
            };
            is_covered && verbs.split(',').any(|word| word == "*" || word == verb)
        })
    }

    pub fn reads(&self, on: On<'_>) -> bool {
        self.permits("read-live", on) || self.permits("read-past", on)
    }

    /// What becomes of it if one of these verbs is needed.
    pub fn answer(&self, verbs: &[&str], on: On<'_>) -> Answer {
        if verbs.is_empty() || verbs.iter().any(|verb| self.permits(verb, on)) {
            Answer::Allowed
        } else if self.is_stranger {
            Answer::SignIn
        } else if matches!(on, On::Instance(..)) && !self.reads(on) {
            Answer::Unknown
        } else {
            Answer::Forbidden
        }
    }

    /// What becomes of it if all of these are needed, one after the other.
    pub fn answers(&self, needed: &[(&[&str], On<'_>)]) -> Answer {
        let answers = needed.iter().map(|(verbs, on)| self.answer(verbs, *on));
        answers.into_iter().find(|answer| *answer != Answer::Allowed).unwrap_or(Answer::Allowed)
    }
}

//! The principals of the matrix, and the model of what they may do.

/// A principal: its name, its rules as `VERB,VERB NODE/INSTANCE`, and what it shows of itself.
pub struct Person {
    pub name: &'static str,
    pub rules: &'static [&'static str],
    pub shows: Credentials,
}

/// Credentials of a principal. `role` is a built-in role, whose rules are those of the person, or wider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Credentials {
    /// Nothing, from this host.
    Local,
    /// Nothing, from elsewhere.
    Nothing,
    /// A token of a role of its own name.
    Token,
    /// A token of a wider role with a scope.
    Scoped { role: &'static str, scope: &'static str },
    /// A token of a wider role for pages of other sites.
    Embed { role: &'static str },
    /// A token whose time is over.
    Expired { role: &'static str },
    /// A token that was revoked.
    Revoked { role: &'static str },
    /// The cookie of a session, with its CSRF token.
    Session { role: &'static str },
    /// The cookie of a session alone.
    Cookie { role: &'static str },
    /// The cookie of a session after its user signed out.
    SignedOut { role: &'static str },
}

const fn person(name: &'static str, rules: &'static [&'static str]) -> Person {
    shows(name, rules, Credentials::Token)
}

const fn shows(name: &'static str, rules: &'static [&'static str], shows: Credentials) -> Person {
    Person { name, rules, shows }
}

const READ_RULES: &[&str] = &["read-live,read-past */*"];
const OPERATOR: &[&str] = &[
    "read-live,read-past,command:hertz,command:enable,command:disable,command:sample-now,command:trigger,command:deadband,command:demand,command:demand-off,command:reset,runs,annotations,alarms,labels,layouts,export,sql */*",
];

/// All of them.
pub const PEOPLE: &[Person] = &[
    shows("local", &["* */*"], Credentials::Local),
    shows("stranger", &[], Credentials::Nothing),
    person("viewer", READ_RULES),
    person("operator", OPERATOR),
    person("admin", &["* */*"]),
    person("nobody", &["sql none/none"]),
    person("live", &["read-live */*"]),
    person("past", &["read-past */*"]),
    person("kiosk", &["read-live,read-past plant-7/*"]),
    person("pump", &["read-live plant-7/pump"]),
    person("fitter", &["read-live,read-past plant-*/*", "command:enable,command:disable plant-*/pump"]),
    person("writer", &["read-live,read-past plant-7/*", "annotations plant-7/*"]),
    person("watch", &["read-live plant-7/*", "alarms plant-7/pump"]),
    person("old", &["read-live plant-7/*", "eisa */*"]),
    person("shift", &["read-live */*", "runs,layouts */*"]),
    person("keeper", &["administration */*"]),
    person("gate", &["enroll plant-*/*"]),
    person("hall", &["register hall-*/*"]),
    shows(
        "scoped",
        &["read-live,read-past,command:hertz plant-7/pump"],
        Credentials::Scoped { role: "operator", scope: "read,command:hertz,eisa plant-7/pump" },
    ),
    shows("embedded", READ_RULES, Credentials::Embed { role: "admin" }),
    shows("expired", &[], Credentials::Expired { role: "admin" }),
    shows("revoked", &[], Credentials::Revoked { role: "admin" }),
    shows("signed-in", OPERATOR, Credentials::Session { role: "operator" }),
    shows("forged", &["* */*"], Credentials::Cookie { role: "admin" }),
    shows("gone", &[], Credentials::SignedOut { role: "admin" }),
];

/// The principal of this name.
pub fn person_called(name: &str) -> &'static Person {
    PEOPLE.iter().find(|person| person.name == name).unwrap()
}

/// An answer, as far as permissions go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    Allowed,
    SignIn,
    Forbidden,
    /// As an instance that does not exist.
    Unknown,
    /// The token or the session is not valid.
    Ended,
    /// The request changes something, and lacks the CSRF token of its session.
    Csrf,
}

impl Answer {
    /// The status of a refusal.
    pub fn status(self) -> Option<u16> {
        match self {
            Self::Allowed => None,
            Self::SignIn | Self::Ended => Some(401),
            Self::Forbidden | Self::Csrf => Some(403),
            Self::Unknown => Some(404),
        }
    }
}

/// Target of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum On<'a> {
    Something,
    Everything,
    Instance(&'a str, &'a str),
}

/// Verbs, one of which is needed, and on what.
pub type Need<'a> = (&'a [&'a str], On<'a>);

fn is_match(pattern: &str, text: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == text,
        Some((before, "")) => text.starts_with(before),
        Some(_) => panic!("the model knows a star at the end alone: {pattern}"),
    }
}

impl Person {
    pub fn permits(&self, verb: &str, on: On<'_>) -> bool {
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

    /// Whether its token or session is not valid.
    fn has_ended(&self) -> bool {
        use Credentials::{Expired, Revoked, SignedOut};
        matches!(self.shows, Expired { .. } | Revoked { .. } | SignedOut { .. })
    }

    /// Expected answer if one of these verbs is needed.
    pub fn answer(&self, verbs: &[&str], on: On<'_>) -> Answer {
        if verbs.is_empty() || verbs.iter().any(|verb| self.permits(verb, on)) {
            Answer::Allowed
        } else if self.has_ended() {
            Answer::Ended
        } else if self.shows == Credentials::Nothing {
            Answer::SignIn
        } else if matches!(on, On::Instance(..)) && !self.reads(on) {
            Answer::Unknown
        } else {
            Answer::Forbidden
        }
    }

    /// Expected answer if all of these are needed, one after the other.
    pub fn answers(&self, needed: &[Need<'_>]) -> Answer {
        let answers = needed.iter().map(|(verbs, on)| self.answer(verbs, *on));
        answers.into_iter().find(|answer| *answer != Answer::Allowed).unwrap_or(Answer::Allowed)
    }

    /// The same for a request that changes something: after what its route needs comes the CSRF token.
    pub fn answers_to_change(&self, route: Need<'_>, then: &[Need<'_>]) -> Answer {
        match self.answer(route.0, route.1) {
            Answer::Allowed if route.0.is_empty() => self.answers(then),
            Answer::Allowed if matches!(self.shows, Credentials::Cookie { .. }) => Answer::Csrf,
            Answer::Allowed => self.answers(then),
            refused => refused,
        }
    }
}

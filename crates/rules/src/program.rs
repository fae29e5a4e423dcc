//! Compiled rules: names resolved, units converted, memory bounded.

pub use crate::ast::{Arithmetic, Comparison, OnUnknown, Severity, WindowSize};

use crate::evaluate::EventKind;
use oasis_pdl::Span;
use oasis_wire::{quantity::Hertz, schema::ProbeType};
use std::{fmt, ptr, sync::Arc};

/// Most samples that a window keeps.
pub const MAX_WINDOW: u32 = 100_000;
/// Most moments at once after which an event or check waits for something.
pub const MAX_PENDING: usize = 64;

/// All rules of a file.
#[derive(Debug, Clone, Default)]
pub struct Program {
    /// The inputs that they read.
    pub inputs: Vec<Input>,
    /// The rules; a derived instance comes before its readers.
    pub rules: Vec<Rule>,
}

impl Program {
    /// The rule that reads several inputs at the beginning of the sources of a rule, if there is one. It may be the rule itself.
    pub fn joined(&self, rule: usize) -> Option<usize> {
        let found = self.rules.get(rule)?;
        match found.source {
            Source::Input(_) => (!found.feeds.is_empty()).then_some(rule),
            // A derived instance comes before its readers, so that this ends.
            Source::Derived(before) if before < rule => self.joined(before),
            Source::Derived(_) => None,
        }
    }

    /// The rules that read several inputs.
    pub fn joins(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.rules.len()).filter(|rule| self.joined(*rule) == Some(*rule))
    }

    /// Node and name of the instance of `other` that is joined with one of `driver`: where both patterns have a `*`, the text is the same.
    pub fn partner(
        &self,
        driver: usize,
        other: usize,
        (node, instance): (&str, &str),
    ) -> Option<(String, String)> {
        let [driver, other] = [self.inputs.get(driver)?, self.inputs.get(other)?];
        let name = format!("{node}/{instance}");
        let partner = crate::partner::replaced(&driver.pattern, &other.pattern, &name)?;
        let (of, named) = partner.split_once('/')?;
        Some((of.to_owned(), named.to_owned()))
    }

    /// The nodes whose clocks decide how the samples of a rule of several inputs are aligned, for this instance of its first one: the node of that instance, and then the
    /// others, each once. None if all instances are of one node: they share its clock.
    pub fn clocks(&self, rule: usize, (node, instance): (&str, &str)) -> Vec<String> {
        let Some(found) = self.rules.get(rule) else { return Vec::new() };
        let mut nodes = vec![node.to_owned()];
        for other in found.others() {
            let partner = self.partner(found.input, other, (node, instance));
            nodes.extend(partner.map(|(node, _)| node).filter(|node| !nodes.contains(node)));
        }
        if nodes.len() > 1 { nodes } else { Vec::new() }
    }

    /// Whether a rule asks for silence, so that it matters how far the frontier is.
    pub fn asks_for_silence(&self) -> bool {
        let is_silence =
            |rule: &Rule| matches!(&rule.body, Body::Alarm(Alarm { raise: Raise::Silent(_), .. }));
        self.rules.iter().any(is_silence)
    }
}

/// Instances that rules read.
#[derive(Debug, Clone)]
pub struct Input {
    /// Its name in rules.
    pub name: String,
    /// `NODE/INSTANCE`, in which a `*` stands for any text.
    pub pattern: String,
    /// Scoped name of the probe type.
    pub probe_type: String,
    /// The metrics that rules read.
    pub columns: Vec<Column>,
    /// The schemas whose samples it reads; without any, those of all versions of the type.
    pub schemas: Vec<Arc<ProbeType>>,
}

impl Input {
    /// Whether it reads samples of this type.
    pub fn reads(&self, probe_type: &ProbeType) -> bool {
        // Most are the same in memory, so that this is cheap.
        let is_known =
            || self.schemas.iter().any(|known| ptr::eq(&**known, probe_type) || **known == *probe_type);
        self.probe_type == probe_type.name && (self.schemas.is_empty() || is_known())
    }

    /// Whether it is one of the instances.
    pub fn matches(&self, node: &str, instance: &str) -> bool {
        oasis_wire::pattern::matches(&self.pattern, &format!("{node}/{instance}"))
    }
}

/// A metric, or a member of a struct.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// Its name, after those of the structs that it is in.
    pub path: Vec<String>,
    /// Its unit in the schema that the rules were compiled with.
    pub unit: Option<String>,
    /// The names and numbers of its enum.
    pub enumerators: Vec<(String, i64)>,
}

/// Source of the samples of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// An input.
    Input(usize),
    /// The derived instance of this rule.
    Derived(usize),
}

/// A compiled rule.
#[derive(Debug, Clone)]
pub struct Rule {
    /// Its name.
    pub name: String,
    /// The place of its name.
    pub place: Span,
    /// Source of its samples.
    pub source: Source,
    /// The input at the beginning of its sources.
    pub input: usize,
    /// Its memories from sample to sample.
    pub slots: Vec<Slot>,
    /// The values of other inputs that it reads at each of its samples. A rule with any is evaluated by a [`Group`](crate::Group).
    pub feeds: Vec<Feed>,
    /// Its effect.
    pub body: Body,
}

impl Rule {
    /// The inputs that it reads beside its own, each once.
    pub fn others(&self) -> Vec<usize> {
        let mut others: Vec<usize> = self.feeds.iter().map(|feed| feed.input).collect();
        others.sort_unstable();
        others.dedup();
        others
    }
}

/// Search for the value of another input at a moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Alignment {
    /// That of the newest sample that is not newer, or of a window that ends there.
    #[default]
    Hold,
    /// On the straight line between the samples before and after it.
    Linear,
    /// That of the sample before or after it which is nearer.
    Nearest,
}

/// A value of another input at a moment.
#[derive(Debug, Clone)]
pub struct Feed {
    /// The input.
    pub input: usize,
    /// Search for the value.
    pub alignment: Alignment,
    /// The value; its columns are those of the input.
    pub value: Value,
    /// Its memories from sample to sample of the input.
    pub slots: Vec<Slot>,
    /// The value is unknown if a sample that it needs is farther away in time, in nanoseconds.
    pub max_age: u64,
}

/// A memory of an expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Slot {
    /// The samples of a window.
    Window {
        /// Its extent.
        size: WindowSize,
        /// Most samples.
        capacity: u32,
        /// Use of the window.
        purpose: Purpose,
    },
    /// The last value of a condition.
    Previous,
}

/// Use of a window, which decides about what it keeps besides its samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// One number for all values.
    Aggregate(Aggregate),
    /// The number of true values.
    Tally,
    /// The change of the value. Such a window also keeps the newest sample that is older than its extent.
    Rate,
}

/// Effect of a rule.
#[derive(Debug, Clone)]
pub enum Body {
    /// Raises and clears an alarm.
    Alarm(Alarm),
    /// Reports that something happened, or that something else did not follow.
    Event(Event),
    /// Computes values.
    Derive(Derive),
    /// Reports whether something holds for a while.
    Check(Check),
}

impl Body {
    /// The word that begins its declaration.
    pub fn keyword(&self) -> &'static str {
        match self {
            Self::Alarm(_) => "alarm",
            Self::Event(_) => "event",
            Self::Derive(_) => "derive",
            Self::Check(_) => "check",
        }
    }
}

/// A condition and how long it must hold, in nanoseconds.
#[derive(Clone)]
pub struct SustainedCondition {
    /// The condition.
    pub condition: Condition,
    /// The time for which it must hold.
    pub duration: u64,
}

impl fmt::Debug for SustainedCondition {
    /// Fingerprints contain this text: another name would make saved states unusable.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { condition, duration } = self;
        f.debug_struct("Held").field("condition", condition).field("duration", duration).finish()
    }
}

/// Trigger of an alarm.
#[derive(Debug, Clone)]
pub enum Raise {
    /// A condition.
    Condition(SustainedCondition),
    /// No sample for so long, in nanoseconds.
    Silent(u64),
}

/// An alarm.
#[derive(Debug, Clone)]
pub struct Alarm {
    /// Trigger of the alarm.
    pub raise: Raise,
    /// Condition that clears it; by default that the first condition is false.
    pub clear: Option<SustainedCondition>,
    /// Urgency of the alarm.
    pub severity: Severity,
    /// Whether it stays until it is acknowledged.
    pub latch: bool,
    /// Effect of an unknown condition.
    pub on_unknown: OnUnknown,
    /// The text of its notifications, with [placeholders](crate::Placeholder); without one the name of the rule says enough.
    pub message: Option<String>,
    /// The names of the destinations that are notified; all of them without the clause, and none if it is empty.
    pub notify: Option<Vec<String>>,
    /// Commands when it is raised or cleared.
    pub actions: Vec<ActionSpec>,
}

/// A command to probes when something happens.
#[derive(Debug, Clone, PartialEq)]
pub struct ActionSpec {
    /// The event that triggers it.
    pub on: EventKind,
    /// The command.
    pub command: Command,
    /// The instances that it goes to.
    pub target: Target,
}

/// A command to a probe.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Command {
    /// `hertz 100`: this rate.
    Hertz(Hertz),
    /// `enable`
    Enable,
    /// `disable`
    Disable,
    /// `sample-now`: one sample now.
    SampleNow,
    /// `trigger`: record what a flight recorder has.
    Trigger,
    /// `demand`: the rate that readers ask for.
    Demand,
    /// `demand-off`: the present rate, regardless of readers.
    DemandOff,
}

impl Command {
    /// As written, without the number of `hertz`; the API and the WebSocket use the same names.
    pub fn name(self) -> &'static str {
        match self {
            Self::Hertz(_) => "hertz",
            Self::Enable => "enable",
            Self::Disable => "disable",
            Self::SampleNow => "sample-now",
            Self::Trigger => "trigger",
            Self::Demand => "demand",
            Self::DemandOff => "demand-off",
        }
    }
}

/// The instances that a command goes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// `NODE/INSTANCE`, in which a `*` stands for any text.
    Pattern(String),
    /// The instance whose samples made the rule act.
    Source,
}

/// An event.
#[derive(Debug, Clone)]
pub struct Event {
    /// The condition of the event.
    pub when: Condition,
    /// The condition that must follow, and within how many nanoseconds.
    pub then: Option<(Condition, u64)>,
    /// Commands when it matches or is violated.
    pub actions: Vec<ActionSpec>,
}

/// A derived instance.
#[derive(Debug, Clone)]
pub struct Derive {
    /// Its period in nanoseconds.
    pub every: u64,
    /// Names and values of its metrics.
    pub fields: Vec<(String, Value)>,
    /// The units of its metrics; none of conditions and plain numbers.
    pub units: Vec<Option<String>>,
}

/// A value of a derived instance.
#[derive(Debug, Clone)]
pub enum Value {
    /// A number.
    Number(Number),
    /// True or false.
    Condition(Condition),
}

/// A check.
#[derive(Debug, Clone)]
pub struct Check {
    /// The condition that starts the check.
    pub after: Condition,
    /// The interval after that, in nanoseconds.
    pub from: u64,
    /// Its end.
    pub to: u64,
    /// The condition that must hold in the interval.
    pub always: Condition,
}

/// Function that reduces a window to one number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Aggregate {
    Mean,
    Min,
    Max,
    Sum,
}

/// An expression with a number as its value. Not a number is an unknown number.
#[derive(Debug, Clone)]
pub enum Number {
    /// A column of the source.
    Column(usize),
    /// A number of another input, by number of the feed.
    Joined(usize),
    /// A number.
    Constant(f64),
    /// Conversion of units, and signs.
    Scale {
        /// The converted number.
        of: Box<Number>,
        /// Times.
        factor: f64,
        /// Plus.
        offset: f64,
    },
    /// `x + y`
    Arithmetic(Arithmetic, Box<Number>, Box<Number>),
    /// `abs(x)`
    Abs(Box<Number>),
    /// `sqrt(x)`
    Sqrt(Box<Number>),
    /// `mean(x, 10s)`
    Window {
        /// The function.
        aggregate: Aggregate,
        /// The number in the window.
        of: Box<Number>,
        /// Its memory.
        slot: usize,
    },
    /// `rate(x, 1s)`
    Rate {
        /// The number in the window.
        of: Box<Number>,
        /// Whether it only grows, so that a lower value is a restart.
        is_counter: bool,
        /// Its memory.
        slot: usize,
    },
    /// `count(c, 10s)` where its exact number matters.
    Count(Count),
}

/// `count(c, 10s)`
#[derive(Debug, Clone)]
pub struct Count {
    /// The counted condition.
    pub of: Box<Condition>,
    /// Its memory.
    pub slot: usize,
}

/// An expression that is true, false or unknown.
#[derive(Debug, Clone)]
pub enum Condition {
    /// A column of booleans.
    Column(usize),
    /// A condition of another input, by number of the feed.
    Joined(usize),
    /// `x < y`
    Compare {
        /// The operator.
        operator: Comparison,
        /// One side.
        left: Number,
        /// The other side.
        right: Number,
        /// The unit of both.
        unit: Option<String>,
        /// Whether events show the two numbers.
        is_witness: bool,
    },
    /// `count(c, last 5) >= 3`, which can be known before the count is.
    Counted {
        /// The count.
        count: Count,
        /// The operator.
        operator: Comparison,
        /// The other side.
        limit: f64,
        /// Whether events show the two numbers.
        is_witness: bool,
    },
    /// `not c`
    Not(Box<Condition>),
    /// `c and d`
    And(Box<Condition>, Box<Condition>),
    /// `c or d`
    Or(Box<Condition>, Box<Condition>),
    /// `rising(c)`: true now, and false at the sample before.
    Rising(Box<Condition>, usize),
    /// `falling(c)`
    Falling(Box<Condition>, usize),
}

//! The parsed text, before names are resolved.

use crate::{evaluate::EventKind, program::Command};
use oasis_pdl::Span;

/// A name and its place.
#[derive(Debug, Clone, PartialEq)]
pub struct Name {
    pub text: String,
    pub span: Span,
}

/// A declaration.
#[derive(Debug, Clone, PartialEq)]
pub struct Declaration {
    pub name: Name,
    pub kind: Kind,
}

/// The content of a declaration.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    Input(Input),
    Alarm(Alarm),
    Event(Event),
    Derive(Derive),
    Check(Check),
}

/// `input NAME = "NODE/INSTANCE" : Module::Type;`
#[derive(Debug, Clone, PartialEq)]
pub struct Input {
    pub pattern: Name,
    pub probe_type: Name,
}

/// `alarm NAME { … }`
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Alarm {
    pub raise: Option<SustainedCondition>,
    pub clear: Option<SustainedCondition>,
    pub severity: Option<Severity>,
    pub latch: bool,
    pub on_unknown: Option<OnUnknown>,
    /// Checked; without its quotes.
    pub message: Option<String>,
    /// Names of destinations; none of them for `notify none;`.
    pub notify: Option<Vec<String>>,
    pub actions: Vec<Action>,
}

/// `on raised hertz 100 "NODE/INSTANCE";`
#[derive(Debug, Clone, PartialEq)]
pub struct Action {
    pub on: EventKind,
    pub command: Command,
    pub target: Target,
}

/// The instances that an action commands.
#[derive(Debug, Clone, PartialEq)]
pub enum Target {
    /// `"NODE/INSTANCE"`
    Pattern(Name),
    /// The name of an input.
    Input(Name),
}

/// `EXPR for DURATION`
#[derive(Debug, Clone, PartialEq)]
pub struct SustainedCondition {
    pub condition: Expression,
    /// Nanoseconds.
    pub duration: u64,
}

/// Urgency of an alarm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Severity {
    Low,
    Medium,
    High,
    Critical,
}

impl Severity {
    /// All of them, by name.
    pub const ALL: [(&'static str, Self); 4] =
        [("low", Self::Low), ("medium", Self::Medium), ("high", Self::High), ("critical", Self::Critical)];

    /// As written.
    pub fn name(self) -> &'static str {
        Self::ALL.into_iter().find(|(_, severity)| *severity == self).map_or("medium", |(name, _)| name)
    }
}

/// Effect of an unknown condition on an alarm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnUnknown {
    /// Keeps its state.
    Keep,
    /// Acts as if it were to be raised.
    Raise,
    /// Acts as if it were to be cleared.
    Clear,
}

impl OnUnknown {
    /// All of them, by name.
    pub const ALL: [(&'static str, Self); 3] =
        [("keep", Self::Keep), ("raise", Self::Raise), ("clear", Self::Clear)];
}

/// `when EXPR;` or `when EXPR then EXPR within DURATION;`
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    pub when: Expression,
    pub then: Option<(Expression, u64)>,
    pub actions: Vec<Action>,
}

/// `derive NAME every DURATION { field = EXPR; }`
#[derive(Debug, Clone, PartialEq)]
pub struct Derive {
    /// Nanoseconds.
    pub every: u64,
    pub fields: Vec<(Name, Expression)>,
}

/// `after EXPR: always[DURATION, DURATION] EXPR;`
#[derive(Debug, Clone, PartialEq)]
pub struct Check {
    pub after: Expression,
    /// Nanoseconds after the moment.
    pub from: u64,
    pub to: u64,
    pub always: Expression,
}

/// An expression and its place.
#[derive(Debug, Clone, PartialEq)]
pub struct Expression {
    pub kind: ExpressionKind,
    pub span: Span,
}

/// The parts of expressions.
#[derive(Debug, Clone, PartialEq)]
pub enum ExpressionKind {
    /// `95`, `95 Cel`.
    Number(f64, Option<Name>),
    /// `pump.temperature`, `pump`, `OPEN`.
    Reference(Vec<Name>),
    /// `-x`
    Negate(Box<Expression>),
    /// `not x`
    Not(Box<Expression>),
    /// `x + y`
    Arithmetic(Arithmetic, Box<Expression>, Box<Expression>),
    /// `x < y`
    Compare(Comparison, Box<Expression>, Box<Expression>),
    /// `x and y`, `x or y`
    Logic(Logic, Box<Expression>, Box<Expression>),
    /// `mean(x, 10s)`
    Call(Name, Vec<Expression>, Option<Window>),
}

/// An operator between numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Arithmetic {
    Add,
    Subtract,
    Multiply,
    Divide,
}

/// An operator that compares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Comparison {
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Equal,
    NotEqual,
}

/// An operator between conditions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Logic {
    And,
    Or,
}

/// `10s`, `10s at most 200 samples` or `last 5`.
#[derive(Debug, Clone, PartialEq)]
pub struct Window {
    pub size: WindowSize,
    pub span: Span,
}

/// The size of a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WindowSize {
    /// Nanoseconds, and the most samples if they are declared.
    Time(u64, Option<u32>),
    /// Newest samples.
    Last(u32),
}

//! Random conditions, in our language and in signal temporal logic.
//!
//! Temporal logic has no *unknown*: each condition has two formulas, `least` for "known to be true" and `most` for "not known to be false". Signals `kx`, `ky` and
//! `kflag` say whether a value is known, `seen` whether there is a sample, and `age` is the number of the step plus a half. No value is on a limit, where the sign
//! of a robustness says nothing.

use fastrand::Rng;

/// A condition.
#[derive(Debug, Clone)]
pub struct Formula {
    /// As OASIS reads it.
    pub ours: String,
    least: String,
    most: String,
}

/// A number and whether it is known.
struct Number {
    ours: String,
    theirs: String,
    known: &'static str,
}

const KNOWN_X: &str = "(kx > 0.5)";
const KNOWN_Y: &str = "(ky > 0.5)";
const KNOWN_BOTH: &str = "((kx > 0.5) and (ky > 0.5))";

/// Steps of a window, or its time.
pub struct Window {
    pub steps: u64,
    /// Milliseconds between samples, if it is a window by time.
    period: Option<u64>,
}

impl Window {
    fn random(period: u64, random: &mut Rng) -> Self {
        Self { steps: random.u64(1..5), period: random.bool().then_some(period) }
    }

    fn ours(&self) -> String {
        match self.period {
            Some(period) => format!("{}ms at most 50 samples", self.steps * period),
            None => format!("last {}", self.steps),
        }
    }

    /// Over the steps of the window.
    fn over(&self, operator: &str, of: &str) -> String {
        format!("({operator}[0:{}]({of}))", self.steps - 1)
    }

    /// No sample of it is missing. What is missing before the first sample of a window by time could belong to it.
    fn whole(&self) -> String {
        let steps = if self.period.is_some() { self.steps } else { self.steps - 1 };
        format!("((age > {steps}) and (historically[0:{steps}](seen > 0.5)))")
    }
}

impl Formula {
    /// Known to be true at a sample.
    pub fn is_true(&self) -> String {
        format!("((seen > 0.5) and {})", self.least)
    }

    /// Not known to be false: also true between samples that are missing.
    pub fn may_be_true(&self) -> String {
        format!("((seen < 0.5) or {})", self.most)
    }

    /// Known to be false.
    pub fn is_false(&self) -> String {
        format!("(not {})", self.may_be_true())
    }

    pub fn is_known(&self) -> String {
        format!("({} or {})", self.is_true(), self.is_false())
    }

    pub fn random(depth: usize, period: u64, random: &mut Rng) -> Self {
        let deeper = |random: &mut Rng| Self::random(depth - 1, period, random);
        if depth == 0 {
            return Self::leaf(random);
        }
        match random.u8(0..10) {
            0..2 => Self::leaf(random),
            2 => deeper(random).negated(),
            3..5 => {
                let (left, right) = (deeper(random), deeper(random));
                left.joined(if random.bool() { "and" } else { "or" }, &right)
            }
            5..7 => deeper(random).edge(random.bool()),
            7 => Self::extreme(&Window::random(period, random), random),
            _ => deeper(random).counted(&Window::random(period, random), random.u8(0..3)),
        }
    }

    /// Returns a formula of comparisons alone, without windows and edges.
    pub fn plain(depth: usize, random: &mut Rng) -> Self {
        match random.u8(0..4) {
            _ if depth == 0 => Self::leaf(random),
            0 => Self::plain(depth - 1, random).negated(),
            1 => Self::plain(depth - 1, random).joined("and", &Self::plain(depth - 1, random)),
            2 => Self::plain(depth - 1, random).joined("or", &Self::plain(depth - 1, random)),
            _ => Self::leaf(random),
        }
    }

    fn leaf(random: &mut Rng) -> Self {
        let operator = *random.choice(&["<", "<=", ">", ">="]).expect("some");
        match random.u8(0..8) {
            0 => Self::known_if("(kflag > 0.5)", "p.flag".into(), "(flag > 0.5)"),
            1 => Self::known_if(KNOWN_BOTH, format!("p.x {operator} p.y"), &format!("(x {operator} y)")),
            _ => {
                let (number, limit) = (Number::random(random), random.u8(0..4));
                let Number { ours, theirs, known } = number;
                Self::known_if(
                    known,
                    format!("{ours} {operator} {limit}"),
                    &format!("({theirs} {operator} {limit})"),
                )
            }
        }
    }

    fn known_if(known: &str, ours: String, theirs: &str) -> Self {
        Self { ours, least: format!("({known} and {theirs})"), most: format!("((not {known}) or {theirs})") }
    }

    pub fn negated(&self) -> Self {
        Self {
            ours: format!("not ({})", self.ours),
            least: format!("(not {})", self.most),
            most: format!("(not {})", self.least),
        }
    }

    pub fn joined(&self, word: &str, other: &Self) -> Self {
        let join = |left: &str, right: &str| format!("({left} {word} {right})");
        Self {
            ours: format!("({}) {word} ({})", self.ours, other.ours),
            least: join(&self.least, &other.least),
            most: join(&self.most, &other.most),
        }
    }

    /// `rising` or `falling`. Before the first sample and at missing ones a condition is unknown.
    fn edge(&self, is_rising: bool) -> Self {
        let (word, now) = if is_rising { ("rising", self.clone()) } else { ("falling", self.negated()) };
        let before = now.negated();
        Self {
            ours: format!("{word}({})", self.ours),
            least: format!("({} and (age > 1) and (prev({})))", now.least, before.is_true()),
            most: format!("({} and ((age < 1) or (prev({}))))", now.most, before.may_be_true()),
        }
    }

    /// `min` or `max` of a window with a limit.
    fn extreme(window: &Window, random: &mut Rng) -> Self {
        let Number { ours, theirs, known } = Number::random(random);
        let (function, operator, over) = *random
            .choice(&[
                ("min", ">", "historically"),
                ("min", "<", "once"),
                ("max", ">", "once"),
                ("max", "<", "historically"),
            ])
            .expect("some");
        let limit = random.u8(0..4);
        let ours = format!("{function}({ours}, {}) {operator} {limit}", window.ours());
        let known = format!("({} and {})", window.whole(), window.over("historically", known));
        Self::known_if(&known, ours, &window.over(over, &format!("{theirs} {operator} {limit}")))
    }

    /// `count` of a window: all of it, something of it, or nothing.
    fn counted(&self, window: &Window, how: u8) -> Self {
        let (is_true, may_be_true) = (self.is_true(), self.may_be_true());
        let count = format!("count({}, {})", self.ours, window.ours());
        if how == 0 && window.period.is_none() {
            return Self {
                ours: format!("{count} >= {}", window.steps),
                least: format!(
                    "((age > {}) and {})",
                    window.steps - 1,
                    window.over("historically", &is_true)
                ),
                most: window.over("historically", &may_be_true),
            };
        }
        let some = Self {
            ours: format!("{count} >= 1"),
            least: window.over("once", &is_true),
            most: format!("({} or (not {}))", window.over("once", &may_be_true), window.whole()),
        };
        if how == 1 { some } else { Self { ours: format!("{count} < 1"), ..some.negated() } }
    }
}

impl Number {
    fn random(random: &mut Rng) -> Self {
        let (ours, theirs, known) = *random
            .choice(&[
                ("p.x", "x", KNOWN_X),
                ("p.y", "y", KNOWN_Y),
                ("p.x + p.y", "(x + y)", KNOWN_BOTH),
                ("p.y - p.x", "(y - x)", KNOWN_BOTH),
                ("2 * p.x", "(2 * x)", KNOWN_X),
                ("abs(p.x - p.y)", "(abs(x - y))", KNOWN_BOTH),
            ])
            .expect("some");
        Self { ours: ours.into(), theirs: theirs.into(), known }
    }
}

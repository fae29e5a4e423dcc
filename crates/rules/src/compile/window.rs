//! Functions: windows, whose memory is bounded here, and those without memory.

use super::{
    AlreadyReported, Compiled,
    expression::{Quantity, Typed, Typing},
    join::DEFAULT_MAX_AGE_NANOS,
};
use crate::{
    ast::{Expression, Name, Window, WindowSize},
    code::{Code, Diagnostic},
    program::{Aggregate, Alignment, Condition, Count, MAX_WINDOW, Number, Purpose, Slot},
    unit::Unit,
};
use oasis_pdl::{Span, nearest};

const FUNCTIONS: [&str; 14] = [
    "mean", "min", "max", "sum", "count", "rate", "rising", "falling", "silent", "abs", "sqrt", "hold",
    "linear", "nearest",
];
/// Functions of a window, which are computed from the samples of another input if they read nothing else.
const WINDOWS: [&str; 6] = ["mean", "min", "max", "sum", "count", "rate"];
const NANOS: f64 = 1e9;

impl Typing<'_, '_> {
    pub(super) fn call(
        &mut self,
        name: &Name,
        arguments: &[Expression],
        window: Option<&Window>,
        span: Span,
    ) -> Compiled<Typed> {
        let number = |number: Compiled<Quantity>| number.map(Typed::Number);
        if WINDOWS.contains(&&*name.text)
            && let Some(other) = self.only_other(arguments)
        {
            let how = (Alignment::Hold, DEFAULT_MAX_AGE_NANOS);
            return self.feed(other, how, |typing| typing.call(name, arguments, window, span));
        }
        match &*name.text {
            "hold" => self.aligned(Alignment::Hold, name, arguments, window),
            "linear" => self.aligned(Alignment::Linear, name, arguments, window),
            "nearest" => self.aligned(Alignment::Nearest, name, arguments, window),
            "mean" => number(self.aggregate(Aggregate::Mean, name, arguments, window)),
            "min" => number(self.aggregate(Aggregate::Min, name, arguments, window)),
            "max" => number(self.aggregate(Aggregate::Max, name, arguments, window)),
            "sum" => number(self.aggregate(Aggregate::Sum, name, arguments, window)),
            "count" => number(self.count(name, arguments, window)),
            "rate" => number(self.rate(name, arguments, window)),
            "rising" | "falling" => self.edge(name, arguments, window).map(Typed::Condition),
            "abs" | "sqrt" => number(self.plain(name, arguments, window)),
            "silent" => Err(self.misplaced_silent(span)),
            _ => Err(self.unknown_function(name)),
        }
    }

    pub(super) fn misplaced_silent(&mut self, span: Span) -> AlreadyReported {
        let message = "`silent` can only be the whole condition of `raise`, with a duration";
        let wrong = Diagnostic::new(Code::MisplacedSilent, span, message, "not allowed here");
        self.report(wrong.help("write `raise silent(pump) for 3s;` in an alarm of its own"))
    }

    fn unknown_function(&mut self, name: &Name) -> AlreadyReported {
        let help = match (&*name.text, nearest(&name.text, FUNCTIONS.into_iter())) {
            ("avg" | "average", _) => "did you mean `mean`?".into(),
            (_, Some(known)) => format!("did you mean `{known}`?"),
            (_, None) => format!("functions are {}", FUNCTIONS.join(", ")),
        };
        let message = format!("unknown function `{}`", name.text);
        self.report(Diagnostic::new(Code::UnknownFunction, name.span, message, "not a function").help(help))
    }

    pub(super) fn only<'e>(&mut self, name: &Name, arguments: &'e [Expression]) -> Compiled<&'e Expression> {
        if let [only] = arguments {
            return Ok(only);
        }
        let message = format!("`{}` takes one value", name.text);
        let place = arguments.get(1).map_or(name.span, |second| second.span);
        let wrong = Diagnostic::new(Code::UnexpectedToken, place, message, "one too many");
        Err(self.report(
            wrong.help(format!("write a window as `{}(x, 10s)` or `{}(x, last 5)`", name.text, name.text)),
        ))
    }

    fn aggregate(
        &mut self,
        aggregate: Aggregate,
        name: &Name,
        arguments: &[Expression],
        window: Option<&Window>,
    ) -> Compiled<Quantity> {
        let of = self.only(name, arguments)?;
        let quantity = self.quantity(of)?;
        if aggregate == Aggregate::Sum {
            self.not_affine(&quantity, of.span)?;
        }
        let slot = self.window(name, window, Purpose::Aggregate(aggregate))?;
        Ok(Quantity::new(Number::Window { aggregate, of: quantity.number.into(), slot }, quantity.unit))
    }

    fn count(
        &mut self,
        name: &Name,
        arguments: &[Expression],
        window: Option<&Window>,
    ) -> Compiled<Quantity> {
        let of = self.only(name, arguments)?;
        let of = self.condition(of)?.into();
        let slot = self.window(name, window, Purpose::Tally)?;
        Ok(Quantity::new(Number::Count(Count { of, slot }), Unit::none()))
    }

    fn rate(&mut self, name: &Name, arguments: &[Expression], window: Option<&Window>) -> Compiled<Quantity> {
        let of = self.only(name, arguments)?;
        let Quantity { number, unit, is_counter, .. } = self.quantity(of)?;
        let slot = match window {
            Some(Window { size: WindowSize::Last(1), span }) => {
                let wrong = Diagnostic::new(Code::BadWindow, *span, "a rate needs two samples", "one sample");
                return Err(self.report(wrong));
            }
            Some(_) => self.window(name, window, Purpose::Rate)?,
            // As on the page: from one sample to the next.
            None => {
                self.slot(Slot::Window { size: WindowSize::Last(2), capacity: 2, purpose: Purpose::Rate })
            }
        };
        Ok(Quantity::new(Number::Rate { of: number.into(), is_counter, slot }, unit.per_second()))
    }

    fn edge(
        &mut self,
        name: &Name,
        arguments: &[Expression],
        window: Option<&Window>,
    ) -> Compiled<Condition> {
        self.no_window(name, window)?;
        let of = self.only(name, arguments)?;
        let of = self.condition(of)?.into();
        let slot = self.slot(Slot::Previous);
        Ok(if name.text == "rising" { Condition::Rising(of, slot) } else { Condition::Falling(of, slot) })
    }

    fn plain(
        &mut self,
        name: &Name,
        arguments: &[Expression],
        window: Option<&Window>,
    ) -> Compiled<Quantity> {
        self.no_window(name, window)?;
        let argument = self.only(name, arguments)?;
        let quantity = self.quantity(argument)?;
        self.not_affine(&quantity, argument.span)?;
        let of = quantity.number.into();
        if name.text == "abs" {
            return Ok(Quantity::new(Number::Abs(of), quantity.unit));
        }
        let Some(unit) = quantity.unit.root() else {
            let message = format!("{} has no square root", quantity.unit.name());
            return Err(self.report(Diagnostic::new(Code::WrongUnit, argument.span, message, "odd power")));
        };
        Ok(Quantity::new(Number::Sqrt(of), unit))
    }

    fn no_window(&mut self, name: &Name, window: Option<&Window>) -> Compiled<()> {
        let Some(window) = window else { return Ok(()) };
        let message = format!("`{}` takes no window", name.text);
        Err(self.report(Diagnostic::new(Code::BadWindow, window.span, message, "remove it")))
    }

    fn slot(&mut self, slot: Slot) -> usize {
        self.slots.push(slot);
        self.slots.len() - 1
    }

    /// The memory of a window.
    fn window(&mut self, name: &Name, window: Option<&Window>, purpose: Purpose) -> Compiled<usize> {
        let Some(Window { size, span }) = window else {
            let message = format!("`{}` needs a window", name.text);
            let wrong = Diagnostic::new(Code::BadWindow, name.span, message, "of what time?");
            let help = format!("write `{}(x, 10s)` or `{}(x, last 5)`", name.text, name.text);
            return Err(self.report(wrong.help(help)));
        };
        let capacity = match *size {
            WindowSize::Last(count) => count,
            WindowSize::Time(_, Some(most)) => most.saturating_add(u32::from(purpose == Purpose::Rate)),
            WindowSize::Time(nanos, None) => self.by_rate(nanos, *span)?,
        };
        Ok(self.slot(Slot::Window { size: *size, capacity, purpose }))
    }

    /// The most samples in a time, from the highest rate of the source.
    fn by_rate(&mut self, nanos: u64, span: Span) -> Compiled<u32> {
        let Some(hertz) = self.reads.and_then(|(reads, _)| reads.hertz) else {
            let message = "the number of samples in this window has no bound";
            let wrong = Diagnostic::new(Code::NoRate, span, message, "how many samples?");
            let wrong = wrong.note("the probe type declares no highest rate: `rate(demand, 1, 100)`");
            return Err(self.report(wrong.help("add a bound, such as `10s at most 1000 samples`")));
        };
        // No timer is exact: a tenth more, and one at each end.
        let samples = (nanos as f64 / NANOS * hertz * 11.0 / 10.0).ceil() + 2.0;
        if samples <= f64::from(MAX_WINDOW) {
            return Ok(samples as u32);
        }
        let message = format!("window of {samples:.0} samples: at most {MAX_WINDOW} are allowed");
        let wrong = Diagnostic::new(Code::BadWindow, span, message, format!("at {hertz} Hz"));
        Err(self.report(wrong.help("shorten it, or read a derived instance of a lower rate")))
    }
}

//! Names in expressions: metrics of inputs, and fields of derived instances.

use super::{
    AlreadyReported, Compiled, Reads,
    expression::{Quantity, Typed, Typing},
    join::DEFAULT_MAX_AGE_NANOS,
};
use crate::{
    ast::{Kind, Name},
    code::{Code, Diagnostic},
    program::{Alignment, Column, Condition, Number, Source},
    unit::Unit,
};
use oasis_pdl::{Span, nearest};
use oasis_wire::schema::{Behavior, Metric, MetricType, ProbeType};

impl Typing<'_, '_> {
    /// `pump.temperature`
    pub(super) fn reference(&mut self, path: &[Name], span: Span) -> Compiled<Typed> {
        let [first, rest @ ..] = path else { return Err(AlreadyReported) };
        let at = self.declared(first)?;
        let declarations = self.compiler.declarations;
        let kind = &declarations[at].kind;
        match kind {
            Kind::Input(_) if rest.is_empty() => {
                let message = format!("`{}` is an input, and not a value", first.text);
                let help = format!("write `{}.METRIC`", first.text);
                Err(self.report(Diagnostic::new(Code::WrongType, span, message, "no metric").help(help)))
            }
            Kind::Input(_) if self.is_other(at) => {
                self.feed(at, (Alignment::Hold, DEFAULT_MAX_AGE_NANOS), |typing| {
                    typing.metric(at, first, rest)
                })
            }
            Kind::Input(_) => self.metric(at, first, rest),
            Kind::Derive(_) => self.field(at, first, rest, span),
            Kind::Alarm(_) | Kind::Event(_) | Kind::Check(_) => {
                let message = format!("`{}` has no values", first.text);
                let label = "not an input, and not a derived instance";
                Err(self.report(Diagnostic::new(Code::WrongType, first.span, message, label)))
            }
        }
    }

    fn declared(&mut self, name: &Name) -> Compiled<usize> {
        if let Some(&at) = self.compiler.names.get(&*name.text) {
            return Ok(at);
        }
        let known = self.compiler.declarations.iter().map(|known| &*known.name.text);
        let help = match nearest(&name.text, known) {
            Some(known) => format!("did you mean `{known}`?"),
            None => format!("declare it: `input {} = \"NODE/INSTANCE\" : Module::Type;`", name.text),
        };
        let message = format!("unknown name `{}`", name.text);
        Err(self.report(Diagnostic::new(Code::UnknownName, name.span, message, "not declared").help(help)))
    }

    /// Notes that the rule reads an input, and returns its type.
    pub(super) fn read_input(
        &mut self,
        at: usize,
        span: Span,
    ) -> Compiled<(usize, std::sync::Arc<ProbeType>)> {
        let (input, probe_type) = self.compiler.inputs.get(&at).cloned().ok_or(AlreadyReported)?;
        let hertz = probe_type.demand().map(|demand| demand.max().get());
        self.read(Reads { source: Source::Input(input), input, hertz }, span)?;
        Ok((input, probe_type))
    }

    /// A rule reads one source.
    fn read(&mut self, reads: Reads, span: Span) -> Compiled<()> {
        let (first, place) = *self.reads.get_or_insert((reads, span));
        if first.source == reads.source {
            return Ok(());
        }
        let message = "a rule reads inputs, or one derived instance";
        let wrong = Diagnostic::new(Code::SeveralSources, span, message, "second source");
        let wrong = wrong.related(place, "first source");
        Err(self.report(wrong.note("a derived instance cannot be joined: compute its value in this rule")))
    }

    fn metric(&mut self, at: usize, input: &Name, path: &[Name]) -> Compiled<Typed> {
        let span = path.last().map_or(input.span, |last| input.span.to(last.span));
        let (number, probe_type) = self.read_input(at, span)?;
        let metric = self.found(&probe_type.metrics, path)?.clone();
        let enumeration = metric.enumeration.as_ref();
        let enumerators =
            enumeration.map(|of| of.values.iter().map(|one| (one.name.clone(), one.value)).collect());
        let column = Column {
            path: path.iter().map(|name| name.text.clone()).collect(),
            unit: metric.unit.clone(),
            enumerators: enumerators.unwrap_or_default(),
        };
        let columns = &mut self.compiler.program.inputs[number].columns;
        let known = columns.iter().position(|known| *known == column);
        let index = known.unwrap_or_else(|| {
            columns.push(column.clone());
            columns.len() - 1
        });
        match &metric.kind {
            MetricType::Boolean => Ok(Typed::Condition(Condition::Column(index))),
            MetricType::Int8
            | MetricType::Int16
            | MetricType::Int32
            | MetricType::Int64
            | MetricType::Uint8
            | MetricType::Uint16
            | MetricType::Uint32
            | MetricType::Uint64
            | MetricType::Real32
            | MetricType::Real64 => Ok(typed_number(index, &metric, column)),
            MetricType::String => Err(self.not_numeric(span, "text")),
            MetricType::Vector(_) => Err(self.not_numeric(span, "a vector")),
            MetricType::Blob(_) => Err(self.not_numeric(span, "an image")),
            MetricType::Struct(_) => Err(self.not_numeric(span, "a struct: name one of its members")),
        }
    }

    fn not_numeric(&mut self, span: Span, what: &str) -> AlreadyReported {
        let message = format!("the metric is {what}");
        let wrong = Diagnostic::new(Code::WrongType, span, message, "no number");
        self.report(wrong.note("rules read numbers, booleans and enums"))
    }

    fn found<'m>(&mut self, metrics: &'m [Metric], path: &[Name]) -> Compiled<&'m Metric> {
        let (mut members, mut path) = (metrics, path);
        loop {
            let [name, rest @ ..] = path else { return Err(AlreadyReported) };
            let Some(metric) = members.iter().find(|metric| metric.name == name.text) else {
                let known = nearest(&name.text, members.iter().map(|metric| &*metric.name));
                let help = known.map(|known| format!("did you mean `{known}`?"));
                let message = format!("unknown metric `{}`", name.text);
                let wrong = Diagnostic::new(Code::UnknownMetric, name.span, message, "not in the probe type");
                return Err(self.report(Diagnostic { help, ..wrong }));
            };
            if rest.is_empty() {
                return Ok(metric);
            }
            let MetricType::Struct(of) = &metric.kind else {
                let message = format!("`{}` has no members", name.text);
                return Err(self.report(Diagnostic::new(
                    Code::WrongType,
                    name.span,
                    message,
                    "not a struct",
                )));
            };
            (members, path) = (&of.members, rest);
        }
    }

    fn field(&mut self, at: usize, first: &Name, path: &[Name], span: Span) -> Compiled<Typed> {
        let derived = self.compiler.derived(at, first.span)?;
        let hertz = Some(1e9 / derived.every as f64);
        self.read(Reads { source: Source::Derived(derived.rule), input: derived.input, hertz }, span)?;
        let wanted = match path {
            [name] => &*name.text,
            _ => "",
        };
        let found = derived.fields.iter().position(|(name, _)| name == wanted);
        let Some(index) = found else {
            let names: Vec<_> =
                derived.fields.iter().map(|(name, _)| format!("{}.{name}", first.text)).collect();
            let message = format!("`{}` has no such field", first.text);
            let wrong = Diagnostic::new(Code::UnknownMetric, span, message, "not a field");
            return Err(self.report(wrong.help(format!("write {}", names.join(" or ")))));
        };
        Ok(match &derived.fields[index].1 {
            None => Typed::Condition(Condition::Column(index)),
            Some(unit) => Typed::Number(Quantity::new(Number::Column(index), unit.clone())),
        })
    }
}

fn typed_number(index: usize, metric: &Metric, column: Column) -> Typed {
    let number = Number::Column(index);
    if metric.enumeration.is_some() {
        return Typed::Enumeration(number, column.enumerators);
    }
    // A unit that PDL refuses can only come from another implementation: the number is plain then.
    let unit = metric.unit.as_deref().and_then(|unit| Unit::parse(unit).ok());
    let is_counter = metric.behavior == Some(Behavior::Counter);
    Typed::Number(Quantity { is_counter, ..Quantity::new(number, unit.unwrap_or_else(Unit::none)) })
}

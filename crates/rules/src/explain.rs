//! Rules in plain English, with the bound of their memory.

use crate::{
    ast::{
        Action, Alarm, Check, Declaration, Derive, Event, Expression, ExpressionKind, Input, Kind, OnUnknown,
        SustainedCondition, Target,
    },
    compile::Report,
    program::{Command, Rule, Severity, Source},
};

impl Report {
    /// Describes each declaration: what it does, what it reads, and the most memory that it takes for each instance.
    pub fn explain(&self) -> String {
        let described: Vec<_> =
            self.declarations.iter().map(|declaration| self.declaration(declaration)).collect();
        described.join("\n")
    }

    /// Describes one of them; the first line has its name.
    pub(crate) fn declaration(&self, declaration: &Declaration) -> String {
        let name = &declaration.name.text;
        let sentence = match &declaration.kind {
            Kind::Input(input) => return format!("input {name}\n{}", lines(&[input_sentence(input)])),
            Kind::Alarm(alarm) => self.alarm(alarm),
            Kind::Event(event) => self.event(event),
            Kind::Derive(derive) => self.derive(derive),
            Kind::Check(check) => self.check(check),
        };
        let keyword = match &declaration.kind {
            Kind::Input(_) => "input",
            Kind::Alarm(_) => "alarm",
            Kind::Event(_) => "event",
            Kind::Derive(_) => "derive",
            Kind::Check(_) => "check",
        };
        let compiled = self.program.rules.iter().find(|rule| rule.place == declaration.name.span);
        let bound = compiled.map(|rule| self.bound(rule));
        let sentences: Vec<_> = [sentence].into_iter().chain(bound).collect();
        format!("{keyword} {name}\n{}", lines(&sentences))
    }

    fn bound(&self, rule: &Rule) -> String {
        let reads = match rule.source {
            Source::Input(input) if rule.feeds.is_empty() => {
                format!("input {}", self.program.inputs[input].name)
            }
            Source::Input(input) => {
                let name = |input: usize| self.program.inputs[input].name.clone();
                let others: Vec<_> = rule.others().into_iter().map(name).collect();
                let (first, others) = (name(input), others.join(" and "));
                let clock = match self.has_one_clock(rule) {
                    true => "on the same node",
                    false => "on the clock of the DAC",
                };
                format!("each sample of input {first} with the values of {others} at its time, {clock}")
            }
            Source::Derived(derived) => format!("derived instance {}", self.program.rules[derived].name),
        };
        let bytes = rule.memory_bytes();
        format!("Reads {reads}. Takes at most {bytes} bytes of memory for each instance.")
    }

    /// Whether joined instances are always of one node.
    fn has_one_clock(&self, rule: &Rule) -> bool {
        let node = |input: usize| {
            let pattern = self.program.inputs.get(input).map_or("", |input| &*input.pattern);
            pattern.split_once('/').map_or(pattern, |(node, _)| node)
        };
        rule.others().into_iter().all(|other| node(other) == node(rule.input))
    }

    fn alarm(&self, alarm: &Alarm) -> String {
        let severity = alarm.severity.unwrap_or(Severity::Medium).name();
        let mut text = format!("Raises an alarm of severity {severity} ");
        let silent = alarm.raise.as_ref().and_then(silent_input);
        match (&alarm.raise, silent) {
            (Some(raise), Some(input)) => {
                text += &format!("when {input} has sent no sample for {}. ", duration(raise.duration));
                text += "Clears it at the next sample.";
            }
            (Some(raise), None) => text += &format!("when {}. ", self.held(raise)),
            (None, _) => {}
        }
        match &alarm.clear {
            Some(clear) => text += &format!("Clears it when {}.", self.held(clear)),
            None if silent.is_none() => text += "Clears it when that is false.",
            None => {}
        }
        if alarm.latch {
            text += " It stays until it is acknowledged.";
        }
        if silent.is_none() {
            text += match alarm.on_unknown.unwrap_or(OnUnknown::Keep) {
                OnUnknown::Keep => {
                    " While the condition is unknown, the alarm keeps its state, and no time counts."
                }
                OnUnknown::Raise => " An unknown condition counts as a reason to raise it.",
                OnUnknown::Clear => " An unknown condition counts as a reason to clear it.",
            };
        }
        if let Some(message) = &alarm.message {
            text += &format!(" Its message is {message:?}.");
        }
        match alarm.notify.as_deref() {
            None => {}
            Some([]) => text += " Nobody is notified.",
            Some(names) => text += &format!(" Notifies {}.", names.join(", ")),
        }
        text + &actions(&alarm.actions)
    }

    fn held(&self, held: &SustainedCondition) -> String {
        let condition = self.text(&held.condition);
        if held.duration == 0 {
            return format!("{condition} is true");
        }
        format!("{condition} has been true for {}", duration(held.duration))
    }

    fn event(&self, event: &Event) -> String {
        let when = self.text(&event.when);
        let text = match &event.then {
            None => format!("Reports each time that {when} becomes true."),
            Some((then, within)) => format!(
                "Each time that {when} becomes true, reports whether {} is true within {}. If samples are missing in that time and it was not seen, the answer is unknown.",
                self.text(then),
                duration(*within)
            ),
        };
        text + &actions(&event.actions)
    }

    fn derive(&self, derive: &Derive) -> String {
        let fields: Vec<_> = derive
            .fields
            .iter()
            .map(|(name, value)| format!("{} as {}", self.text(value), name.text))
            .collect();
        format!("Every {}, computes {}.", duration(derive.every), fields.join(", "))
    }

    fn check(&self, check: &Check) -> String {
        format!(
            "Each time that {} becomes true, checks that {} is always true from {} to {} after that. Missing samples make the answer unknown, unless it was false once.",
            self.text(&check.after),
            self.text(&check.always),
            duration(check.from),
            duration(check.to)
        )
    }

    fn text(&self, expression: &Expression) -> String {
        let words: Vec<_> = self.sources.slice(expression.span).split_whitespace().collect();
        format!("`{}`", words.join(" "))
    }
}

fn input_sentence(input: &Input) -> String {
    format!(
        "The instances {} of the type {}; each has states of its own.",
        input.pattern.text, input.probe_type.text
    )
}

/// The name of the input whose silence raises an alarm.
fn silent_input(held: &SustainedCondition) -> Option<&str> {
    let ExpressionKind::Call(name, arguments, _) = &held.condition.kind else { return None };
    let [Expression { kind: ExpressionKind::Reference(path), .. }] = &**arguments else { return None };
    path.first().filter(|_| name.text == "silent").map(|name| &*name.text)
}

fn actions(actions: &[Action]) -> String {
    let sentence = |action: &Action| {
        let command = match action.command {
            Command::Hertz(hertz) => format!("hertz {}", hertz.get()),
            command => command.name().to_owned(),
        };
        let (Target::Pattern(name) | Target::Input(name)) = &action.target;
        let target = match &action.target {
            Target::Pattern(_) => format!("the instances {}", name.text),
            Target::Input(_) => format!("the instance of {}", name.text),
        };
        format!(" When {}, sends `{command}` to {target}.", action.on.name())
    };
    actions.iter().map(sentence).collect()
}

fn lines(sentences: &[String]) -> String {
    sentences.iter().map(|sentence| format!("  {sentence}\n")).collect()
}

/// `10 s`, `500 ms`
fn duration(nanos: u64) -> String {
    let units = [
        ("h", 3_600_000_000_000),
        ("min", 60_000_000_000),
        ("s", 1_000_000_000),
        ("ms", 1_000_000),
        ("us", 1_000),
    ];
    if nanos == 0 {
        return "0 s".into();
    }
    let whole = units.into_iter().find(|(_, size)| nanos.is_multiple_of(*size));
    whole.map_or_else(|| format!("{nanos} ns"), |(unit, size)| format!("{} {unit}", nanos / size))
}
